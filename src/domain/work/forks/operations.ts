// Starts a fork: a mission that repeats a recorded mission up to one of its model calls, and continues from there. Earlier calls are
// answered from the recording; later calls use the agent, model and message that the caller has chosen.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { firstStep } from '#foundation/postgres/idempotency.ts';
import { conflict, invalid, missingScopes, notFound } from '#foundation/problem.ts';
import { AgentVersion } from '../../projects/agents/version-model.ts';
import { isModelCall, type RecordedCall, type RecordedStep, readSteps } from '../recordings/calls.ts';
import { requireConsent } from '../recordings/settings.ts';
import { taskOfRun } from '../recurring/operations.ts';
import { inheritPolicy } from '../runs/decisions.ts';
import { deliverRuns } from '../runs/dispatch.ts';
import { keepFollowers } from '../runs/followers.ts';
import { requireDetails } from '../runs/kept.ts';
import { Run, type RunAgent, type WaitingRun } from '../runs/model.ts';
import { findRun } from '../runs/operations.ts';
import { isOpen } from '../runs/states.ts';
import { lockRunInReach } from '../runs/steering.ts';
import { RunStep } from '../runs/step-model.ts';
import { appendStep, stepsOf } from '../runs/steps.ts';
import { requireModel } from '../starts/agent-models.ts';
import { writeMission } from '../starts/operations.ts';
import { forkBounds } from './bounds.ts';
import { RunFork } from './model.ts';
import { peopleOfRecording } from './people.ts';
import { repeatedStep } from './replaying.ts';
import { findForkedCall } from './source.ts';

export interface NewFork {
  runId: string;
  stepId: string;
  /** Number of the first call of the step that is sent to a model; the calls before it are replayed. */
  call: number;
  prompt?: string | null | undefined;
  model?: string | null | undefined;
  agentVersion?: number | null | undefined;
  budgetUsd?: number | null | undefined;
}

/**
 * Starts the fork.
 * @throws 400 when the call, version or model cannot be used; 402; 403 without the scope to read recordings; 404 when the run, the step or the
 * recording does not exist; 409 when the run is open, or when its recording cannot be replayed
 */
export async function forkMission(caller: Caller, fork: NewFork): Promise<Run> {
  const source = await findForkable(caller, fork);
  const recorded = await readSteps(source.id);
  if (recorded.length === 0) throw notFound('recording');
  const started: WaitingRun[] = [];
  // The run is committed before the tracker is called; a repeated request gets the same run and starts no second one.
  const id = await firstStep(async () => {
    started[0] = await transaction((trx) => writeFork(trx, caller, fork, recorded));
    return started[0].id;
  });
  await deliverRuns(started, new Map());
  return Run.get({ id });
}

async function findForkable(caller: Caller, { runId, stepId }: NewFork): Promise<Run> {
  const run = await findRun(caller, runId);
  requireDetails(run);
  await RunStep.get({ id: stepId, runId: run.id });
  if (!caller.scopes.has('artifacts:read')) throw missingScopes(['artifacts:read']);
  if (isOpen(run)) throw conflict('The run has not ended: its recording is not complete.');
  return run;
}

async function writeFork(
  trx: Transaction,
  caller: Caller,
  { stepId, call, ...fork }: NewFork,
  recorded: readonly RecordedStep[],
): Promise<WaitingRun> {
  const source = await lockRunInReach(trx, caller, fork.runId);
  requireDetails(source);
  await requireConsent(trx, source.orgId, await peopleOfRecording(trx, source));
  const steps = await stepsOf(trx, source.id);
  const { step, calls } = findForkedCall(recorded, steps, stepId, call);
  const agent = await chooseAgent(trx, source, step, fork);
  const run = await writeSameMission(trx, caller, source, fork.budgetUsd);
  const first = repeatedStep(steps, 0, []);
  await appendStep(trx, { ...source, id: run.id }, first, { team: source.team, isReplaying: true });
  const { model, version: agentVersion = null } = agent;
  const forked = { sourceRunId: source.id, sourceStepId: step.id, sourceSeq: step.seq, call, calls };
  await RunFork.insert(trx, {
    ...{ runId: run.id, orgId: source.orgId, projectId: source.projectId, ...forked },
    ...{ model, agentVersion, prompt: fork.prompt ?? null, agent, createdAt: now() },
  });
  return run;
}

/** Writes a run with the task, issue and limits of the run `source`. @throws 409 when the task is deleted; the errors of `writeMission` */
async function writeSameMission(
  trx: Transaction,
  caller: Caller,
  source: Run,
  budgetUsd: number | null | undefined,
): Promise<WaitingRun> {
  const prompt = await taskOfRun(trx, source);
  if (prompt === undefined) throw conflict('The task of the run was deleted, so it cannot be started again.');
  const { projectId, agentId, instanceType, sandboxTemplateId, maxMinutes, maxModelCalls, maxTokens } = source;
  const limits = { instanceType, sandboxTemplateId, maxMinutes, maxModelCalls, maxTokens };
  const { planApproval, missionTitle, issueId, issueUrl, issueText } = source;
  const title = missionTitle ?? prompt;
  const mission = { projectId, prompt, title, agentId, planApproval, budgetUsd: budgetUsd ?? source.budgetUsd };
  const issue = issueId === null ? null : { id: issueId, url: issueUrl!, text: issueText };
  const run = await writeMission(trx, caller, { ...mission, ...limits }, issue);
  await inheritPolicy(trx, run.id, source);
  await keepFollowers(trx, source.id, run.id);
  return run;
}

/** The agent of the step with the chosen version and model. @throws 400 */
async function chooseAgent(
  trx: Transaction,
  { orgId }: Run,
  { agent, harness }: RunStep,
  { agentVersion, model }: Pick<NewFork, 'agentVersion' | 'model'>,
): Promise<RunAgent> {
  const settings = agentVersion ? await findVersion(trx, agent, agentVersion) : agent;
  if (settings.harness !== harness)
    throw invalid.field('agentVersion', `must use the harness ${harness}, whose session continues`);
  const { userPrompt, skillRepos, effort } = settings;
  const version = agentVersion ?? agent.version ?? null;
  const chosen = { ...agent, version, userPrompt, skillRepos, effort, model: model ?? settings.model };
  await requireModel(trx, orgId, chosen, model ? 'model' : 'agentVersion');
  return chosen;
}

async function findVersion(trx: Transaction, { agentId, name }: RunAgent, number: number): Promise<AgentVersion> {
  if (agentId === null) throw invalid.field('agentVersion', `must be absent: ${name} is built in and has no versions`);
  const found = await AgentVersion.find({ agentId, number }, trx);
  if (!found) throw invalid.field('agentVersion', `must be one of the versions of ${name}: ${number} is not`);
  return found;
}

/** A recorded model call from which a fork can continue. */
export interface ForkableCall extends Omit<RecordedCall, 'path'> {
  stepId: string;
  role: RecordedStep['role'];
}

/** The calls of models in the recording of a run, in order. @throws 404 for an unknown run, and for a run without a recording */
export async function listForkableCalls(
  caller: Caller,
  runId: string,
  after: number,
): Promise<{ data: ForkableCall[]; hasMore: boolean }> {
  const { id } = await findRun(caller, runId);
  const steps = await readSteps(id);
  if (steps.length === 0) throw notFound('recording');
  const calls = steps.flatMap(({ stepId, role, calls }) =>
    calls.filter(isModelCall).map(({ path: _, ...call }) => ({ stepId, role, ...call })),
  );
  return { data: calls.slice(after, after + forkBounds.calls), hasMore: calls.length > after + forkBounds.calls };
}

/** Finds which of these runs are forks, and returns these forks. */
export const forksWithRuns = (runIds: readonly string[], caller: Caller): Promise<RunFork[]> =>
  RunFork.findByKeys('runId', runIds, withinReach(caller));

/** The newest forks of each of these runs, sorted from oldest to newest. */
export async function forksOf(sourceRunIds: readonly string[], caller: Caller): Promise<RunFork[]> {
  const newest = '"created_at" desc, "run_id" desc';
  const reach = withinReach(caller);
  return (await RunFork.findNewestByKeys('sourceRunId', sourceRunIds, reach, forkBounds.perRun, newest)).reverse();
}
