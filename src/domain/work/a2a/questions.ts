// What tasks wait for from their clients: an approval of their plan, or an answer to what their agent asks.

import { spokenAt } from '../runs/messages.ts';
import type { Run } from '../runs/model.ts';
import { isWaiting } from '../runs/states.ts';
import { openQuestions } from '../sandboxes/elicitations.ts';

type Asking = Pick<Run, 'id' | 'status' | 'awaitsApproval'>;

/** What the agents of running ones ask, by run: the last that they did, and nobody has said anything since. */
export async function findQuestions(runs: readonly Asking[]): Promise<Map<string, string>> {
  const ids = runs.filter(({ status }) => status === 'running').map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const [asked, spoken] = await Promise.all([openQuestions(ids), spokenAt(ids)]);
  const open = asked.filter(({ runId, at }) => at > (spoken.get(runId) ?? 0));
  return new Map(open.map(({ runId, text }) => [runId, text]));
}

/** Whether the plan of the run waits for an approval. */
export const awaitsApproval = (run: Asking): boolean => run.awaitsApproval && isWaiting(run);
