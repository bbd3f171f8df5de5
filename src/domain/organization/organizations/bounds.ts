// Limits on organizations.

/** Open organizations that one person has created. */
export const organizationsPerPerson = 100;
