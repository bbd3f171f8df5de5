// The terms of purchases: quantities and times.
import { days } from '#foundation/clock.ts';

/**
 * Billing: packs in one checkout, how long a checkout stays open, in which time an order can be withdrawn, how long the credits of a
 * pack last, and how long a period of a subscription is with the built-in provider (milliseconds); messages of one credit request.
 */
export const billing = {
  packs: { min: 1, max: 100 },
  checkout: days(1),
  withdrawal: days(14),
  pack: days(365),
  period: days(30),
  messages: 100,
} as const;
