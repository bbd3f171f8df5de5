// The steps of a run as runtimes see them: what to do at a claim, and what is next when a step is finished.
import type { Caller } from '#access/principal.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { Problem } from '#foundation/problem.ts';
import { canRuntimeRun } from '../../projects/agents/runtime-harnesses.ts';
import { needsPlanApproval } from '../../work/orchestrator/operations.ts';
import { RecurringMission } from '../../work/recurring/model.ts';
import { mission } from '../../work/runs/bounds.ts';
import { recordApproval, recordFailure } from '../../work/runs/decisions.ts';
import { releaseRun } from '../../work/runs/finish.ts';
import { leaseIsLost, lockRun, serviceReach } from '../../work/runs/lock.ts';
import { takeMessages } from '../../work/runs/messages.ts';
import { Run, type RunAgent } from '../../work/runs/model.ts';
import { isOpen as isRunOpen } from '../../work/runs/states.ts';
import { RunStep, type StepOutcome } from '../../work/runs/step-model.ts';
import {
  appendStep,
  beginNextStep,
  beginStep,
  endStep,
  latestStepOf,
  type NewStep,
  recordStepOutcome,
  stepsOf,
} from '../../work/runs/steps.ts';
import { decide, isStructured, type Next } from './chain.ts';
import { noRecovery, type Recovery, recover } from './checkpoints.ts';
import { type Handover, outputSchemaOf, readHandover } from './handovers.ts';
import { messagesPrompt, repeatPrompt, type Task } from './prompts.ts';
import { branchOf } from './repository.ts';

/** A step as its runtime gets it. */
export interface StepOrder {
  stepId: string;
  seq: number;
  role: RunAgent['role'];
  agent: RunAgent;
  prompt: string;
  outputSchema: string | null;
  resumeSessionId: string | null;
  /** What continues earlier work; null in the answer to the runtime that did that work. */
  resumePrompt: string | null;
  preamble: string | null;
  checkpoint: Recovery['checkpoint'];
}

export const orderOf = ({ id: stepId, seq, role, agent, prompt, hasSchema, resumeSessionId }: RunStep): StepOrder => {
  const outputSchema = hasSchema ? outputSchemaOf(role) : null;
  return { stepId, seq, role, agent, prompt, outputSchema, resumeSessionId, ...noRecovery };
};

/** What the run is to do; undefined once its recurring mission is deleted. */
export const taskOfRun = async (trx: Transaction, { prompt, recurringId }: Run): Promise<string | undefined> =>
  prompt ?? (recurringId ? (await RecurringMission.find({ id: recurringId }, trx))?.prompt : undefined);

/** The step that the runtime which has claimed the run works on: the open one, also one that another runtime has lost. */
export async function openStep(
  trx: Transaction,
  run: Run,
  leaseId: RunStep['leaseId'],
): Promise<StepOrder | undefined> {
  const latest = await latestStepOf(trx, run.id);
  if (!latest) return undefined;
  const isOpen = latest.status === 'running' && latest.leaseId === leaseId;
  const recovery = await recover(trx, run, latest, latest.startedAt !== null && !isOpen);
  const step = isOpen ? latest : await beginStep(trx, latest, leaseId);
  return { ...orderOf(step), ...recovery };
}

/** A step as the chain wants it. */
export const newStep = (team: readonly RunAgent[], next: Next, steps: readonly RunStep[]): NewStep => {
  const { agent, round, prompt, continues } = next;
  const before = continues ? steps.findLast(({ role, sessionId }) => role === agent.role && sessionId !== null) : null;
  const hasSchema = isStructured(team, agent.role);
  return { agent, round, prompt, hasSchema, isRepeated: false, resumeSessionId: before?.sessionId ?? null };
};

export interface StepReport {
  runId: string;
  leaseId: string;
  stepId: string;
  status: 'completed' | 'failed';
  output?: string | null | undefined;
  error?: string | null | undefined;
  sessionId?: string | null | undefined;
  turns?: number | null | undefined;
}

export interface StepAnswer {
  outcome: StepOutcome;
  step: StepOrder | null;
  /** Why the run has failed; null: it has not. */
  failure: string | null;
}

/** Records how a step ended, and says what is next. A repeated report gets the same answer. @throws 404, or 409 `lease_lost` */
export const finishStep = (caller: Caller, report: StepReport): Promise<StepAnswer> =>
  transaction(async (trx) => {
    const { runId, leaseId, stepId } = report;
    const run = (await lockRun(trx, { id: runId, ...serviceReach(caller) } as object)) ?? Run.refuse();
    const steps = await stepsOf(trx, run.id);
    const step = steps.find(({ id }) => id === stepId) ?? RunStep.refuse();
    if (step.leaseId !== leaseId) throw leaseIsLost();
    if (step.outcome) return answerOf(step, steps, run.failure);
    if (run.status === 'canceled') return { outcome: 'done', step: null, failure: run.reason };
    if (run.leaseId !== leaseId || !isRunOpen(run)) throw leaseIsLost();
    const read = readReport(step, report);
    const { error, output, sessionId, turns } = read;
    const status = error === null ? 'completed' : 'failed';
    await endStep(trx, step, { status, error, output, sessionId, turns });
    const { outcome, failure = run.failure } = await advanceRun(trx, caller, run, steps, step, read);
    await recordStepOutcome(trx, step, outcome);
    await announce(trx, run.id);
    return answerOf(step, await stepsOf(trx, run.id), failure);
  });

function answerOf({ seq, outcome }: RunStep, steps: readonly RunStep[], failure: string | null): StepAnswer {
  const next = steps.find((one) => one.seq === seq + 1);
  return { outcome: outcome!, step: outcome === 'next' && next ? orderOf(next) : null, failure };
}

interface Read extends Pick<RunStep, 'error' | 'output' | 'sessionId' | 'turns'> {
  handover: Handover | null;
  /** What was wrong with the output, when it is asked for once more. */
  askAgain: string | null;
}

/** The report, with an invalid output as an error of the step. */
function readReport({ role, hasSchema, isRepeated, ...step }: RunStep, report: StepReport): Read {
  const sessionId = report.sessionId ?? step.sessionId;
  const read = { output: null, sessionId, turns: report.turns ?? null, handover: null, askAgain: null };
  if (report.status === 'failed') return { ...read, error: report.error ?? 'The runtime gave no reason.' };
  if (!hasSchema) return { ...read, error: null };
  try {
    const handover = readHandover(role, report.output);
    const { role: _, ...value } = handover;
    return { ...read, error: null, handover, output: JSON.stringify(Object.values(value)[0]) };
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const { description } = problem.body;
    return { ...read, error: `Invalid output: ${description}`, askAgain: isRepeated ? null : description };
  }
}

/** Writes what is next, if anything is. The run is locked and held. */
async function advanceRun(
  trx: Transaction,
  caller: Caller,
  run: Run,
  steps: readonly RunStep[],
  step: RunStep,
  read: Read,
): Promise<{ outcome: StepOutcome; failure?: string }> {
  if (read.handover?.role === 'reviewer') {
    const approvedSha = read.handover.review.verdict === 'approve' ? run.headSha : null;
    await recordApproval(trx, run.id, approvedSha);
  }
  const next = await decideNext(trx, run, steps, step, read);
  if (next === 'done') return { outcome: 'done' };
  if ('failure' in next || steps.length >= mission.steps) {
    const failure = 'failure' in next ? next.failure : `The mission took ${mission.steps} steps.`;
    await recordFailure(trx, run.id, failure);
    return { outcome: 'done', failure };
  }
  const written = await appendStep(trx, run, next);
  const held = { id: run.id, leaseId: run.leaseId! };
  if (step.role === 'planner' && !read.askAgain && (await needsPlanApproval(trx, run))) {
    const reason = 'Waiting for a person to approve the plan.';
    await releaseRun(trx, held, { awaitsApproval: true, reason, missionActivity: 'The plan waits for approval' });
    return { outcome: 'waiting' };
  }
  const canRun = await canRuntimeRun(trx, run.orgId, caller, run.claimedBy!);
  if (!canRun(written)) {
    await releaseRun(trx, held, { reason: null, missionActivity: `Waiting for the ${written.role}` });
    return { outcome: 'handed_back' };
  }
  await beginNextStep(trx, run, written);
  return { outcome: 'next' };
}

async function decideNext(
  trx: Transaction,
  run: Run,
  steps: readonly RunStep[],
  step: RunStep,
  { askAgain, handover, error }: Read,
): Promise<NewStep | { failure: string } | 'done'> {
  const { role, round, agent, hasSchema, sessionId, prompt } = step;
  if (askAgain) {
    const asked = sessionId ? repeatPrompt(askAgain) : `${prompt}\n\n${repeatPrompt(askAgain)}`;
    return { agent, round, prompt: asked, hasSchema, isRepeated: true, resumeSessionId: sessionId };
  }
  if (error !== null) return { failure: `The ${role} failed: ${error}` };
  const team = run.team!;
  const task: Task = {
    prompt: (await taskOfRun(trx, run)) ?? steps[0]!.prompt,
    plan: planIn(steps, handover),
    branch: branchOf(run.id),
  };
  const decided = decide(team, { role, round, handover }, task);
  if (decided !== 'done') return 'failure' in decided ? decided : newStep(team, decided.next, steps);
  // What people have said meanwhile is done before the mission is over.
  const messages = await takeMessages(trx, run.id);
  if (messages.length === 0) return 'done';
  const worker = team.find((one) => one.role === 'builder') ?? team[0]!;
  return newStep(team, { agent: worker, round, prompt: messagesPrompt(messages), continues: true }, steps);
}

function planIn(steps: readonly RunStep[], handover: Handover | null): Task['plan'] {
  if (handover?.role === 'planner') return handover.plan;
  const planned = steps.findLast(
    ({ role, status, hasSchema }) => role === 'planner' && hasSchema && status === 'completed',
  );
  return planned?.output ? JSON.parse(planned.output) : null;
}
