// Scheduled backups of the embedded database: when the job makes a backup, how many backups it keeps, what operators see when a backup
// fails, and how an operator restores a backup.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import knexFactory from 'knex';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { scheduledBackups } from '#domain/lifecycle/backups/scheduled.ts';
import { type BackupAttempt, bindBackupPlan, latestBackups, recordStart } from '#domain/lifecycle/backups/state.ts';
import { readStatus } from '#domain/lifecycle/installation/status.ts';
import { bindOperators } from '#domain/organization/people/operators.ts';
import { backupNameOf, backupPlace } from '#foundation/backups/place.ts';
import { hours, minutes, now, seconds } from '#foundation/clock.ts';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { createOwner } from '../../support/callers.ts';
import { admin } from '../../support/command-line.ts';
import { temporaryHome } from '../../support/global-setup.ts';
import { databaseUrl } from '../../support/processes.ts';
import { openWorld, type World } from '../../support/world.ts';

const top = temporaryHome();
const dataDir = path.join(top, 'here');
const kept = path.join(top, 'kept');
const plan = { intervalMs: hours(24), keep: 2 };
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
let embedded: EmbeddedDatabase;
let world: World;
let source: Parameters<typeof scheduledBackups>[0];

beforeAll(async () => {
  embedded = await startEmbeddedDatabase({ home: path.join(dataDir, 'database'), settings: { fsync: 'off' } });
  const knex = knexFactory({ client: 'pg', connection: embedded.connection });
  await migrate(knex).finally(() => knex.destroy());
  world = await openWorld({ database: databaseUrl(embedded.connection) });
  source = {
    ...embedded,
    dataDir,
    contentsFolder: path.join(dataDir, 'artifacts'),
    ownSecretKey: false,
    version: '0.2.0',
  };
  mkdirSync(path.join(dataDir, 'artifacts', 'ab'), { recursive: true });
  writeFileSync(path.join(dataDir, 'artifacts', 'ab', 'shot'), 'a picture');
  bindBackupPlan(plan);
  bindOperators(['ada@example.com']);
});
afterAll(async () => {
  bindBackupPlan(null);
  bindOperators([]);
  await world.close();
  await embedded.stop();
  rmSync(top, { recursive: true });
});

/** The id in the names of this installation's backups. */
const ownId = () => readFileSync(path.join(dataDir, 'backup-id'), 'utf8');

/** Jobs of a process that has just started. */
const jobFor = (folder = kept) => scheduledBackups(source, { ...plan, place: backupPlace(pathToFileURL(folder).href) });

/** Runs the job until its backup has ended, and returns the attempt. */
async function attempt(job: ReturnType<typeof jobFor>) {
  const [before] = await latestBackups(1);
  const isNew = ({ name }: BackupAttempt) => name !== before?.name;
  // The job starts nothing while it still cleans up after the previous backup.
  await vi.waitUntil(async () => {
    await job.run();
    return (await latestBackups(1)).some(isNew);
  });
  return vi.waitUntil(async () => (await latestBackups(1)).find(({ endedAt }) => endedAt !== null));
}
const files = () => readdirSync(kept).sort();
const later = (milliseconds: number) => world.clock.turn(milliseconds);

async function figures(): Promise<string[]> {
  later(seconds(6));
  const { body } = await world.request('GET', '/metrics');
  return (body as string).split('\n').filter((line) => /^backup_\w+ /.test(line));
}

describe('the scheduled backup job', () => {
  it('the backup job backs up at once and after each interval, and keeps the configured number of its own backups', async () => {
    mkdirSync(kept);
    writeFileSync(path.join(kept, 'aep-00000000-20200101T000000Z.backup'), 'of another installation');
    const job = jobFor();
    const names: string[] = [];
    for (const wait of [hours(24), hours(24), 0]) {
      const complete = await attempt(job);
      expect(complete).toEqual({
        name: backupNameOf(ownId(), complete!.startedAt),
        startedAt: expect.any(Number),
        endedAt: expect.any(Number),
        sizeBytes: expect.any(Number),
        error: null,
      });
      names.push(`${complete!.name}.backup`);
      later(minutes(1));
      await job.run();
      expect(await latestBackups()).toHaveLength(names.length);
      later(wait);
    }
    await vi.waitUntil(() => files().length === 3);
    expect(files()).toEqual(['aep-00000000-20200101T000000Z.backup', ...names.slice(1)].sort());
    expect(existsSync(path.join(dataDir, 'backup-in-progress'))).toBe(false);
    expect((await readStatus()).findings).toEqual([]);
    expect(await figures()).toEqual([expect.stringMatching(/^backup_age_seconds \d+/), 'backup_failing 0']);
    await job.stop();
  });

  it('the backup job of a restored copy with the same key and storage removes no backups of the original', async () => {
    const before = files();
    const copy = path.join(top, 'copy');
    mkdirSync(copy);
    later(hours(24));
    const place = backupPlace(pathToFileURL(kept).href);
    const job = scheduledBackups({ ...source, dataDir: copy }, { ...plan, keep: 1, place });
    const { name } = (await attempt(job))!;
    await job.stop();
    expect(files()).toEqual([...before, `${name}.backup`].sort());
    rmSync(path.join(kept, `${name}.backup`));
  });

  it('a backup whose end was not recorded is kept, even when the first attempt to list the storage fails', async () => {
    later(minutes(1));
    const name = backupNameOf(ownId(), now());
    await recordStart(name, now());
    copyFileSync(path.join(kept, files().at(-1)!), path.join(kept, `${name}.backup`));
    const place = backupPlace(pathToFileURL(kept).href);
    const list = vi.fn(place.list).mockRejectedValueOnce(new Error('503'));
    const job = scheduledBackups(source, { ...plan, place: { ...place, list } });
    await expect(job.run()).rejects.toThrow('503');
    expect((await latestBackups(1))[0]).toMatchObject({ name, endedAt: null });
    await job.run();
    expect((await latestBackups(1))[0]).toMatchObject({ name, error: null });
    expect(files()).toContain(`${name}.backup`);
  });

  it('a failed backup and the age of the newest one are shown to operators; the job tries again after 15 minutes', async () => {
    later(hours(49));
    const blocked = path.join(top, 'blocked');
    writeFileSync(blocked, 'a file');
    const job = jobFor(path.join(blocked, 'inside'));
    const failed = await attempt(job);
    expect(failed).toMatchObject({ sizeBytes: null, error: expect.stringContaining('ENOTDIR') });
    await vi.waitFor(() => expect(job.run()).rejects.toThrow('ENOTDIR'));
    expect((await readStatus()).findings).toEqual([
      expect.stringMatching(/^The backup of \d s ago failed: ENOTDIR: not a directory, mkdir/),
      expect.stringMatching(/^The newest complete backup is 2 d old\.$/),
    ]);
    expect(await figures()).toContain('backup_failing 1');
    const session = await world.session(await world.person('Ada'));
    const { body } = await world.request('GET', '/console/operations', { session });
    expect(body).toContain('<h2>Backups</h2>');
    expect(body).toContain(failed!.name);
    await job.run();
    expect(await latestBackups(1)).toEqual([failed]);
    later(minutes(15));
    expect((await attempt(jobFor()))!.error).toBe(null);
    expect((await readStatus()).findings).toEqual([]);
  });

  it('a backup that is interrupted by the end of the service is recorded as failed, and nothing of it is left', async () => {
    later(hours(24));
    const name = backupNameOf(ownId(), now());
    await recordStart(name, now());
    writeFileSync(path.join(kept, `${name}.partial`), 'half');
    const job = jobFor();
    await job.run();
    expect((await latestBackups(1))[0]).toMatchObject({ name, error: 'the service ended during the backup' });
    expect(existsSync(path.join(kept, `${name}.partial`))).toBe(false);
    later(minutes(15));
    const before = files();
    await job.run();
    await job.stop();
    expect((await latestBackups(1))[0]!.error).toBe('the service stopped during the backup');
    expect(files()).toEqual(before);
  });
});

describe('restoring backups', () => {
  const settings = { BACKUP_URL: pathToFileURL(kept).href, SECRET_KEY };
  const restore = (name: string, from: string, env: NodeJS.ProcessEnv = {}) =>
    admin(['database:restore', '--from', from], { DATA_DIR: path.join(top, name), ...settings, ...env });

  it('a backup is listed and restored by its name, with rows, contents and an audit log that verifies', async () => {
    const { person: alice } = await createOwner(world, 'Alice', 'Acme');
    later(minutes(15));
    const { name } = (await attempt(jobFor()))!;
    const listed = await admin(['database:backups'], { DATA_DIR: dataDir, ...settings });
    expect(JSON.parse(listed.stdout)[0]).toEqual({ name, bytes: expect.any(Number) });

    const DATA_DIR = path.join(top, 'there');
    expect(await restore('there', name)).toEqual({
      code: 0,
      stdout: expect.stringContaining(path.join(DATA_DIR, 'database', 'data')),
      stderr: '',
    });
    expect(readdirSync(DATA_DIR).sort()).toEqual(['artifacts', 'database']);
    expect(readdirSync(path.join(DATA_DIR, 'artifacts', 'ab'))).toEqual(['shot']);
    const env = { DATA_DIR, SECRET_KEY };
    const [person, audit] = await Promise.all([
      admin(['person:create', '--email', 'alice@example.com'], env),
      admin(['audit:verify'], env),
    ]);
    expect(JSON.parse(person.stdout)).toMatchObject({ id: alice.id });
    expect([audit.code, audit.stderr]).toEqual([0, '']);
  });

  it('a backup that is truncated, missing or encrypted with another key is refused, and leaves nothing behind', async () => {
    const name = files().at(-1)!;
    const damaged = path.join(top, 'damaged.backup');
    const whole = path.join(kept, name);
    copyFileSync(whole, damaged);
    truncateSync(damaged, statSync(whole).size - 100);
    const missing = 'aep-00000000-20300101T000000Z';
    const refusals = [
      [restore('a', damaged), 'the backup is damaged or incomplete'],
      [restore('b', missing), `${missing} is not a backup at BACKUP_URL; list the backups with database:backups`],
      [
        restore('c', whole, { SECRET_KEY: Buffer.alloc(32, 8).toString('base64') }),
        'the backup is encrypted with another SECRET_KEY',
      ],
      [
        restore('d', whole, { SECRET_KEY: '', BACKUP_URL: '' }),
        'set SECRET_KEY to the key of the installation that wrote this backup',
      ],
    ] as const;
    for (const [outcome, message] of refusals) {
      const { code, stderr } = await outcome;
      expect([code, stderr.trim()]).toEqual([1, message]);
    }
    for (const place of ['a', 'b', 'c', 'd'])
      expect(existsSync(path.join(top, place)) ? readdirSync(path.join(top, place)) : []).toEqual([]);
  });
});
