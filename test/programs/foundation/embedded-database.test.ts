// The embedded database under restarts, kills, leftovers, a second owner, and other accounts.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type EmbeddedDatabase,
  findEmbeddedDatabase,
  startEmbeddedDatabase,
} from '#foundation/postgres/embedded/database.ts';
import { linkLibraries, nativeFolder } from '#foundation/postgres/embedded/files.ts';
import { DatabaseInUse, startOf, takeOwnership } from '#foundation/postgres/embedded/owner.ts';
import { temporaryHome } from '../../support/global-setup.ts';
import { programArguments, projectFolder } from '../../support/processes.ts';

const isRoot = process.getuid?.() === 0;
const homes: string[] = [];
const running: (EmbeddedDatabase | ChildProcess)[] = [];

function newHome(): string {
  const home = temporaryHome();
  homes.push(home);
  return home;
}

async function start(home: string, log: (line: string) => void = () => {}): Promise<EmbeddedDatabase> {
  const database = await startEmbeddedDatabase({ home, log });
  running.push(database);
  return database;
}

/** The first row of the last statement. */
async function ask(database: Pick<EmbeddedDatabase, 'connection'>, sql: string): Promise<unknown> {
  const client = new pg.Client(database.connection);
  client.on('error', () => {});
  await client.connect();
  try {
    const results = [await client.query(sql)].flat();
    return results.at(-1)?.rows[0];
  } finally {
    await client.end();
  }
}

/** Starts support/writing-process.js, which writes to the database in `home`. */
function startWriter(home: string, options: SpawnOptions = {}) {
  const child = spawn(process.execPath, [...programArguments('test/writing-process'), home], {
    cwd: projectFolder,
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  let committed = 0;
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => (committed = Number(line)));
  return {
    child,
    hasWritten: (n: number) => vi.waitUntil(() => committed >= n),
    last: () => committed,
  };
}

afterEach(async () => {
  for (const each of running.splice(0)) {
    if ('stop' in each) await each.stop();
    else if (each.exitCode === null && each.signalCode === null && each.kill('SIGKILL')) await once(each, 'exit');
  }
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

it('an embedded database starts in an empty folder, keeps its rows across a restart and leaves no process behind', async () => {
  const home = newHome();
  // A first start that is killed halfway leaves this folder behind.
  mkdirSync(path.join(home, 'data.new', 'base'), { recursive: true });
  const first = await start(home);
  await ask(first, 'create table kept (n integer); insert into kept values (7)');
  await first.stop();
  expect(startOf(first.pid)).toBeUndefined();
  expect(findEmbeddedDatabase(home)).toBeUndefined();
  const second = await start(home);
  expect(second.pid).not.toBe(first.pid);
  expect(await ask(second, 'select n from kept')).toEqual({ n: 7 });
  expect(findEmbeddedDatabase(home)).toEqual({ connection: second.connection, data: second.data });
  await second.stop();
  expect(readdirSync(home).toSorted()).toEqual(['data', 'password', 'postgres.log']);
});

it('an embedded database listens only on a private socket, requires its password, and sorts text alike on every machine', async () => {
  const home = newHome();
  const database = await start(home);
  const { host, port, user } = database.connection;
  expect(statSync(host).mode & 0o777).toBe(0o700);
  expect(statSync(path.join(home, 'password')).mode & 0o777).toBe(0o600);
  await expect(ask({ connection: { ...database.connection, password: 'wrong' } }, 'select 1')).rejects.toThrow(
    'password',
  );
  const facts = await ask(
    database,
    `select current_setting('listen_addresses') as addresses, current_setting('data_checksums') as checksums,
              current_database() as name, datlocprovider as provider, datlocale as locale, current_setting('server_encoding') as encoding
         from pg_database where datname = current_database()`,
  );
  expect({ host, port, user, ...(facts as object) }).toEqual({
    addresses: '',
    checksums: 'on',
    name: 'agent_engineering_platform',
    provider: 'b',
    locale: 'C.UTF-8',
    encoding: 'UTF8',
    host: path.join(home, 'run'),
    port: 5432,
    user: 'app',
  });
});

it('an embedded database keeps its socket in /tmp when the folder’s path is too long for a socket, and removes the socket afterwards', async () => {
  const home = path.join(newHome(), 'a-very-long-name-'.repeat(6));
  const database = await start(home);
  const { host } = database.connection;
  expect(host).toMatch(/^\/tmp\/agent-engineering-platform-[0-9a-f]{12}$/);
  expect(await ask(database, 'select 1 as one')).toEqual({ one: 1 });
  await database.stop();
  expect(existsSync(host)).toBe(false);
});

describe('An embedded database after a kill', () => {
  it('an embedded database loses no row when its parent is killed with -9 and the service starts again at once', async () => {
    const home = newHome();
    const { child, hasWritten, last } = startWriter(home);
    await hasWritten(200);
    const orphan = findEmbeddedDatabase(home);
    child.kill('SIGKILL');
    await once(child, 'close');
    const database = await start(home);
    const written = await ask(
      database,
      `select count(*) = max(n) as whole, max(n) >= ${last()} as kept from rows_written`,
    );
    expect(written).toEqual({ whole: true, kept: true });
    expect(orphan?.connection).toEqual(database.connection);
  });

  it('an embedded database stops by itself soon after its parent was killed with -9', async () => {
    const home = newHome();
    const { child, hasWritten } = startWriter(home);
    await hasWritten(1);
    const data = findEmbeddedDatabase(home)?.data ?? '';
    const pid = Number.parseInt(readFileSync(path.join(data, 'postmaster.pid'), 'utf8'), 10);
    child.kill('SIGKILL');
    await vi.waitUntil(() => startOf(pid) === undefined);
    expect(findEmbeddedDatabase(home)).toBeUndefined();
  });

  it('an embedded database is started again when only its server is killed', async () => {
    const lines: string[] = [];
    const database = await start(newHome(), (line) => lines.push(line));
    await ask(database, 'create table kept (n integer); insert into kept values (7)');
    const { pid } = database;
    process.kill(pid, 'SIGKILL');
    const answer = await vi.waitUntil(() => ask(database, 'select n from kept').catch(() => undefined), {
      timeout: 100_000,
    });
    expect(answer).toEqual({ n: 7 });
    expect(database.pid).not.toBe(pid);
    expect(lines[0]).toBe('the embedded database ended unexpectedly (SIGKILL): starting it again');
  });

  it('an embedded database starts although a dead server and a dead owner have left files with their process ids, and other running processes now have these ids', async () => {
    const home = newHome();
    const first = await start(home);
    await first.stop();
    const socket = first.connection.host;
    mkdirSync(socket, { mode: 0o700 });
    if (isRoot) chownSync(socket, statSync(first.data).uid, statSync(first.data).gid);
    const traces = `${process.pid}\n${first.data}\n1\n5432\n${socket}\n\n\nready\n`;
    for (const file of [path.join(first.data, 'postmaster.pid'), path.join(socket, '.s.PGSQL.5432.lock')]) {
      writeFileSync(file, traces);
    }
    const release = await takeOwnership(home);
    const owner = JSON.parse(readFileSync(path.join(home, 'owner.json'), 'utf8'));
    release();
    writeFileSync(path.join(home, 'owner.json'), JSON.stringify({ ...owner, started: 'long ago' }));
    expect(findEmbeddedDatabase(home)).toBeUndefined();
    expect(await ask(await start(home), 'select 1 as one')).toEqual({ one: 1 });
  });
});

describe('The rule of one owner per embedded database', () => {
  it('an embedded database refuses a second start in the same process and in another process, and names the folder and the owner', async () => {
    const home = newHome();
    const { child, hasWritten } = startWriter(home);
    await hasWritten(1);
    const refusal = await startEmbeddedDatabase({ home }).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(DatabaseInUse);
    expect(String(refusal)).toContain(
      `The database in ${home} is in use by another service process (pid ${child.pid})`,
    );
    expect(String(refusal)).toContain('DATABASE_URL');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    const database = await start(home);
    await expect(startEmbeddedDatabase({ home })).rejects.toThrow(`pid ${process.pid}`);
    expect(await ask(database, 'select count(*) > 0 as written from rows_written')).toEqual({ written: true });
  });

  it('the owner of an embedded database in another container counts as alive while its heartbeat continues, and as dead once it stops', async () => {
    const home = newHome();
    const file = path.join(home, 'owner.json');
    writeFileSync(file, JSON.stringify({ pid: 1, started: '1', world: 'another container' }));
    let beats = 0;
    const heart = setInterval(() => utimesSync(file, ++beats, beats), 10);
    await expect(takeOwnership(home, 50)).rejects.toThrow(DatabaseInUse);
    clearInterval(heart);
    const release = await takeOwnership(home, 50);
    release();
    expect(existsSync(file)).toBe(false);
  });
});

describe('An embedded database on different accounts and platforms', () => {
  it.runIf(isRoot)('an embedded database runs for an ordinary account as well as for root', async () => {
    const home = newHome();
    const nobody = 65_534;
    chownSync(home, nobody, nobody);
    const { child, hasWritten } = startWriter(home, { uid: nobody, gid: nobody });
    await hasWritten(10);
    expect(statSync(path.join(home, 'data')).uid).toBe(nobody);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    // When root starts the service, the database runs as the account that owns the data.
    expect(await ask(await start(home), 'select count(*) >= 10 as kept from rows_written')).toEqual({ kept: true });
  });

  it.runIf(isRoot)(
    'an embedded database stores the data in another folder, and says so, when only root may enter the configured one',
    async () => {
      const home = newHome();
      chmodSync(home, 0o700);
      const lines: string[] = [];
      const database = await start(home, (line) => lines.push(line));
      const elsewhere = path.dirname(database.data);
      try {
        expect(elsewhere).toMatch(/^\/var\/lib\/agent-engineering-platform\/[0-9a-f]{12}$/);
        expect(lines).toEqual([expect.stringContaining(`the database is stored in ${elsewhere}`)]);
        await ask(database, 'create table kept ()');
        await database.stop();
        // On later starts, the data stays in the other folder, even after the configured folder allows other accounts to enter it.
        chmodSync(home, 0o755);
        expect(await ask(await start(home), "select to_regclass('kept') is not null as kept")).toEqual({ kept: true });
      } finally {
        for (const each of running) if ('stop' in each) await each.stop();
        rmSync(elsewhere, { recursive: true });
        if (readdirSync(path.dirname(elsewhere)).length === 0) rmdirSync(path.dirname(elsewhere));
      }
    },
  );

  it('the service requires DATABASE_URL on a platform without an embedded PostgreSQL', () => {
    expect(() => nativeFolder('sunos', 'x64')).toThrow(
      'There is no embedded PostgreSQL for sunos-x64: set DATABASE_URL to a PostgreSQL 15 or newer.',
    );
  });

  it('the embedded PostgreSQL gets the links between libraries that an install without scripts leaves out', () => {
    const native = path.join(newHome(), 'native');
    mkdirSync(path.join(native, 'lib'), { recursive: true });
    writeFileSync(path.join(native, 'lib', 'libx.so.1.2'), 'x');
    symlinkSync('libx.so.1.2', path.join(native, 'lib', 'libx.so'));
    const links = ['libx.so', 'libx.so.1'].map((name) => ({
      source: 'native/lib/libx.so.1.2',
      target: `native/lib/${name}`,
    }));
    writeFileSync(path.join(native, 'pg-symlinks.json'), JSON.stringify(links));
    expect(linkLibraries(native)).toBe(true);
    expect(readFileSync(path.join(native, 'lib', 'libx.so.1'), 'utf8')).toBe('x');
  });
});
