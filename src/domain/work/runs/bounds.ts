// The bounds of a mission's steps and messages.
import { hours, minutes, seconds } from '#foundation/clock.ts';

export const mission = {
  /** Maximum builder rounds, the first included. */
  rounds: 3,
  /** Maximum steps of all agents. */
  steps: 50,
  /** Time limit of a step, without the time in which it waits for people. */
  stepMs: minutes(30),
  /** Time for which a step may wait for answers of people. */
  answersMs: hours(24),
  /** Maximum model turns of a step. */
  turns: 200,
  /** Maximum messages of people. */
  messages: 100,
  budgetUsd: { min: 0.01, max: 10_000 },
} as const;

/** Fewest output tokens of a model call that is shortened to a limit: a shorter answer is useless to an agent. */
export const minOutputTokens = 1_024;

/** Bounds of texts, in characters. A step's output is JSON. */
export const stepText = {
  message: { min: 1, max: 4_000 },
  output: { max: 65_536 },
  isolation: { min: 1, max: 100 },
  /** Maximum length of the reason why a runtime does not offer a harness. */
  notice: { min: 1, max: 300 },
} as const;

/** Maximum answers that a question suggests. */
export const maxChoices = 4;

/** Maximum commits, files and lines of one branch. */
export const maxChanges = 1_000_000_000;

/** Maximum messages of one run in the answer to one heartbeat; the others follow once those are acknowledged. */
export const messagesAtOnce = 10;

/** Heartbeat interval while an agent takes messages, milliseconds: a message reaches it within two seconds. */
export const steeringHeartbeatMs = seconds(1);

/** Range of the list's time filters, epoch milliseconds: until the end of the year 9999. */
export const filterTime = { min: 0, max: 253_402_300_799_999 } as const;

/** Number of runs that groups count: the newest ones that match. Maximum groups. */
export const groupedRuns = 10_000;
export const maxGroups = 100;
