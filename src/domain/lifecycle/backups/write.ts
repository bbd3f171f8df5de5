// A complete backup of an installation with the embedded database: the database cluster, the manifest, the service key if it is in
// DATA_DIR, and the contents of artifacts if they are files.
import { existsSync } from 'node:fs';
import { copyFile, cp } from 'node:fs/promises';
import path from 'node:path';
import { type Backup, backUp } from '#foundation/postgres/backup.ts';
import { writeManifest } from '#foundation/postgres/backup-manifest.ts';
import { database } from '#foundation/postgres/database.ts';
import type { DatabaseConnection } from '#foundation/postgres/embedded/database.ts';
import { migrationStatus } from '#foundation/postgres/migrations.ts';
import { secretKeyFile } from '#foundation/secrets/secret-key.ts';
import { unfinishedFolder } from '#foundation/storage/folder.ts';

export interface BackupSource {
  connection: DatabaseConnection;
  /** The data folder of the embedded cluster; undefined with a DATABASE_URL. */
  data: string | undefined;
  dataDir: string;
  /** The folder with the contents of artifacts; null when they are in a bucket. */
  contentsFolder: string | null;
  /** Whether the service key is in `dataDir`; otherwise it is a setting and not part of the backup. */
  ownSecretKey: boolean;
  /** Release of the service. */
  version: string;
}

/** Folder with the contents of artifacts inside a backup. */
export const contentsIn = (backup: string): string => path.join(backup, 'artifacts');

/** Copies the stored contents of artifacts, except unfinished uploads, which no row names yet and which may disappear during the copy. */
export async function copyContents(from: string, to: string): Promise<void> {
  const filter = (source: string) => path.basename(source) !== unfinishedFolder;
  if (existsSync(from)) await cp(from, to, { recursive: true, filter });
}

/** Writes a backup into the new folder `target`, which gets this name only when the backup is complete. */
export function writeBackup(source: BackupSource, target: string, signal?: AbortSignal): Promise<Backup> {
  const { connection, data, dataDir, contentsFolder, ownSecretKey, version } = source;
  return backUp(connection, data, target, {
    signal,
    async complete(partial) {
      await writeManifest(partial, version, (await migrationStatus(database())).applied);
      if (ownSecretKey) await copyFile(secretKeyFile(dataDir), secretKeyFile(partial));
      // Contents are copied after the rows. They are written before their rows and never change, so the copy has the content of every row.
      if (contentsFolder) await copyContents(contentsFolder, contentsIn(partial));
    },
  });
}
