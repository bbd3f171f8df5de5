// The limit of a turn, equal for all harnesses: the number of calls of the model. The turn is interrupted when the limit is reached, so
// it may exceed it by one call. Cost limits are the platform's: it computes costs from tokens, and stops the run.
import type { Driver, Harness } from './port.ts';

/** Wraps a driver so that a turn fails when it reaches the limit. */
export const limited =
  (driver: Driver): Driver =>
  (task, on) => {
    const { maxCalls } = task;
    let calls = 0;
    let reached: string | null = null;
    const harness: Harness = driver(task, async (event) => {
      const isCutShort = 'turn' in event && event.turn.status !== 'completed';
      if (isCutShort && reached) return on({ turn: { ...event.turn, status: 'failed', error: reached } });
      await on(event);
      if (!('usage' in event) || reached || maxCalls === null || ++calls < maxCalls) return;
      reached = `The limit of ${maxCalls} model calls is reached.`;
      harness.interrupt().catch(() => {});
    });
    return harness;
  };
