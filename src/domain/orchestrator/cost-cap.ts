// The daily cost cap: the default, an organization's own, and whether today's spend has reached it (specification, Limits).
// A day is a day of UTC, so that the cap means the same to everyone who looks. Pure.
import { days } from '#foundation/clock.ts';
import { dailyCostCapUsd } from '#limits.ts';

export interface CostCap {
  /** The organization's own; null leaves it to the default. */
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
