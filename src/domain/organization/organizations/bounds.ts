// Limits on organizations.

/** Maximum number of open organizations that one person may have created. */
export const organizationsPerPerson = 100;

/** Maximum number of allowed networks of an organization, and length limits of a network as text. */
export const allowedNetworks = { max: 50, text: { min: 2, max: 60 } } as const;
