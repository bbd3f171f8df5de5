// `npm start` and `npm run serve` as processes: their output and its order, their refusals, and their shutdown.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { version } from '../../../src/services.ts';
import { freshDatabase } from '../../support/database.ts';
import {
  childrenOf,
  databaseUrl,
  freePort,
  isRunning,
  programArguments,
  projectFolder,
} from '../../support/processes.ts';
import { openWorld, type World } from '../../support/world.ts';

let world: World;
const folder = mkdtempSync(path.join(tmpdir(), 'aep-start-'));
const started: Started[] = [];

interface Started {
  process: ChildProcess;
  url: string;
  /** Standard output. */
  said: string;
  /** Standard error. */
  complaints: string;
}

beforeAll(async () => {
  world = await openWorld();
});
afterEach(async () => {
  for (const one of started.splice(0)) await stop(one);
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

/** Starts a process that ends with its test. */
async function start(command: 'start' | 'serve', more?: Record<string, string>): Promise<Started> {
  const one = await launch(command, more);
  started.push(one);
  return one;
}

async function stop({ process }: Started): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  process.kill('SIGTERM');
  await once(process, 'exit');
}

async function launch(command: 'start' | 'serve', more: Record<string, string> = {}): Promise<Started> {
  const env = {
    PATH: process.env.PATH,
    PORT: String(await freePort()),
    DATA_DIR: path.join(folder, 'data'),
    DATABASE_URL: databaseUrl(world.connection),
    ...more,
  };
  const child = spawn(process.execPath, [...programArguments('main'), command], { cwd: projectFolder, env });
  const one = { process: child, url: `http://localhost:${env.PORT}`, said: '', complaints: '' };
  child.stdout.on('data', (text) => (one.said += text));
  child.stderr.on('data', (text) => (one.complaints += text));
  return one;
}

describe('Starting the demo', () => {
  let one: Started;
  beforeAll(async () => {
    one = await launch('start', { LOG_LEVEL: 'debug' });
  });
  afterAll(() => stop(one));

  it('npm start prints its log, then a token and URLs that work; the log does not contain their secrets', async () => {
    await vi.waitFor(() => expect(one.said).toContain('page of the mission is'));
    const at = one.said.indexOf('\nConsole ');
    const [log, welcome] = [one.said.slice(0, at), one.said.slice(at)];
    expect(
      log
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toEqual(
      expect.arrayContaining([
        'listening',
        expect.stringMatching(/claims runs from .* (Missions run in|Scripts run as)/),
      ]),
    );
    const token = /Bearer (pat_[\w-]+)/.exec(welcome)![1]!;
    const [mailbox, signIn] = [/^Mailbox +(\S+)$/m, /^ +(http:\S+\/sign-in\S+)$/m].map(
      (form) => form.exec(welcome)![1]!,
    );
    expect((await fetch(`${one.url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    expect((await fetch(mailbox!, { redirect: 'manual' })).status).toBe(303);
    expect((await fetch(signIn!)).status).toBe(200);
    const secrets = [token, ...[mailbox!, signIn!].map((link) => new URL(link).search.split('=')[1]!)];
    for (const secret of secrets) expect(log).not.toContain(secret);
    expect(one.said.slice(at)).not.toMatch(/srv_/);
  });

  it('the service key is readable only by its owner', async () => {
    await vi.waitFor(() => expect(statSync(path.join(folder, 'data/secret-key')).mode & 0o777).toBe(0o600));
    expect(statSync(path.join(folder, 'data')).mode & 0o066).toBe(0);
  });

  it('npm start ends its runner and the scripts of the runner on SIGTERM', async () => {
    await vi.waitFor(() => expect(one.said).toContain('curl -X POST'));
    const [, token, address] = /curl -X POST -H 'Authorization: Bearer (\S+)' (\S+)/.exec(one.said)!;
    const [runner] = [...one.said.matchAll(/"runner":(\d+)/g)].map(([, pid]) => Number(pid));
    expect(isRunning(runner!)).toBe(true);
    expect((await fetch(address!, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    // Child processes of the runner: the guard of the mission's folder, and the script.
    const scripts = await vi.waitFor(() => {
      const found = childrenOf(runner!);
      expect(found.length).toBeGreaterThanOrEqual(2);
      return found;
    });
    one.process.kill('SIGTERM');
    expect(await once(one.process, 'exit')).toEqual([0, null]);
    expect([runner!, ...scripts].filter(isRunning)).toEqual([]);
    expect(await world.knex('runs').select('status')).toEqual([{ status: 'dispatching' }]);
  });

  it('npm start starts no runner when the service is reachable from other machines', async () => {
    const one = await start('start', { PUBLIC_URL: 'https://platform.example.com' });
    await vi.waitFor(() => expect(one.said).toContain('page of the mission is'));
    expect(one.said).not.toMatch(/claims runs|Mailbox/);
  });
});

describe('Starting the service', () => {
  it('npm run serve prints the link to the development mailbox in addition to the log, and starts no runner', async () => {
    const one = await start('serve');
    await vi.waitFor(() => expect(one.said).toContain('listening'));
    await vi.waitFor(() =>
      expect(one.complaints).toContain(`Development mailbox: ${one.url}/development/mailbox?key=`),
    );
    expect(one.said).not.toContain('claims runs');
  });

  it('npm run serve waits for an unavailable database, and logs the address of the database at each try', async () => {
    const port = await freePort();
    const { user, password, database, host, port: socket } = world.connection;
    const url = `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
    const one = await start('serve', { DATABASE_URL: url, SCHEDULER: 'on' });
    const lines = () =>
      one.said
        .split('\n')
        .filter((line) => line.includes('"warn"') || line.includes('"error"'))
        .map((line) => JSON.parse(line).msg);
    const away = `waiting for the database at 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`;
    await vi.waitFor(() => expect(lines().length).toBeGreaterThan(2));
    expect(lines()).toEqual(lines().map(() => away));
    expect(one.said).toContain('listening');
    // The jobs of the service need the database about forty times a second. Nevertheless the service tries to connect only after one second, and then
    // after two, and logs one line at each try.
    expect(lines().length).toBeLessThan(6);
    const server = createServer((inbound) => {
      const outbound = connect(`${host}/.s.PGSQL.${socket}`);
      inbound.pipe(outbound).pipe(inbound);
      for (const end of [inbound, outbound]) end.on('error', () => inbound.destroy());
    }).listen(port, '127.0.0.1');
    await vi.waitFor(() => expect(lines().at(-1)).toBe(`the database at 127.0.0.1:${port} is back`));
    expect(one.said).not.toContain(password);
    await stop(one);
    server.close();
  });

  it('the program prints its help and version without settings', async () => {
    const call = (word: string) =>
      promisify(execFile)(process.execPath, [...programArguments('main'), word], {
        cwd: projectFolder,
        env: { PORT: 'nonsense' },
      });
    expect((await call('--help')).stdout).toMatch(/^node dist\/main\.js \[COMMAND\]\n\n {2}serve /);
    expect(await call('--version')).toEqual({ stdout: `${version}\n`, stderr: '' });
    await expect(call('sing')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There is no command sing\./),
    });
  });

  it('npm run serve says in one line how to build the service when there is no build', async () => {
    copyFileSync(path.join(projectFolder, 'package.json'), path.join(folder, 'package.json'));
    const failed = await promisify(execFile)('npm', ['run', '--silent', 'serve'], { cwd: folder }).catch(
      (error) => error,
    );
    expect([failed.code, failed.stdout, failed.stderr]).toEqual([
      1,
      '',
      'There is no build yet: run npm run build first.\n',
    ]);
  });
});

describe('A start that fails', () => {
  it('a start on a port that is in use fails, and names PORT', async () => {
    const { port } = new URL(world.url);
    const one = await start('serve', { PORT: port });
    expect(await once(one.process, 'exit')).toEqual([1, null]);
    expect(one.complaints).toBe(
      `Port ${port} on 127.0.0.1 is in use by another program: stop it, or set PORT to another number.\n`,
    );
  });

  it('a start with invalid settings fails, and the message shows valid examples, not the given values', async () => {
    const one = await start('serve', {
      SMTP_URL: 'smtp:/app:hunter2@mail',
      DATABASE_URL: 'mysql://app:hunter3@db/app',
    });
    expect(await once(one.process, 'exit')).toEqual([1, null]);
    expect(one.complaints).toBe(
      `These settings are invalid:
  DATABASE_URL: must be postgres://user:password@host:port/database, with host:port,host:port for several servers, special characters percent-encoded
  SMTP_URL: must be smtp://user:password@host:port, or smtps://
`,
    );
  });
});

it('npm pack includes what the service needs to run, and nothing else', async () => {
  const pack = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await promisify(execFile)('npm', pack, { cwd: projectFolder, maxBuffer: 10_000_000 });
  const files: string[] = JSON.parse(stdout)[0].files.map(({ path: name }: { path: string }) => name);
  expect(files).toEqual(
    expect.arrayContaining([
      'dist/main.js',
      'dist/admin.js',
      'dist/runner/runner.js',
      'deploy/Dockerfile',
      'package.json',
    ]),
  );
  expect(files).toEqual(expect.arrayContaining([expect.stringMatching(/^migrations\/.*\.sql$/)]));
  expect(files).toEqual(expect.arrayContaining([expect.stringMatching(/^dist\/console\/.*\.js$/)]));
  expect(files.filter((name) => /^(src|test|bench|scripts|clients)\/|\.map$/.test(name))).toEqual([]);
});

it('scripts that load at the start have only Latin-1 characters, which take one byte of memory each', () => {
  const folder = path.join(projectFolder, 'dist');
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.js') && !name.startsWith('graphiql'));
  const beyond = scripts.flatMap(
    (name) => readFileSync(path.join(folder, name), 'utf8').match(/.{0,40}[\u0100-\uffff].{0,20}/g) ?? [],
  );
  expect(beyond).toEqual([]);
});

it('npm start of a cell needs no other cell, and seeds no demo', async () => {
  const { connection, drop } = await freshDatabase();
  const cells = { CELL_NAME: 'us', CELLS: 'eu=http://127.0.0.1:9,us=http://127.0.0.1:10', CELL_SECRET: 'c'.repeat(43) };
  const one = await start('start', { DATABASE_URL: databaseUrl(connection), ...cells });
  await vi.waitFor(() => expect(one.said).toContain('\nConsole '));
  expect(one.said).not.toContain('token of the demo');
  await stop(one);
  await drop();
});
