// Stores the chat threads of missions, the messages that are posted in a thread, and the time of a thread's next report. Also ensures that
// only one process at a time reports in a thread.
import { now } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { stateInThreadSql } from '../runs/chat-runs.ts';
import { recordChatThread } from '../runs/decisions.ts';
import type { Run } from '../runs/model.ts';
import { ChatPost, ChatThread } from './model.ts';

type ThreadId = ChatThread['id'];

/** Links the thread to the run, so that changes of the run are reported in the thread. */
export async function reportIn(trx: Transaction, id: ThreadId, runId: Run['id']): Promise<void> {
  await recordChatThread(trx, runId, id);
  await ChatThread.patch(trx, { id }, { follows: true });
}

const changedSql = `with seen as (
    select t.id, s.state, s.is_over from chat_threads t left join lateral (${stateInThreadSql('t.id')}) s on true where t.follows
  )
  update chat_threads t set state = seen.state, follows = not coalesce(seen.is_over, true), retry_at = null from seen
    where t.id = seen.id and (t.state is distinct from seen.state or t.retry_at <= $1) returning t.id`;

/** Queues a report for each thread whose newest mission has changed since its last report, and for each whose retry is due. */
export const followThreads = (): Promise<void> =>
  transaction(async (trx) => {
    for (const { id } of await sql<{ id: string }>(changedSql, [now()], trx))
      await enqueue(trx, 'chat thread', { threadId: id });
  });

const claimSql = `update chat_threads set claimed_until = $3
  where id = $1 and (claimed_until is null or claimed_until <= $2) returning id`;

/** Reserves the thread for reports of the caller. Returns false while another process has reserved it, and for a deleted thread. */
export const claimThread = async (id: ThreadId, claimMs: number): Promise<boolean> => {
  const at = now();
  return (await sql(claimSql, [id, at, at + claimMs])).length > 0;
};

export const freeThread = async (id: ThreadId): Promise<void> => {
  await ChatThread.patch(undefined, { id }, { claimedUntil: null });
};

/** Schedules the next report of the thread; has no effect when the thread was deleted. */
export const reportLater = async (id: ThreadId, retryAt: number): Promise<void> => {
  await ChatThread.patch(undefined, { id }, { retryAt, follows: true });
};

/** Schedules the retry for now, instead of later, in each thread of the connector where a report waits for a retry. */
export const reportSooner = async (integrationId: string): Promise<void> => {
  const text = 'update chat_threads set retry_at = $2 where integration_id = $1 and retry_at is not null';
  await sql(text, [integrationId, now()]);
};

/** Records the id of the first message about a mission that a command has started. This message becomes the start of the thread. */
export const beginThread = async (id: ThreadId, threadId: string): Promise<void> => {
  await ChatThread.patch(undefined, { id }, { threadId });
};

type NewPost = Pick<ChatPost, 'threadId' | 'cause' | 'message'>;

/** Stores a message before it is posted. Returns false when a message with this cause is stored already. */
export const writePost = ({ message, ...post }: NewPost): Promise<boolean> =>
  transaction((trx) => {
    const row = { ...post, messageId: null, message: JSON.stringify(message) as never, createdAt: now() };
    return ChatPost.insertNew(trx, row, ['threadId', 'cause']);
  });

// Messages of one thread keep the order in which they were written, even within a millisecond.
const queueSql = `insert into chat_posts (thread_id, cause, message, created_at)
  values ($1, $2, $3, (select greatest($4, max(created_at) + 1) from chat_posts where thread_id = $1)) on conflict do nothing`;

/** Stores a message, which is posted later. Does nothing when the thread already has a message with the same cause. */
export const queuePost = async (trx: Transaction | undefined, { threadId, cause, message }: NewPost): Promise<void> => {
  await sql(queueSql, [threadId, cause, JSON.stringify(message), now()], trx);
};

const countSql = `select count(*)::int as count, max(created_at) as last from chat_posts
  where thread_id = $1 and starts_with(cause, $2)`;

/** The number of messages whose cause begins with this text, and the time of the last one. */
export const countPosts = async (
  threadId: string,
  causes: string,
  trx?: Transaction,
): Promise<{ count: number; last: number | null }> =>
  (await sql<{ count: number; last: number | null }>(countSql, [threadId, causes], trx))[0]!;

/** Stored messages of a thread that are not posted yet, oldest first. */
export const pendingPosts = (threadId: ThreadId): Promise<ChatPost[]> =>
  ChatPost.findAll({ threadId, messageId: null });

export const recordPost = async ({ threadId, cause, message }: NewPost, messageId: string): Promise<void> => {
  await ChatPost.patch(undefined, { threadId, cause }, { messageId, message });
};
