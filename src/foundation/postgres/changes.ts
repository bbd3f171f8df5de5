// Announces changed records to every process: with PostgreSQL's NOTIFY, which is sent when the transaction commits, and LISTEN on a
// separate connection. Only ids are sent; a listener reads the record again.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { seconds } from '../clock.ts';
import { sql, type Transaction } from './database.ts';
import { primaryOf } from './primary.ts';

/** Delays for reconnecting, for checking the connection, for polling without a listening connection, and for repeated announcements. */
export const timing = {
  reconnectMs: { min: 50, max: seconds(10) },
  probeIntervalMs: seconds(30),
  probeTimeoutMs: seconds(5),
  pollMs: seconds(2),
  repeatedMs: 50,
} as const;

const channel = 'changes';

const announceAllSql = `select pg_notify('${channel}', id) from unnest($1::text[]) id`;

/** Announces that the records with these ids have changed, once the transaction is committed. */
export async function announce(trx: Transaction, ...ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await sql(announceAllSql, [[...ids]], trx);
}

/**
 * The ids of the records that were announced within the last `repeatedMs`; the value tells whether the record has changed again since then.
 */
const repeated = new Map<string, boolean>();

/**
 * Announces that a record has changed. Called after the commit of the change, for records that change often: the first change is announced
 * at once, and the changes that follow are announced together, at most once every 50 ms. The announcement is not part of the transaction,
 * because PostgreSQL commits only one notifying transaction at a time. An announcement that fails is not repeated.
 */
export function announceCommitted(id: string): void {
  if (repeated.has(id)) return void repeated.set(id, true);
  repeated.set(id, false);
  sql(announceSql, [id]).catch(() => {});
  setTimeout(() => {
    const hasChanged = repeated.get(id);
    repeated.delete(id);
    if (hasChanged) announceCommitted(id);
  }, timing.repeatedMs).unref();
}

/** SQL that announces the id `$1`, once the transaction is committed. */
export const announceSql = `select pg_notify('${channel}', $1)`;

/** SQL for a single statement outside a transaction: changes rows by their `id`, and announces them. */
export const announcing = (update: string): string =>
  `with changed as (${update} returning id) select pg_notify('${channel}', id) from changed`;

export interface ChangesSettings {
  /**
   * The connection for LISTEN. Null if LISTEN is impossible, because the database is behind a pooler in transaction mode; listeners are
   * then woken every two seconds instead.
   */
  connection: string | pg.ClientConfig | null;
  onError?: (message: string) => void;
}

export interface Changes {
  /** Ends all listeners and closes the connection. A second call has no effect. */
  close(): Promise<void>;
}

/** The wake functions of listeners, by the id that they watch. */
const waiting = new Map<string, Set<() => void>>();
const wakeAll = (): void => {
  for (const wakes of waiting.values()) for (const wake of wakes) wake();
};

interface Listener {
  /**
   * Resolves when the connection listens, or when the first attempt to connect has failed. In the second case, listeners are woken once a
   * later attempt has succeeded.
   */
  readonly ready: () => Promise<void>;
  readonly isClosed: () => boolean;
}
let bound: Listener | undefined;

/** Binds the listener of the process. It connects when a record is first watched. */
export function openChanges({ connection, onError = () => {} }: ChangesSettings): Changes {
  const closing = new AbortController();
  let ready: Promise<void> | undefined;
  let work: Promise<void> | undefined;
  const begin = (): Promise<void> =>
    new Promise((resolve) => {
      if (connection !== null) work = listen(connection, closing.signal, resolve, onError);
      else resolve(poll(closing.signal));
    });
  bound = {
    async ready() {
      if (closing.signal.aborted) return;
      ready ??= begin();
      await ready;
    },
    isClosed: () => closing.signal.aborted,
  };
  return {
    async close() {
      closing.abort();
      wakeAll();
      await work;
    },
  };
}

/**
 * Yields at once, then after each change of one of these records; changes between two reads are coalesced. Also yields when a lost
 * connection is restored, because a change may have been missed. Ends with the signal or the process.
 */
export async function* watch(ids: readonly string[], signal: AbortSignal): AsyncGenerator<void> {
  const listener = bound;
  if (!listener) throw new Error('call openChanges first');
  let news = false;
  let proceed = () => {};
  const wake = (): void => {
    news = true;
    proceed();
  };
  // Called by the abort signal, because the `finally` block below may not run at the abort: while nobody requests the next change, the generator
  // is suspended at `yield`.
  const leave = (): void => {
    for (const id of ids) {
      const wakes = waiting.get(id);
      wakes?.delete(wake);
      if (wakes?.size === 0) waiting.delete(id);
    }
    wake();
  };
  for (const id of ids) waiting.set(id, (waiting.get(id) ?? new Set()).add(wake));
  signal.addEventListener('abort', leave);
  try {
    await listener.ready();
    while (!signal.aborted && !listener.isClosed()) {
      news = false;
      yield;
      if (!news) await new Promise<void>((resolve) => (proceed = resolve));
    }
  } finally {
    signal.removeEventListener('abort', leave);
    leave();
  }
}

function poll(closing: AbortSignal): void {
  const polling = setInterval(wakeAll, timing.pollMs);
  closing.addEventListener('abort', () => clearInterval(polling));
}

/** Waits for the time; resolves with false when the process is closing. */
const rest = (milliseconds: number, closing: AbortSignal): Promise<boolean> =>
  wait(milliseconds, true, { signal: closing, ref: false }).catch(() => false);

/** Listens, and reconnects until the process closes. */
async function listen(
  connection: string | pg.ClientConfig,
  closing: AbortSignal,
  ready: () => void,
  onError: (message: string) => void,
): Promise<void> {
  let failures = 0;
  do {
    try {
      await listenOnce(connection, closing, () => {
        failures = 0;
        ready();
        wakeAll();
      });
    } catch (error) {
      // Each outage is logged once.
      if (failures === 0) onError(`cannot listen for changes: ${(error as Error).message}; reconnecting`);
    }
    ready();
  } while (await rest(Math.min(timing.reconnectMs.min * 2 ** failures++, timing.reconnectMs.max), closing));
}

/** Listens on one connection, until the connection is lost or the process closes. */
async function listenOnce(
  connection: string | pg.ClientConfig,
  closing: AbortSignal,
  begun: () => void,
): Promise<void> {
  const primary = primaryOf(connection);
  const base =
    typeof connection === 'string' ? { connectionString: (await primary?.address()) ?? connection } : connection;
  const client = new pg.Client({
    ...base,
    connectionTimeoutMillis: 3_000,
    query_timeout: timing.probeTimeoutMs,
    keepAlive: true,
  });
  let probes: NodeJS.Timeout | undefined;
  let leave = () => {};
  let ignoreMoves = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      leave = resolve;
      // Without a handler, an error of the connection would end the process.
      client.on('error', reject);
      client.on('end', resolve);
      ignoreMoves = primary?.onMove(() => resolve()) ?? ignoreMoves;
      client.on('notification', ({ payload }) => {
        for (const wake of waiting.get(payload ?? '') ?? []) wake();
      });
      closing.addEventListener('abort', leave);
      // A regular query detects a dead connection, which otherwise appears idle.
      const probe = () => client.query('select 1').catch(reject);
      probes = setInterval(probe, timing.probeIntervalMs);
      client
        .connect()
        .then(() => client.query(`listen ${channel}`))
        .then(begun)
        .catch(reject);
    });
  } catch (error) {
    primary?.doubt();
    throw error;
  } finally {
    clearInterval(probes);
    ignoreMoves();
    closing.removeEventListener('abort', leave);
    void client.end().catch(() => {});
  }
}
