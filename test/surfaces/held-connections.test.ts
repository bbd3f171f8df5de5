// Tests of calls with an Idempotency-Key: such a call holds no database connection while it waits for a vendor. If the calls of one
// organization wait for a lock, all of them together hold only a few connections.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import knexFactory, { type Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bindPaymentProvider } from '#domain/money/billing/provider.ts';
import { stripeProvider } from '#domain/money/billing/stripe.ts';
import type { ProjectKind, Vendor } from '#domain/projects/integrations/model.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { keepRows } from '../support/database-rows.ts';
import { type Arguments, documentOf, outcomeOf, type RootField, rootFields } from '../support/root-fields.ts';
import { admitted, argumentsOf, type SampleOrganization, seedOrganization } from '../support/sample-organization.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let acme: SampleOrganization;
let globex: SampleOrganization;
/** A second pool: counts the service's connections, and locks rows. */
let beside: Knex;
let restore: () => Promise<void>;
/**
 * Stands in for every vendor. At each request, it counts the service's database connections that are in a transaction or wait for a lock.
 * Then it closes the connection of the request without a response.
 */
let vendor: Server;
let heldWhileAsked: number[] = [];
let baseUrl: string;

const heldSql = `select count(*)::int as held from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and (xact_start is not null or wait_event_type = 'Lock')`;
const countHeld = async (): Promise<number> => (await beside.raw(heldSql)).rows[0].held;

beforeAll(async () => {
  world = await openWorld();
  [acme, globex] = [await seedOrganization(world), await seedOrganization(world, 'Globex')];
  beside = knexFactory({ client: 'pg', connection: world.connection, pool: { min: 0, max: 2 } });
  vendor = createServer(async (req) => {
    heldWhileAsked.push(await countHeld());
    req.socket.destroy();
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  openOutbound({ allowLoopback: true });
  bindPaymentProvider(stripeProvider({ secretKey: 'sk_test_x', webhookSecret: 'whsec_x', apiUrl: baseUrl }));
  await pointToVendor();
  restore = await keepRows(world.knex);
});
afterAll(async () => {
  bindPaymentProvider();
  openOutbound({ allowLoopback: false });
  await Promise.all([world.close(), beside.destroy(), new Promise((resolve) => vendor.close(resolve))]);
});
beforeEach(() => {
  heldWhileAsked = [];
});

/** Points all vendor addresses of the sample's organization to the stand-in. */
async function pointToVendor(): Promise<void> {
  const { id: orgId } = acme.organization;
  const connect = (kind: ProjectKind, named: Vendor, displayName: string) =>
    connectIntegration({ orgId, vendor: named, vendorKind: kind, displayName, baseUrl, credentials: 'secret' });
  const tracker = await connect('tracker', 'github', 'Issues');
  const scm = await connect('scm', 'github', 'Code');
  const llm = await connect('llm', 'anthropic', 'Model');
  Object.assign(acme.ids, { integrationId: llm.id });
  await world
    .knex('projects')
    .where({ orgId })
    .update({ tracker: 'github', trackerConnectorId: tracker.id, scmConnectorId: scm.id });
  await world.knex('orchestrators').insert({ orgId, llmConnectorId: llm.id, updatedAt: 1 });
  await world.knex('billingSubscriptions').where({ orgId }).update({ provider: 'stripe' });
  await world.knex('mcpBindings').where({ orgId }).update({ pinnedUrl: baseUrl });
}

/**
 * With the arguments of the sample organization, the mutations in this table would send no request to a vendor. Each entry returns arguments
 * with which the mutation sends such a request.
 */
const asking: Record<string, (args: Arguments) => Arguments> = {
  connectIntegration: (args) => ({ ...args, vendor: 'github', vendorKind: 'tracker', credentials: 'secret', baseUrl }),
  startMission: (args) => ({ ...args, issue: '#1' }),
  startMissions: () => ({ input: { issues: [{ projectId: acme.ids.projectId, issue: '#1' }] } }),
  updateSubscription: () => ({ input: { cancelAtPeriodEnd: true } }),
};

const mutations = rootFields.filter(({ kind }) => kind === 'Mutation');
let keys = 0;

async function send(root: RootField, args: Arguments) {
  const ask = await admitted(world, acme, root);
  const headers = { 'idempotency-key': `held-${++keys}` };
  const body = { query: documentOf(root, args), variables: args };
  return outcomeOf(root.name, await world.request('POST', '/graphql', { ...ask, headers, body }));
}

const updateProject = (id: string) => ({
  query: 'mutation ($id: String!) { updateProject(projectId: $id, input: { name: "Renamed" }) { id } }',
  variables: { id },
});

describe('Mutations that commit in steps', () => {
  it('400 · a mutation that commits in steps is refused when the operation contains another field as well, and nothing is written', async () => {
    const { projectId } = acme.ids;
    const session = await world.session(acme.owner, acme.organization.id);
    const start = `startMission(projectId: "${projectId}", prompt: "Twice?") { id }`;
    const rename = `updateProject(projectId: "${projectId}", input: { name: "Moved" }) { id }`;
    const both = [
      `a: ${start} b: ${start}`,
      `${rename} ${start}`,
      `...All } fragment All on Mutation { a: ${start} ${rename}`,
    ];
    for (const fields of both) {
      const headers = { 'idempotency-key': `held-${++keys}` };
      const body = { query: `mutation { ${fields} }` };
      const answer = await world.request('POST', '/graphql', { session, headers, body });
      expect(answer.body.errors[0].extensions.problem).toMatchObject({
        code: 'invalid_request',
        description: expect.stringContaining('Idempotency-Key: '),
      });
      expect(await world.knex('runs').where({ prompt: 'Twice?' })).toEqual([]);
      expect(await world.knex('projects').where({ name: 'Moved' })).toEqual([]);
    }
  });
});

describe('Calls of one organization that wait for a lock', () => {
  it('waiting calls of an organization hold at most four database connections, and delay no other organization', async () => {
    const [session, other] = await Promise.all(
      [acme, globex].map(({ owner, organization }) => world.session(owner, organization.id)),
    );
    const trx = await beside.transaction();
    await trx.raw('select id from projects where id = ? for update', [acme.ids.projectId!]);
    const rename = (ask: typeof session, { ids }: SampleOrganization) =>
      world.request('POST', '/graphql', {
        ...{ session: ask!, headers: { 'idempotency-key': `held-${++keys}` } },
        body: updateProject(ids.projectId!),
      });
    const waiting = Array.from({ length: 30 }, () => rename(session, acme));
    await vi.waitFor(async () => expect(await countHeld()).toBe(5));
    for (let i = 0; i < 30; i++) expect((await rename(other, globex)).body.errors).toBeUndefined();
    expect(await countHeld()).toBe(5);
    await trx.rollback();
    for (const { status, body } of await Promise.all(waiting)) expect([status, body.errors]).toEqual([200, undefined]);
  });
});

describe('Calls to vendors', () => {
  const askers: string[] = [];

  it.each(mutations.map((root) => [root.name, root] as const))(
    '%s with an Idempotency-Key holds no database connection during any call to a vendor',
    async (_, root) => {
      const { name } = root;
      const args = argumentsOf(root, acme);
      try {
        const { status, problem } = await send(root, asking[name]?.(args) ?? args);
        expect([status, problem?.description]).not.toEqual([500, expect.anything()]);
        expect(heldWhileAsked).toEqual(heldWhileAsked.map(() => 0));
        if (heldWhileAsked.length > 0) askers.push(name);
      } finally {
        await restore();
      }
    },
  );

  it('the list of mutations that call vendors is complete', () => {
    expect(askers.sort()).toEqual(
      [
        ...[
          'checkIntegration',
          'connectIntegration',
          'createCheckoutSession',
          'closeOrganization',
          'exportOrganization',
        ],
        ...['openRepository', 'putMcpBinding', 'refreshMcpTools'],
        ...[
          'reportBranch',
          'reportModelRejected',
          'rerunMission',
          'rotateIntegration',
          'runAutomation',
          'runScheduledTask',
        ],
        ...['answerHostThread', 'resolveHostThread', 'startMcpOAuth', 'startMission', 'startMissions'],
        ...['updateOrchestrator', 'updateProjectMcp', 'updateSubscription'],
      ].sort(),
    );
  });
});
