// Verifies the ledger of an organization: entries balance per transfer and lot, and running balances follow from the amounts.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { reference } from '#foundation/postgres/reads.ts';

const entry = 'e.transfer_id, e.lot_id, e.account, e.run_id, e.seq, e.amount';
const unbalancedSql = `select t.id as transfer_id from credit_transfers t
    left join (select e.transfer_id, e.lot_id, sum(e.amount) as amount,
        sum(e.amount) filter (where e.account in ('available', 'reserved')) as owned, bool_and(l.org_id = $1) as is_own
      from (select ${entry} from credit_lots l join credit_entries e on e.lot_id = ${reference('l.id')} where l.org_id = $1
        union select ${entry} from credit_transfers t join credit_entries e on e.transfer_id = ${reference('t.id')} where t.org_id = $1) e
        join credit_lots l on l.id = e.lot_id
      group by e.transfer_id, e.lot_id) s on s.transfer_id = t.id
  where t.org_id = $1 group by t.id
  having bool_or(s.amount <> 0) or not coalesce(bool_and(s.is_own), true) or coalesce(sum(s.owned), 0) <> t.amount
  order by t.id limit 20`;
const transfersSql = `select seq from (select seq, balance_after, row_number() over w as place, sum(amount) over w as balance
    from credit_transfers where org_id = $1 window w as (order by seq)) r
  where seq <> place or balance_after <> balance order by seq limit 1`;
const entriesSql = `select lot_id, account from (select e.lot_id, e.account, e.seq, e.balance_after,
      row_number() over w as place, sum(e.amount) over w as balance
    from credit_entries e join credit_lots l on e.lot_id = ${reference('l.id')} where l.org_id = $1
    window w as (partition by e.lot_id, e.account, e.run_id order by e.seq)) r
  where seq <> place or balance_after <> balance order by lot_id, account limit 20`;

/** Findings as sentences; empty for a ledger that is consistent. */
export async function verifyLedger(trx: Transaction, orgId: string): Promise<string[]> {
  const unbalanced = await sql<{ transferId: string }>(unbalancedSql, [orgId], trx);
  const [transfer] = await sql<{ seq: number }>(transfersSql, [orgId], trx);
  const entries = await sql<{ lotId: string; account: string }>(entriesSql, [orgId], trx);
  return [
    ...unbalanced.map(({ transferId }) => `The entries of the transfer ${transferId} do not balance.`),
    ...(transfer ? [`The balance after transfer ${transfer.seq} does not follow from the amounts.`] : []),
    ...entries.map(
      ({ lotId, account }) => `The balance of ${account} in the lot ${lotId} does not follow from the entries.`,
    ),
  ];
}
