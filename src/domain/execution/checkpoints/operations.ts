// Continues a run that has ended: a new run begins from a checkpoint, with the same agents, issue and project.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { text } from '#limits.ts';
import { lockTemplateOf } from '../../projects/sandbox-templates/operations.ts';
import { reportIn } from '../../work/chat-threads/threads.ts';
import { taskOfRun } from '../../work/recurring/operations.ts';
import { continueFromStep } from '../../work/runs/decisions.ts';
import { keepFollowers } from '../../work/runs/followers.ts';
import { requireDetails } from '../../work/runs/kept.ts';
import { Run, type WaitingRun } from '../../work/runs/model.ts';
import { isOpen } from '../../work/runs/states.ts';
import { lockRunInReach } from '../../work/runs/steering.ts';
import { RunStep } from '../../work/runs/step-model.ts';
import { appendStep, stepsOf } from '../../work/runs/steps.ts';
import { type IssueOfRun, type NewMission, writeMission } from '../../work/starts/operations.ts';
import { Checkpoint } from './model.ts';

export interface Continuation {
  runId: string;
  /** The task of the new run. */
  prompt: string;
  /** The step whose checkpoint the new run begins from; absent means the newest checkpoint of the run. */
  stepId?: string | null | undefined;
  budgetUsd?: number | null | undefined;
}

/**
 * Starts a run that continues another one.
 * @throws 402 when the budget is used up, 404 for an unknown run, step or agent, 409 for an open run or a step without a checkpoint
 */
export async function continueRun(caller: Caller, continuation: Continuation): Promise<Run> {
  const runId = await transaction((trx) => writeContinuation(trx, caller, continuation));
  return Run.get({ id: runId });
}

async function writeContinuation(
  trx: Transaction,
  caller: Caller,
  { runId, budgetUsd, ...continuation }: Continuation,
): Promise<Run['id']> {
  const before = await lockRunInReach(trx, caller, runId);
  if (isOpen(before)) throw conflict('The run has not ended: send it a message, or cancel it first.');
  return continueFrom(trx, before, continuation, (mission, issue) =>
    writeMission(trx, caller, { ...mission, budgetUsd }, issue),
  );
}

type Write = (mission: NewMission, issue: IssueOfRun | null) => Promise<WaitingRun>;

/** Continues an ended run with a new run; `write` inserts its row. @throws as `continueRun` */
export async function continueFrom(
  trx: Transaction,
  before: Run,
  { prompt, stepId }: Pick<Continuation, 'prompt' | 'stepId'>,
  write: Write,
): Promise<Run['id']> {
  if (before.attemptState === 'open')
    throw conflict('The run is one of several attempts: choose an attempt before you continue the run.');
  requireDetails(before);
  const steps = await stepsOf(trx, before.id);
  const { step, checkpoint } = await chooseCheckpoint(trx, steps, stepId ?? null);
  const { issueId, issueUrl } = before;
  const issue = issueId === null ? null : { id: issueId, url: issueUrl!, text: before.issueText };
  const { projectId, agentId, instanceType, sandboxTemplateId } = before;
  if (sandboxTemplateId !== null) await refuseDeletedTemplate(trx, before.orgId, sandboxTemplateId);
  const task = continuedTask((await taskOfRun(trx, before)) ?? before.missionTitle ?? '', prompt);
  const run = await write({ projectId, prompt, agentId, instanceType, sandboxTemplateId }, issue);
  const { team, effectPolicy } = before;
  const changes = { prompt: task, team, effectPolicy, continuesStepId: step.id };
  await continueFromStep(trx, run.id, changes);
  await keepFollowers(trx, before.id, run.id);
  if (before.chatThreadId !== null) await reportIn(trx, before.chatThreadId, run.id);
  const agent = before.team!.find(({ role }) => role === 'builder') ?? before.team![0]!;
  const earlier = steps.filter(({ seq, role }) => seq <= step.seq && role === agent.role);
  const resumeSessionId =
    (step.role === agent.role ? checkpoint.sessionId : null) ??
    earlier.findLast(({ outcome, sessionId }) => outcome !== null && sessionId !== null)?.sessionId ??
    null;
  const first = { agent, round: 1, prompt, hasSchema: false, isRepeated: false, resumeSessionId };
  await appendStep(trx, { ...run, sandboxTemplateId }, first);
  return run.id;
}

/**
 * A mission that an outsider started may use only the sandbox template that its event rule set. @throws 409 when that template was deleted
 */
async function refuseDeletedTemplate(trx: Transaction, orgId: Run['orgId'], templateId: string): Promise<void> {
  await lockTemplateOf(trx, orgId, 'sandboxTemplateId', templateId).catch(() => {
    throw conflict(
      'An event rule chose the sandbox template of this mission, and the template has since been deleted.',
    );
  });
}

/**
 * The checkpoint of the step; without a step id, the newest checkpoint of the steps.
 * @throws 404 for an unknown step, 409 without a checkpoint
 */
export async function chooseCheckpoint(trx: Transaction, steps: readonly RunStep[], stepId: string | null) {
  const wanted = stepId === null ? steps : [steps.find(({ id }) => id === stepId) ?? RunStep.refuse()];
  const ids = wanted.map(({ id }) => id);
  const found = await Checkpoint.query(trx).whereIn('stepId', ids);
  const step = wanted.findLast(({ id }) => found.some((one) => one.stepId === id));
  if (step) return { step, checkpoint: found.find((one) => one.stepId === step.id)! };
  const what = stepId === null ? 'run' : 'step';
  throw conflict(`The ${what} has no checkpoint: scripts create none, and checkpoints expire after 90 days.`);
}

/**
 * Joins the task of the earlier run and the task of the new run into one text for the agents that review and test the change. The earlier
 * task is shortened when the text would be too long.
 */
function continuedTask(before: string, prompt: string): string {
  const further = `\n\n# What is to be done now\n\n${prompt}`;
  return `${before.slice(0, Math.max(0, text.prompt.max - further.length)).toWellFormed()}${further}`;
}

/** Checkpoints of these steps that the caller can access. */
export const findCheckpoints = (caller: Caller, stepIds: readonly string[]): Promise<Checkpoint[]> =>
  Checkpoint.findByKeys('stepId', stepIds, withinReach(caller));

/**
 * The checkpoint that a step begins from: the latest checkpoint of this step or an earlier one, else the checkpoint that the whole run
 * continues from.
 */
export async function checkpointFor(trx: Transaction, run: Run, step: RunStep): Promise<Checkpoint | undefined> {
  const steps = await stepsOf(trx, run.id);
  const found = await Checkpoint.query(trx).where('runId', run.id);
  const latest = steps
    .filter(({ seq }) => seq <= step.seq)
    .findLast(({ id }) => found.some((one) => one.stepId === id));
  if (latest) return found.find((one) => one.stepId === latest.id);
  return run.continuesStepId ? Checkpoint.query(trx).findById(run.continuesStepId) : undefined;
}
