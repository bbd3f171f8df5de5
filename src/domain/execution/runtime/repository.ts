// The repository of a run, for its runtime: files, access with git, and the pushed branch.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { conflict, forbidden, invalid, notFound } from '#foundation/problem.ts';
import { lifetimesMs } from '#limits.ts';
import { consolePage } from '../../organization/organizations/pages.ts';
import { isReadOnly } from '../../projects/agents/catalog.ts';
import type { EffectPayloads } from '../../projects/effects/model.ts';
import { waitsFor } from '../../projects/effects/policy.ts';
import { parseRepository } from '../../projects/integrations/repository-name.ts';
import { Project } from '../../projects/projects/model.ts';
import { openAtHost } from '../../projects/vendors/follow-repository.ts';
import type { RepositoryAccess, RepositoryFile } from '../../projects/vendors/source-host.ts';
import { hostOf, readRepositoryFile } from '../../projects/vendors/source-host-of.ts';
import { claimContent } from '../../work/artifacts/content.ts';
import { Artifact } from '../../work/artifacts/model.ts';
import { changedPaths } from '../../work/attempts/paths.ts';
import { type NewCommit, recordCommits } from '../../work/attestations/record.ts';
import { recordChangeVersion } from '../../work/change-versions/operations.ts';
import { branchOf, type PushedBranch, recordBranch, recordCheckout } from '../../work/runs/branch.ts';
import { policyOfRun } from '../../work/runs/effect-policy.ts';
import { lockHeldRun } from '../../work/runs/lock.ts';
import type { Run } from '../../work/runs/model.ts';
import { stageBranch, stagedPullRequest } from '../../work/runs/stage-branch.ts';

export interface OfRun {
  runId: string;
  leaseId: string;
}

export interface FileRequest extends OfRun {
  path: string;
  ref?: string | null | undefined;
}

/** Reads the text of a file; null when the file or the ref does not exist. @throws 404, or 409 `lease_lost` */
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
  /** Whether pushes wait for approval: the runtime then reports its commits as a bundle. */
  pushWaits: boolean;
}

export interface RepositoryRequest extends OfRun {
  /** `<owner>/<repo>` of a repository with skills that an agent of the run uses; absent means the repository of the run. */
  skillRepo?: string | null | undefined;
  /** Whether the runtime can report commits as a bundle. */
  stagesPushes?: boolean | null | undefined;
}

/**
 * Grants the runtime access to one repository. Without `skillRepo`, this is the repository of the run, so that the runtime can clone the
 * repository and push the branch. With `skillRepo`, it is the named repository, which contains skills and is at the same source host.
 * @throws 403 for a runtime that would push although pushes wait for approval; 404; 409 `lease_lost`; 409 if no source host is connected
 */
export async function openRepository(
  caller: Caller,
  { skillRepo, stagesPushes, ...held }: RepositoryRequest,
): Promise<RunRepository> {
  const run = await transaction((trx) => lockHeldRun(trx, caller, held));
  const { id, projectId, team } = run;
  const runProject = await Project.get({ id: projectId });
  if (skillRepo && !team?.some(({ skillRepos }) => skillRepos.includes(skillRepo))) throw notFound('skill repository');
  const project = skillRepo ? { ...runProject, ...parseRepository(skillRepo), scmRepositoryKey: null } : runProject;
  const { connector, host } = await hostOf(project);
  const pushWaits = waitsFor(await policyOfRun(run), 'push');
  if (pushWaits && !skillRepo && !stagesPushes)
    throw forbidden(
      'Pushes of this mission need the approval of a person, which this runtime does not support: update the runtime.',
    );
  if (!skillRepo) await recordCheckout(id);
  await releaseTransaction();
  const access = skillRepo ? await host.access(project, connector, pushWaits) : await openAtHost(project, pushWaits);
  return { ...access, branch: branchOf(run), pushWaits };
}

export interface BranchReport extends OfRun {
  headSha: string;
  baseBranch: string;
  baseSha?: string | null | undefined;
  title?: string | null | undefined;
  body?: string | null | undefined;
  commits?: number | null | undefined;
  files?: number | null | undefined;
  insertions?: number | null | undefined;
  deletions?: number | null | undefined;
  changeArtifactId?: string | null | undefined;
  commitsArtifactId?: string | null | undefined;
  newCommits?: readonly NewCommit[] | undefined;
  /** Key of the uploaded bundle with the commits, when they are not pushed. */
  bundleContentKey?: string | null | undefined;
  /** For a bundle, the present commit of the branch at the source host; absent for a new branch. */
  expectedSha?: string | null | undefined;
}

export interface ReportedPullRequest {
  prNumber: number | null;
  prUrl: string | null;
}

/**
 * Records a pushed branch, and opens or updates its pull request if the source host has pull requests. If pushes wait for approval, the
 * push and the pull request are staged. The new commits are attested.
 */
export async function reportBranch(caller: Caller, report: BranchReport): Promise<ReportedPullRequest> {
  const run = await transaction(async (trx) => {
    const held = await lockHeldRun(trx, caller, report);
    checkBranch(held, report);
    // The commits are already pushed, so they are recorded even when a later part of the report fails.
    await recordCommits(trx, caller, held, report.newCommits ?? []);
    return held;
  });
  const pullRequest = await recordReported(caller, run, report);
  // A statement about a commit names the base branch. The base branch is known only after the runtime's report is recorded, so the
  // statements are signed last.
  if (report.newCommits?.length) await transaction((trx) => enqueue(trx, 'attest', { runId: run.id }));
  return pullRequest;
}

function checkBranch(run: Run, { baseBranch }: BranchReport): void {
  if (run.agentRole && isReadOnly(run.agentRole))
    throw conflict(`A ${run.agentRole} must not change files, so no branch is accepted from it.`);
  if (baseBranch === branchOf(run)) throw invalid.field('baseBranch', 'must not be the branch of the run');
}

async function recordReported(caller: Caller, run: Run, report: BranchReport): Promise<ReportedPullRequest> {
  const { headSha, baseBranch, baseSha = null } = report;
  const title = report.title ?? run.missionTitle ?? 'Mission';
  const body = [report.body, referenceTo(run), await consolePage(run.orgId, `/runs/${run.id}`)].filter(Boolean);
  const { commits = null, files: changedFiles = null, insertions = null, deletions = null } = report;
  const size = { commits, changedFiles, insertions, deletions };
  const changeArtifact = await artifactOf(run, report, 'changeArtifactId');
  const commitsArtifact = await artifactOf(run, report, 'commitsArtifactId');
  const paths = run.attemptGroupId && changeArtifact ? await changedPaths(changeArtifact) : null;
  const pushed = {
    branch: branchOf(run),
    baseBranch,
    baseSha,
    headSha,
    changeArtifactId: changeArtifact?.id ?? null,
    changedPaths: paths,
    ...size,
    title,
    body: body.join('\n\n'),
  };
  if (changeArtifact) await recordChangeVersion(run, pushed, changeArtifact, commitsArtifact);
  const policy = await policyOfRun(run);
  const waits = report.bundleContentKey || waitsFor(policy, 'pull_request');
  const pullRequest = waits ? await stagedPullRequest(run, pushed) : null;
  if (report.bundleContentKey || pullRequest) {
    await stageReported(caller, report, pushed, pullRequest);
    return { prNumber: run.prNumber, prUrl: run.prUrl };
  }
  await releaseTransaction();
  const opened = await recordBranch(run, pushed);
  return { prNumber: opened?.number ?? null, prUrl: opened?.url ?? null };
}

const stageReported = (
  caller: Caller,
  report: BranchReport,
  pushed: PushedBranch,
  pullRequest: EffectPayloads['pull_request'] | null,
): Promise<void> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, report);
    if (run.status === 'canceled') return;
    const { bundleContentKey: key, expectedSha = null } = report;
    const push = key ? { expectedSha, artifactId: await storeBundle(trx, run, key) } : null;
    await stageBranch(trx, run, pushed, { push, pullRequest });
  });

/**
 * Returns the artifact that contains the bundle; it expires like other artifacts. If the runtime repeats its report, no second artifact is
 * created.
 */
async function storeBundle(trx: Transaction, run: Run, contentKey: string): Promise<Artifact['id']> {
  const { orgId, projectId, agentRole } = run;
  const known = await Artifact.query(trx).select('id').findOne({ contentKey, orgId });
  if (known) return known.id;
  const { sizeBytes } = await claimContent(trx, orgId, contentKey);
  const [id, createdAt] = [newId('artifact'), now()];
  await Artifact.insert(trx, {
    id,
    orgId,
    projectId,
    // The artifact is attached to no issue of the tracker, because a staged push proves nothing about the result of the mission.
    issueId: null,
    sandboxId: null,
    sessionId: null,
    role: agentRole ?? 'builder',
    kind: 'file',
    contentType: 'application/x-git-bundle',
    caption: 'Commits that wait to be pushed',
    contentKey: contentKey as Id<'content'>,
    sizeBytes,
    createdAt,
    expiresAt: createdAt + lifetimesMs.artifact,
  });
  return id;
}

/** The artifact that this field of the report names; null when the field is absent. @throws 400 for an artifact of another project */
async function artifactOf(
  { projectId }: Run,
  report: BranchReport,
  field: 'changeArtifactId' | 'commitsArtifactId',
): Promise<Artifact | null> {
  const id = report[field];
  if (!id) return null;
  const artifact = await Artifact.find({ id, projectId });
  if (!artifact) throw invalid.field(field, 'is not an artifact of the project');
  return artifact;
}

/**
 * A reference to the issue for the text of the pull request. GitHub and similar hosts recognize `Closes`, and close the issue when the pull
 * request is merged.
 */
const referenceTo = ({ issueId, issueUrl }: { issueId: string | null; issueUrl: string | null }): string | null => {
  if (!issueId) return null;
  return /^[^#\s]+\/[^#\s]+#\d+$/.test(issueId) ? `Closes ${issueId}` : `Issue: ${issueUrl ?? issueId}`;
};
