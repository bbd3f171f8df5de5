// Organizations with credits: ledger entries created by the functions of the service, and checks of the ledger.
import { expect } from 'vitest';
import { credit } from '#domain/money/credits/amounts.ts';
import { grantCredits } from '#domain/money/credits/grants.ts';
import { openBook } from '#domain/money/credits/ledger.ts';
import { bookMission, reserveForRuns, startableMissions } from '#domain/money/credits/missions.ts';
import { readPosition } from '#domain/money/credits/operations.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { openWorld, type WorldSettings } from './world.ts';

export const open = (orgId: string) => transaction((trx) => openBook(trx, orgId));
export const start = (orgId: string, id: string) =>
  transaction(async (trx) => {
    const missions = await startableMissions(trx, orgId);
    if (missions > 0) await reserveForRuns(trx, [{ id, orgId }]);
    return missions > 0;
  });
export const ceiling = 1_000 * credit;
export const book = (orgId: string, runId: string, cost: number, isOver: boolean) =>
  transaction((trx) => bookMission(trx, { orgId, runId, cost, isOver, ceiling }));
export const grant = (orgId: string, amount: number, lot: object = {}) =>
  transaction((trx) => grantCredits(trx, orgId, { lot: { kind: 'grant', ...lot }, credits: amount }));

export async function openCreditWorld(settings: WorldSettings = {}) {
  let founded = 0;
  const world = await openWorld(settings);

  const organization = async (): Promise<string> =>
    (await world.found(await world.person(`Founder-${++founded}`), `Org ${founded}`)).id;

  /** Every account of the organization, as the sum of its entries. */
  async function accounts(orgId: string): Promise<Record<string, number>> {
    const { rows } = await world.knex.raw(
      `select account, sum(amount) as total from credit_entries e join credit_lots l on e.lot_id = ${reference('l.id')}
      where l.org_id = ? group by account`,
      [orgId],
    );
    const found = { issued: 0, available: 0, reserved: 0, spent: 0, expired: 0, withdrawn: 0 };
    return Object.assign(
      found,
      Object.fromEntries(rows.map((row: { account: string; total: number }) => [row.account, row.total])),
    );
  }

  /** Balances equal the sums of entries, entries balance, and no account but `issued` is below zero at any time. */
  async function checkBooks(orgId: string): Promise<void> {
    const totals = await accounts(orgId);
    expect(Object.values(totals).reduce((sum, total) => sum + total, 0)).toBe(0);
    expect((await readPosition(orgId)).owned).toBe(totals.available! + totals.reserved!);
    const { rows } = await world.knex.raw(
      `with running as (
      select e.balance_after, e.account, sum(e.amount) over (partition by e.lot_id, e.account, e.run_id order by e.seq) as total
      from credit_entries e join credit_lots l on e.lot_id = ${reference('l.id')} where l.org_id = :orgId
    ), journal as (
      select t.balance_after, t.spent_after, t.missions_after, sum(t.amount) over (order by t.seq) as total,
        -coalesce(sum(t.amount) filter (where t.kind = 'spend') over (order by t.seq), 0) as spent,
        count(*) filter (where t.kind = 'spend' and not exists (
          select from credit_transfers f where f.run_id = t.run_id and f.kind = 'spend' and f.seq < t.seq)) over (order by t.seq) as missions
      from credit_transfers t where t.org_id = :orgId
    )
    select (select count(*) from running where balance_after <> total) as wrong_accounts,
      (select count(*) from running where total < 0 and account <> 'issued') as below_zero,
      (select count(*) from journal where balance_after <> total or total < 0) as wrong_transfers,
      (select count(*) from journal where (spent_after, missions_after) is distinct from (spent, missions)) as wrong_usage`,
      { orgId },
    );
    expect(rows[0]).toEqual({ wrong_accounts: 0, below_zero: 0, wrong_transfers: 0, wrong_usage: 0 });
  }
  return {
    world,
    organization,
    accounts,
    checkBooks,
    close: () => world.close(),
  };
}
