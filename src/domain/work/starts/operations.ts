// Starts a mission without a scheduled task or an automation (docs/decisions/0034-waiting-runs.md), under the rules of a manual start.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson, reachesProject } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { firstStep, releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { invalid } from '#foundation/problem.ts';
import { text } from '#limits.ts';
import { lockOwnMembership } from '../../organization/memberships/operations.ts';
import { Project } from '../../projects/projects/model.ts';
import { refuseBeyondBounds } from '../../projects/sandbox-templates/mission-limits.ts';
import { textOfIssue } from '../../projects/vendors/issue-text.ts';
import type { CreatedIssue } from '../../projects/vendors/tracker.ts';
import { trackerOf } from '../../projects/vendors/tracker-of.ts';
import { insertGroup } from '../attempts/record.ts';
import { createRuns } from '../runs/create.ts';
import { deliverRuns } from '../runs/dispatch.ts';
import { Run, type WaitingRun } from '../runs/model.ts';
import { agentColumns } from './agent-models.ts';
import { findBudgetBlockers, findModelBlockers, generalBlocker } from './blockers.ts';
import { mayStartMission } from './gate.ts';

export interface NewMission {
  projectId: string;
  prompt: string;
  /** Text whose first line becomes the title. If it is absent, the first line of the prompt becomes the title. */
  title?: string;
  /** The only agent that may work on the mission, possibly a built-in one. */
  agentId?: string | null | undefined;
  /** An existing issue of the project's tracker to work on; absent means that a new issue is created. */
  issue?: string | null | undefined;
  /** Whether a person must approve the plan; absent means the organization's setting. */
  planApproval?: boolean | null | undefined;
  budgetUsd?: number | null | undefined;
  /** Instance type; absent means the instance type of the sandbox template. */
  instanceType?: Run['instanceType'] | undefined;
  /** Sandbox template for all agents of the mission; absent means that each agent uses its own. */
  sandboxTemplateId?: Run['sandboxTemplateId'] | undefined;
  /** Limits of the mission; for an absent limit, the limit of the sandbox template applies. */
  maxMinutes?: number | null | undefined;
  maxModelCalls?: number | null | undefined;
  maxTokens?: number | null | undefined;
  /** The model that the agent `agentId` uses instead of its own model. */
  agentModel?: string | null | undefined;
}

/** One of several attempts at a mission. A field that is absent here has the same value as in the mission. */
export interface NewAttempt {
  agentId?: string | null | undefined;
  /** The model that the agent uses instead of its own model. */
  model?: string | null | undefined;
  prompt?: string | null | undefined;
}

/**
 * Starts a mission, or several attempts at it, and returns the run or the first of them. If the tracker fails, the issue is created later;
 * the returned run then has none.
 * @throws 402 when the budget is used up, 404 for an unknown project, agent or issue, 409 when the project is not active or there is no
 * model; for an issue, the error of its tracker
 */
export async function startMission(
  caller: Caller,
  { attempts, ...mission }: NewMission & { attempts?: readonly NewAttempt[] | null | undefined },
): Promise<Run> {
  const issue = mission.issue ? await findTrackerIssue(caller, mission.projectId, mission.issue) : null;
  const started: WaitingRun[] = [];
  // The run is committed before the tracker is called; a repeated request gets the same run and starts no second run.
  const runId = await firstStep(async () => {
    started[0] = await transaction(async (trx) =>
      attempts ? writeAttempts(trx, caller, mission, attempts, issue) : writeMission(trx, caller, mission, issue),
    );
    return started[0].id;
  });
  await deliverRuns(started, new Map());
  return Run.get({ id: runId });
}

/** An existing issue on which a new run works. */
export interface IssueOfRun extends CreatedIssue {
  /** Text of the issue for the agents; null when there is none. */
  text: string | null;
}

/** Finds an issue by its id or name at the project's tracker. @throws 404 for an unknown project; the error of its tracker */
export async function findTrackerIssue(
  caller: Caller,
  projectId: string,
  reference: string,
): Promise<IssueOfRun & { title: string }> {
  const project = await Project.get({ id: ownProject(caller, projectId), orgId: ownOrganization(caller) });
  await releaseTransaction();
  const issue = await trackerOf(project).findIssue(project, reference);
  return { id: issue.id, url: issue.url, title: issue.title, text: textOfIssue(issue) };
}

/** The id, if the caller can reach the project. @throws 404 for a project that the credential is not bound to */
const ownProject = (caller: Caller, projectId: string): string =>
  reachesProject(caller, projectId) ? projectId : Project.refuse();

/** Writes the run in the caller's transaction; the caller delivers it after the commit. @throws as `startMission` */
export async function writeMission(
  trx: Transaction,
  caller: Caller,
  mission: NewMission,
  issue: IssueOfRun | null,
): Promise<WaitingRun> {
  const { actor, projectId } = await lockActor(trx, caller, mission);
  return writeMissionFor(trx, actor, { ...mission, projectId }, issue);
}

type Actor = Pick<Run, 'orgId' | 'billingActorUserId'>;

async function lockActor(trx: Transaction, caller: Caller, { projectId }: NewMission) {
  const actor: Actor = { orgId: ownOrganization(caller), billingActorUserId: ownPerson(caller) };
  await lockOwnMembership(trx, caller);
  return { actor, projectId: ownProject(caller, projectId) };
}

/** Writes all attempts or none, and returns the first. @throws as `startMission` */
async function writeAttempts(
  trx: Transaction,
  caller: Caller,
  mission: NewMission,
  attempts: readonly NewAttempt[],
  issue: IssueOfRun | null,
): Promise<WaitingRun> {
  const { actor, projectId } = await lockActor(trx, caller, mission);
  const missions = attempts.map(({ agentId, model, prompt }, i): NewMission => {
    const named = agentId ?? mission.agentId;
    if (model && !named)
      throw invalid.field(`attempts.${i}.agentId`, 'is required with a model: name the agent that uses it');
    return { ...mission, projectId, agentId: named, prompt: prompt ?? mission.prompt, agentModel: model };
  });
  const written = await writeRuns(trx, actor, missions, mission, issue);
  return written[0]!;
}

/** Writes a mission like `writeMission`, but for an event. The caller has checked that the event may start missions. */
export const writeMissionFor = async (
  trx: Transaction,
  actor: Actor,
  mission: NewMission,
  issue: IssueOfRun | null,
): Promise<WaitingRun> => (await writeRuns(trx, actor, [mission], null, issue))[0]!;

/**
 * Inserts the run of a mission, or one run for each attempt at a task.
 * @param missions One mission, or the missions of the attempts
 * @param task The task that is attempted; null for a single mission
 */
async function writeRuns(
  trx: Transaction,
  { orgId, billingActorUserId }: Actor,
  missions: readonly NewMission[],
  task: NewMission | null,
  issue: IssueOfRun | null,
): Promise<WaitingRun[]> {
  const at = now();
  const [mission] = missions as [NewMission];
  refuseBeyondBounds(mission);
  const project = await Project.query(trx).findOne({ id: mission.projectId, orgId }).forKeyShare();
  if (!project) return Project.refuse();
  const agents: Awaited<ReturnType<typeof agentColumns>>[] = [];
  for (const [i, one] of missions.entries()) agents.push(await agentColumns(trx, orgId, one, `attempts.${i}.model`));
  await refuseBlocked(trx, project, { orgId, projectId: project.id, billingActorUserId }, missions);
  const { prompt, title: titled } = task ?? mission;
  const title = titleOf(titled ?? prompt);
  const group = task && (await insertGroup(trx, project, { title, prompt, at }));
  const runs = missions.map((one, i) => {
    const { planApproval = null, budgetUsd = null, instanceType = null, sandboxTemplateId = null } = one;
    const { maxMinutes = null, maxModelCalls = null, maxTokens = null } = one;
    const run = {
      ...{ orgId, projectId: project.id, billingActorUserId },
      ...{ recurringId: null, scheduledFor: at, kind: 'manual' as const, blockedBy: null },
      missionTitle: title,
      ...(issue
        ? { issueId: issue.id, issueUrl: issue.url, issueText: issue.text }
        : { asks: { project, title, body: prompt, labels: [] } }),
      prompt: one.prompt,
      ...{ planApproval, budgetUsd, instanceType, sandboxTemplateId, maxMinutes, maxModelCalls, maxTokens },
      ...agents[i]!,
    };
    return group ? { ...run, attemptGroupId: group, attemptNumber: i + 1, attemptState: 'open' as const } : run;
  });
  return createRuns(trx, runs, at);
}

/** Checks that all of the missions may start. @throws 402, 409 */
async function refuseBlocked(
  trx: Transaction,
  project: Project,
  charged: Actor & Pick<Run, 'projectId'>,
  missions: readonly NewMission[],
): Promise<void> {
  const { orgId } = charged;
  const may = await mayStartMission(trx, orgId);
  const blocker = generalBlocker(project.status, may.ok && may.missions < missions.length ? may.then : may);
  if (blocker?.problem) throw blocker.problem;
  const budgetBlocker = (await findBudgetBlockers(trx, [orgId]))(charged);
  if (budgetBlocker) throw budgetBlocker.problem;
  const choices = missions.flatMap(({ agentId = null, agentModel }) => (agentModel ? [] : [{ orgId, agentId }]));
  const modelBlockerOf = await findModelBlockers(trx, choices);
  for (const choice of choices) {
    const modelBlocker = modelBlockerOf(choice);
    if (modelBlocker) throw modelBlocker.problem;
  }
}

/** Title from a prompt: its first line that contains words, shortened. */
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
