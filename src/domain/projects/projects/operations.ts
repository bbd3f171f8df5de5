// Operations on projects: list, read, create, change, delete. Records of the whole organization stay readable to a project-bound credential
// (docs/contract.md#project-bound-credentials), which may change its own project; only organization-wide credentials create and delete
// projects.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, reachesProject, wholeOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import type { Page, PageRequest } from '#foundation/postgres/cursor.ts';
import { savepoint, sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { insertRow } from '#foundation/postgres/insert-row.ts';
import { containsWords, ignoringCase } from '#foundation/postgres/reads.ts';
import { describeFields, forbidden, Problem } from '#foundation/problem.ts';
import { type CurrentPlan, currentPlan, requireRoomForProject } from '../../money/billing/operations.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { freeSlug, slugOf } from '../../organization/organizations/slug.ts';
import type { EffectPolicy } from '../effects/model.ts';
import { parseRepository, type RepositoryName } from '../integrations/repository-name.ts';
import { maxUsesShown } from '../sandbox-templates/bounds.ts';
import { lockTemplateOf, type TemplateUse } from '../sandbox-templates/operations.ts';
import { defaultConnectors } from './connectors.ts';
import { Project, type ProjectStatus, type ProjectTracker, type PullRequestLoop } from './model.ts';

export interface ProjectFilter extends PageRequest {
  byTrackerConnectorId?: string | null | undefined;
  byTrackerTeamId?: string | null | undefined;
  byTrackerProjectId?: string | null | undefined;
  byScmConnectorId?: string | null | undefined;
  byScmOwner?: string | null | undefined;
  byScmRepo?: string | null | undefined;
  status?: ProjectStatus | null | undefined;
  nameContains?: string | null | undefined;
}

export function listProjects(caller: Caller, filter: ProjectFilter): Promise<Page<Project>> {
  const where = Object.assign({}, Project.visibleTo(caller), {
    trackerConnectorId: filter.byTrackerConnectorId ?? undefined,
    trackerTeamId: filter.byTrackerTeamId ?? undefined,
    trackerProjectId: filter.byTrackerProjectId ?? undefined,
    scmConnectorId: filter.byScmConnectorId ?? undefined,
    // Source hosts ignore case, and so does the duplicate check.
    scmOwner: ignoringCase(filter.byScmOwner),
    scmRepo: ignoringCase(filter.byScmRepo),
    status: filter.status ?? undefined,
    name: containsWords(filter.nameContains),
  });
  return Project.page(where, filter);
}

export const findProject = (caller: Caller, projectId: string): Promise<Project> =>
  Project.get({ id: projectId, ...Project.visibleTo(caller) });

export interface NewProject {
  name: string;
  repoFullName: string;
  tracker: ProjectTracker;
  trackerTeamKey?: string | undefined;
  issueCode?: string | null | undefined;
}

/**
 * Creates a project that uses the organization's connectors. A second project for the same repository is refused with 409 and the id of the
 * first.
 * @throws 402 above the plan's number of projects
 */
export async function createProject(caller: Caller, input: NewProject): Promise<Project> {
  const orgId = wholeOrganization(caller);
  const repository = parseRepository(input.repoFullName);
  // Both reads are sent to the database in one message.
  const [connectors, plan] = await Promise.all([defaultConnectors(orgId, input.tracker), currentPlan(orgId)]);
  const record = {
    id: newId('project'),
    orgId,
    name: input.name,
    status: 'active' as const,
    tracker: input.tracker,
    trackerConnectorId: connectors.tracker,
    trackerTeamId: input.trackerTeamKey ?? null,
    trackerProjectId: null,
    scmConnectorId: connectors.scm,
    ...repository,
    scmRepositoryKey: null,
    llmConnectorId: connectors.llm,
    autoMerge: false,
    issueCode: input.issueCode ?? null,
    defaultSandboxTemplateId: null,
    hasTeam: null,
    pullRequestLoop: null,
    effectPolicy: null,
    createdAt: now(),
  };
  // The slug of the name is nearly always free, so it is tried before the slugs in use are read.
  const plain = slugOf(input.name, 'project');
  for (let slug = plain; ; slug = freeSlug(plain, await takenSlugs(orgId, plain))) {
    try {
      const created = { slug, ...record };
      await insertWithinPlan(created, plan);
      return created;
    } catch (error) {
      if (!isUniqueViolation(error, 'projects_slug')) throw await explainDuplicate(error, orgId, repository);
    }
  }
}

/**
 * Inserts a project if the plan allows one more. If the plan has a limit, concurrent creations of projects are serialized.
 * @throws 402 `plan_limit`
 */
async function insertWithinPlan(record: Project, plan: CurrentPlan): Promise<void> {
  if (plan.projects === null) {
    await savepoint(() => insertRow(Project, record));
    return;
  }
  await transaction(async (trx) => {
    await lockOrganization(trx, record.orgId);
    requireRoomForProject(plan, await countProjects(record.orgId, trx));
    await Project.insert(trx, record);
  });
}

/** All projects of the organization, archived ones included. */
export async function countProjects(orgId: string, trx?: Transaction): Promise<number> {
  const [row] = await sql<{ count: number }>('select count(*) as count from projects where org_id = $1', [orgId], trx);
  return row!.count;
}

async function takenSlugs(orgId: string, slug: string): Promise<Set<string>> {
  const rows = await sql<{ slug: string }>(
    'select slug from projects where org_id = $1 and (slug = $2 or slug like $3)',
    [orgId, slug, `${slug.slice(0, 56)}%`],
  );
  return new Set(rows.map((row) => row.slug));
}

export interface ProjectChanges {
  name?: string | undefined;
  status?: ProjectStatus | undefined;
  autoMerge?: boolean | undefined;
  issueCode?: string | null | undefined;
  defaultSandboxTemplateId?: string | null | undefined;
  hasTeam?: boolean | null | undefined;
  pullRequestLoop?: PullRequestLoop | undefined;
  effectPolicy?: EffectPolicy | null | undefined;
  trackerTeamKey?: string | undefined;
  repoFullName?: string | undefined;
}

/**
 * Changes a project.
 * @throws 403 for a credential that is bound to another project, 400 for an unknown sandbox template, 409 for a repository that another
 * project uses
 */
export async function updateProject(caller: Caller, projectId: string, changes: ProjectChanges): Promise<Project> {
  if (!reachesProject(caller, projectId)) throw forbidden('This credential is bound to another project.');
  const { trackerTeamKey, repoFullName, ...plain } = changes;
  const repository = repoFullName === undefined ? undefined : parseRepository(repoFullName);
  const moved = repository && { ...repository, scmRepositoryKey: null };
  const patch = { ...plain, ...moved, ...(trackerTeamKey !== undefined && { trackerTeamId: trackerTeamKey }) };
  if (Object.keys(patch).length === 0) return findProject(caller, projectId);
  const orgId = ownOrganization(caller);
  try {
    return await transaction(async (trx) => {
      const templateId = changes.defaultSandboxTemplateId;
      if (templateId) {
        await lockTemplateOf(trx, orgId, 'defaultSandboxTemplateId', templateId);
        await setMilestoneTime(trx);
      }
      const [project] = await Project.patchReturning(trx, { id: projectId, orgId }, patch);
      return project ?? Project.refuse();
    });
  } catch (error) {
    throw repository ? await explainDuplicate(error, orgId, repository) : error;
  }
}

/**
 * Stores the current name of the project's repository, and the key that identifies the repository in later events. Changes nothing when a person has
 * chosen another repository in the meantime, or when another project already has a repository with this name.
 */
export async function nameRepository(
  { id, scmOwner, scmRepo }: Project,
  names: RepositoryName & Pick<Project, 'scmRepositoryKey'>,
): Promise<void> {
  try {
    await savepoint(async () => Project.patch(undefined, { id, scmOwner, scmRepo }, names));
  } catch (error) {
    if (!isUniqueViolation(error, 'projects_repository')) throw error;
  }
}

/** Passes the current time to a database trigger, which records a milestone of the setup guide when a project chooses a template. */
const setMilestoneTime = (trx: Transaction) => trx.raw(`select set_config('app.now', ?, true)`, [String(now())]);

/** Sets the template of the locked project to a template that was created in this transaction. */
export async function chooseNewTemplate(trx: Transaction, { id }: Project, templateId: string): Promise<void> {
  await setMilestoneTime(trx);
  await Project.patch(trx, { id }, { defaultSandboxTemplateId: templateId });
}

/** Deletes the project with all its records. Credentials bound to it are revoked and remain listed. */
export function deleteProject(caller: Caller, projectId: string): Promise<{ ok: true; id: string }> {
  beyondOneProject(caller);
  return transaction(async (trx) => {
    // A database trigger revokes the credentials bound to the project. It reads the time of the revocation from this setting.
    await trx.raw(`select set_config('app.now', ?, true)`, [String(now())]);
    const deleted = await Project.query(trx)
      .delete()
      .where({ id: projectId, orgId: ownOrganization(caller) });
    return deleted ? { ok: true, id: projectId } : Project.refuse();
  });
}

/** Converts a violated constraint to the contract's DuplicateProjectError; the id of the other project is looked up after the rollback. */
async function explainDuplicate(
  error: unknown,
  orgId: string,
  { scmOwner, scmRepo }: RepositoryName,
): Promise<unknown> {
  if (!isUniqueViolation(error, 'projects_repository')) return error;
  const other = await Project.find({ orgId, scmOwner: ignoringCase(scmOwner), scmRepo: ignoringCase(scmRepo) });
  // The other project has been deleted in the meantime, so nothing conflicts any longer and the caller may retry.
  if (!other) return error;
  const fields = [{ path: 'repoFullName', message: `the project ${other.id} already uses ${scmOwner}/${scmRepo}` }];
  return new Problem(
    409,
    { category: 'validation', title: 'Conflict', description: describeFields(fields), retryable: false },
    { code: 'conflict', fields, conflictingProjectId: other.id },
  );
}

const withTemplatesSql = `select t.id as template_id, p.id, p.name from unnest($2::text[]) t(id) cross join lateral
  (select id, name from projects where org_id = $1 and default_sandbox_template_id = t.id order by name, id limit ${maxUsesShown}) p`;

/** Projects whose default template is one of these, sorted by name; at most `shownUses` for each template. */
export const projectsWithTemplates = (orgId: string, ids: readonly string[], trx?: Transaction) =>
  sql<TemplateUse>(withTemplatesSql, [orgId, ids], trx);

export const projectExists = async (orgId: string, projectId: string): Promise<boolean> =>
  (await Project.find({ id: projectId, orgId })) !== undefined;

/** The project, locked against deletion until the transaction ends. @throws 404 */
export async function lockProjectOf(trx: Transaction, orgId: string, projectId: string): Promise<Id<'project'>> {
  const project = await Project.query(trx).select('id').findOne({ id: projectId, orgId }).forKeyShare();
  return project?.id ?? Project.refuse();
}
