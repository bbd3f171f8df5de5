// Limits on organizations.

/** Maximum number of open organizations that one person may have created. */
export const organizationsPerPerson = 100;
