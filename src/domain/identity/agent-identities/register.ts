// Registration: anonymous, for an email address, or with the assertion of a trusted provider (docs/contract.md#agent-registration). The
// first two need no consent and grant nothing: an agent gets a person's grant only through a claim.
import { narrowed } from '#access/authority.ts';
import type { Scope } from '#access/scopes.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { digest, newSecret } from '#foundation/secrets/secrets.ts';
import { lifetimesMs, polling } from '#limits.ts';
import { lockMembership } from '../../organization/memberships/operations.ts';
import { emailAddress, normalizeEmail } from '../../organization/people/email.ts';
import { Person } from '../../organization/people/model.ts';
import { revokeAccessTokens } from '../oauth/access-tokens.ts';
import { type IdentityAssertion, lockValidGrant, mintAssertion } from './assertion.ts';
import { type ClaimCeremony, openAttempt } from './claim.ts';
import { invalidLoginHint } from './errors.ts';
import { verifyIdJag } from './id-jag/verify.ts';
import { type LentGrant, Registration, type RegistrationKind } from './model.ts';

/** Id and claim token; the token is returned only here. */
export interface Claimable {
  registrationId: Id<'registration'>;
  kind: RegistrationKind;
  claimToken: string;
  claimExpiresAt: number;
}

export type AnonymousAgent = Claimable & IdentityAssertion;
export type AgentToBeClaimed = Claimable & { ceremony: ClaimCeremony };

export interface LinkedAgent extends IdentityAssertion {
  registrationId: Id<'registration'>;
  kind: RegistrationKind;
  /** The scopes that the person lent and that the person's role still includes. */
  scopes: Scope[];
}

type Particulars = Pick<Registration, 'kind'> & Partial<Pick<Registration, 'email' | 'issuer' | 'subject'>>;

function draft(agentName: string | undefined, particulars: Particulars) {
  const claimToken = newSecret('clm_', 19);
  const createdAt = now();
  const row = {
    id: newId('registration'),
    agentName: agentName ?? null,
    createdAt,
    claimTokenDigest: digest(claimToken),
    claimExpiresAt: createdAt + lifetimesMs.claimWindow,
    pollInterval: polling.intervalSeconds,
    generation: 1,
    ...particulars,
  };
  return { row, claimToken };
}

const claimable = ({ id, kind }: Pick<Registration, 'id' | 'kind'>, { row, claimToken }: ReturnType<typeof draft>) => ({
  registrationId: id,
  kind,
  claimToken,
  claimExpiresAt: row.claimExpiresAt,
});

/** Registers an anonymous agent. Its assertion expires when the agent can no longer be claimed. */
export async function registerAnonymous(agentName: string | undefined): Promise<AnonymousAgent> {
  const drafted = draft(agentName, { kind: 'anonymous' });
  const assertion = await mintAssertion(drafted.row, { expiresAt: drafted.row.claimExpiresAt });
  await Registration.query().insert(drafted.row);
  return { ...claimable(drafted.row, drafted), ...assertion };
}

/**
 * Registers an agent that names the email address of its person. The existence of the account is not checked, so that nobody learns of
 * it. @throws invalid_login_hint
 */
export async function registerForEmail(
  loginHint: string,
  agentName: string | undefined,
  address: string,
): Promise<AgentToBeClaimed> {
  if (!emailAddress.safeParse(loginHint).success) throw invalidLoginHint('login_hint: must be an email address.');
  const email = normalizeEmail(loginHint);
  const drafted = draft(agentName, { kind: 'service_auth', email });
  const ceremony = await transaction(async (trx) => {
    await Registration.insert(trx, drafted.row);
    return openAttempt(trx, drafted.row, { email, address });
  });
  return { ...claimable(drafted.row, drafted), ceremony };
}

/**
 * Registers an agent with an ID-JAG. For a provider's user that a person has linked, returns an assertion of this service, valid for one
 * hour. Any other agent, even with the email address of an account, has to be claimed first (docs/contract.md#agent-registration). A
 * provider's user has one registration; a new claim token replaces the previous one.
 * @throws AgentAuthError of the first check that fails
 */
export async function registerWithIdJag(
  jwt: string,
  agentName: string | undefined,
  address: string,
): Promise<LinkedAgent | AgentToBeClaimed> {
  const { issuer, subject, email } = await verifyIdJag(jwt);
  const drafted = draft(agentName, { kind: 'identity_assertion', issuer, subject, email });
  return transaction(async (trx) => {
    const registration = await ensureRegistration(trx, drafted.row);
    const grant = await lockValidGrant(trx, registration);
    if (grant) return answerLinked(trx, registration, grant);
    if (registration.claimedAt !== null) await dropGrant(trx, registration);
    const { claimTokenDigest, claimExpiresAt } = drafted.row;
    const name = drafted.row.agentName ?? registration.agentName;
    await Registration.patch(
      trx,
      { id: registration.id },
      { email, agentName: name, claimTokenDigest, claimExpiresAt },
    );
    const ceremony = await openAttempt(trx, { id: registration.id, claimExpiresAt }, { email, address });
    return { ...claimable(registration, drafted), ceremony };
  });
}

/**
 * Locks and returns the registration of a provider's user. If several assertions of a new user arrive at once, only one of them inserts the
 * registration.
 */
async function ensureRegistration(trx: Transaction, row: ReturnType<typeof draft>['row']): Promise<Registration> {
  const { issuer, subject } = row;
  for (;;) {
    await Registration.query(trx).insert(row).onConflict().ignore();
    const registration = await Registration.lock(trx, { issuer, subject, revokedAt: null });
    // The registration is absent if it was revoked between the two statements; the next iteration inserts a new one.
    if (registration) return registration;
  }
}

async function answerLinked(trx: Transaction, registration: Registration, grant: LentGrant): Promise<LinkedAgent> {
  const { userId, orgId, grantExpiresAt } = grant;
  const { email } = (await Person.find({ id: userId }, trx))!;
  const { role } = (await lockMembership(trx, orgId, userId))!;
  const expiresAt = Math.min(now() + lifetimesMs.linkedAssertion, grantExpiresAt);
  const assertion = await mintAssertion(registration, { expiresAt, email });
  const { id, kind } = registration;
  return { registrationId: id, kind, scopes: [...narrowed(grant.scopes, role)], ...assertion };
}

/** Drops an expired grant: a person must claim the agent again, and no earlier token becomes valid. */
async function dropGrant(trx: Transaction, { id, generation }: Registration): Promise<void> {
  await revokeAccessTokens(trx, { registrationId: id });
  await Registration.patch(
    trx,
    { id },
    {
      generation: generation + 1,
      claimedAt: null,
      collectedAt: null,
      userId: null,
      orgId: null,
      projectId: null,
      scopes: null,
      grantExpiresAt: null,
    },
  );
}
