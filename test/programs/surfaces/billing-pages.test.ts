// Tests of the billing pages in a real browser, which find elements by their ARIA role and label. Receipts and the payment page are tested
// over HTTP. domain/billing.test.ts tests the rules of billing.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bindPaymentProvider, builtinProvider } from '#domain/money/billing/provider.ts';
import { sendRefunds } from '#domain/money/billing/withdrawal.ts';
import { credit } from '#domain/money/credits/amounts.ts';
import { bookMission } from '#domain/money/credits/missions.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { openBrowser } from '../../support/browser.ts';
import { createMember, createOwner, createProject } from '../../support/callers.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { openWorld, present, type Session, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

let world: World;
let org: Organization;
let session: Session;
let count = 0;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  const owner = await createOwner(world, `Alice-${++count}`, `Works ${count}`);
  org = owner.organization;
  session = await world.session(owner.person, org.id);
});

const base = () => `/console/o/${org.slug}`;
const show = (path = '', as: Session = session) => world.request('GET', `${base()}/billing${path}`, { session: as });
const write = async (method: string, path: string, body: object = {}, as: Session = session) =>
  (await world.rest(method, `/billing${path}`, { session: as, body })).body;
const checkout = async (offer: object): Promise<string> =>
  (await write('POST', '/checkout-sessions', { startNowConsent: true, ...offer })).checkoutId;
function pay(id: string) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ csrf_token: session.csrf }).toString();
  return world.request('POST', `${base()}/checkout/${id}`, { session, headers, body });
}
async function member(role: 'admin' | 'member' | 'viewer'): Promise<Session> {
  const { person } = await createMember(world, org, `${role}-${count}`, role);
  return world.session(person, org.id);
}
/** Buys an offer, and returns the id of the order. */
async function buy(offer: object = { offer: 'pack', quantity: 2 }): Promise<string> {
  const ids = async (): Promise<string[]> =>
    (await world.rest('GET', '/billing/orders', { session })).body.orders.map(({ id }: { id: string }) => id);
  const before = await ids();
  await pay(await checkout(offer));
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

describe('Receipts', () => {
  it('receipts of an organization are numbered without gaps, even for concurrent purchases', async () => {
    const checkouts = await Promise.all([1, 2, 3].map(() => checkout({ offer: 'pack' })));
    await Promise.all([...checkouts, ...checkouts].map((id) => pay(id)));
    const numbers = await world.knex('billing_orders').where({ orgId: org.id }).orderBy('number').pluck('number');
    expect(numbers).toEqual([1, 2, 3]);
  });

  it('200 · a receipt shows buyer, amount and time, and a withdrawal', async () => {
    const order = await buy();
    await spend(150);
    const { status, body } = await show(`/orders/${order}`);
    expect(status).toBe(200);
    for (const part of ['Receipt 1', `Works ${count}`, 'Credit pack, 200 credits', '200.00 USD', order, 'test money'])
      expect(body).toContain(part);
    await write('POST', `/orders/${order}/withdrawal`);
    const withdrawn = (await show(`/orders/${order}`)).body;
    expect(withdrawn).toContain('the refund is in progress');
    expect(withdrawn).toContain('−150.00 USD');
    expect(withdrawn).toMatch(/Total<\/th><td class="number">50\.00 USD/);
    await sendRefunds();
    expect((await show(`/orders/${order}`)).body).toContain('refunded on');
  });

  it('404 · a receipt is not found for another organization; 403 · without the scope it is refused', async () => {
    const order = await buy();
    const { person: stranger, organization: globex } = await createOwner(world, `Mallory-${count}`, `Globex ${count}`);
    const theirs = await world.session(stranger, globex.id);
    expect((await show(`/orders/${order}`, theirs)).status).toBe(404);
    const inTheirs = `/console/o/${globex.slug}/billing/orders/${order}`;
    expect((await world.request('GET', inTheirs, { session: theirs })).status).toBe(404);
    expect((await show('/orders/ord_unknown')).status).toBe(404);
    expect((await show(`/orders/${order}`, await member('member'))).status).toBe(403);
  });
});

it('303, 403 · billing pages require sign-in, and the right to read billing or to start missions', async () => {
  expect((await world.request('GET', `${base()}/billing`)).status).toBe(303);
  const [theirs, viewer, admin] = [await member('member'), await member('viewer'), await member('admin')];
  expect((await show('', theirs)).status).toBe(200);
  expect((await show('/ledger', theirs)).status).toBe(403);
  expect((await show('', viewer)).status).toBe(403);
  expect((await show('/buy?offer=pack', admin)).status).toBe(403);
  expect((await world.request('GET', '/console/account', { session: viewer })).body).not.toContain('/billing');
});

describe.skipIf(typeof launched === 'string')('Billing pages in a browser', () => {
  let pages: PageInspector;
  beforeAll(() => {
    pages = createPageInspector(launched as Browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });

  const open = async (path = '', as: Session = session): Promise<Page> => {
    const page = await pages.open(as);
    await page.goto(`${base()}/billing${path}`);
    return page;
  };
  const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

  it('an owner answers a request for credits by buying credit packs, reads the receipt, and withdraws from the purchase', async () => {
    const words = 'Fifty more for the release, please.\n<b>Thanks</b>';
    await write('POST', '/credit-requests', { message: words }, await member('member'));
    const page = await open();
    await region(page, 'Credits requested').getByText('<b>Thanks</b>').waitFor();
    await page.getByText(`member-${count}, `).waitFor();
    await page.getByText('Payments use test money').waitFor();
    await page.getByText('No orders yet.').waitFor();
    await page.getByText('100 of 100 credits left').waitFor();
    await pages.inspect(page, 'billing-new');
    await page.getByLabel('Packs').fill('2');
    await page.getByRole('button', { name: 'Buy credit packs' }).press('Enter');
    await page.getByRole('heading', { name: 'Buy 2 credit packs' }).waitFor();
    for (const sentence of [
      '200.00 USD',
      'You can withdraw within 14 days of the purchase. Unspent credits are then refunded.',
      'no card is charged',
    ])
      await page.getByText(sentence).waitFor();
    await page.getByRole('button', { name: 'Continue to payment' }).press('Enter');
    expect(await page.locator(':invalid').count()).toBeGreaterThan(0);
    await page.getByLabel('Now. I agree that spent credits are not refunded.').check();
    // The consent is not stored: a person who returns gives it again.
    const kept = 'Object.keys(sessionStorage).filter((key) => !key.startsWith("scroll "))';
    expect(await page.evaluate(kept)).toEqual([]);
    await page.getByRole('button', { name: 'Continue to payment' }).press('Enter');
    await page.getByRole('button', { name: 'Pay 200.00 USD in test money' }).press('Enter');
    await page.getByRole('link', { name: 'Go to billing' }).click();
    await page.getByText('300 credits', { exact: true }).waitFor();
    expect(await region(page, 'Credits requested').count()).toBe(0);
    const first = region(page, 'Ledger').getByRole('row').nth(1);
    expect(await first.innerText()).toMatch(/Purchase[\s\S]*\+200\s+300/);
    await page.getByRole('link', { name: 'Receipt 1' }).click();
    await page.getByRole('heading', { name: 'Receipt 1' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Withdraw from order 1' }).press('Enter');
    await page.getByText('200 unspent credits are taken back and 200.00 USD are refunded.').waitFor();
    await page.getByLabel('Reason (optional)').fill('Too many.');
    await pages.inspect(page, 'billing-withdrawal');
    await page.getByRole('button', { name: 'Withdraw from order 1 now' }).press('Enter');
    await page.getByText('Withdrawn. The credits were taken back').waitFor();
    await page.getByText('Withdrawn, 200.00 USD refunded').waitFor();
    expect(await world.knex('billing_orders').where({ orgId: org.id })).toMatchObject([
      { withdrawalReason: 'Too many.' },
    ]);
  });

  it('an owner subscribes once even if the answer is lost, changes the plan, cancels, and resumes the subscription', async () => {
    const page = await open();
    await page.getByRole('link', { name: 'Subscribe to Team 5' }).click();
    await page.getByText('250.00 USD per month, until you cancel').waitFor();
    await pages.inspect(page, 'billing-buy');
    await page.getByLabel('After the withdrawal period').check();
    let isLost = false;
    await page.route('**/graphql', async (route) => {
      if (isLost || !route.request().postData()?.includes('createCheckoutSession')) return route.fallback();
      isLost = true;
      await route.fetch();
      await route.abort('aborted');
    });
    await page.getByRole('button', { name: 'Continue to payment' }).click();
    await page.getByRole('button', { name: 'Pay 250.00 USD in test money' }).waitFor();
    expect(await world.knex('billing_checkouts').where({ orgId: org.id })).toMatchObject([{ startsNow: false }]);
    await page.getByRole('button', { name: 'Pay 250.00 USD in test money' }).click();
    await page.getByRole('link', { name: 'Go to billing' }).click();
    await page.getByText('Plan: Team 5').waitFor();
    expect(await page.getByRole('link', { name: /Subscribe/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Change to Team 20 (900.00 USD) from the next period' }).click();
    await page.getByText('as Team 20').waitFor();
    await page.getByRole('button', { name: 'Keep Team 5' }).waitFor();
    await page.getByRole('button', { name: 'Cancel subscription' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel subscription' }).click();
    await page.getByText('The subscription was changed.').waitFor();
    await page.getByText('Ends', { exact: true }).waitFor();
    await spend(33.37);
    await page.reload();
    await page.getByRole('button', { name: 'Resume subscription' }).waitFor();
    await pages.inspect(page, 'billing');
    await page.getByRole('button', { name: 'Resume subscription' }).click();
    await page.getByText('Renews', { exact: true }).waitFor();
    // A subscription bought in another tab is reported, and the form keeps its values.
    const other = await open('/buy?offer=team&team_plan=team-20');
    await other.getByLabel('Now.').check();
    await other.getByRole('button', { name: 'Continue to payment' }).click();
    await other.getByText('the organization already has a subscription').waitFor();
    expect(await other.getByLabel('Now.').isChecked()).toBe(true);
    await other.goto(`${base()}/billing/buy?offer=pack&quantity=0`);
    await other.getByText('Offer not found').waitFor();
  });

  it('a plan without a limit on projects shows how many there are, and says that their number is unlimited', async () => {
    await buy({ offer: 'team', teamPlan: 'team-20' });
    const page = await open();
    await region(page, 'Balance').getByText('0, unlimited', { exact: true }).waitFor();
  });

  it('a member can only request credits; an admin can only read the billing pages, and so can an owner once the organization is closed', async () => {
    const order = await buy();
    const page = await open('', await member('member'));
    await page.getByLabel('Message to the owners').fill('50 more, please.');
    await pages.inspect(page, 'billing-member');
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('Sent. The owners of the organization see your request here.').waitFor();
    expect(await page.getByText('Balance').count()).toBe(0);
    const admins = await open('', await member('admin'));
    await admins.getByText('Only an owner of the organization can buy.').waitFor();
    await admins.getByText('50 more, please.').waitFor();
    await admins.getByText('Everybody whom a rule allows may start missions').waitFor();
    expect(
      await admins
        .getByRole('main')
        .getByRole('button', { name: /Buy|Withdraw|Save/ })
        .count(),
    ).toBe(0);
    await world.rest('POST', `/organizations/${org.id}/closure`, { session, body: { confirmSlug: org.slug } });
    const owners = await open();
    await owners.getByText('The organization is closed.').waitFor();
    expect(
      await owners
        .getByRole('main')
        .getByRole('button', { name: /Buy|Withdraw|Save/ })
        .count(),
    ).toBe(0);
    expect((await show(`/orders/${order}`)).status).toBe(200);
    expect((await show('/buy?offer=pack')).status).toBe(409);
  });

  it('the billing policy for trackers is saved; if the payment page is on another host, the link to it names that host', async () => {
    const page = await open();
    await page.getByLabel('Members of the organization').check();
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await world.rest('GET', '/billing/summary', { session })).body.trackerTriggers).toBe('members');
    const url = 'https://pay.example/c/1?a=b&c=d';
    bindPaymentProvider({ ...builtinProvider, name: 'other', startCheckout: async () => ({ url, reference: 'r' }) });
    await page.goto(`${base()}/billing/buy?offer=pack&quantity=1`);
    await page.getByLabel('Now.').check();
    await page.getByRole('button', { name: 'Continue to payment' }).click();
    const link = page.getByRole('link', { name: 'Pay at pay.example' });
    expect(await link.getAttribute('href')).toBe(url);
    await pages.inspect(page, 'billing-payment');
    bindPaymentProvider();
    const { id } = await world.knex('billing_checkouts').where({ orgId: org.id }).first();
    const back = (await world.request('GET', `${base()}/checkout/${id}`, { session })).body;
    expect(back).toContain('The payment is not confirmed.');
    expect(back).not.toContain('test money');
  });

  it('an admin sets, changes and deletes budgets of projects and people', async () => {
    const id = await createProject(world, { session }, 'Shop');
    const page = await open('', await member('admin'));
    await page.getByText('No budgets yet.').waitFor();
    const add = async (subject: string, choose: [label: string, option: string], usd: string) => {
      await page.getByRole('button', { name: 'Add budget' }).click();
      await page.getByLabel(subject).check();
      await page.getByLabel(choose[0], { exact: true }).selectOption({ label: choose[1] });
      await page.getByLabel('US dollars').fill(usd);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText(`of ${usd}.00 USD this month`).waitFor();
    };
    await add('Missions of a project', ['Project', 'Shop'], '50');
    await add('Missions that a person starts or schedules', ['Person', `Alice-${count}`], '20');
    const cost = { id: `mco_${id}`, orgId: org.id, projectId: id, usd: 45, at: present() };
    await world.knex('mission_costs').insert(cost);
    await page.reload();
    await page.getByText('45.00 USD of 50.00 USD this month').waitFor();
    await pages.inspect(page, 'billing-budgets');
    await page.getByRole('button', { name: 'Change monthly budget of Shop' }).click();
    await page.getByLabel('US dollars').fill('100');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('45.00 USD of 100.00 USD this month').waitFor();
    await page.getByRole('button', { name: `Delete monthly budget of Alice-${count}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText(`Deleted the monthly budget of Alice-${count}.`).waitFor();
    expect((await world.rest('GET', '/budgets', { session })).body.data).toHaveLength(1);
  });

  it('the ledger can be paged back to its beginning; a receipt is printed without the navigation', async () => {
    for (let n = 0; n < 54; n++) {
      await spend(0.5);
      world.clock.turn(1);
    }
    const order = await buy();
    const page = await open('/ledger');
    const rows = page.locator('tbody').getByRole('row');
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole('button', { name: 'Load more' }).click();
    await expect.poll(() => rows.count()).toBe(56);
    expect(await rows.last().innerText()).toMatch(/Grant[\s\S]*\+100\s+100/);
    await pages.inspect(page, 'billing-ledger');
    await page.goto(`${base()}/billing/orders/${order}`);
    await pages.inspect(page, 'billing-receipt');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    expect(await page.getByRole('heading', { name: 'Receipt 1' }).isVisible()).toBe(true);
  });
});
