// Offers of a directory: a person whom an identity provider has provisioned, but who is not a member yet, can join with one click. By
// signing in, the person has proved that the address is theirs (docs/decisions/0075-a-directory-manages-memberships.md).
import type { Id } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { notFound } from '#foundation/problem.ts';
import { Membership } from '../memberships/model.ts';
import { addMember } from '../memberships/operations.ts';
import { joinOpenOrganizationSql } from '../organizations/join.ts';
import { isOrganizationOpen, lockOrganization } from '../organizations/operations.ts';
import { normalizeEmail } from '../people/email.ts';
import type { Person } from '../people/model.ts';
import { DirectoryUser, type GroupRole } from './model.ts';
import { rolesByGroups } from './roles.ts';

export interface DirectoryOffer {
  orgId: Id<'organization'>;
  organizationName: string;
}

/** Maximum number of offers that a person is shown. */
const shown = 50;

const offersSql = `select u.org_id, o.name as organization_name from directory_users u ${joinOpenOrganizationSql('u.org_id')}
  where u.email = $1 and u.active and u.is_offered order by u.created_at, u.id limit ${shown}`;

/** The organizations that the person may join, because their directories contain the person's address. */
export async function directoryOffersFor({ id, email }: Pick<Person, 'id' | 'email'>): Promise<DirectoryOffer[]> {
  const offers = await sql<DirectoryOffer>(offersSql, [normalizeEmail(email)]);
  const joined = new Set((await Membership.findAll({ userId: id })).map(({ orgId }) => orgId));
  return offers.filter(({ orgId }) => !joined.has(orgId));
}

/**
 * Makes the person a member of an organization whose directory offers this; the person's groups in the directory decide the role. @throws
 * 404 if the directory offers no membership to the person
 */
export const acceptDirectoryOffer = (
  { id, email }: Pick<Person, 'id' | 'email'>,
  orgId: Id<'organization'>,
): Promise<Id<'organization'>> =>
  transaction(async (trx) => {
    const role = await takeOffer(trx, orgId, normalizeEmail(email));
    if (!role || !(await isOrganizationOpen(trx, orgId))) throw notFound('organization');
    await addMember(trx, orgId, id, role);
    return orgId;
  });

/**
 * A directory offers a membership to each active user. Accepts the offer for the user with this address, and returns the role that the
 * user's groups give. Returns null if the user has no offer, because the user is inactive or was removed; undefined if the directory has no
 * user with this address.
 */
export async function takeOffer(
  trx: Transaction,
  orgId: Id<'organization'>,
  email: string,
): Promise<GroupRole | null | undefined> {
  // If a concurrent transaction is creating an inactive user with this address, the lock makes this transaction wait. The person therefore
  // cannot join at the same time.
  await lockOrganization(trx, orgId);
  if (!(await DirectoryUser.find({ orgId, email }, trx))) return undefined;
  const offered = { orgId, email, active: true, isOffered: true };
  const [user] = await DirectoryUser.patchReturning(trx, offered, { isOffered: false });
  return user ? ((await rolesByGroups(trx, orgId, [user.id]))[0]!.role ?? 'member') : null;
}

/** Withdraws the offer to this address, so that a person who was removed cannot join again. */
export const withdrawOffer = async (trx: Transaction, orgId: Id<'organization'>, email: string): Promise<void> => {
  await DirectoryUser.patch(trx, { orgId, email: normalizeEmail(email) }, { isOffered: false });
};
