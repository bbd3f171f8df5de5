// A model connector can list models and set their prices. The tests show who may list models, which agents can choose them, and what calls
// of these models cost.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { explainWaits } from '#domain/work/runs/waiting.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { openWorld, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

let world: World;
let alice: Account;
let mallory: Account;
let projectId: string;
let runtime: Runtime;
/** Connectors to the vendor's own server, and to a compatible server. */
let own: string;
let compatible: string;

beforeAll(async () => {
  world = await openWorld();
  alice = await createOwner(world, 'Alice', 'Acme');
  mallory = await createOwner(world, 'Mallory', 'Globex');
  projectId = await createProject(world, alice, 'Shop');
  runtime = await createRuntime(world, alice.organization);
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' });
  await world.knex('projects').update({ llmConnectorId: null, trackerConnectorId: null });
  for (const table of ['agents', 'integrations']) await world.knex(table).delete();
  own = await connect('openai', 'sk-own');
  compatible = await connect('openai', 'sk-compatible', 'https://models.example.com/v1');
});

const connect = async (vendor: 'anthropic' | 'openai' | 'linear', credentials: string, baseUrl?: string) => {
  world.clock.turn(1);
  const kind = vendor === 'linear' ? 'tracker' : 'llm';
  const { id: orgId } = alice.organization;
  const connector = { orgId, vendor, vendorKind: kind, displayName: baseUrl ?? vendor, credentials, baseUrl } as const;
  return (await connectIntegration(connector)).id as string;
};
const qwen = { id: 'qwen3-coder', name: 'Qwen3 Coder', prices: { input: 2, output: 10 } };
const setQuery = `mutation ($id: String!, $input: SetIntegrationModelsRequest!) {
  setIntegrationModels(integrationId: $id, input: $input) { models { id name prices { input output cacheRead cacheWrite } } } }`;
const name = async (id: string, models: object[], token = alice.token): Promise<Json> =>
  (await world.graphql(setQuery, { token, variables: { id, input: { models } } })).body;
const refusal = async (...call: Parameters<typeof name>): Promise<string> => (await name(...call)).errors[0].message;
const createAgent = (harness: string, model: string, { token } = alice) => {
  const sandbox = { kind: 'existing', templateId: 'standard' };
  return world.rest('POST', '/agents', { token, body: { name: 'Coder', role: 'builder', harness, model, sandbox } });
};
const start = async (agentId: string, budgetUsd: number | null = null): Promise<Json> => {
  world.clock.turn(1);
  const query = `mutation ($projectId: String!, $agentId: String, $budgetUsd: Float) {
    startMission(projectId: $projectId, prompt: "Work.", agentId: $agentId, budgetUsd: $budgetUsd) { id } }`;
  return (await world.graphql(query, { token: alice.token, variables: { projectId, agentId, budgetUsd } })).body;
};
const claim = (more: object = { modelVendors: [] }): Promise<Json> =>
  runtime.claim({ harnesses: ['opencode'], ...more }, '{ runId leaseId step { stepId agent { harness model } } }');
const connectorsOf = ({ runId, leaseId }: Json): Promise<Json> =>
  world.field(
    'query ($r: String!, $l: String!) { runModels(runId: $r, leaseId: $l) { connectors { integrationId } } }',
    {
      token: runtime.token,
      variables: { r: runId, l: leaseId },
    },
  );
const reserve = ({ runId, leaseId }: Json, callId: string, inputTokens: number, outputTokens: number): Promise<Json> =>
  runtime.ask(
    'reserveModelCall',
    { runId, leaseId, callId, model: qwen.id, inputTokens, outputTokens },
    '{ outputTokens reason }',
  );
const settle = async ({ runId, leaseId, step: { stepId } }: Json, callId: string, inputTokens: number) => {
  const used = { runId, leaseId, stepId, usageId: callId, callId, model: qwen.id, inputTokens, outputTokens: 0 };
  await runtime.report('reportUsage', used);
  return Number((await world.knex('runs').where({ id: runId }).first()).missionCostUsd);
};

describe('models that a connector lists', () => {
  it('the models of a connector are replaced over GraphQL; REST omits them', async () => {
    const cached = { ...qwen, id: 'other', prices: { input: 1, output: 0, cacheRead: 0.1, cacheWrite: null } };
    const { data } = await name(compatible, [qwen, cached]);
    const named = [{ ...qwen, prices: { ...qwen.prices, cacheRead: null, cacheWrite: null } }, cached];
    expect(data.setIntegrationModels.models).toEqual(named);
    expect((await name(compatible, [cached])).data.setIntegrationModels.models).toEqual([cached]);
    const { body } = await world.rest('GET', '/integrations', { token: alice.token });
    expect(body.integrations[0]).not.toHaveProperty('models');
  });

  it('a new connector can list models, and is not created when one of them is refused', async () => {
    const query = `mutation ($vendor: Vendor!, $kind: VendorKind, $models: [ConnectorModelRequest!]) {
      connectIntegration(vendor: $vendor, vendorKind: $kind, displayName: "Models", credentials: "sk-1", models: $models)
        { models { id name prices { input output cacheRead cacheWrite } } } }`;
    const connectWith = async (models: object[], vendor = 'openai', kind = 'llm'): Promise<Json> =>
      (await world.graphql(query, { token: alice.token, variables: { vendor, kind, models } })).body;
    const named = [{ ...qwen, prices: { ...qwen.prices, cacheRead: null, cacheWrite: null } }];
    expect((await connectWith([qwen])).data.connectIntegration.models).toEqual(named);
    const before = await world.knex('integrations').count();
    for (const [body, words] of [
      [await connectWith([qwen]), 'models.0.id: must not be qwen3-coder, which the connector Models lists'],
      [await connectWith([{ ...qwen, id: 'a b' }]), 'models.0.id: must be printable ASCII without spaces'],
      [await connectWith([{ ...qwen, prices: { input: -1, output: 1 } }]), 'models.0.prices.input: must be at least 0'],
      [await connectWith(Array(51).fill(qwen)), 'models: must be at most 50 entries.'],
      [
        await connectWith([qwen], 'linear', 'tracker'),
        'models: must be absent for a connector that is not of the kind',
      ],
    ] as const) {
      expect(body.errors[0].message).toContain(words);
    }
    expect(await world.knex('integrations').count()).toEqual(before);
  });

  it('400 · an invalid list of models is refused with the field and the reason', async () => {
    await name(compatible, [qwen]);
    expect(await refusal(own, [qwen])).toMatch(/^models\.0\.id: must not be qwen3-coder, which the connector https/);
    expect(
      await refusal(own, [
        { ...qwen, id: 'a' },
        { ...qwen, id: 'a' },
      ]),
    ).toMatch(/^models\.1\.id: must be unique/);
    expect(await refusal(own, [{ ...qwen, id: 'claude-opus-5' }])).toMatch(/a model of anthropic/);
    expect(await refusal(own, [{ ...qwen, id: 'two words' }])).toMatch(/models\.0\.id: must be printable ASCII/);
    expect(await refusal(own, [{ ...qwen, prices: { input: -1, output: 1 } }])).toMatch(/models\.0\.prices\.input: /);
    const many = Array.from({ length: 51 }, (_, i) => ({ ...qwen, id: `m${i}` }));
    expect(await refusal(own, many)).toMatch(/models: /);
    expect(await refusal(await connect('linear', 'key'), [qwen])).toMatch(/^models: must be absent/);
    expect((await name(own, [qwen], mallory.token)).errors[0].extensions.code).toBe('not_found');
  });

  it('only one of two connectors that list the same model concurrently gets it', async () => {
    const answers = await Promise.all([name(own, [qwen]), name(compatible, [qwen])]);
    expect(answers.filter(({ errors }) => errors)).toHaveLength(1);
  });
});

describe('agents with models of a connector', () => {
  it('agents with OpenCode and ACP harnesses can use the models that a connector lists, in addition to the catalog', async () => {
    await name(compatible, [qwen]);
    const modelsOf = async ({ token } = alice, harness = 'opencode') => {
      const { body } = await world.rest('GET', '/agents/catalog', { token });
      return body.harnesses.find(({ id }: Json) => id === harness).models;
    };
    expect(await modelsOf()).toContainEqual({ id: qwen.id, label: qwen.name });
    expect(await modelsOf()).toContainEqual({ id: 'gpt-5.5', label: 'GPT-5.5' });
    expect(await modelsOf(alice, 'acp')).toEqual(await modelsOf());
    const { status: created, body: agent } = await createAgent('opencode', qwen.id);
    expect(created).toBe(201);
    const acp = await world.rest('PATCH', `/agents/${agent.id}`, { token: alice.token, body: { harness: 'acp' } });
    expect(acp.body).toMatchObject({ harness: 'acp', model: qwen.id });
    const { status, body } = await createAgent('codex', qwen.id);
    expect([status, body.description]).toEqual([
      400,
      'model: must be one that codex runs: gpt-5.5; qwen3-coder is a model of a connector, which only opencode and acp run.',
    ]);
    // Another organization does not find these models.
    expect(await modelsOf(mallory)).not.toContainEqual({ id: qwen.id, label: qwen.name });
    expect((await createAgent('opencode', qwen.id, mallory)).body.description).toMatch(
      /^model: must be one that opencode runs: .*, or one that a model connector lists\.$/,
    );
  });
});

describe('missions with models of a connector', () => {
  const agentWith = async (model = qwen.id, harness = 'opencode') =>
    (await createAgent(harness, model)).body.id as string;

  it('a mission uses the connector that lists its model, and the API of the connector’s server', async () => {
    await name(compatible, [qwen]);
    await start(await agentWith());
    expect(await claim({ harnesses: ['claude-code'] })).toBeNull();
    const held = await claim();
    expect(held.step.agent).toEqual({ harness: 'opencode', model: 'compatible/qwen3-coder' });
    expect(await connectorsOf(held)).toEqual({ connectors: [{ integrationId: compatible }] });
    // Without the connector, nothing serves the step, and its calls are refused.
    await name(compatible, []);
    expect(await connectorsOf(held)).toEqual({ connectors: [] });
    expect((await reserve(held, 'a', 1, 1)).description).toMatch(/No model connector lists the model qwen3-coder/);
    const glm = { ...qwen, id: 'zai/glm' };
    await name(await connect('anthropic', 'sk', 'https://glm.example.com'), [glm]);
    await world.knex('agents').update({ model: glm.id });
    await start((await world.knex('agents').first()).id);
    expect((await claim()).step.agent.model).toBe('messages/zai/glm');
  });

  it('a mission of an ACP harness can be claimed by a runtime that has no key of its own', async () => {
    await name(compatible, [qwen]);
    await start(await agentWith(qwen.id, 'acp'));
    expect(await claim({ modelVendors: [] })).toBeNull();
    const { step } = await claim({ harnesses: ['acp'], modelVendors: [] });
    expect(step.agent).toEqual({ harness: 'acp', model: 'compatible/qwen3-coder' });
  });

  it('a model call is charged at the connector’s price at the time of its reservation, within the budget', async () => {
    await name(compatible, [qwen]);
    await start(await agentWith(), 1);
    const held = await claim();
    // The call costs at most 0.2 USD for input and 0.5 USD for output.
    expect(await reserve(held, 'a', 100_000, 50_000)).toEqual({ outputTokens: 50_000, reason: null });
    await name(compatible, [{ ...qwen, prices: { input: 8, output: 40 } }]);
    expect(await settle(held, 'a', 100_000)).toBeCloseTo(0.2, 6);
    // 0.8 USD is left, which is what the input costs at the new price.
    expect(await reserve(held, 'b', 100_000, 50_000)).toMatchObject({ outputTokens: 0 });
    expect(await reserve(held, 'c', 50_000, 50_000)).toEqual({ outputTokens: 10_000, reason: null });
    expect(await settle(held, 'c', 50_000)).toBeCloseTo(0.6, 6);
    await name(compatible, [{ ...qwen, prices: { input: 0, output: 0 } }]);
    expect(await reserve(held, 'd', 50_000, 50_000)).toEqual({ outputTokens: 50_000, reason: null });
    expect((await world.knex('runs').where({ id: held.runId }).first()).missionCostIncomplete).toBe(false);
  });

  it('a model of the catalog is charged at the price of the connector that lists it, else at the list price', async () => {
    const ours = { id: 'gpt-5-mini', name: 'Ours', prices: { input: 1, output: 1 } };
    const agentId = await agentWith('gpt-5-mini');
    const costOf = async () => {
      await start(agentId);
      const held = await claim({ modelVendors: ['openai'] });
      const call = { runId: held.runId, leaseId: held.leaseId, callId: 'a', model: ours.id };
      await runtime.report(
        'reserveModelCall',
        { ...call, inputTokens: 1_000_000, outputTokens: 1 },
        '{ outputTokens }',
      );
      const { connectors } = await connectorsOf(held);
      const used = { ...call, stepId: held.step.stepId, usageId: 'a', inputTokens: 1_000_000, outputTokens: 0 };
      await runtime.report('reportUsage', used);
      const { missionCostUsd } = await world.knex('runs').where({ id: held.runId }).first();
      return [connectors[0].integrationId, Number(missionCostUsd)];
    };
    expect(await costOf()).toEqual([own, 0.25]);
    await name(compatible, [ours]);
    expect(await costOf()).toEqual([compatible, 1]);
  });

  it('a mission waits while no connector lists its model, and shows the reason', async () => {
    await name(compatible, [qwen]);
    const agentId = await agentWith();
    const { id } = (await start(agentId)).data.startMission;
    await name(compatible, []);
    // A runtime with keys of every vendor does not get the run, and neither does a runtime that reports no vendors.
    expect(await claim({ modelVendors: ['openai', 'anthropic'] })).toBeNull();
    expect(await claim({})).toBeNull();
    await explainWaits();
    const why =
      'No connector with a key lists the model qwen3-coder: add it to a model connector, or choose another model for the agent.';
    expect((await world.knex('runs').where({ id }).first()).reason).toBe(why);
    expect((await start(agentId)).errors[0]).toMatchObject({ message: why, extensions: { code: 'model_required' } });
    await name(own, [qwen]);
    expect(await claim()).toMatchObject({ runId: id });
  });
});
