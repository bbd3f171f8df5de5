// Concurrent spending of credits, which never overdraws, and random sequences of operations on the ledger, compared with a model.
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { credit } from '#domain/money/credits/amounts.ts';
import { refundRun, withdrawCredits } from '#domain/money/credits/grants.ts';
import { readReserved } from '#domain/money/credits/missions.ts';
import { readPosition } from '#domain/money/credits/operations.ts';
import { days } from '#foundation/clock.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { credits } from '#limits.ts';
import { book, ceiling, grant, open, openCreditWorld, start } from '../support/credit-world.ts';
import { present } from '../support/world.ts';

const { world, organization, accounts, checkBooks, close } = await openCreditWorld();
afterAll(close);

/** Executes forty calls at a time: more than there are connections, but few enough for each call to get a connection before its timeout. */
async function atOnce<T>(runs: readonly string[], work: (id: string) => Promise<T>): Promise<T[]> {
  const left = [...runs];
  const results: T[] = [];
  const worker = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) results.push(await work(id));
  };
  await Promise.all(Array.from({ length: 40 }, worker));
  return results;
}

describe('concurrent spending of credits', () => {
  it('of 200 missions that start concurrently, only as many succeed as there are credits, and settlements never overdraw', {
    timeout: 120_000,
  }, async () => {
    const orgId = await organization();
    const runs = Array.from({ length: 200 }, (_, n) => `run_${String(n).padStart(4, '0')}_${orgId}`);
    const started = await atOnce(runs, (id) => start(orgId, id));
    expect(started.filter(Boolean)).toHaveLength(100);
    expect(await accounts(orgId)).toMatchObject({ available: 0, reserved: 100 * credit });
    await checkBooks(orgId);
    // Each of the 200 missions costs two credits, twice its reservation. Together they cost 400 credits, but only 100 were available.
    await atOnce(runs, (id) => book(orgId, id, 2 * credit, true));
    expect(await accounts(orgId)).toMatchObject({ available: 0, reserved: 0, spent: 100 * credit });
    const [{ uncovered }] = (
      await world.knex.raw('select sum(uncovered) as uncovered from credit_transfers where org_id = ?', [orgId])
    ).rows;
    expect(uncovered).toBe(300 * credit);
    await checkBooks(orgId);
  });
});

describe('random operations on the credit ledger', () => {
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

  it('after random sequences of operations, the ledger agrees with a model of it, and its books balance', {
    timeout: 300_000,
  }, async () => {
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
          // Two lots created at the same moment are ordered by their ids, which the model does not know.
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
