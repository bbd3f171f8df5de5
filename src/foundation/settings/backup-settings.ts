// Settings of scheduled backups of the embedded database.
import { z } from 'zod';
import { hours } from '../clock.ts';
import { integer, isStorage, matching } from './setting-values.ts';

export const backupSettings = {
  BACKUP_URL: matching(
    'a file:// address, or s3://bucket/prefix with no other parameters than region, endpoint and path-style',
    isStorage,
  ).optional(),
  BACKUP_HOURS: integer(1, 720).default(24),
  BACKUP_KEEP: integer(1, 1_000).default(7),
};

export const needsSecretKey =
  'BACKUP_URL: needs SECRET_KEY, which encrypts the backups and is not in them: keep the key elsewhere; DATA_DIR/secret-key has the present key';

export interface BackupConfig {
  /** Where the backups are written: a folder (file:) or a bucket (s3:). */
  readonly url: string;
  readonly intervalMs: number;
  /** Number of complete backups that are kept. */
  readonly keep: number;
}

const shape = z.object(backupSettings);

export const backupsOf = (set: z.infer<typeof shape>): BackupConfig | null =>
  set.BACKUP_URL === undefined
    ? null
    : Object.freeze({ url: set.BACKUP_URL, intervalMs: hours(set.BACKUP_HOURS), keep: set.BACKUP_KEEP });
