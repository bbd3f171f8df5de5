// Writes new runs. A run that is not blocked waits until its issue is created, unless the issue exists already or the platform's own tracker
// creates the issue together with the run. A blocked run is written with the status `skipped` and a reason.

import { newId } from '#foundation/ids.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { databaseErrorKind } from '#foundation/postgres/database-errors.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { reserveForRuns } from '../../money/credits/missions.ts';
import { slugsOf } from '../../organization/organizations/pages.ts';
import type { EffectPolicy } from '../../projects/effects/model.ts';
import type { AskedIssue, NewIssue } from '../../projects/issues/operations.ts';
import type { Project } from '../../projects/projects/model.ts';
import { trackerOf } from '../../projects/vendors/tracker-of.ts';
import { leaseOfDispatcher, waitsForIssueOfTask } from './dispatch.ts';
import { type Run, type RunKind, type WaitingRun, waitingColumns } from './model.ts';
import { linkMissions } from './spans.ts';
import { isOpen, statusOfState } from './states.ts';

export type NewRun = Pick<
  Run,
  'recurringId' | 'orgId' | 'projectId' | 'scheduledFor' | 'missionTitle' | 'billingActorUserId'
> & {
  kind: RunKind;
  /** Reason why the run is skipped; null when it starts. */
  blockedBy: string | null;
  /** The task of a run without a recurring mission; absent for other runs. */
  prompt?: string;
  /** The only agent that may work on the run; absent means any agent. */
  agentId?: string | null;
  /** Whether a person must approve the plan; absent means the organization's setting. */
  planApproval?: boolean | null;
  budgetUsd?: number | null;
  /** Instance type; absent means the instance type of the sandbox template. */
  instanceType?: Run['instanceType'];
  /** Sandbox template for all agents of the run; absent means that each agent uses its own. */
  sandboxTemplateId?: Run['sandboxTemplateId'];
  /** Policy that decides which effects wait for approval; absent means that only the other policies apply. */
  effectPolicy?: EffectPolicy | null;
  /** Limits of the run; for an absent limit, the limit of the sandbox template applies. */
  maxMinutes?: number | null;
  maxModelCalls?: number | null;
  maxTokens?: number | null;
  /** Group of attempts at one task. All runs of a group are written together, the first attempt first. */
  attemptGroupId?: Run['attemptGroupId'];
  attemptNumber?: number;
  attemptState?: Run['attemptState'];
  agentModel?: string | null;
  /** The harness and the model provider of the run's first step. Both are set only if `agentModel` replaces the model of the run's agent. */
  nextHarness?: Run['nextHarness'];
  nextVendor?: Run['nextVendor'];
  /** An existing issue of the tracker; absent means that a new issue is created. */
  issueId?: string;
  issueUrl?: string;
  issueText?: string | null;
  /** The issue to create; the built-in tracker creates it together with the run. Absent means that the dispatcher creates it. */
  asks?: Omit<NewIssue, 'runId'> & { project: Project };
};

// One prepared statement inserts any number of runs. It is written in SQL and not with Objection (the query library), which would also return the
// runs that were not inserted because of a conflict.
const insertRunsSql = `insert into runs (id, org_id, project_id, recurring_id, scheduled_for, kind, status, reason, issue_id, issue_url,
    issue_text, mission_title, billing_actor_user_id, prompt, agent_id, plan_approval, budget_usd, instance_type, sandbox_template_id,
    max_minutes, max_model_calls, max_tokens, attempt_group_id, attempt_number, attempt_state, agent_model, next_harness, next_vendor,
    effect_policy, attempts, claimed_by, lease_until, created_at, updated_at)
  select id, "orgId", "projectId", "recurringId", "scheduledFor", kind, status, reason, "issueId", "issueUrl",
    "issueText", "missionTitle", "billingActorUserId", prompt, "agentId", "planApproval", "budgetUsd", "instanceType", "sandboxTemplateId",
    "maxMinutes", "maxModelCalls", "maxTokens", "attemptGroupId", "attemptNumber", "attemptState", "agentModel", "nextHarness", "nextVendor",
    "effectPolicy", coalesce(attempts, 0), "claimedBy", "leaseUntil", $2, $2
  from json_to_recordset($1) as r (id text, "orgId" text, "projectId" text, "recurringId" text, "scheduledFor" bigint, kind text,
    status text, reason text, "issueId" text, "issueUrl" text, "issueText" text, "missionTitle" text, "billingActorUserId" text, prompt text,
    "agentId" text, "planApproval" boolean, "budgetUsd" numeric, "instanceType" text, "sandboxTemplateId" text,
    "maxMinutes" int, "maxModelCalls" int, "maxTokens" int, "attemptGroupId" text, "attemptNumber" int, "attemptState" text,
    "agentModel" text, "nextHarness" text, "nextVendor" text, "effectPolicy" jsonb, attempts int, "claimedBy" text, "leaseUntil" bigint)
  on conflict do nothing returning ${columnsOf({ columns: waitingColumns })}`;

/**
 * Writes runs, and reserves credits for those that start. Returns the runs that were written; an occurrence that already has a run gets no
 * second one. The caller has to deliver the runs that start.
 */
export const createRuns = (trx: Transaction, newRuns: readonly NewRun[], at: number): Promise<WaitingRun[]> =>
  trx
    .transaction((savepoint) => writeRuns(savepoint, newRuns, at))
    .catch((error) => {
      if (databaseErrorKind(error) === 'retry') throw error;
      // The runs are now written without their issues, which are created when the runs are delivered. An issue that cannot be created then affects
      // only its own run.
      const apart = newRuns.map(({ asks, ...run }) => run);
      return writeRuns(trx, apart, at);
    });

/** The runs that were inserted, and the issues that the built-in tracker still has to create for them. */
interface InsertedRuns {
  runs: WaitingRun[];
  issues: AskedIssue[];
}

/**
 * Inserts runs: the first half of `createRuns`, which takes no locks that other transactions wait for. `createIssuesAndReserve` is the
 * second half.
 */
export async function insertRuns(trx: Transaction, newRuns: readonly NewRun[], at: number): Promise<InsertedRuns> {
  const issues: AskedIssue[] = [];
  const projects = newRuns.flatMap(({ asks }) => asks?.project ?? []);
  const slugs = await slugsOf(trx, [...new Set(projects.map(({ orgId }) => orgId))]);
  // All attempts at one task share the issue of the first attempt.
  const shared = new Map<string, object>();
  const rows = newRuns.map(({ blockedBy, asks, ...run }) => {
    const id = newId('run');
    const group = run.attemptGroupId;
    if (blockedBy !== null) return { id, ...run, status: statusOfState('skipped'), reason: blockedBy };
    const waiting = { id, ...run, status: statusOfState('waitingForIssue'), attempts: run.issueId ? 0 : 1 };
    const ofFirst = group && shared.get(group);
    if (ofFirst) return { ...waiting, ...ofFirst };
    const issue = asks && trackerOf(asks.project).local?.name(slugs.get(asks.project.orgId)!);
    if (issue) {
      const { project, ...texts } = asks;
      issues.push({ id: issue.id, project, issue: { runId: id, ...texts } });
      if (group) shared.set(group, { issueId: issue.id, issueUrl: issue.url });
      return { ...waiting, issueId: issue.id, issueUrl: issue.url };
    }
    if (group && !run.issueId) shared.set(group, waitsForIssueOfTask(at));
    return run.issueId ? waiting : { ...waiting, ...leaseOfDispatcher(at) };
  });
  const runs = await sql<WaitingRun>(insertRunsSql, [JSON.stringify(rows), at], trx);
  linkMissions(runs.filter(isOpen).map(({ id }) => id));
  const inserted = new Set(runs.map(({ id }) => id));
  return { runs, issues: issues.filter(({ issue }) => inserted.has(issue.runId)) };
}

/** Locks the issue numbers until the transaction ends. Requires the lock on the ledgers. */
export async function createIssuesAndReserve(trx: Transaction, { runs, issues }: InsertedRuns): Promise<void> {
  await Promise.all([
    issues[0] && trackerOf(issues[0].project).local!.create(issues, trx),
    reserveForRuns(trx, runs.filter(isOpen)),
  ]);
}

/** Inserts all runs in one statement, or none of them. */
async function writeRuns(trx: Transaction, newRuns: readonly NewRun[], at: number): Promise<WaitingRun[]> {
  const inserted = await insertRuns(trx, newRuns, at);
  await createIssuesAndReserve(trx, inserted);
  return inserted.runs;
}
