// What an organization has set of its orchestrator, and the append-only account of what missions cost (specification,
// Orchestrator settings). An organization that has set nothing has no row.
import type { Id } from '#foundation/ids.ts';
import { Stored } from '#foundation/record.ts';
import type { Integration } from '../integrations/model.ts';

export class Orchestrator extends Stored {
  static override tableName = 'orchestrators';
  static override idColumn = 'orgId';
  static override columns = [
    'orgId',
    'name',
    'blurb',
    'model',
    'llmConnectorId',
    'inferenceEnabled',
    'dailyCostCapUsd',
    'updatedAt',
  ];

  declare orgId: Id<'organization'>;
  /** Null in this and the next two: as the service has it. */
  declare name: string | null;
  declare blurb: string | null;
  declare model: string | null;
  declare llmConnectorId: Integration['id'] | null;
  /** Whether the orchestrator may ask its model. */
  declare inferenceEnabled: boolean;
  declare dailyCostCapUsd: number | null;
  declare updatedAt: number;
}

/** Rows are only ever added. The id is made by whoever reports, so that a report that is repeated counts once. */
export class MissionCost extends Stored {
  static override tableName = 'mission_costs';
  static override columns = ['id', 'orgId', 'projectId', 'runId', 'sandboxId', 'usd', 'at'];

  declare id: Id<'missionCost'>;
  declare orgId: Id<'organization'>;
  declare projectId: Id<'project'>;
  declare runId: string | null;
  declare sandboxId: string | null;
  declare usd: number;
  /** Epoch milliseconds: the UTC day it counts for. */
  declare at: number;
}
