// Computes what a mission may still cost within its budget, the credits and the daily cost cap of its organization, and the budgets of
// organization, project and person.
import type { Transaction } from '#foundation/postgres/database.ts';
import { amountOf, creditsOf } from '../../money/credits/amounts.ts';
import { reserveCreditsUpTo } from '../../money/credits/missions.ts';
import { ceilingOf } from '../mission-costs/ceiling.ts';
import { costOfAttempts, costOfRun } from '../mission-costs/ledger.ts';
import { readReservedByAttempts, readReservedCalls } from '../mission-costs/model-calls.ts';
import type { ParkingLimit, Run } from '../runs/model.ts';
import { budgetText, readSpendLimits, type SpendLimit } from './spending.ts';

export const usd = (amount: number): string => creditsOf(amount).toFixed(2);

export interface MoneyLeft {
  /** Amount that is left for the next model call or for the next minute of the sandbox, in millionths of a US dollar. */
  left: number;
  /** The limit that leaves the least money, among all limits that apply to the run. */
  parkedBy: ParkingLimit;
  /** Explanation of the limit for people. */
  limit: string;
  /** Maximum price of the run's other calls in progress, in millionths of a US dollar. */
  reserved: number;
}

type Limit = [parkedBy: ParkingLimit, left: number, limit: string];

function limitOf(one: SpendLimit): Limit {
  const { id, amountUsd, spentUsd, reserved } = one;
  const left = amountOf(amountUsd) - amountOf(spentUsd) - reserved;
  const name = id === null ? `daily cap of ${amountUsd.toFixed(2)} USD` : budgetText(one);
  return [id === null ? 'cap' : 'shared_budget', left, `Missions have cost ${spentUsd.toFixed(2)} of the ${name}.`];
}

/** The budget covers all attempts at the task together. */
async function limitOfAttempts(trx: Transaction, { attemptGroupId, budgetUsd }: Run): Promise<Limit[]> {
  if (attemptGroupId === null || budgetUsd === null) return [];
  const cost = await costOfAttempts(trx, attemptGroupId);
  const left = amountOf(budgetUsd) - cost - (await readReservedByAttempts(trx, attemptGroupId));
  return [
    ['budget', left, `Together, the attempts have cost ${usd(cost)} of their budget of ${budgetUsd.toFixed(2)} USD.`],
  ];
}

/**
 * Computes the amount that the tightest limit leaves. Reserves credits for `amount`, or all remaining credits if they are less. Requires the lock on
 * the organization's ledger.
 */
export async function readMoneyLeft(trx: Transaction, run: Run, amount: number): Promise<MoneyLeft> {
  const { id: runId, orgId } = run;
  const cost = await costOfRun(trx, runId);
  const { reserved } = await readReservedCalls(trx, runId);
  const ceilingUsd = await ceilingOf(trx, run);
  const limits: Limit[] = [
    [
      'budget',
      amountOf(ceilingUsd) - cost - reserved,
      `The mission has cost ${usd(cost)} of its budget of ${ceilingUsd.toFixed(2)} USD.`,
    ],
    ...(await limitOfAttempts(trx, run)),
    ...(await readSpendLimits(trx, run)).map(limitOf),
  ];
  const needed = cost + reserved + Math.max(0, Math.min(amount, ...limits.map(([, left]) => left)));
  const creditsLeft = (await reserveCreditsUpTo(trx, { orgId, runId, needed })) - cost - reserved;
  limits.push(['credits', creditsLeft, 'The organization has too few credits.']);
  const [parkedBy, left, limit] = limits.reduce((tightest, one) => (one[1] < tightest[1] ? one : tightest));
  return { left, parkedBy, limit, reserved };
}
