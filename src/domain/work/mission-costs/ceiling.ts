// The most that a mission may cost.
import type { Transaction } from '#foundation/postgres/database.ts';
import { currentPlan } from '../../money/billing/operations.ts';
import { costOfTask } from '../runs/cost.ts';
import type { Run } from '../runs/model.ts';

/**
 * Maximum cost of the run in US dollars: its budget, or the maximum of the organization's plan if that is lower. One credit is one US
 * dollar.
 */
export async function ceilingOf(
  trx: Transaction,
  { orgId, budgetUsd }: Pick<Run, 'orgId' | 'budgetUsd'>,
): Promise<number> {
  const { missionCeiling } = await currentPlan(orgId, trx);
  return Math.min(budgetUsd ?? missionCeiling, missionCeiling);
}

/** Amount in US dollars that the run may still cost. The costs of the other attempts at its task count, too. */
export const budgetLeftOf = async (trx: Transaction, run: Run): Promise<number> =>
  Math.max(0, (await ceilingOf(trx, run)) - (await costOfTask(trx, run)));
