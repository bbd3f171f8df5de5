// Operations on artifacts: list and read.
import type { Caller } from '#access/principal.ts';
import { withinProject, withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { emptyPage, type Page, type PageRequest } from '#foundation/postgres/cursor.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import type { Sandbox } from '../sandboxes/model.ts';
import { Artifact, type ArtifactKind } from './model.ts';

export interface ArtifactFilter extends PageRequest {
  issueId?: string | null | undefined;
  projectId?: string | null | undefined;
  sandboxId?: string | null | undefined;
  kind?: ArtifactKind | null | undefined;
}

/** Artifacts, newest first, of the projects that the caller can reach. */
export async function listArtifacts(
  caller: Caller,
  { issueId, projectId, sandboxId, kind, ...page }: ArtifactFilter,
): Promise<Page<Artifact>> {
  const reach = withinProject(caller, projectId);
  if (!reach) return emptyPage;
  const where = { issueId: issueId ?? undefined, sandboxId: sandboxId ?? undefined, kind: kind ?? undefined };
  return Artifact.page({ ...reach, ...where }, page);
}

export const findArtifact = (caller: Caller, artifactId: string): Promise<Artifact> =>
  Artifact.get({ id: artifactId, ...withinReach(caller) });

/** Expires the artifacts of a sandbox: they no longer count as proof. */
export const withdrawArtifacts = async (trx: Transaction, sandboxId: Sandbox['id']): Promise<void> => {
  await Artifact.patch(trx, { sandboxId }, { expiresAt: now() });
};

/** Makes the artifacts with these ids expire now. */
export const expireArtifacts = async (trx: Transaction, ids: readonly Artifact['id'][]): Promise<void> => {
  if (ids.length > 0) await Artifact.query(trx).whereIn('id', ids).patch({ expiresAt: now() });
};

/** Finds an artifact without a check of the caller, who has presented a signed URL. */
export const findArtifactByAddress = (artifactId: string): Promise<Artifact> => Artifact.get({ id: artifactId });

/** Returns the artifacts of the sandboxes, oldest first. Leaves out the artifacts that were created after the time `at`. */
export async function artifactsUntil(sandboxIds: readonly string[], at: number): Promise<Artifact[]> {
  const artifacts = await Artifact.findByKeys('sandboxId', sandboxIds);
  return artifacts.filter(({ createdAt }) => createdAt <= at).sort((a, b) => a.createdAt - b.createdAt);
}
