// The steps of a fork. First come copies of the source run's steps, up to and including the step in which the mission was forked. Then comes a step
// that continues the session of the last copy.
import type { Transaction } from '#foundation/postgres/database.ts';
import { createRecordingAddress } from '../artifacts/address.ts';
import type { Run, RunAgent } from '../runs/model.ts';
import type { RunStep } from '../runs/step-model.ts';
import { type NewStep, stepsOf } from '../runs/steps.ts';
import { RunFork } from './model.ts';

/** Instruction to a runtime to answer the calls of a step. */
export interface ReplayOrder {
  /** URL of the recording. */
  url: string;
  runId: string;
  /** The recorded step. */
  stepId: string;
  /** Number of the first call that the recording does not answer; the step ends at this call. Null means that the whole step is replayed. */
  call: number | null;
}

/** The fork whose current step is answered from the recording; undefined for every other run. */
export const findReplaying = async (trx: Transaction, { id, isReplaying }: Run): Promise<RunFork | undefined> =>
  isReplaying ? RunFork.query(trx).findOne({ runId: id }) : undefined;

/** Whether the step ends with the call at which the mission was forked. */
export const endsAtCall = (fork: RunFork | undefined, { seq }: RunStep): boolean => fork?.sourceSeq === seq;

export async function replayOrder(trx: Transaction, fork: RunFork, step: RunStep): Promise<ReplayOrder> {
  const { sourceRunId: runId, call } = fork;
  const source = (await stepsOf(trx, runId)).find(({ seq }) => seq === step.seq)!;
  const url = createRecordingAddress(runId);
  return { url, runId, stepId: source.id, call: endsAtCall(fork, step) ? call : null };
}

/** Copies a step of the source run for the fork. @param own The steps that the fork already has; their sessions have other ids than in the source */
export function repeatedStep(source: readonly RunStep[], seq: number, own: readonly RunStep[]): NewStep {
  const { agent, round, prompt, hasSchema, isRepeated, resumeSessionId } = source[seq]!;
  const begun = resumeSessionId === null ? null : source.find(({ sessionId }) => sessionId === resumeSessionId);
  const session = own.find((one) => one.seq === begun?.seq)?.sessionId ?? null;
  return { agent, round, prompt, hasSchema, isRepeated, resumeSessionId: session };
}

/** The first step of a fork that a runtime executes without the recording. `team` contains the agents of the run from this step on. */
export type LiveStep = NewStep & Pick<Run, 'isReplaying'> & { team: RunAgent[] };

const noSession = 'The harness kept no session at this call, so the mission cannot continue from it.';

/**
 * Returns the step after a replayed step of a fork, and the agents of the run from that next step on. The replay ends with the step that contains the
 * call at which the mission was forked. Then the mission continues without the recording.
 */
export async function nextOfFork(
  trx: Transaction,
  fork: RunFork,
  team: readonly RunAgent[],
  own: readonly RunStep[],
  step: RunStep,
): Promise<NewStep | LiveStep | { failure: string }> {
  if (!endsAtCall(fork, step)) return repeatedStep(await stepsOf(trx, fork.sourceRunId), step.seq + 1, own);
  const { round, hasSchema, sessionId, role } = step;
  if (sessionId === null) return { failure: noSession };
  const { agent } = fork;
  const prompt = fork.prompt ?? 'Continue your work.';
  const next = { agent, round, prompt, hasSchema, isRepeated: false, resumeSessionId: sessionId };
  return { ...next, team: team.map((one) => (one.role === role ? agent : one)), isReplaying: false };
}
