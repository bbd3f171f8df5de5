// The credit ledger: trial credits, refused entries, credits of missions, and usage, which is read through indexes.
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { credit } from '#domain/money/credits/amounts.ts';
import { grantCredits, refundRun, spentByRunSql } from '#domain/money/credits/grants.ts';
import { append, balanceOf, readLots } from '#domain/money/credits/ledger.ts';
import { startableMissions } from '#domain/money/credits/missions.ts';
import { readPosition, usageSince, usageSql } from '#domain/money/credits/operations.ts';
import { days } from '#foundation/clock.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { credits } from '#limits.ts';
import { book, grant, open, openCreditWorld, start } from '../support/credit-world.ts';
import { present } from '../support/world.ts';

const { world, organization, accounts, checkBooks, close } = await openCreditWorld();
afterAll(close);

describe('trial credits', () => {
  it('trial credits are granted once for concurrent first requests', async () => {
    const orgId = await organization();
    await Promise.all(Array.from({ length: 12 }, () => readPosition(orgId)));
    const { owned, lots } = await readPosition(orgId);
    expect([owned, lots.map(({ kind }) => kind)]).toEqual([credits.trial * credit, ['trial']]);
    await checkBooks(orgId);
  });

  it('a person who founds several organizations gets trial credits in only one of them, and none in a new one after these organizations are deleted', async () => {
    const founder = await world.person('Founder-of-many');
    const orgs: string[] = [];
    for (let n = 1; n <= 3; n++) orgs.push((await world.found(founder, `Many ${n}`)).id);
    const owned = async () => Promise.all(orgs.map(async (orgId) => (await readPosition(orgId)).owned / credit));
    expect((await owned()).sort()).toEqual([0, 0, credits.trial]);
    await world.knex('organizations').whereIn('id', orgs).delete();
    const { id } = await world.found(founder, 'One more');
    expect((await readPosition(id)).owned).toBe(0);
    await grant(id, 5);
    expect((await readPosition(id)).lots.map(({ kind }) => kind)).toEqual(['grant']);
  });

  it('trial credits expire after thirty days, except those reserved for missions', async () => {
    const orgId = await organization();
    await start(orgId, 'run_late');
    world.clock.turn(credits.trialLastsMs);
    expect(await startable(orgId)).toBe(0);
    expect(await accounts(orgId)).toMatchObject({ available: 0, reserved: credit, expired: 99 * credit });
    await book(orgId, 'run_late', credit / 4, true);
    await open(orgId);
    expect(await accounts(orgId)).toMatchObject({
      available: 0,
      reserved: 0,
      spent: credit / 4,
      expired: 99.75 * credit,
    });
    await checkBooks(orgId);
  });
});

const startable = (orgId: string) => transaction((trx) => startableMissions(trx, orgId));

describe('invalid entries of the credit ledger', () => {
  const refused = (statement: string, orgId: string) => world.knex.raw(statement, { orgId });

  it('the database refuses to change or delete entries of the ledger', async () => {
    const orgId = await organization();
    await open(orgId);
    for (const statement of [
      `update credit_entries set amount = 1 where lot_id in (select ${reference('id')} from credit_lots where org_id = :orgId)`,
      'update credit_transfers set amount = 1 where org_id = :orgId',
      'update credit_lots set expires_at = null where org_id = :orgId',
      `delete from credit_entries where lot_id in (select ${reference('id')} from credit_lots where org_id = :orgId)`,
      'delete from credit_transfers where org_id = :orgId',
      'delete from credit_lots where org_id = :orgId',
    ])
      await expect(refused(statement, orgId), statement).rejects.toThrow('is append-only');
    await expect(world.knex.raw('truncate credit_entries')).rejects.toThrow('is append-only');
    await checkBooks(orgId);
  });

  it('the database refuses ledger entries that overdraw an account, that do not balance, or that are added to an earlier transfer', async () => {
    const orgId = await organization();
    await open(orgId);
    const [lot] = await readLots(orgId);
    const tries = {
      'do not balance': [{ lotId: lot!.id, account: 'available' as const, amount: -1 }],
      credit_account_balance: [
        { lotId: lot!.id, account: 'available' as const, amount: -101 * credit },
        { lotId: lot!.id, account: 'spent' as const, amount: 101 * credit },
      ],
      'has no entries': null,
    };
    for (const [message, entries] of Object.entries(tries)) {
      const trial = entries
        ? transaction((trx) => append(trx, orgId, [{ kind: 'spend', entries }]))
        : world.knex.raw(
            `insert into credit_transfers (id, org_id, seq, kind, amount, balance_after, created_at)
              values ('crt_x', :orgId, 0, 'grant', 5, 0, 0)`,
            { orgId },
          );
      await expect(trial).rejects.toThrow(
        entries && message.startsWith('credit_') ? /credit_(account_)?balance/ : message,
      );
    }
    const again = `insert into credit_entries (transfer_id, lot_id, account, amount)
      select e.transfer_id, e.lot_id, e.account, e.amount from credit_entries e
      join credit_lots l on e.lot_id = ${reference('l.id')} where l.org_id = :orgId`;
    await expect(refused(again, orgId)).rejects.toThrow('do not balance');
    await checkBooks(orgId);
  });

  it.each([-1, 0, 0.5, Number.NaN, 2 ** 53, 1_000_001])('a grant of %s credits is refused', async (amount) => {
    const orgId = await organization();
    await expect(grant(orgId, amount)).rejects.toThrow('credits: must be an integer 1 to 1000000.');
  });
});

describe('credits of missions', () => {
  it('credits are spent in the order of their expiry, and unused ones are returned', async () => {
    const orgId = await organization();
    await grant(orgId, 5);
    await grant(orgId, 1, { expiresAt: present() + days(1) });
    await start(orgId, 'run_order');
    await book(orgId, 'run_order', 1.5 * credit, true);
    const spent = await world.knex.raw(
      `select l.kind, e.amount from credit_entries e join credit_lots l on l.id = e.lot_id
        where l.org_id = ? and e.account = 'spent' order by l.kind`,
      [orgId],
    );
    expect(spent.rows).toEqual([
      { kind: 'grant', amount: credit },
      { kind: 'trial', amount: credit / 2 },
    ]);
    await checkBooks(orgId);
  });

  it('a mission is charged only the difference when its final cost is reported again, unchanged or higher', async () => {
    const orgId = await organization();
    await start(orgId, 'run_twice');
    for (const cost of [3, 3, 4, 4]) await book(orgId, 'run_twice', cost * credit, true);
    expect(await accounts(orgId)).toMatchObject({ available: 96 * credit, reserved: 0, spent: 4 * credit });
    await checkBooks(orgId);
  });

  it('a mission that the previous release started without a reservation is settled', async () => {
    const orgId = await organization();
    await book(orgId, 'run_old', 2 * credit, true);
    expect(await accounts(orgId)).toMatchObject({ available: 98 * credit, reserved: 0, spent: 2 * credit });
  });

  it('a mission that costs more than the available credits is paid only in part, and later credits do not pay the rest', async () => {
    const orgId = await organization();
    await start(orgId, 'run_dear');
    await book(orgId, 'run_dear', 120 * credit, true);
    await grant(orgId, 50);
    await book(orgId, 'run_dear', 121 * credit, true);
    expect(await accounts(orgId)).toMatchObject({ available: 49 * credit, spent: 101 * credit });
    await checkBooks(orgId);
  });

  it('a mission is ended when no credits are left, unless more are granted in time', async () => {
    const orgId = await organization();
    await start(orgId, 'run_long');
    const exhausted = () => world.knex('credit_exhaustions').where({ orgId }).select('runId', 'reason');
    await book(orgId, 'run_long', 99 * credit, false);
    expect(await exhausted()).toEqual([]);
    expect(await start(orgId, 'run_other')).toBe(false);
    await book(orgId, 'run_long', 100 * credit, false);
    expect(await exhausted()).toEqual([
      { runId: 'run_long', reason: 'The credits of the organization are exhausted.' },
    ]);
    await grant(orgId, 10);
    expect(await world.knex('credit_reviews').where({ orgId }).select('runId')).toEqual([{ runId: 'run_long' }]);
    await book(orgId, 'run_long', 100 * credit, false);
    expect(await exhausted()).toEqual([]);
    await checkBooks(orgId);
  });

  it('concurrent refunds return the credits of a mission once, and no more than it spent', async () => {
    const orgId = await organization();
    await start(orgId, 'run_bad');
    await book(orgId, 'run_bad', 7 * credit, true);
    const refund = () => transaction((trx) => refundRun(trx, orgId, 'run_bad', 'The runtime was at fault.'));
    expect(await Promise.all([refund(), refund(), refund()])).toEqual(expect.arrayContaining([7 * credit, 0, 0]));
    expect(await accounts(orgId)).toMatchObject({ available: 100 * credit, spent: 0 });
    await checkBooks(orgId);
  });
});

describe('a credit ledger with many entries', () => {
  it('queries for credit balances, refunds and the usage of a period use indexes', async () => {
    const reads = [
      [`select ${balanceOf('available', 'l.id')} from credit_lots l`, 'Index Scan Backward using credit_entries_pkey'],
      [`select ${balanceOf('available', 'l.id')} from credit_lots l`, 'Index Cond: .*lot_id = .*account = .*run_id = '],
      [spentByRunSql.replaceAll(/\$\d/g, "'x'"), 'Index Cond: .*transfer_id = '],
      [usageSql.replaceAll(/\$\d/g, "'1'"), 'Index Scan Backward using credit_transfers_spends'],
    ] as const;
    for (const [read, index] of reads) {
      const plan = await world.knex.transaction(async (trx) => {
        await trx.raw('set local enable_seqscan = off');
        await trx.raw('set local enable_bitmapscan = off');
        return (await trx.raw(`explain ${read}`)).rows;
      });
      expect(plan.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n')).toMatch(new RegExp(index));
    }
  });

  it('a new transfer reads few of the entries, also for its checks', async () => {
    const orgId = await organization();
    await grant(orgId, 1_000);
    for (let n = 0; n < 50; n++) await start(orgId, `run_scan${n}`);
    const scans = await transaction(async (trx) => {
      await sql('set local enable_seqscan = off', [], trx);
      await sql('discard plans', [], trx);
      const count = () =>
        sql<{ rows: number }>(
          "select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables where relname = 'credit_entries'",
          [],
          trx,
        );
      const [before] = await count();
      await grantCredits(trx, orgId, { lot: { kind: 'grant' }, credits: 1 });
      await sql('set constraints all immediate', [], trx);
      return (await count())[0]!.rows - before!.rows;
    });
    expect(scans).toBeLessThan(50);
  });

  it('a migration adds, in batches and while missions are settled, the credit usage that the previous release did not record', async () => {
    const orgId = await organization();
    const { knex } = world;
    const spend = async (id: string) => {
      await start(orgId, id);
      await book(orgId, id, credit / 4, true);
    };
    for (const id of ['run_f1', 'run_f2', 'run_f3']) await spend(id);
    await book(orgId, 'run_f2', credit, true);
    await knex.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      await trx.raw('update credit_transfers set spent_after = null, missions_after = null');
    });
    await spend('run_f4');
    const file = readFileSync(
      new URL('../../migrations/20261123_51_credit_usage.batches.sql', import.meta.url),
      'utf8',
    );
    const batch = file.slice(file.indexOf('-- up') + 5, file.indexOf('-- down')).replace('limit 500', 'limit 2');
    let after: string | null = '';
    while (after !== null)
      [{ after }] = (await sql<{ after: string | null }>(batch, [after])) as [{ after: string | null }];
    await spend('run_f5');
    await checkBooks(orgId);
    expect(await usageSince(orgId, 0)).toEqual({ missions: 5, spent: 2 * credit });
    const { rows } = await knex.raw('select count(*) as empty from credit_transfers where spent_after is null');
    expect(rows).toEqual([{ empty: 0 }]);
  });
});
