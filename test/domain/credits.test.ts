// The credit ledger: refused entries, concurrent spends that never overdraw, and random histories compared with a model.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credit } from '#domain/money/credits/amounts.ts';
import { grantCredits, refundRun, spentByRunSql, withdrawCredits } from '#domain/money/credits/grants.ts';
import { append, balanceOf, openBook, readLots } from '#domain/money/credits/ledger.ts';
import { bookMission, readReserved, reserveForRuns, startableMissions } from '#domain/money/credits/missions.ts';
import { readPosition, usageSince, usageSql } from '#domain/money/credits/operations.ts';
import { days } from '#foundation/clock.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { credits } from '#limits.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let founded = 0;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const organization = async (): Promise<string> =>
  (await world.found(await world.person(`Founder-${++founded}`), `Org ${founded}`)).id;
const open = (orgId: string) => transaction((trx) => openBook(trx, orgId));
const start = (orgId: string, id: string) =>
  transaction(async (trx) => {
    const missions = await startableMissions(trx, orgId);
    if (missions > 0) await reserveForRuns(trx, [{ id, orgId }]);
    return missions > 0;
  });
const ceiling = 1_000 * credit;
const book = (orgId: string, runId: string, cost: number, isOver: boolean) =>
  transaction((trx) => bookMission(trx, { orgId, runId, cost, isOver, ceiling }));
const grant = (orgId: string, amount: number, lot: object = {}) =>
  transaction((trx) => grantCredits(trx, orgId, { lot: { kind: 'grant', ...lot }, credits: amount }));

/** Every account of the organization, as the sum of its entries. */
async function accounts(orgId: string): Promise<Record<string, number>> {
  const { rows } = await world.knex.raw(
    `select account, sum(amount) as total from credit_entries e join credit_lots l on l.id = e.lot_id
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
      from credit_entries e join credit_lots l on l.id = e.lot_id where l.org_id = :orgId
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

describe('trial credits', () => {
  it('are granted once for concurrent first requests', async () => {
    const orgId = await organization();
    await Promise.all(Array.from({ length: 12 }, () => readPosition(orgId)));
    const { owned, lots } = await readPosition(orgId);
    expect([owned, lots.map(({ kind }) => kind)]).toEqual([credits.trial * credit, ['trial']]);
    await checkBooks(orgId);
  });

  it('go to the first organization that a person founded, even under concurrent use', async () => {
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

  it('expire after thirty days, except for reservations of missions', async () => {
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

describe('the database refuses', () => {
  const refused = (statement: string, orgId: string) => world.knex.raw(statement, { orgId });

  it('to change or delete entries of the ledger', async () => {
    const orgId = await organization();
    await open(orgId);
    for (const statement of [
      'update credit_entries set amount = 1 where lot_id in (select id from credit_lots where org_id = :orgId)',
      'update credit_transfers set amount = 1 where org_id = :orgId',
      'update credit_lots set expires_at = null where org_id = :orgId',
      'delete from credit_entries where lot_id in (select id from credit_lots where org_id = :orgId)',
      'delete from credit_transfers where org_id = :orgId',
      'delete from credit_lots where org_id = :orgId',
    ])
      await expect(refused(statement, orgId), statement).rejects.toThrow('is append-only');
    await expect(world.knex.raw('truncate credit_entries')).rejects.toThrow('is append-only');
    await checkBooks(orgId);
  });

  it('entries that do not balance, overdraw, or are added to an earlier transfer', async () => {
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
      select e.transfer_id, e.lot_id, e.account, e.amount from credit_entries e join credit_lots l on l.id = e.lot_id where l.org_id = :orgId`;
    await expect(refused(again, orgId)).rejects.toThrow('do not balance');
    await checkBooks(orgId);
  });

  it.each([-1, 0, 0.5, Number.NaN, 2 ** 53, 1_000_001])('a grant of %s credits', async (amount) => {
    const orgId = await organization();
    await expect(grant(orgId, amount)).rejects.toThrow('credits: must be an integer 1 to 1000000.');
  });
});

describe('credits of missions', () => {
  it('are spent in the order of their expiry, and unused ones are returned', async () => {
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

  it('are settled once, even when a late cost follows', async () => {
    const orgId = await organization();
    await start(orgId, 'run_twice');
    for (const cost of [3, 3, 4, 4]) await book(orgId, 'run_twice', cost * credit, true);
    expect(await accounts(orgId)).toMatchObject({ available: 96 * credit, reserved: 0, spent: 4 * credit });
    await checkBooks(orgId);
  });

  it('are settled even without a reservation, as the previous release started missions', async () => {
    const orgId = await organization();
    await book(orgId, 'run_old', 2 * credit, true);
    expect(await accounts(orgId)).toMatchObject({ available: 98 * credit, reserved: 0, spent: 2 * credit });
  });

  it('cover a cost above the balance only partly, and later credits do not cover the rest', async () => {
    const orgId = await organization();
    await start(orgId, 'run_dear');
    await book(orgId, 'run_dear', 120 * credit, true);
    await grant(orgId, 50);
    await book(orgId, 'run_dear', 121 * credit, true);
    expect(await accounts(orgId)).toMatchObject({ available: 49 * credit, spent: 101 * credit });
    await checkBooks(orgId);
  });

  it('end a mission when none are left, unless more are granted in time', async () => {
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

  it('are refunded once, never more than the mission spent', async () => {
    const orgId = await organization();
    await start(orgId, 'run_bad');
    await book(orgId, 'run_bad', 7 * credit, true);
    const refund = () => transaction((trx) => refundRun(trx, orgId, 'run_bad', 'The runtime was at fault.'));
    expect(await Promise.all([refund(), refund(), refund()])).toEqual(expect.arrayContaining([7 * credit, 0, 0]));
    expect(await accounts(orgId)).toMatchObject({ available: 100 * credit, spent: 0 });
    await checkBooks(orgId);
  });
});

/** Runs forty at a time: more than there are connections, and few enough for each to get one before its timeout. */
async function atOnce<T>(runs: readonly string[], work: (id: string) => Promise<T>): Promise<T[]> {
  const left = [...runs];
  const results: T[] = [];
  const worker = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) results.push(await work(id));
  };
  await Promise.all(Array.from({ length: 40 }, worker));
  return results;
}

describe('a ledger of any length', () => {
  it('is read by its indexes: balances, refunds, and the usage of a period', async () => {
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

  it('gets the usage that the previous release did not record, filled in batches while missions are settled', async () => {
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

describe('concurrent spends', () => {
  it('never overdraw: of 200 concurrent starts and settlements, as many succeed as there are credits', {
    timeout: 120_000,
  }, async () => {
    const orgId = await organization();
    const runs = Array.from({ length: 200 }, (_, n) => `run_${String(n).padStart(4, '0')}_${orgId}`);
    const started = await atOnce(runs, (id) => start(orgId, id));
    expect(started.filter(Boolean)).toHaveLength(100);
    expect(await accounts(orgId)).toMatchObject({ available: 0, reserved: 100 * credit });
    await checkBooks(orgId);
    // Each mission costs twice its reservation: together they cost four times the available credits.
    await atOnce(runs, (id) => book(orgId, id, 2 * credit, true));
    expect(await accounts(orgId)).toMatchObject({ available: 0, reserved: 0, spent: 100 * credit });
    const [{ uncovered }] = (
      await world.knex.raw('select sum(uncovered) as uncovered from credit_transfers where org_id = ?', [orgId])
    ).rows;
    expect(uncovered).toBe(300 * credit);
    await checkBooks(orgId);
  });
});

describe('random histories of the ledger', () => {
  interface ModelLot {
    id: string;
    order: string | null;
    expiresAt: number;
    born: number;
    available: number;
    spent: Map<string, number>;
    reserved: Map<string, number>;
  }
  type Step =
    | { kind: 'grant'; credits: number; lasts: number | null }
    | { kind: 'start' | 'refund'; run: number }
    | { kind: 'cost'; run: number; amount: number }
    | { kind: 'end'; run: number }
    | { kind: 'withdraw'; order: number }
    | { kind: 'wait'; days: number };
  const run = fc.integer({ min: 0, max: 5 });
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      kind: fc.constant('grant' as const),
      credits: fc.integer({ min: 1, max: 9 }),
      lasts: fc.option(fc.integer({ min: 1, max: 40 })),
    }),
    fc.record({ kind: fc.constantFrom('start' as const, 'refund' as const), run }),
    fc.record({ kind: fc.constant('cost' as const), run, amount: fc.integer({ min: 1, max: 30 * credit }) }),
    fc.record({ kind: fc.constant('end' as const), run }),
    fc.record({ kind: fc.constant('withdraw' as const), order: fc.integer({ min: 0, max: 4 }) }),
    fc.record({ kind: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 20 }) }),
  );

  /** The expected ledger in plain arithmetic. */
  function createModel() {
    const lots: ModelLot[] = [];
    const booked = new Map<string, number>();
    const inOrder = () => lots.sort((a, b) => a.expiresAt - b.expiresAt || a.born - b.born);
    const expire = () => {
      for (const lot of lots) if (lot.expiresAt <= present()) lot.available = 0;
    };
    const add = (amount: number, expiresAt: number, order: string | null) =>
      lots.push({
        id: '',
        order,
        expiresAt,
        born: lots.length,
        available: amount,
        spent: new Map(),
        reserved: new Map(),
      });
    const move = (amount: number, from: (lot: ModelLot) => number, apply: (lot: ModelLot, part: number) => void) => {
      let left = amount;
      for (const lot of inOrder()) {
        const part = Math.min(left, from(lot));
        if (part > 0) apply(lot, part);
        left -= Math.max(0, part);
      }
      return amount - left;
    };
    const grow = (map: Map<string, number>, key: string, by: number) => map.set(key, (map.get(key) ?? 0) + by);
    const reserve = (runId: string, amount: number) =>
      move(
        amount,
        (lot) => lot.available,
        (lot, part) => {
          lot.available -= part;
          grow(lot.reserved, runId, part);
        },
      );
    const reserved = (runId: string) => lots.reduce((sum, lot) => sum + (lot.reserved.get(runId) ?? 0), 0);
    return {
      lots,
      expire,
      add,
      start: (runId: string) => void (lots.some(({ available }) => available > 0) && reserve(runId, credit)),
      extend: (runId: string, cost: number) => {
        const wanted = Math.min(cost + credit, ceiling) - reserved(runId);
        if (wanted > credit / 2) reserve(runId, wanted);
      },
      settle(runId: string, cost: number) {
        const due = Math.max(0, cost - (booked.get(runId) ?? 0));
        const held = move(
          due,
          (lot) => lot.reserved.get(runId) ?? 0,
          (lot, part) => {
            grow(lot.reserved, runId, -part);
            grow(lot.spent, runId, part);
          },
        );
        move(
          due - held,
          (lot) => lot.available,
          (lot, part) => {
            lot.available -= part;
            grow(lot.spent, runId, part);
          },
        );
        grow(booked, runId, due);
        for (const lot of lots) {
          lot.available += lot.reserved.get(runId) ?? 0;
          lot.reserved.delete(runId);
        }
      },
      refund(runId: string) {
        for (const lot of lots) {
          lot.available += lot.spent.get(runId) ?? 0;
          lot.spent.delete(runId);
        }
      },
      withdraw(order: string) {
        for (const lot of lots) if (lot.order === order) lot.available = 0;
      },
      owned: () =>
        lots.reduce(
          (sum, { available, reserved }) => sum + available + [...reserved.values()].reduce((a, b) => a + b, 0),
          0,
        ),
      spent: () => lots.reduce((sum, { spent }) => sum + [...spent.values()].reduce((a, b) => a + b, 0), 0),
    };
  }

  it('agree with a model of the ledger, and their books balance', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const orgId = await organization();
        await open(orgId);
        const model = createModel();
        model.add(credits.trial * credit, present() + credits.trialLastsMs, null);
        const costs = new Map<string, number>();
        const ended = new Set<string>();
        let orders = 0;
        for (const one of steps) {
          // Two lots of one moment are ordered by their ids, which the model does not know.
          world.clock.turn(1);
          model.expire();
          const runId = 'run' in one ? `run_${one.run}_${orgId}` : '';
          if (one.kind === 'grant') {
            const expiresAt = one.lasts === null ? null : present() + days(one.lasts);
            const orderId = `ord_${orders++}_${orgId}`;
            await grant(orgId, one.credits, { kind: 'pack', orderId, expiresAt });
            model.add(one.credits * credit, expiresAt ?? Number.MAX_SAFE_INTEGER, orderId);
          } else if (one.kind === 'start') {
            if (costs.has(runId)) continue;
            costs.set(runId, 0);
            await start(orgId, runId);
            model.start(runId);
          } else if (one.kind === 'cost' || one.kind === 'end') {
            if (one.kind === 'end') ended.add(runId);
            const cost = (costs.get(runId) ?? 0) + (one.kind === 'cost' ? one.amount : 0);
            costs.set(runId, cost);
            await book(orgId, runId, cost, ended.has(runId));
            if (ended.has(runId)) model.settle(runId, cost);
            else model.extend(runId, cost);
          } else if (one.kind === 'refund') {
            await transaction((trx) => refundRun(trx, orgId, runId, 'Refund.'));
            model.refund(runId);
          } else if (one.kind === 'withdraw') {
            const orderId = `ord_${one.order}_${orgId}`;
            await transaction((trx) => withdrawCredits(trx, orgId, orderId, 'Withdrawal.'));
            model.withdraw(orderId);
          } else if (one.kind === 'wait') {
            world.clock.turn(days(one.days));
          }
          model.expire();
          await open(orgId);
        }
        const totals = await accounts(orgId);
        expect((await readPosition(orgId)).owned).toBe(model.owned());
        expect(totals.spent).toBe(model.spent());
        for (const runId of costs.keys()) {
          const held = (await readReserved(runId)).reduce((sum, { available }) => sum + available, 0);
          if (ended.has(runId)) expect(held).toBe(0);
        }
        await checkBooks(orgId);
      }),
      { numRuns: 25 },
    );
  });
});
