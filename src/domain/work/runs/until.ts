// Steps, messages and state of a run as they were at an earlier moment.
import { RunMessage } from './message-model.ts';
import type { Run, RunStatus } from './model.ts';
import { statusOfState } from './states.ts';
import { RunStep } from './step-model.ts';

/** The steps that existed at that time, as they were then. */
export async function stepsUntil(runId: string, at: number): Promise<RunStep[]> {
  const steps = await RunStep.findAll({ runId });
  return steps
    .filter(({ createdAt }) => createdAt <= at)
    .map((step) => {
      const { startedAt, finishedAt } = step;
      if (finishedAt !== null && finishedAt <= at) return step;
      const isBegun = startedAt !== null && startedAt <= at;
      const later = { output: null, error: null, turns: null, finishedAt: null, startedAt: isBegun ? startedAt : null };
      return { ...step, ...later, status: isBegun ? 'running' : 'waiting' };
    });
}

export const messagesUntil = async (runId: string, at: number): Promise<RunMessage[]> =>
  (await RunMessage.findAll({ runId })).filter(({ createdAt }) => createdAt <= at);

export function statusAt({ status, startedAt, finishedAt }: Run, at: number): RunStatus {
  if (finishedAt !== null && finishedAt <= at) return status;
  return statusOfState(startedAt !== null && startedAt <= at ? 'running' : 'waitingForRuntime');
}
