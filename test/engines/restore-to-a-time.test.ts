// The drill of docs/operate.md, with pgBackRest and with a PostgreSQL server of a version that this pgBackRest supports: a backup,
// continuous archiving, a kill, and a restore to a point in time.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import knexFactory, { type Knex } from 'knex';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { verifyLog } from '#domain/lifecycle/audit/tree/verify.ts';
import { checkpointsIn } from '#foundation/merkle/checkpoints.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { book, grant, openCreditWorld, start } from '../support/credit-world.ts';
import { rowsOf } from '../support/database-rows.ts';
import { freePort } from '../support/processes.ts';

/** The folder with the programs of the newest PostgreSQL on this machine that the installed pgBackRest supports; null if there is none. */
function findPrograms(): string | null {
  const installed = '/usr/lib/postgresql';
  if (spawnSync('pgbackrest', ['version']).status !== 0 || !existsSync(installed)) return null;
  const major = readdirSync(installed)
    .map(Number)
    .filter((number) => number >= 15 && number <= 16)
    .sort()
    .at(-1);
  return major ? path.join(installed, String(major), 'bin') : null;
}
const programs = findPrograms();
if (!programs) console.warn('skipped: there is no pgBackRest with a PostgreSQL 15 or 16 in /usr/lib/postgresql');

/** PostgreSQL refuses to run as root. */
const account: { uid?: number; gid?: number } = process.getuid?.() === 0 ? idsOf('postgres') : {};
function idsOf(name: string): { uid: number; gid: number } {
  const [uid, gid] = ['-u', '-g'].map((option) => Number(execFileSync('id', [option, name], { encoding: 'utf8' })));
  return { uid: uid!, gid: gid! };
}

let home: string;
let port: number;
const at = (name: string) => path.join(home, name);
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, {
    ...account,
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH },
  });
const pgbackrest = (...args: string[]) =>
  run('pgbackrest', `--config=${at('pgbackrest.conf')}`, '--stanza=aep', ...args);
function postgres(...args: string[]): void {
  try {
    run(path.join(programs!, 'pg_ctl'), '--pgdata', at('data'), '--log', at('run/log'), '--wait', ...args);
  } catch (error) {
    throw new Error(
      `${args[0]}: ${existsSync(at('run/log')) ? readFileSync(at('run/log'), 'utf8').slice(-2_000) : ''}`,
      { cause: error },
    );
  }
}
function makeFolder(name: string): void {
  mkdirSync(at(name), { mode: 0o700 });
  if (account.uid) chownSync(at(name), account.uid, account.gid!);
}
const url = () => `postgresql://app@127.0.0.1:${port}/postgres`;

beforeAll(async () => {
  if (!programs) return;
  home = mkdtempSync(path.join(tmpdir(), 'aep-restore-'));
  chmodSync(home, 0o755);
  port = await freePort();
  for (const name of ['data', 'repository', 'run']) makeFolder(name);
  const settings = {
    'repo1-path': at('repository'),
    'repo1-retention-full': 2,
    'repo1-cipher-type': 'aes-256-cbc',
    'repo1-cipher-pass': 'kept elsewhere',
  };
  const own = {
    'log-path': at('run'),
    'lock-path': at('run'),
    'spool-path': at('run'),
    'log-level-console': 'warn',
    'start-fast': 'y',
  };
  const server = {
    'pg1-path': at('data'),
    'pg1-port': port,
    'pg1-socket-path': at('run'),
    'pg1-user': 'app',
    'pg1-database': 'postgres',
  };
  const lines = (values: object) =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}\n`)
      .join('');
  writeFileSync(at('pgbackrest.conf'), `[global]\n${lines({ ...settings, ...own })}[aep]\n${lines(server)}`);
  run(
    path.join(programs, 'initdb'),
    '--pgdata',
    at('data'),
    '--username=app',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  );
  const archive = `pgbackrest --config=${at('pgbackrest.conf')} --stanza=aep archive-push %p`;
  const configuration = {
    port,
    unix_socket_directories: `'${at('run')}'`,
    listen_addresses: "'127.0.0.1'",
    archive_mode: 'on',
    archive_command: `'${archive}'`,
    fsync: 'off',
  };
  writeFileSync(at('data/postgresql.auto.conf'), lines(configuration));
  postgres('start');
});
afterAll(() => {
  if (!programs) return;
  if (existsSync(at('data/postmaster.pid'))) postgres('stop', '--mode=immediate');
  rmSync(home, { recursive: true });
});

/** Number of the last archived segment of the write-ahead log. */
const archivedTo = async (knex: Knex): Promise<string> =>
  (await knex.raw('select last_archived_wal as segment from pg_stat_archiver')).rows[0].segment ?? '';

it.skipIf(!programs)(
  'a killed database is restored to a point in time, with every write that was acknowledged before it and none after it',
  async () => {
    const knex = knexFactory({ client: 'pg', connection: url() });
    await migrate(knex);
    pgbackrest('stanza-create');
    pgbackrest('backup', '--type=full');

    const before = await openCreditWorld({ database: url() });
    const orgId = await before.organization();
    for (let n = 1; n <= 20; n++) {
      await grant(orgId, 5);
      if (await start(orgId, `run_${n}`)) await book(orgId, `run_${n}`, n * 10_000, true);
    }
    await numberAllChanges();
    await signCheckpoints();
    const notes: { note: string }[] = await before.world.knex('audit_checkpoints').select('note');
    const acknowledged = (await rowsOf(before.world.knex)).sort();
    const totals = await before.accounts(orgId);
    // For pgBackRest, a backup ends at a whole second, and a restore is possible only to a later second.
    const backedUpAt = Math.ceil(Date.now() / 1_000) * 1_000;
    await vi.waitUntil(() => Date.now() > backedUpAt);
    const moment: string = (await knex.raw('select clock_timestamp()::text as moment')).rows[0].moment;
    await grant(orgId, 1_000);
    const { segment } = (await knex.raw('select pg_walfile_name(pg_switch_wal()) as segment')).rows[0];
    await vi.waitUntil(async () => (await archivedTo(knex)) >= segment, { timeout: 60_000 });
    await before.close();
    await knex.destroy();

    process.kill(Number(readFileSync(at('data/postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL');
    rmSync(at('data'), { recursive: true });
    makeFolder('data');
    pgbackrest('restore', '--type=time', `--target=${moment}`, '--target-action=promote');
    // Another machine takes over, with a different port and socket, because those of the killed server may stay occupied for a while.
    port = await freePort();
    makeFolder('socket');
    postgres('start', `--options=-p ${port} -k ${at('socket')}`);

    const after = await openCreditWorld({ database: url() });
    try {
      await vi.waitUntil(async () => !(await after.world.knex.raw('select pg_is_in_recovery() as is')).rows[0].is, {
        timeout: 60_000,
      });
      expect((await rowsOf(after.world.knex)).sort()).toEqual(acknowledged);
      expect(await after.accounts(orgId)).toEqual(totals);
      await after.checkBooks(orgId);
      expect(notes.length).toBeGreaterThan(0);
      const kept = notes.flatMap(({ note }) => checkpointsIn(note));
      expect((await verifyLog(orgId, kept)).findings).toEqual([]);
      // The restored database accepts writes, and its log continues.
      await grant(orgId, 1);
      await after.checkBooks(orgId);
    } finally {
      await after.close();
    }
  },
);
