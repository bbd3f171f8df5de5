// What tasks wait for from their clients: an approval of their plan, or an answer to what their agent asks.
import type { Run } from '../runs/model.ts';
import { openQuestions } from '../runs/needs.ts';
import { isWaiting } from '../runs/states.ts';

type Asking = Pick<Run, 'id' | 'status' | 'awaitsApproval'>;

/** What the agents of running ones ask, by run: the last that they did, and nobody has said anything since. */
export async function findQuestions(runs: readonly Asking[]): Promise<Map<string, string>> {
  const ids = runs.filter(({ status }) => status === 'running').map(({ id }) => id);
  return new Map((await openQuestions(ids)).map(({ runId, text }) => [runId, text]));
}

/** Whether the plan of the run waits for an approval. */
export const awaitsApproval = (run: Asking): boolean => run.awaitsApproval && isWaiting(run);
