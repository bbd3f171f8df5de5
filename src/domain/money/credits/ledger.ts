// Reads and appends to the ledger of one organization. Every append holds the organization's lock (`openBook`), so that the later of two
// concurrent spends sees the result of the earlier one.
import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { credits } from '#limits.ts';
import { founderOf, lockOrganization } from '../../organization/organizations/operations.ts';
import { credit } from './amounts.ts';
import { type Account, CreditLot, type CreditTransfer } from './model.ts';

/** A lot with its available amount, excluding reserved credits. */
export interface OpenLot extends Pick<CreditLot, 'id' | 'kind' | 'orderId' | 'startsAt' | 'expiresAt' | 'createdAt'> {
  available: number;
  /** The available amount plus the amount reserved by missions. */
  owned: number;
}

export interface Entry {
  lotId: CreditLot['id'];
  account: Account;
  /** The run, if `account` is `reserved`; absent for other accounts. */
  runId?: string;
  amount: number;
  /** Whether it is the first entry of its account. */
  isFirst?: boolean;
}

export type NewTransfer = Pick<CreditTransfer, 'kind'> &
  Partial<Pick<CreditTransfer, 'runId' | 'orderId' | 'note' | 'uncovered'>> & { entries: readonly Entry[] };

/** SQL for the present balance of one account of a lot. @param lot SQL expression for the id of the lot */
export const balanceOf = (account: Exclude<Account, 'reserved'>, lot: string): string =>
  `coalesce((select e.balance_after from credit_entries e
    where e.lot_id = ${reference(lot)} and e.account = '${account}' and e.run_id = '' order by e.seq desc limit 1), 0)`;

// Order of lots by expiry, because credits that expire first are spent first.
const openLotsSql = `select l.id, l.kind, l.order_id, l.starts_at, l.expires_at, l.created_at, ${balanceOf('available', 'l.id')} as available,
    -(${balanceOf('issued', 'l.id')} + ${balanceOf('spent', 'l.id')} + ${balanceOf('expired', 'l.id')}
      + ${balanceOf('withdrawn', 'l.id')}) as owned
  from credit_lots l where l.org_id = $1 order by l.expires_at nulls last, l.created_at, l.id`;

/** All lots of the organization, earliest expiry first. */
export const readLots = (orgId: string, trx?: Transaction): Promise<OpenLot[]> =>
  sql<OpenLot>(openLotsSql, [orgId], trx);

export const isSpendable = ({ available, startsAt, expiresAt }: OpenLot, at: number): boolean =>
  available > 0 && (startsAt ?? 0) <= at && (expiresAt ?? Number.POSITIVE_INFINITY) > at;

/** The lots that can be spent now, earliest expiry first. */
export async function readSpendable(trx: Transaction, orgId: string): Promise<OpenLot[]> {
  const at = now();
  return (await readLots(orgId, trx)).filter((lot) => isSpendable(lot, at));
}

export const isExpired = ({ available, expiresAt }: OpenLot, at: number): boolean =>
  available > 0 && expiresAt !== null && expiresAt <= at;

/**
 * Returns true if `openBook` has to write to the ledger. That is necessary when unspent credits of one of the lots have expired. It is also
 * necessary when the organization has no lots, because the trial may still have to be granted.
 */
export const needsOpening = (lots: readonly OpenLot[]): boolean =>
  lots.length === 0 || lots.some((lot) => isExpired(lot, now()));

/**
 * Locks the ledger of the organization until the transaction ends, and brings it up to date: grants the trial at first use, unless the
 * organization's founder has already had one, and writes off expired credits. Returns the lots that can be spent now, earliest expiry
 * first.
 */
export async function openBook(trx: Transaction, orgId: string): Promise<OpenLot[]> {
  const at = now();
  const [, lots] = await Promise.all([lockOrganization(trx, orgId), readLots(orgId, trx)]);
  if (!needsOpening(lots)) return lots.filter((lot) => isSpendable(lot, at));
  if (lots.length === 0) await grantTrial(trx, orgId);
  const expired = lots.filter((lot) => isExpired(lot, at));
  await append(
    trx,
    orgId,
    expired.map((lot) => ({
      kind: 'expiry',
      orderId: lot.orderId,
      note: `Unused credits of a ${lot.kind} expired.`,
      entries: [
        { lotId: lot.id, account: 'available', amount: -lot.available },
        { lotId: lot.id, account: 'expired', amount: lot.available },
      ],
    })),
  );
  return readSpendable(trx, orgId);
}

// The row of a used trial remains when its organization is erased.
const claimTrialSql = `insert into credit_trials (user_id, at) values ($1, $2)
  on conflict (user_id) do nothing returning user_id`;

/** A person gets only one trial: for the first organization they founded that needs one. */
async function grantTrial(trx: Transaction, orgId: string): Promise<void> {
  const claimed = await sql(claimTrialSql, [await founderOf(trx, orgId), now()], trx);
  if (claimed.length === 0) return;
  await issue(trx, orgId, {
    lot: { kind: 'trial', expiresAt: now() + credits.trialLastsMs },
    amount: credits.trial * credit,
    transfer: { kind: 'grant', note: 'Trial credits of a new organization.' },
  });
}

export interface CreditIssue {
  lot: Pick<CreditLot, 'kind'> & Partial<Pick<CreditLot, 'orderId' | 'startsAt' | 'expiresAt'>>;
  amount: number;
  transfer: Omit<NewTransfer, 'entries'>;
}

/** Writes a new lot. Requires the lock on the ledger. */
export async function issue(
  trx: Transaction,
  orgId: string,
  { lot, amount, transfer }: CreditIssue,
): Promise<CreditLot['id']> {
  const lotId = newId('creditLot');
  const createdAt = now();
  await trx(CreditLot.tableName).insert({ id: lotId, orgId, ...lot, createdAt });
  const entries: Entry[] = [
    { lotId, account: 'issued', amount: -amount },
    { lotId, account: 'available', amount },
  ];
  await append(trx, orgId, [{ ...transfer, orderId: lot.orderId ?? null, entries }]);
  return lotId;
}

const isOwned = ({ account }: Entry): boolean => account === 'available' || account === 'reserved';

// Triggers (migrations, credits and credit_usage) set the other columns: `seq` and `balance_after` of transfers and entries, `spent_after`
// and `missions_after` of transfers. They also refuse transfers that do not balance. The first entry of an account is inserted with `seq`
// 1, so that no trigger has to look for earlier entries. The primary key and a check constraint ensure that `seq` and balance are correct.
const appendSql = `with transfer as (
    insert into credit_transfers (id, org_id, kind, amount, uncovered, run_id, order_id, note, created_at)
    select t.id, $1, t.kind, t.amount, t.uncovered, t.run_id, t.order_id, t.note, $2
    from unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[])
      t (id, kind, amount, uncovered, run_id, order_id, note)
  )
  insert into credit_entries (transfer_id, lot_id, account, run_id, amount, seq, balance_after)
  select e.transfer_id, e.lot_id, e.account, e.run_id, e.amount, e.seq, e.amount
  from unnest($10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::bigint[])
    e (transfer_id, lot_id, account, run_id, amount, seq)`;

/** Appends the transfers with their entries. Requires the lock on the ledger. @throws when they do not balance or overdraw an account */
export async function append(trx: Transaction, orgId: string, transfers: readonly NewTransfer[]): Promise<void> {
  if (transfers.length === 0) return;
  const rows = transfers.map((transfer) => ({ id: newId('creditTransfer'), ...transfer }));
  const entries = rows.flatMap(({ id, entries }) => entries.map((entry) => ({ ...entry, transferId: id })));
  const amounts = rows.map((row) => row.entries.filter(isOwned).reduce((sum, { amount }) => sum + amount, 0));
  const values = [
    orgId,
    now(),
    rows.map(({ id }) => id),
    rows.map(({ kind }) => kind),
    amounts,
    rows.map(({ uncovered }) => uncovered ?? 0),
    rows.map(({ runId }) => runId ?? null),
    rows.map(({ orderId }) => orderId ?? null),
    rows.map(({ note }) => note ?? null),
    entries.map(({ transferId }) => transferId),
    entries.map(({ lotId }) => lotId),
    entries.map(({ account }) => account),
    entries.map(({ runId }) => runId ?? ''),
    entries.map(({ amount }) => amount),
    entries.map(({ isFirst }) => (isFirst ? 1 : null)),
  ];
  await sql(appendSql, values, trx);
}

/** Takes up to `amount` from the lots in order, and reduces them. Returns the amount taken from each. */
export function take(lots: readonly { id: CreditLot['id']; available: number }[], amount: number) {
  const parts: { lotId: CreditLot['id']; amount: number }[] = [];
  let left = amount;
  for (const lot of lots) {
    const part = Math.min(lot.available, left);
    if (part <= 0) continue;
    lot.available -= part;
    left -= part;
    parts.push({ lotId: lot.id, amount: part });
  }
  return parts;
}

/** Sum of the available amounts of these lots. */
export const sumOf = (lots: readonly { available: number }[]): number =>
  lots.reduce((sum, { available }) => sum + available, 0);
