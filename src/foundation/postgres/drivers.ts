// The two drivers for sending statements and parsing rows: `fast` is this project's code on private members of pg and knex, `plain` uses
// their public interfaces (README.md).
export const drivers = ['fast', 'plain'] as const;
export type Driver = (typeof drivers)[number];
