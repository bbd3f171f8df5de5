// One act ends an agent: its registration, its assertions and every token it holds, on the next call (specification,
// Authentication 10). The claim goes with it, and for a provider's user the link.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Transaction, transaction } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';
import { notFound } from '#foundation/problem.ts';
import type { PersonIn } from '../memberships/model.ts';
import { revokeAccessTokens } from '../oauth/access-tokens.ts';
import { Registration } from './model.ts';

export interface RevokedRegistration {
  kind: 'revoked' | 'already-revoked';
  revokedAt: number;
  /** Live access tokens that stopped working with it. */
  revokedTokens: number;
}

type Which = Partial<Pick<Registration, 'userId' | 'orgId' | 'issuer' | 'subject'>> & { id?: string };

async function end(trx: Transaction, { id, ...which }: Which): Promise<RevokedRegistration | undefined> {
  const registration = await Registration.query(trx)
    .findOne({ ...which, ...(id !== undefined && { id: id as Id<'registration'> }) })
    .forUpdate();
  if (!registration) return undefined;
  if (registration.revokedAt !== null) {
    return { kind: 'already-revoked', revokedAt: registration.revokedAt, revokedTokens: 0 };
  }
  const revokedAt = now();
  await Registration.query(trx)
    .findById(registration.id)
    .patch({ revokedAt, generation: registration.generation + 1 });
  const revokedTokens = await revokeAccessTokens(trx, { registrationId: registration.id });
  return { kind: 'revoked', revokedAt, revokedTokens };
}

/** Ends one of the agents that the person has claimed; 404 for any other. A second time changes nothing. */
export function revokeOwnRegistration(caller: Caller, id: string): Promise<RevokedRegistration> {
  const own = { id, userId: ownPerson(caller), orgId: ownOrganization(caller) };
  return transaction(async (trx) => {
    const revoked = await end(trx, own);
    if (!revoked) throw notFound('delegation');
    return revoked;
  });
}

/** Ends any registration, claimed or not: the operator's. 404 for an unknown one. */
export function revokeRegistration(id: string): Promise<RevokedRegistration> {
  return transaction(async (trx) => {
    const revoked = await end(trx, { id });
    if (!revoked) throw notFound('registration');
    return revoked;
  });
}

/** Ends the agent of a provider's user, as part of a larger unit of work. Nothing happens when there is none. */
export async function endProviderUser(trx: Transaction, issuer: string, subject: string): Promise<void> {
  const live = await Registration.query(trx).select('id').findOne({ issuer, subject, revokedAt: null });
  if (live) await end(trx, { id: live.id });
}

/** Ends every agent that a person has claimed; its access tokens work only with it. */
export const revokeRegistrationsOf = async (trx: Transaction, person: PersonIn): Promise<number> =>
  Registration.query(trx)
    .where({ ...person, revokedAt: null })
    .patch({ revokedAt: now(), generation: Registration.raw('generation + 1') as never });
