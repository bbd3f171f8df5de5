// The data access of bare.ts and fastify.ts. It is written by hand for pg, without an ORM, as is common. One statement finds the caller by
// the digest of its token, and another statement reads the rows with the field names of the API. The bench compares the responses with the
// service's own.
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.argv[3]!, max: 16 });

const names = new Map<string, string>();
/** With `--prepared`, statements have names, and PostgreSQL parses each only once per connection. */
const prepared = process.argv.includes('--prepared');
const nameOf = (text: string): string => names.get(text) ?? names.set(text, `s${names.size}`).get(text)!;

async function rows<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
  return (await pool.query<Row & pg.QueryResultRow>(prepared ? { name: nameOf(text), text, values } : { text, values }))
    .rows;
}

export interface Caller {
  userId: string;
  orgId: string;
  role: string;
  scopes: string[];
}

/** The caller; null for a 401. */
export async function callerOf(authorization: string | undefined): Promise<Caller | null> {
  const secret = authorization?.replace(/^Bearer /, '') ?? '';
  const [caller] = await rows<Caller>(
    `select t.user_id as "userId", t.org_id as "orgId", m.role, t.scopes
     from tokens t join memberships m on m.org_id = t.org_id and m.user_id = t.user_id
     where t.digest = $1 and t.expires_at > $2 and t.revoked_at is null`,
    [createHash('sha256').update(secret).digest(), Date.now()],
  );
  return caller ?? null;
}

const columns = `p.id, p.org_id as "orgId", p.slug, p.name, p.status, p.tracker, p.tracker_connector_id as "trackerConnectorId",
  p.tracker_team_id as "trackerTeamId", p.tracker_project_id as "trackerProjectId",
  coalesce(p.scm_connector_id, '') as "scmConnectorId", p.scm_owner as "scmOwner", p.scm_repo as "scmRepo",
  coalesce(p.llm_connector_id, '') as "llmConnectorId", p.auto_merge as "autoMerge", p.issue_code as "issueCode",
  p.default_sandbox_template_id as "defaultSandboxTemplateId", p.created_at as "createdAt"`;

interface Project {
  id: string;
  orgId: string;
  createdAt: number;
  trackerConnectorId: string | null;
  scmConnectorId: string;
  llmConnectorId: string;
  missingConnectorKinds?: string[];
}

function shown(project: Project): Project {
  if (project.trackerConnectorId && project.scmConnectorId && project.llmConnectorId) return project;
  const connectors = { tracker: project.trackerConnectorId, scm: project.scmConnectorId, llm: project.llmConnectorId };
  const missing = Object.entries(connectors).flatMap(([kind, id]) => (id ? [] : [kind]));
  return { ...project, missingConnectorKinds: missing };
}

/** The project; undefined for a 404. */
export async function findProject({ orgId }: Caller, id: string): Promise<Project | undefined> {
  const [project] = await rows<Project>(`select ${columns} from projects p where p.id = $1 and p.org_id = $2`, [
    id,
    orgId,
  ]);
  return project && shown(project);
}

interface Page<R> {
  data: R[];
  nextCursor: string | null;
}

export async function listProjects({ orgId }: Caller, limit: number, cursor?: string | null): Promise<Page<Project>> {
  const values: unknown[] = [orgId, limit + 1];
  let after = '';
  if (cursor) {
    const [createdAt, id] = Buffer.from(cursor, 'base64url').toString().split(':');
    values.push(Number(createdAt), id);
    after = ' and (p.created_at, p.id) < ($3, $4)';
  }
  const found = await rows<Project>(
    `select ${columns} from projects p where p.org_id = $1${after} order by p.created_at desc, p.id desc limit $2`,
    values,
  );
  const data = found.slice(0, limit).map(shown);
  const last = found.length > limit ? data[limit - 1] : undefined;
  return { data, nextCursor: last ? Buffer.from(`${last.createdAt}:${last.id}`).toString('base64url') : null };
}

export interface NewProject {
  name: string;
  repoFullName: string;
  tracker?: string;
}

/** Reads the connectors, chooses a free slug, and inserts the project. If another project has the repository, the unique index rejects the insert. */
export async function createProject({ orgId }: Caller, input: NewProject): Promise<Project> {
  const { name, repoFullName, tracker = 'builtin' } = input;
  const [scmOwner, scmRepo] = repoFullName.split('/');
  const wanted = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const connectors = await rows<{ id: string; kind: string; vendor: string }>(
    'select id, vendor_kind as kind, vendor from integrations where org_id = $1 order by created_at, id',
    [orgId],
  );
  const connector = (kind: string, vendor?: string) =>
    connectors.find((one) => one.kind === kind && (!vendor || one.vendor === vendor))?.id ?? null;
  const taken = await rows<{ slug: string }>('select slug from projects where org_id = $1 and slug = $2', [
    orgId,
    wanted,
  ]);
  const slug = taken.length > 0 ? `${wanted}-${randomBytes(3).toString('hex')}` : wanted;
  const [project] = await rows<Project>(
    `insert into projects as p (id, org_id, slug, name, status, tracker, tracker_connector_id, scm_connector_id, scm_owner,
       scm_repo, llm_connector_id, created_at)
     values ($1, $2, $3, $4, 'active', $5, $6, $7, $8, $9, $10, $11) returning ${columns}`,
    [
      `prj_${randomBytes(16).toString('hex')}`,
      orgId,
      slug,
      name,
      tracker,
      connector('tracker', tracker),
      connector('scm'),
      scmOwner,
      scmRepo,
      connector('llm'),
      Date.now(),
    ],
  );
  return shown(project!);
}

interface Organization {
  id: string;
}

/** The organizations, in any order. */
export const findOrganizations = (ids: readonly string[]): Promise<Organization[]> =>
  rows(
    `select id, name, slug, created_by_user_id as "createdByUserId", created_at as "createdAt", name_pending as "namePending"
     from organizations where id = any($1)`,
    [ids],
  );

interface Membership {
  orgId: string;
  userId: string;
}

/** The memberships of several organizations, oldest first. */
export const findMemberships = (orgIds: readonly string[]): Promise<Membership[]> =>
  rows(
    `select org_id as "orgId", user_id as "userId", role, created_at as "createdAt"
     from memberships where org_id = any($1) order by created_at, user_id`,
    [orgIds],
  );

interface Person {
  id: string;
}

/** The people, in any order. */
export const findPeople = (ids: readonly string[]): Promise<Person[]> =>
  rows('select id, email, name, created_at as "createdAt" from people where id = any($1)', [ids]);

interface Member {
  membershipOrgId: string;
  userId: string;
  role: string;
  createdAt: number;
  id: string;
  email: string;
  name: string;
  personCreatedAt: number;
}

/** The nested query of the bench: projects, each with its organization, its memberships and their people. */
export async function listNested(caller: Caller, limit: number): Promise<unknown> {
  const page = await listProjects(caller, limit);
  const orgIds = [...new Set(page.data.map((project) => project.orgId))];
  const organizations = await findOrganizations(orgIds);
  const members = await rows<Member>(
    `select m.org_id as "membershipOrgId", m.user_id as "userId", m.role, m.created_at as "createdAt",
       u.id, u.email, u.name, u.created_at as "personCreatedAt"
     from memberships m join people u on u.id = m.user_id where m.org_id = any($1) order by m.created_at, m.user_id`,
    [orgIds],
  );
  const nested = new Map<string, object>();
  for (const organization of organizations) {
    const memberships = members
      .filter((member) => member.membershipOrgId === organization.id)
      .map(({ membershipOrgId: orgId, userId, role, createdAt, id, email, name, personCreatedAt }) => {
        const person = { id, email, name, createdAt: personCreatedAt };
        return { orgId, userId, role, createdAt, person };
      });
    nested.set(organization.id, { ...organization, memberships });
  }
  const data = page.data.map((project) => ({ ...project, organization: nested.get(project.orgId) ?? null }));
  return { data: { projects: { data, nextCursor: page.nextCursor } } };
}
