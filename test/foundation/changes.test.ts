// The announcements of a transaction reach every waiting reader in every process, but only after the commit.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  announce,
  announceCommitted,
  announceSql,
  announcing,
  type Changes,
  type ChangesSettings,
  openChanges,
  timing,
  watch,
} from '#foundation/postgres/changes.ts';
import { openDatabase, sql, transaction, watchStatements } from '#foundation/postgres/database.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';

let fresh: FreshDatabase;
let knex: ReturnType<typeof openDatabase>;
const opened: Changes[] = [];

const hear = (settings: Partial<ChangesSettings> = {}): Changes => {
  const changes = openChanges({ connection: fresh.connection, ...settings });
  opened.push(changes);
  return changes;
};

beforeEach(async () => {
  fresh = await freshDatabase();
  knex = openDatabase({ connection: fresh.connection });
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(opened.splice(0).map((changes) => changes.close()));
  await knex.destroy();
  await fresh.drop();
});

const announced = (...ids: string[]) => transaction((trx) => announce(trx, ...ids));

/** A reader: counts its notifications, and can wait for the next one. */
function reader(ids: string[], signal = new AbortController().signal) {
  const steps = watch(ids, signal);
  return { next: async () => (await steps.next()).done !== true, leave: () => steps.return(undefined) };
}
/** The next notification, or `nothing` after a few milliseconds: a notification sent earlier would have arrived by then. */
const soon = (next: Promise<boolean>) => Promise.race([next, pause(60, 'nothing')]);

it('a reader of changes is notified at once, and then after each committed change to one of its ids; changes to other ids do not notify it', async () => {
  hear();
  const one = reader(['run_1']);
  const both = reader(['run_1', 'run_2']);
  expect(await Promise.all([one.next(), both.next()])).toEqual([true, true]);
  await announced('run_2', 'run_3');
  expect(await both.next()).toBe(true);
  const next = one.next();
  expect(await soon(next)).toBe('nothing');
  await announced('run_1');
  expect(await next).toBe(true);
});

it('a reader of changes is not woken by a change that was rolled back, nor before the commit', async () => {
  hear();
  const { next } = reader(['run_1']);
  await next();
  const told = next();
  const undone = transaction(async (trx) => {
    await announce(trx, 'run_1');
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  await transaction(async (trx) => {
    await announce(trx, 'run_1');
    expect(await soon(told)).toBe('nothing');
  });
  expect(await told).toBe(true);
});

it('a record that changes often is announced at once, and then once for all changes within 50 ms', async () => {
  hear();
  const { next } = reader(['sbx_1']);
  await next();
  let statements = 0;
  const stop = watchStatements((text) => {
    if (text === announceSql) statements++;
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (let change = 0; change < 100; change++) announceCommitted('sbx_1');
  expect(await next()).toBe(true);
  vi.advanceTimersByTime(timing.repeatedMs - 1);
  const told = next();
  expect(await soon(told)).toBe('nothing');
  vi.advanceTimersByTime(1);
  expect(await told).toBe(true);
  vi.advanceTimersByTime(2 * timing.repeatedMs);
  announceCommitted('sbx_1');
  expect(await next()).toBe(true);
  stop();
  expect(statements).toBe(3);
});

it('a statement notifies readers of the rows that it changed, and of no others', async () => {
  hear();
  await sql(`create table things (id text, name text)`);
  await sql(`insert into things values ('one', 'a'), ('two', 'b')`);
  const [one, two] = [reader(['one']), reader(['two'])];
  await Promise.all([one.next(), two.next()]);
  await sql(announcing('update things set name = $1 where name = $2'), ['c', 'a']);
  expect(await one.next()).toBe(true);
  expect(await soon(two.next())).toBe('nothing');
});

it('changes between two reads are coalesced', async () => {
  hear();
  const [slow, quick] = [reader(['run_1']), reader(['run_1', 'last'])];
  await Promise.all([slow.next(), quick.next()]);
  await Promise.all(Array.from({ length: 500 }, () => announced('run_1')));
  await announced('last');
  await quick.next();
  expect(await slow.next()).toBe(true);
  expect(await soon(slow.next())).toBe('nothing');
});

it('a closed connection for notifications is logged once and reopened, and then all readers are woken, because they may have missed a change', async () => {
  const lines: string[] = [];
  hear({ onError: (line) => lines.push(line) });
  const cutting = `select pg_terminate_backend(pid) from pg_stat_activity
    where query = 'listen changes' and datname = current_database()`;
  for (const id of ['run_1', 'run_2']) {
    const { next } = reader([id]);
    await next();
    while ((await sql(cutting)).length === 0) await pause(5);
    // Nobody receives this announcement.
    await announced(id);
    expect([id, await next()]).toEqual([id, true]);
  }
  expect(lines).toEqual(Array(2).fill(expect.stringMatching(/^cannot listen for changes: .+; reconnecting$/)));
});

it('a connection for notifications that dies silently is detected', async () => {
  const relay = await openRelay();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  hear({ connection: { ...fresh.connection, host: '127.0.0.1', port: relay.port } });
  const { next } = reader(['run_1']);
  await next();
  relay.freeze();
  const told = next();
  // The probe is sent, nothing answers it, and a new connection is made.
  vi.advanceTimersByTime(timing.probeIntervalMs);
  await vi.advanceTimersByTimeAsync(timing.probeTimeoutMs);
  relay.thaw();
  await vi.advanceTimersByTimeAsync(timing.reconnectMs.min);
  expect(await told).toBe(true);
  await relay.close();

  /** A relay between the service and the database that can stop relaying, like a network that loses a route. */
  async function openRelay() {
    let frozen = false;
    const sockets: Socket[] = [];
    const server: Server = createServer((near) => {
      const { host, port } = fresh.connection;
      const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        let passes = !frozen;
        from.on('data', (bytes) => {
          passes &&= !frozen;
          if (passes) to.write(bytes);
        });
        from.on('error', () => {});
        sockets.push(from);
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      port: (server.address() as { port: number }).port,
      freeze: () => {
        frozen = true;
      },
      thaw: () => {
        frozen = false;
      },
      async close() {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }
});

it('a database that is unavailable at first delays no caller, and the listener connects once it is available', async () => {
  const lines: string[] = [];
  const nowhere = { ...fresh.connection, database: `${fresh.connection.database}_later` };
  hear({ connection: nowhere, onError: (line) => lines.push(line) });
  const { next } = reader(['run_1']);
  expect(await next()).toBe(true);
  const told = next();
  await knex.raw(`create database ${nowhere.database} template template0`);
  expect(await told).toBe(true);
  expect(lines).toHaveLength(1);
  await opened.pop()!.close();
  await knex.raw(`drop database ${nowhere.database} with (force)`);
});

it('while there is no connection for notifications, readers of changes are woken every two seconds', async () => {
  hear({ connection: null });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { next } = reader(['run_1']);
  expect(await next()).toBe(true);
  const told = next();
  expect(await soon(told)).toBe('nothing');
  vi.advanceTimersByTime(timing.pollMs);
  expect(await told).toBe(true);
});

it('a wait for changes ends when its signal aborts, its reader ends, or the process stops', async () => {
  const changes = hear();
  const leaving = new AbortController();
  const [signalled, left, last] = [reader(['run_1'], leaving.signal), reader(['run_1']), reader(['run_1'])];
  await Promise.all([signalled.next(), left.next(), last.next()]);
  const next = signalled.next();
  leaving.abort();
  expect(await next).toBe(false);
  await left.leave();
  expect(await left.next()).toBe(false);
  const end = last.next();
  await changes.close();
  await changes.close();
  expect(await end).toBe(false);
  expect(await reader(['run_1']).next()).toBe(false);
  // The process in PostgreSQL that serves the connection ends a moment after the connection has been closed.
  await expect
    .poll(() => sql(`select from pg_stat_activity where query = 'listen changes' and datname = current_database()`))
    .toEqual([]);
});
