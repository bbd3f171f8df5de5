// The plan of scheduled backups and their latest attempts, for operators.
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';

export interface BackupPlan {
  intervalMs: number;
}

/** An attempt to write a backup. Times are in epoch milliseconds. */
export interface BackupAttempt {
  name: string;
  startedAt: number;
  /** When the backup ended; null while it is being written. */
  endedAt: number | null;
  sizeBytes: number | null;
  /** Why the backup failed; null when it is complete or being written. */
  error: string | null;
}

let plan: BackupPlan | null = null;

/** Sets the backup plan of this installation; null without scheduled backups. */
export function bindBackupPlan(bound: BackupPlan | null): void {
  plan = bound;
}

const shown = 5;
const kept = 100;

const columns = 'name, started_at, ended_at, size_bytes, error';

/** The latest attempts, newest first. */
export const latestBackups = (limit = shown): Promise<BackupAttempt[]> =>
  sql(`select ${columns} from database_backups order by started_at desc, name desc limit $1`, [limit]);

async function newestComplete(): Promise<BackupAttempt | null> {
  const complete = `select ${columns} from database_backups where ended_at is not null and error is null order by started_at desc limit 1`;
  return (await sql<BackupAttempt>(complete))[0] ?? null;
}

export async function recordStart(name: string, startedAt: number): Promise<void> {
  await sql('insert into database_backups (name, started_at) values ($1, $2)', [name, startedAt]);
  await sql(
    'delete from database_backups where name not in (select name from database_backups order by started_at desc limit $1)',
    [kept],
  );
}

export const recordEnd = (name: string, end: { sizeBytes: number } | { error: string }): Promise<unknown> =>
  sql('update database_backups set ended_at = $2, size_bytes = $3, error = $4 where name = $1', [
    ...[name, now()],
    ...('error' in end ? [null, end.error] : [end.sizeBytes, null]),
  ]);

export interface BackupState extends BackupPlan {
  newestComplete: BackupAttempt | null;
  latest: BackupAttempt[];
}

/** The state of scheduled backups; null in an installation without them. */
export async function readBackups(): Promise<BackupState | null> {
  if (!plan) return null;
  return { intervalMs: plan.intervalMs, newestComplete: await newestComplete(), latest: await latestBackups() };
}
