// The claim grant: an agent polls until its person has decided (docs/contract.md#claims; RFC 8628 §3.4 and §3.5). The tokens of a claim can
// be collected once: only one of several concurrent polls gets them.

import type { RequestSource } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { polling } from '#limits.ts';
import { Person } from '../../../organization/people/model.ts';
import { issueAccessToken } from '../../oauth/access-tokens.ts';
import { requireGrantAddress } from '../../oauth/denied-address.ts';
import {
  accessDenied,
  authorizationPending,
  expiredToken,
  invalidGrant,
  OAuthError,
  slowDown,
} from '../../oauth/errors.ts';
import { agentResourceOf, type Resource } from '../../oauth/resources.ts';
import { type GrantHandler, required, type TokenResponse } from '../../oauth/token-request.ts';
import { lockValidGrant, mintAssertion } from '../assertion.ts';
import { ClaimAttempt, collectionEndsAt, isSpent, Registration } from '../model.ts';

/** Tolerance for early polls, because the clocks of both sides differ. */
const earlyToleranceMs = 500;

const requestNewCode = 'Request a new one at the claim endpoint.';

export const claim: GrantHandler = async (parameters, source) => {
  const claimTokenDigest = digest(required(parameters, 'claim_token'));
  const resource = agentResourceOf(parameters.resource);
  // An error is returned, not thrown, so that the transaction commits and the poll is counted.
  const outcome = await transaction(async (trx) => {
    const registration = await Registration.lock(trx, { claimTokenDigest });
    if (!registration) return invalidGrant('The claim token is unknown.');
    if (registration.revokedAt !== null || collectionEndsAt(registration) <= now()) {
      return expiredToken('The registration was revoked, or has expired. Register again.');
    }
    if (registration.collectedAt !== null) return invalidGrant('The claim token was used.');
    if (registration.claimedAt !== null) return collect(trx, registration, resource, source);
    return refuseWaiting(trx, registration);
  });
  if (outcome instanceof OAuthError) throw outcome;
  return outcome;
};

async function collect(
  trx: Transaction,
  registration: Registration,
  resource: Resource,
  source: RequestSource,
): Promise<TokenResponse | OAuthError> {
  // The grant is read again, because the person may have left the organization since the approval.
  const grant = await lockValidGrant(trx, registration);
  if (!grant) return invalidGrant('The grant of the person has ended.');
  await requireGrantAddress(trx, source, { ...grant, id: registration.id, name: registration.agentName });
  const { scopes, grantExpiresAt, userId } = grant;
  await Registration.patch(trx, { id: registration.id }, { collectedAt: now() });
  const issued = await issueAccessToken(trx, {
    owner: { registrationId: registration.id },
    resource,
    scopes,
    grantExpiresAt,
  });
  const { email } = (await Person.find({ id: userId }, trx))!;
  const { assertion, expires } = await mintAssertion(registration, { expiresAt: grantExpiresAt, email });
  return {
    access_token: issued.accessToken,
    token_type: 'Bearer',
    expires_in: issued.expiresIn,
    scope: issued.scope,
    identity_assertion: assertion,
    assertion_expires: expires,
  };
}

async function refuseWaiting(trx: Transaction, registration: Registration): Promise<OAuthError> {
  const { id, pollInterval, lastPolledAt } = registration;
  const at = now();
  const attempt = await ClaimAttempt.query(trx).findOne({ registrationId: id, supersededAt: null });
  if (attempt && attempt.deniedAt !== null) return accessDenied('The person denied the claim.');
  if (attempt && isSpent(attempt, at)) return expiredToken(`The code has expired or was locked. ${requestNewCode}`);
  const isEarly = lastPolledAt !== null && at - lastPolledAt < pollInterval * 1_000 - earlyToleranceMs;
  // The longer interval applies to this and all later polls (RFC 8628 §3.5).
  const interval = isEarly ? pollInterval + polling.slowDownSeconds : pollInterval;
  await Registration.patch(trx, { id }, { lastPolledAt: at, pollInterval: interval });
  if (isEarly) return slowDown(`Wait ${interval} seconds between polls.`);
  return authorizationPending(attempt ? 'The person has not decided yet.' : 'No claim has been started yet.');
}
