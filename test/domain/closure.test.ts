// Closing an organization: everything in it ends, even when a process is lost during the closure; owners can read it for thirty days,
// and then no row of it remains.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { settleMissions } from '#domain/lifecycle/billing-summary/settle.ts';
import { eraseClosedOrganizations } from '#domain/lifecycle/closure/erase.ts';
import { settleClosures, steps } from '#domain/lifecycle/closure/steps.ts';
import { applyEvent } from '#domain/money/billing/events.ts';
import { sendRefunds } from '#domain/money/billing/withdrawal.ts';
import { readPosition } from '#domain/money/credits/operations.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { createMember } from '../support/callers.ts';
import { keepRows } from '../support/database-rows.ts';
import { type SampleOrganization, seedOrganization } from '../support/sample-organization.ts';
import { openWorld, present, type Session, type World } from '../support/world.ts';

let world: World;
let sample: SampleOrganization;
let org: Organization;
let owner: Person;
let session: Session;
let restore: () => Promise<void>;

beforeAll(async () => {
  world = await openWorld();
  // Connections are opened before a race, because a call that first has to open one would come too late.
  await Promise.all(Array.from({ length: 12 }, () => sql('select pg_sleep(0.05)')));
  sample = await seedOrganization(world);
  ({ organization: org, owner } = sample);
  restore = await keepRows(world.knex);
});
afterAll(() => world.close());
beforeEach(async () => {
  session = await world.session(owner, org.id);
});
afterEach(() => restore());

const close = (confirmSlug = org.slug, by = session) =>
  world.rest('POST', `/organizations/${org.id}/closure`, { session: by, body: { confirmSlug } });
const read = (path: string, by = session) => world.rest('GET', path, { session: by });
const closureOf = async () => (await world.knex('org_closures').where({ orgId: org.id }))[0];
/** Sends all refunds, including those of other tests. */
const sendAllRefunds = async () => {
  while ((await world.knex('billing_orders').where({ status: 'withdrawn', refundedAt: null })).length > 0)
    await sendRefunds();
};
/** The header that selects the organization. It is necessary because a session no longer selects a closed organization by itself. */
const named = () => ({ 'x-org-id': org.id });

describe('POST /organizations/{orgId}/closure', () => {
  it('400 · closing an organization with a wrong slug names the field, and closes nothing', async () => {
    const { status, body } = await close('other');
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.description).toContain('confirmSlug');
    expect(await closureOf()).toBe(undefined);
    expect((await read('/projects')).status).toBe(200);
  });

  it('403 · closing an organization requires a signed-in owner', async () => {
    const { person: admin } = await createMember(world, org, `Admin-of-${org.slug}`, 'admin');
    const asAdmin = await close(org.slug, await world.session(admin, org.id));
    expect([asAdmin.status, asAdmin.body.description]).toEqual([403, 'Only an owner can close an organization.']);
    const token = await world.token(owner, org);
    const body = { confirmSlug: org.slug };
    expect((await world.rest('POST', `/organizations/${org.id}/closure`, { token, body })).status).toBe(403);
    expect((await world.rest('GET', `/organizations/${org.id}/closure`, { token })).status).toBe(404);
    expect(await closureOf()).toBe(undefined);
  });

  it('closing an organization ends its credentials, missions, schedules, sandboxes and credits', async () => {
    const token = await world.token(owner, org);
    const { status, body } = await close();
    expect(status).toBe(201);
    expect(body).toMatchObject({ orgId: org.id, basis: 'owner' });
    expect((await world.request('GET', '/v1/projects', { token })).status).toBe(401);
    expect((await world.request('POST', '/graphql', { token: sample.serviceToken, body: {} })).status).toBe(401);
    for (const table of ['tokens', 'service_tokens', 'sign_ins'])
      expect(await world.knex(table).where({ orgId: org.id, revokedAt: null })).toEqual([]);
    expect(await world.knex('invites').where({ orgId: org.id, acceptedAt: null, revokedAt: null })).toEqual([]);
    expect(await world.knex('recurring_missions').where({ orgId: org.id, enabled: true })).toEqual([]);
    const runs = await world.knex('runs').where({ orgId: org.id });
    expect(runs.map((run) => [run.status, run.reason])).toEqual(
      runs.map(() => ['canceled', 'The organization was closed.']),
    );
    expect(await world.knex('sandboxes').where({ orgId: org.id, status: 'running' })).toEqual([]);

    await settleMissions();
    await settleClosures();
    const settled = await world.rest('GET', `/organizations/${org.id}/closure`, { session });
    expect(settled.body.settlements.map(({ kind }: { kind: string }) => kind)).toEqual([
      'tokens',
      'schedules',
      'sandboxes',
      'subscription',
      'credits',
    ]);
    expect(await world.knex('billing_subscriptions').where({ orgId: org.id }).whereNot({ status: 'canceled' })).toEqual(
      [],
    );
    // The closure refunds the orders of the sample organization, because their withdrawal period has not ended. The trial credits expire.
    const orders = await world.knex('billing_orders').where({ orgId: org.id });
    const refunded = orders.reduce((sum, { refundCents }) => sum + refundCents, 0);
    expect(refunded).toBeGreaterThan(0);
    expect(settled.body.settlements[4]).toEqual({
      kind: 'credits',
      description: 'Unused credits that could still be withdrawn are refunded. 100 unused credits were forfeited.',
      amountUsd: refunded / 100,
    });
    const [last] = await world.knex('credit_transfers').where({ orgId: org.id }).orderBy('seq', 'desc').limit(1);
    expect(last).toMatchObject({ kind: 'expiry', balanceAfter: 0 });
  });

  it('concurrent requests of two owners create one closure', async () => {
    const { person: second } = await createMember(world, org, `Second-of-${org.slug}`, 'owner');
    const sessions = [session, await world.session(second, org.id)];
    const answers = await Promise.all(sessions.map((by) => close(org.slug, by)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[0]!.body.closedAt).toBe(answers[1]!.body.closedAt);
    await settleMissions();
    await settleClosures();
    const { settlements } = await closureOf();
    expect(settlements.map(({ kind }: { kind: string }) => kind)).toEqual([
      ...new Set(settlements.map(({ kind }: { kind: string }) => kind)),
    ]);
  });

  it('no credential, member or mission that is created during the closure outlives it', async () => {
    const guest = await world.person(`Guest-of-${org.slug}`);
    const token = await world.token(owner, org);
    const invite = (await world.rest('POST', '/invites', { session, body: { email: guest.email, role: 'admin' } }))
      .body;
    const { acceptInvite } = await import('#domain/organization/invites/operations.ts');
    await Promise.allSettled([
      close(),
      ...Array.from({ length: 4 }, (_, n) =>
        world.request('POST', '/v1/tokens', { session, body: { name: `T${n}`, scopes: ['projects:read'] } }),
      ),
      ...Array.from({ length: 4 }, () => world.request('POST', `/v1/scheduled-tasks/${sample.ids.id}/run`, { token })),
      acceptInvite(guest, invite.id),
    ]);
    await settleMissions();
    await settleClosures();
    expect(await world.knex('tokens').where({ orgId: org.id, revokedAt: null })).toEqual([]);
    expect(await world.knex('memberships').where({ orgId: org.id, closedAt: null })).toEqual([]);
    expect(await world.knex('runs').where({ orgId: org.id }).whereIn('status', ['dispatching', 'running'])).toEqual([]);
    expect((await closureOf()).settledAt).not.toBe(null);
  });
});

describe('an interrupted closure', () => {
  it.each(steps.map((_, index) => [index] as const))(
    'a closure that is interrupted in step %d continues with that step',
    async (index) => {
      // Closes every connection at the beginning of the step, as if the process were killed.
      const trap = `lost_${index}`;
      await world.knex.raw(
        `create function ${trap}() returns trigger language plpgsql as $$
        begin if new.steps_done > ${index} then raise exception 'lost' using errcode = '57P01'; end if; return new; end $$`,
      );
      await world.knex.raw(
        `create trigger ${trap} before update on org_closures for each row execute function ${trap}()`,
      );
      try {
        expect((await close()).status).toBe(201);
        await settleMissions();
        await expect(settleClosures()).rejects.toThrow();
        expect((await closureOf()).stepsDone).toBe(index);
      } finally {
        await world.knex.raw(`drop trigger ${trap} on org_closures`);
        await world.knex.raw(`drop function ${trap}()`);
      }
      await settleClosures();
      await settleMissions();
      await settleClosures();
      await settleClosures();
      const { stepsDone, settlements, settledAt } = await closureOf();
      expect([stepsDone, settlements.length, settledAt === null]).toEqual([steps.length, 5, false]);
    },
  );
});

describe('closed organizations', () => {
  beforeEach(async () => {
    await close();
    await settleMissions();
    await settleClosures();
  });

  it('409 · a closed organization is read-only for its owners', async () => {
    expect((await world.rest('GET', '/projects', { session })).body.data.length).toBe(2);
    const writes: [string, string, object?][] = [
      ['POST', '/projects', { name: 'New', repoFullName: 'new/project' }],
      ['PATCH', `/projects/${sample.ids.projectId}`, { name: 'Renamed' }],
      ['DELETE', `/agents/${sample.ids.agentId}`],
      ['POST', `/scheduled-tasks/${sample.ids.id}/run`],
      ['PATCH', `/organizations/${org.id}`, { name: 'Renamed' }],
      ['POST', '/invites', { email: 'a@example.com', role: 'viewer' }],
      ['POST', '/tokens', { name: 'CI', scopes: ['projects:read'] }],
    ];
    for (const [method, path, body] of writes) {
      const answer = await world.request(method, `/v1${path}`, { session, body });
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 409, 'organization_closed']);
    }
    const query = `mutation { updateOrganization(orgId: "${org.id}", input: { name: "Renamed" }) { id } }`;
    const { body } = await world.graphql(query, { session });
    expect(body.errors[0].extensions.code).toBe('organization_closed');
  });

  it('a closed organization is reachable for owners whose request names it, and does not exist for other members', async () => {
    const other = await world.session(owner);
    expect((await read('/me', other)).body.orgId).toBe(null);
    expect((await world.rest('GET', '/projects', { session: other, headers: named() })).status).toBe(200);
    expect((await world.rest('POST', '/organizations', { session: other, body: { name: 'Next' } })).status).toBe(201);
    const [member] = await world.knex('people').where({ id: sample.ids.userId });
    const theirs = await world.session(member, org.id);
    expect((await read('/me', theirs)).body.orgId).toBe(null);
    expect((await world.request('GET', '/v1/projects', { session: theirs, headers: named() })).status).toBe(404);
    expect((await read('/organizations', theirs)).body.orgs).toEqual([]);
  });

  it('closing a closed organization returns the same closure', async () => {
    const before = await closureOf();
    const { status, body } = await close();
    expect([status, body.closedAt]).toEqual([201, before.closedAt]);
    expect(await closureOf()).toEqual(before);
  });

  it.each(['pack', 'team'] as const)('a payment after the closure is refunded: %s', async (offer) => {
    const id = `chk_late_${offer}_${org.id}`;
    const plan = offer === 'team' ? 'team-5' : null;
    await world.knex('billing_checkouts').insert({
      ...{ id, orgId: org.id, offer, quantity: 1, teamPlan: plan, credits: 300, amountCents: 25_000, startsNow: true },
      ...{ status: 'expired', provider: 'builtin', reference: id, createdAt: present(), expiresAt: present() },
    });
    const subscription = plan && { reference: `sub_${id}`, periodEnd: present() + days(30) };
    const event = { id: `evt_${id}`, at: present(), type: 'checkout_paid' as const, checkoutId: id, orgId: org.id };
    for (let n = 0; n < 2; n++)
      await applyEvent('builtin', { ...event, amountCents: 25_000, payment: `pay_${id}`, subscription });
    const [order] = await world.knex('billing_orders').where({ payment: `pay_${id}` });
    expect(order).toMatchObject({
      status: 'withdrawn',
      refundCents: 25_000,
      refundedAt: null,
      withdrawalReason: 'Paid after the organization was closed.',
    });
    await sendAllRefunds();
    const [refunded] = await world.knex('billing_orders').where({ id: order.id });
    expect(refunded.refundedAt).not.toBeNull();
    expect((await readPosition(org.id)).owned).toBe(0);
    expect(await world.knex('billing_subscriptions').where({ orgId: org.id }).whereNot({ status: 'canceled' })).toEqual(
      [],
    );
  });

  it('a closed organization is erased after thirty days, with every row that names it', async () => {
    const { rows } = await world.knex.raw(
      "select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'org_id'",
    );
    const tables: string[] = rows.map(({ name }: { name: string }) => name);
    expect(tables.length).toBeGreaterThan(20);
    const left = async () => {
      const counts = await Promise.all(
        tables.map(async (table) => [table, (await world.knex(table).where({ orgId: org.id })).length] as const),
      );
      return counts.filter(([, count]) => count > 0).map(([table]) => table);
    };
    await eraseClosedOrganizations();
    expect(await left()).toContain('projects');
    const neighbor = await seedOrganization(world);
    world.clock.turn(days(30));
    // The erasure waits until the provider has accepted the refunds.
    await eraseClosedOrganizations();
    expect(await left()).toContain('billing_orders');
    await sendAllRefunds();
    await eraseClosedOrganizations();
    expect(await left()).toEqual([]);
    expect(await world.knex('organizations').where({ id: org.id })).toEqual([]);
    expect(await world.knex('sandboxes').where({ id: sample.ids.sandboxId })).toEqual([]);
    expect(await world.knex('projects').where({ orgId: neighbor.organization.id })).toHaveLength(2);
  });
});
