// The two ways to send statements and read rows: `fast` is our code over private members of pg and knex, `plain` is theirs (README.md).
export const drivers = ['fast', 'plain'] as const;
export type Driver = (typeof drivers)[number];
