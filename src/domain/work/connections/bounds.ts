// Limits for connections.

/** Maximum rows per run; the connections to further hosts are counted together under `otherHosts`. */
export const connectionsPerRun = 500;
export const otherHosts = '*';

/** Maximum program names in a row; further programs are not named. */
export const programsPerConnection = 10;

/** Maximum entries per report, connections per entry, bytes per direction, and characters of a host. */
export const connectionReport = {
  ...{ entries: 200, count: 1_000_000, bytes: 1e15 },
  host: { min: 1, max: 253 },
  program: { max: 64 },
} as const;
