// Runtimes' reports of artifacts, with their contents, and of preview environments.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { derivedId, type Id, newId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { lifetimesMs } from '#limits.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import { claimContent, reserveContent } from '../../work/artifacts/content.ts';
import { Artifact, type ArtifactKind } from '../../work/artifacts/model.ts';
import type { EnvironmentStatus } from '../../work/environments/model.ts';
import { insertEnvironment, setEnvironmentStatus } from '../../work/environments/operations.ts';
import { lockHeldRun, serviceReach } from '../../work/runs/lock.ts';
import { sandboxOfRun } from '../../work/sandboxes/register.ts';

/** Reserves an upload URL for the bytes of an artifact, which is registered later. */
export async function createArtifactUpload(caller: Caller, input: { runId: string; leaseId: string }) {
  const { orgId } = await transaction((trx) => lockHeldRun(trx, caller, input));
  return reserveContent(orgId);
}

export interface NewArtifact {
  runId: string;
  leaseId: string;
  contentKey: string;
  role: AgentRole;
  kind: ArtifactKind;
  contentType: string;
  sandboxId?: string | null | undefined;
  sessionId?: string | null | undefined;
  caption?: string | null | undefined;
  criterion?: string | null | undefined;
  criterionPassed?: boolean | null | undefined;
  traceViewerUrl?: string | null | undefined;
}

/** Creates an artifact from uploaded content. @throws 404 for an unknown content, 409 while it is incomplete */
export const registerArtifact = (caller: Caller, input: NewArtifact): Promise<{ artifactId: Id<'artifact'> }> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, input);
    const { runId: _, leaseId: __, contentKey, ...described } = input;
    const sandboxId = input.sandboxId ? await sandboxOfRun(trx, run.id, input.sandboxId) : null;
    const before = await Artifact.query(trx).select('id').findOne({ contentKey, orgId: run.orgId });
    if (before) return { artifactId: before.id };
    const { sizeBytes } = await claimContent(trx, run.orgId, contentKey);
    const [artifactId, createdAt] = [newId('artifact'), now()];
    await Artifact.insert(trx, {
      id: artifactId,
      orgId: run.orgId,
      projectId: run.projectId,
      issueId: run.issueId,
      ...described,
      sandboxId,
      contentKey: contentKey as Id<'content'>,
      sizeBytes,
      createdAt,
      expiresAt: createdAt + lifetimesMs.artifact,
    });
    await announce(trx, run.id, ...(sandboxId ? [sandboxId] : []));
    return { artifactId };
  });

export interface NewEnvironment {
  runId: string;
  leaseId: string;
  /** Id that the runtime has chosen: a repeated registration returns the same environment. */
  key: string;
  prNumber?: number | null | undefined;
  workerName?: string | null | undefined;
  expiresAt?: number | null | undefined;
}

export const registerEnvironment = (
  caller: Caller,
  input: NewEnvironment,
): Promise<{ environmentId: Id<'environment'> }> =>
  transaction(async (trx) => {
    const { id: runId, orgId, projectId, issueId } = await lockHeldRun(trx, caller, input);
    const { key, prNumber = null, workerName = null, expiresAt = null } = input;
    const environmentId = derivedId('environment', runId, key);
    const record = { id: environmentId, orgId, projectId, issueId, prNumber, workerName, expiresAt };
    await insertEnvironment(trx, record);
    await announce(trx, runId);
    return { environmentId };
  });

/** Changes the status of a preview environment. No lease is required, because an environment outlives its run. */
export const moveEnvironment = (
  caller: Caller,
  { environmentId, status }: { environmentId: string; status: Exclude<EnvironmentStatus, 'provisioning'> },
): Promise<void> => setEnvironmentStatus({ id: environmentId, ...serviceReach(caller) }, status);
