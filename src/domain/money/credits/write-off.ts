// The end of an organization's credits when it closes: the remaining credits are written off once no mission can spend them.
import type { Transaction } from '#foundation/postgres/database.ts';
import { append, openBook, readLots } from './ledger.ts';
import { hasUnbookedMissions } from './reviews.ts';

/** Whether missions still have reserved credits, or have costs that are not booked yet. A canceled mission is settled only shortly after its end. */
export async function isUnsettled(trx: Transaction, orgId: string): Promise<boolean> {
  if (await hasUnbookedMissions(trx, orgId)) return true;
  return (await readLots(orgId, trx)).some(({ owned, available }) => owned > available);
}

/** Writes off the remaining credits. @returns the amount written off, in millionths of a credit */
export async function writeOffCredits(trx: Transaction, orgId: string, note: string): Promise<number> {
  await openBook(trx, orgId);
  const left = (await readLots(orgId, trx)).filter(({ available }) => available > 0);
  const transfers = left.map(({ id: lotId, orderId, available }) => ({
    kind: 'expiry' as const,
    orderId,
    note,
    entries: [
      { lotId, account: 'available' as const, amount: -available },
      { lotId, account: 'expired' as const, amount: available },
    ],
  }));
  await append(trx, orgId, transfers);
  return left.reduce((sum, { available }) => sum + available, 0);
}
