// The bounds of a mission's steps and messages.
import { minutes, seconds } from '#foundation/clock.ts';

/**
 * Rounds of building, the first among them, steps in all, how long one step may last, model turns
 * in it, messages of people, and the budget in US dollars.
 */
export const mission = {
  rounds: 3,
  steps: 50,
  stepMs: minutes(30),
  turns: 200,
  messages: 100,
  budgetUsd: { min: 0.01, max: 10_000 },
} as const;

/** Characters. A step's output is JSON. */
export const stepText = {
  message: { min: 1, max: 4_000 },
  output: { max: 65_536 },
  isolation: { min: 1, max: 100 },
  /** Why a runtime does not offer a harness. */
  notice: { min: 1, max: 300 },
} as const;

/** Commits, files and lines of one branch. */
export const maxChanges = 1_000_000_000;

/** Search reads titles and prompts of so many runs of an organization, the newest. */
export const searchedRuns = 10_000;

/** Messages of one run in the answer to one heartbeat; the others follow when those are acknowledged. */
export const messagesAtOnce = 10;

/** Milliseconds between heartbeats while an agent can be spoken to: a message reaches it within two seconds. */
export const steeringHeartbeatMs = seconds(1);

/** Times that the list is filtered by, epoch milliseconds: until the end of the year 9999. */
export const filterTime = { min: 0, max: 253_402_300_799_999 } as const;
