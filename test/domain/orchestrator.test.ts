// The orchestrator of an organization: its settings, and the daily cost cap that limits starts of missions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { modelsByVendor } from '#domain/projects/agents/catalog.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { costCap, dayOf } from '#domain/work/mission-costs/cap.ts';
import { mayStartMission } from '#domain/work/starts/gate.ts';
import { days, hours } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { type Place, spend } from '../support/runtime-records.ts';
import { startModels } from '../support/stand-in-models.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let models: Awaited<ReturnType<typeof startModels>>;
let owner: Person;

beforeAll(async () => {
  [world, models] = await Promise.all([openWorld(), startModels()]);
  models.settings.key = 'sk-right';
  openOutbound({ allowLoopback: true });
  owner = await world.person('Alice');
});
afterAll(async () => {
  openOutbound({ allowLoopback: false });
  await Promise.all([world.close(), models.close()]);
});

let founded = 0;
/** A separate organization for a test, with a project and the owner's token. */
async function found() {
  const { organization, token } = await createOwner(world, owner, `Acme ${++founded}`);
  const projectId = await createProject(world, { token }, 'Shop');
  const place: Place = { orgId: organization.id, projectId };
  const read = async () => (await world.rest('GET', '/orchestrator', { token })).body;
  const change = (changes: object) => world.rest('PATCH', '/orchestrator', { token, body: changes });
  return { organization, token, place, read, change };
}

const mayStart = ({ id }: Organization) => transaction((trx) => mayStartMission(trx, id));

const untouched = {
  name: 'Orchestrator',
  blurb: expect.any(String),
  model: 'claude-opus-4-5',
  vendor: 'anthropic',
  llmConnectorId: null,
  assignedCredentialUsableForInference: false,
  modelsByVendor,
  defaultModel: 'claude-opus-4-5',
  isBuiltin: true,
  inferenceEnabled: true,
  dailyCostCapUsd: null,
  defaultDailyCostCapUsd: 100,
  effectiveDailyCostCapUsd: 100,
  dailySpendUsd: 0,
  atDailyCostCap: false,
  updatedAt: null,
};

describe('GET /orchestrator', () => {
  it('200 · the orchestrator has default values until one is set, and reading it writes nothing', async () => {
    const { organization, read } = await found();
    expect(await read()).toEqual({ orgId: organization.id, ...untouched });
    expect(await world.knex('orchestrators').where({ orgId: organization.id })).toEqual([]);
  });

  it('403 · a project-bound token can neither read nor change the orchestrator, which belongs to the whole organization', async () => {
    const { organization, place } = await found();
    const bound = await world.token(owner, organization, { projectId: place.projectId });
    expect((await world.rest('GET', '/orchestrator', { token: bound })).status).toBe(403);
    expect((await world.rest('PATCH', '/orchestrator', { token: bound, body: {} })).status).toBe(403);
  });
});

describe('PATCH /orchestrator', () => {
  it('200 · an update sets the given fields of the orchestrator, keeps the others, and restores defaults for null', async () => {
    const { organization, change, read } = await found();
    const changes = { name: 'Conductor', blurb: 'Keeps time.', model: 'gpt-5.1', inferenceEnabled: false };
    const { status, body } = await change({ ...changes, dailyCostCapUsd: 12.5 });
    expect(status).toBe(200);
    const set = {
      orgId: organization.id,
      ...untouched,
      ...changes,
      vendor: 'openai',
      isBuiltin: false,
      dailyCostCapUsd: 12.5,
      effectiveDailyCostCapUsd: 12.5,
      updatedAt: present(),
    };
    expect(body).toEqual(set);
    expect((await change({})).body).toEqual(set);
    expect((await change({ blurb: null })).body).toEqual({ ...set, blurb: untouched.blurb });
    const nothing = { name: null, model: null, dailyCostCapUsd: null };
    expect((await change(nothing)).body).toEqual({
      orgId: organization.id,
      ...untouched,
      inferenceEnabled: false,
      updatedAt: present(),
    });
    expect(await read()).toMatchObject({ isBuiltin: true });
  });

  it('200 · an update with only a vendor selects the vendor’s first model; a model of another vendor is refused', async () => {
    const { change } = await found();
    expect((await change({ vendor: 'openai' })).body).toMatchObject({ model: 'gpt-5.5', vendor: 'openai' });
    expect((await change({ vendor: 'openai', model: 'gpt-5-mini' })).body).toMatchObject({ model: 'gpt-5-mini' });
    const { status, body } = await change({ vendor: 'anthropic', model: 'gpt-5.1' });
    expect([status, body.description]).toEqual([
      400,
      'model: must be one of claude-opus-4-5, claude-sonnet-4-5, claude-haiku-4-5, claude-opus-5, claude-sonnet-5.',
    ]);
  });

  it('200 · a null model selects the default model of the vendor, or that of the service when no vendor is given', async () => {
    const { change } = await found();
    await change({ model: 'claude-haiku-4-5' });
    expect((await change({ vendor: 'openai', model: null })).body).toMatchObject({
      model: 'gpt-5.5',
      vendor: 'openai',
    });
    expect((await change({ model: null })).body).toMatchObject({ model: 'claude-opus-4-5', isBuiltin: true });
  });

  it('200 · the orchestrator’s connector is usable when it belongs to the model’s vendor and the vendor accepts its credentials', async () => {
    const { organization, change } = await found();
    const connect = (vendor: 'anthropic' | 'openai', credentials?: string) =>
      connectIntegration({
        orgId: organization.id,
        vendor,
        vendorKind: 'llm',
        displayName: vendor,
        credentials,
        baseUrl: vendor === 'openai' ? `${models.url}/v1` : models.url,
      });
    const usable = async (llmConnectorId: string, model: string | null = null) => {
      const { body } = await change({ llmConnectorId, model });
      return [body.llmConnectorId === llmConnectorId, body.assignedCredentialUsableForInference];
    };
    const ids = await Promise.all([
      connect('anthropic'),
      connect('anthropic', 'sk-right'),
      connect('openai', 'sk-wrong'),
    ]);
    const [empty, right, wrong] = ids.map(({ id }) => id);
    expect(await usable(empty!)).toEqual([true, false]);
    expect(models.seen).toEqual([]);
    expect(await usable(right!)).toEqual([true, true]);
    expect(await usable(right!, 'gpt-5.1')).toEqual([true, false]);
    expect(await usable(wrong!, 'gpt-5.1')).toEqual([true, false]);
    expect(models.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /v1/models', 'GET /v1/models']);
    expect((await change({ llmConnectorId: null })).body.llmConnectorId).toBe(null);
  });

  it.each(['another organization’s', 'an unknown', 'a tracker’s'])(
    '400 · the orchestrator cannot have %s connector, and nothing is written',
    async (whose) => {
      const [home, other] = [await found(), await found()];
      const connect = (orgId: Place['orgId'], vendorKind: 'llm' | 'tracker') =>
        connectIntegration({
          orgId,
          vendor: vendorKind === 'llm' ? 'anthropic' : 'builtin',
          vendorKind,
          displayName: 'X',
        });
      const ids: Record<string, string> = {
        'another organization’s': (await connect(other.organization.id, 'llm')).id,
        'a tracker’s': (await connect(home.organization.id, 'tracker')).id,
      };
      const { status, body } = await home.change({ llmConnectorId: ids[whose] ?? 'int_none', name: 'Changed' });
      expect([status, body.description]).toEqual([
        400,
        'llmConnectorId: must be an integration of this organization with the kind llm.',
      ]);
      expect((await home.read()).name).toBe('Orchestrator');
    },
  );

  it('200 · the orchestrator accepts the smallest and largest allowed values', async () => {
    const { change } = await found();
    for (const edges of [
      { name: 'n', blurb: '', dailyCostCapUsd: 0 },
      { name: 'n'.repeat(120), blurb: 'b'.repeat(500), dailyCostCapUsd: 1_000_000 },
      { dailyCostCapUsd: 0.0001 },
    ]) {
      const { status, body } = await change(edges);
      expect(status).toBe(200);
      expect(body).toMatchObject(edges);
    }
  });

  it.each([
    ['name: must be at least 1 character.', { name: '' }],
    ['name: must be at most 120 characters.', { name: 'n'.repeat(121) }],
    ['blurb: must be at most 500 characters.', { blurb: 'b'.repeat(501) }],
    ['model: must be one of claude-opus-4-5', { model: 'none' }],
    ['vendor: must be one of "anthropic", "openai".', { vendor: 'linear' }],
    ['vendor: must be one of "anthropic", "openai".', { vendor: null }],
    ['inferenceEnabled: must be a boolean.', { inferenceEnabled: null }],
    ['dailyCostCapUsd: must be at least 0.', { dailyCostCapUsd: -0.01 }],
    ['dailyCostCapUsd: must be 0 or at least 0.0001.', { dailyCostCapUsd: 0.00004 }],
    ['dailyCostCapUsd: must be at most 1000000.', { dailyCostCapUsd: 1_000_000.01 }],
    ['dailyCostCapUsd: must be a number.', { dailyCostCapUsd: '5' }],
  ])('400 · an invalid value of the orchestrator is refused: %s', async (words, changes) => {
    const { change } = await found();
    const { status, body } = await change(changes);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.description).toContain(words);
  });

  it('two concurrent first changes of the orchestrator both persist', async () => {
    const { change, read } = await found();
    const answers = await Promise.all([change({ name: 'One' }), change({ dailyCostCapUsd: 7 })]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await read()).toMatchObject({ name: 'One', dailyCostCapUsd: 7 });
  });
});

describe('the daily cost cap', () => {
  it('the daily cost cap counts what missions of the organization have cost since midnight UTC, to the hundredth of a cent', async () => {
    const [{ organization, place, read, change }, other] = [await found(), await found()];
    const midnight = dayOf(present());
    await spend(place, 50, { at: midnight - 1 });
    await spend(place, 0.1, { at: midnight });
    await spend(place, 0.2001);
    await spend(other.place, 1_000);
    expect(await read()).toMatchObject({ dailySpendUsd: 0.3001, atDailyCostCap: false });
    expect(await mayStart(organization)).toMatchObject({ ok: true, missions: 100 });

    await change({ dailyCostCapUsd: 0.3001 });
    expect(await read()).toMatchObject({ effectiveDailyCostCapUsd: 0.3001, atDailyCostCap: true });
    expect(await mayStart(organization)).toEqual({
      ok: false,
      code: 'daily_cost_cap',
      reason: 'The daily cost cap of 0.3001 USD is reached: missions have cost 0.3001 USD since midnight UTC.',
    });
    await change({ dailyCostCapUsd: 0.3002 });
    expect(await mayStart(organization)).toMatchObject({ ok: true, missions: 100 });
    expect(await mayStart(other.organization)).toMatchObject({ ok: false, code: 'daily_cost_cap' });

    await change({ dailyCostCapUsd: 0.3 });
    world.clock.turn(midnight + days(1) - 1 - present());
    expect((await mayStart(organization)).ok).toBe(false);
    world.clock.turn(1);
    expect(await read()).toMatchObject({ dailySpendUsd: 0, atDailyCostCap: false });
    expect(await mayStart(organization)).toMatchObject({ ok: true, missions: 100 });
  });

  it('no mission starts while the daily cost cap is 0', async () => {
    const { organization, change } = await found();
    await change({ dailyCostCapUsd: 0 });
    expect((await mayStart(organization)).ok).toBe(false);
  });

  it('today’s cost is reported by hour, without hours that cost nothing', async () => {
    const { token, place } = await found();
    const midnight = dayOf(present());
    await spend(place, 9, { at: midnight - 1 });
    await spend(place, 1, { at: midnight });
    await spend(place, 0.5, { at: midnight + hours(1) - 1 });
    await spend(place, 0.000001, { at: midnight + hours(7) });
    await spend((await found()).place, 40);
    const { body } = await world.graphql('{ orchestrator { dailySpendUsd spendByHour { t usd } } }', { token });
    expect(body.data.orchestrator).toEqual({
      dailySpendUsd: 1.500001,
      spendByHour: [
        { t: midnight, usd: 1.5 },
        { t: midnight + hours(7), usd: 0.000001 },
      ],
    });
  });

  it('the cost of a day includes missions of a deleted project', async () => {
    const { token, place, read } = await found();
    await spend(place, 3);
    await world.rest('DELETE', `/projects/${place.projectId}`, { token });
    expect((await read()).dailySpendUsd).toBe(3);
  });

  it('a default daily cost cap applies until the organization sets one; a day begins at midnight UTC', () => {
    expect(costCap(null, 99.99)).toEqual({
      dailyCostCapUsd: null,
      defaultDailyCostCapUsd: 100,
      effectiveDailyCostCapUsd: 100,
      dailySpendUsd: 99.99,
      atDailyCostCap: false,
    });
    expect(costCap(null, 100).atDailyCostCap).toBe(true);
    const day = Date.UTC(2027, 2, 14);
    expect([day, day + hours(23), day + days(1)].map(dayOf)).toEqual([day, day, day + days(1)]);
  });
});

it('GraphQL links the orchestrator to its organization and its connector', async () => {
  const { organization, token, change } = await found();
  const connector = await connectIntegration({
    orgId: organization.id,
    vendor: 'openai',
    vendorKind: 'llm',
    displayName: 'Ours',
  });
  await change({ llmConnectorId: connector.id });
  const { body } = await world.graphql('{ orchestrator { organization { name } llmConnector { displayName } } }', {
    token,
  });
  expect(body.data.orchestrator).toEqual({
    organization: { name: organization.name },
    llmConnector: { displayName: 'Ours' },
  });
});
