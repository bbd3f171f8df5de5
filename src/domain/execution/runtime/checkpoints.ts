// What continues where another runtime left off: checkpoints as runtimes report them, and what they are told of earlier work.
import type { Caller } from '#access/principal.ts';
import { isoTime, now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { lifetimesMs } from '#limits.ts';
import { contentAddress } from '../../work/artifacts/address.ts';
import { claimContent } from '../../work/artifacts/content.ts';
import { Artifact } from '../../work/artifacts/model.ts';
import { lockHeldRun } from '../../work/runs/lock.ts';
import { spokenTo } from '../../work/runs/messages.ts';
import type { Run } from '../../work/runs/model.ts';
import { RunStep } from '../../work/runs/step-model.ts';
import { stepsOf } from '../../work/runs/steps.ts';
import { Checkpoint } from '../checkpoints/model.ts';
import { checkpointFor } from '../checkpoints/operations.ts';
import { historyPrompt, lostPrompt } from './prompts.ts';

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
    const isKnown = await Artifact.query(trx).select('id').findOne({ contentKey, orgId: run.orgId });
    if (isKnown) return;
    const { sizeBytes } = await claimContent(trx, run.orgId, contentKey);
    const { id: stepId, runId, orgId, projectId, sandboxId, role } = step;
    const [artifactId, createdAt] = [newId('artifact'), now()];
    await Artifact.query(trx).insert({
      id: artifactId,
      orgId,
      projectId,
      sandboxId,
      role,
      // No proof of work of its issue.
      issueId: null,
      sessionId: null,
      kind: 'file',
      contentType: 'application/x-git-bundle',
      caption: `Checkpoint of step ${step.seq + 1}`,
      contentKey: contentKey as Id<'content'>,
      sizeBytes,
      createdAt,
      expiresAt: createdAt + lifetimesMs.artifact,
    } as Partial<Artifact>);
    const before = await Checkpoint.find({ stepId }, trx);
    const changes = { artifactId, commitSha, sessionId, createdAt };
    if (before) {
      await Checkpoint.query(trx).findById(stepId).patch(changes);
      await Artifact.query(trx).deleteById(before.artifactId);
    } else await Checkpoint.query(trx).insert({ stepId, runId, orgId, projectId, ...changes } as Partial<Checkpoint>);
    await announce(trx, run.id);
  });

/** What a runtime has to know to continue work of another one. */
export interface Recovery {
  /** Where the bundle is; null: nothing but the pushed branch. */
  checkpoint: { commitSha: string; url: string } | null;
  resumeSessionId: string | null;
  /** Said to a session that is resumed in the middle of its step. */
  resumePrompt: string | null;
  /** Said to a new session, before the prompt. */
  preamble: string | null;
}
export const noRecovery = { checkpoint: null, resumePrompt: null, preamble: null };

/** @param wasBegun Whether another runtime has worked on the step before, and was lost or has handed it back. */
export async function recover(trx: Transaction, run: Run, step: RunStep, wasBegun: boolean): Promise<Recovery> {
  const { resumeSessionId } = step;
  if (step.harness === 'shell') return { ...noRecovery, resumeSessionId };
  const found = await checkpointFor(trx, run, step);
  const checkpoint = found && { commitSha: found.commitSha, url: contentAddress(found.artifactId) };
  const recovery = { ...noRecovery, resumeSessionId, checkpoint: checkpoint ?? null };
  if (!wasBegun && resumeSessionId === null) return recovery;
  const [history, messages] = [await historyOf(trx, run, step), await spokenTo(trx, run.id)];
  const preamble = historyPrompt({ ...history, wasBegun, messages });
  const stepCheckpoint = wasBegun && found?.stepId === step.id ? found : undefined;
  if (!stepCheckpoint?.sessionId) return { ...recovery, preamble };
  const since = messages.filter(({ acknowledgedAt }) => acknowledgedAt >= stepCheckpoint.createdAt);
  const resumePrompt = lostPrompt(isoTime(stepCheckpoint.createdAt), since);
  return { ...recovery, resumeSessionId: stepCheckpoint.sessionId, resumePrompt, preamble };
}

/** The steps before, those of the run that is continued first. */
async function historyOf(trx: Transaction, run: Run, { seq }: RunStep) {
  const continued = run.continuesStepId ? await RunStep.find({ id: run.continuesStepId }, trx) : undefined;
  const before = continued ? (await stepsOf(trx, continued.runId)).filter((one) => one.seq <= continued.seq) : [];
  const earlierSteps = (await stepsOf(trx, run.id)).filter((one) => one.seq < seq);
  return { task: run.prompt, steps: [...before, ...earlierSteps] };
}
