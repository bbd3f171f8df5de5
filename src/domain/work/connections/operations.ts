// Reads the connections of a run.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, withinReach } from '#access/reach.ts';
import { days, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { findRun } from '../runs/operations.ts';
import { Connection } from './model.ts';

/**
 * Connections of a run: blocked ones first, then failed, then allowed ones; the most frequent first within each group.
 * @throws 404
 */
export async function listConnections(caller: Caller, runId: string): Promise<Connection[]> {
  const { id } = await findRun(caller, runId);
  return Connection.findAll({ runId: id, ...withinReach(caller) });
}

/** Number of days for which a run counts as recent. */
export const recentDays = 30;

const recentRunsSql = `select host, count(distinct run_id) as runs from connections
  where org_id = $1 and host = any($2) and verdict = 'blocked' and updated_at >= $3 and ($4::text is null or project_id = $4)
  group by host`;

/** Number of recent runs, visible to the caller, in which these hosts were blocked. */
export const countRunsBlocking = (hosts: readonly string[], caller: Caller) =>
  sql<{ host: string; runs: number }>(recentRunsSql, [
    ownOrganization(caller),
    hosts,
    now() - days(recentDays),
    caller.projectId,
  ]);
