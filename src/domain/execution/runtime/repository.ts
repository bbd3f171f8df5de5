// The repository of a run for its runtime: files, access with git, and the branch that it has pushed.
import type { Caller } from '#access/principal.ts';
import type { Id } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { conflict, invalid, notFound } from '#foundation/problem.ts';
import { consolePage } from '../../organization/organizations/pages.ts';
import { isReadOnly } from '../../projects/agents/catalog.ts';
import { parseRepository } from '../../projects/integrations/repository-name.ts';
import { Project } from '../../projects/projects/model.ts';
import type { RepositoryAccess, RepositoryFile } from '../../projects/vendors/source-host.ts';
import { hostOf, readRepositoryFile } from '../../projects/vendors/source-host-of.ts';
import { Artifact } from '../../work/artifacts/model.ts';
import { branchOf, recordBranch, recordCheckout } from '../../work/runs/branch.ts';
import { lockHeldRun } from '../../work/runs/lock.ts';

export interface OfRun {
  runId: string;
  leaseId: string;
}

export interface FileRequest extends OfRun {
  path: string;
  ref?: string | null | undefined;
}

/** The text of a file; null when the file or the ref does not exist. @throws 404, or 409 `lease_lost` */
export async function readFileOfRun(
  caller: Caller,
  { path, ref, ...held }: FileRequest,
): Promise<RepositoryFile | null> {
  const { projectId: id } = await transaction((trx) => lockHeldRun(trx, caller, held));
  const project = await Project.get({ id });
  return readRepositoryFile(project, path, ref ?? undefined);
}

export interface RunRepository extends RepositoryAccess {
  branch: string;
}

export interface RepositoryRequest extends OfRun {
  /** A repository with skills of an agent of the run, `<owner>/<repo>`. */
  skillRepo?: string | null | undefined;
}

/**
 * Access of the runtime to the repository of its run, for cloning and pushing the branch, or to a repository with skills at the same
 * source host. @throws 404, or 409 `lease_lost` or without a source host
 */
export async function openRepository(
  caller: Caller,
  { skillRepo, ...held }: RepositoryRequest,
): Promise<RunRepository> {
  const run = await transaction((trx) => lockHeldRun(trx, caller, held));
  const { id, projectId, team } = run;
  const runProject = await Project.get({ id: projectId });
  if (skillRepo && !team?.some(({ skillRepos }) => skillRepos.includes(skillRepo))) throw notFound('skill repository');
  const project = skillRepo ? { ...runProject, ...parseRepository(skillRepo) } : runProject;
  const { connector, host } = await hostOf(project);
  if (!skillRepo) await recordCheckout(id);
  await releaseTransaction();
  return { ...(await host.access(project, connector)), branch: branchOf(run) };
}

export interface BranchReport extends OfRun {
  headSha: string;
  baseBranch: string;
  title?: string | null | undefined;
  body?: string | null | undefined;
  commits?: number | null | undefined;
  files?: number | null | undefined;
  insertions?: number | null | undefined;
  deletions?: number | null | undefined;
  changeArtifactId?: string | null | undefined;
}

/** Records a pushed branch; opens or updates its pull request if the source host has them. */
export async function reportBranch(caller: Caller, report: BranchReport) {
  const run = await transaction((trx) => lockHeldRun(trx, caller, report));
  if (run.agentRole && isReadOnly(run.agentRole))
    throw conflict(`A ${run.agentRole} changes nothing: no branch is accepted from it.`);
  const { headSha, baseBranch } = report;
  if (baseBranch === branchOf(run)) throw invalid.field('baseBranch', 'must not be the branch of the run');
  const title = report.title ?? run.missionTitle ?? 'Mission';
  const body = [report.body, referenceTo(run), await consolePage(run.orgId, `/runs/${run.id}`)].filter(Boolean);
  const { commits = null, files: changedFiles = null, insertions = null, deletions = null } = report;
  const size = { commits, changedFiles, insertions, deletions };
  const changeArtifactId = report.changeArtifactId ? await artifactOf(run, report.changeArtifactId) : null;
  const text = { title, body: body.join('\n\n') };
  await releaseTransaction();
  const pullRequest = await recordBranch(run, {
    branch: branchOf(run),
    baseBranch,
    headSha,
    changeArtifactId,
    ...size,
    ...text,
  });
  return { prNumber: pullRequest?.number ?? null, prUrl: pullRequest?.url ?? null };
}

/** @throws 400 for an artifact of another project */
async function artifactOf({ projectId }: { projectId: Id<'project'> }, id: string): Promise<Id<'artifact'>> {
  const artifact = await Artifact.find({ id, projectId });
  if (!artifact) throw invalid.field('changeArtifactId', 'is not an artifact of the project');
  return artifact.id;
}

/** Source hosts recognize the keyword, and close their own issues when the pull request is merged. */
const referenceTo = ({ issueId, issueUrl }: { issueId: string | null; issueUrl: string | null }): string | null => {
  if (!issueId) return null;
  return /^[^#\s]+\/[^#\s]+#\d+$/.test(issueId) ? `Closes ${issueId}` : `Issue: ${issueUrl ?? issueId}`;
};
