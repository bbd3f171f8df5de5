// The input that tasks wait for: approval of a plan, an answer to the agent's question, or a decision about a tool
// call.
import type { Run } from '../runs/model.ts';
import { openQuestions } from '../runs/needs.ts';
import { isOpen, isWaiting } from '../runs/states.ts';

type Asking = Pick<Run, 'id' | 'status' | 'awaitsApproval' | 'parkedReason'>;

export interface TaskQuestion {
  text: string;
  /**
   * The sandbox and the number of the log fragment that contains the agent's question. An answer names this fragment, so that the answer
   * cannot apply to a later question. Absent if the run waits because of a limit.
   */
  position?: { sandboxId: string; seq: number };
}

/** Reasons why runs wait, by run id: the unanswered question of an agent, or the limit that has parked the run. */
export async function findQuestions(runs: readonly Asking[]): Promise<Map<string, TaskQuestion>> {
  const running = runs.filter(({ status }) => status === 'running');
  const asked = await openQuestions(running.map(({ id }) => id));
  const parked = runs
    .filter(isOpen)
    .flatMap(({ id, parkedReason }) => (parkedReason ? [[id, { text: parkedReason }] as const] : []));
  const words = asked.map(({ runId, text, choices, arguments: given, sandboxId, seq }) => {
    const words = [text, given, choices && `(${choices.join(' / ')})`].filter(Boolean).join('\n');
    return [runId, { text: words, position: { sandboxId, seq } }] as const;
  });
  return new Map<string, TaskQuestion>([...words, ...parked]);
}

/** Whether the plan of the run waits for an approval. */
export const awaitsApproval = (run: Asking): boolean => run.awaitsApproval && isWaiting(run);
