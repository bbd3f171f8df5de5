// Local changes that a person pushes to an ended mission. They replace the mission's newest checkpoint, from which it can be continued.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { lifetimesMs } from '#limits.ts';
import { claimContent, type ReservedContent, readContent, reserveContent } from '../../work/artifacts/content.ts';
import { Artifact } from '../../work/artifacts/model.ts';
import { newestOfBranch } from '../../work/runs/branch.ts';
import { appendMessage } from '../../work/runs/messages.ts';
import { Run } from '../../work/runs/model.ts';
import { isOpen } from '../../work/runs/states.ts';
import { authorOf, lockRunInReach } from '../../work/runs/steering.ts';
import { stepsOf } from '../../work/runs/steps.ts';
import { maxBundleBytes } from './bounds.ts';
import { Checkpoint } from './model.ts';
import { chooseCheckpoint } from './operations.ts';

export interface PushedCheckpoint {
  runId: string;
  contentKey: string;
  /** The id of a commit with all files of the local checkout that git does not ignore. Its parent is the commit that was checked out. */
  commitSha: string;
  /** The checkpoint that the local changes are based on. */
  replacesCommitSha: string;
}

/** Reserves an upload URL for the bundle. @throws 404, 409 unless the run has ended and may be continued */
export async function createCheckpointUpload(caller: Caller, runId: string): Promise<ReservedContent> {
  await authorOf(caller);
  const { orgId } = await transaction((trx) => lockPushable(trx, caller, runId));
  return reserveContent(orgId);
}

async function lockPushable(trx: Transaction, caller: Caller, runId: string): Promise<Run> {
  const run = await lockRunInReach(trx, caller, runId);
  if (isOpen(run))
    throw conflict(
      'The run has not ended: its agent would overwrite the changes. Wait until the run ends, or cancel it.',
    );
  if (run.attemptState === 'closed') throw conflict('Another attempt was chosen: this one cannot be continued.');
  const { projectId, branch } = run;
  const newest = branch === null ? run.id : await newestOfBranch(trx, { projectId, branch });
  if (newest !== run.id)
    throw conflict(`The run ${newest} continues this one and has moved the branch: pull from that run.`);
  return run;
}

/**
 * Replaces the newest checkpoint of the run. The earlier one stays an artifact. A repeated request changes nothing. @throws 400 for content
 * that is not a git bundle or is too large; 404; 409 unless the run has ended and may be continued, and for changes that are based on
 * another checkpoint
 */
export const pushCheckpoint = (caller: Caller, pushed: PushedCheckpoint): Promise<Run> =>
  transaction(async (trx) => {
    const author = await authorOf(caller);
    const run = await lockPushable(trx, caller, pushed.runId);
    const { step, checkpoint } = await chooseCheckpoint(trx, await stepsOf(trx, run.id), null);
    const before = (await Artifact.find({ id: checkpoint.artifactId }, trx))!;
    const { contentKey, commitSha, replacesCommitSha } = pushed;
    if (before.contentKey === contentKey) return Run.get({ id: run.id });
    if (checkpoint.commitSha !== replacesCommitSha)
      throw conflict.field('replacesCommitSha', `is not the newest checkpoint, which is ${checkpoint.commitSha}`);
    const { sizeBytes } = await claimContent(trx, run.orgId, contentKey);
    const [artifactId, createdAt] = [newId('artifact'), now()];
    const artifact = {
      ...before,
      ...{ id: artifactId, contentKey: contentKey as Id<'content'>, sizeBytes, createdAt },
      ...{ caption: `Changes of ${author.author}`, expiresAt: createdAt + lifetimesMs.artifact },
    };
    await refuseOther(artifact);
    await Artifact.insert(trx, artifact);
    await Checkpoint.patch(trx, { stepId: step.id }, { artifactId, commitSha, createdAt });
    await appendMessage(trx, run, { kind: 'push', text: commitSha.slice(0, 12), ...author });
    await announce(trx, run.id);
    return Run.get({ id: run.id });
  });

/** Checks only the beginning of the bundle: the runtime checks its commits when it unpacks them. @throws 400 */
async function refuseOther(artifact: Artifact): Promise<void> {
  if (artifact.sizeBytes > maxBundleBytes)
    throw invalid.field('contentKey', `must have at most ${maxBundleBytes.toLocaleString('en-GB')} bytes`);
  const chunks: Buffer[] = [];
  const beginning = await readContent(artifact, { first: 0, last: Math.min(16, artifact.sizeBytes) - 1 });
  for await (const chunk of beginning ?? []) chunks.push(chunk as Buffer);
  if (!/^# v[23] git bundle\n/.test(Buffer.concat(chunks).toString('latin1')))
    throw invalid.field('contentKey', 'must be a git bundle');
}
