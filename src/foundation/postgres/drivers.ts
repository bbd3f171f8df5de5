// The two drivers for statements and rows: `fast` is the project's own code over private members of pg and knex, `plain` uses their
// public interfaces (README.md).
export const drivers = ['fast', 'plain'] as const;
export type Driver = (typeof drivers)[number];
