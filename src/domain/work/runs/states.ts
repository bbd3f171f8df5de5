// The states of a run and the moves between them. Every change of `status` is written with `moveRuns` or `moveRunsSql`, which change
// nothing on a run whose state does not allow the move.

import { now } from '#foundation/clock.ts';
import type { Key, Patch } from '#foundation/postgres/base-model.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { openStatuses, Run, type RunStatus, runStatuses } from './model.ts';

/**
 * States of a run. The two waiting states have the status `dispatching`: a run without an issue waits for the issue, a run with an issue
 * waits for a runtime.
 */
export const runStates = [
  'waitingForIssue',
  'waitingForRuntime',
  'running',
  'completed',
  'failed',
  'skipped',
  'canceled',
] as const;
export type RunState = (typeof runStates)[number];

export const runMoves: Readonly<Record<RunState, readonly RunState[]>> = {
  waitingForIssue: ['waitingForRuntime', 'failed', 'canceled'],
  // A waiting run may still be leased to a runtime that stopped sending heartbeats. That runtime may hand back or finish the run until
  // another runtime claims it.
  waitingForRuntime: ['waitingForRuntime', 'running', 'completed', 'failed', 'canceled'],
  // A move to the same state is allowed, because a heartbeat renews the lease.
  running: ['running', 'waitingForRuntime', 'completed', 'failed', 'canceled'],
  completed: [],
  failed: [],
  skipped: [],
  canceled: [],
};

export const statesBefore = (next: RunState): RunState[] => runStates.filter((state) => runMoves[state].includes(next));

export const waitingStates: readonly RunState[] = ['waitingForIssue', 'waitingForRuntime'];
/** States in which a runtime may hold a lease. */
export const heldStates: readonly RunState[] = ['waitingForRuntime', 'running'];
export const openStates: readonly RunState[] = [...waitingStates, 'running'];

export const statusOfState = (state: RunState): RunStatus =>
  state === 'waitingForIssue' || state === 'waitingForRuntime' ? 'dispatching' : state;

export const isOpen = ({ status }: Pick<Run, 'status'>): boolean => openStatuses.includes(status);

/**
 * Whether the run is an attempt that is not chosen, so that nobody outside may learn of its work: it gets no pull request, no commit status
 * and no comment.
 */
export const isWithheld = ({ attemptState }: Pick<Run, 'attemptState'>): boolean =>
  attemptState === 'open' || attemptState === 'closed';

/**
 * SQL condition: the run is not withheld, because it is the only attempt at its task, or the one that a person has chosen. With `coalesce`,
 * PostgreSQL would expect few such runs, and read all runs instead of only the newest.
 */
export const isNotWithheldSql = (run: string): string =>
  `(${run}.attempt_state is null or ${run}.attempt_state = 'chosen')`;

/** Returns true both for a run that waits for its issue and for a run that waits for a runtime. */
export const isWaiting = ({ status }: Pick<Run, 'status'>): boolean => status === 'dispatching';

export const isWaitingForIssue = (run: Pick<Run, 'status' | 'issueId'>): boolean =>
  isWaiting(run) && run.issueId === null;

/** SQL condition: the run with this alias is in one of the states. The condition implies the conditions of the partial indexes. */
export function isInState(states: readonly RunState[], run = 'runs'): string {
  const statuses = runStatuses.filter((status) => {
    const within = runStates.filter((state) => statusOfState(state) === status);
    return within.every((state) => states.includes(state));
  });
  const whole = statuses.map((status) => `'${status}'`).join(', ');
  const alternatives =
    statuses.length > 0 ? [`${run}.status ${statuses.length > 1 ? `in (${whole})` : `= ${whole}`}`] : [];
  const waiting = states.filter((state) => waitingStates.includes(state));
  if (waiting.length === 1) {
    const isThere = waiting[0] === 'waitingForIssue' ? 'is null' : 'is not null';
    alternatives.push(`${run}.status = 'dispatching' and ${run}.issue_id ${isThere}`);
  }
  return alternatives.length > 1 ? `(${alternatives.join(' or ')})` : alternatives[0]!;
}

/** Runs that a runtime could claim: they do not wait for the approval of a plan, the end of an interruption, or a higher limit. */
export const waitsForRuntime = (run = 'runs'): string =>
  `${isInState(['waitingForRuntime'], run)} and not ${run}.awaits_approval and ${run}.interrupted_at is null
    and ${run}.parked_at is null`;

interface Move {
  /** States in which the run must be; absent means all states from which the move is allowed. */
  from?: readonly RunState[];
  /** SQL assignments to further columns. */
  set: string;
  /** SQL clause `from …` of the update. */
  source?: string;
  where: string;
}

/** SQL of an update of runs `r`; the caller may append `returning …`. */
export const moveRunsSql = (next: RunState, { from = statesBefore(next), set, source = '', where }: Move): string =>
  `update runs r set status = '${statusOfState(next)}', ${set} ${source} where ${where} and ${isInState(from, 'r')}`;

/** Moves the matching runs to a state, and returns the ids of the moved runs. */
export async function moveRuns(
  trx: Transaction,
  next: RunState,
  where: Key<Run>,
  changes: Patch<Run>,
  from: readonly RunState[] = statesBefore(next),
): Promise<Pick<Run, 'id' | 'leaseId' | 'headSha' | 'originDeliveryId' | 'originNumber'>[]> {
  return Run.query(trx)
    .where(where)
    .whereRaw(isInState(from))
    .patch({ ...(changes as object), status: statusOfState(next), updatedAt: now() })
    .returning(['id', 'leaseId', 'headSha', 'originDeliveryId', 'originNumber']);
}

/** SQL condition: the organization has an open run. `orgId` is an SQL expression. */
export const hasOpenRunSql = (orgId: string): string =>
  `exists (select from runs r where r.org_id = ${orgId} and ${isInState(openStates, 'r')})`;
