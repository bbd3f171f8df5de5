// Limits for budgets.

/** Minimum and maximum amount in US dollars. Amounts are rounded to a hundredth of a cent. */
export const budgetUsd = { min: 0.01, max: 1_000_000 } as const;

export const maxBudgets = 1_000;
