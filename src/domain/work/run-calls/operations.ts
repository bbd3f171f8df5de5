// Reads the calls of a run.
import type { Caller } from '#access/principal.ts';
import { type Page, type PageRequest, packCursor, unpackCursor } from '#foundation/postgres/cursor.ts';
import { sql } from '#foundation/postgres/database.ts';
import { selectionOf } from '#foundation/postgres/reads.ts';
import { findRun } from '../runs/operations.ts';
import { archivedCallsOf } from './archive.ts';
import { RunCall } from './model.ts';

const pageSql = `${selectionOf(RunCall)} where org_id = $1 and run_id = $2 and number > $3 order by number limit $4`;

/** Lists the calls of a run that the caller can reach. @throws 404 */
export async function listCalls(
  caller: Caller,
  { runId, limit, cursor }: PageRequest & { runId: string },
): Promise<Page<RunCall>> {
  const { id, orgId } = await findRun(caller, runId);
  const binding = `run_calls\n${id}`;
  const after = cursor == null ? 0 : unpackCursor(binding, cursor)[0];
  const found = await sql<RunCall>(pageSql, [orgId, id, after, limit + 1]);
  const rows = found.length > 0 ? found : (await archivedCallsOf(orgId, id)).slice(after, after + limit + 1);
  const data = rows.slice(0, limit);
  return { data, nextCursor: rows.length > limit ? packCursor(binding, data.at(-1)!.number, 'n') : null };
}
