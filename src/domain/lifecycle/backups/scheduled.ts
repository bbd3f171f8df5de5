// Scheduled backups of the embedded database, made by the process that owns it. Each backup is first written beside the database, because
// the size of a running server's copy is not known in advance, and then sent to the backup storage in one encrypted stream.
import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type BackupPlace, backupNameOf } from '#foundation/backups/place.ts';
import { sealBackup } from '#foundation/backups/sealed-backup.ts';
import { minutes, now, seconds } from '#foundation/clock.ts';
import { redact } from '#foundation/log.ts';
import { type BackupPlan, latestBackups, recordEnd, recordStart } from './state.ts';
import { type BackupSource, writeBackup } from './write.ts';

/** Time between the starts of attempts while they fail, unless the backup interval is shorter. */
const retryMs = minutes(15);

export interface ScheduledBackups extends BackupPlan {
  place: BackupPlace;
  /** Number of complete backups that are kept. */
  keep: number;
}

/** The periodic job. It does not wait for the backup that it starts, so that the service can stop during a backup. */
export function scheduledBackups(source: BackupSource, settings: ScheduledBackups) {
  let working: Promise<void> | undefined;
  let failure: unknown;
  let isFirst = true;
  const stopping = new AbortController();

  async function run(): Promise<void> {
    if (failure !== undefined) {
      const error = failure;
      failure = undefined;
      throw error;
    }
    if (working) return;
    // Only this process writes backups, so a backup that is unfinished when the process starts was interrupted.
    const own = await sourceId(source.dataDir);
    if (isFirst) await endInterrupted(settings.place, own);
    isFirst = false;
    if (!(await isDue(settings))) return;
    const startedAt = now();
    const name = backupNameOf(own, startedAt);
    await recordStart(name, startedAt);
    working = takeBackup(name, own, source, settings, stopping.signal)
      .catch((error) => {
        failure = error;
      })
      .finally(() => {
        working = undefined;
      });
  }
  async function stop(): Promise<void> {
    stopping.abort(new Error('the service stopped during the backup'));
    await working;
  }
  return { name: 'back up the database', intervalMs: seconds(2), run, stop };
}

async function isDue({ intervalMs }: ScheduledBackups): Promise<boolean> {
  const [last] = await latestBackups(1);
  if (!last) return true;
  return now() >= last.startedAt + (last.error === null ? intervalMs : Math.min(retryMs, intervalMs));
}

/**
 * The id in the names of this data folder's backups. Backups do not contain it. Therefore an installation restored into another folder,
 * such as in a drill, has another id and does not remove the backups of the original installation.
 */
async function sourceId(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'backup-id');
  // Does nothing when the file exists.
  await writeFile(file, randomBytes(4).toString('hex'), { flag: 'wx', mode: 0o600 }).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return readFile(file, 'utf8');
}

/** Completes the records of backups that began in an earlier process and have no recorded end. @throws when the backups cannot be listed */
async function endInterrupted(place: BackupPlace, own: string): Promise<void> {
  const open = (await latestBackups()).filter(({ endedAt }) => endedAt === null);
  if (open.length === 0) return;
  const complete = await place.list();
  for (const { name } of open) {
    const found = complete.find((one) => one.name === name);
    await recordEnd(name, found ? { sizeBytes: found.bytes } : { error: 'the service ended during the backup' });
    // In a restored database, the interrupted backup may be one of the original installation. Its name then contains the id of the original
    // installation, so its files are not removed.
    if (!found && isOf(own, name)) await place.remove(name).catch(() => {});
  }
}

const isOf = (own: string, name: string): boolean => name.startsWith(`aep-${own}-`);

async function takeBackup(
  name: string,
  own: string,
  source: BackupSource,
  settings: ScheduledBackups,
  signal: AbortSignal,
): Promise<void> {
  const { place, keep } = settings;
  const copy = path.join(source.dataDir, 'backup-in-progress');
  try {
    await rm(copy, { recursive: true, force: true });
    await writeBackup(source, copy, signal);
    const sizeBytes = await place.write(name, sealBackup(copy, signal));
    await recordEnd(name, { sizeBytes });
  } catch (error) {
    await recordEnd(name, { error: reasonOf(error) });
    throw error;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
  const ownBackups = (await place.list()).filter((one) => isOf(own, one.name));
  for (const one of ownBackups.slice(keep)) await place.remove(one.name);
}

/**
 * Why the backup failed, for operators. If the error has a `cause`, as an error of the bucket has, the message of the `cause` is the actual
 * reason.
 */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return redact(cause instanceof Error ? cause.message : message).slice(0, 500);
}
