// The limits of a turn, for every harness alike: calls of the model and US dollars. The turn is interrupted when one is reached,
// so it may go beyond by one call.
import type { Driver, Harness, Prices, Tokens } from './port.ts';

/** US dollars. */
export const costOf = (tokens: Tokens, prices: Prices): number =>
  (Object.keys(prices) as (keyof Prices)[]).reduce(
    (sum, field) => sum + (tokens[field] * prices[field]) / 1_000_000,
    0,
  );

/** A driver whose turns fail with the limit that they have reached. */
export const limited =
  (driver: Driver): Driver =>
  (task, on) => {
    const { maxCalls, maxUsd, prices } = task;
    let [calls, usd] = [0, 0];
    let reached: string | null = null;
    const harness: Harness = driver(task, async (event) => {
      const isCutShort = 'turn' in event && event.turn.status !== 'completed';
      if (isCutShort && reached) return on({ turn: { ...event.turn, status: 'failed', error: reached } });
      await on(event);
      if (!('usage' in event) || reached) return;
      calls++;
      if (prices) usd += costOf(event.usage, prices);
      if (maxCalls !== null && calls >= maxCalls) reached = `The limit of ${maxCalls} model calls is reached.`;
      if (maxUsd !== null && usd >= maxUsd) reached = `The limit of ${maxUsd} US dollars is reached.`;
      if (reached) void harness.interrupt().catch(() => {});
    });
    return harness;
  };
