// Books what missions cost and settles those that have ended, and ends missions whose cost has used up the credits. Both are jobs of the
// scheduler, safe to run in several processes at once.
import { minutes, now, seconds } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { currentPlan } from '../../money/billing/operations.ts';
import { credit } from '../../money/credits/amounts.ts';
import { bookMission } from '../../money/credits/missions.ts';
import { hasReviews, type Review, takeExhausted, takeReview } from '../../money/credits/reviews.ts';
import { costOfRun } from '../../work/mission-costs/ledger.ts';
import { cancelRuns } from '../../work/runs/finish.ts';

let graceMs = minutes(2);

/** Binds how long a mission continues after it has used up the credits (CREDITS_GRACE_SECONDS). */
export function bindCreditsGrace(graceSeconds: number): void {
  graceMs = seconds(graceSeconds);
}

/** @throws after all were tried, when one failed; that one is tried again at the next call */
export async function settleMissions(): Promise<void> {
  // Mostly there is nothing to do, every second: a transaction takes three statements and much more memory.
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
  if (errors.length > 0) throw new Error(`${errors.length} missions could not be booked`, { cause: errors[0] });
}

const book = async (trx: Transaction, { runId, orgId, isOver }: Review): Promise<void> =>
  bookMission(trx, {
    runId,
    orgId,
    isOver,
    cost: await costOfRun(trx, runId),
    ceiling: (await currentPlan(orgId, trx)).missionCeiling * credit,
  });

/** Cancels missions whose credits have been exhausted for longer than the grace: their runtimes stop at the next heartbeat. */
export const stopExhaustedMissions = (): Promise<void> =>
  transaction(async (trx) => {
    for (const { runId, reason } of await takeExhausted(trx, now() - graceMs))
      await cancelRuns(trx, { id: runId }, reason);
  });
