// The bounds of connections.

/** Different rows of one run; what goes beyond them is counted under `otherHosts`. */
export const connectionsPerRun = 500;
export const otherHosts = '*';

/** Entries of one report; connections, and bytes in each direction, of one entry; characters of a host. */
export const connectionReport = { entries: 200, count: 1_000_000, bytes: 1e15, host: { min: 1, max: 253 } } as const;
