// The closure of an organization (docs/contract.md#closure).
import { orgWide } from '#access/reach.ts';
import { days } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';

/** How long a closed organization can be read before it is erased. */
export const closedRetentionMs = days(30);

export const closureBases = ['owner', 'service'] as const;
export type ClosureBasis = (typeof closureBases)[number];

export const settlementKinds = ['subscription', 'credits', 'sandboxes', 'schedules', 'tokens'] as const;
export interface Settlement {
  kind: (typeof settlementKinds)[number];
  /** A sentence for people. */
  description: string;
  /** The refund in US dollars; null without one. */
  amountUsd: number | null;
}

export class OrgClosure extends BaseModel {
  static override tableName = 'org_closures';
  static override noun = 'closure';
  static override idColumn = 'orgId';
  static override columns = ['orgId', 'basis', 'closedAt', 'closedByUserId', 'stepsDone', 'settlements', 'settledAt'];
  static override jsonAttributes = ['settlements'];
  static visibleTo = orgWide;

  declare orgId: Id<'organization'>;
  /** The role of the person who closed it: an owner, or the operator of the service. */
  declare basis: ClosureBasis;
  declare closedAt: number;
  declare closedByUserId: Id<'person'> | null;
  /** Number of completed `steps`. */
  declare stepsDone: number;
  /** Settlements of the completed steps. */
  declare settlements: Settlement[];
  /** When the last step was completed. */
  declare settledAt: number | null;
}

export const exportStatuses = ['preparing', 'ready', 'failed'] as const;

/** The archive with the data of a closed organization. */
export class OrgExport extends BaseModel {
  static override tableName = 'org_exports';
  static override noun = 'export';
  static override idColumn = 'orgId';
  static override columns = ['orgId', 'status', 'requestedAt', 'contentKey', 'sizeBytes', 'finishedAt', 'failure'];

  declare orgId: Id<'organization'>;
  /** `failed` while the next attempt is pending, and after the last. */
  declare status: (typeof exportStatuses)[number];
  declare requestedAt: number;
  /** Key of the latest attempt's content in the storage. */
  declare contentKey: string | null;
  /** Size of the archive in bytes; null unless the export is ready. */
  declare sizeBytes: number | null;
  declare finishedAt: number | null;
  /** Why the last attempt failed. */
  declare failure: string | null;
}
