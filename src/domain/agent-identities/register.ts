// Registration: anonymous, for a mail address, or with the assertion of a trusted provider (specification, Authentication 5).
// The first two need nobody's consent and give nothing; what a person lends comes with the claim.
import { narrowed } from '#access/authority.ts';
import type { Scope } from '#access/scopes.ts';
import { now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { digest, newSecret } from '#foundation/secrets.ts';
import { lifetimes, polling } from '#limits.ts';
import { Membership } from '../memberships/model.ts';
import { revokeAccessTokens } from '../oauth/access-tokens.ts';
import { mailAddress, normalAddress } from '../people/mail-address.ts';
import { Person } from '../people/model.ts';
import { type IdentityAssertion, mintAssertion, standingGrant } from './assertion.ts';
import { type Ceremony, openAttempt } from './claim.ts';
import { invalidLoginHint } from './fault.ts';
import { verifyIdJag } from './id-jag/verify.ts';
import { type Grant, Registration, type RegistrationKind } from './model.ts';

/** What a claim needs; the token is shown here and never again. */
export interface Claimable {
  registrationId: Id<'registration'>;
  kind: RegistrationKind;
  claimToken: string;
  claimExpiresAt: number;
}

export type AnonymousAgent = Claimable & IdentityAssertion;
export type AgentToBeClaimed = Claimable & { ceremony: Ceremony };

export interface LinkedAgent extends IdentityAssertion {
  registrationId: Id<'registration'>;
  kind: RegistrationKind;
  /** What the person lent and their role still holds. */
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
    claimExpiresAt: createdAt + lifetimes.claimWindow,
    pollInterval: polling.interval,
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

/** An agent that nobody vouches for. Its assertion is good until the time to claim it is over. */
export async function registerAnonymous(agentName: string | undefined): Promise<AnonymousAgent> {
  const made = draft(agentName, { kind: 'anonymous' });
  const assertion = await mintAssertion(made.row, { expiresAt: made.row.claimExpiresAt });
  await Registration.query().insert(made.row);
  return { ...claimable(made.row, made), ...assertion };
}

/**
 * An agent that knows the mail address of its person. Whether there is such an account is not looked at, so that nobody learns of
 * it. @throws invalid_login_hint
 */
export async function registerForEmail(
  loginHint: string,
  agentName: string | undefined,
  address: string,
): Promise<AgentToBeClaimed> {
  if (!mailAddress.safeParse(loginHint).success) throw invalidLoginHint('login_hint: must be a mail address.');
  const email = normalAddress(loginHint);
  const made = draft(agentName, { kind: 'service_auth', email });
  const ceremony = await transaction(async (trx) => {
    await Registration.query(trx).insert(made.row);
    return openAttempt(trx, made.row, { email, address });
  });
  return { ...claimable(made.row, made), ceremony };
}

/**
 * An agent with an ID-JAG. For a provider's user whom a person has linked: an assertion of ours, for an hour. For any other, also
 * one with the mail address of an account: a claim, as long as it takes (§15.1, step 15). There is one registration per provider's
 * user; a new claim token replaces the one before.
 * @throws AgentAuthFault of the first of the checks that fails
 */
export async function registerWithIdJag(
  jwt: string,
  agentName: string | undefined,
  address: string,
): Promise<LinkedAgent | AgentToBeClaimed> {
  const { issuer, subject, email } = await verifyIdJag(jwt);
  const made = draft(agentName, { kind: 'identity_assertion', issuer, subject, email });
  return transaction(async (trx) => {
    const registration = await ensureRegistration(trx, made.row);
    const grant = await standingGrant(trx, registration);
    if (grant) return answerLinked(trx, registration, grant);
    if (registration.claimedAt !== null) await dropGrant(trx, registration);
    const { claimTokenDigest, claimExpiresAt } = made.row;
    const name = made.row.agentName ?? registration.agentName;
    await Registration.query(trx)
      .findById(registration.id)
      .patch({ email, agentName: name, claimTokenDigest, claimExpiresAt });
    const ceremony = await openAttempt(trx, { id: registration.id, claimExpiresAt }, { email, address });
    return { ...claimable(registration, made), ceremony };
  });
}

/** The one registration of a provider's user, locked. Of several first presentations at once one makes it. */
async function ensureRegistration(trx: Transaction, row: ReturnType<typeof draft>['row']): Promise<Registration> {
  const { issuer, subject } = row;
  for (;;) {
    await Registration.query(trx).insert(row).onConflict().ignore();
    const registration = await Registration.query(trx).findOne({ issuer, subject, revokedAt: null }).forUpdate();
    // None when it was revoked between the two statements: then there is room for a new one.
    if (registration) return registration;
  }
}

async function answerLinked(trx: Transaction, registration: Registration, grant: Grant): Promise<LinkedAgent> {
  const { userId, orgId, grantExpiresAt } = grant;
  const { email } = (await Person.query(trx).findById(userId))!;
  const { role } = (await Membership.query(trx).findById([orgId, userId]))!;
  const expiresAt = Math.min(now() + lifetimes.linkedAssertion, grantExpiresAt);
  const assertion = await mintAssertion(registration, { expiresAt, email });
  const { id, kind } = registration;
  return { registrationId: id, kind, scopes: [...narrowed(grant.scopes, role)], ...assertion };
}

/** What was lent has ended by itself: the person is asked again, and nothing of before comes back to life. */
async function dropGrant(trx: Transaction, { id, generation }: Registration): Promise<void> {
  await revokeAccessTokens(trx, { registrationId: id });
  await Registration.query(trx)
    .findById(id)
    .patch({
      generation: generation + 1,
      claimedAt: null,
      collectedAt: null,
      userId: null,
      orgId: null,
      projectId: null,
      scopes: null,
      grantExpiresAt: null,
    });
}
