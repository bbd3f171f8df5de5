// Connections of a step, counted by host, port, phase and verdict until they are reported.

export type Phase = 'setup' | 'agent';
export type Verdict = 'allowed' | 'blocked' | 'not_public' | 'unknown_host' | 'failed' | 'untrusted';

export interface Connection {
  host: string;
  port: number;
  phase: Phase;
  verdict: Verdict;
  sentBytes: number;
  receivedBytes: number;
  /** The program that requested the connection; null if it is unknown. */
  program: string | null;
}

export type CountedConnection = Omit<Connection, 'program'> & { count: number; programs: string[] };

/** Maximum number of hosts per step, because a program could request any number of names. */
const maxHosts = 500;
/** Maximum number of programs that are reported for one host; the platform accepts no more. */
const maxPrograms = 10;

export type ConnectionCounter = ReturnType<typeof countConnections>;

export function countConnections() {
  const counted = new Map<string, CountedConnection>();
  const known = new Set<string>();
  return {
    add({ program, ...connection }: Connection): void {
      const { host, port, phase, verdict } = connection;
      const key = `${phase} ${verdict} ${host}:${port}`;
      const before = counted.get(key);
      if (!before && !known.has(key) && known.size >= maxHosts) return;
      known.add(key);
      const programs = program === null ? [] : [program];
      if (!before) return void counted.set(key, { ...connection, count: 1, programs });
      before.count++;
      before.programs = [...new Set([...before.programs, ...programs])].slice(0, maxPrograms);
      before.sentBytes += connection.sentBytes;
      before.receivedBytes += connection.receivedBytes;
    },
    /** Returns the connections that were counted since the previous call. */
    take(): CountedConnection[] {
      const taken = [...counted.values()];
      counted.clear();
      return taken;
    },
  };
}
