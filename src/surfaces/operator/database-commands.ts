// The operator's commands for the whole database: its state, migrate, back up, restore, move.
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { readStatus } from '#domain/lifecycle/installation/status.ts';
import { backUp, restore } from '#foundation/postgres/backup.ts';
import { database } from '#foundation/postgres/database.ts';
import { migrate, migrationStatus } from '#foundation/postgres/migrations.ts';
import { moveDatabase } from '#foundation/postgres/move.ts';
import { secretKeyFile } from '#foundation/secrets/secret-key.ts';
import { unfinishedFolder } from '#foundation/storage/folder.ts';
import type { Command, Place } from './command.ts';
import { command } from './command.ts';

const folder = z
  .string()
  .min(1)
  .transform((name) => path.resolve(name))
  .describe('The path of a folder.');

/** Folder of the contents of artifacts inside a backup. */
const contentsIn = (backup: string): string => path.join(backup, 'artifacts');

/** Copies complete contents. Incomplete ones have no row yet and may disappear during the copy. */
async function copyContents(from: string, to: string): Promise<void> {
  const filter = (source: string) => path.basename(source) !== unfinishedFolder;
  if (existsSync(from)) await cp(from, to, { recursive: true, filter });
}

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
  'database:backup': command({
    example: '--to backups/2026-11-21',
    about:
      'Copies the embedded database, while the service runs, into a new folder. The copy contains secrets: keep it as safe as the original.',
    options: z.object({ to: folder }),
    needs: 'database',
    run: async ({ to }, place) => {
      const { connection, data } = place;
      // With a DATABASE_URL there is no data folder; `backUp` then throws an error that names the alternative.
      const backup = await backUp(connection as never, data, to);
      if (place.ownSecretKey) await copyFile(secretKeyFile(place.dataDir), secretKeyFile(to));
      // Contents are copied after the rows: a content is written before its row and never changes, so every content named by a row exists.
      if (place.contentsFolder) await copyContents(place.contentsFolder, contentsIn(to));
      return {
        ...backup,
        secretKey: place.ownSecretKey ? 'in the backup' : 'keep SECRET_KEY with it',
        contents: place.contentsFolder
          ? 'in the backup'
          : 'not in the backup: they stay in the bucket of STORAGE_URL, keep its objects as long',
      };
    },
  }),
  'database:restore': command({
    example: '--from backups/2026-11-21',
    about: 'Restores a backup for the next start of the service. Fails if there already is a database.',
    options: z.object({ from: folder }),
    needs: 'nothing',
    run: async ({ from }, place) => {
      const { contentsFolder } = place;
      if (!contentsFolder && existsSync(contentsIn(from))) {
        throw new Error('this backup contains contents of artifacts as files: unset STORAGE_URL, which names a bucket');
      }
      const key = await keyToRestore(from, place);
      const restored = await restore(from, place.databaseHome);
      if (key) await copyFile(key, secretKeyFile(place.dataDir));
      if (contentsFolder) await copyContents(contentsIn(from), contentsFolder);
      return restored;
    },
  }),
  'database:move': command({
    example: '--to postgres://user:password@host:5432/database',
    about:
      'Copies every row into an empty database elsewhere. Stop the service first; then start it with that DATABASE_URL.',
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

/** The key file to restore, if any. A different key cannot open the sealed values of the backup. */
async function keyToRestore(from: string, { dataDir, ownSecretKey }: Place): Promise<string | null> {
  const [source, target] = [secretKeyFile(from), secretKeyFile(dataDir)];
  if (!ownSecretKey || !existsSync(source)) return null;
  if (!existsSync(target)) {
    await mkdir(dataDir, { recursive: true });
    return source;
  }
  const [theirs, ours] = await Promise.all([readFile(source), readFile(target)]);
  if (theirs.equals(ours)) return null;
  throw new Error(`${target} is not the service key of this backup: move it away first, or set another DATA_DIR`);
}
