// Computes the state of a terminal. Even if the runtime reports nothing, a terminal ends with the lease of its run, when the runtime does
// not start it in time, and when the person who opened it has disconnected.
import { now } from '#foundation/clock.ts';
import { lookUp, sql, type Transaction } from '#foundation/postgres/database.ts';
import { isRunHeld } from '../runs/claim.ts';
import { awayMs, keptMs, openingMs } from './bounds.ts';
import type { Terminal, TerminalStatus } from './model.ts';

export interface TerminalState
  extends Pick<
    Terminal,
    'id' | 'orgId' | 'runId' | 'authorUserId' | 'author' | 'width' | 'height' | 'hasDevice' | 'createdAt'
  > {
  status: TerminalStatus;
  /** Why the terminal has ended; null while it is open. */
  reason: string | null;
}

const isHeld = isRunHeld('t.run_id', 't.lease_id', ['running']);

const stateSql = `select t.id, t.org_id, t.run_id, t.author_user_id, t.author, t.width, t.height, t.has_device, t.created_at,
    case when ended.reason is not null then 'ended' when t.opened_at is null then 'requested' else 'open' end as status, ended.reason
  from terminals t
  cross join lateral (select case
    when t.ended_at is not null then coalesce(t.reason, 'The shell has ended.')
    when not ${isHeld} then 'The runtime no longer works on the mission.'
    when t.opened_at is null and t.created_at <= $2 then 'The runtime did not start the shell within ${openingMs / 1_000} seconds.'
    when t.seen_at <= $3 then 'Nobody was connected for ${awayMs / 1_000} seconds.'
    end as reason) ended
  where t.id = $1`;

export async function findTerminalState(id: string, trx?: Transaction): Promise<TerminalState | undefined> {
  const [state] = await sql<TerminalState>(stateSql, [id, now() - openingMs, now() - awayMs], trx);
  return state;
}

/** A terminal that a person has requested. */
export interface RequestedTerminal extends Pick<TerminalState, 'author' | 'width' | 'height'> {
  terminalId: string;
  runId: string;
}

const requestedSql = `select t.id as terminal_id, t.run_id, t.author, t.width, t.height from terminals t
  join unnest($1::text[], $2::text[]) b (run_id, lease_id) on b.run_id = t.run_id and b.lease_id = t.lease_id
  where t.ended_at is null and t.opened_at is null order by t.created_at`;

/** Requested terminals of these runs whose shells the runtime has not started yet. */
export const requestedTerminals = (
  runs: readonly { runId: string; leaseId: string }[],
  trx?: Transaction,
): Promise<RequestedTerminal[]> =>
  lookUp(requestedSql, [runs.map(({ runId }) => runId), runs.map(({ leaseId }) => leaseId)], trx, runs.length);

/** Deletes terminals that ended more than a day ago; their recordings are artifacts. */
export const sweepTerminals = (): Promise<unknown> =>
  sql(`delete from terminals t where t.created_at <= $1 and not ${isHeld}`, [now() - keptMs]);
