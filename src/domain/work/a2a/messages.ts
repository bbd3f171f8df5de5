// Messages of agent-to-agent clients, each of which starts one run: the run is the task, and contexts group them (A2A 1.0 §3.4).
import { createHash } from 'node:crypto';
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Page, type PageRequest, readPageOf } from '#foundation/postgres/cursor.ts';
import { lookUp, sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { unprocessable } from '#foundation/problem.ts';
import { readMissions } from '../recurring/dispatch.ts';
import { ScheduledTask } from '../recurring/model.ts';
import { writeRunNow } from '../recurring/operations.ts';
import { deliverRuns } from '../runs/dispatch.ts';
import type { WaitingRun } from '../runs/model.ts';
import { findTrackerIssue, type NewMission, writeMission } from '../starts/operations.ts';

export interface TaskMessage {
  runId: string;
  contextId: string;
  messageId: string;
  text: string;
  createdAt: number;
}

/** The work that a message requests: a new mission, or a run of a scheduled task. */
export type Order = NewMission | { scheduledTaskId: string };

export interface Received {
  messageId: string;
  contextId: string;
  text: string;
  order: Order;
}

const claimMessageSql = `insert into a2a_messages (org_id, user_id, message_id, fingerprint, context_id, text, created_at)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning message_id`;
const earlierSql = `select fingerprint, run_id from a2a_messages where org_id = $1 and user_id = $2 and message_id = $3`;
/**
 * Does what a message asks for, but only once for each message id of a person: a repeated message waits until the first one is processed, and returns
 * the same run.
 * @throws 422 when the person has sent a different message with the same id; the errors of `startMission` and `runNow`
 */
export async function receiveMessage(caller: Caller, message: Received): Promise<string> {
  const { messageId, contextId, text, order } = message;
  const key = [ownOrganization(caller), ownPerson(caller), messageId];
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([text, order]))
    .digest();
  // The tracker is called before the transaction begins.
  const issue =
    'projectId' in order && order.issue ? await findTrackerIssue(caller, order.projectId, order.issue) : null;
  const started: WaitingRun[] = [];
  const runId = await transaction(async (trx) => {
    const [claimed] = await sql(claimMessageSql, [...key, fingerprint, contextId, text, now()], trx);
    if (!claimed) return runOfEarlier(trx, key, fingerprint);
    const run =
      'scheduledTaskId' in order
        ? await writeRunNow(trx, ScheduledTask, caller, order.scheduledTaskId)
        : await writeMission(trx, caller, order, issue);
    await sql(
      'update a2a_messages set run_id = $4 where org_id = $1 and user_id = $2 and message_id = $3',
      [...key, run.id],
      trx,
    );
    started.push(run);
    return run.id;
  });
  await deliverRuns(started, await readMissions(started));
  return runId;
}

async function runOfEarlier(trx: Transaction, key: string[], fingerprint: Buffer): Promise<string> {
  const [earlier] = await sql<{ fingerprint: Buffer; runId: string }>(earlierSql, key, trx);
  if (earlier?.fingerprint.equals(fingerprint)) return earlier.runId;
  throw unprocessable.field('messageId', 'was already used for a different message');
}

const startedSql = `select run_id, context_id, message_id, text, created_at from a2a_messages
  where run_id = any($1) and ($2::text is null or org_id = $2)`;

/** Messages that have started these runs, by run id. @param orgId Limits the result to one organization */
export async function messagesOfRuns(runIds: readonly string[], orgId?: string): Promise<Map<string, TaskMessage>> {
  return new Map((await lookUp<TaskMessage>(startedSql, [runIds, orgId])).map((message) => [message.runId, message]));
}

/** Ids of the runs of a context, newest first. */
export async function runsOfContext(caller: Caller, contextId: string, page: PageRequest): Promise<Page<string>> {
  const orgId = ownOrganization(caller);
  const select = `select id, created_at from
    (select run_id as id, created_at from a2a_messages where org_id = $1 and context_id = $2 and run_id is not null) m`;
  const binding = `a2a context\n${orgId}\n${contextId}`;
  const values = [orgId, contextId];
  const { data, nextCursor } = await readPageOf<{ id: string; createdAt: number }>(
    { binding, select, where: '', values },
    page,
  );
  return { data: data.map(({ id }) => id), nextCursor };
}

export async function countContext(caller: Caller, contextId: string): Promise<number> {
  const text = 'select count(*)::int as count from a2a_messages where org_id = $1 and context_id = $2';
  return (await sql<{ count: number }>(text, [ownOrganization(caller), contextId]))[0]!.count;
}
