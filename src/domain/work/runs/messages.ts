// Writes the messages of runs and delivers them to runtimes: in order, repeated at each heartbeat until acknowledged.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { lookUp, sql, type Transaction } from '#foundation/postgres/database.ts';
import { answeredSql } from '../sandboxes/elicitations.ts';
import { messagesAtOnce } from './bounds.ts';
import { RunMessage } from './message-model.ts';
import type { Run } from './model.ts';

export type NewMessage = Pick<RunMessage, 'kind' | 'text' | 'authorUserId' | 'author'> & {
  key?: string | null | undefined;
  sandboxId?: string | null;
  fragmentSeq?: number | null;
  approved?: boolean | null;
};

const lastSql = `select coalesce(max(seq), -1)::int as seq, coalesce(max(created_at), 0) as at,
    count(*) filter (where kind = 'message')::int as count from run_messages where run_id = $1`;

/** The number of messages of the run, and the position and time of its latest entry. */
const lastOf = async (trx: Transaction, runId: string) =>
  (await sql<{ seq: number; at: number; count: number }>(lastSql, [runId], trx))[0]!;

export const countMessages = async (trx: Transaction, runId: string): Promise<number> =>
  (await lastOf(trx, runId)).count;

/** Appends to the history of the run, which is locked. An entry that is not a message to the agent counts as delivered. */
export async function appendMessage(trx: Transaction, run: Run, message: NewMessage): Promise<RunMessage> {
  const { id: runId, orgId, projectId } = run;
  const { seq, at } = await lastOf(trx, runId);
  return RunMessage.query(trx).insertAndFetch({
    id: newId('runMessage'),
    runId,
    orgId,
    projectId,
    seq: seq + 1,
    // A later message gets a later time, so that positions and times give the same order.
    createdAt: nowAfter(at),
    ...message,
  } as Partial<RunMessage>);
}

export const findByKey = async (trx: Transaction, runId: Run['id'], key: string): Promise<RunMessage | undefined> =>
  RunMessage.query(trx).findOne({ runId, key });

/** Whether the run has a message to which its sender has given this id. */
export const wasSent = async (runId: Run['id'], key: string): Promise<boolean> =>
  (await RunMessage.query().select('id').findOne({ runId, key })) !== undefined;

export const findAnswers = async (trx: Transaction, runId: Run['id']): Promise<RunMessage[]> =>
  RunMessage.query(trx).where({ runId, kind: 'answer' });

export const hasApproval = async (trx: Transaction, runId: Run['id']): Promise<boolean> =>
  (await RunMessage.query(trx).select('id').findOne({ runId, kind: 'approval' })) !== undefined;

const messageTextsSql = `select run_id, id, text from run_messages
  where run_id = any($1) and org_id = $2 and ($3::text is null or project_id = $3) and text <> '' order by run_id, seq`;

export type MessageText = Pick<RunMessage, 'runId' | 'id' | 'text'>;

/** Texts of the messages of those runs that the caller can reach, in order. */
export function readMessageTexts(caller: Caller, runIds: readonly string[]): Promise<MessageText[]> {
  const { orgId, projectId = null } = withinReach(caller);
  const send = runIds.length === 1 ? lookUp<MessageText> : sql<MessageText>;
  return send(messageTextsSql, [runIds, orgId, projectId]);
}

export interface ReadMessage {
  author: string;
  text: string;
  acknowledgedAt: number;
}

export interface Delivered {
  runId: string;
  messageId: string;
  text: string;
  author: string;
  /**
   * The text of the question that the message answers, and the id that the runtime has given this question. Both are null for a message that answers
   * no question.
   */
  question: string | null;
  questionId: string | null;
  /** Whether the tool call was approved; null when the question is about something else. */
  approved: boolean | null;
}

const acknowledgeSql = `update run_messages m set acknowledged_at = $3, delivered_at = coalesce(delivered_at, $3)
  from unnest($1::text[], $2::text[]) a (run_id, id)
  where m.run_id = a.run_id and m.id = a.id and m.acknowledged_at is null returning m.run_id`;

/**
 * Records that agents have read these messages, and returns the ids of the runs with newly read ones. All of the runs must belong to
 * the runtime.
 */
export async function acknowledgeMessages(
  trx: Transaction,
  acknowledged: readonly { runId: string; messageId: string }[],
): Promise<string[]> {
  if (acknowledged.length === 0) return [];
  const columns = [acknowledged.map(({ runId }) => runId), acknowledged.map(({ messageId }) => messageId)];
  const rows = await sql<{ runId: string }>(acknowledgeSql, [...columns, now()], trx);
  return [...new Set(rows.map(({ runId }) => runId))];
}

const openSql = `select m.run_id, m.id as message_id, m.text, m.author, m.approved, m.delivered_at, q.question, q.question_id
  from unnest($1::text[]) r (id) cross join lateral (
    select run_id, id, text, author, approved, delivered_at, seq, sandbox_id, fragment_seq from run_messages
    where run_id = r.id and kind in ('message', 'answer') and acknowledged_at is null order by seq limit ${messagesAtOnce}
  ) m left join lateral (${answeredSql('m')}) q on true
  order by m.run_id, m.seq`;

/** The messages that the agents of these runs have not read yet, in order. */
export const findOpenMessages = async (
  runIds: readonly string[],
  trx?: Transaction,
): Promise<(Delivered & { deliveredAt: number | null })[]> =>
  runIds.length === 0 ? [] : lookUp(openSql, [[...runIds]], trx, runIds.length * messagesAtOnce);

/** Returns the messages that the agents of these runs have not read yet, in order, and marks them as delivered. */
export async function deliverMessages(trx: Transaction, runIds: readonly string[]): Promise<Delivered[]> {
  const open = await findOpenMessages(runIds, trx);
  const isNew = open.filter(({ deliveredAt }) => deliveredAt === null);
  if (isNew.length > 0)
    await sql(
      'update run_messages set delivered_at = $2 where id = any($1) and delivered_at is null',
      [isNew.map(({ messageId }) => messageId), now()],
      trx,
    );
  return open;
}

const readMessagesSql = `select author, text, acknowledged_at from (
    select author, text, acknowledged_at, seq from run_messages
    where run_id = $1 and kind in ('message', 'answer') and acknowledged_at is not null order by seq desc limit 20
  ) m order by seq`;

/** The newest 20 messages that the agents of the run have read, in order. */
export const findReadMessages = (trx: Transaction, runId: string): Promise<ReadMessage[]> =>
  sql<ReadMessage>(readMessagesSql, [runId], trx);

/**
 * Returns the unread messages to the agents of one run, for its prompt, and marks them as delivered and read. A decision about a tool call
 * is omitted, because the call no longer waits.
 */
export async function takeMessages(trx: Transaction, runId: string): Promise<Delivered[]> {
  const open = await deliverMessages(trx, [runId]);
  await acknowledgeMessages(trx, open);
  return open.filter(({ approved }) => approved === null);
}

const useApprovalSql = `update run_messages m set acknowledged_at = $6, delivered_at = coalesce(m.delivered_at, $6)
  where m.run_id = $1 and m.approved and m.acknowledged_at is null and exists (select from (${answeredSql('m')}) q
    where q.lease_id = $2 and q.question_id = $3 and q.action = $4 and q.parameter = $5) returning m.id`;

export interface ToolApproval {
  runId: string;
  leaseId: string;
  /** The id that the runtime has given the question. */
  questionId: string;
  /** The tool that the agent wants to call and the arguments of the call, exactly as in the question. */
  tool: string;
  arguments: string;
}

/** Consumes the approval of one call with these arguments. Returns false when there is no such approval. */
export async function useApproval(approval: ToolApproval): Promise<boolean> {
  const { runId, leaseId, questionId, tool, arguments: given } = approval;
  return (await sql(useApprovalSql, [runId, leaseId, questionId, tool, given, now()])).length > 0;
}
