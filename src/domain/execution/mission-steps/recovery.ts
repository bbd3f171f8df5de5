// Data for a runtime that continues the work of another runtime.
import { isoTime } from '#foundation/clock.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { contentAddress } from '../../work/artifacts/address.ts';
import { findReadMessages } from '../../work/runs/messages.ts';
import type { Run } from '../../work/runs/model.ts';
import { RunStep } from '../../work/runs/step-model.ts';
import { stepsOf } from '../../work/runs/steps.ts';
import type { Checkpoint } from '../checkpoints/model.ts';
import { checkpointFor } from '../checkpoints/operations.ts';
import { historyPrompt, lostPrompt } from './prompts.ts';

/** The checkpoint, the session and the prompts for the runtime that continues the run. */
export interface Recovery {
  /** URL of the bundle; null means that only the pushed branch exists. */
  checkpoint: { commitSha: string; url: string } | null;
  resumeSessionId: string | null;
  /** The prompt for a session that is resumed in the middle of its step. */
  resumePrompt: string | null;
  /** The text that precedes the prompt in a new session. */
  preamble: string | null;
}
export const noRecovery = { checkpoint: null, resumePrompt: null, preamble: null };

const orderOfCheckpoint = ({ commitSha, artifactId }: Checkpoint) => ({ commitSha, url: contentAddress(artifactId) });

/**
 * Collects the data for continuing a step. @param wasBegun Whether another runtime has worked on the step, and was lost or handed it back
 */
export async function recover(trx: Transaction, run: Run, step: RunStep, wasBegun: boolean): Promise<Recovery> {
  const { resumeSessionId } = step;
  if (step.harness === 'shell') return { ...noRecovery, resumeSessionId };
  const found = await checkpointFor(trx, run, step);
  const recovery = { ...noRecovery, resumeSessionId, checkpoint: found ? orderOfCheckpoint(found) : null };
  if (!wasBegun && resumeSessionId === null) return recovery;
  const [history, messages] = [await historyOf(trx, run, step), await findReadMessages(trx, run.id)];
  const preamble = historyPrompt({ ...history, wasBegun, messages });
  const stepCheckpoint = wasBegun && found?.stepId === step.id ? found : undefined;
  if (!stepCheckpoint?.sessionId) return { ...recovery, preamble };
  const since = messages.filter(({ acknowledgedAt }) => acknowledgedAt >= stepCheckpoint.createdAt);
  const resumePrompt = lostPrompt(isoTime(stepCheckpoint.createdAt), since);
  return { ...recovery, resumeSessionId: stepCheckpoint.sessionId, resumePrompt, preamble };
}

/** The checkpoint with which the step began, for a runtime that begins it again. */
export async function checkpointBefore(trx: Transaction, run: Run, step: RunStep): Promise<Recovery['checkpoint']> {
  const found = await checkpointFor(trx, run, { ...step, seq: step.seq - 1 });
  return found ? orderOfCheckpoint(found) : null;
}

/** The earlier steps, beginning with the steps of the continued run. */
async function historyOf(trx: Transaction, run: Run, { seq }: RunStep) {
  const continued = run.continuesStepId ? await RunStep.find({ id: run.continuesStepId }, trx) : undefined;
  const before = continued ? (await stepsOf(trx, continued.runId)).filter((one) => one.seq <= continued.seq) : [];
  const earlierSteps = (await stepsOf(trx, run.id)).filter((one) => one.seq < seq);
  return { task: run.prompt, steps: [...before, ...earlierSteps] };
}
