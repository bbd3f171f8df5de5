// The closure of an organization (specification, OrgClosure; design decisions, section 4, ClosureSettlement).
import { orgWide } from '#access/reach.ts';
import { BaseModel } from '#foundation/base-model.ts';
import { days } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';

/** A closed organization can be read for so long; then it is erased. */
export const retentionMs = days(30);

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
