// Operations on organizations: list those of a person, create one with its first owner, rename one, find a free slug.
import { manageOrganization } from '#access/authority.ts';
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, ownPerson } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { columnsOf, reference } from '#foundation/postgres/reads.ts';
import { conflict } from '#foundation/problem.ts';
import { joinMembersSql, joinReadableMembershipSql } from '../memberships/join.ts';
import { addMember } from '../memberships/operations.ts';
import { Organization } from './model.ts';
import { reserveSlug } from './reserved-slugs.ts';
import { freeSlug, slugOf } from './slug.ts';

/** All organizations of the person for a console session, only the token's organization for a token. Oldest first. */
export async function listOrganizations(caller: Caller): Promise<Organization[]> {
  if (caller.principalType !== 'cookie') return [await findOrganization(caller, ownOrganization(caller))];
  return sql<Organization>(oldestFirstSql, [ownPerson(caller), caller.hiddenOrgIds ?? []]);
}

const readableSql = `select ${columnsOf(Organization, 'o')}, m.role from organizations o
  ${joinReadableMembershipSql('$1', 'o.id', '$2::text[]')}`;
const oldestFirstSql = `${readableSql} order by o.created_at, o.id`;
const firstJoinedSql = `${readableSql} order by m.created_at, o.id`;
const oneSql = `${readableSql} where o.id = $3`;

/** The organization, if `listOrganizations` would return it. @throws 404 for another organization */
export async function findOrganization(caller: Caller, orgId: string): Promise<Organization> {
  beyondOneProject(caller);
  if (orgId === caller.orgId) return Organization.get({ id: orgId });
  if (caller.principalType !== 'cookie') Organization.refuse();
  const [found] = await sql<Organization>(oneSql, [ownPerson(caller), caller.hiddenOrgIds ?? [], orgId]);
  return found ?? Organization.refuse();
}

export const organizationsWithIds = (ids: readonly string[]): Promise<Organization[]> =>
  Organization.findByKeys('id', ids);

const afterSql = 'select id, slug from organizations where id > $1 order by id limit 500';

/** The next organizations after an id, at most 500, in the order of their ids. */
export const organizationsAfter = (id: string): Promise<Pick<Organization, 'id' | 'slug'>[]> => sql(afterSql, [id]);

const listAllSql = `select o.id, o.slug, o.name, o.created_at, count(m.user_id) as members,
    array_remove(array_agg(p.email order by p.email) filter (where m.role = 'owner'), null) as owners
  from organizations o ${joinMembersSql(reference('o.id'))}
  group by o.id order by o.created_at desc, o.id desc limit $1`;

/** The operator's list: the newest organizations, with the email addresses of their owners and the number of members. */
export const listAllOrganizations = (limit: number): Promise<object[]> => sql(listAllSql, [limit]);

/** An organization with the role of a person in it. */
export type OwnOrganization = Organization & { role: OrgRole };

/** The organizations of a person with the role in each, in the order of joining. @param hidden Organizations that the session does not reach */
export const organizationsOf = (userId: Id<'person'>, hidden: readonly string[] = []): Promise<OwnOrganization[]> =>
  sql<OwnOrganization>(firstJoinedSql, [userId, hidden]);

export interface NewOrganization {
  name: string;
  slug?: string | undefined;
  /** The id, if the caller has already chosen it. */
  id?: Organization['id'];
}

/** Maximum number of attempts to find a derived slug that no other cell has. */
const maxOtherSlugs = 20;

/** Creates an organization for its founder, who need not be the caller. `admitIn` may refuse. Without a slug, one is derived from the name. */
export async function foundOrganization(
  founder: Id<'person'>,
  { name, slug, id = newId('organization') }: NewOrganization,
  admitIn?: (trx: Transaction, founder: Id<'person'>) => Promise<void>,
): Promise<Organization> {
  // Another organization may take a derived slug between the read and the insert; then another slug is derived.
  const elsewhere = new Set<string>();
  for (;;) {
    const chosen = slug ?? (await slugFor(name, elsewhere));
    if (!(await reserveSlug(chosen, id))) {
      if (slug || elsewhere.size === maxOtherSlugs) throw slugTaken(chosen);
      elsewhere.add(chosen);
      continue;
    }
    try {
      return await transaction(async (trx) => {
        await admitIn?.(trx, founder);
        return insertOrganization(trx, founder, { id, name, slug: chosen });
      });
    } catch (error) {
      if (!isUniqueViolation(error, 'organizations_slug')) throw error;
      if (slug) throw slugTaken(slug);
    }
  }
}

async function insertOrganization(
  trx: Transaction,
  founder: Id<'person'>,
  chosen: Pick<Organization, 'id' | 'name' | 'slug'>,
): Promise<Organization> {
  const organization = await Organization.query(trx)
    .insert({
      ...chosen,
      createdByUserId: founder,
      createdAt: now(),
      namePending: false,
      closedAt: null,
    })
    .returning([...Organization.columns] as never);
  await addMember(trx, organization.id, founder, 'owner');
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
  // A session can change only its current organization, because the session's scopes follow from the person's role in that organization.
  if (orgId !== caller.orgId) Organization.refuse();
  const organization = await findOrganization(caller, orgId);
  manageOrganization(caller);
  if (Object.keys(changes).length === 0) return organization;
  if (changes.slug !== undefined && !(await reserveSlug(changes.slug, orgId))) throw slugTaken(changes.slug);
  try {
    const patch = {
      ...changes,
      ...(changes.name !== undefined && { namePending: false }),
      ...(changes.slug !== undefined && { formerSlugs: Organization.raw(formerSlugsSql, [changes.slug]) as never }),
    };
    return await Organization.query().patchAndFetchById(organization.id, patch);
  } catch (error) {
    if (isUniqueViolation(error, 'organizations_slug')) throw slugTaken(changes.slug!);
    throw error;
  }
}

/** The former slugs after a change of the slug. At most 20 are kept; they continue to redirect. */
const formerSlugsSql =
  'case when slug = ? then former_slugs else (array_prepend(slug, array_remove(former_slugs, slug)))[1:20] end';

const slugTaken = (slug: string) =>
  conflict.field('slug', `${JSON.stringify(slug)} is taken; ask GET /organizations/slug-availability`);

/** Locks the organization until the transaction ends. Changes that must not run concurrently call this first. */
export async function lockOrganization(trx: Transaction, orgId: string): Promise<void> {
  await sql('select from organizations where id = $1 for no key update', [orgId], trx);
}

/** Whether the organization is open. After `lockOrganization`, the answer holds until the transaction ends. */
export const isOrganizationOpen = async (trx: Transaction, orgId: string): Promise<boolean> =>
  (await sql('select from organizations where id = $1 and closed_at is null', [orgId], trx)).length > 0;

export const founderOf = async (trx: Transaction, orgId: string): Promise<Id<'person'>> =>
  (await Organization.query(trx).select('createdByUserId').findById(orgId).throwIfNotFound()).createdByUserId;

/** Deletes the organization with all its remaining records. */
export const deleteOrganization = async (orgId: Id<'organization'>): Promise<void> =>
  void (await Organization.query().deleteById(orgId));

/** A free slug for an organization of this name. @param elsewhere Slugs that are known to be taken in other cells */
export async function slugFor(name: string, elsewhere: ReadonlySet<string> = new Set()): Promise<string> {
  const slug = slugOf(name);
  return freeSlug(slug, new Set([...(await takenSlugs(slug)), ...elsewhere]));
}

/** The slugs that collide with `slug` or a numbered variant of it. */
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

/** Whether a slug is free and, when it is not, the nearest free one. */
export async function slugAvailability(slug: string): Promise<SlugAvailability> {
  const usedSlugs = await takenSlugs(slug);
  const available = !usedSlugs.has(slug);
  return { slug, available, suggestion: available ? null : freeSlug(slug, usedSlugs) };
}
