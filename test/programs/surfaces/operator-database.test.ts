// The operator's commands for the embedded database, while the service runs and while it does not: backups, and moves to another server.
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { secretKeyFile } from '#foundation/secrets/secret-key.ts';
import { admin } from '../../support/command-line.ts';
import { emptyDatabase, type FreshDatabase } from '../../support/database.ts';
import { temporaryHome } from '../../support/global-setup.ts';
import { databaseUrl, projectFolder } from '../../support/processes.ts';

let home: string;
let here: string;
let there: string;
let target: FreshDatabase;

beforeAll(async () => {
  home = temporaryHome();
  [here, there] = [path.join(home, 'here'), path.join(home, 'there')];
  target = await emptyDatabase();
});
afterAll(async () => {
  await target.drop();
  await rm(home, { recursive: true });
});

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
async function said(DATA_DIR: string, ...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await admin(args, { DATA_DIR });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function refused(DATA_DIR: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await admin(args, { DATA_DIR });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  return stderr.trimEnd();
}

it('an operator’s command without a running service starts the database; four concurrent commands share it until the last ends', async () => {
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => said(here, 'migrate')));
  const applied: string[] = outcomes.flatMap((outcome) => outcome.applied);
  expect(applied.toSorted()).toEqual((await readdir(path.join(projectFolder, 'migrations'))).toSorted());
  await expect(readFile(path.join(here, 'database', 'data', 'postmaster.pid'))).rejects.toThrow('ENOENT');
});

it('operator’s commands work while a service runs on the embedded database, except a move of the database', async () => {
  const service = await startEmbeddedDatabase({ home: path.join(here, 'database') });
  try {
    const [person, backup, move] = await Promise.all([
      said(here, 'person:create', '--email', 'alice@example.com'),
      said(here, 'database:backup', '--to', path.join(home, 'early')),
      refused(here, 'database:move', '--to', databaseUrl(target.connection)),
    ]);
    expect(person.email).toBe('alice@example.com');
    expect(backup).toEqual({
      folder: path.join(home, 'early'),
      milliseconds: expect.any(Number),
      secretKey: 'in the backup',
      contents: 'in the backup',
    });
    expect(move).toBe('the service is running: stop it first, or rows that it writes during the copy would be lost');
  } finally {
    await service.stop();
  }
});

it('a backup restores rows, service key and artifact contents in another folder, even after an earlier attempt to restore it failed', async () => {
  const backup = path.join(home, 'backup');
  await mkdir(path.join(here, 'artifacts', 'ab'), { recursive: true });
  await writeFile(path.join(here, 'artifacts', 'ab', 'shot'), 'a picture');
  await mkdir(path.join(here, 'artifacts', 'unfinished'));
  await said(here, 'database:backup', '--to', backup);
  // The folder for artifact contents cannot be created, because a file has its name. The restore fails, as it would on a full disk.
  await mkdir(there);
  await writeFile(path.join(there, 'artifacts'), '');
  await refused(there, 'database:restore', '--from', backup);
  await rm(path.join(there, 'artifacts'));
  expect(await said(there, 'database:restore', '--from', backup)).toEqual({
    data: path.join(there, 'database', 'data'),
  });
  expect(await readFile(secretKeyFile(there))).toEqual(await readFile(secretKeyFile(here)));
  expect(await readFile(path.join(there, 'artifacts', 'ab', 'shot'), 'utf8')).toBe('a picture');
  expect(await readdir(path.join(there, 'artifacts'))).toEqual(['ab']);
  const [ours, theirs] = await Promise.all(
    [here, there].map((place) => said(place, 'person:create', '--email', 'alice@example.com')),
  );
  expect(theirs).toEqual(ours);
});

it('a backup leaves artifact contents in their bucket; a backup with contents as files cannot be restored where a bucket is configured', async () => {
  const settings = { DATA_DIR: here, STORAGE_URL: 's3://bucket' };
  const [backup, restored] = await Promise.all([
    admin(['database:backup', '--to', path.join(home, 'without')], settings),
    admin(['database:restore', '--from', path.join(home, 'backup')], { ...settings, DATA_DIR: path.join(home, 'new') }),
  ]);
  expect(JSON.parse(backup.stdout)).toEqual({
    folder: path.join(home, 'without'),
    milliseconds: expect.any(Number),
    secretKey: 'in the backup',
    contents: 'not in the backup: they stay in the bucket of STORAGE_URL, keep its objects as long',
  });
  await expect(readdir(path.join(home, 'without', 'artifacts'))).rejects.toThrow('ENOENT');
  expect([restored.code, restored.stderr.trimEnd()]).toEqual([
    1,
    'this backup contains artifacts as files, but STORAGE_URL names a bucket: unset STORAGE_URL to restore them',
  ]);
});

it('a backup is not restored into a folder that has another service key', async () => {
  const other = path.join(home, 'other');
  await mkdir(other);
  await chmod(other, 0o755);
  await writeFile(secretKeyFile(other), `${Buffer.alloc(32, 1).toString('base64')}\n`);
  expect(await refused(other, 'database:restore', '--from', path.join(home, 'backup'))).toContain(
    'is not the service key of this backup',
  );
  await expect(readFile(path.join(other, 'database', 'data', 'PG_VERSION'))).rejects.toThrow('ENOENT');
});

it('a backup of a newer release or another PostgreSQL version is refused, and nothing is written', async () => {
  const newer = path.join(home, 'newer');
  await cp(path.join(home, 'backup'), newer, { recursive: true });
  const manifest = path.join(newer, 'backup.json');
  const { version, at, migrations } = JSON.parse(await readFile(manifest, 'utf8'));
  expect([version, migrations.length > 100]).toEqual(['0.2.0', true]);
  const [later] = ['29991231_01_later.sql'];
  await writeFile(manifest, JSON.stringify({ version: '9.0.0', at, migrations: [...migrations, later] }));
  const from = ['database:restore', '--from', newer];
  expect(await refused(path.join(home, 'older'), ...from)).toBe(
    `this backup was written by the newer release 9.0.0, whose migrations this release does not have (${later}): restore it with that release`,
  );
  await writeFile(path.join(newer, 'data', 'PG_VERSION'), '99\n');
  expect(await refused(path.join(home, 'older'), ...from)).toBe(
    'this backup is of PostgreSQL 99, and this release has PostgreSQL 17: restore it with a release that has 99',
  );
  await expect(readFile(path.join(home, 'older', 'database', 'data', 'PG_VERSION'))).rejects.toThrow('ENOENT');
});

it('database:move copies every row to an empty database on another server', async () => {
  const { tables } = await said(here, 'database:move', '--to', databaseUrl(target.connection));
  expect(tables).toContainEqual({ name: 'people', rows: 1 });
  const client = new pg.Client(target.connection);
  await client.connect();
  const { rows } = await client.query('select email from people');
  await client.end();
  expect(rows).toEqual([{ email: 'alice@example.com' }]);
});
