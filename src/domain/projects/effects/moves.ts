// Changes the states of effects. Each change is one statement, which does nothing if the current state does not allow it.
import { minutes, now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import type { Patch } from '#foundation/postgres/base-model.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { type EffectState, OutsideEffect, waitingEffectStates } from './model.ts';

export interface Decider {
  id: Id<'person'>;
  name: string;
}

/** Approves or rejects waiting effects. Returns the number of changed effects. */
export const settleWaiting = (
  trx: Transaction,
  ids: readonly string[],
  state: Extract<EffectState, 'approved' | 'rejected'>,
  { id: decidedByUserId, name: decidedBy }: Decider,
): Promise<number> => {
  const at = now();
  const decided = { decidedByUserId, decidedBy, decidedAt: at, updatedAt: at };
  return OutsideEffect.query(trx)
    .whereIn('id', [...ids])
    .whereIn('state', [...waitingEffectStates])
    .patch({ state, error: null, attempts: 0, ...decided }) as unknown as Promise<number>;
};

export type ClaimedEffect = OutsideEffect & Pick<OutsideEffect, 'attempts' | 'leaseUntil'>;

/** How long one process carries out an effect exclusively; longer than the time limit of any effect. */
const leaseMs = minutes(6);

// A pull request is skipped until its branch is pushed. A tool call is never repeated, because a process that has died may already have
// made it.
const claimSql = `update outside_effects set state = 'committing', attempts = attempts + 1, lease_until = $2, updated_at = $3
  where id = (
    select e.id from outside_effects e where e.run_id = $1
      and (e.state = 'approved' or e.state = 'committing' and e.lease_until <= $3 and e.kind <> 'mcp_call')
      and not (e.kind = 'pull_request' and exists (select from outside_effects p where p.project_id = e.project_id
        and p.kind = 'push' and p.key = e.key and p.state in ('approved', 'committing')))
    order by e.position, e.created_at, e.id limit 1 for update
  ) returning ${columnsOf(OutsideEffect)}, attempts, lease_until`;

/** The next approved effect of the run, which this process now carries out; undefined when there is none. */
export async function claimEffect(runId: string): Promise<ClaimedEffect | undefined> {
  const at = now();
  return (await sql<ClaimedEffect>(claimSql, [runId, at + leaseMs, at]))[0];
}

const failSql = `update outside_effects e set state = 'failed', updated_at = $2, error = case e.kind when 'mcp_call'
    then 'The process ended during the call, which may have been made. Check the effect before you approve it again.'
    else 'The push of the branch has failed.' end
  where e.run_id = $1 and (e.kind = 'mcp_call' and e.state = 'committing' and e.lease_until <= $2
    or e.kind = 'pull_request' and e.state = 'approved' and exists (select from outside_effects p
      where p.project_id = e.project_id and p.kind = 'push' and p.key = e.key and p.state = 'failed'))
  returning e.id`;

/**
 * Marks effects as failed, so that a person decides about them again. A tool call is marked if the process that made the call has ended. A pull
 * request is marked if its branch could not be pushed. Returns the number of effects that were marked.
 */
export const failStuckEffects = async (trx: Transaction, runId: string): Promise<number> =>
  (await sql(failSql, [runId, now()], trx)).length;

const unfinishedSql = `select count(*)::int as count from outside_effects where run_id = $1 and state in ('approved', 'committing')`;

/** Number of approved effects that have not been carried out yet. */
export const countUnfinished = async (runId: string, trx?: Transaction): Promise<number> =>
  (await sql<{ count: number }>(unfinishedSql, [runId], trx))[0]!.count;

/**
 * Writes the changes to the effect, and ends the lease, during which only this process may carry out the effect. Returns false, and writes
 * nothing, when this process has lost the lease, for example to another process.
 */
export const endHold = async (
  trx: Transaction,
  { id, leaseUntil }: ClaimedEffect,
  changes: Patch<OutsideEffect> & { state: EffectState },
): Promise<boolean> =>
  (await OutsideEffect.patch(
    trx,
    { id, state: 'committing', leaseUntil },
    { ...changes, leaseUntil: null, updatedAt: now() },
  )) > 0;
