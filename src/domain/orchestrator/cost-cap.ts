// The daily cost cap: the default, an organization's own, and whether today's spend has reached it (specification, Limits).
// Days are UTC days. Pure.
import { days } from '#foundation/clock.ts';
import { dailyCostCapUsd } from '#limits.ts';

export interface CostCap {
  /** The organization's own; null: the default applies. */
  dailyCostCapUsd: number | null;
  defaultDailyCostCapUsd: number;
  effectiveDailyCostCapUsd: number;
  dailySpendUsd: number;
  atDailyCostCap: boolean;
}

export function costCap(own: number | null, dailySpendUsd: number): CostCap {
  const effective = own ?? dailyCostCapUsd.default;
  return {
    dailyCostCapUsd: own,
    defaultDailyCostCapUsd: dailyCostCapUsd.default,
    effectiveDailyCostCapUsd: effective,
    dailySpendUsd,
    atDailyCostCap: dailySpendUsd >= effective,
  };
}

/** The first millisecond of the UTC day. */
export const dayOf = (at: number): number => at - (at % days(1));
