// An organization to look at and to measure with: made by bulk statements, and the same however often it is asked for.
import { type VendorKind, vendorKinds } from '#domain/integrations/model.ts';
import { createIntegration, defaultConnectors } from '#domain/integrations/operations.ts';
import { Organization } from '#domain/organizations/model.ts';
import { foundOrganization } from '#domain/organizations/operations.ts';
import type { Person } from '#domain/people/model.ts';
import { findOrCreatePerson } from '#domain/people/operations.ts';
import { minutes, now } from '#foundation/clock.ts';
import { database, sql, transaction } from '#foundation/database.ts';
import { Problem } from '#foundation/problem.ts';
import { readOne } from '#foundation/record.ts';

export const demoOwner = 'demo@example.com';
export const demoSlug = 'demo';

const names = ['Web shop', 'Mobile app', 'Billing service', 'Search', 'Documentation'];
/** How many projects there are when nobody says. */
export const demoProjects = names.length;

export interface Demo {
  organization: { id: string; slug: string };
  owner: { id: string; email: string };
  /** All that are there now, and how many of them this call made. */
  projects: { total: number; created: number };
}

export async function seedDemo({ projects }: { projects: number }): Promise<Demo> {
  const owner = await findOrCreatePerson(demoOwner, 'Demo Owner');
  const organization = await demoOrganization(owner);
  await connectVendors(organization);
  const created = await insertProjects(organization, projects);
  if (created > 0) await database().raw('analyze projects');
  const [row] = await sql<{ total: number }>('select count(*) as total from projects where org_id = $1', [
    organization.id,
  ]);
  return {
    organization: { id: organization.id, slug: organization.slug },
    owner: { id: owner.id, email: owner.email },
    projects: { total: row!.total, created },
  };
}

async function demoOrganization(owner: Person): Promise<Organization> {
  const found = () => readOne<Organization>(Organization, { slug: demoSlug });
  const organization =
    (await found()) ??
    (await foundOrganization(owner.id, { name: 'Demo', slug: demoSlug }).catch((error) => {
      if (error instanceof Problem && error.status === 409) return found();
      throw error;
    }));
  if (organization?.createdByUserId !== owner.id) {
    throw new Error(`the slug ${demoSlug} belongs to an organization of somebody else: the demo can't be made here`);
  }
  return organization;
}

const connections = {
  tracker: { vendor: 'builtin', displayName: 'Issues' },
  scm: { vendor: 'github', displayName: 'GitHub' },
  llm: { vendor: 'anthropic', displayName: 'Anthropic' },
} as const satisfies Record<VendorKind, { vendor: string; displayName: string }>;

const connectVendors = ({ id: orgId }: Organization): Promise<void> =>
  transaction(async (trx) => {
    // Two seedings at once: the second waits here, and finds what the first has made.
    await trx.raw('select from organizations where id = ? for no key update', [orgId]);
    const connectors = await defaultConnectors(orgId, 'builtin');
    for (const vendorKind of vendorKinds) {
      if (!connectors[vendorKind]) await createIntegration({ orgId, vendorKind, ...connections[vendorKind] }, trx);
    }
  });

/** One statement for so many rows: each stays well below the time that a statement may take. */
const batch = 50_000;

const insertion = `with made as (
  insert into projects (id, org_id, slug, name, status, tracker, tracker_connector_id, scm_connector_id, scm_owner, scm_repo,
    llm_connector_id, issue_code, created_at)
  select 'prj_' || lpad(to_hex(at), 12, '0') || left(replace(gen_random_uuid()::text, '-', ''), 20), $1,
    replace(lower(name), ' ', '-'), name, 'active', 'builtin', $2, $3, 'demo', replace(lower(name), ' ', '-'), $4, 'P' || n, at
  from (
    select n, coalesce(($5::text[])[n], 'Project ' || n) as name, $6::bigint - n * $7::bigint as at
    from generate_series($8::int, $9::int) n
  ) project
  on conflict do nothing returning 1
) select count(*) as created from made`;

async function insertProjects({ id: orgId }: Organization, count: number): Promise<number> {
  const { tracker, scm, llm } = await defaultConnectors(orgId, 'builtin');
  let created = 0;
  for (let first = 1; first <= count; first += batch) {
    const last = Math.min(count, first + batch - 1);
    const values = [orgId, tracker, scm, llm, names, now(), minutes(1), first, last];
    const [row] = await sql<{ created: number }>(insertion, values);
    created += row!.created;
  }
  return created;
}
