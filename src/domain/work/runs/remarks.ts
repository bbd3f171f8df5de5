// Remarks on the pull requests and issues of missions: comments of reviewers and of people who mention the agent, results of checks, and
// messages in the chat thread of an ended mission. Each remark is stored once, and continues the mission a minute later
// (../../execution/pull-requests/continue.ts).
import { hours, isoTime, minutes, now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { defaultLoop, type Project } from '../../projects/projects/model.ts';
import { Run } from './model.ts';

/** Remarks that arrive within this time are handled together in one continuation. */
const collectMs = minutes(1);
/** Maximum length of a remark in characters. */
const maxCharacters = 12_000;

export interface NewRemark {
  /** URL, name or id that identifies the remark. */
  key: string;
  /** Login at the source host, or name of the person; empty when a check has reported the remark. */
  author: string;
  text: string;
  /** The person who is billed for the continuation; null means the person to whom the mission is billed. */
  actorUserId: Id<'person'> | null;
  /** The delivery that contained the remark; null for a conflict, which this service detects itself. */
  deliveryId: Id<'inboundDelivery'> | null;
}

/** Stores a remark; a repeated one changes nothing. */
export const noteRemark = async (
  trx: Transaction | undefined,
  runId: string,
  { key, author, text, actorUserId, deliveryId }: NewRemark,
): Promise<void> => {
  const stored = text.slice(0, maxCharacters).replaceAll('\0', '').toWellFormed();
  await sql(
    `insert into pull_request_remarks (run_id, key, author, text, actor_user_id, delivery_id, created_at)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [runId, key.slice(0, 500), author, stored, actorUserId, deliveryId, now()],
    trx,
  );
};

/** Removes a remark that no mission has received. */
export const withdrawRemark = async (trx: Transaction, key: string): Promise<void> => {
  await sql('delete from pull_request_remarks where key = $1 and taken_at is null', [key], trx);
};

const newestSql = `select id from runs where project_id = any($1) and pr_state = 'open' and (pr_number = $2 or branch = $3)
  order by created_at desc, id desc limit 1`;

/** The newest run of an open pull request, by its number or its branch; null when no mission has opened it. */
export async function findRunOfPullRequest(
  projectIds: readonly string[],
  { number, branch }: { number: number | null; branch: string | null },
  trx?: Transaction,
): Promise<Run | null> {
  const [found] = await sql<{ id: Run['id'] }>(newestSql, [projectIds, number, branch], trx);
  return found ? ((await Run.find({ id: found.id }, trx)) ?? null) : null;
}

const historySql = `select count(*)::int - 1 as rounds, min(created_at) as since, sum(mission_cost_usd)::float8 as cost,
    (array_agg(head_sha order by created_at desc) filter (where head_sha is not null))[1] as head
  from runs where project_id = $1 and (pr_number = $2 or chat_thread_id = $3)`;

interface Rounds {
  rounds: number;
  since: number;
  cost: number;
}
interface History extends Rounds {
  /** The newest commit that a run of the mission has pushed. */
  head: string | null;
}

/** The runs of a pull request or of a chat thread. */
export const historyOf = async ({
  projectId,
  prNumber,
  chatThreadId = null,
}: Pick<Run, 'projectId' | 'prNumber'> & Partial<Pick<Run, 'chatThreadId'>>): Promise<History> =>
  (await sql<History>(historySql, [projectId, prNumber, chatThreadId]))[0]!;

/** How often a mission was continued, when it started, and what it has cost in total. @param chain The runs of the mission, oldest first. */
export const roundsOf = (chain: readonly Run[]): Rounds => ({
  rounds: chain.length - 1,
  since: chain[0]!.createdAt,
  cost: chain.reduce((sum, { missionCostUsd }) => sum + missionCostUsd, 0),
});

/** Reason why a mission is no longer continued automatically; null while it is within the limits of its project. */
export function boundReached(
  { pullRequestLoop }: Project,
  { rounds, since, cost }: Rounds,
  of = ' of the pull request',
): string | null {
  const loop = pullRequestLoop ?? defaultLoop;
  if (rounds >= loop.rounds) return `The mission${of} was continued ${rounds} times, the maximum.`;
  if (now() > since + hours(loop.hours))
    return `The mission${of} was continued only until ${isoTime(since + hours(loop.hours))}.`;
  if (loop.costUsd !== null && cost >= loop.costUsd)
    return `The missions${of} have cost ${cost.toFixed(2)} US dollars; the maximum is ${loop.costUsd.toFixed(2)}.`;
  return null;
}

/** The newest run that has worked on the issue; skipped runs are ignored. */
export const findRunOfIssue = async (
  trx: Transaction | undefined,
  { projectId, issueId }: { projectId: Id<'project'>; issueId: string },
): Promise<Run | undefined> =>
  Run.query(trx)
    .where({ projectId, issueId })
    .whereNot('status', 'skipped')
    .whereRaw("attempt_state is distinct from 'closed'")
    .orderBy([
      { column: 'createdAt', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .first();

export interface StoredRemark extends NewRemark {
  id: number;
  createdAt: number;
}

/** Runs whose pull requests have remarks that are due, at most 50. */
export const runsWithRemarks = async (): Promise<string[]> => {
  const due = `select run_id from pull_request_remarks where taken_at is null
      and ${isWritableSql('(select org_id from runs where runs.id = pull_request_remarks.run_id)')}
    group by run_id having min(created_at) <= $1 order by min(created_at) limit 50`;
  return (await sql<{ runId: string }>(due, [now() - collectMs])).map(({ runId }) => runId);
};

/** Locks the waiting remarks of a run, oldest first; empty while another process has locked them. */
export const lockRemarks = (trx: Transaction, runId: string): Promise<StoredRemark[]> =>
  sql<StoredRemark>(
    `select id, key, author, text, actor_user_id, delivery_id, created_at from pull_request_remarks
      where run_id = $1 and taken_at is null order by id for update skip locked`,
    [runId],
    trx,
  );

export const settleRemarks = async (trx: Transaction, remarks: readonly StoredRemark[]): Promise<void> => {
  const ids = remarks.map(({ id }) => id);
  await sql('update pull_request_remarks set taken_at = $2 where id = any($1)', [ids, now()], trx);
};
