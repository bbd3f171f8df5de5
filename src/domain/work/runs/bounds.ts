// Limits for a mission's steps and messages.
import { hours, minutes, seconds } from '#foundation/clock.ts';

export const mission = {
  /** Maximum number of rounds of building, including the first one. */
  rounds: 3,
  /** Maximum number of steps of all agents together. */
  steps: 50,
  /** Time limit of a step, excluding the time in which it waits for people. */
  stepMs: minutes(30),
  /** Time for which a step may wait for answers of people. */
  answersMs: hours(24),
  /** Maximum model turns of a step. */
  turns: 200,
  /** Maximum number of messages that people can send to one run. */
  messages: 100,
  budgetUsd: { min: 0.01, max: 10_000 },
} as const;

/** A limit on cost or tokens can shorten the output of a model call, but not below this number of tokens: less is useless to an agent. */
export const minOutputTokens = 1_024;

/** Minimum and maximum lengths of texts, in characters. A step's output is JSON. */
export const stepText = {
  message: { min: 1, max: 4_000 },
  output: { max: 65_536 },
  isolation: { min: 1, max: 100 },
  /** Maximum length of the reason why a runtime does not offer a harness. */
  notice: { min: 1, max: 300 },
} as const;

/** Maximum number of answers that a question suggests. */
export const maxChoices = 4;

/** Maximum of each of these numbers in a report about a branch: commits, changed files, and changed lines. */
export const maxChanges = 1_000_000_000;

/** Maximum number of messages of one run in the response to one heartbeat; further ones follow after an acknowledgement. */
export const messagesAtOnce = 10;

/** Heartbeat interval in milliseconds while an agent accepts messages, so that a message arrives within two seconds. */
export const steeringHeartbeatMs = seconds(1);

/** Allowed values of time filters, in epoch milliseconds: until the end of the year 9999. */
export const filterTime = { min: 0, max: 253_402_300_799_999 } as const;

/** When runs are counted in groups: the maximum number of runs that are counted, beginning with the newest, and the maximum number of groups. */
export const groupedRuns = 10_000;
export const maxGroups = 100;
