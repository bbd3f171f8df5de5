// Time limits of a step. Time in which its agent only waits for people has a separate limit.
import { setTimeout as wait } from 'node:timers/promises';
import type { Questions } from './protocol/questions.ts';

const tickMs = 1_000;

/** Resolves with the reason when the step has worked for too long, or its questions were not answered in time. */
export async function timeUp(
  workMs: number,
  answersMs: number,
  questions: Pick<Questions, 'oldest' | 'waitedMs'> | null,
  signal: AbortSignal,
): Promise<string> {
  const waitedMs = () => questions?.waitedMs() ?? 0;
  const [beganAt, waitedBefore] = [performance.now(), waitedMs()];
  for (;;) {
    const waited = waitedMs() - waitedBefore;
    const left = workMs - (performance.now() - beganAt - waited);
    const answerLeft = answersMs - waited;
    if (left <= 0) return `The step has reached its time limit of ${durationOf(workMs)}.`;
    const question = questions?.oldest() ?? null;
    if (answerLeft <= 0 && question !== null) return `Nobody answered within ${durationOf(answersMs)}: ${question}`;
    await wait(Math.max(1, Math.min(tickMs, left, answerLeft)), undefined, { signal });
  }
}

const units = [
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
  ['millisecond', 1],
] as const;

/** The duration as text, such as 24 hours. */
function durationOf(ms: number): string {
  const [unit, length] = units.find(([, length]) => ms >= length && ms % length === 0) ?? ['millisecond', 1];
  const count = ms / length;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
