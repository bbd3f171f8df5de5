// The closure of an organization (docs/contract.md#closure).
import { orgWide } from '#access/reach.ts';
import { days } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

/** How long a closed organization can be read before it is erased. */
export const closedRetentionMs = days(30);

export const closureBases = ['owner', 'service'] as const;
export type ClosureBasis = (typeof closureBases)[number];

export const settlementKinds = ['subscription', 'credits', 'sandboxes', 'schedules', 'tokens'] as const;
export interface Settlement {
  kind: (typeof settlementKinds)[number];
  /** Sentences that tell people what was settled. */
  description: string;
  /** The refund in US dollars; null without one. */
  amountUsd: number | null;
}

export class OrgClosure extends table('org_closures', {
  orgId: column<Id<'organization'>>(),
  /** The actor who closed the organization: an owner, or the operator of the service. */
  basis: column<ClosureBasis>(),
  closedAt: column<number>(),
  closedByUserId: column<Id<'person'> | null>(),
  /** Number of completed `steps`. */
  stepsDone: column<number>(),
  /** The results (settlements) of the completed steps. */
  settlements: column<Settlement[]>(),
  /** When the last step was completed. */
  settledAt: column<number | null>(),
}) {
  static override noun = 'closure';
  static override idColumn = 'orgId';
  static override jsonAttributes = ['settlements'];
  static visibleTo = orgWide;
}

export const exportStatuses = ['preparing', 'ready', 'failed'] as const;

/** The archive with the data of a closed organization. */
export class OrgExport extends table('org_exports', {
  orgId: column<Id<'organization'>>(),
  /** Status of the export. It is `failed` after a failed attempt, even if another attempt will follow. */
  status: column<(typeof exportStatuses)[number]>(),
  requestedAt: column<number>(),
  /** Storage key of the latest attempt's archive. */
  contentKey: column<string | null>(),
  /** Size of the archive in bytes; null unless the export is ready. */
  sizeBytes: column<number | null>(),
  finishedAt: column<number | null>(),
  /** Error of the last attempt to write the archive. */
  failure: column<string | null>(),
}) {
  static override noun = 'export';
  static override idColumn = 'orgId';
}
