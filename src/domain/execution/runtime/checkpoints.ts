// Checkpoints that runtimes report, so that another runtime can continue the work.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { lifetimesMs } from '#limits.ts';
import { isReadOnly } from '../../projects/agents/catalog.ts';
import { claimContent } from '../../work/artifacts/content.ts';
import { Artifact } from '../../work/artifacts/model.ts';
import { lockHeldRun } from '../../work/runs/lock.ts';
import { RunStep } from '../../work/runs/step-model.ts';
import { Checkpoint } from '../checkpoints/model.ts';

export interface CheckpointReport {
  runId: string;
  leaseId: string;
  stepId: string;
  contentKey: string;
  commitSha: string;
  sessionId?: string | null | undefined;
}

/** Replaces the checkpoint of a step. A repeated report changes nothing. @throws 404, or 409 `lease_lost` */
export const reportCheckpoint = (caller: Caller, report: CheckpointReport): Promise<void> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, report);
    const { contentKey, commitSha, sessionId = null } = report;
    const step = await RunStep.find({ id: report.stepId, runId: run.id, leaseId: report.leaseId }, trx);
    if (!step) return RunStep.refuse();
    if (isReadOnly(step.role))
      throw conflict(`A ${step.role} must not change files, so no checkpoint is accepted from it.`);
    const isKnown = await Artifact.query(trx).select('id').findOne({ contentKey, orgId: run.orgId });
    if (isKnown) return;
    const { sizeBytes } = await claimContent(trx, run.orgId, contentKey);
    const { id: stepId, runId, orgId, projectId, sandboxId, role } = step;
    const [artifactId, createdAt] = [newId('artifact'), now()];
    await Artifact.insert(trx, {
      id: artifactId,
      orgId,
      projectId,
      sandboxId,
      role,
      // The artifact is attached to no issue of the tracker, because a checkpoint proves nothing about the result of the mission.
      issueId: null,
      sessionId: null,
      kind: 'file',
      contentType: 'application/x-git-bundle',
      caption: `Checkpoint of step ${step.seq + 1}`,
      contentKey: contentKey as Id<'content'>,
      sizeBytes,
      createdAt,
      expiresAt: createdAt + lifetimesMs.artifact,
    });
    const before = await Checkpoint.find({ stepId }, trx);
    const changes = { artifactId, commitSha, sessionId, createdAt };
    if (before) {
      await Checkpoint.patch(trx, { stepId }, changes);
      await Artifact.query(trx).deleteById(before.artifactId);
    } else await Checkpoint.insert(trx, { stepId, runId, orgId, projectId, ...changes });
    await announce(trx, run.id);
  });
