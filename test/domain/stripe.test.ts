// Payments through Stripe with its official library, against a stand-in that checks each request against Stripe's published API: purchases,
// and events that are repeated, late, forged or meant for somebody else.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { renewTestSubscriptions } from '#domain/money/billing/events.ts';
import { bindPaymentProvider } from '#domain/money/billing/provider.ts';
import { stripeProvider } from '#domain/money/billing/stripe.ts';
import { sendRefunds } from '#domain/money/billing/withdrawal.ts';
import { credit } from '#domain/money/credits/amounts.ts';
import { bookMission } from '#domain/money/credits/missions.ts';
import { readPosition } from '#domain/money/credits/operations.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days, minutes } from '#foundation/clock.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { createOwner } from '../support/callers.ts';
import { type FakeStripe, keys, openStripe } from '../support/fake-stripe.ts';
import type { StripeEvent } from '../support/stripe-shapes.ts';
import { type Ask, openWorld, present, type Session, type World } from '../support/world.ts';

let world: World;
let stripe: FakeStripe;
let owner: Person;
let acme: Organization;
let session: Session;
let founded = 0;
const lines: string[] = [];

beforeAll(async () => {
  [world, stripe] = await Promise.all([openWorld({ log: (line) => lines.push(line) }), openStripe()]);
  bindPaymentProvider(stripeProvider(stripe.settings));
});
afterAll(async () => {
  bindPaymentProvider();
  await Promise.all([world.close(), stripe.close()]);
  expect(lines.join('')).not.toMatch(new RegExp(Object.values(keys).join('|')));
});
beforeEach(async () => {
  stripe.forget();
  ({ person: owner, organization: acme } = await createOwner(world, `Alice-${++founded}`, `Acme ${founded}`));
  session = await world.session(owner, acme.id);
});
async function later(milliseconds: number): Promise<void> {
  world.clock.turn(milliseconds);
  session = await world.session(owner, acme.id);
}

const get = async (path: string) => (await world.rest('GET', `/billing${path}`, { session })).body;
const post = (path: string, body: object, ask: Ask = {}) =>
  world.rest('POST', `/billing${path}`, { session, body, ...ask });
const change = (body: object) => world.rest('PATCH', '/billing/subscription', { session, body });
const pack = { offer: 'pack', startNowConsent: true };
const team = { offer: 'team', teamPlan: 'team-5', startNowConsent: true };
const checkout = async (body: object = pack): Promise<string> => {
  const created = await post('/checkout-sessions', body);
  expect(created.status).toBe(201);
  return created.body.checkoutId;
};
const send = ({ body, headers }: ReturnType<FakeStripe['deliveryOf']>) =>
  world.request('POST', '/v1/billing/events/stripe', { body, headers });
const deliver = async (...events: StripeEvent[]): Promise<number[]> => {
  const statuses: number[] = [];
  for (const event of events) statuses.push((await send(stripe.deliveryOf(event))).status);
  return statuses;
};
const buy = async (body: object = pack) => {
  const id = await checkout(body);
  await deliver(...stripe.pay(id));
  const { orders } = await get('/orders');
  return { order: orders[0].id as string, id, reference: stripe.sessionOf(id).subscription as string };
};
const withdraw = (order: string) => post(`/orders/${order}/withdrawal`, {});
const spend = (credits: number) =>
  transaction((trx) =>
    bookMission(trx, {
      orgId: acme.id,
      runId: `run_${acme.id}_${present()}`,
      cost: Math.round(credits * credit),
      isOver: true,
      ceiling: 1_000 * credit,
    }),
  );
const owned = async () => (await readPosition(acme.id)).owned / credit;
const refundsOf = (id: string) => {
  const { payment_intent } = stripe.sessionOf(id);
  return stripe.payments.get(payment_intent as string)!.refunds.map(({ amount }) => amount);
};

describe('packs of credits paid at Stripe', () => {
  it('200 · a pack paid at Stripe counts once, even if its event is delivered repeatedly', async () => {
    const { status, body } = await post('/checkout-sessions', { ...pack, quantity: 2 });
    const stripes = stripe.sessionOf(body.checkoutId);
    expect([status, body.url]).toEqual([201, stripes.url]);
    expect(stripes).toMatchObject({
      client_reference_id: body.checkoutId,
      metadata: { checkout_id: body.checkoutId, org_id: acme.id },
      amount_total: 200_00,
    });
    const [paid] = stripe.pay(body.checkoutId);
    expect(await deliver(paid!, paid!, { ...paid!, id: 'evt_again' })).toEqual([200, 200, 200]);
    expect((await get(`/checkout-sessions/${body.checkoutId}`)).status).toBe('complete');
    expect((await get('/orders')).orders).toMatchObject([{ credits: 200, amountUsd: 200, status: 'paid' }]);
    expect(await get('/summary')).toMatchObject({
      plan: 'pack',
      balance: 300,
      purchase: { enabled: true, provider: 'stripe', testMoney: true },
    });
    expect(stripe.violations).toEqual([]);
  });

  it('200 · a pack is not ordered while its checkout is unpaid, expired or failed', async () => {
    const [slow, gone, failed] = [await checkout(), await checkout(), await checkout()];
    await deliver(...stripe.pay(slow, { isDelayed: true }), stripe.expire(gone));
    await deliver(...stripe.pay(failed, { isDelayed: true }));
    await deliver(stripe.event('checkout.session.async_payment_failed', stripe.sessionOf(failed)));
    expect((await get('/orders')).orders).toEqual([]);
    expect((await get(`/checkout-sessions/${gone}`)).status).toBe('expired');
    expect((await get(`/checkout-sessions/${failed}`)).status).toBe('expired');
    await later(days(4));
    expect(await deliver(stripe.settle(slow))).toEqual([200]);
    expect((await get('/orders')).orders).toHaveLength(1);
  });

  it('201 · a withdrawal refunds the unspent part of a pack once, even when the refund was not recorded', async () => {
    const { order, id } = await buy();
    await spend(100 + 33.337);
    expect((await withdraw(order)).body).toMatchObject({ creditsReversed: 66, refundUsd: 66.67 });
    stripe.disturb('POST /v1/refunds', 'lose the answer');
    await sendRefunds();
    // The process died before it recorded the refund, and Stripe has forgotten the key.
    await world.knex('billing_orders').where({ id: order }).update({ refundedAt: null });
    stripe.forgetKeys();
    await sendRefunds();
    expect(refundsOf(id)).toEqual([66_67]);
    expect(await owned()).toBe(0);
    expect(stripe.violations).toEqual([]);
  });
});

describe('Stripe events', () => {
  it('400 · an event from Stripe changes nothing when it is forged, too old, or for another organization or amount', async () => {
    const id = await checkout();
    const [paid] = stripe.pay(id);
    const stripes = stripe.sessionOf(id);
    const good = stripe.deliveryOf(paid!);
    const sent = [
      await send({ ...good, headers: {} as never }),
      await send(stripe.deliveryOf(paid!, { secret: 'whsec_other' })),
      await send({ ...good, body: good.body.replace(paid!.id, 'evt_other') }),
      await send(stripe.deliveryOf(paid!, { at: present() - minutes(6) })),
    ];
    expect(sent.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    const differing = [
      { metadata: { checkout_id: id, org_id: 'org_other' } },
      { metadata: { checkout_id: 'chk_unknown', org_id: acme.id } },
      { amount_total: 1 },
      { currency: 'eur' },
    ];
    for (const other of differing) {
      const { metadata, amount_total, currency } = stripes;
      Object.assign(stripes, other);
      expect(await deliver(paid!)).toEqual([400]);
      Object.assign(stripes, { metadata, amount_total, currency });
    }
    expect([await owned(), (await get('/orders')).orders]).toEqual([100, []]);
    // The refused deliveries do not prevent the valid delivery of the same event.
    expect(await deliver(paid!)).toEqual([200]);
    expect(await owned()).toBe(200);
  });

  it('200 · events from Stripe about other products of the same account are ignored', async () => {
    const id = await checkout(team);
    const events = stripe.pay(id);
    const { subscription, metadata } = stripe.sessionOf(id);
    for (const key of Object.keys(metadata!)) delete metadata![key];
    events.push(...stripe.renew(subscription as string), stripe.event('charge.updated', { id: 'ch_1' }));
    expect(new Set(await deliver(...events))).toEqual(new Set([200]));
    expect((await get('/orders')).orders).toEqual([]);
  });

  it('503, 404 · an event from Stripe gets 503 while Stripe is unavailable, 200 when it is sent again, and 404 without Stripe settings', async () => {
    const id = await checkout();
    const [paid] = stripe.pay(id);
    const name = 'GET /v1/checkout/sessions/cs_test_';
    for (let n = 0; n < 2; n++) stripe.disturb(name, { status: 500, body: { error: { type: 'api_error' } } });
    expect(await deliver(paid!)).toEqual([503]);
    expect(await deliver(paid!)).toEqual([200]);
    expect(await owned()).toBe(200);
    bindPaymentProvider();
    expect(await deliver(paid!)).toEqual([404]);
    bindPaymentProvider(stripeProvider(stripe.settings));
  });
});

describe('team plans paid at Stripe', () => {
  it('200 · a team plan renews by its invoices, with events in any order', async () => {
    const id = await checkout(team);
    const [updated, first, completed] = stripe.pay(id);
    // The service does not know the subscription until the checkout is complete, so it refuses the first event. Stripe then sends this
    // event again.
    expect(await deliver(updated!, first!, completed!, updated!)).toEqual([400, 200, 200, 200]);
    const { subscription } = await get('/summary');
    expect(subscription).toMatchObject({ plan: 'team-5', status: 'active', currentPeriodEnd: present() + days(30) });
    const reference = stripe.sessionOf(id).subscription as string;
    await later(days(30));
    // Stripe, not this service, renews the subscription.
    await renewTestSubscriptions();
    expect((await get('/orders')).orders).toHaveLength(1);
    const renewal = stripe.renew(reference);
    expect(await deliver(...renewal.toReversed(), ...renewal)).toEqual([200, 200, 200, 200]);
    expect((await get('/orders')).orders).toMatchObject([{ credits: 300 }, { credits: 300 }]);
    expect(await owned()).toBe(300);
    expect((await get('/summary')).subscription.currentPeriodEnd).toBe(present() + days(30));
    expect(stripe.violations).toEqual([]);
  });

  it('200 · a team plan changes with the next period, and ends with the current one when it is canceled', async () => {
    const { reference } = await buy(team);
    expect((await change({ plan: 'team-20' })).body.subscription).toMatchObject({
      plan: 'team-5',
      nextPlan: 'team-20',
    });
    await later(days(30));
    await deliver(...stripe.renew(reference));
    expect((await get('/orders')).orders[0]).toMatchObject({ credits: 1_200, amountUsd: 900 });
    expect((await change({ cancelAtPeriodEnd: true })).body.subscription.status).toBe('canceling');
    const canceling = stripe.changed(reference);
    expect((await change({ cancelAtPeriodEnd: false })).body.subscription.status).toBe('active');
    // The event about the cancellation arrives only after the cancellation was withdrawn. The service asks Stripe for the current state, so
    // this outdated event has no effect.
    await deliver(canceling);
    expect((await get('/summary')).subscription.status).toBe('active');
    await change({ cancelAtPeriodEnd: true });
    await later(days(30));
    expect(await deliver(...stripe.renew(reference))).toEqual([200]);
    expect(await get('/summary')).toMatchObject({ plan: 'free', subscription: null });
    expect((await change({ plan: 'team-5' })).status).toBe(409);
    expect(stripe.violations).toEqual([]);
  });

  it('201 · a withdrawal ends a team plan at once and refunds a part of its invoice', async () => {
    // The credits of the trial begin and expire a second before those of the plan, so they are spent first.
    await get('/summary');
    world.clock.turn(1_000);
    const { order, id, reference } = await buy(team);
    await spend(100 + 60);
    const answer = await withdraw(order);
    expect(answer.body).toMatchObject({ creditsReversed: 240, refundUsd: 200 });
    await sendRefunds();
    await sendRefunds();
    expect(stripe.subscriptions.get(reference)!.status).toBe('canceled');
    expect(stripe.refundsOfInvoice(stripe.sessionOf(id).invoice as string)).toEqual([200_00]);
    expect(await deliver(stripe.event('customer.subscription.deleted', { id: reference }))).toEqual([200]);
    expect(await get('/summary')).toMatchObject({ plan: 'free', subscription: null });
    expect(stripe.violations).toEqual([]);
  });

  it('200 · a second subscription, paid while the first is open, is canceled, and its payment is recorded as an order', async () => {
    const [first, second] = [await checkout(team), await checkout(team)];
    await deliver(...stripe.pay(first));
    const late = stripe.pay(second).at(-1)!;
    for (let n = 0; n < 2; n++)
      stripe.disturb('DELETE /v1/subscriptions/sub_', { status: 500, body: { error: { type: 'api_error' } } });
    expect(await deliver(late)).toEqual([503]);
    expect((await get('/orders')).orders).toHaveLength(1);
    expect(await deliver(late)).toEqual([200]);
    const [kept, ended] = [first, second].map((id) => stripe.sessionOf(id).subscription as string);
    expect(stripe.subscriptions.get(kept!)!.status).toBe('active');
    expect(stripe.subscriptions.get(ended!)!.status).toBe('canceled');
    expect((await get('/orders')).orders).toHaveLength(2);
    expect(await deliver(stripe.event('customer.subscription.deleted', { id: ended }))).toEqual([200]);
    expect((await get('/summary')).subscription).toMatchObject({ status: 'active' });
  });

  it('200 · a payment after the organization was closed is refunded, and its subscription ends', async () => {
    const [packs, plan] = [await checkout(), await checkout(team)];
    await world.rest('POST', `/organizations/${acme.id}/closure`, { session, body: { confirmSlug: acme.slug } });
    expect(await deliver(stripe.pay(packs).at(-1)!, stripe.pay(plan).at(-1)!)).toEqual([200, 200]);
    await sendRefunds();
    const { subscription, invoice } = stripe.sessionOf(plan);
    expect(refundsOf(packs)).toEqual([100_00]);
    expect(stripe.refundsOfInvoice(invoice as string)).toEqual([250_00]);
    expect(stripe.subscriptions.get(subscription as string)!.status).toBe('canceled');
    expect(await owned()).toBe(0);
  });

  it('409 · a subscription that Stripe no longer has cannot be changed', async () => {
    const { reference } = await buy(team);
    stripe.subscriptions.get(reference)!.status = 'canceled';
    expect((await change({ cancelAtPeriodEnd: true })).status).toBe(409);
  });
});

describe('checkouts that Stripe refuses or loses', () => {
  it.each([
    [
      'limits the rate of requests',
      { status: 429, body: { error: { type: 'invalid_request_error', code: 'rate_limit' } } },
      503,
    ],
    ['declines the card', { status: 402, body: { error: { type: 'card_error', message: 'No funds.' } } }, 409],
    ['rejects the key of the service', { status: 401, body: { error: { type: 'invalid_request_error' } } }, 502],
  ] as const)('a checkout fails when Stripe %s', async (_, reply, status) => {
    stripe.disturb('POST /v1/checkout/sessions', reply);
    const answer = await post('/checkout-sessions', pack);
    expect([answer.status, answer.body.retryable]).toEqual([status, status !== 409]);
    if (status === 503) expect(answer.headers.get('retry-after')).toBe('5');
    expect(JSON.stringify(answer.body)).not.toContain(keys.secretKey);
  });

  it('503, 201 · after a lost answer, repeating a checkout with its Idempotency-Key returns the same payment page', async () => {
    const ask = { headers: { 'idempotency-key': `buy-${acme.id}` } };
    const name = 'POST /v1/checkout/sessions';
    for (let n = 0; n < 2; n++) stripe.disturb(name, 'lose the answer');
    const lost = await post('/checkout-sessions', pack, ask);
    expect([lost.status, lost.body.code]).toEqual([503, 'upstream_unavailable']);
    const { status, body } = await post('/checkout-sessions', pack, ask);
    expect(status).toBe(201);
    const own = [...stripe.sessions.values()].filter(({ metadata }) => metadata?.org_id === acme.id);
    expect(own.map(({ url }) => url)).toEqual([body.url]);
    expect(await world.knex('billing_checkouts').where({ orgId: acme.id })).toHaveLength(1);
    expect((await post('/checkout-sessions', pack, ask)).body).toEqual(body);
    expect(stripe.violations).toEqual([]);
  });
});

it('the stand-in for Stripe rejects, as Stripe does, an unknown parameter and a reused idempotency key', async () => {
  const provider = stripeProvider(stripe.settings);
  const id = await checkout();
  const row = await world.knex('billing_checkouts').where({ id }).first();
  expect((await provider.startCheckout(row)).reference).toBe(stripe.sessionOf(id).id);
  await expect(provider.startCheckout({ ...row, amountCents: 1_00 })).rejects.toThrow('idempotency_error');
  expect(stripe.violations).toEqual([]);
  const headers = { authorization: `Bearer ${keys.secretKey}`, 'content-type': 'application/x-www-form-urlencoded' };
  const sent = await fetch(`${stripe.settings.apiUrl}/v1/prices`, { method: 'POST', headers, body: 'name=x' });
  expect(sent.status).toBe(400);
  expect(stripe.violations).toHaveLength(2);
});
