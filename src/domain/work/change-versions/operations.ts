// Versions of a change: recorded with each report of the branch, and shown to reviewers, who may also read an earlier version.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { columnsOf, selectionOf } from '#foundation/postgres/reads.ts';
import type { Artifact } from '../artifacts/model.ts';
import type { PushedBranch } from '../runs/branch.ts';
import { partsOf } from '../runs/loader-keys.ts';
import type { Run } from '../runs/model.ts';
import { ChangeVersion } from './model.ts';

/** Maximum number of versions of a branch in a response; the newest are returned. */
export const versionsShown = 50;

/** Records a version of the change. A repeated report of the same commit changes nothing. */
export async function recordChangeVersion(
  { id: runId, orgId, projectId, agentRole }: Run,
  { branch, headSha, commits, changedFiles, insertions, deletions }: PushedBranch,
  { id: artifactId }: Artifact,
  commitsArtifact: Artifact | null,
): Promise<void> {
  const of = { runId, orgId, projectId, role: agentRole ?? 'builder', createdAt: now() };
  const size = { commits, changedFiles, insertions, deletions };
  await ChangeVersion.query()
    .insert({ ...of, ...size, branch, headSha, artifactId, commitsArtifactId: commitsArtifact?.id ?? null })
    .onConflict()
    .ignore();
}

/**
 * SQL query for the ids of runs. It selects every run that has a change version whose diff or whose commits are stored in the artifact.
 * @param artifactId SQL for the id of the artifact
 */
export const runsOfVersionSql = (artifactId: string): string =>
  `select run_id from change_versions where artifact_id = ${artifactId}
    union all select run_id from change_versions where commits_artifact_id = ${artifactId}`;

/**
 * SQL query for the ids of artifacts. It selects the diff and the commits of every change version of these runs.
 * @param runIds SQL for an array of the ids of the runs
 */
export const artifactsOfVersionsSql = (runIds: string): string =>
  `select unnest(array[artifact_id, commits_artifact_id]) from change_versions where run_id = any(${runIds})`;

const lastSql = `${selectionOf(ChangeVersion)} where run_id = $1 and created_at <= $2 order by created_at desc, head_sha limit 1`;

/** The last version that the run reported at or before the time. */
export const versionAt = async (runId: string, at: number): Promise<ChangeVersion | undefined> =>
  (await sql<ChangeVersion>(lastSql, [runId, at]))[0];

const ofBranchesSql = `select ${columnsOf(ChangeVersion, 'v')} from unnest($3::text[], $4::text[]) b (project, branch) cross join lateral (
    ${selectionOf(ChangeVersion)} where org_id = $1 and ($2::text is null or project_id = $2)
      and project_id = b.project and change_versions.branch = b.branch order by ${ChangeVersion.order} limit ${versionsShown}) v`;

/** The versions on these branches, newest first; only versions that the caller can reach. @param branches Keys from `branchKeyOf` */
export function versionsOfBranches(branches: readonly string[], caller: Caller): Promise<ChangeVersion[]> {
  const { orgId, projectId = null } = withinReach(caller);
  return sql<ChangeVersion>(ofBranchesSql, [orgId, projectId, ...partsOf(branches)]);
}
