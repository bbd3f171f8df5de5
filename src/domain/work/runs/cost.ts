// Costs of runs, as their runtimes report them.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { Run } from './model.ts';

export async function addCost(trx: Transaction, runId: string, usd: number): Promise<void> {
  await sql(
    'update runs set mission_cost_usd = mission_cost_usd + $2, updated_at = $3 where id = $1',
    [runId, usd, now()],
    trx,
  );
}

const costOfAttemptsSql = `select coalesce(sum(mission_cost_usd), 0)::float8 as usd from runs where attempt_group_id = $1`;

/** The cost that counts against the budget of a run, in US dollars: the cost of the run, and the costs of the other attempts at its task. */
export async function costOfTask(
  trx: Transaction,
  { attemptGroupId, missionCostUsd }: Pick<Run, 'attemptGroupId' | 'missionCostUsd'>,
): Promise<number> {
  if (attemptGroupId === null) return missionCostUsd;
  return (await sql<{ usd: number }>(costOfAttemptsSql, [attemptGroupId], trx))[0]!.usd;
}

/**
 * SQL condition: the run belongs to the project in `owner.project_id`, and is charged to the person in `owner.user_id`. A column that is null matches
 * every run.
 */
export const isRunOf = (runId: string, owner: string): string =>
  `exists (select from runs r where r.id = ${runId} and (${owner}.project_id is null or r.project_id = ${owner}.project_id)
    and (${owner}.user_id is null or r.billing_actor_user_id = ${owner}.user_id))`;

/** Records that the sum is incomplete, because some costs are unknown. */
export async function markCostIncomplete(trx: Transaction, runId: string): Promise<void> {
  await Run.patch(trx, { id: runId }, { missionCostIncomplete: true, updatedAt: now() });
}
