// The service's identity assertion: the JWT that a registered agent exchanges for access tokens, repeatedly, until it expires or is
// superseded. It contains the generation of its registration; a claim or a revocation begins a new generation
// (docs/contract.md#assertions).
import { randomUUID } from 'node:crypto';
import { isoTime, now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import type { Id } from '#foundation/ids.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { text } from '#limits.ts';
import { lockMembership } from '../../organization/memberships/operations.ts';
import { signJwt, verifyOwnJwt } from '../oauth/keys.ts';
import { type LentGrant, lentGrantOf, Registration, stateOf } from './model.ts';

const typ = 'oauth-id-jag+jwt';

export interface IdentityAssertion {
  assertion: string;
  /** When the assertion expires: ISO 8601, UTC, with milliseconds. */
  expires: string;
}

/**
 * Signs an assertion that is valid until the agent's generation increases. If the agent is claimed, the assertion contains the email
 * address of the person.
 */
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

/** The content of an assertion signed by this service; null for anything else. `lockRegistration` checks whether it is still valid. */
export async function readAssertion(jwt: string): Promise<Presented | null> {
  const payload = jwt.length <= text.assertion.max ? await verifyOwnJwt(jwt, { typ }) : null;
  if (!payload || !Number.isSafeInteger(payload.ver)) return null;
  return { registrationId: payload.sub as Id<'registration'>, generation: payload.ver as number };
}

/**
 * The registration of an assertion, locked until the transaction ends, and the person's grant, which is null for an unclaimed agent.
 * Undefined when the assertion was superseded, the registration was revoked, the grant has ended, or the person has left the organization.
 */
export async function lockRegistration(
  trx: Transaction,
  { registrationId, generation }: Presented,
): Promise<{ registration: Registration; grant: LentGrant | null } | undefined> {
  const registration = await Registration.query(trx).findOne({ id: registrationId, generation }).forShare();
  if (!registration) return undefined;
  const grant = await lockValidGrant(trx, registration);
  if (grant) return { registration, grant };
  // An unclaimed agent gets tokens only if it is anonymous.
  const isAnonymous = registration.kind === 'anonymous' && stateOf(registration, now()) === 'unclaimed';
  return isAnonymous ? { registration, grant } : undefined;
}

/**
 * Returns the grant of a registration, and locks the membership of the person who granted it. Returns null when the grant has ended or the
 * person has left the organization.
 */
export async function lockValidGrant(trx: Transaction, registration: Registration): Promise<LentGrant | null> {
  const grant = lentGrantOf(registration, now());
  return grant && (await lockMembership(trx, grant.orgId, grant.userId)) ? grant : null;
}
