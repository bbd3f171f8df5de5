// Refuses grants that are used from a network address that their organization does not allow. Nothing is consumed: the same code or token
// works from an allowed address.
import { type RefusedCredential, refuseAddress } from '#access/allowed-addresses.ts';
import type { RequestSource } from '#access/principal.ts';
import { plainAddress } from '#foundation/http/network.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { allowsAddress } from '../../organization/organizations/allowed-networks.ts';
import { OAuthError } from './errors.ts';

/**
 * The error for a refused address, which is also noted for the audit log. It has the status 403 and is not `invalid_grant`, because clients discard
 * their tokens after `invalid_grant`.
 */
export const deniedAddress = (source: RequestSource, credential: RefusedCredential): OAuthError =>
  new OAuthError(403, 'access_denied', refuseAddress(source, credential).body.description);

/** Checks that the organization of a grant allows the address of the request. @throws OAuthError */
export async function requireGrantAddress(
  trx: Transaction,
  source: RequestSource,
  credential: RefusedCredential,
): Promise<void> {
  if (!(await allowsAddress(trx, credential.orgId, plainAddress(source.address))))
    throw deniedAddress(source, credential);
}
