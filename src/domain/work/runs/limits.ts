// Changes limits of an open run: its budget, minutes, model calls and tokens. A run that waits for a higher limit continues within seconds.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { missionLimitNames, refuseBeyondBounds } from '../../projects/sandbox-templates/mission-limits.ts';
import { lockAttempts } from './attempts.ts';
import { Run } from './model.ts';
import { readRun } from './operations.ts';
import { lockRunInReach, refuseEnded } from './steering.ts';
import { tokensOfRun } from './steps.ts';

/**
 * Sets the total budget of an open run; for an attempt, the total budget of all attempts at the task. @throws 400 for less than the cost so far, 404,
 * 409 for an ended run
 */
export const setBudget = (caller: Caller, { runId, budgetUsd }: { runId: string; budgetUsd: number }): Promise<Run> =>
  transaction(async (trx) => {
    const { attemptGroupId } = await readRun(trx, caller, runId);
    const runs =
      attemptGroupId === null ? [await lockRunInReach(trx, caller, runId)] : await lockAttempts(trx, attemptGroupId);
    const run = runs.find(({ id }) => id === runId) ?? Run.refuse();
    refuseEnded(run);
    const cost = runs.reduce((sum, { missionCostUsd }) => sum + missionCostUsd, 0);
    const subject = attemptGroupId === null ? 'run' : 'attempts';
    if (budgetUsd < cost)
      throw invalid.field('budgetUsd', `must be at least ${cost.toFixed(2)}, the cost of the ${subject} so far`);
    const changes = { budgetUsd, updatedAt: now() };
    for (const { id } of runs) {
      await Run.patch(trx, { id }, changes);
      await announce(trx, id);
    }
    return (await Run.find({ id: run.id }, trx))!;
  });

export interface NewLimits {
  runId: string;
  maxMinutes?: number | null | undefined;
  maxModelCalls?: number | null | undefined;
  maxTokens?: number | null | undefined;
}

/**
 * Sets limits of an open run; absent limits are unchanged. @throws 400 for less than the run has used, or more than the installation's
 * maximum; 404, 409 for an ended run
 */
export const setLimits = (caller: Caller, { runId, ...limits }: NewLimits): Promise<Run> =>
  transaction(async (trx) => {
    const run = await lockRunInReach(trx, caller, runId);
    refuseEnded(run);
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
    await Run.patch(trx, { id: run.id }, { ...Object.fromEntries(given), updatedAt: now() });
    await announce(trx, run.id);
    return (await Run.find({ id: run.id }, trx))!;
  });
