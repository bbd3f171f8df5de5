// Reads from a standby (DATABASE_REPLICA_URL). The statement that looks up the credential of a request also returns the position in the
// write-ahead log that the primary has reached. A read-only operation of this request uses the standby only if the standby has replayed the
// log up to this position, so the operation sees every write that was acknowledged before the request. All other operations use the
// primary.
import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import { openPool, type Pool, type PoolSettings } from './pool.ts';
import { cut } from './primary.ts';
import { type Position, positionOf, type Standby, serverSql, watchStandby, writtenSql } from './standby.ts';

/**
 * The position that the standby must have replayed for the reads of one request. Null once the reads use the primary: after a write, or
 * after a read that the standby could not answer, because a later read from the standby could return older data.
 */
export interface Bookmark {
  position: Position | null;
}

/** An operation that reads from the standby. */
interface Reading {
  bookmark: Bookmark;
  pool: Pool;
  isOver: boolean;
}

let bound: Standby | undefined;
/** The pool of the standby. Each period in which the standby is available has a new pool, so that no connection survives an outage. */
let pool: Pool | undefined;
const readings = new AsyncLocalStorage<Reading>();
const counts = { replica: 0, primary: 0 };

export interface ReplicaSettings extends Pick<PoolSettings, 'poolMax' | 'driver'> {
  /** The connection string of one server. */
  connection: string;
  report(line: string): void;
}

/** Sets the standby server from which this process may read. Operations read from it as soon as it responds. */
export function openReplica({ connection, report, ...settings }: ReplicaSettings): { close(): Promise<void> } {
  const clients = new Set<pg.Client>();
  const forget = async () => {
    const lost = pool;
    pool = undefined;
    for (const client of clients) cut(client, new Error('the connections to the replica were closed'));
    await lost?.knex.destroy();
  };
  const standby = watchStandby({
    connectionString: connection,
    report,
    onFound(watched) {
      pool = openPool({ connection, ...settings, connectMs: 1_000, onError: report }, async (client) => {
        clients.add(client.on('end', () => clients.delete(client)));
        const { rows } = await client.query<{ server: string }>(serverSql);
        if (rows[0]!.server !== watched) throw new Error('DATABASE_REPLICA_URL reaches more than one server');
      });
    },
    onLost: () => void forget().catch(() => {}),
  });
  bound = standby;
  return {
    async close() {
      bound = undefined;
      standby.close();
      await forget();
    },
  };
}

/**
 * The extended texts of statements that look up a credential, by the original text. With an extended text, the statement also returns the
 * position in the write-ahead log that the primary has reached.
 */
const positioned = new Map<string, string>();

/**
 * Extends the text of a `select`, so that the statement also returns the position in the write-ahead log that the primary has reached. The
 * text stays unchanged in a process that has no standby.
 */
export function withPosition(text: string): string {
  if (!bound) return text;
  const longer = positioned.get(text) ?? text.replace(/^select /, `select ${writtenSql} as position, `);
  positioned.set(text, longer);
  return longer;
}

/** The bookmark for a position returned by `withPosition`. */
export const bookmarkOf = (position: string): Bookmark => ({ position: positionOf(position) });

/** Runs a read-only operation, on the standby if possible. */
export function reading<T>(bookmark: Bookmark | undefined, work: () => T | Promise<T>): T | Promise<T> {
  return bound && bookmark ? readFrom(bound, bookmark, work) : work();
}

async function readFrom<T>(standby: Standby, bookmark: Bookmark, work: () => T | Promise<T>): Promise<T> {
  const isThere = bookmark.position !== null && (await standby.reached(bookmark.position));
  const read = isThere && pool && { bookmark, pool, isOver: false };
  if (!read) bookmark.position = null;
  try {
    return await (read ? readings.run(read, work) : work());
  } finally {
    if (read) read.isOver = true;
    counts[bookmark.position ? 'replica' : 'primary']++;
  }
}

/** The standby, if a statement outside of transactions may use it. */
export function replicaPool(): Pool | undefined {
  const read = bound && readings.getStore();
  if (!read?.bookmark.position || read.isOver) return undefined;
  if (read.pool === pool) return pool;
  leaveReplica();
  return undefined;
}

/** Makes the remaining statements of a request use the primary. */
export function leaveReplica(bookmark = bound && readings.getStore()?.bookmark): void {
  if (bookmark) bookmark.position = null;
}

/**
 * Returns the state of the standby for the metrics, or undefined if there is no standby. `reads` contains two counts: the read operations that the
 * standby completed and the read operations that the primary completed.
 */
export const replicaState = () => bound && { isInUse: bound.isInUse(), reads: counts, pool: pool?.knex.client.pool };
