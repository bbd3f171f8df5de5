// Billing: an organization reads offers, buys with test money, uses a plan and withdraws from a purchase. Every payment event counts only
// once. The clock begins on Monday 23 November 2026, 09:00 UTC.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { renewTestSubscriptions } from '#domain/money/billing/events.ts';
import { type PaymentEvent, signEvent } from '#domain/money/billing/provider.ts';
import { billing } from '#domain/money/billing/terms.ts';
import { refundOf, sendRefunds } from '#domain/money/billing/withdrawal.ts';
import { credit } from '#domain/money/credits/amounts.ts';
import { bookMission } from '#domain/money/credits/missions.ts';
import { readPosition } from '#domain/money/credits/operations.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days } from '#foundation/clock.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { createMember, createOwner } from '../support/callers.ts';
import { openWorld, present, type Session, type World } from '../support/world.ts';

let world: World;
let acme: Organization;
let session: Session;
let founded = 0;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
let owner: Person;
beforeEach(async () => {
  ({ person: owner, organization: acme } = await createOwner(world, `Alice-${++founded}`, `Acme ${founded}`));
  session = await world.session(owner, acme.id);
});
/** Moves the clock and signs the owner in again, because the owner's session may have expired by then. */
async function later(milliseconds: number): Promise<void> {
  world.clock.turn(milliseconds);
  session = await world.session(owner, acme.id);
}

const get = async (path: string) => (await world.rest('GET', `/billing${path}`, { session })).body;
const post = (path: string, body: object) => world.rest('POST', `/billing${path}`, { session, body });
const change = (path: string, body: object) => world.rest('PATCH', `/billing${path}`, { session, body });
const checkout = async (body: object = {}): Promise<string> =>
  (await post('/checkout-sessions', { offer: 'pack', startNowConsent: true, ...body })).body.checkoutId;
const checkoutPage = () => `/console/o/${acme.slug}/checkout`;
const pay = (checkoutId: string) =>
  world.request('POST', `${checkoutPage()}/${checkoutId}`, {
    session,
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: world.url },
    body: `csrf_token=${session.csrf}`,
  });
const buy = async (body: object = {}): Promise<string> => {
  const ids = async (): Promise<string[]> => (await get('/orders')).orders.map(({ id }: { id: string }) => id);
  const before = await ids();
  await pay(await checkout(body));
  // Orders that were created in one millisecond are listed in any order.
  return (await ids()).find((id) => !before.includes(id))!;
};
const withdraw = (orderId: string, body: object = {}) => post(`/orders/${orderId}/withdrawal`, body);
const spend = (credits: number, runId = `run_${acme.id}_${present()}`) =>
  transaction((trx) =>
    bookMission(trx, {
      orgId: acme.id,
      runId,
      cost: Math.round(credits * credit),
      isOver: true,
      ceiling: 1_000 * credit,
    }),
  );
const ledger = async () =>
  (await get('/ledger')).entries.map(({ kind, credits, balanceAfter }: Record<string, unknown>) => [
    kind,
    credits,
    balanceAfter,
  ]);
const event = (body: Partial<PaymentEvent> | object, headers?: Record<string, string>, provider = 'builtin') => {
  const text = JSON.stringify(body);
  return world.request('POST', `/v1/billing/events/${provider}`, { body: text, headers: headers ?? signEvent(text) });
};
const paid = (checkoutId: string, more: object = {}) => ({
  id: `evt_${checkoutId}`,
  at: present(),
  type: 'checkout_paid',
  checkoutId,
  orgId: acme.id,
  amountCents: 100_00,
  payment: `pay_${checkoutId}`,
  subscription: null,
  ...more,
});

describe('plans of a new organization', () => {
  it('200 · a new organization can read offers with prices and limits', async () => {
    expect(await get('/offers')).toEqual({
      currency: 'USD',
      trialCredits: 100,
      offers: [{ id: 'pack', kind: 'pack', name: '100 credits', credits: 100, priceUsd: 100, perCreditUsd: 1 }],
      referencePerCreditUsd: 1,
      team: {
        plans: [
          { plan: 'team-5', name: 'Team 5', monthlyUsd: 250, creditsPerMonth: 300, projects: 500, agentsAtOnce: 300 },
          {
            plan: 'team-20',
            name: 'Team 20',
            monthlyUsd: 900,
            creditsPerMonth: 1_200,
            projects: null,
            agentsAtOnce: 500,
          },
        ],
      },
      enterprise: { contactUrl: null, blurb: expect.any(String) },
      limits: { free: { projects: 100, agentsAtOnce: 100 }, packs: { projects: 250, agentsAtOnce: 200 } },
    });
  });

  it('200 · a new organization has 100 trial credits, and its billing summary counts what is spent', async () => {
    const endsAt = present() + days(30);
    expect(await get('/summary')).toEqual({
      orgId: acme.id,
      plan: 'free',
      cohort: null,
      mode: 'prepaid',
      balance: 100,
      sources: [{ kind: 'trial', credits: 100, startsAt: null, expiresAt: endsAt }],
      low: false,
      canStartMission: true,
      canManage: true,
      coveredByShip: false,
      missionCeiling: 250,
      sandboxLimit: 100,
      projects: { used: 0, limit: 100 },
      trackerTriggers: 'anyone',
      usage: { periodStart: Date.UTC(2026, 10, 1), missions: 0, creditsSpent: 0 },
      openCreditRequest: null,
      creditRequestsGoTo: 'owners',
      purchase: { enabled: true, provider: 'builtin', testMoney: true },
      subscription: null,
      advice: null,
      trial: { granted: 100, remaining: 100, endsAt },
    });
    await spend(92.5);
    expect(await get('/summary')).toMatchObject({ balance: 7, low: true, usage: { missions: 1, creditsSpent: 92.5 } });
  });

  it('402 · an organization cannot create more projects than its plan allows, even concurrently', async () => {
    await world.knex.raw(
      `insert into projects (id, org_id, slug, name, status, tracker, scm_owner, scm_repo, created_at)
        select 'prj_' || :orgId || n, :orgId, 'p' || n, 'P', 'active', 'builtin', 'acme', 'p' || n, 0 from generate_series(1, 98) n`,
      { orgId: acme.id },
    );
    const create = (n: number) =>
      world.rest('POST', '/projects', {
        session,
        body: { name: `New ${n}`, repoFullName: `acme/new-${founded}-${n}` },
      });
    const answers = await Promise.all([1, 2, 3, 4].map(create));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 402, 402]);
    expect(answers.find(({ status }) => status === 402)!.body).toMatchObject({
      code: 'plan_limit',
      description: 'The plan free has 100 projects. Delete one, or choose a larger plan.',
    });
  });
});

describe('packs of credits', () => {
  it('303 · a pack of credits is paid on a page that says that the payment is a test; two concurrent payments count once', async () => {
    const { status, body } = await post('/checkout-sessions', { offer: 'pack', quantity: 2, startNowConsent: true });
    expect([status, body.url]).toEqual([201, `${world.url}${checkoutPage()}/${body.checkoutId}`]);
    const page = await world.request('GET', `${checkoutPage()}/${body.checkoutId}`, { session });
    expect(page.body).toContain('This is test money');
    expect(page.body).toContain('Pay 200.00 USD in test money');
    expect((await Promise.all([pay(body.checkoutId), pay(body.checkoutId)])).map((one) => one.status)).toEqual([
      303, 303,
    ]);
    expect(await get(`/checkout-sessions/${body.checkoutId}`)).toEqual({
      checkoutId: body.checkoutId,
      status: 'complete',
      offer: 'pack',
      credits: 200,
      teamPlan: null,
    });
    expect(await ledger()).toEqual([
      ['purchase', 200, 300],
      ['grant', 100, 100],
    ]);
    expect((await get('/orders')).orders).toEqual([
      {
        id: expect.stringMatching(/^ord_/),
        offer: 'pack',
        credits: 200,
        amountUsd: 200,
        status: 'paid',
        createdAt: present(),
        withdrawableUntil: present() + billing.withdrawalMs,
      },
    ]);
    expect(await get('/summary')).toMatchObject({ plan: 'pack', balance: 300, projects: { limit: 250 } });
  });

  it('409, 403 · a checkout of credits cannot be paid after a day, and is not shown to a member without the permission', async () => {
    const id = await checkout();
    const { person: member } = await createMember(world, acme, `Member-${founded}`, 'member');
    const theirs = await world.session(member, acme.id);
    expect((await world.request('GET', `${checkoutPage()}/${id}`, { session: theirs })).status).toBe(403);
    world.clock.turn(billing.checkoutMs);
    expect((await pay(id)).status).toBe(409);
    expect((await get(`/checkout-sessions/${id}`)).status).toBe('expired');
    expect((await get('/orders')).orders).toEqual([]);
  });

  it.each([-1, 0, 0.5, 101, 2 ** 53])(
    '400 · a pack of credits cannot be bought in a quantity of %s',
    async (quantity) => {
      const { status, body } = await post('/checkout-sessions', { offer: 'pack', quantity });
      expect([status, body.description]).toEqual([400, expect.stringMatching(/^quantity: must be/)]);
    },
  );

  it('400 · a checkout is refused when a required field is missing or a field belongs to another offer; 404 for another organization', async () => {
    expect((await post('/checkout-sessions', { offer: 'pack', teamPlan: 'team-5' })).status).toBe(400);
    expect((await post('/checkout-sessions', { offer: 'team' })).status).toBe(400);
    expect((await post('/checkout-sessions', { offer: 'pack', orgId: 'org_other' })).status).toBe(404);
  });
});

describe('payment events', () => {
  it('200 · a payment counts once when its events are repeated or concurrent', async () => {
    const id = await checkout();
    const answers = await Promise.all(Array.from({ length: 5 }, () => event(paid(id))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    // The same payment under another event id.
    expect((await event(paid(id, { id: 'evt_again' }))).status).toBe(200);
    expect((await get('/orders')).orders).toHaveLength(1);
    expect((await readPosition(acme.id)).owned).toBe(200 * credit);
  });

  it('400 · a payment event changes nothing when it is forged, unknown, or for another organization or amount', async () => {
    const id = await checkout();
    const { organization: stranger } = await createOwner(world, `Mallory-${founded}`, `Globex ${founded}`);
    const statuses = [
      await event(paid(id), {}),
      await event(paid(id), { 'x-signature': 'f'.repeat(64) }),
      await event(paid(id, { orgId: stranger.id })),
      await event(paid(id, { amountCents: 1 })),
      await event(paid('chk_unknown')),
      await event(paid(id, { subscription: { reference: 'sub', periodEnd: present() } })),
    ].map(({ status }) => status);
    expect(statuses).toEqual([400, 400, 400, 400, 400, 400]);
    expect((await event(paid(id), undefined, 'unknown')).status).toBe(404);
    expect((await get('/orders')).orders).toEqual([]);
    // The refused deliveries do not prevent the valid delivery of the same event.
    expect((await event(paid(id))).status).toBe(200);
    expect((await get('/orders')).orders).toHaveLength(1);
  });

  it('200 · a payment after the checkout has expired is accepted; an expiry after the payment is ignored', async () => {
    const id = await checkout();
    const expired = { id: `gone_${id}`, at: present(), type: 'checkout_expired', checkoutId: id };
    expect((await event(expired)).status).toBe(200);
    expect((await event(paid(id))).status).toBe(200);
    expect((await event({ ...expired, id: `gone_again_${id}` })).status).toBe(200);
    expect((await get(`/checkout-sessions/${id}`)).status).toBe('complete');
    expect((await get('/orders')).orders).toHaveLength(1);
  });
});

describe('withdrawals from orders', () => {
  it('201 · an order is withdrawn once, and refunded in full while none of its credits are spent', async () => {
    const order = await buy();
    const answers = await Promise.all([withdraw(order, { reason: 'By mistake.' }), withdraw(order)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 201)!.body).toEqual({
      orderId: order,
      submittedAt: present(),
      creditsReversed: 100,
      refundUsd: 100,
      status: 'completed',
    });
    expect(await ledger()).toEqual([
      ['withdrawal', -100, 100],
      ['purchase', 100, 200],
      ['grant', 100, 100],
    ]);
    await sendRefunds();
    expect((await world.knex('billing_orders').where({ id: order }).first()).refundedAt).toBe(present());
    expect(await get('/summary')).toMatchObject({ plan: 'free', balance: 100 });
  });

  it('201 · a withdrawal refunds the unspent part of the order, rounded up to the cent', async () => {
    const order = await buy();
    // The trial expires first, so it is spent first.
    await spend(100 + 33.337);
    expect((await withdraw(order)).body).toMatchObject({ creditsReversed: 66, refundUsd: 66.67 });
    expect((await readPosition(acme.id)).owned).toBe(0);
  });

  it.each([
    [10_000, 100, 1, 1],
    [10_000, 100, 100 * credit, 10_000],
    [25_000, 300, 299.999999 * credit, 25_000],
    [25_000, 300, 0, 0],
    [90_000, 1_200, 0.000001 * credit, 1],
    [1_000_000_00, 1_000_000, 1_000_000 * credit, 1_000_000_00],
  ])(
    'a withdrawal from an order of %i cents for %i credits, %d of them unspent, refunds %i cents',
    (amountCents, credits, unspent, cents) => {
      expect(refundOf({ amountCents, credits }, Math.round(unspent))).toBe(cents);
    },
  );

  it('409 · a withdrawal is possible until the last millisecond of its period, and refused one millisecond later', async () => {
    const [early, late] = [await buy(), await buy()];
    await later(billing.withdrawalMs);
    expect((await withdraw(early)).status).toBe(201);
    world.clock.turn(1);
    const { status, body } = await withdraw(late);
    expect([status, body.description]).toEqual([409, expect.stringContaining('could be withdrawn until 20')]);
  });

  it('409 · a withdrawal is refused after all credits are spent; 404 for another organization', async () => {
    const order = await buy();
    await spend(200);
    expect((await withdraw(order)).status).toBe(409);
    const { person: stranger, organization: theirs } = await createOwner(world, `Eve-${founded}`, `Eve ${founded}`);
    const foreign = await world.session(stranger, theirs.id);
    const answer = await world.rest('POST', `/billing/orders/${order}/withdrawal`, { session: foreign, body: {} });
    expect(answer.status).toBe(404);
  });

  it('credits bought without consent to an immediate start cannot be spent in the withdrawal period; a withdrawal refunds all of them', async () => {
    const order = await buy({ startNowConsent: false });
    await spend(150);
    expect(await get('/summary')).toMatchObject({ balance: 100, canStartMission: false });
    await later(billing.withdrawalMs);
    expect((await withdraw(order)).body).toMatchObject({ creditsReversed: 100, refundUsd: 100 });
    const other = await buy({ startNowConsent: false });
    await later(billing.withdrawalMs + 1);
    expect((await withdraw(other)).status).toBe(409);
    expect(await get('/summary')).toMatchObject({ balance: 100, canStartMission: true });
  });
});

describe('orders over GraphQL', () => {
  const orders = async (as = session) => {
    const text = '{ billingOrders { orders { number teamPlan refundUsd withdrawal { credits refundUsd } } } }';
    return (await world.graphql(text, { session: as })).body.data.billingOrders.orders;
  };

  it('200 · an order shows the refund that a withdrawal pays, and null when none is possible', async () => {
    const order = await buy();
    await spend(100 + 33.337);
    const left = { number: 1, teamPlan: null, refundUsd: null, withdrawal: { credits: 66.663, refundUsd: 66.67 } };
    expect(await orders()).toEqual([left]);
    await withdraw(order);
    world.clock.turn(1);
    expect(await orders()).toEqual([{ number: 1, teamPlan: null, refundUsd: 66.67, withdrawal: null }]);
    await buy({ offer: 'team', teamPlan: 'team-5' });
    await spend(300, `run_${acme.id}_another`);
    expect(await orders()).toMatchObject([{ number: 2, teamPlan: 'team-5', withdrawal: null }, {}]);
    world.clock.turn(1);
    await buy();
    await later(billing.withdrawalMs);
    expect((await orders())[0].withdrawal).toEqual({ credits: 100, refundUsd: 100 });
    world.clock.turn(1);
    expect((await orders())[0].withdrawal).toBeNull();
  });

  it('403 · an admin can read orders, but can neither withdraw from an order nor change the subscription and settings', async () => {
    const id = await buy();
    const { person: admin } = await createMember(world, acme, `Admin-${founded}`, 'admin');
    const theirs = await world.session(admin, acme.id);
    expect(await orders(theirs)).toHaveLength(1);
    const answers = await Promise.all(
      (
        [
          ['POST', `/orders/${id}/withdrawal`, {}],
          ['PATCH', '/subscription', { cancelAtPeriodEnd: true }],
          ['PATCH', '/settings', { trackerTriggers: 'off' }],
          ['POST', '/checkout-sessions', { offer: 'pack' }],
        ] as const
      ).map(([method, path, body]) => world.rest(method, `/billing${path}`, { session: theirs, body })),
    );
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  });
});

describe('team plans', () => {
  const team = () => buy({ offer: 'team', teamPlan: 'team-5' });

  it('200 · a team plan renews with new credits, while unused ones expire', async () => {
    await get('/summary');
    world.clock.turn(1);
    await team();
    const summary = await get('/summary');
    const currentPeriodEnd = present() + billing.periodMs;
    expect(summary).toMatchObject({ plan: 'team', mode: 'subscription', balance: 400, missionCeiling: 500 });
    expect(summary.subscription).toEqual({
      plan: 'team-5',
      status: 'active',
      currentPeriodEnd,
      cancelAtPeriodEnd: false,
      nextPlan: null,
    });
    expect((await post('/checkout-sessions', { offer: 'team', teamPlan: 'team-20' })).status).toBe(409);
    await later(billing.periodMs);
    await Promise.all([renewTestSubscriptions(), renewTestSubscriptions()]);
    await renewTestSubscriptions();
    expect(await ledger()).toEqual([
      ['purchase', 300, 300],
      ['expiry', -300, 0],
      ['expiry', -100, 300],
      ['purchase', 300, 400],
      ['grant', 100, 100],
    ]);
  });

  it('200 · a team plan changes with the next period, which is charged at the price of the new plan', async () => {
    await team();
    const { body } = await change('/subscription', { plan: 'team-20' });
    expect(body.subscription).toMatchObject({ plan: 'team-5', nextPlan: 'team-20' });
    await later(billing.periodMs);
    await renewTestSubscriptions();
    expect((await get('/summary')).subscription).toMatchObject({ plan: 'team-20', nextPlan: null });
    expect((await get('/orders')).orders[0]).toMatchObject({ credits: 1_200, amountUsd: 900 });
  });

  it('200 · a canceled team plan ends with its period, unless the cancellation is revoked', async () => {
    await team();
    expect((await change('/subscription', { cancelAtPeriodEnd: true })).body.subscription.status).toBe('canceling');
    expect((await change('/subscription', { cancelAtPeriodEnd: false })).body.subscription.status).toBe('active');
    await change('/subscription', { cancelAtPeriodEnd: true });
    await later(billing.periodMs);
    await renewTestSubscriptions();
    expect(await get('/summary')).toMatchObject({ plan: 'free', subscription: null, balance: 0 });
    expect((await change('/subscription', { plan: 'team-20' })).status).toBe(409);
  });

  it('201 · a withdrawal from the order of a team plan ends the plan at once', async () => {
    // The trial expires first, so it is spent first.
    await get('/summary');
    world.clock.turn(1);
    const order = await team();
    await spend(160);
    expect((await withdraw(order)).body).toMatchObject({ creditsReversed: 240, refundUsd: 200 });
    expect(await get('/summary')).toMatchObject({ plan: 'free', subscription: null });
  });
});

describe('credit requests, policies and the ledger', () => {
  it('201 · a member’s repeated request for credits is added to the open one, and a purchase closes it', async () => {
    const { person: member } = await createMember(world, acme, `Bob-${founded}`, 'member');
    const theirs = await world.session(member, acme.id);
    const ask = (message: string) =>
      world.rest('POST', '/billing/credit-requests', { session: theirs, body: { message } });
    const [first, second] = [(await ask('Please.')).body, (await ask('Really.')).body];
    expect(first).toEqual({ id: expect.stringMatching(/^crq_/), status: 'open', appended: false, routedTo: 'owners' });
    expect(second).toEqual({ ...first, appended: true });
    expect((await get('/summary')).openCreditRequest).toMatchObject({
      id: first.id,
      messages: [{ message: 'Please.', userId: member.id }, { message: 'Really.' }],
    });
    const who = '{ billingSummary { openCreditRequest { messages { name } } } }';
    const { messages } = (await world.graphql(who, { session })).body.data.billingSummary.openCreditRequest;
    expect(messages[0].name).toBe(member.name);
    expect((await ask('')).status).toBe(400);
    expect((await ask('x'.repeat(2_001))).status).toBe(400);
    await buy();
    expect((await get('/summary')).openCreditRequest).toBe(null);
    expect((await ask('Again.')).body.appended).toBe(false);
  });

  it('200 · the policy for missions started by trackers is stored; 400 for an unknown value', async () => {
    expect((await change('/settings', { trackerTriggers: 'members' })).body.trackerTriggers).toBe('members');
    expect((await get('/summary')).trackerTriggers).toBe('members');
    expect((await change('/settings', { trackerTriggers: 'some' })).status).toBe(400);
  });

  it('200 · the ledger of credits is listed by cursor, each change once', async () => {
    for (let n = 0; n < 5; n++) {
      await spend(1 + n);
      world.clock.turn(1);
    }
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const page: { entries: { balanceAfter: number }[]; nextCursor: string | null } = await get(
        `/ledger?limit=2${cursor ? `&cursor=${cursor}` : ''}`,
      );
      seen.push(...page.entries.map(({ balanceAfter }) => balanceAfter));
      cursor = page.nextCursor;
    } while (cursor);
    expect(seen).toEqual([85, 90, 94, 97, 99, 100]);
    expect((await world.rest('GET', '/billing/ledger?cursor=nonsense', { session })).status).toBe(400);
  });
});
