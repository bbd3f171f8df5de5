// The orchestrator settings of an organization (docs/contract.md#orchestrator). An organization with default settings has no row.

import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { Integration } from '../../projects/integrations/model.ts';

export class Orchestrator extends table('orchestrators', {
  orgId: column<Id<'organization'>>(),
  /** Name of the orchestrator. Null in `name`, `blurb` or `model` means the built-in value. */
  name: column<string | null>(),
  blurb: column<string | null>(),
  model: column<string | null>(),
  llmConnectorId: column<Integration['id'] | null>(),
  /** Whether the orchestrator may call its model. */
  inferenceEnabled: column<boolean>(),
  /** Whether a person has to approve each plan. */
  planApproval: column<boolean>(),
  dailyCostCapUsd: column<number | null>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'orchestrator';
  static override idColumn = 'orgId';
}
