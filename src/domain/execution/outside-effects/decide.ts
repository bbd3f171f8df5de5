// People's decisions about the outside effects of a run. Approved effects are performed once each, in the background; rejected effects are
// never performed.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, notFound } from '#foundation/problem.ts';
import { OutsideEffect, payloadOf, waitingEffectStates } from '../../projects/effects/model.ts';
import { settleWaiting } from '../../projects/effects/moves.ts';
import { expireArtifacts } from '../../work/artifacts/operations.ts';
import { Run } from '../../work/runs/model.ts';
import { findRun } from '../../work/runs/operations.ts';
import { authorOf, lockRunInReach } from '../../work/runs/steering.ts';

export type EffectDecision = 'approved' | 'rejected';

export interface ChosenEffects {
  runId: string;
  /** Ids of the effects; absent means all effects that wait for a decision. */
  effectIds?: readonly string[] | null | undefined;
  /** Digests of the effects as the person saw them. If absent, the decision applies to the effects as they are now. */
  digests?: readonly string[] | null | undefined;
}

/**
 * Decides about effects that wait. A repeated decision changes nothing. @throws 404 for an unknown run or effect; 409 for an effect that was
 * decided differently before, for an effect that has changed since the person saw it, for a pull request whose push is not approved, and
 * when no effect waits
 */
export const decideEffects = (caller: Caller, decision: EffectDecision, asked: ChosenEffects): Promise<Run> =>
  transaction(async (trx) => {
    const run = await lockRunInReach(trx, caller, asked.runId);
    const { authorUserId: id, author: name } = await authorOf(caller);
    const effects = await OutsideEffect.query(trx).where({ runId: run.id }).forUpdate();
    const chosen = withDependents(decision, effects, choose(decision, run, effects, asked));
    if (chosen.length > 0) {
      const ids = chosen.map((one) => one.id);
      await settleWaiting(trx, ids, decision, { id: id!, name });
      if (decision === 'approved') await enqueue(trx, 'commit effects', { runId: run.id });
      else await dropBundles(trx, chosen);
      await enqueue(trx, 'attest', { runId: run.id });
      await announce(trx, run.id);
    }
    return (await Run.find({ id: run.id }, trx))!;
  });

/** The effects of these runs that the caller can access, in their order. */
export const effectsOf = (runIds: readonly string[], caller: Caller): Promise<OutsideEffect[]> =>
  OutsideEffect.findByKeys('runId', runIds, withinReach(caller));

/** The outside effects of a run, in their order. @throws 404 */
export async function listEffects(caller: Caller, runId: string): Promise<{ data: OutsideEffect[] }> {
  const { id } = await findRun(caller, runId);
  return { data: await effectsOf([id], caller) };
}

const waits = ({ state }: OutsideEffect): boolean => waitingEffectStates.includes(state);

const decided: Record<EffectDecision, readonly OutsideEffect['state'][]> = {
  approved: ['approved', 'committing', 'committed'],
  rejected: ['rejected'],
};

/** The effects whose state changes; empty when all of them were decided in the same way before. */
function choose(
  decision: EffectDecision,
  run: Run,
  effects: readonly OutsideEffect[],
  asked: ChosenEffects,
): OutsideEffect[] {
  const { effectIds, digests } = asked;
  const named =
    effectIds?.map((id) => effects.find((one) => one.id === id) ?? notFoundEffect()) ?? effects.filter(waits);
  if (named.length === 0) {
    if (effects.some(({ state }) => decided[decision].includes(state))) return [];
    throw conflict(
      run.status === 'canceled'
        ? 'The run was canceled, so its outside effects were rejected.'
        : 'This run has no outside effect that waits for a decision.',
    );
  }
  for (const one of named) {
    if (!waits(one) && !decided[decision].includes(one.state))
      throw conflict(`The outside effect ${one.id} is ${one.state}: it can no longer be ${decision}.`);
    if (digests && waits(one) && !digests.includes(one.digest))
      throw conflict.field('digests', `the outside effect ${one.id} has changed since it was read. Read it again`);
  }
  return named.filter(waits);
}

const notFoundEffect = (): never => {
  throw notFound('outside effect of the run');
};

/** A pull request needs the push of its branch: it cannot be approved without that push, and is rejected together with it. */
function withDependents(
  decision: EffectDecision,
  effects: readonly OutsideEffect[],
  chosen: readonly OutsideEffect[],
): OutsideEffect[] {
  const others = effects.filter((one) => waits(one) && !chosen.includes(one));
  if (decision === 'rejected') {
    const branches = chosen.filter(({ kind }) => kind === 'push').map(({ key }) => key);
    return [...chosen, ...others.filter(({ kind, key }) => kind === 'pull_request' && branches.includes(key))];
  }
  const opened = chosen.find(({ kind }) => kind === 'pull_request');
  const push = opened && others.find(({ kind, key }) => kind === 'push' && key === opened.key);
  if (push) throw conflict.field('effectIds', `the pull request needs the push of its branch: approve ${push.id} too`);
  return [...chosen];
}

/** A rejected push no longer needs its stored commits. */
const dropBundles = (trx: Transaction, rejected: readonly OutsideEffect[]): Promise<void> =>
  expireArtifacts(
    trx,
    rejected.flatMap((one) => (one.kind === 'push' ? [payloadOf(one, 'push').artifactId] : [])),
  );
