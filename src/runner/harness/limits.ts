// The limits of a step, equal for all harnesses: the calls of the model and their tokens. The turn is interrupted when a limit is reached,
// so a limit may be exceeded by one call. The platform enforces limits on costs: it computes costs from tokens, and stops the run.
import type { Driver, Harness } from './port.ts';

/** Wraps a driver so that a turn fails when it reaches a limit. */
export const limited =
  (driver: Driver): Driver =>
  (task, on) => {
    const { maxCalls, maxTokens } = task;
    let [calls, tokens] = [0, 0];
    let reached: string | null = null;
    const harness: Harness = driver(task, async (event) => {
      const isCutShort = 'turn' in event && event.turn.status !== 'completed';
      if (isCutShort && reached) return on({ turn: { ...event.turn, status: 'failed', error: reached } });
      await on(event);
      if (!('usage' in event) || reached) return;
      const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = event.usage;
      tokens += inputTokens + cachedInputTokens + cacheWriteTokens + outputTokens;
      if (maxCalls !== null && ++calls >= maxCalls) reached = `The limit of ${maxCalls} model calls is reached.`;
      else if (maxTokens !== null && tokens >= maxTokens) reached = `The limit of ${maxTokens} tokens is reached.`;
      else return;
      harness.interrupt().catch(() => {});
    });
    return harness;
  };
