// What can be done with invites: list, send and revoke them; and, for the person who was invited, see and accept them.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { isUniqueViolation } from '#foundation/database-errors.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { queueMail } from '#foundation/mail.ts';
import { conflict } from '#foundation/problem.ts';
import { find, readAll } from '#foundation/record.ts';
import { lifetimes } from '#limits.ts';
import { addMember, findMembership, refuseRoleAbove } from '../memberships/operations.ts';
import { findOrganization } from '../organizations/operations.ts';
import { normalAddress } from '../people/mail-address.ts';
import type { Person } from '../people/model.ts';
import { findPersonByAddress } from '../people/operations.ts';
import { mailOf } from './mail.ts';
import { Invite, statusOf } from './model.ts';
import { admitInvite } from './rate.ts';

/** Every invite of the organization, whatever became of it, newest first. */
export async function listInvites(caller: Caller): Promise<Invite[]> {
  beyondOneProject(caller);
  return readAll<Invite>(Invite, { orgId: ownOrganization(caller) }, '"created_at" desc, "id" desc');
}

export interface NewInvite {
  email: string;
  role: OrgRole;
}

/** Invites a mail address and tells it so. 409 when it is invited already or belongs to a member, 429 beyond the daily limits. */
export async function createInvite(caller: Caller, input: NewInvite): Promise<Invite> {
  beyondOneProject(caller);
  const orgId = ownOrganization(caller);
  refuseRoleAbove(caller, input.role);
  const email = normalAddress(input.email);
  const person = await findPersonByAddress(email);
  if (person && (await findMembership(orgId, person.id))) {
    throw conflict(`email: ${email} belongs to a member of this organization.`);
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
  // An expired invite is still open to the index that allows one per address. It makes room, and stays expired.
  await Invite.query(trx)
    .where({ orgId, email, acceptedAt: null, revokedAt: null })
    .where('expiresAt', '<=', createdAt)
    .patch({ revokedAt: createdAt });
  const invite = {
    id: newId('invite'),
    ...input,
    invitedByUserId: caller.userId,
    createdAt,
    expiresAt: createdAt + lifetimes.invite,
    acceptedAt: null,
    revokedAt: null,
  };
  try {
    await Invite.query(trx).insert(invite);
  } catch (error) {
    if (isUniqueViolation(error, 'invites_open'))
      throw conflict(`email: ${email} is invited already; revoke that invite first.`);
    throw error;
  }
  return invite as Invite;
}

/** Revokes a pending invite. For one that is revoked or expired nothing changes; an accepted one is a member by now (409). */
export async function revokeInvite(caller: Caller, inviteId: string): Promise<{ ok: true }> {
  beyondOneProject(caller);
  const orgId = ownOrganization(caller);
  const revokedAt = now();
  const revoked = await Invite.query()
    .where({ id: inviteId, orgId, acceptedAt: null, revokedAt: null })
    .where('expiresAt', '>', revokedAt)
    .patch({ revokedAt });
  if (revoked === 0) {
    const invite = await find<Invite>(Invite, 'invite', { id: inviteId, orgId });
    if (statusOf(invite) === 'accepted') throw conflict('The invite was accepted: the person is a member now.');
  }
  return { ok: true };
}

/** An open invite with what its page says of it. */
export interface PendingInvite {
  id: Id<'invite'>;
  role: OrgRole;
  expiresAt: number;
  organizationName: string;
  invitedByName: string | null;
}

/** The open invites of a mail address, in any organization, newest first. */
export const pendingInvitesFor = (email: string): Promise<PendingInvite[]> =>
  sql<PendingInvite>(
    `select i.id, i.role, i.expires_at, o.name as organization_name, p.name as invited_by_name
       from invites i join organizations o on o.id = i.org_id left join people p on p.id = i.invited_by_user_id
      where i.email = $1 and i.accepted_at is null and i.revoked_at is null and i.expires_at > $2
      order by i.created_at desc, i.id desc`,
    [normalAddress(email), now()],
  );

/** Makes the person a member, once; 404 for an invite to another address, 409 for one that is no longer open. */
export async function acceptInvite(
  person: Pick<Person, 'id' | 'email'>,
  inviteId: string,
): Promise<Id<'organization'>> {
  const email = normalAddress(person.email);
  const orgId = await transaction(async (trx) => {
    const [invite] = await Invite.query(trx)
      .where({ id: inviteId, email, acceptedAt: null, revokedAt: null })
      .where('expiresAt', '>', now())
      .patch({ acceptedAt: now() })
      .returning(['orgId', 'role'] as never);
    // Somebody who was added in the meantime keeps the role they have.
    if (invite) await addMember(trx, invite.orgId, person.id, invite.role);
    return invite?.orgId;
  });
  if (orgId) return orgId;
  const invite = await find<Invite>(Invite, 'invite', { id: inviteId, email });
  throw conflict(`This invite is no longer open: ${statusOf(invite)}.`);
}
