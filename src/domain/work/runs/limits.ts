// Changes limits of an open run: its budget, minutes, model calls and tokens. A run that waits for a higher limit continues within seconds.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import type { Patch, Row } from '#foundation/postgres/base-model.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { missionLimitNames, refuseBeyondBounds } from '../../projects/sandbox-templates/mission-limits.ts';
import { Run } from './model.ts';
import { lockReached, refuseEnded } from './steering.ts';
import { tokensOfRun } from './steps.ts';

const change = (
  caller: Caller,
  runId: string,
  changesOf: (trx: Transaction, run: Run) => Promise<Patch<Run>>,
): Promise<Row<Run>> =>
  transaction(async (trx) => {
    const run = await lockReached(trx, caller, runId);
    refuseEnded(run);
    await Run.patch(trx, { id: run.id }, { ...((await changesOf(trx, run)) as object), updatedAt: now() });
    await announce(trx, run.id);
    return (await Run.find({ id: run.id }, trx))!;
  });

/** Sets the total budget of an open run. @throws 400 for less than the run has cost, 404, 409 for an ended run */
export const setBudget = (
  caller: Caller,
  { runId, budgetUsd }: { runId: string; budgetUsd: number },
): Promise<Row<Run>> =>
  change(caller, runId, async (_, { missionCostUsd }) => {
    if (budgetUsd < missionCostUsd)
      throw invalid.field('budgetUsd', `must be at least ${missionCostUsd.toFixed(2)}, the cost of the run so far`);
    return { budgetUsd };
  });

export interface NewLimits {
  runId: string;
  maxMinutes?: number | null | undefined;
  maxModelCalls?: number | null | undefined;
  maxTokens?: number | null | undefined;
}

/**
 * Sets limits of an open run; absent limits are unchanged. @throws 400 for less than the run has used, or more than the bound of the
 * installation; 404, 409 for an ended run
 */
export const setLimits = (caller: Caller, { runId, ...limits }: NewLimits): Promise<Row<Run>> =>
  change(caller, runId, async (trx, run) => {
    const given = missionLimitNames.flatMap((name) => (limits[name] == null ? [] : [[name, limits[name]] as const]));
    refuseBeyondBounds(limits);
    const used = {
      maxMinutes: run.sandboxMinutes,
      maxModelCalls: run.modelCalls,
      maxTokens: await tokensOfRun(trx, run.id),
    };
    for (const [name, limit] of given) {
      if (limit < used[name])
        throw invalid.field(name, `must be at least ${used[name]}, the amount that the run has used`);
    }
    return Object.fromEntries(given);
  });
