// Whether an organization has few credits left. The check only reads, so a trial that has not been granted yet does not count as low
// credits.
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { credits } from '#limits.ts';
import { credit, creditsOf } from './amounts.ts';
import { readLots } from './ledger.ts';
import type { CreditLot } from './model.ts';

export interface LowCredits {
  /** The newest lot. It identifies this shortage, because a shortage after new credits has a different newest lot. */
  lotId: CreditLot['id'];
  credits: number;
  /** Time of the last change of the credits. */
  since: number;
}

const lastChangeSql = `select created_at as at from credit_transfers
  where org_id = $1 and amount <> 0 order by seq desc limit 1`;

/** The shortage of credits; null while there are enough. */
export async function findLowCredits(orgId: string): Promise<LowCredits | null> {
  const lots = await readLots(orgId);
  const newest = lots.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))[0];
  if (!newest) return null;
  const at = now();
  const left = lots
    .filter(({ expiresAt }) => (expiresAt ?? Number.POSITIVE_INFINITY) > at)
    .reduce((sum, { owned }) => sum + owned, 0);
  if (left >= credits.low * credit) return null;
  const [last] = await sql<{ at: number }>(lastChangeSql, [orgId]);
  return { lotId: newest.id, credits: creditsOf(left), since: last?.at ?? newest.createdAt };
}
