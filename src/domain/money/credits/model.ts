// The ledger of credits (docs/contract.md#billing). Amounts are integers, in millionths of a credit. A lot is what was granted or
// bought at once; a transfer is a transaction of the ledger, whose entries sum to zero for each lot. The database refuses changes,
// entries that do not balance and accounts below zero.
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';

export const lotKinds = ['trial', 'pack', 'subscription', 'grant'] as const;
export type LotKind = (typeof lotKinds)[number];
/** Those that change what the organization owns; they are shown to it. */
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
  /** Null: it can be spent at once. */
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
  /** What it adds to the credits that the organization owns, reserved ones included. */
  declare amount: number;
  /** What the organization owns after it. */
  declare balanceAfter: number;
  /** The part of a mission's cost for which there were no credits; nobody pays it later. */
  declare uncovered: number;
  /** What all missions have spent up to it, refunds not subtracted, and how many missions. */
  declare spentAfter: number;
  declare missionsAfter: number;
  /** Null of `reserve` too, when missions start: the entries name their runs. */
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
  /** Of the account. */
  declare balanceAfter: number;
}
