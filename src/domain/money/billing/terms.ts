// Terms of purchases: quantities and periods.
import { days } from '#foundation/clock.ts';

/**
 * Number of packs per checkout. How long a checkout stays open, an order can be withdrawn, the credits of a pack last, and a period of a
 * subscription of the built-in provider lasts. Maximum number of messages per credit request.
 */
export const billing = {
  packs: { min: 1, max: 100 },
  checkoutMs: days(1),
  withdrawalMs: days(14),
  packMs: days(365),
  periodMs: days(30),
  messages: 100,
} as const;
