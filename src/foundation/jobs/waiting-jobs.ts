// Background jobs of one organization while it moves: they are taken out of their queues, and written where it is served afterwards.
import { sql, type Transaction } from '../postgres/database.ts';
import { enqueue } from './background.ts';
import { type Queue, queues } from './queues.ts';

export interface StoredJob {
  id: string;
  queue: string;
  isRunning: boolean;
  payload: Record<string, unknown>;
}

const pageSql = `select id::text, name as queue, state = 'active' as is_running, data as payload from background.job
  where state in ('created', 'retry', 'active') and id > $1::uuid order by id limit 500`;

/** All jobs that have not ended, page by page. */
export async function* openJobs(): AsyncGenerator<StoredJob> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const page = await sql<StoredJob>(pageSql, [after]);
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    after = last.id;
  }
}

const takeSql = `delete from background.job where id = any($1::uuid[]) and state in ('created', 'retry')
  returning name as queue, data as payload`;

/** Takes those of the jobs out of their queues that have not begun meanwhile. */
export const takeJobs = (trx: Transaction, ids: readonly string[]): Promise<Pick<StoredJob, 'queue' | 'payload'>[]> =>
  sql(takeSql, [ids], trx);

/** Writes jobs into their queues again. */
export async function putJobs(trx: Transaction, jobs: readonly { queue: string; payload: object }[]): Promise<void> {
  for (const { queue, payload } of jobs) if (queue in queues) await enqueue(trx, queue as Queue, payload);
}
