// The runs that a chat thread shows.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { Run } from './model.ts';
import { runWaitsSql } from './news.ts';
import { isInState, openStates } from './states.ts';

const newest = 'order by r.created_at desc, r.id desc limit 1';
const newestSql = `select r.id from runs r where r.chat_thread_id = $1 ${newest}`;

/** The newest run of the thread, with all columns. */
export async function newestRunInThread(threadId: string, trx?: Transaction): Promise<Run | undefined> {
  const [found] = await sql<Pick<Run, 'id'>>(newestSql, [threadId], trx);
  return found && Run.query(trx).findById(found.id);
}

/** The chat thread of a run that the caller can reach; null without one. */
export const chatThreadOf = async (caller: Caller, runId: string): Promise<Run['chatThreadId']> =>
  (await Run.query().findOne({ id: runId as Run['id'], ...withinReach(caller) }))?.chatThreadId ?? null;

const newestBesideSql = `select r.id from runs r
  where r.chat_thread_id = (select chat_thread_id from runs where id = $1) ${newest}`;

/** The newest run of the thread in which this run is reported; null for a run without a thread. */
export const newestBeside = async (trx: Transaction, runId: string): Promise<Pick<Run, 'id'> | null> =>
  (await sql<Pick<Run, 'id'>>(newestBesideSql, [runId], trx))[0] ?? null;

/** SQL for the state of the newest run of a thread: `state` is a text that changes with the state, `is_over` whether the state is final. */
export const stateInThreadSql = (threadId: string): string =>
  `select concat_ws('|', r.id, r.status, r.pr_state, w.cause) as state,
    not (${isInState(openStates, 'r')} or coalesce(r.pr_state = 'open', false)) as is_over
  from runs r left join (${runWaitsSql}) w on w.run_id = r.id where r.chat_thread_id = ${reference(threadId)} ${newest}`;
