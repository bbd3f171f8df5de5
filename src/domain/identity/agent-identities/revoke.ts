// Revokes an agent: its registration, its assertions and all its tokens are invalid from the next call on (docs/contract.md#revocation).
// The claim ends too, and so does the link between a provider's user and the person.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { notFound } from '#foundation/problem.ts';
import type { PersonIn } from '../../organization/memberships/model.ts';
import { revokeAccessTokens } from '../oauth/access-tokens.ts';
import { Registration } from './model.ts';

export interface RevokedRegistration {
  kind: 'revoked' | 'already-revoked';
  revokedAt: number;
  /** Number of access tokens that were still valid when they were revoked. */
  revokedTokens: number;
}

type Which = Partial<Pick<Registration, 'userId' | 'orgId' | 'issuer' | 'subject'>> & { id?: string };

async function end(trx: Transaction, { id, ...which }: Which): Promise<RevokedRegistration | undefined> {
  const registration = await Registration.lock(trx, {
    ...which,
    ...(id !== undefined && { id: id as Id<'registration'> }),
  });
  if (!registration) return undefined;
  if (registration.revokedAt !== null) {
    return { kind: 'already-revoked', revokedAt: registration.revokedAt, revokedTokens: 0 };
  }
  const revokedAt = now();
  await Registration.patch(trx, { id: registration.id }, { revokedAt, generation: registration.generation + 1 });
  const revokedTokens = await revokeAccessTokens(trx, { registrationId: registration.id });
  return { kind: 'revoked', revokedAt, revokedTokens };
}

/**
 * Revokes an agent that the person has claimed; a repeated call changes nothing. @throws 404 for an agent that the person has not claimed
 */
export function revokeOwnRegistration(caller: Caller, id: string): Promise<RevokedRegistration> {
  const filter = { id, userId: ownPerson(caller), orgId: ownOrganization(caller) };
  return transaction(async (trx) => {
    const revoked = await end(trx, filter);
    if (!revoked) throw notFound('delegation');
    return revoked;
  });
}

/** Revokes any registration, claimed or not, for the operator. @throws 404 for an unknown registration */
export function revokeRegistration(id: string): Promise<RevokedRegistration> {
  return transaction(async (trx) => {
    const revoked = await end(trx, { id });
    return revoked ?? Registration.refuse();
  });
}

/** Revokes the agent that is registered for a user of an identity provider, if there is such an agent, within a transaction. */
export async function endProviderUser(trx: Transaction, issuer: string, subject: string): Promise<void> {
  const live = await Registration.query(trx).select('id').findOne({ issuer, subject, revokedAt: null });
  if (live) await end(trx, { id: live.id });
}

/** Ends every agent that a person has claimed, and its access tokens. */
export const revokeRegistrationsOf = async (trx: Transaction, person: PersonIn): Promise<number> =>
  Registration.patch(
    trx,
    { ...person, revokedAt: null },
    { revokedAt: now(), generation: Registration.raw('generation + 1') },
  );
