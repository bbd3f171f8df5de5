// An organization's view of its credits: the balance, its sources, and the ledger by cursor.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Page, type PageRequest, packCursor, unpackCursor } from '#foundation/postgres/cursor.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { isSpendable, needsOpening, type OpenLot, openBook, readLots, sumOf } from './ledger.ts';
import { CreditLot, CreditTransfer } from './model.ts';

export interface CreditPosition {
  /** Amount that the organization owns, including reserved credits, in millionths of a credit. */
  owned: number;
  /** Amount that new missions can reserve now, in millionths of a credit. */
  spendable: number;
  lots: OpenLot[];
}

const ownedSql = `select balance_after as owned from credit_transfers where org_id = $1 order by seq desc limit 1`;

/**
 * Reads the credits of the organization. If the organization has no lot of credits, or if one of its lots has expired, the ledger is first
 * brought up to date.
 */
export async function readPosition(orgId: string, trx?: Transaction): Promise<CreditPosition> {
  let lots = await readLots(orgId, trx);
  if (needsOpening(lots)) {
    await transaction((newTrx) => openBook(newTrx, orgId));
    lots = await readLots(orgId, trx);
  }
  const [last] = await sql<{ owned: number }>(ownedSql, [orgId], trx);
  const at = now();
  return { owned: last?.owned ?? 0, spendable: sumOf(lots.filter((lot) => isSpendable(lot, at))), lots };
}

/** The lot with the credits of an order. It also contains the time from which, and the time until which, the credits can be spent. */
export const lotOfOrder = (orgId: string, orderId: string): Promise<CreditLot | undefined> =>
  CreditLot.find({ orgId: orgId as CreditLot['orgId'], orderId });

// The last spend before a given time. Its columns contain the ledger's totals up to that spend, so no earlier row has to be read.
export const usageSql = `select missions_after as missions, spent_after as spent from credit_transfers
  where org_id = $1 and kind = 'spend' and created_at < $2 order by created_at desc, seq desc limit 1`;

interface Usage {
  missions: number;
  spent: number;
}

const usageBefore = async (orgId: string, time: number): Promise<Usage> =>
  (await sql<Usage>(usageSql, [orgId, time]))[0] ?? { missions: 0, spent: 0 };

/**
 * Number of missions that have spent credits since a given time, and their spending in millionths of a credit. A mission counts when it is
 * first settled.
 */
export async function usageSince(orgId: string, since: number): Promise<Usage> {
  const [all, before] = await Promise.all([usageBefore(orgId, Number.MAX_SAFE_INTEGER), usageBefore(orgId, since)]);
  return { missions: all.missions - before.missions, spent: all.spent - before.spent };
}

const pageSql = `select ${columnsOf(CreditTransfer)} from credit_transfers
  where org_id = $1 and amount <> 0 and seq < $2 order by seq desc limit $3`;

/** The transfers that changed the amount owned by the organization, newest first. */
export async function listLedger(caller: Caller, { limit, cursor }: PageRequest): Promise<Page<CreditTransfer>> {
  const orgId = wholeOrganization(caller);
  await readPosition(orgId);
  const binding = `credit_transfers\n${orgId}`;
  const before = cursor == null ? Number.MAX_SAFE_INTEGER : unpackCursor(binding, cursor)[0];
  const rows = await sql<CreditTransfer>(pageSql, [orgId, before, limit + 1]);
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: rows.length > limit && last ? packCursor(binding, last.seq, last.id) : null };
}
