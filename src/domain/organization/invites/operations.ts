// Operations on invites. Members list, send and revoke them; the invited person lists and accepts them.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { queueMail } from '#foundation/mail/mail.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { conflict } from '#foundation/problem.ts';
import { lifetimesMs } from '#limits.ts';
import { addMember, findMembership, refuseRoleAbove } from '../memberships/operations.ts';
import { findOrganization, lockOrganization, organizationsWithIds } from '../organizations/operations.ts';
import { normalizeEmail } from '../people/email.ts';
import type { Person } from '../people/model.ts';
import { findPersonByAddress, peopleOf } from '../people/operations.ts';
import { mailOf } from './mail.ts';
import { Invite, statusOfInvite } from './model.ts';
import { admitInvite } from './rate.ts';

/** All invites of the organization, with any status, newest first. */
export async function listInvites(caller: Caller): Promise<Invite[]> {
  return Invite.findAll({ orgId: wholeOrganization(caller) });
}

export interface NewInvite {
  email: string;
  role: OrgRole;
}

/** Invites an email address and sends the mail. @throws 409 for a pending invite or a member, 429 beyond the daily limits */
export async function createInvite(caller: Caller, input: NewInvite): Promise<Invite> {
  const orgId = wholeOrganization(caller);
  refuseRoleAbove(caller, input.role);
  const email = normalizeEmail(input.email);
  const person = await findPersonByAddress(email);
  if (person && (await findMembership(orgId, person.id))) {
    throw conflict.field('email', `${email} belongs to a member of this organization`);
  }
  const { name } = await findOrganization(caller, orgId);
  return transaction(async (trx) => {
    const invite = await insertInvite(trx, caller, { orgId, email, role: input.role });
    await queueMail(trx, mailOf(invite, name), invite.expiresAt);
    return invite;
  });
}

async function insertInvite(
  trx: Transaction,
  caller: Caller,
  input: { orgId: Id<'organization'>; email: string; role: OrgRole },
): Promise<Invite> {
  const createdAt = now();
  const { orgId, email } = input;
  await admitInvite(trx, { orgId, email, invitedByUserId: caller.userId });
  // The unique index on open invites also includes expired invites. Setting `revokedAt` removes an expired invite from the index; its
  // status stays expired.
  await Invite.query(trx)
    .where({ orgId, email, acceptedAt: null, revokedAt: null })
    .where('expiresAt', '<=', createdAt)
    .patch({ revokedAt: createdAt });
  const invite = {
    id: newId('invite'),
    ...input,
    invitedByUserId: caller.userId,
    createdAt,
    expiresAt: createdAt + lifetimesMs.invite,
    acceptedAt: null,
    revokedAt: null,
  };
  try {
    await Invite.insert(trx, invite);
  } catch (error) {
    if (isUniqueViolation(error, 'invites_open'))
      throw conflict.field('email', `${email} has already been invited; revoke that invite first`);
    throw error;
  }
  return invite;
}

/** Revokes a pending invite; a revoked or expired invite is unchanged. @throws 404, 409 for an accepted invite */
export async function revokeInvite(caller: Caller, inviteId: string): Promise<{ ok: true }> {
  const orgId = wholeOrganization(caller);
  const revoked = await Invite.pending().where({ id: inviteId, orgId }).patch({ revokedAt: now() });
  if (revoked === 0) {
    const invite = await Invite.get({ id: inviteId, orgId });
    if (statusOfInvite(invite) === 'accepted')
      throw conflict('The invite was accepted, so the person is already a member.');
  }
  return { ok: true };
}

/** Revokes the pending invites of the organization to this address. */
export async function revokeInvitesTo(trx: Transaction, orgId: string, email: string): Promise<void> {
  await Invite.pending(trx)
    .where({ orgId, email: normalizeEmail(email) })
    .patch({ revokedAt: now() });
}

/**
 * Revokes the pending invites of the organization to this email address. Then deletes all invites of the organization to the address, and
 * returns the number of deleted invites.
 */
export async function deleteInvitesTo(trx: Transaction, orgId: string, email: string): Promise<number> {
  await revokeInvitesTo(trx, orgId, email);
  return Invite.query(trx)
    .where({ orgId, email: normalizeEmail(email) })
    .delete();
}

/** Revokes all pending invites of the organization. */
export async function revokeAllInvites(trx: Transaction, orgId: Id<'organization'>): Promise<void> {
  await Invite.pending(trx).where({ orgId }).patch({ revokedAt: now() });
}

/** A pending invite as the invited person sees it. */
export interface PendingInvite extends Pick<Invite, 'id' | 'role' | 'expiresAt'> {
  organizationName: string;
  invitedByName: string | null;
}

/** The pending invites of an email address in any organization, newest first. */
export async function pendingInvitesFor(email: string): Promise<PendingInvite[]> {
  const invites = await Invite.pending()
    .where({ email: normalizeEmail(email) })
    .orderByRaw(Invite.order);
  if (invites.length === 0) return [];
  const [organizations, people] = await Promise.all([
    organizationsWithIds(invites.map(({ orgId }) => orgId)),
    peopleOf(invites.flatMap(({ invitedByUserId }) => invitedByUserId ?? [])),
  ]);
  return invites.map(({ id, role, expiresAt, orgId, invitedByUserId }) => ({
    id,
    role,
    expiresAt,
    organizationName: organizations.find((organization) => organization.id === orgId)!.name,
    invitedByName: people.find((person) => person.id === invitedByUserId)?.name ?? null,
  }));
}

/**
 * Accepts the organization's pending invite to an address, and returns its role; undefined without an invite. Locks the organization first,
 * as the removal of a member does before it revokes invites; otherwise the two could deadlock.
 */
export async function acceptInviteTo(
  trx: Transaction,
  orgId: Id<'organization'>,
  email: string,
): Promise<OrgRole | undefined> {
  await lockOrganization(trx, orgId);
  const [invite] = await Invite.pending(trx)
    .where({ orgId, email: normalizeEmail(email) })
    .patch({ acceptedAt: now() })
    .returning(['role'] as never);
  return invite?.role;
}

/** Accepts an invite; the person becomes a member. @throws 404 for an invite to another address, 409 for an invite that is no longer pending */
export async function acceptInvite(
  person: Pick<Person, 'id' | 'email'>,
  inviteId: string,
): Promise<Id<'organization'>> {
  const email = normalizeEmail(person.email);
  const orgId = await transaction(async (trx) => {
    const found = await Invite.find({ id: inviteId, email }, trx);
    if (found) await lockOrganization(trx, found.orgId);
    const [invite] = await Invite.pending(trx)
      .where({ id: inviteId, email })
      .patch({ acceptedAt: now() })
      .returning(['orgId', 'role'] as never);
    // A person who has become a member in the meantime keeps the role of that membership.
    if (invite) await addMember(trx, invite.orgId, person.id, invite.role);
    return invite?.orgId;
  });
  if (orgId) return orgId;
  const invite = await Invite.get({ id: inviteId, email });
  throw conflict(`This invite is no longer open: ${statusOfInvite(invite)}.`);
}
