// The append-only ledger of mission costs.
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';

/** Rows are only added. The reporter chooses the id, so that a repeated report counts once. */
export class MissionCost extends BaseModel {
  static override tableName = 'mission_costs';
  static override noun = 'mission cost';
  static override columns = ['id', 'orgId', 'projectId', 'runId', 'sandboxId', 'usd', 'at'];

  declare id: Id<'missionCost'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  declare runId: string | null;
  declare sandboxId: string | null;
  declare usd: number;
  /** Epoch milliseconds. The cost counts for this UTC day. */
  declare at: number;
}
