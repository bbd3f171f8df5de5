// The operator's commands for the whole database: show its state, migrate it, back it up, restore it, and move it.
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { contentsIn, copyContents, writeBackup } from '#domain/lifecycle/backups/write.ts';
import { readStatus } from '#domain/lifecycle/installation/status.ts';
import { restoreLogs } from '#domain/work/log-archives/restore.ts';
import { backupPlace, isBackupName } from '#foundation/backups/place.ts';
import { openBackup } from '#foundation/backups/sealed-backup.ts';
import { restore } from '#foundation/postgres/backup.ts';
import { checkManifest } from '#foundation/postgres/backup-manifest.ts';
import { database } from '#foundation/postgres/database.ts';
import { migrate, migrationStatus } from '#foundation/postgres/migrations.ts';
import { moveDatabase } from '#foundation/postgres/move.ts';
import { makeDataDir, secretKeyFile } from '#foundation/secrets/secret-key.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import type { Command, Place } from './command.ts';
import { command } from './command.ts';

const folder = z
  .string()
  .min(1)
  .transform((name) => path.resolve(name))
  .describe('The path of a folder.');

export const databaseCommands: Record<string, Command> = {
  status: command({
    about:
      'Shows the state of the installation: what needs attention, jobs, waiting missions and why, runtimes, processes, replicas, tables and slow statements.',
    options: z.object({}),
    needs: 'database',
    run: () => readStatus(),
  }),
  migrate: command({
    about: 'Applies pending migrations.',
    options: z.object({}),
    needs: 'database',
    run: async () => ({ applied: await migrate(database(), { warn: console.error }) }),
  }),
  'migrate:status': command({
    about: 'Lists the applied and the pending migrations.',
    options: z.object({}),
    needs: 'database',
    run: () => migrationStatus(database()),
  }),
  'logs:restore': command({
    about:
      'Moves archived logs of missions back into the database, before the service goes back to a release that reads no archives. Stop archiving first: LOG_ARCHIVE_HOURS=0.',
    options: z.object({}),
    run: () => restoreLogs(),
  }),
  'database:backup': command({
    example: '--to backups/2026-11-21',
    about:
      'Copies the embedded database, while the service runs, into a new folder. The copy contains secrets: keep it as safe as the original.',
    options: z.object({ to: folder }),
    needs: 'database',
    run: async ({ to }, place) => {
      // With a DATABASE_URL there is no data folder; `backUp` then throws an error that names the alternative.
      const source = { ...place, connection: place.connection as never };
      return {
        ...(await writeBackup(source, to)),
        secretKey: place.ownSecretKey ? 'in the backup' : 'keep SECRET_KEY with it',
        contents: place.contentsFolder
          ? 'in the backup'
          : 'not in the backup: they stay in the bucket of STORAGE_URL, keep its objects as long',
      };
    },
  }),
  'database:backups': command({
    about: 'Lists the scheduled backups at BACKUP_URL, newest first.',
    options: z.object({}),
    needs: 'nothing',
    run: (_, { backupUrl }) => placeOf(backupUrl).list(),
  }),
  'database:restore': command({
    example: '--from backups/2026-11-21',
    about: 'Restores a backup for the next start of the service. Fails if there already is a database.',
    options: z.object({
      from: z
        .string()
        .min(1)
        .describe(
          'The folder of a backup, the file of a scheduled backup, or the name of a backup at BACKUP_URL (aep-…).',
        ),
    }),
    needs: 'nothing',
    run: async ({ from }, place) => {
      if (!isBackupName(from) && (await stat(from)).isDirectory()) return restoreFolder(path.resolve(from), place);
      const opened = path.join(place.dataDir, 'restore-in-progress');
      try {
        await makeDataDir(place.dataDir);
        await rm(opened, { recursive: true, force: true });
        await openScheduled(from, opened, place);
        return await restoreFolder(opened, place);
      } finally {
        await rm(opened, { recursive: true, force: true });
      }
    },
  }),
  'database:move': command({
    example: '--to postgres://user:password@host:5432/database',
    about:
      'Copies every row into another, empty database. Stop the service first; then start it with that DATABASE_URL.',
    options: z.object({
      to: z
        .string()
        .regex(/^postgres(ql)?:\/\/./, 'must be postgres://user:password@host:port/database')
        .describe('An empty database, as for DATABASE_URL.'),
    }),
    needs: 'database',
    run: ({ to }, { connection, inUse }) => {
      if (inUse)
        throw new Error('the service is running: stop it first, or rows that it writes during the copy would be lost');
      return moveDatabase(connection, to);
    },
  }),
};

function placeOf(backupUrl: string | null) {
  if (!backupUrl) throw new Error('BACKUP_URL is not set: it names the folder or the bucket of scheduled backups');
  return backupPlace(backupUrl);
}

/** Decrypts a scheduled backup into a new folder. */
async function openScheduled(from: string, to: string, { backupUrl, secretKey }: Place): Promise<void> {
  const place = isBackupName(from) ? placeOf(backupUrl) : null;
  if (!secretKey) throw new Error('set SECRET_KEY to the key of the installation that wrote this backup');
  bindSecretKey(secretKey);
  const content = place ? await place.read(from) : createReadStream(from);
  if (!content) throw new Error(`${from} is not a backup at BACKUP_URL; list the backups with database:backups`);
  await openBackup(content, to);
}

async function restoreFolder(from: string, place: Place): Promise<{ data: string }> {
  const { contentsFolder } = place;
  if (!contentsFolder && existsSync(contentsIn(from)))
    throw new Error(
      'this backup contains artifacts as files, but STORAGE_URL names a bucket: unset STORAGE_URL to restore them',
    );
  const key = await keyToRestore(from, place);
  return restore(from, place.databaseHome, {
    check: checkManifest,
    async complete() {
      if (contentsFolder) await copyContents(contentsIn(from), contentsFolder);
      if (key) await copyFile(key, secretKeyFile(place.dataDir));
    },
  });
}

/** The key file to restore, if any. A different key cannot open the sealed values of the backup. */
async function keyToRestore(from: string, { dataDir, ownSecretKey }: Place): Promise<string | null> {
  const [source, target] = [secretKeyFile(from), secretKeyFile(dataDir)];
  if (!ownSecretKey || !existsSync(source)) return null;
  if (!existsSync(target)) {
    await makeDataDir(dataDir);
    return source;
  }
  const [theirs, ours] = await Promise.all([readFile(source), readFile(target)]);
  if (theirs.equals(ours)) return null;
  throw new Error(`${target} is not the service key of this backup: move it away first, or set another DATA_DIR`);
}
