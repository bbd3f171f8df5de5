// The manifest of a backup of the embedded database. A release reads it to find out whether it can serve the backup.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { isoTime, now } from '../clock.ts';
import { nativeFolder } from './embedded/files.ts';
import { namesOfMigrations, ownFolder } from './migration-files.ts';

const manifest = z.object({
  /** Release that wrote the backup. */
  version: z.string(),
  at: z.string(),
  migrations: z.array(z.string()),
});

const fileIn = (folder: string): string => path.join(folder, 'backup.json');

export async function writeManifest(folder: string, version: string, migrations: string[]): Promise<void> {
  const text = JSON.stringify({ version, at: isoTime(now()), migrations } satisfies z.infer<typeof manifest>, null, 2);
  await writeFile(fileIn(folder), `${text}\n`, { mode: 0o600, flush: true });
}

/** Checks the manifest of a backup. @throws when this release cannot serve the database of the backup. Backups of 0.1.0 have no manifest. */
export async function checkManifest(folder: string): Promise<void> {
  const major = (await readFile(path.join(folder, 'data', 'PG_VERSION'), 'utf8')).trim();
  const own = await majorOfEmbedded();
  if (major !== own)
    throw new Error(
      `this backup is of PostgreSQL ${major}, and this release has PostgreSQL ${own}: restore it with a release that has ${major}`,
    );
  const text = await readFile(fileIn(folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return;
  const { version, migrations } = manifest.parse(JSON.parse(text));
  const known = new Set(await namesOfMigrations(ownFolder));
  const unknown = migrations.filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new Error(
      `this backup was written by the newer release ${version}, whose migrations this release does not have (${unknown.at(-1)}): restore it with that release`,
    );
}

async function majorOfEmbedded(): Promise<string> {
  const { version } = JSON.parse(await readFile(path.join(nativeFolder(), '..', 'package.json'), 'utf8'));
  return version.split('.')[0];
}
