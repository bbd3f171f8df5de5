// Changes of credits that missions do not cause themselves: granted and purchased credits, credits taken back when a customer withdraws
// from an order, and credits refunded for a mission.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { invalid } from '#foundation/problem.ts';
import { credits } from '#limits.ts';
import { credit } from './amounts.ts';
import { append, type CreditIssue, type Entry, issue, openBook, readLots } from './ledger.ts';
import type { CreditLot } from './model.ts';
import { reviewExhausted } from './reviews.ts';

export interface CreditGrant {
  lot: CreditIssue['lot'];
  /** Number of granted credits; an integer. */
  credits: number;
  note?: string | null;
}

/** Adds credits: a purchase when the lot has an order, else a grant. @throws 400 for a number that is not an integer within the bounds */
export async function grantCredits(trx: Transaction, orgId: string, grant: CreditGrant): Promise<CreditLot['id']> {
  const { min, max } = credits.perGrant;
  if (!Number.isInteger(grant.credits) || grant.credits < min || grant.credits > max)
    throw invalid.field('credits', `must be an integer ${min} to ${max}`);
  await openBook(trx, orgId);
  const transfer = { kind: grant.lot.orderId ? ('purchase' as const) : ('grant' as const), note: grant.note ?? null };
  const lotId = await issue(trx, orgId, { lot: grant.lot, amount: grant.credits * credit, transfer });
  await reviewExhausted(trx, orgId);
  return lotId;
}

/** Takes back the credits of the order that are neither spent nor reserved, and returns their amount; 0 for an expired lot. */
export async function withdrawCredits(trx: Transaction, orgId: string, orderId: string, note: string): Promise<number> {
  await openBook(trx, orgId);
  const lot = (await readLots(orgId, trx)).find((one) => one.orderId === orderId);
  if (!lot || lot.available === 0) return 0;
  const entries: Entry[] = [
    { lotId: lot.id, account: 'available', amount: -lot.available },
    { lotId: lot.id, account: 'withdrawn', amount: lot.available },
  ];
  await append(trx, orgId, [{ kind: 'withdrawal', orderId, note, entries }]);
  return lot.available;
}

// SQL for the credits that a run has spent from each lot, minus refunds; the lot that was used last comes first.
export const spentByRunSql = `select e.lot_id as id, sum(e.amount) as available from credit_transfers t
  join credit_entries e on e.transfer_id = ${reference('t.id')} and e.account = 'spent'
  where t.run_id = $1 and t.org_id = $2 group by e.lot_id having sum(e.amount) > 0 order by max(t.seq) desc, e.lot_id`;

/** Refunds all credits that a run has spent, to their lots. A repeated call refunds nothing. */
export async function refundRun(trx: Transaction, orgId: string, runId: string, note: string): Promise<number> {
  await openBook(trx, orgId);
  const spent = await sql<{ id: CreditLot['id']; available: number }>(spentByRunSql, [runId, orgId], trx);
  if (spent.length === 0) return 0;
  const entries = spent.flatMap(({ id: lotId, available: amount }): Entry[] => [
    { lotId, account: 'spent', amount: -amount },
    { lotId, account: 'available', amount },
  ]);
  await append(trx, orgId, [{ kind: 'refund', runId, note, entries }]);
  await reviewExhausted(trx, orgId);
  return spent.reduce((sum, { available }) => sum + available, 0);
}
