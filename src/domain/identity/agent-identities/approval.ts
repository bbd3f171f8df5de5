// A claim from the person's side: the data of the page, and the decision (docs/contract.md#claim-page). Only the account that the attempt
// names can see and decide it, and the approval lends no more than the person's role includes.

import { days, now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, forbidden, Problem, unauthenticated } from '#foundation/problem.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import type { Person } from '../../organization/people/model.ts';
import { lendChosen } from '../credentials/lend.ts';
import { revokeAccessTokens } from '../oauth/access-tokens.ts';
import { trustedIssuer } from './id-jag/issuers.ts';
import { ClaimAttempt, isSpent, Registration, type RegistrationKind, stateOf } from './model.ts';
import { tryUserCode } from './user-code.ts';

type Claimant = Pick<Person, 'id' | 'email'>;

const gone = (description: string) =>
  new Problem(410, {
    category: 'validation',
    title: 'Claim no longer open',
    description,
    retryable: false,
    code: 'gone',
  });

const requestNewCode = 'Have the agent request a new code.';

interface Claim {
  attempt: ClaimAttempt;
  registration: Registration;
}

const currentAttempt = (attemptToken: string) => ({ tokenDigest: digest(attemptToken), supersededAt: null });

/** Finds the claim for a verification URL. @throws 404 for an unknown or superseded attempt */
async function findClaim(attemptToken: string): Promise<Claim> {
  const attempt = await ClaimAttempt.get(currentAttempt(attemptToken));
  return { attempt, registration: await Registration.get({ id: attempt.registrationId }) };
}

/** Locks the registration and then the attempt, in the order that all code uses to prevent deadlocks. */
async function lockClaim(trx: Transaction, attemptToken: string): Promise<Claim> {
  const found = (await ClaimAttempt.find(currentAttempt(attemptToken), trx)) ?? ClaimAttempt.refuse();
  const registration = await Registration.lock(trx, { id: found.registrationId });
  const attempt = await ClaimAttempt.lock(trx, currentAttempt(attemptToken));
  return registration && attempt ? { registration, attempt } : ClaimAttempt.refuse();
}

/** Checks that the person may still approve or deny the claim. @throws 410 for a claim that has ended, 403 for another account */
function refuseUnlessOpen({ attempt, registration }: Claim, person: Claimant): void {
  const at = now();
  const state = stateOf(registration, at);
  if (state === 'revoked') throw gone('This agent was revoked.');
  if (attempt.deniedAt !== null) throw gone(`You denied this claim. ${requestNewCode}`);
  if (state === 'expired') throw gone('The 24 hours in which this agent could be claimed have passed.');
  if (isSpent(attempt, at)) {
    throw gone(`The code of this claim has expired, or is locked after five wrong codes. ${requestNewCode}`);
  }
  if (attempt.email !== person.email) {
    throw forbidden('This claim is for another account. Sign in with the email address that the agent was given.');
  }
}

export interface OpenClaim {
  /** The name that the agent gave itself; any text. */
  agentName: string | null;
  kind: RegistrationKind;
  registeredAt: number;
  codeExpiresAt: number;
  /** The network address from which this code was requested; null when unknown. */
  address: string | null;
  /** The provider that vouches for the agent, by its name in the trust list. */
  providerName: string | null;
  /** Whether the person has never claimed an agent before. */
  isFirstAgent: boolean;
  /** Whether the person has never claimed an agent of this provider before. */
  isFirstOfProvider: boolean;
}

/**
 * The data of the claim page for this person; `claimed` for an agent that has already been claimed.
 * @throws 404 for an unknown or superseded attempt, 410 for one that ended, 403 for another account
 */
export async function claimPageState(attemptToken: string, person: Claimant): Promise<OpenClaim | 'claimed'> {
  const claim = await findClaim(attemptToken);
  const { attempt, registration } = claim;
  if (stateOf(registration, now()) === 'claimed') return 'claimed';
  refuseUnlessOpen(claim, person);
  const { agentName, kind, createdAt, issuer } = registration;
  const claimed = await Registration.query().select('issuer').distinct().where({ userId: person.id });
  return {
    agentName,
    kind,
    registeredAt: createdAt,
    codeExpiresAt: attempt.expiresAt,
    address: attempt.address,
    providerName: issuer && (trustedIssuer(issuer)?.displayName ?? new URL(issuer).host),
    isFirstAgent: claimed.length === 0,
    isFirstOfProvider: issuer !== null && !claimed.some((other) => other.issuer === issuer),
  };
}

export interface Denial {
  attemptToken: string;
  person: Claimant;
}

export interface ClaimApproval extends Denial {
  userCode: string;
  orgId: string;
  projectId: string | null;
  isOrgOnly: boolean | undefined;
  scopes: readonly string[];
  expiresInDays: number;
}

/**
 * Locks a claim, and checks that the person is allowed to approve or deny it. @throws as `claimPageState`, and 409 when the agent has been
 * claimed in the meantime
 */
async function lockOpenClaim(trx: Transaction, { attemptToken, person }: Denial): Promise<Claim> {
  const claim = await lockClaim(trx, attemptToken);
  if (stateOf(claim.registration, now()) === 'claimed') throw conflict('This agent has already been claimed.');
  refuseUnlessOpen(claim, person);
  return claim;
}

/** Denies the claim; the agent may start another claim. @throws the errors of `approveClaim`, except those for a wrong code or invalid scopes */
export const denyClaim = (denial: Denial): Promise<void> =>
  transaction(async (trx) => {
    const { attempt } = await lockOpenClaim(trx, denial);
    await ClaimAttempt.patch(trx, { id: attempt.id }, { deniedAt: now() });
  });

/**
 * Approves the claim with the code that the agent showed. Revokes every token and assertion that the agent had, and lends those of the
 * chosen scopes that the person's role includes. This also links a user of an identity provider to the person.
 * @throws 404, 410 and 403 as `claimPageState`; 409 when the agent has been claimed in the meantime; 401 for a wrong code; the errors of
 * `lendChosen`
 */
export async function approveClaim(approval: ClaimApproval): Promise<void> {
  // A wrong code is returned, not thrown, so that the transaction commits the increased number of wrong codes.
  const isRight = await transaction(async (trx) => {
    const { attempt, registration } = await lockOpenClaim(trx, approval);
    // The scopes are checked before the code, so that an invalid choice does not count as a wrong code.
    const lent = await lendChosen(trx, { ...approval, userId: approval.person.id }, approval.scopes);
    if (!(await tryUserCode(trx, attempt, approval.userCode))) return false;
    const claimedAt = now();
    await revokeAccessTokens(trx, { registrationId: registration.id });
    await ClaimAttempt.patch(trx, { id: attempt.id }, { completedAt: claimedAt });
    await Registration.patch(
      trx,
      { id: registration.id },
      {
        ...lent,
        grantExpiresAt: claimedAt + days(approval.expiresInDays),
        claimedAt,
        generation: registration.generation + 1,
      },
    );
    return true;
  });
  if (!isRight) throw unauthenticated('That code doesn’t match. The request locks after five wrong codes.');
}
