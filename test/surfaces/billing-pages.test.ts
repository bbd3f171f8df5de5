// The pages of billing: over HTTP for what they decide and who sees what, and in a real browser by role and label.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { credit } from '#domain/credits/amounts.ts';
import { bookMission } from '#domain/credits/missions.ts';
import type { Organization } from '#domain/organizations/model.ts';
import { bindPaymentProvider, builtinProvider } from '#domain/plans/provider.ts';
import { billing } from '#domain/plans/terms.ts';
import { sendRefunds } from '#domain/plans/withdrawal.ts';
import type { Row } from '#foundation/base-model.ts';
import { transaction } from '#foundation/database.ts';
import { launchBrowser } from '../support/browser.ts';
import { createPageInspector, type PageInspector } from '../support/page-inspector.ts';
import { openWorld, present, type Session, type World } from '../support/world.ts';

const launched = await launchBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

let world: World;
let org: Row<Organization>;
let session: Session;
let count = 0;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  const owner = await world.person(`Alice-${++count}`);
  org = await world.found(owner, `Works ${count}`);
  session = await world.session(owner, org.id);
});

const show = (path = '', as: Session = session) => world.request('GET', `/console/billing${path}`, { session: as });
function send(path: string, fields: Record<string, string>, as: Session = session) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ csrf_token: as.csrf, ...fields }).toString();
  return world.request('POST', `/console${path}`, { session: as, headers, body });
}
async function member(role: 'admin' | 'member' | 'viewer'): Promise<Session> {
  const person = await world.person(`${role}-${count}`);
  await world.join(org, person, role);
  return world.session(person, org.id);
}
/** Buys on the pages, and returns the id of the order. */
async function buy(fields: Record<string, string> = { offer: 'pack', quantity: '2' }): Promise<string> {
  const ids = async (): Promise<string[]> =>
    (await world.rest('GET', '/billing/orders', { session })).body.orders.map(({ id }: { id: string }) => id);
  const before = await ids();
  const { status, headers } = await send('/billing/buy', { ...fields, start: 'now' });
  const page = headers.get('location')!;
  expect([status, page]).toEqual([303, expect.stringMatching(/^\/console\/checkout\/chk_/)]);
  expect((await send(page.slice('/console'.length), {})).status).toBe(303);
  return (await ids()).find((id) => !before.includes(id))!;
}
const spend = (credits: number) =>
  transaction((trx) =>
    bookMission(trx, {
      orgId: org.id,
      runId: `run_${org.id}_${present()}`,
      cost: Math.round(credits * credit),
      isOver: true,
      ceiling: 1_000 * credit,
    }),
  );

describe('the billing page', () => {
  it('200 · shows the trial, and says that payments are in test money', async () => {
    const { status, body } = await show();
    expect(status).toBe(200);
    expect(body).toContain('<strong>100</strong> credits');
    expect(body).toContain('100 of 100 credits left');
    expect(body).toContain('Payments are in test money');
    expect(body).toContain('Nothing was bought yet.');
  });

  it('303 · buys packs after a page that says what they are, and they are in the balance and the ledger', async () => {
    const page = await show('/buy?offer=pack&quantity=2');
    expect([page.status, page.body.includes('200.00 USD')]).toEqual([200, true]);
    const order = await buy();
    const { body } = await show();
    expect(body).toContain('<strong>300</strong> credits');
    expect(body).toContain(`/console/billing/orders/${order}`);
    expect(body).toMatch(/Purchase<div[\s\S]{0,200}<td class="number">\+200<\/td><td class="number">300<\/td>/);
    expect((await show('/buy?offer=pack&quantity=0')).status).toBe(400);
    expect((await show('/buy?offer=team&team_plan=team-6')).status).toBe(400);
    expect((await send('/billing/buy', { offer: 'pack' })).status).toBe(400);
  });

  it('200 · subscribes, changes the plan, cancels, and keeps it', async () => {
    await buy({ offer: 'team', team_plan: 'team-5' });
    expect((await show()).body).toContain('Plan: Team 5');
    const second = await send('/billing/buy', { offer: 'team', team_plan: 'team-20', start: 'now' });
    expect([second.status, second.body.includes('has a subscription')]).toEqual([409, true]);
    await send('/billing', { do: 'plan', plan: 'team-20' });
    const changed = (await show()).body;
    expect([changed.includes('as Team 20'), changed.includes('>Keep Team 5<')]).toEqual([true, true]);
    const { status, headers } = await send('/billing', { do: 'cancel' });
    expect([status, headers.get('location')]).toEqual([303, '/console/billing?done=changed']);
    expect((await show('?done=changed')).body).toMatch(/The subscription is changed[\s\S]*<dt>Ends<\/dt>/);
    await send('/billing', { do: 'renew' });
    expect((await show()).body).toContain('<dt>Renews</dt>');
  });

  it('303 · withdraws while the window is open, for what was not spent', async () => {
    const order = await buy();
    await spend(150);
    expect((await show()).body).toContain('150 unspent credits are taken back and 150.00 USD are refunded.');
    const { headers } = await send('/billing', { do: 'withdraw', order_id: order, reason: '' });
    expect(headers.get('location')).toBe('/console/billing?done=withdrawn');
    expect((await show()).body).toContain('Withdrawn, 150.00 USD refunded');
    const again = await send('/billing', { do: 'withdraw', order_id: order, reason: '' });
    expect([again.status, again.body.includes('withdrawn already')]).toEqual([409, true]);
    const late = await buy();
    world.clock.turn(billing.withdrawal + 1);
    session = await world.session(await world.person(`Alice-${count}`), org.id);
    expect((await show()).body).not.toContain('value="withdraw"');
    expect((await send('/billing', { do: 'withdraw', order_id: late, reason: '' })).status).toBe(409);
  });

  it('a member asks for credits and sees nothing else; the owner reads it; 403 for viewers', async () => {
    const theirs = await member('member');
    const before = await show('', theirs);
    expect([before.status, before.body.includes('Balance')]).toEqual([200, false]);
    const message = '50 more, please.\r\n<b>Thanks</b>';
    expect((await send('/billing', { do: 'ask', message }, theirs)).status).toBe(303);
    const { body } = await show();
    expect(body).toContain('50 more, please.\r\n&lt;b&gt;Thanks&lt;/b&gt;');
    expect(body).toContain(`member-${count}, <time`);
    const viewer = await member('viewer');
    expect((await show('', viewer)).status).toBe(403);
    expect((await world.request('GET', '/console/account', { session: viewer })).body).not.toContain(
      '/console/billing',
    );
  });

  it('an admin reads it all and changes nothing', async () => {
    const order = await buy();
    const theirs = await member('admin');
    const { body } = await show('', theirs);
    expect(body).toContain('Only an owner of the organization can buy.');
    expect(body).not.toMatch(/value="(withdraw|settings|cancel)"|\/console\/billing\/buy/);
    for (const action of ['withdraw', 'cancel', 'settings'])
      expect((await send('/billing', { do: action, order_id: order }, theirs)).status).toBe(403);
    expect((await send('/billing/buy', { offer: 'pack', start: 'now' }, theirs)).status).toBe(403);
    expect((await show('/buy?offer=pack', theirs)).status).toBe(403);
  });

  it('shows an owner of a closed organization what was, and no form', async () => {
    const order = await buy();
    await world.rest('POST', `/organizations/${org.id}/closure`, { session, body: { confirmSlug: org.slug } });
    const { status, body } = await show();
    expect([status, body.includes('The organization is closed.')]).toEqual([200, true]);
    expect(body).not.toMatch(/name="do"|\/console\/billing\/buy/);
    expect((await show(`/orders/${order}`)).status).toBe(200);
    expect((await send('/billing', { do: 'cancel' })).status).toBe(409);
  });

  it('keeps the policy for trackers; 400 and 403 for other forms', async () => {
    await send('/billing', { do: 'settings', tracker_triggers: 'members' });
    expect((await show()).body).toContain('value="members" checked');
    expect((await send('/billing', { do: 'settings', tracker_triggers: 'some' })).status).toBe(400);
    expect((await send('/billing', { do: 'explode' })).status).toBe(400);
    expect((await send('/billing', { do: 'ask', message: '' })).status).toBe(400);
    expect((await send('/billing', { do: 'cancel', csrf_token: 'x' })).status).toBe(403);
    expect((await world.request('GET', '/console/billing')).status).toBe(303);
  });

  it('200 · links to the payment page of another host, and does not redirect there', async () => {
    const url = 'https://pay.example/c/1?a=b&c=d';
    bindPaymentProvider({ ...builtinProvider, name: 'other', startCheckout: async () => ({ url, reference: 'r' }) });
    const { status, body } = await send('/billing/buy', { offer: 'pack', quantity: '1', start: 'now' });
    bindPaymentProvider();
    expect([status, body.includes('href="https://pay.example/c/1?a=b&amp;c=d"')]).toEqual([200, true]);
    const { id } = await world.knex('billing_checkouts').where({ orgId: org.id }).first();
    const back = (await world.request('GET', `/console/checkout/${id}`, { session })).body;
    expect(back).toContain('The payment is not confirmed.');
    expect(back).not.toContain('test money');
  });
});

describe('the ledger page', () => {
  it('200 · lists every entry once, by pages', async () => {
    for (let n = 0; n < 55; n++) {
      await spend(0.5);
      world.clock.turn(1);
    }
    const first = await show('/ledger');
    const older = /href="\/console\/billing(\/ledger\?cursor=[^"]+)"/.exec(first.body)![1]!;
    const second = await show(older);
    const rows = (body: string): number => body.split('<tr><td').length - 1;
    expect([rows(first.body), rows(second.body)]).toEqual([50, 6]);
    expect(second.body).not.toContain('Older entries');
    expect((await show('/ledger?cursor=nonsense')).status).toBe(400);
    expect((await show('/ledger', await member('member'))).status).toBe(403);
  });
});

describe('a receipt', () => {
  it('200 · numbers the orders of an organization without gaps, two at once too', async () => {
    const checkouts = await Promise.all(
      [1, 2, 3].map(() => send('/billing/buy', { offer: 'pack', quantity: '1', start: 'now' })),
    );
    const pay = ({ headers }: { headers: Headers }) => send(headers.get('location')!.slice('/console'.length), {});
    await Promise.all([...checkouts, ...checkouts].map(pay));
    const numbers = await world.knex('billing_orders').where({ orgId: org.id }).orderBy('number').pluck('number');
    expect(numbers).toEqual([1, 2, 3]);
  });

  it('200 · says who paid what and when, and what was withdrawn', async () => {
    const order = await buy();
    await spend(150);
    const { status, body } = await show(`/orders/${order}`);
    expect(status).toBe(200);
    for (const part of ['Receipt 1', `Works ${count}`, 'Credit pack, 200 credits', '200.00 USD', order, 'test money'])
      expect(body).toContain(part);
    await send('/billing', { do: 'withdraw', order_id: order, reason: '' });
    const withdrawn = (await show(`/orders/${order}`)).body;
    expect(withdrawn).toContain('the refund is under way');
    expect(withdrawn).toContain('−150.00 USD');
    expect(withdrawn).toMatch(/Total<\/th><td class="number">50\.00 USD/);
    await sendRefunds();
    expect((await show(`/orders/${order}`)).body).toContain('refunded on');
  });

  it('404 · of another organization, and an unknown one; 403 without the scope', async () => {
    const order = await buy();
    const stranger = await world.person(`Mallory-${count}`);
    const theirs = await world.session(stranger, (await world.found(stranger, `Globex ${count}`)).id);
    expect((await show(`/orders/${order}`, theirs)).status).toBe(404);
    expect((await show('/orders/ord_unknown')).status).toBe(404);
    expect((await show(`/orders/${order}`, await member('member'))).status).toBe(403);
  });
});

describe.skipIf(typeof launched === 'string')('in a browser', () => {
  let pages: PageInspector;
  beforeAll(() => {
    pages = createPageInspector(launched as Browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(() => (launched as Browser).close());

  it('an owner answers a request by buying, reads the receipt, and withdraws, without script', async () => {
    await send('/billing', { do: 'ask', message: 'Fifty more for the release, please.' }, await member('member'));
    const page = await pages.open(session, { javaScriptEnabled: false });
    await page.goto('/console/account');
    await page.getByRole('link', { name: 'Billing' }).click();
    await page.getByText('Fifty more for the release, please.').waitFor();
    await page.getByLabel('Packs').fill('2');
    await page.getByRole('button', { name: 'Buy credit packs' }).press('Enter');
    await page.getByRole('heading', { name: 'Buy 2 credit packs' }).waitFor();
    await page.getByLabel('At once.').check();
    await page.getByRole('button', { name: 'Continue to payment' }).press('Enter');
    await page.getByRole('button', { name: 'Pay 200.00 USD in test money' }).press('Enter');
    await page.getByRole('link', { name: 'Go to billing' }).click();
    await page.getByText('300 credits', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Receipt 1' }).click();
    await page.getByRole('heading', { name: 'Receipt 1' }).waitFor();
    await page.goBack();
    await page.getByText('Withdraw from order 1', { exact: true }).click();
    await page.getByRole('button', { name: 'Withdraw from order 1 now' }).press('Enter');
    await page.getByText('Withdrawn. The credits are taken back').waitFor();
  });

  it('every page is readable in light, dark and on a phone, and a receipt prints without the frame', async () => {
    await send('/billing', { do: 'ask', message: 'Fifty more for the release, please.' }, await member('member'));
    const page = await pages.open(session);
    await page.goto('/console/billing');
    await pages.inspect(page, 'billing-new');
    await page.getByRole('link', { name: 'Subscribe to Team 20' }).click();
    await page.getByRole('heading', { name: 'Buy Plan Team 20' }).waitFor();
    await pages.inspect(page, 'billing-buy');
    const order = await buy();
    await buy({ offer: 'team', team_plan: 'team-5' });
    await spend(133.37);
    await send('/billing', { do: 'plan', plan: 'team-20' });
    await page.goto('/console/billing');
    await page.getByText('Withdraw from order 1', { exact: true }).click();
    await pages.inspect(page, 'billing');
    await send('/billing', { do: 'withdraw', order_id: order, reason: 'Too many.' });
    await page.goto(`/console/billing/orders/${order}`);
    await pages.inspect(page, 'billing-receipt');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    expect(await page.getByRole('heading', { name: 'Receipt 1' }).isVisible()).toBe(true);
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/billing-receipt-print.png` });
  });
});
