// Ends the credentials of a person who is removed from an organization or disabled (off-boarding).
import type { Transaction } from '#foundation/postgres/database.ts';
import { revokeRegistrationsOf } from '../../identity/agent-identities/revoke.ts';
import { spendCodesOf } from '../../identity/oauth/codes.ts';
import { endSignInsOf } from '../../identity/oauth/sign-ins.ts';
import { revokeTokensOf } from '../../identity/tokens/operations.ts';
import type { PersonIn } from '../../organization/memberships/model.ts';
import { disableRecurringOf } from '../../work/recurring/operations.ts';
import { returnHandedRuns } from '../../work/runs/decisions.ts';
import { unfollowAll } from '../../work/runs/followers.ts';

/**
 * Permanently ends all credentials that act for the person: tokens, authorization codes, sign-ins, claimed agents. Also disables recurring
 * missions that are billed to the person, returns missions that were handed over to the person, and makes the person unfollow all runs.
 * The membership or the person must be locked.
 */
export async function endAuthority(trx: Transaction, person: PersonIn): Promise<void> {
  await revokeTokensOf(trx, person);
  await spendCodesOf(trx, person);
  await endSignInsOf(trx, person);
  await revokeRegistrationsOf(trx, person);
  await disableRecurringOf(trx, person);
  await returnHandedRuns(trx, person);
  await unfollowAll(trx, person);
}
