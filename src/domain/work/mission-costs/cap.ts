// The daily cost cap: the default, an organization's own, and whether today's spend has reached it (docs/contract.md#orchestrator). Days
// are UTC days.
import { days } from '#foundation/clock.ts';

/** Bounds of the cap per UTC day; `unit` is the smallest cap that is not zero. */
export const costCapUsd = { min: 0, max: 1_000_000, default: 100, unit: 0.0001 } as const;

/**
 * Maximum amount that scripts of a mission without a budget can add to the ledger, whatever amounts they report
 * (docs/decisions/0037-scripts-charge-up-to-a-bound.md).
 */
export const scriptCostUsd = 10;

export interface CostCap {
  /** The cap that the organization has set; null means that the default applies. */
  dailyCostCapUsd: number | null;
  defaultDailyCostCapUsd: number;
  effectiveDailyCostCapUsd: number;
  dailySpendUsd: number;
  atDailyCostCap: boolean;
}

export function costCap(dailyCostCapUsd: number | null, dailySpendUsd: number): CostCap {
  const effective = dailyCostCapUsd ?? costCapUsd.default;
  return {
    dailyCostCapUsd,
    defaultDailyCostCapUsd: costCapUsd.default,
    effectiveDailyCostCapUsd: effective,
    dailySpendUsd,
    atDailyCostCap: dailySpendUsd >= effective,
  };
}

/** Start of the UTC day, in epoch milliseconds. */
export const dayOf = (at: number): number => at - (at % days(1));
