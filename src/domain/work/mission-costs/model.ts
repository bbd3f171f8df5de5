// The append-only ledger of mission costs.
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

/** A cost of a mission. A row never changes after it was added. The reporter chooses the id, so that a repeated report is counted once. */
export class MissionCost extends table('mission_costs', {
  id: column<Id<'missionCost'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  runId: column<string | null>(),
  sandboxId: column<string | null>(),
  usd: column<number>(),
  /** When the cost was recorded, in epoch milliseconds; the cost counts for the UTC day of this time. */
  at: column<number>(),
}) {
  static override noun = 'mission cost';
}
