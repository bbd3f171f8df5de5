// Writes new runs: those that start wait for their issue, the others are skipped with a reason.
import { columnsOf, type Row, snake } from '#foundation/base-model.ts';
import { sql, type Transaction } from '#foundation/database.ts';
import { newId } from '#foundation/ids.ts';
import { reserveForRuns } from '../credits/missions.ts';
import { leaseOfDispatcher } from './dispatch.ts';
import { Run, type RunKind } from './model.ts';
import { isOpen, statusOf } from './states.ts';

export type NewRun = Pick<
  Run,
  'recurringId' | 'orgId' | 'projectId' | 'scheduledFor' | 'missionTitle' | 'billingActorUserId'
> & {
  kind: RunKind;
  /** Why it is skipped; null: it starts. */
  blockedBy: string | null;
  /** Of a run without a recurring mission: its task. */
  prompt?: string;
  /** The agent that has to work on it; absent: any. */
  agentId?: string | null;
  /** Whether its plan needs an approval; absent: as its organization has set it. */
  planApproval?: boolean | null;
  budgetUsd?: number | null;
  /** An issue of the tracker that exists already; absent: one is created. */
  issueId?: string;
  issueUrl?: string;
};

// One prepared statement for any number of runs. Not with Objection: it would return the rows that it was given, also those that
// the conflict left out.
const insertRunsSql = `insert into runs (id, org_id, project_id, recurring_id, scheduled_for, kind, status, reason, issue_id, issue_url,
    mission_title, billing_actor_user_id, prompt, agent_id, plan_approval, budget_usd, attempts, claimed_by, lease_until, created_at,
    updated_at)
  select id, org_id, project_id, recurring_id, scheduled_for, kind, status, reason, issue_id, issue_url,
    mission_title, billing_actor_user_id, prompt, agent_id, plan_approval, budget_usd, coalesce(attempts, 0), claimed_by, lease_until,
    $2, $2
  from json_populate_recordset(null::runs, $1) on conflict do nothing returning ${columnsOf(Run)}`;

/**
 * Reserves credits for those that start. Returns the runs that were written: an occurrence that has its run gets no second one.
 * This process has to deliver those that start.
 */
export async function createRuns(trx: Transaction, newRuns: readonly NewRun[], at: number): Promise<Row<Run>[]> {
  const rows = newRuns.map(({ blockedBy, ...run }) => ({
    id: newId('run'),
    ...run,
    ...(blockedBy === null
      ? { status: statusOf('waitingForIssue'), ...(!run.issueId && { attempts: 1, ...leaseOfDispatcher(at) }) }
      : { status: statusOf('skipped'), reason: blockedBy }),
  }));
  if (rows.length === 0) return [];
  const columns = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [snake(name), value])),
  );
  const runs = await sql<Row<Run>>(insertRunsSql, [JSON.stringify(columns), at], trx);
  await reserveForRuns(trx, runs.filter(isOpen));
  return runs;
}
