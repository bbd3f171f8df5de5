// The scheduler runs these jobs, possibly in several processes at once. They book the costs of missions, settle missions that have ended,
// and cancel missions whose cost has used up the organization's credits.
import { now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { currentPlan } from '../../money/billing/operations.ts';
import { credit } from '../../money/credits/amounts.ts';
import { bookMission } from '../../money/credits/missions.ts';
import { hasReviews, type Review, takeExhausted, takeReview } from '../../money/credits/reviews.ts';
import { costOfRun } from '../../work/mission-costs/ledger.ts';
import { dropModelCalls } from '../../work/mission-costs/model-calls.ts';
import { markCostIncomplete } from '../../work/runs/cost.ts';
import { cancelRuns } from '../../work/runs/finish.ts';

/**
 * Settles all missions whose cost or state has changed. @throws after all missions were tried, when one of them failed; the next call tries
 * it again
 */
export async function settleMissions(): Promise<void> {
  // The check runs every second and mostly finds nothing; a transaction would cost three statements and much more memory.
  if (!(await hasReviews())) return;
  const errors: unknown[] = [];
  let review: Review | undefined;
  let after = '';
  do {
    try {
      review = undefined;
      await transaction(async (trx) => {
        review = await takeReview(trx, after);
        if (review) await book(trx, review);
      });
    } catch (error) {
      errors.push(error);
    }
    after = review?.runId ?? after;
  } while (review);
  if (errors.length > 0) throw new Error(`${errors.length} missions could not be charged`, { cause: errors[0] });
}

async function book(trx: Transaction, { runId, orgId, isOver }: Review): Promise<void> {
  const ceiling = (await currentPlan(orgId, trx)).missionCeiling * credit;
  await bookMission(trx, { runId, orgId, isOver, cost: await costOfRun(trx, runId), ceiling });
  if (isOver && (await dropModelCalls(trx, runId))) await markCostIncomplete(trx, runId);
}

/**
 * Cancels missions for which the organization has no credits left; their runtimes stop at the next heartbeat. Missions that reserve each
 * model call in advance are not canceled, but wait for credits.
 */
export const stopExhaustedMissions = (): Promise<void> =>
  transaction(async (trx) => {
    for (const { runId, reason } of await takeExhausted(trx, now()))
      await cancelRuns(trx, { id: runId, isMetered: false }, reason);
  });
