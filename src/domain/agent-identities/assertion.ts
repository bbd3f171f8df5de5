// Our own identity assertion: the JWT that a registered agent keeps and exchanges for access tokens, again and again until it
// expires or is outlived. It names the generation of its registration; a claim and a revocation begin a new one (§13.1).
import { randomUUID } from 'node:crypto';
import { addresses } from '#foundation/addresses.ts';
import { isoTime, now } from '#foundation/clock.ts';
import type { Transaction } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';
import { text } from '#limits.ts';
import { holdMembership } from '../memberships/operations.ts';
import { signJwt, verifyOwnJwt } from '../oauth/keys.ts';
import { type Grant, grantOf, Registration, stateOf } from './model.ts';

const typ = 'oauth-id-jag+jwt';

export interface IdentityAssertion {
  assertion: string;
  /** ISO 8601, UTC, with milliseconds. */
  expires: string;
}

/** An assertion of the present generation; with the mail address of the person once there is one. */
export async function mintAssertion(
  { id, generation }: Pick<Registration, 'id' | 'generation'>,
  { expiresAt, email }: { expiresAt: number; email?: string },
): Promise<IdentityAssertion> {
  const { issuer } = addresses();
  const exp = Math.floor(expiresAt / 1_000);
  const assertion = await signJwt(
    {
      iss: issuer,
      sub: id,
      aud: issuer,
      jti: `jti_${randomUUID()}`,
      iat: Math.floor(now() / 1_000),
      exp,
      ver: generation,
      ...(email !== undefined && { email, email_verified: true }),
    },
    { typ },
  );
  return { assertion, expires: isoTime(exp * 1_000) };
}

export interface Presented {
  registrationId: Id<'registration'>;
  generation: number;
}

/** What an assertion of ours says; null for anything else, without a word why. Whether it still counts: `holdRegistration`. */
export async function readAssertion(jwt: string): Promise<Presented | null> {
  const payload = jwt.length <= text.assertion.max ? await verifyOwnJwt(jwt, { typ }) : null;
  if (!payload || !Number.isSafeInteger(payload.ver)) return null;
  return { registrationId: payload.sub as Id<'registration'>, generation: payload.ver as number };
}

/**
 * The registration behind an assertion, kept as it is until the transaction ends, and what it may hand out: the person's grant,
 * or null for an agent that nobody has claimed yet. Undefined when the assertion was outlived or replaced, the registration
 * revoked, the grant over, or the person gone from the organization.
 */
export async function holdRegistration(
  trx: Transaction,
  { registrationId, generation }: Presented,
): Promise<{ registration: Registration; grant: Grant | null } | undefined> {
  const registration = await Registration.query(trx).findOne({ id: registrationId, generation }).forShare();
  if (!registration) return undefined;
  const grant = await standingGrant(trx, registration);
  if (grant) return { registration, grant };
  // Only an anonymous agent is somebody before it is claimed.
  const isAnonymous = registration.kind === 'anonymous' && stateOf(registration, now()) === 'unclaimed';
  return isAnonymous ? { registration, grant } : undefined;
}

/** The grant, as long as it has not ended and its person still belongs to the organization. */
export async function standingGrant(trx: Transaction, registration: Registration): Promise<Grant | null> {
  const grant = grantOf(registration, now());
  return grant && (await holdMembership(trx, grant.orgId, grant.userId)) ? grant : null;
}
