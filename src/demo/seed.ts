// Seeds the demo organization, for a first look. Repeated calls add only what is missing. Projects are inserted in bulk, with many rows per
// statement; everything else is created by the domain's own functions.
import type { Caller } from '#access/principal.ts';
import { scopesOfRole } from '#access/scopes.ts';
import { Organization } from '#domain/organization/organizations/model.ts';
import { foundOrganization, lockOrganization } from '#domain/organization/organizations/operations.ts';
import { Person } from '#domain/organization/people/model.ts';
import { findOrCreatePerson } from '#domain/organization/people/operations.ts';
import { type ProjectKind, projectKinds } from '#domain/projects/integrations/model.ts';
import { defaultConnectors } from '#domain/projects/projects/connectors.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { minutes, now } from '#foundation/clock.ts';
import { database, sql, transaction } from '#foundation/postgres/database.ts';
import { Problem } from '#foundation/problem.ts';
import { seedMission } from './recurring-missions.ts';

export const demoOwner = 'demo@example.com';
export const demoSlug = 'demo';

const names = ['Web shop', 'Mobile app', 'Billing service', 'Search', 'Documentation'];
/** Default number of projects. */
export const demoProjects = names.length;

export interface Demo {
  organization: { id: string; slug: string };
  owner: { id: string; email: string };
  /** Number of existing records, and how many of them this call created. */
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
  const [newest] = await sql<{ id: string }>(
    'select id from projects where org_id = $1 order by created_at desc, id desc limit 1',
    [organization.id],
  );
  if (newest) await seedMission(demoCaller(owner, organization), newest.id);
  return {
    organization: { id: organization.id, slug: organization.slug },
    owner: { id: owner.id, email: owner.email },
    projects: { total: row!.total, created },
  };
}

/** A caller with the rights of the demo's owner, as if this person had signed in to the console. */
export const demoCaller = (owner: Person, organization: Organization): Caller => ({
  principalType: 'cookie',
  credentialId: 'operator',
  userId: owner.id,
  orgId: organization.id,
  role: 'owner',
  scopes: scopesOfRole('owner'),
  projectId: null,
});

/** The demo's owner and organization; null unless both exist and the owner created the organization. */
export async function findDemo(): Promise<{ owner: Person; organization: Organization } | null> {
  const owner = await Person.find({ email: demoOwner });
  const organization = await Organization.find({ slug: demoSlug });
  return owner && organization?.createdByUserId === owner.id ? { owner, organization } : null;
}

async function demoOrganization(owner: Person): Promise<Organization> {
  const found = () => Organization.find({ slug: demoSlug });
  const organization =
    (await found()) ??
    (await foundOrganization(owner.id, { name: 'Demo', slug: demoSlug }).catch((error) => {
      if (error instanceof Problem && error.status === 409) return found();
      throw error;
    }));
  if (organization?.createdByUserId !== owner.id) {
    throw new Error(`the slug ${demoSlug} belongs to another organization; the demo cannot be created`);
  }
  return organization;
}

const connections = {
  tracker: { vendor: 'builtin', displayName: 'Issues' },
  scm: { vendor: 'github', displayName: 'GitHub' },
  llm: { vendor: 'anthropic', displayName: 'Anthropic' },
} as const satisfies Record<ProjectKind, { vendor: string; displayName: string }>;

const connectVendors = ({ id: orgId }: Organization): Promise<void> =>
  transaction(async (trx) => {
    // A concurrent seeding waits here, and then finds the records that this seeding created.
    await lockOrganization(trx, orgId);
    const connectors = await defaultConnectors(orgId, 'builtin');
    for (const vendorKind of projectKinds) {
      if (!connectors[vendorKind]) await connectIntegration({ orgId, vendorKind, ...connections[vendorKind] }, trx);
    }
  });

/** Rows per statement: few enough that each statement stays well below the statement timeout. */
const batch = 50_000;

const insertProjectsSql = `with inserted as (
  insert into projects (id, org_id, slug, name, status, tracker, tracker_connector_id, scm_connector_id, scm_owner, scm_repo,
    llm_connector_id, issue_code, created_at)
  select 'prj_' || lpad(to_hex(at), 12, '0') || left(replace(gen_random_uuid()::text, '-', ''), 20), $1,
    replace(lower(name), ' ', '-'), name, 'active', 'builtin', $2, $3, 'demo', replace(lower(name), ' ', '-'), $4, 'P' || n, at
  from (
    select n, coalesce(($5::text[])[n], 'Project ' || n) as name, $6::bigint - n * $7::bigint as at
    from generate_series($8::int, $9::int) n
  ) project
  on conflict do nothing returning 1
) select count(*) as created from inserted`;

async function insertProjects({ id: orgId }: Organization, count: number): Promise<number> {
  const { tracker, scm, llm } = await defaultConnectors(orgId, 'builtin');
  let created = 0;
  for (let first = 1; first <= count; first += batch) {
    const last = Math.min(count, first + batch - 1);
    const values = [orgId, tracker, scm, llm, names, now(), minutes(1), first, last];
    const [row] = await sql<{ created: number }>(insertProjectsSql, values);
    created += row!.created;
  }
  return created;
}
