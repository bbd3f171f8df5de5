// Queue of missions to review: missions with a changed cost or state (queued by database triggers), and missions that have used up their
// credits.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { isWritableSql } from '../../organization/cells/state.ts';

const hasReviewsSql = 'select from credit_reviews limit 1';

// A transaction that reports a cost locks the row, so the row is skipped until the cost is committed.
const takeReviewSql = `delete from credit_reviews where run_id = (
    select run_id from credit_reviews where run_id > $1 and ${isWritableSql('credit_reviews.org_id')} order by run_id limit 1 for update skip locked
  ) returning run_id, org_id, is_over`;

export interface Review {
  runId: string;
  orgId: string;
  isOver: boolean;
}

export const hasReviews = async (): Promise<boolean> => (await sql(hasReviewsSql)).length > 0;

/** Deletes and returns the next review, in the order of run ids, after the given run id. */
export const takeReview = async (trx: Transaction, after: string): Promise<Review | undefined> =>
  (await sql<Review>(takeReviewSql, [after], trx))[0];

const isReviewedSql = 'select exists (select from credit_reviews where org_id = $1) as is_reviewed';

/** Whether the organization has missions that are not booked yet. */
export const hasUnbookedMissions = async (trx: Transaction, orgId: string): Promise<boolean> =>
  (await sql<{ isReviewed: boolean }>(isReviewedSql, [orgId], trx))[0]!.isReviewed;

const reviewExhaustedSql = `insert into credit_reviews (run_id, org_id, is_over)
  select run_id, org_id, false from credit_exhaustions where org_id = $1 order by run_id on conflict (run_id) do nothing`;

/** New credits have arrived, so the missions that had used up the organization's credits are queued to be reviewed again. */
export const reviewExhausted = (trx: Transaction, orgId: string): Promise<unknown> =>
  sql(reviewExhaustedSql, [orgId], trx);

const recordExhaustedSql = `insert into credit_exhaustions (run_id, org_id, reason, at) values ($1, $2, $3, $4)
  on conflict (run_id) do nothing`;

export interface Exhausted {
  runId: string;
  orgId: string;
  reason: string;
  at: number;
}

/** Records that the credits for the mission are used up; a repeated call keeps the time of the first call. */
export const recordExhausted = (trx: Transaction, { runId, orgId, reason, at }: Exhausted): Promise<unknown> =>
  sql(recordExhaustedSql, [runId, orgId, reason, at], trx);

export const forgetExhausted = (trx: Transaction, runId: string): Promise<unknown> =>
  sql('delete from credit_exhaustions where run_id = $1', [runId], trx);

const takeExhaustedSql = `delete from credit_exhaustions where run_id in (
    select run_id from credit_exhaustions where at <= $1 and ${isWritableSql('credit_exhaustions.org_id')} order by at limit 50 for update skip locked
  ) returning run_id, reason`;

/** Removes from the queue, and returns, the missions whose credits were used up at or before the given time. */
export const takeExhausted = (trx: Transaction, since: number): Promise<Pick<Exhausted, 'runId' | 'reason'>[]> =>
  sql(takeExhaustedSql, [since], trx);
