// Finds the call of a recording at which a mission is forked. A fork replays everything before this call, so the recording must contain all of it.
import { conflict, invalid } from '#foundation/problem.ts';
import { isModelCall, type RecordedStep } from '../recordings/calls.ts';
import type { RunStep } from '../runs/step-model.ts';

/** Position of a call in a recording. */
export interface ForkedCall {
  /** The step of the call. */
  step: RunStep;
  /** Number of calls in all earlier steps. */
  calls: number;
}

/**
 * Finds the call and its step. @param steps The steps of the run. @param call Number of a call in the step.
 * @throws 400 for a step or call that the recording lacks, and for the call of a tool; 409 when the calls before it cannot be replayed
 */
export function findForkedCall(
  recorded: readonly RecordedStep[],
  steps: readonly RunStep[],
  stepId: string,
  call: number,
): ForkedCall {
  const step = steps.find(({ id }) => id === stepId);
  const own = recorded.find((one) => one.stepId === stepId);
  if (!step || !own) throw invalid.field('stepId', 'must be a step of the recording');
  const at = own.calls.find(({ number }) => number === call);
  const last = own.calls.at(-1)?.number ?? 0;
  if (!at) throw invalid.field('call', `must be the number of a recorded call of the step, at most ${last}`);
  if (!isModelCall(at)) throw invalid.field('call', 'must be the call of a model; this one is the call of a tool');
  let calls = 0;
  for (const { id, seq, role } of steps.filter(({ seq }) => seq <= step.seq)) {
    const replayed = recorded.find((one) => one.stepId === id);
    const what = `the step of the ${role}`;
    if (!replayed) throw conflict(`The recording lacks ${what} before the call.`);
    if (seq === 0 && replayed.hasCheckpoint)
      throw conflict('The recording begins from a checkpoint, which a fork does not restore.');
    if (id !== step.id && !replayed.isEnded) throw conflict(`The recording lacks the end of ${what}.`);
    const before = id === step.id ? replayed.calls.filter(({ number }) => number < call) : replayed.calls;
    const missing = before.findIndex(({ number }, i) => number !== i + 1);
    if (missing >= 0 || (id === step.id && before.length !== call - 1))
      throw conflict(`The recording lacks call ${missing < 0 ? before.length + 1 : missing + 1} of ${what}.`);
    const omitted = before.find(({ isOmitted }) => isOmitted);
    if (omitted) throw conflict(`The recording leaves out the content of call ${omitted.number} of ${what}.`);
    calls += before.length;
  }
  return { step, calls };
}
