// Finds the primary among several servers of one database (streaming replication). pg connects to one server only, so the servers are
// queried: before the first connection, and again after one fails or does not respond.
import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Knex } from 'knex';
import pg from 'pg';

/** Time limit of a server's response, milliseconds. */
const serverTimeoutMs = 1_000;
/** If this number of consecutive searches finds no primary, the connections that do not respond are closed. */
const failuresBeforeCut = 3;
/** SQLSTATE of a server that has no free connection: the server is alive, and may still be the primary. */
const tooManyConnections = '53300';

/**
 * Splits the connection string of several servers, such as `postgres://user:password@one:5432,two:5432/app?target_session_attrs=read-write`
 * (PostgreSQL, 32.1.1.3), into one string per server.
 */
export function serversOf(url: string): string[] {
  const [, before, hosts, rest] = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^@/?]*)(.*)$/i.exec(url) ?? [];
  if (!hosts?.includes(',')) return [url];
  return hosts.split(',').map((host) => {
    const server = `${before}${host}${rest}`;
    if (!URL.canParse(server)) return server;
    const address = new URL(server);
    address.searchParams.delete('target_session_attrs');
    return address.href;
  });
}

export interface Primary {
  /**
   * The connection string of the primary that was found last. @throws an error of the kind `retry` when there is no primary
   */
  address(): Promise<string>;
  /** Whether the known primary still has this address. */
  isKnown(address: string): boolean;
  /** Makes the next connection search for the primary again. */
  doubt(): void;
  /** Queries all servers now, and notifies the listeners when the primary has moved. Returns false when there is certainly no primary. */
  look(): Promise<boolean>;
  /** Calls back with the new address, until the returned function is called. */
  onMove(listener: (address: string) => void): () => void;
}

const primaries = new Map<string, Primary>();

/**
 * The primary among the servers that a connection string names. All callers with the same string share this object. Null if the string
 * names only one server.
 */
export function primaryOf(url: unknown): Primary | null {
  if (typeof url !== 'string') return null;
  const servers = serversOf(url);
  if (servers.length < 2) return null;
  const primary = primaries.get(url) ?? follow(servers);
  primaries.set(url, primary);
  return primary;
}

/** The connection string of the single server, or of the primary among several. */
export const addressOfPrimary = async (url: string): Promise<string> => primaryOf(url)?.address() ?? url;

function follow(servers: readonly string[]): Primary {
  const listeners = new Set<(address: string) => void>();
  let known: string | null = null;
  let last: string | null = null;
  let newest = 0;
  let looking: Promise<string> | null = null;
  let failure: { error: unknown; until: number } | null = null;

  /** A promotion begins a new timeline. A former primary that returns still writes an older timeline, and is therefore ignored. */
  async function ask(): Promise<string> {
    const timelines = await Promise.all(servers.map(timelineOf));
    const timeline = Math.max(...timelines);
    if (timeline < 1 || timeline < newest) {
      known = null;
      const code = timelines.includes(full) ? tooManyConnections : '08001';
      throw Object.assign(new Error('no server of DATABASE_URL accepts writes'), { code });
    }
    newest = timeline;
    const address = servers[timelines.indexOf(timeline)]!;
    known = address;
    if (last !== null && last !== address) for (const listener of listeners) listener(address);
    last = address;
    return address;
  }
  const find = (): Promise<string> => {
    const begun = performance.now();
    looking ??= ask()
      .catch((error) => {
        failure = { error, until: 2 * performance.now() - begun };
        throw error;
      })
      .finally(() => {
        looking = null;
      });
    return looking;
  };
  return {
    async address() {
      if (known !== null) return known;
      // After a failure, no search begins for a short time: the pool opens its connections one by one, and each search would wait for
      // servers that do not answer.
      if (failure && performance.now() < failure.until) throw failure.error;
      return find();
    },
    isKnown: (address) => known === address,
    doubt() {
      known = null;
    },
    look: () =>
      find().then(
        () => true,
        ({ code }) => code === tooManyConnections,
      ),
    onMove(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Result of `timelineOf` for a server without a free connection. */
const full = -1;

/** The timeline that a server writes; 0 when it accepts no writes or does not respond. */
async function timelineOf(connectionString: string): Promise<number> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: serverTimeoutMs,
    query_timeout: serverTimeoutMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    // The first eight digits of a WAL file's name (PostgreSQL, 9.28.3).
    const { rows } = await client.query(`select case when pg_is_in_recovery() then null
      else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`);
    return rows[0].timeline ?? 0;
  } catch (error) {
    return (error as pg.DatabaseError).code === tooManyConnections ? full : 0;
  } finally {
    void client.end().catch(() => {});
  }
}

/**
 * Returns the function from which knex gets the settings for new connections. If the address of the primary is in doubt, knex replaces
 * every connection, and calls this function for the new ones; the function then searches for the primary.
 */
export const connectionTo = (primary: Primary, options: pg.ClientConfig) => async () => {
  const connectionString = await primary.address();
  return { connectionString, ...options, expirationChecker: () => !primary.isKnown(connectionString) };
};

/**
 * Keeps the connections of a pool on the primary. When a server fails or reports that it is read-only, the next connection searches for the
 * primary again. While the known primary does not respond, all servers are compared every second. As soon as another server accepts writes,
 * the connections to the known primary are closed. If no server accepts writes, pending statements fail after three comparisons.
 */
export function keepOnPrimary(primary: Primary, { client }: Knex): (connection: pg.Client) => void {
  const connections = new Set<pg.Client>();
  const leave = primary.onMove(() => {
    // The outcome of pending statements is unknown; callers recognize that by the text of this error.
    for (const connection of connections) cut(connection, new Error('Connection terminated unexpectedly'));
  });
  let failures = 0;
  let busy = new Map<pg.Client, unknown>();
  const watching = setInterval(() => {
    if (!client.pool) {
      clearInterval(watching);
      leave();
      return;
    }
    const now = new Map([...connections].map((connection) => [connection, statementOf(connection)]));
    const silent = [...now].filter(([connection, statement]) => statement && busy.get(connection) === statement);
    busy = now;
    if (silent.length === 0 && failures === 0) return;
    void primary.look().then((isFound) => {
      failures = isFound ? 0 : failures + 1;
      if (failures < failuresBeforeCut) return;
      for (const [connection, statement] of silent) {
        if (statementOf(connection) === statement) cut(connection, new Error('Connection terminated unexpectedly'));
      }
    });
  }, serverTimeoutMs).unref();

  const acquire = client.acquireRawConnection.bind(client);
  client.acquireRawConnection = () =>
    acquire().catch((error: unknown) => {
      primary.doubt();
      throw error;
    });
  return (connection) => {
    connections.add(connection);
    connection.on('error', primary.doubt);
    connection.on('end', () => connections.delete(connection));
    wireOf(connection).on('errorMessage', ({ code }: { code?: string }) => {
      if (code === '25006') primary.doubt();
    });
  };
}

const wireOf = (connection: pg.Client) =>
  (connection as unknown as { connection: EventEmitter & { stream: Duplex } }).connection;
/** The statement that a connection is executing. */
export const statementOf = (connection: pg.Client) => (connection as unknown as { _activeQuery: unknown })._activeQuery;

/** Closes a connection at once; its pending statements fail with the error. */
export function cut(connection: pg.Client, error: Error): void {
  Object.assign(connection, { __knex__disposed: error });
  wireOf(connection).stream.destroy(error);
}
