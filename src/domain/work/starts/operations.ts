// Starts a mission without a scheduled task or an automation (docs/decisions/0034-waiting-runs.md), under the rules of a manual start.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson, reachesProject } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Row } from '#foundation/postgres/base-model.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { firstStep, releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { text } from '#limits.ts';
import { lockOwnMembership } from '../../organization/memberships/operations.ts';
import { lockAgentOf } from '../../projects/agents/operations.ts';
import { Project } from '../../projects/projects/model.ts';
import { refuseBeyondBounds } from '../../projects/sandbox-templates/mission-limits.ts';
import { textOfIssue } from '../../projects/vendors/issue-text.ts';
import type { CreatedIssue } from '../../projects/vendors/tracker.ts';
import { trackerOf } from '../../projects/vendors/tracker-of.ts';
import { createRuns } from '../runs/create.ts';
import { deliverRuns } from '../runs/dispatch.ts';
import { Run, type WaitingRun } from '../runs/model.ts';
import { findBudgetBlockers, findModelBlockers, generalBlocker } from './blockers.ts';
import { mayStartMission } from './gate.ts';

export interface NewMission {
  projectId: string;
  prompt: string;
  /** The text whose first line is the title; absent means the prompt. */
  title?: string;
  /** The only agent that may work on the mission, possibly a built-in one. */
  agentId?: string | null | undefined;
  /** An issue of the project's tracker to work on; absent means one is created. */
  issue?: string | null | undefined;
  /** Whether a person has to approve the plan; absent means the orchestrator's setting. */
  planApproval?: boolean | null | undefined;
  budgetUsd?: number | null | undefined;
  /** Absent means the type in the sandbox template. */
  instanceType?: Run['instanceType'] | undefined;
  /** Absent means that each agent uses its own. */
  sandboxTemplateId?: Run['sandboxTemplateId'] | undefined;
  /** Absent limits come from the sandbox template. */
  maxMinutes?: number | null | undefined;
  maxModelCalls?: number | null | undefined;
  maxTokens?: number | null | undefined;
}

/**
 * After an error of the tracker, the issue is created later; the returned run then has none.
 * @throws 402 when the budget is used up, 404 for an unknown project, agent or issue, 409 when the project is not active or there is no
 * model; for an issue, the error of its tracker
 */
export async function startMission(caller: Caller, mission: NewMission): Promise<Row<Run>> {
  const issue = mission.issue ? await findTrackerIssue(caller, mission.projectId, mission.issue) : null;
  const started: WaitingRun[] = [];
  // The run is committed before the tracker is called; a repeated request gets that run and starts no second one.
  const runId = await firstStep(async () => {
    started[0] = await transaction((trx) => writeMission(trx, caller, mission, issue));
    return started[0].id;
  });
  await deliverRuns(started, new Map());
  return Run.get({ id: runId });
}

/** An existing issue for a new run. */
export interface IssueOfRun extends CreatedIssue {
  /** Text of the issue for the agents; null means none. */
  text: string | null;
}

/** @throws 404 for an unknown project; the error of its tracker */
export async function findTrackerIssue(caller: Caller, projectId: string, reference: string): Promise<IssueOfRun> {
  const project = await Project.get({ id: ownProject(caller, projectId), orgId: ownOrganization(caller) });
  await releaseTransaction();
  const issue = await trackerOf(project).findIssue(project, reference);
  return { id: issue.id, url: issue.url, text: textOfIssue(issue) };
}

/** @throws 404 for a project that the credential is not bound to */
const ownProject = (caller: Caller, projectId: string): string =>
  reachesProject(caller, projectId) ? projectId : Project.refuse();

/** Writes the run in the caller's transaction; the caller delivers it after the commit. @throws as `startMission` */
export async function writeMission(
  trx: Transaction,
  caller: Caller,
  mission: NewMission,
  issue: IssueOfRun | null,
): Promise<WaitingRun> {
  const actor = { orgId: ownOrganization(caller), billingActorUserId: ownPerson(caller) };
  await lockOwnMembership(trx, caller);
  return writeMissionFor(trx, actor, { ...mission, projectId: ownProject(caller, mission.projectId) }, issue);
}

/** Like `writeMission`, for an event. The caller has to check that the event may start missions. */
export async function writeMissionFor(
  trx: Transaction,
  { orgId, billingActorUserId }: Pick<Run, 'orgId' | 'billingActorUserId'>,
  { projectId, prompt, title: titled, agentId = null, planApproval = null, budgetUsd = null, ...rest }: NewMission,
  issue: IssueOfRun | null,
): Promise<WaitingRun> {
  const at = now();
  const {
    instanceType = null,
    sandboxTemplateId = null,
    maxMinutes = null,
    maxModelCalls = null,
    maxTokens = null,
  } = rest;
  refuseBeyondBounds(rest);
  const project = await Project.query(trx).findOne({ id: projectId, orgId }).forKeyShare();
  if (!project) return Project.refuse();
  if (agentId !== null) await lockAgentOf(trx, orgId, agentId);
  const blocker = generalBlocker(project.status, await mayStartMission(trx, orgId));
  if (blocker?.problem) throw blocker.problem;
  const charged = { orgId, projectId: project.id, billingActorUserId };
  const budgetBlocker = (await findBudgetBlockers(trx, [orgId]))(charged);
  if (budgetBlocker) throw budgetBlocker.problem;
  const choice = { orgId, agentId };
  const modelBlocker = (await findModelBlockers(trx, [choice]))(choice);
  if (modelBlocker) throw modelBlocker.problem;
  const title = titleOf(titled ?? prompt);
  const run = {
    ...charged,
    recurringId: null,
    scheduledFor: at,
    kind: 'manual' as const,
    missionTitle: title,
    ...(issue
      ? { issueId: issue.id, issueUrl: issue.url, issueText: issue.text }
      : { asks: { project, title, body: prompt, labels: [] } }),
    blockedBy: null,
    prompt,
    agentId,
    planApproval,
    budgetUsd,
    ...{ instanceType, sandboxTemplateId, maxMinutes, maxModelCalls, maxTokens },
  };
  return (await createRuns(trx, [run], at))[0]!;
}

/** The first line of the prompt that contains words, shortened. */
function titleOf(prompt: string): string {
  const [line = ''] = prompt.split(/[\r\n]+/).filter((one) => /[^\s#]/.test(one));
  const title = line.replace(/^[\s#]+/, '').trim() || 'Mission';
  const { max } = text.recurringName;
  return title.length <= max
    ? title
    : `${Array.from(title.slice(0, max - 1))
        .filter((char) => char.isWellFormed())
        .join('')}…`;
}
