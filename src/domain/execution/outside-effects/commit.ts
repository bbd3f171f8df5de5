// Carries out approved effects, each in a job of its own. A process may be killed at any moment: an effect that the host can recognize is
// sent again, and the host ignores the repetition; a tool call is never repeated without a person's decision.
import { now } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { toProblem } from '#foundation/problem.ts';
import {
  type ClaimedEffect,
  claimEffect,
  countUnfinished,
  endHold,
  failStuckEffects,
} from '../../projects/effects/moves.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { performEffect } from './perform.ts';

/**
 * Maximum number of attempts to carry out an approved effect. If the last attempt fails, a person has to approve or reject the effect once
 * more.
 */
const maxAttempts = 8;

/** Carries out the next approved effect of the run. @throws an error if another attempt may succeed */
export async function commitNextEffect({ runId }: { runId: string }): Promise<void> {
  await transaction(async (trx) => {
    if ((await failStuckEffects(trx, runId)) > 0) await announce(trx, runId);
  });
  const effect = await claimEffect(runId);
  if (effect) return commitEffect(effect);
  // This process could not claim the unfinished effect, because another process has claimed it or the push that must precede it. The other
  // process may have ended, so the error lets the job try again later.
  if ((await countUnfinished(runId)) > 0)
    throw new Error('another process has claimed an outside effect of this run and has not finished it');
}

async function commitEffect(effect: ClaimedEffect): Promise<void> {
  const { runId, kind, attempts } = effect;
  try {
    const { resultUrl, record } = await performEffect(effect);
    await transaction(async (trx) => {
      const committed = { state: 'committed', committedAt: now(), resultUrl, error: null } as const;
      if (!(await endHold(trx, effect, committed))) return;
      await record(trx);
      await enqueue(trx, 'commit effects', { runId });
      await announce(trx, runId);
    });
  } catch (error) {
    const { body } = toProblem(error);
    const ends = isFinal(error) || kind === 'mcp_call' || attempts >= maxAttempts;
    // Waiting for the end of a rate limit does not count as an attempt.
    const counted = body.code === 'upstream_busy' ? attempts - 1 : attempts;
    await transaction(async (trx) => {
      const state = ends ? 'failed' : 'approved';
      await endHold(trx, effect, { state, error: body.description, attempts: counted });
      if (ends) await enqueue(trx, 'commit effects', { runId });
      await announce(trx, runId);
    });
    if (!ends) throw error;
  }
}
