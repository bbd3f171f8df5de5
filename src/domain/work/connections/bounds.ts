// Limits for connections.

/** Maximum number of rows per run; the connections to further hosts are counted together under `otherHosts`. */
export const connectionsPerRun = 500;
export const otherHosts = '*';

/** Maximum number of program names that are stored in one row of the table; further programs are not named. */
export const programsPerConnection = 10;

/** Maximum number of entries per report, of connections per entry, of bytes per direction, and of characters in a host name. */
export const connectionReport = {
  ...{ entries: 200, count: 1_000_000, bytes: 1e15 },
  host: { min: 1, max: 253 },
  program: { max: 64 },
} as const;
