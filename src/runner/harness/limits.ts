// The limit of a turn, for every harness alike: calls of the model. The turn is interrupted when it is reached, so it may go beyond
// by one call. What a mission may cost is the platform's to decide: it computes costs from tokens, and stops the run.
import type { Driver, Harness } from './port.ts';

/** A driver whose turns fail with the limit that they have reached. */
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
