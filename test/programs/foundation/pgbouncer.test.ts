// When PgBouncer reports an error, callers are told to retry soon. On every machine, a stand-in sends the same messages as PgBouncer. PgBouncer
// itself is tested where it is installed.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '#foundation/postgres/database.ts';
import { createOwner } from '../../support/callers.ts';
import { openWorld, type World } from '../../support/world.ts';

let world: World;
let token: string;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  world = await openWorld();
  ({ token } = await createOwner(world, 'Alice', 'Acme'));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => {
  openDatabase({ connection: world.connection });
  await world.close();
});

/** Connects the service to this database instead of the one with which the tests began. */
function moveTo(connection: pg.ClientConfig): void {
  const knex = openDatabase({ connection, namedStatements: false, retryForMs: 300 });
  closing.push(() => knex.destroy());
}

/** Expects that the service is temporarily unavailable and tells the caller to retry. */
async function expectUnavailable(): Promise<void> {
  const { status, headers, body } = await world.rest('GET', '/projects', { token });
  expect([status, body.category, body.retryable]).toEqual([503, 'infrastructure', true]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
}

const message = (type: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const head = Buffer.from(`${type}0000`);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
/**
 * An ErrorResponse as PgBouncer's `send_pooler_error` writes it. Its code is always 08P01, and it lacks the field in which PostgreSQL names the
 * function that reported the error.
 */
const failure = (words: string) => message('E', Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${words}\0\0`));
const welcome = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]);

/** Sends an error with this text, at login or in response to the first statement, and closes the connection. */
async function standIn(words: string, at: 'login' | 'statement'): Promise<pg.ClientConfig> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      if (at === 'login') return socket.end(failure(words));
      socket.write(welcome);
      return socket.once('data', () => socket.end(failure(words)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => server.close());
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port, user: 'a', password: 'a', database: 'a' };
}

describe('A stand-in with the messages of PgBouncer', () => {
  it.each([
    ['server login has been failing, try again later (server_login_retry)', 'login'],
    ['no more connections allowed (max_client_conn)', 'login'],
    ['client_login_timeout', 'login'],
    ['query_wait_timeout', 'statement'],
    ['server login has been failing, cached error: connect failed (server_login_retry)', 'statement'],
    ['pooler is shutting down', 'statement'],
    ['server conn crashed?', 'statement'],
  ] as const)(
    '503 · a caller is told to retry when the stand-in sends the error "%s" in response to a %s',
    async (words, at) => {
      moveTo(await standIn(words, at));
      await expectUnavailable();
    },
  );
});

const nobody = 65_534;

function installed(): boolean {
  try {
    return execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' }).includes('PgBouncer');
  } catch {
    return false;
  }
}

describe.runIf(installed())('PgBouncer itself', () => {
  /** Starts a PgBouncer that forwards connections to the database `target`, which may be unavailable. */
  async function start(settings: Record<string, string | number>, target = world.connection): Promise<pg.ClientConfig> {
    const folder = mkdtempSync(path.join(tmpdir(), 'aep-pgbouncer-'));
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    const { host, user, password, database } = target;
    const lines = Object.entries({
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'any',
      pool_mode: 'transaction',
      ...settings,
    }).map(([name, value]) => `${name} = ${value}`);
    const ini = path.join(folder, 'pgbouncer.ini');
    const behind = `host=${host} port=${target.port} user=${user} password=${password} dbname=${database}`;
    writeFileSync(ini, `[databases]\n${database} = ${behind}\n[pgbouncer]\n${lines.join('\n')}\n`);
    // PgBouncer refuses to run as root, and needs the account that owns the socket of the test server.
    const uid = host.startsWith('/') ? statSync(host).uid : nobody;
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(folder, uid, uid);
    if (isRoot) chownSync(ini, uid, uid);
    const child: ChildProcess = spawn('pgbouncer', [ini], {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(isRoot && { uid }),
    });
    closing.push(async () => {
      if (child.exitCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      rmSync(folder, { recursive: true });
    });
    await new Promise<void>((resolve) => {
      child.stderr!.on('data', (text) => /process up/.test(String(text)) && resolve());
    });
    return { host: '127.0.0.1', port, user, password, database };
  }

  it('200 · answers while a server connection is free', async () => {
    moveTo(await start({}));
    expect((await world.rest('GET', '/projects', { token })).status).toBe(200);
  });

  it('503 · query_wait_timeout: the only server connection is taken', async () => {
    const pooler = await start({ default_pool_size: 1, query_wait_timeout: 1 });
    const holder = new pg.Client(pooler);
    await holder.connect();
    await holder.query('begin');
    moveTo(pooler);
    await expectUnavailable();
    await holder.end();
  });

  it('503 · PgBouncer refuses a connection above its maximum', async () => {
    const pooler = await start({ max_client_conn: 1 });
    const holder = new pg.Client(pooler);
    await holder.connect();
    moveTo(pooler);
    await expectUnavailable();
    await holder.end();
  });

  it('503 · “server login has been failing”: the server is unavailable', async () => {
    moveTo(
      await start(
        { server_login_retry: 15, client_login_timeout: 2 },
        { ...world.connection, host: '127.0.0.1', port: 9 },
      ),
    );
    await expectUnavailable();
  });
});
