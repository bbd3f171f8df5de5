// People follow and unfollow runs. Attempts at one task are followed together, and a run that continues a followed run is followed, too.
import type { Caller } from '#access/principal.ts';
import { ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import type { PersonIn } from '../../organization/memberships/model.ts';
import { lockOwnMembership } from '../../organization/memberships/operations.ts';
import { RunFollower } from './follower-model.ts';
import type { Run } from './model.ts';
import { findRun, readRun } from './operations.ts';

/** SQL condition that the person follows the run. */
export const isFollowedSql = (runId: string, userId: string): string =>
  `exists (select from run_followers f where f.run_id = ${runId} and f.user_id = ${userId})`;

/** SQL for the followers of a run, with `user_id` and `created_at`. */
export const followersSql = (runId: string): string =>
  `select f.user_id, f.created_at from run_followers f where f.run_id = ${runId}`;

const togetherSql = 'select id from runs where id = $1 or attempt_group_id = $2';
const followSql = `insert into run_followers (run_id, user_id, org_id, created_at)
  select id, $3, $4, $5 from (${togetherSql}) r on conflict do nothing`;
const unfollowSql = `delete from run_followers where user_id = $3 and run_id in (${togetherSql})`;

/** Makes the caller's person follow the run; a repeated call changes nothing. @throws 404 */
export async function startFollowing(caller: Caller, runId: string): Promise<Run> {
  await transaction(async (trx) => {
    // Both this transaction and the removal of a member, which also deletes followers, lock the membership first and the run afterwards. With the
    // same order in both, they cannot block each other.
    const { userId, orgId } = await lockOwnMembership(trx, caller);
    const { id, attemptGroupId } = await readRun(trx, caller, runId);
    await sql(followSql, [id, attemptGroupId, userId, orgId, now()], trx);
    await announce(trx, userId);
  });
  return findRun(caller, runId);
}

/** Makes the caller's person unfollow the run. @throws 404 for the run */
export async function stopFollowing(caller: Caller, runId: string): Promise<Run> {
  const userId = ownPerson(caller);
  await transaction(async (trx) => {
    const { id, attemptGroupId } = await readRun(trx, caller, runId);
    await sql(unfollowSql, [id, attemptGroupId, userId], trx);
    await announce(trx, userId);
  });
  return findRun(caller, runId);
}

/** The entries that say which of these runs the caller's person follows. */
export const followedOf = async (runIds: readonly string[], { userId }: Caller): Promise<RunFollower[]> =>
  userId === null ? [] : RunFollower.findByKeys('runId', runIds, { userId });

/** Lets the followers of a run follow the run that continues it. */
export const keepFollowers = async (trx: Transaction, before: Run['id'], runId: Run['id']): Promise<void> => {
  const copySql = `insert into run_followers (run_id, user_id, org_id, created_at)
    select $2, user_id, org_id, $3 from run_followers where run_id = $1`;
  await sql(copySql, [before, runId, now()], trx);
};

/** Makes a removed person unfollow all runs. */
export const unfollowAll = async (trx: Transaction, { userId, orgId }: PersonIn): Promise<void> => {
  await RunFollower.query(trx)
    .where({ userId, ...(orgId && { orgId }) })
    .delete();
};
