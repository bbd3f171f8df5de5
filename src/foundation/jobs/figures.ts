// Counts the background jobs of each queue, for metrics and for operators.
import { sql } from '../postgres/database.ts';

export interface QueueFigures {
  queue: string;
  /** Number of jobs that are due or will be tried again later. */
  waiting: number;
  due: number;
  running: number;
  /** Number of failed jobs that are not tried again; they are stored for a week. */
  failed: number;
  failedLastDay: number;
  /** How long the oldest due job has waited; null when none is due. */
  oldestDueSeconds: number | null;
}

const isDue = `j.state < 'active' and j.start_after <= now()`;
const queuesSql = `select q.name as queue, count(*) filter (where j.state < 'active') as waiting,
    count(*) filter (where ${isDue}) as due, count(*) filter (where j.state = 'active') as running,
    count(*) filter (where j.state = 'failed') as failed,
    count(*) filter (where j.state = 'failed' and j.completed_on > now() - interval '1 day') as failed_last_day,
    extract(epoch from now() - min(j.start_after) filter (where ${isDue}))::int as oldest_due_seconds
  from background.queue q left join background.job j on j.name = q.name group by q.name order by q.name`;

export const countJobs = (): Promise<QueueFigures[]> => sql<QueueFigures>(queuesSql);

export interface FailedJob {
  queue: string;
  /** The id of the failed job, which is also in the log line with its error. */
  id: string;
  tries: number;
  failedSecondsAgo: number;
}

const failedSql = `select name as queue, id::text, retry_count + 1 as tries,
    extract(epoch from now() - completed_on)::int as failed_seconds_ago
  from background.job where state = 'failed' order by completed_on desc limit $1`;

/** The newest failed jobs that are not tried again. */
export const findFailedJobs = (limit: number): Promise<FailedJob[]> => sql<FailedJob>(failedSql, [limit]);
