// Reads from a standby (DATABASE_REPLICA_URL). A request keeps with its caller how far the primary had written when the credential
// was looked up: an operation that only reads is sent to the standby once that is replayed there, so it sees all that anybody was
// told before. Whatever else there is stays on the primary.
import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import { openPool, type Pool, type PoolSettings } from './pool.ts';
import { cut } from './primary.ts';
import { type Position, positionOf, type Standby, serverSql, watchStandby, writtenSql } from './standby.ts';

/**
 * What the reads of one request must have been replayed to. Null once they stay on the primary: after a write, or after a read
 * that the standby could not answer, since another one there could be older.
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
/** One per stretch in which the standby answers, so that no connection is of an earlier one. */
let pool: Pool | undefined;
const readings = new AsyncLocalStorage<Reading>();
const counts = { replica: 0, primary: 0 };

export interface ReplicaSettings extends Pick<PoolSettings, 'poolMax' | 'driver'> {
  /** Names one server. */
  connection: string;
  report(line: string): void;
}

/** Binds the standby of the process. It is used as soon as it answers. */
export function openReplica({ connection, report, ...settings }: ReplicaSettings): { close(): Promise<void> } {
  const clients = new Set<pg.Client>();
  const forget = async () => {
    const lost = pool;
    pool = undefined;
    for (const client of clients) cut(client, new Error('the replica is gone'));
    await lost?.knex.destroy();
  };
  const standby = watchStandby({
    connectionString: connection,
    report,
    onFound(watched) {
      pool = openPool({ connection, ...settings, connectMs: 1_000, onError: report }, async (client) => {
        clients.add(client.on('end', () => clients.delete(client)));
        const { rows } = await client.query<{ server: string }>(serverSql);
        if (rows[0]!.server !== watched) throw new Error('DATABASE_REPLICA_URL leads to several servers');
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

/** Texts that look a credential up, with the position. */
const positioned = new Map<string, string>();

/** The text of a `select`, which with a standby also tells the position. */
export function withPosition(text: string): string {
  if (!bound) return text;
  const longer = positioned.get(text) ?? text.replace(/^select /, `select ${writtenSql} as position, `);
  positioned.set(text, longer);
  return longer;
}

/** `position` as `withPosition` tells it. */
export const bookmarkOf = (position: string): Bookmark => ({ position: positionOf(position) });

/** Executes an operation that only reads, on the standby where it may. */
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

/** Where a statement outside of transactions goes, when that is the standby. */
export function replicaPool(): Pool | undefined {
  const read = bound && readings.getStore();
  if (!read?.bookmark.position || read.isOver) return undefined;
  if (read.pool === pool) return pool;
  leaveReplica();
  return undefined;
}

/** What a request does from here on stays on the primary. */
export function leaveReplica(bookmark = bound && readings.getStore()?.bookmark): void {
  if (bookmark) bookmark.position = null;
}

/** For the metrics; undefined without a standby. `reads`: operations by where they ended. */
export const replicaState = () => bound && { isInUse: bound.isInUse(), reads: counts };
