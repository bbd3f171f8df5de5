// The terms of purchases: quantities and times.
import { days } from '#foundation/clock.ts';

/**
 * Billing: packs in one checkout, how long a checkout stays open, in which time an order can be withdrawn, how long the credits of a
 * pack last, and how long a period of a subscription is with the built-in provider; messages of one credit request.
 */
export const billing = {
  packs: { min: 1, max: 100 },
  checkoutMs: days(1),
  withdrawalMs: days(14),
  packMs: days(365),
  periodMs: days(30),
  messages: 100,
} as const;
