// A claim from the person's side: what the page shows, and the decision (agent authentication §6). Only the account that the
// attempt names gets to see or to decide anything; what it lends is never more than it holds itself.
import { narrowed, requireFewScopes } from '#access/authority.ts';
import { days, now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';
import { conflict, forbidden, invalid, notFound, Problem, unauthenticated } from '#foundation/problem.ts';
import { digest } from '#foundation/secrets.ts';
import { holdMembership } from '../memberships/operations.ts';
import { revokeAccessTokens } from '../oauth/access-tokens.ts';
import type { Person } from '../people/model.ts';
import { Project } from '../projects/model.ts';
import { trustedIssuer } from './id-jag/issuers.ts';
import { ClaimAttempt, isSpent, Registration, type RegistrationKind, stateOf } from './model.ts';
import { tryUserCode } from './user-code.ts';

type Claimant = Pick<Person, 'id' | 'email'>;

const gone = (description: string) =>
  new Problem(410, { category: 'validation', title: 'No longer open', description, retryable: false, code: 'gone' });

const askAnew = 'Have the agent ask for a new code.';

interface Claim {
  attempt: ClaimAttempt;
  registration: Registration;
}

/** The attempt behind a token of a verification address. 404: unknown, or a later attempt took its place. */
async function findClaim(attemptToken: string, trx?: Transaction): Promise<Claim> {
  const tokenDigest = digest(attemptToken);
  const found = await ClaimAttempt.query(trx).findOne({ tokenDigest, supersededAt: null });
  if (!found) throw notFound('claim');
  if (!trx) return { attempt: found, registration: (await Registration.query().findById(found.registrationId))! };
  // The registration first, as everywhere: whoever else works on this claim waits.
  const registration = await Registration.query(trx).findById(found.registrationId).forUpdate();
  const attempt = await ClaimAttempt.query(trx).findOne({ tokenDigest, supersededAt: null }).forUpdate();
  if (!registration || !attempt) throw notFound('claim');
  return { attempt, registration };
}

/** @throws 410 for a claim that has ended, 403 for another account */
function refuseUnlessOpen({ attempt, registration }: Claim, person: Claimant): void {
  const at = now();
  const state = stateOf(registration, at);
  if (state === 'revoked') throw gone('This agent was revoked.');
  if (attempt.deniedAt !== null) throw gone(`You denied this claim. ${askAnew}`);
  if (state === 'expired') throw gone('The 24 hours in which this agent could be claimed are over.');
  if (isSpent(attempt, at)) {
    throw gone(`The code of this claim has expired, or was locked after five wrong ones. ${askAnew}`);
  }
  if (attempt.email !== person.email) {
    throw forbidden('This claim is for another account. Sign in with the email that the agent was given.');
  }
}

export interface OpenClaim {
  /** The agent's own words: anything may stand there. */
  agentName: string | null;
  kind: RegistrationKind;
  registeredAt: number;
  codeExpiresAt: number;
  /** The network address that asked for this code; null when it is not known. */
  address: string | null;
  /** As the trust list calls the provider that vouches for the agent. */
  providerName: string | null;
  /** Whether the person has never claimed an agent before. */
  isFirstAgent: boolean;
  /** Whether the person has never claimed one of this provider before. */
  isFirstOfProvider: boolean;
}

/**
 * What the claim page shows this person; `claimed` when that is done already.
 * @throws 404 for an unknown or replaced attempt, 410 for one that ended, 403 for another account
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

export interface Approval extends Denial {
  userCode: string;
  orgId: string;
  projectId: string | null;
  scopes: readonly string[];
  expiresInDays: number;
}

/** The claim, locked, with 409 for one that was decided the other way meanwhile. */
async function holdOpenClaim(trx: Transaction, { attemptToken, person }: Denial): Promise<Claim> {
  const claim = await findClaim(attemptToken, trx);
  if (stateOf(claim.registration, now()) === 'claimed') throw conflict('This agent has been claimed already.');
  refuseUnlessOpen(claim, person);
  return claim;
}

/** The person says no; the agent may ask again. @throws as `approveClaim`, but for the code and the access */
export const denyClaim = (denial: Denial): Promise<void> =>
  transaction(async (trx) => {
    const { attempt } = await holdOpenClaim(trx, denial);
    await ClaimAttempt.query(trx).findById(attempt.id).patch({ deniedAt: now() });
  });

/**
 * The person says yes, with the code that the agent showed; all of it or nothing. It ends every token that the agent had, outlives
 * its assertion, and lends what was chosen and the person's role holds; for a provider's user it also is the link.
 * @throws 404, 410 and 403 as `claimPageState`; 409 when the agent was claimed meanwhile; 404 for an organization or a project of
 * others; 400 when no access or too much is chosen; 401 for a wrong code
 */
export async function approveClaim(approval: Approval): Promise<void> {
  // A wrong code is given back, not thrown: that it was counted has to stand.
  const isRight = await transaction(async (trx) => {
    const { attempt, registration } = await holdOpenClaim(trx, approval);
    // Before the code: what else is wrong costs no try.
    const grant = await grantFrom(trx, approval);
    if (!(await tryUserCode(trx, attempt, approval.userCode))) return false;
    const claimedAt = now();
    await revokeAccessTokens(trx, { registrationId: registration.id });
    await ClaimAttempt.query(trx).findById(attempt.id).patch({ completedAt: claimedAt });
    await Registration.query(trx)
      .findById(registration.id)
      .patch({ ...grant, claimedAt, generation: registration.generation + 1 });
    return true;
  });
  if (!isRight) throw unauthenticated('That code doesn’t match. The request locks after five wrong codes.');
}

async function grantFrom(trx: Transaction, { person, orgId, projectId, scopes, expiresInDays }: Approval) {
  const membership = await holdMembership(trx, orgId, person.id);
  if (!membership) throw notFound('organization');
  // Held until the grant stands: a project that is deleted meanwhile takes the registration with it.
  if (projectId && !(await Project.query(trx).select('id').findOne({ id: projectId, orgId }).forKeyShare())) {
    throw notFound('project');
  }
  const held: string[] = [...narrowed([...new Set(scopes)], membership.role)];
  if (held.length === 0) throw invalid('scopes: choose at least one kind of access that your role holds, or deny.');
  requireFewScopes(held);
  return {
    userId: person.id,
    orgId: membership.orgId,
    projectId: projectId as Id<'project'> | null,
    scopes: held,
    grantExpiresAt: now() + days(expiresInDays),
  };
}
