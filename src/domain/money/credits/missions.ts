// Effects of missions on the ledger: a run reserves credits when it starts, reserves more as its cost grows, and is settled at its real
// cost when it has ended. Credits that expire first are reserved and spent first; reserved ones do not expire.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { credits } from '#limits.ts';
import { credit, creditsOf } from './amounts.ts';
import { append, type Entry, openBook, readSpendable, sumOf, take } from './ledger.ts';
import type { CreditLot } from './model.ts';
import { forgetExhausted, recordExhausted, reviewExhausted } from './reviews.ts';

const ahead = credits.reserved * credit;

/**
 * The number of missions that the organization may start now. Locks the organization's ledger until the transaction ends, unless `held` is
 * false; without the lock, another transaction may spend the credits first.
 */
export async function startableMissions(trx: Transaction, orgId: string, held = true): Promise<number> {
  return Math.ceil(sumOf(await (held ? openBook : readSpendable)(trx, orgId)) / ahead);
}

/**
 * Reserves credits for new runs. Before this in the same transaction, `startableMissions` must have locked the ledgers and found credits
 * for each run.
 */
export async function reserveForRuns(trx: Transaction, runs: readonly { id: string; orgId: string }[]): Promise<void> {
  for (const orgId of new Set(runs.map((run) => run.orgId))) {
    const lots = await readSpendable(trx, orgId);
    const reserved = runs
      .filter((run) => run.orgId === orgId)
      .flatMap(({ id: runId }) => take(lots, ahead).map((part) => ({ ...part, runId, isFirst: true })));
    if (reserved.length > 0) await append(trx, orgId, [{ kind: 'reserve', entries: reserving(reserved) }]);
  }
}

/**
 * Entries that move amounts to reservations: for each lot, one entry on the account `available` for all missions together, and one per
 * mission on `reserved`.
 */
function reserving(reserved: readonly Omit<Entry, 'account'>[]): Entry[] {
  const reservedByLot = new Map<CreditLot['id'], number>();
  for (const { lotId, amount } of reserved) reservedByLot.set(lotId, (reservedByLot.get(lotId) ?? 0) + amount);
  return [
    ...[...reservedByLot].map(([lotId, amount]): Entry => ({ lotId, account: 'available', amount: -amount })),
    ...reserved.map((part): Entry => ({ ...part, account: 'reserved' })),
  ];
}

// The newest balance of the run's `reserved` account in each lot, earliest expiry first.
const reservedSql = `select l.id, r.balance_after as available from (
    select distinct on (e.lot_id) e.lot_id, e.balance_after from credit_entries e
    where e.run_id = $1 and e.account = 'reserved' order by e.lot_id, e.seq desc
  ) r join credit_lots l on l.id = r.lot_id
  where r.balance_after > 0 order by l.expires_at nulls last, l.created_at, l.id`;

const bookedSql = `select coalesce(sum(uncovered - amount), 0) as booked from credit_transfers
  where run_id = $1 and kind = 'spend'`;

interface Held {
  id: CreditLot['id'];
  available: number;
}

/** The credits reserved by the run, by lot. */
export const readReserved = (runId: string, trx?: Transaction): Promise<Held[]> => sql<Held>(reservedSql, [runId], trx);

/**
 * Reserves credits so that the run can cost up to `needed` in total, in millionths. Requires the lock on the ledger. Returns how much the
 * run can cost, which is less than `needed` when the credits do not suffice.
 */
export async function reserveCreditsUpTo(
  trx: Transaction,
  { orgId, runId, needed }: { orgId: string; runId: string; needed: number },
): Promise<number> {
  const lots = await readSpendable(trx, orgId);
  const [{ booked } = { booked: 0 }] = await sql<{ booked: number }>(bookedSql, [runId], trx);
  const covered = booked + sumOf(await readReserved(runId, trx));
  if (needed <= covered) return covered;
  const more = take(lots, Math.max(needed - covered, ahead));
  const entries = reserving(more.map((part) => ({ ...part, runId })));
  if (more.length > 0) await append(trx, orgId, [{ kind: 'reserve', runId, entries }]);
  return covered + sumOfTaken(more);
}

export interface MissionCostSoFar {
  orgId: string;
  runId: string;
  /** Total cost so far, in millionths of a credit. */
  cost: number;
  isOver: boolean;
  /** Maximum cost of one mission, in millionths of a credit. */
  ceiling: number;
}

/** Books the cost of a mission so far; a repeated call changes nothing. */
export async function bookMission(trx: Transaction, mission: MissionCostSoFar): Promise<void> {
  const lots = await openBook(trx, mission.orgId);
  const held = await readReserved(mission.runId, trx);
  if (mission.isOver) await settle(trx, mission, held, lots);
  else await extend(trx, mission, held, lots);
}

async function settle(
  trx: Transaction,
  { orgId, runId, cost }: MissionCostSoFar,
  held: Held[],
  lots: Held[],
): Promise<void> {
  const [{ booked } = { booked: 0 }] = await sql<{ booked: number }>(bookedSql, [runId], trx);
  const due = Math.max(0, cost - booked);
  const fromReserved = take(held, due);
  const fromAvailable = take(lots, due - sumOfTaken(fromReserved));
  const uncovered = due - sumOfTaken(fromReserved) - sumOfTaken(fromAvailable);
  const released = held.filter(({ available }) => available > 0);
  await forgetExhausted(trx, runId);
  if (due === 0 && released.length === 0) return;
  const entries: Entry[] = [
    ...fromReserved.map(({ lotId, amount }) => ({ lotId, account: 'reserved' as const, runId, amount: -amount })),
    ...fromAvailable.map(({ lotId, amount }) => ({ lotId, account: 'available' as const, amount: -amount })),
    ...[...fromReserved, ...fromAvailable].map(({ lotId, amount }) => ({ lotId, account: 'spent' as const, amount })),
    ...released.flatMap(({ id: lotId, available: amount }): Entry[] => [
      { lotId, account: 'reserved', runId, amount: -amount },
      { lotId, account: 'available', amount },
    ]),
  ];
  const note =
    uncovered > 0 ? `${creditsOf(uncovered)} credits of the cost were not charged: there were none left.` : null;
  await append(trx, orgId, [{ kind: due > 0 ? 'spend' : 'release', runId, uncovered, note, entries }]);
  if (released.length > 0) await reviewExhausted(trx, orgId);
}

const sumOfTaken = (parts: readonly { amount: number }[]): number => parts.reduce((sum, { amount }) => sum + amount, 0);

async function extend(
  trx: Transaction,
  { orgId, runId, cost, ceiling }: MissionCostSoFar,
  held: Held[],
  lots: Held[],
): Promise<void> {
  const reserved = sumOf(held);
  const wanted = Math.min(cost + ahead, ceiling) - reserved;
  const more = wanted > ahead / 2 ? take(lots, wanted) : [];
  if (more.length > 0) {
    const entries = reserving(more.map((part) => ({ ...part, runId })));
    await append(trx, orgId, [{ kind: 'reserve', runId, entries }]);
  }
  const isCovered = cost < reserved + sumOfTaken(more);
  if (isCovered) return void (await forgetExhausted(trx, runId));
  const reason =
    cost >= ceiling
      ? `The mission has cost ${creditsOf(ceiling)} credits, the maximum for one mission.`
      : 'The credits of the organization are exhausted.';
  await recordExhausted(trx, { runId, orgId, reason, at: now() });
}
