// The orchestrator settings of an organization (docs/contract.md#orchestrator). An organization with default settings has no row.

import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import type { Integration } from '../../projects/integrations/model.ts';

export class Orchestrator extends BaseModel {
  static override tableName = 'orchestrators';
  static override noun = 'orchestrator';
  static override idColumn = 'orgId';
  static override columns = [
    'orgId',
    'name',
    'blurb',
    'model',
    'llmConnectorId',
    'inferenceEnabled',
    'planApproval',
    'dailyCostCapUsd',
    'updatedAt',
  ];

  declare orgId: Id<'organization'>;
  /** Null in this and the next two columns: the built-in value. */
  declare name: string | null;
  declare blurb: string | null;
  declare model: string | null;
  declare llmConnectorId: Integration['id'] | null;
  /** Whether the orchestrator may call its model. */
  declare inferenceEnabled: boolean;
  /** Whether a person has to approve each plan. */
  declare planApproval: boolean;
  declare dailyCostCapUsd: number | null;
  declare updatedAt: number;
}
