// The closure of an organization (docs/contract.md#closure).
import { orgWide } from '#access/reach.ts';
import { days } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';

/** A closed organization can be read for so long; then it is erased. */
export const closedRetentionMs = days(30);

export const closureBases = ['owner', 'service'] as const;
export type ClosureBasis = (typeof closureBases)[number];

export const settlementKinds = ['subscription', 'credits', 'sandboxes', 'schedules', 'tokens'] as const;
export interface Settlement {
  kind: (typeof settlementKinds)[number];
  /** A sentence for people. */
  description: string;
  /** What is refunded, if anything. */
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
  /** Who closed it: one of its owners, or the operator of the service. */
  declare basis: ClosureBasis;
  declare closedAt: number;
  declare closedByUserId: Id<'person'> | null;
  /** How many of `steps` are done. */
  declare stepsDone: number;
  /** Of the steps that are done. */
  declare settlements: Settlement[];
  /** When the last step was done. */
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
  /** `failed` while the next try is waited for, and after the last. */
  declare status: (typeof exportStatuses)[number];
  declare requestedAt: number;
  /** Of the latest try, in the storage. */
  declare contentKey: string | null;
  /** Of the archive; null unless it is ready. */
  declare sizeBytes: number | null;
  declare finishedAt: number | null;
  /** Why the last try failed. */
  declare failure: string | null;
}
