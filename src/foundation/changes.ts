// Which records changed, told to every process and heard in each: PostgreSQL's NOTIFY, which is sent when the transaction commits
// and not before, and LISTEN on a connection of its own. Only ids are told: whoever waits for a record then reads it again.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { seconds } from './clock.ts';
import type { Transaction } from './database.ts';

/** Reconnecting after a lost connection, checking that it is alive, and polling where no connection can listen. */
export const timing = {
  reconnectMs: { min: 50, max: seconds(10) },
  probeIntervalMs: seconds(30),
  probeTimeoutMs: seconds(5),
  pollMs: seconds(2),
} as const;

const channel = 'changes';

/** Tells, once the transaction is committed, that the records of these ids have changed. Nothing but the ids is told. */
export async function announce(trx: Transaction, ...ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await trx.raw('select pg_notify(?, id) from unnest(?::text[]) id', [channel, [...ids]]);
}

/** The same for a single statement that is no transaction with others: changes rows by their `id`, and announces them. */
export const announcing = (update: string): string =>
  `with changed as (${update} returning id) select pg_notify('${channel}', id) from changed`;

export interface ChangesSettings {
  /** Null: none can listen (behind a pooler in transaction mode). Then whoever waits is woken every two seconds. */
  connection: string | pg.ClientConfig | null;
  onError?: (message: string) => void;
}

export interface Changes {
  /** Ends all waiting, and the connection. Closing twice is no fault. */
  close(): Promise<void>;
}

/** Those who wait, by the id that they wait for. */
const waiting = new Map<string, Set<() => void>>();
const wakeAll = (): void => {
  for (const wakes of waiting.values()) for (const wake of wakes) wake();
};

interface Listener {
  /** When it hears, or has failed to at first: whoever waits is woken when it does. */
  readonly ready: () => Promise<void>;
  readonly isClosed: () => boolean;
}
let bound: Listener | undefined;

/** Binds hearing for the process. The connection is made when somebody first waits for something. */
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
 * Goes on at once, and then whenever one of these records has changed: many changes while nobody looks are one. Ends with the
 * signal or the process. When the connection was lost it goes on too, for something may have been missed.
 */
export async function* watch(ids: readonly string[], signal: AbortSignal): AsyncGenerator<void> {
  const listener = bound;
  if (!listener) throw new Error('call openChanges first');
  let news = false;
  let goOn = () => {};
  const wake = (): void => {
    news = true;
    goOn();
  };
  // Also when nobody asks for the next change any more, and hence nobody says that it is over.
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
      if (!news) await new Promise<void>((resolve) => (goOn = resolve));
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

/** False when there is no more to be done. */
const rest = (milliseconds: number, closing: AbortSignal): Promise<boolean> =>
  wait(milliseconds, true, { signal: closing, ref: false }).catch(() => false);

/** Listens, and connects again and again for as long as it must. */
async function listen(
  connection: string | pg.ClientConfig,
  closing: AbortSignal,
  ready: () => void,
  onError: (message: string) => void,
): Promise<void> {
  let failures = 0;
  do {
    try {
      await hear(connection, closing, () => {
        failures = 0;
        ready();
        wakeAll();
      });
    } catch (error) {
      // One line for an outage, however long it lasts.
      if (failures === 0) onError(`changes are not heard: ${(error as Error).message}; connecting again`);
    }
    ready();
  } while (await rest(Math.min(timing.reconnectMs.min * 2 ** failures++, timing.reconnectMs.max), closing));
}

/** One connection, until it is lost or the process leaves. */
async function hear(connection: string | pg.ClientConfig, closing: AbortSignal, begun: () => void): Promise<void> {
  const base = typeof connection === 'string' ? { connectionString: connection } : connection;
  const client = new pg.Client({
    ...base,
    connectionTimeoutMillis: 3_000,
    query_timeout: timing.probeTimeoutMs,
    keepAlive: true,
  });
  let probes: NodeJS.Timeout | undefined;
  let leave = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      leave = resolve;
      // Without a listener an error of the connection would end the process.
      client.on('error', reject);
      client.on('end', resolve);
      client.on('notification', ({ payload }) => {
        for (const wake of waiting.get(payload ?? '') ?? []) wake();
      });
      closing.addEventListener('abort', leave);
      // A connection that died in silence looks like one on which nothing happens.
      const probe = () => client.query('select 1').catch(reject);
      probes = setInterval(probe, timing.probeIntervalMs);
      client
        .connect()
        .then(() => client.query(`listen ${channel}`))
        .then(begun)
        .catch(reject);
    });
  } finally {
    clearInterval(probes);
    closing.removeEventListener('abort', leave);
    void client.end().catch(() => {});
  }
}
