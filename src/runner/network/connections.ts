// Connections of a step, counted by host, port, phase and verdict until they are reported.

export type Phase = 'setup' | 'agent';
export type Verdict = 'allowed' | 'blocked' | 'not_public' | 'unknown_host' | 'failed';

export interface Connection {
  host: string;
  port: number;
  phase: Phase;
  verdict: Verdict;
  sentBytes: number;
  receivedBytes: number;
}

export type CountedConnection = Connection & { count: number };

/** Maximum hosts per step, because a program could request any number of names. */
const mostHosts = 500;

export type ConnectionCounter = ReturnType<typeof countConnections>;

export function countConnections() {
  const counted = new Map<string, CountedConnection>();
  const known = new Set<string>();
  return {
    add(connection: Connection): void {
      const { host, port, phase, verdict } = connection;
      const key = `${phase} ${verdict} ${host}:${port}`;
      const before = counted.get(key);
      if (!before && !known.has(key) && known.size >= mostHosts) return;
      known.add(key);
      if (!before) return void counted.set(key, { ...connection, count: 1 });
      before.count++;
      before.sentBytes += connection.sentBytes;
      before.receivedBytes += connection.receivedBytes;
    },
    /** Connections since the last call. */
    take(): CountedConnection[] {
      const taken = [...counted.values()];
      counted.clear();
      return taken;
    },
  };
}
