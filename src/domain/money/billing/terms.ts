// Quantities and periods that apply to purchases.
import { days } from '#foundation/clock.ts';

export const billing = {
  /** Number of packs in one checkout. */
  packs: { min: 1, max: 100 },
  /** How long a checkout can be paid. */
  checkoutMs: days(1),
  /** How long the customer can withdraw from an order. */
  withdrawalMs: days(14),
  /** How long the credits of a pack can be spent. */
  packMs: days(365),
  /** Length of a subscription period at the built-in payment provider. */
  periodMs: days(30),
  /** Maximum number of messages in one credit request. */
  messages: 100,
} as const;
