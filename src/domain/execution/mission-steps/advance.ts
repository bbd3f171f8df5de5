// When a runtime has finished a step of a run, this module validates its report about the step and decides the next step from the report.
import type { Caller } from '#access/principal.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { Problem } from '#foundation/problem.ts';
import { canRuntimeRun } from '../../projects/agents/runtime-harnesses.ts';
import type { RunFork } from '../../work/forks/model.ts';
import { type LiveStep, nextOfFork } from '../../work/forks/replaying.ts';
import { needsPlanApproval } from '../../work/orchestrator/operations.ts';
import { taskOfRun } from '../../work/recurring/operations.ts';
import { mission } from '../../work/runs/bounds.ts';
import { branchOf } from '../../work/runs/branch.ts';
import { recordApproval, recordFailure } from '../../work/runs/decisions.ts';
import { releaseRun } from '../../work/runs/finish.ts';
import { takeMessages } from '../../work/runs/messages.ts';
import type { Run } from '../../work/runs/model.ts';
import type { RunStep, StepOutcome } from '../../work/runs/step-model.ts';
import { appendStep, beginNextStep, type NewStep } from '../../work/runs/steps.ts';
import { decide } from './chain.ts';
import { templateOf } from './environment.ts';
import { type Handover, readHandover } from './handovers.ts';
import { newStep } from './orders.ts';
import { messagesPrompt, repeatPrompt, type Task, withIssue } from './prompts.ts';

/** The end of a step, as the runtime reports it. */
export interface StepEnd {
  status: 'completed' | 'failed';
  output?: string | null | undefined;
  error?: string | null | undefined;
  sessionId?: string | null | undefined;
  turns?: number | null | undefined;
}

export interface ReadStep extends Pick<RunStep, 'error' | 'output' | 'sessionId' | 'turns'> {
  handover: Handover | null;
  /** Why the output is invalid, as told to the agent when it is asked again; null when it is not asked again. */
  askAgain: string | null;
}

/** Validates the report. An invalid output becomes the error of the step. */
export function readStep({ role, hasSchema, isRepeated, ...step }: RunStep, report: StepEnd): ReadStep {
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

/** Decides the next step and writes it, if there is one. The caller has locked the run, whose lease is held. */
export async function advanceRun(
  trx: Transaction,
  caller: Caller,
  run: Run,
  steps: readonly RunStep[],
  step: RunStep,
  read: ReadStep,
  fork: RunFork | undefined,
): Promise<{ outcome: StepOutcome; next?: RunStep; failure?: string }> {
  if (read.handover?.role === 'reviewer') {
    const approvedSha = read.handover.review.verdict === 'approve' ? run.headSha : null;
    await recordApproval(trx, run.id, approvedSha);
  }
  const next = fork
    ? await afterReplay(trx, run, steps, step, read, fork)
    : await decideNext(trx, run, steps, step, read);
  if (next === 'done') return { outcome: 'done' };
  if ('failure' in next || steps.length >= mission.steps) {
    const failure =
      'failure' in next ? next.failure : `The mission has taken ${mission.steps} steps, which is the maximum.`;
    await recordFailure(trx, run.id, failure);
    return { outcome: 'done', failure };
  }
  const written = await appendNext(trx, run, next);
  const held = { id: run.id, leaseId: run.leaseId! };
  // A fork that replays the planner's step does not ask a person to approve the plan a second time.
  if (step.role === 'planner' && !fork && !read.askAgain && (await needsPlanApproval(trx, run))) {
    const reason = 'Waiting for a person to approve the plan.';
    await releaseRun(trx, held, { awaitsApproval: true, reason, missionActivity: 'The plan waits for approval' });
    return { outcome: 'waiting' };
  }
  if (run.pausesAt !== null) {
    await releaseRun(trx, held, { reason: run.parkedReason, missionActivity: null });
    return { outcome: 'handed_back' };
  }
  const { labels = [] } = (await templateOf(trx, run, written)) ?? {};
  const canRun = await canRuntimeRun(trx, run.orgId, caller, run.claimedBy!, labels);
  if (!canRun(written)) {
    await releaseRun(trx, held, { reason: null, missionActivity: `Waiting for the ${written.role}` });
    return { outcome: 'handed_back' };
  }
  return { outcome: 'next', next: await beginNextStep(trx, run, written) };
}

/** The step after a replayed one. A difference from the recording fails the mission. */
async function afterReplay(
  trx: Transaction,
  { team }: Run,
  steps: readonly RunStep[],
  { role, seq }: RunStep,
  { error, sessionId, askAgain }: ReadStep,
  fork: RunFork,
): Promise<Following> {
  if (error !== null && !askAgain) return { failure: `The ${role} failed: ${error}` };
  return nextOfFork(trx, fork, team!, steps, { ...steps[seq]!, sessionId });
}

/** The next step, or the reason why there is none. */
type Following = NewStep | LiveStep | { failure: string } | 'done';

async function appendNext(trx: Transaction, run: Run, next: NewStep | LiveStep): Promise<RunStep> {
  if (!('team' in next)) return appendStep(trx, run, next);
  const { team, isReplaying, ...step } = next;
  run.isReplaying = isReplaying;
  return appendStep(trx, run, step, { team, isReplaying });
}

async function decideNext(
  trx: Transaction,
  run: Run,
  steps: readonly RunStep[],
  step: RunStep,
  { askAgain, handover, error }: ReadStep,
): Promise<Following> {
  const { role, round, agent, hasSchema, sessionId, prompt } = step;
  if (askAgain) {
    const asked = sessionId ? repeatPrompt(askAgain) : `${prompt}\n\n${repeatPrompt(askAgain)}`;
    return { agent, round, prompt: asked, hasSchema, isRepeated: true, resumeSessionId: sessionId };
  }
  if (error !== null) return { failure: `The ${role} failed: ${error}` };
  const team = run.team!;
  const task: Task = {
    prompt: withIssue((await taskOfRun(trx, run)) ?? steps[0]!.prompt, run.id, run.issueText),
    plan: planIn(steps, handover),
    branch: branchOf(run),
  };
  const decided = decide(team, { role, round, handover }, task);
  if (decided !== 'done') return 'failure' in decided ? decided : newStep(team, decided.next, steps);
  // Messages that people sent during the step are handled before the mission ends.
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
