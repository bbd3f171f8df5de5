// Stages the comment of a mission and the change of its issue's state, if these have to wait for approval.
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import type { EffectPayloads } from '../../projects/effects/model.ts';
import { waitsFor } from '../../projects/effects/policy.ts';
import { stageEffect, wasCommitted } from '../../projects/effects/staging.ts';
import type { IssueOutcome } from '../../projects/vendors/tracker.ts';
import { policyOfRun } from './effect-policy.ts';
import { commentOf } from './finish-text.ts';
import { lockRun } from './lock.ts';
import type { Run } from './model.ts';

type StagedComment = Omit<EffectPayloads['comment'], 'text'>;

/**
 * Stages the comment. Returns false when comments do not wait for approval: the caller then writes the comment. A link to the pull request
 * is added when the comment is written, because the pull request waits too.
 */
export async function stageComment(run: Run, title: string | null, place: StagedComment): Promise<boolean> {
  if (!waitsFor(await policyOfRun(run), 'comment')) return false;
  const text = await commentOf({ ...run, prUrl: null }, title);
  const key = place.issueId ?? `${place.place!.kind} ${place.place!.number}`;
  await transaction(async (trx) => {
    if (await mayStage(trx, run, 'comment', key))
      await stageEffect(trx, run, { kind: 'comment', key, payload: { ...place, text } });
  });
  return true;
}

/** Stages the parts of the outcome that have to wait, and returns the other parts. */
export async function stageOutcome(
  run: Run,
  title: string | null,
  issueId: string,
  { runId: ofRunId, closes, comment }: IssueOutcome,
): Promise<IssueOutcome> {
  const isStaged = comment !== null && (await stageComment(run, title, { ofRunId, issueId, place: null }));
  const closingWaits = closes && waitsFor(await policyOfRun(run), 'tracker');
  if (closingWaits)
    await transaction(async (trx) => {
      if (await mayStage(trx, run, 'tracker', issueId))
        await stageEffect(trx, run, { kind: 'tracker', key: issueId, payload: { ofRunId, issueId } });
    });
  return { runId: ofRunId, closes: closes && !closingWaits, comment: isStaged ? null : comment };
}

/** Whether the effect may be staged. For a canceled run, it may only update what an earlier effect has written. */
async function mayStage(trx: Transaction, run: Run, kind: 'comment' | 'tracker', key: string): Promise<boolean> {
  const present = await lockRun(trx, { id: run.id });
  if (!present) return false;
  return present.status !== 'canceled' || wasCommitted(trx, run.projectId, kind, key);
}
