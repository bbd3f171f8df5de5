// The ledger of credits (docs/contract.md#billing). Amounts are integers, in millionths of a credit. A lot holds the credits of one grant
// or purchase; a transfer is a transaction of the ledger, whose entries sum to zero for each lot. The database refuses changes, entries
// that do not balance and accounts below zero.
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';

export const lotKinds = ['trial', 'pack', 'subscription', 'grant'] as const;
export type LotKind = (typeof lotKinds)[number];
/** The kinds that change the amount owned by the organization, and are shown to it. */
export const listedKinds = ['grant', 'purchase', 'spend', 'refund', 'withdrawal', 'expiry'] as const;
export type TransferKind = (typeof listedKinds)[number] | 'reserve' | 'release';
export type Account = 'issued' | 'available' | 'reserved' | 'spent' | 'expired' | 'withdrawn';

export class CreditLot extends BaseModel {
  static override tableName = 'credit_lots';
  static override noun = 'credit lot';
  static override columns = ['id', 'orgId', 'kind', 'orderId', 'startsAt', 'expiresAt', 'createdAt'];

  declare id: Id<'creditLot'>;
  declare orgId: Id<'organization'>;
  declare kind: LotKind;
  declare orderId: string | null;
  /** Null: spendable at once. */
  declare startsAt: number | null;
  /** Null: never. */
  declare expiresAt: number | null;
  declare createdAt: number;
}

export class CreditTransfer extends BaseModel {
  static override tableName = 'credit_transfers';
  static override noun = 'ledger entry';
  static visibleTo = orgWide;
  static override columns = [
    'id',
    'orgId',
    'seq',
    'kind',
    'amount',
    'balanceAfter',
    'uncovered',
    'spentAfter',
    'missionsAfter',
    'runId',
    'orderId',
    'note',
    'createdAt',
  ];

  declare id: Id<'creditTransfer'>;
  declare orgId: Id<'organization'>;
  /** 1, 2, 3 … within the organization. */
  declare seq: number;
  declare kind: TransferKind;
  /** Change of the amount owned by the organization, reserved credits included. */
  declare amount: number;
  /** Amount owned by the organization after the transfer. */
  declare balanceAfter: number;
  /** The part of a mission's cost that no credits covered; it is not charged later. */
  declare uncovered: number;
  /** Total spending of all missions up to this transfer, refunds not subtracted, and the number of missions. */
  declare spentAfter: number;
  declare missionsAfter: number;
  /** Null for a `reserve` at the start of missions: the entries name their runs. */
  declare runId: string | null;
  declare orderId: string | null;
  declare note: string | null;
  declare createdAt: number;
}

export class CreditEntry extends BaseModel {
  static override tableName = 'credit_entries';
  static override noun = 'credit entry';
  static override idColumn = ['lotId', 'account', 'runId', 'seq'];
  static override columns = ['transferId', 'lotId', 'account', 'runId', 'amount', 'seq', 'balanceAfter'];

  declare transferId: CreditTransfer['id'];
  declare lotId: CreditLot['id'];
  declare account: Account;
  /** The run that the account `reserved` is for; empty for the others. */
  declare runId: string;
  declare amount: number;
  /** 1, 2, 3 … within the account. */
  declare seq: number;
  /** Balance of the account after the entry. */
  declare balanceAfter: number;
}
