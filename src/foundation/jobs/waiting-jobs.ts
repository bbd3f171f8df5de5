// Background jobs of one organization while it moves: they are removed from their queues, and added again in the installation that serves
// the organization afterwards.
import { sql, type Transaction } from '../postgres/database.ts';
import { enqueue } from './background.ts';
import { type Queue, queues } from './queues.ts';

/** A job that was taken out of its queue. */
export interface WaitingJob {
  queue: string;
  payload: object;
}

const hasOpenSql = (isOwn: string): string => `select 1 as open from background.job
  where state in ('created', 'retry', 'active') and (${isOwn}) limit 1`;

/** Whether a queue has a job that has not ended. @param isOwn SQL condition on the payload `data` of a job; `$1` is the value */
export const hasOpenJobs = async (isOwn: string, value: string): Promise<boolean> =>
  (await sql(hasOpenSql(isOwn), [value])).length > 0;

const takeSql = (isOwn: string): string => `with taken as (
    delete from background.job where state in ('created', 'retry') and (${isOwn}) returning id, name, data, created_on)
  select name as queue, data as payload from taken order by created_on, id`;

/**
 * Removes the waiting jobs from their queues, and returns them.
 * @param isOwn as in `hasOpenJobs`
 */
export const takeJobs = (trx: Transaction, isOwn: string, value: string): Promise<WaitingJob[]> =>
  sql(takeSql(isOwn), [value], trx);

/** Adds removed jobs to their queues again. A job whose queue does not exist is dropped. */
export async function putJobs(trx: Transaction, jobs: readonly WaitingJob[]): Promise<void> {
  for (const { queue, payload } of jobs) if (queue in queues) await enqueue(trx, queue as Queue, payload);
}
