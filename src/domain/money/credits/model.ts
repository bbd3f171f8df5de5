// The ledger of credits (docs/contract.md#billing). Amounts are integers, in millionths of a credit. A lot holds the credits of one grant
// or purchase. A transfer is a transaction of the ledger; its entries sum to zero for each lot. The database refuses changes, entries that
// do not balance and accounts below zero.
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export const lotKinds = ['trial', 'pack', 'subscription', 'grant'] as const;
export type LotKind = (typeof lotKinds)[number];
/** Kinds of transfers that change the organization's total; only these are listed for its members. */
export const listedKinds = ['grant', 'purchase', 'spend', 'refund', 'withdrawal', 'expiry'] as const;
export type TransferKind = (typeof listedKinds)[number] | 'reserve' | 'release';
export type Account = 'issued' | 'available' | 'reserved' | 'spent' | 'expired' | 'withdrawn';

export class CreditLot extends table('credit_lots', {
  id: column<Id<'creditLot'>>(),
  orgId: column<Id<'organization'>>(),
  kind: column<LotKind>(),
  orderId: column<string | null>(),
  /** When the credits can first be spent; null means at once. */
  startsAt: column<number | null>(),
  /** When the credits expire; null means never. */
  expiresAt: column<number | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'credit lot';
}

export class CreditTransfer extends table('credit_transfers', {
  id: column<Id<'creditTransfer'>>(),
  orgId: column<Id<'organization'>>(),
  /** Number of the transfer: 1, 2, 3 … within the organization. */
  seq: column<number>(),
  kind: column<TransferKind>(),
  /** Change of the organization's credits. Credits that missions have reserved still count as the organization's. */
  amount: column<number>(),
  /** The organization's credits after the transfer, including reserved credits. */
  balanceAfter: column<number>(),
  /** The part of a mission's cost that exceeded the credits; it is not charged later. */
  uncovered: column<number>(),
  /** Total spending of all missions up to this transfer, without subtracting refunds, and the number of missions. */
  spentAfter: column<number>(),
  missionsAfter: column<number>(),
  /**
   * The run to which the transfer belongs; null if it belongs to no run. Also null for the transfer of the kind `reserve` that is created
   * when missions start, because this transfer can reserve credits for several runs, which its entries name.
   */
  runId: column<string | null>(),
  orderId: column<string | null>(),
  note: column<string | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'ledger entry';
  static visibleTo = orgWide;
}

export class CreditEntry extends table('credit_entries', {
  transferId: column<CreditTransfer['id']>(),
  lotId: column<CreditLot['id']>(),
  account: column<Account>(),
  /** The run for which the account `reserved` is kept; empty for other accounts. */
  runId: column<string>(),
  amount: column<number>(),
  /** Number of the entry: 1, 2, 3 … within the account. */
  seq: column<number>(),
  /** Balance of the account after the entry. */
  balanceAfter: column<number>(),
}) {
  static override noun = 'credit entry';
  static override idColumn = ['lotId', 'account', 'runId', 'seq'];
}
