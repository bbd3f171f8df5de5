// What can be done with organizations: see one's own, found one, rename it, ask for a slug.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { isUniqueViolation } from '#foundation/database-errors.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { conflict } from '#foundation/problem.ts';
import { find, missing, readOne, selection } from '#foundation/record.ts';
import { Membership } from '../memberships/model.ts';
import { Organization } from './model.ts';
import { freeSlug, slugOf } from './slug.ts';

/** Every organization the person belongs to, for a person in the console; its own, for a token. Oldest first. */
export async function listOrganizations(caller: Caller): Promise<Organization[]> {
  if (caller.principalType !== 'cookie') return [await findOrganization(caller, ownOrganization(caller))];
  return sql<Organization>(
    `${selection(Organization)} where id in (select org_id from memberships where user_id = $1) order by created_at, id`,
    [caller.userId],
  );
}

/** One of those that `listOrganizations` answers. */
export async function findOrganization(caller: Caller, orgId: string): Promise<Organization> {
  beyondOneProject(caller);
  const isOwn = orgId === caller.orgId || (caller.principalType === 'cookie' && (await isMember(orgId, caller)));
  return isOwn ? find<Organization>(Organization, 'organization', { id: orgId }) : missing('organization');
}

const isMember = async (orgId: string, { userId }: Caller): Promise<boolean> =>
  (await readOne<Membership>(Membership, { orgId, userId })) !== undefined;

export interface NewOrganization {
  name: string;
  slug?: string | undefined;
}

/** Founds an organization; its founder is the owner. A slug that was asked for must be free, one made from the name is bent. */
export async function createOrganization(caller: Caller, input: NewOrganization): Promise<Organization> {
  beyondOneProject(caller);
  return foundOrganization(ownPerson(caller), input);
}

export async function foundOrganization(founder: Id<'person'>, { name, slug }: NewOrganization): Promise<Organization> {
  // A slug made from the name can be taken between the look and the insert: look again then.
  for (;;) {
    const chosen = slug ?? (await slugFor(name));
    try {
      return await transaction((trx) => insertOrganization(trx, founder, name, chosen));
    } catch (error) {
      if (!isUniqueViolation(error, 'organizations_slug')) throw error;
      if (slug) throw slugTaken(slug);
    }
  }
}

async function insertOrganization(trx: Transaction, founder: Id<'person'>, name: string, slug: string) {
  const createdAt = now();
  const organization = await Organization.query(trx)
    .insert({ id: newId('organization'), name, slug, createdByUserId: founder, createdAt, namePending: false })
    .returning([...Organization.columns] as never);
  await Membership.query(trx).insert({ orgId: organization.id, userId: founder, role: 'owner', createdAt });
  return organization;
}

export interface OrganizationChanges {
  name?: string | undefined;
  slug?: string | undefined;
}

export async function updateOrganization(
  caller: Caller,
  orgId: string,
  changes: OrganizationChanges,
): Promise<Organization> {
  // A session changes the organization that it works in: there its role is known.
  if (orgId !== caller.orgId) missing('organization');
  const organization = await findOrganization(caller, orgId);
  if (Object.keys(changes).length === 0) return organization;
  try {
    const patch = { ...changes, ...(changes.name !== undefined && { namePending: false }) };
    return await Organization.query().patchAndFetchById(organization.id, patch);
  } catch (error) {
    if (isUniqueViolation(error, 'organizations_slug')) throw slugTaken(changes.slug!);
    throw error;
  }
}

const slugTaken = (slug: string) =>
  conflict(`slug: ${JSON.stringify(slug)} is taken; ask GET /organizations/slug-availability.`);

/** The slug that an organization of this name would be given now. */
export async function slugFor(name: string): Promise<string> {
  const slug = slugOf(name);
  return freeSlug(slug, await takenSlugs(slug));
}

/** The slugs that `slug` or a numbered variant of it would collide with. */
async function takenSlugs(slug: string): Promise<Set<string>> {
  const rows = await sql<{ slug: string }>('select slug from organizations where slug = $1 or slug like $2', [
    slug,
    `${slug.slice(0, 56)}%`,
  ]);
  return new Set(rows.map((row) => row.slug));
}

export interface SlugAvailability {
  slug: string;
  available: boolean;
  suggestion: string | null;
}

/** Whether a slug is free and, when it is not, the nearest that is. */
export async function slugAvailability(slug: string): Promise<SlugAvailability> {
  const taken = await takenSlugs(slug);
  const available = !taken.has(slug);
  return { slug, available, suggestion: available ? null : freeSlug(slug, taken) };
}
