// Reads the connections of a run.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import type { Row } from '#foundation/postgres/base-model.ts';
import { findRun } from '../runs/operations.ts';
import { Connection } from './model.ts';

/** Connections of a run: refused ones first, then the most frequent. @throws 404 */
export async function listConnections(caller: Caller, runId: string): Promise<Row<Connection>[]> {
  const { id } = await findRun(caller, runId);
  return Connection.findAll({ runId: id, ...withinReach(caller) });
}
