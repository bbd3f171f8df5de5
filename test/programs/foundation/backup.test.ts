// Backups of a database during writes, and their restoration into a new folder.
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { backUp, restore } from '#foundation/postgres/backup.ts';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { temporaryHome } from '../../support/global-setup.ts';

const top = temporaryHome();
const place = (name: string) => path.join(top, name);
let database: EmbeddedDatabase;
let client: pg.Client;

beforeAll(async () => {
  // The write-ahead log gets so little room that it is recycled as early as possible during the copy.
  const settings = { max_wal_size: '32MB', min_wal_size: '32MB', max_wal_senders: 2 };
  database = await startEmbeddedDatabase({ home: place('home'), settings });
  client = new pg.Client(database.connection);
  await client.connect();
  await client.query(`
    create table written (n integer primary key, filler text);
    create table whole as select n, repeat('x', 200) as filler from generate_series(1, 20000) n`);
});

afterAll(async () => {
  await client.end();
  await database.stop();
  rmSync(top, { recursive: true });
});

it('a backup that is taken while rows and files change is restored completely', async () => {
  let written = 0;
  let done = false;
  const writer = async () => {
    while (!done) {
      await client.query(`insert into written values (${written + 1}, repeat('y', 5000))`);
      written++;
      await client.query(
        'drop table if exists passing; create table passing as select 1; checkpoint; select pg_switch_wal()',
      );
    }
  };
  const writing = writer();
  await vi.waitUntil(() => written >= 5);
  const before = written;
  const { folder } = await backUp(database.connection, database.data, place('backup'));
  const after = written;
  done = true;
  await writing;
  expect(folder).toBe(place('backup'));
  expect(existsSync(place('backup.partial'))).toBe(false);
  expect(statSync(path.join(folder, 'password')).mode & 0o777).toBe(0o600);
  const slots = await client.query('select from pg_replication_slots');
  expect(slots.rowCount).toBe(0);

  await restore(folder, place('restored'));
  const restored = await startEmbeddedDatabase({ home: place('restored') });
  const reader = new pg.Client(restored.connection);
  await reader.connect();
  const { rows } = await reader.query(
    'select count(*)::int as found, max(n) as highest, (select count(*)::int from whole) as whole from written',
  );
  await reader.end();
  await restored.stop();
  expect(rows[0]).toEqual({ found: rows[0].highest, highest: rows[0].highest, whole: 20_000 });
  expect(rows[0].highest).toBeGreaterThanOrEqual(before);
  expect(after).toBeGreaterThan(before);
});

it('a backup of an external database is refused with advice to use the tools of that database', async () => {
  await expect(backUp(database.connection, undefined, place('external'))).rejects.toThrow(
    'back it up with its own tools',
  );
  expect(existsSync(place('external'))).toBe(false);
});

it('a backup overwrites no other backup, and a restore overwrites no database', async () => {
  mkdirSync(place('taken'));
  await expect(backUp(database.connection, database.data, place('taken'))).rejects.toThrow('already exists');
  await backUp(database.connection, database.data, place('second'));
  await expect(restore(place('second'), place('home'))).rejects.toThrow('is in use by another service process');
  await restore(place('second'), place('twice'));
  await expect(restore(place('second'), place('twice'))).rejects.toThrow('already contains a database');
});

it('a restore refuses an incomplete backup', async () => {
  mkdirSync(path.join(place('broken'), 'data'), { recursive: true });
  await expect(restore(place('broken'), place('from-broken'))).rejects.toThrow('does not contain a complete backup');
  expect(existsSync(place('from-broken'))).toBe(false);
});
