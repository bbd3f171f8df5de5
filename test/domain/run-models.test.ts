// Models that an organization has connected, as its runtimes see them: who can read their keys, how changes create new revisions,
// and which runs can be claimed with them.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { replaceCredentials, revokeCredentials } from '#domain/projects/integrations/operations.ts';
import { connectIntegration, disconnectIntegration } from '#domain/projects/vendors/connectors.ts';
import { explainWaits } from '#domain/work/runs/waiting.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { knownRuntime, openWorld, type World } from '../support/world.ts';

let world: World;
let alice: Account;
let projectId: string;
let runtime: Runtime;
let everywhere: Runtime;
let elsewhere: Runtime;

beforeAll(async () => {
  world = await openWorld();
  alice = await createOwner(world, 'Alice', 'Acme');
  const mallory = await createOwner(world, 'Mallory', 'Globex');
  projectId = await createProject(world, alice, 'Shop');
  runtime = await createRuntime(world, alice.organization);
  everywhere = await createRuntime(world);
  elsewhere = await createRuntime(world, mallory.organization);
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' });
  await world.knex('projects').update({ llmConnectorId: null });
  await world.knex('runtime_harnesses').whereNot({ runtime: knownRuntime }).delete();
  for (const table of ['agents', 'integrations']) await world.knex(table).delete();
});

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;
const graphql = (query: string, variables: Record<string, unknown>, token: string): Promise<Json> =>
  world.field(query, { token, variables });
const connect = (vendor: 'anthropic' | 'openai', credentials?: string, baseUrl?: string) => {
  world.clock.turn(1);
  const { id: orgId } = alice.organization;
  return connectIntegration({ orgId, vendor, vendorKind: 'llm', displayName: vendor, credentials, baseUrl });
};
const start = (agentId?: string): Promise<Json> => {
  world.clock.turn(1);
  return graphql(
    'mutation ($projectId: String!, $agentId: String) { startMission(projectId: $projectId, prompt: "Work.", agentId: $agentId) { id } }',
    { projectId, agentId },
    alice.token,
  );
};
const claim = (more: object = {}, { claim } = runtime): Promise<Json> =>
  claim({ modelVendors: [], ...more }, '{ runId leaseId step { stepId agent { harness model } } }');
const models = ({ runId, leaseId }: Json, { token }: { token: string } = runtime): Promise<Json> =>
  graphql(
    `query ($runId: String!, $leaseId: String!) { runModels(runId: $runId, leaseId: $leaseId) {
      revision connectors { integrationId name vendor baseUrl apiKey } } }`,
    { runId, leaseId },
    token,
  );
const beat = (held: Json): Promise<Json> => runtime.beat(held, {}, '{ desired modelRevision }');
const agent = async (harness: string, model: string) => {
  const body = {
    name: harness,
    role: 'builder',
    harness,
    model,
    sandbox: { kind: 'existing', templateId: 'standard' },
  };
  return (await world.rest('POST', '/agents', { token: alice.token, body })).body.id as string;
};
const reasonOf = async (id: string) => {
  await explainWaits();
  return (await world.knex('runs').where({ id }).first()).reason;
};
const noKey = 'The connected runtimes have no key for a model of Anthropic: connect one to the organization.';

it('a runtime that installs harnesses learns which harnesses are needed by the organizations that it serves', async () => {
  const demand = ({ token }: { token: string }) => graphql('{ harnessDemand { modelVendors harnesses } }', {}, token);
  await agent('shell', 'none');
  expect(await demand(everywhere)).toEqual({ modelVendors: [], harnesses: [] });
  await connect('openai');
  await connect('anthropic', 'sk-own');
  await agent('codex', 'gpt-5.5');
  const own = { modelVendors: ['anthropic'], harnesses: ['codex'] };
  expect([await demand(runtime), await demand(everywhere)]).toEqual([own, own]);
  expect(await demand(elsewhere)).toEqual({ modelVendors: [], harnesses: [] });
  expect((await demand(alice)).code).toBe('missing_scope');
});

describe('models of runs', () => {
  it('the runtime with the lease on a run gets the model connectors of its organization, with their keys', async () => {
    const old = await connect('anthropic', 'sk-old');
    const own = await connect('anthropic', 'sk-own', 'https://models.example.com');
    const other = await connect('openai', 'sk-openai');
    await connect('openai');
    await world.knex('projects').where({ id: projectId }).update({ llmConnectorId: own.id });
    await start();
    const held = await claim();
    expect(await models(held)).toEqual({
      revision: expect.any(String),
      connectors: [
        {
          integrationId: own.id,
          name: 'anthropic',
          vendor: 'anthropic',
          baseUrl: 'https://models.example.com',
          apiKey: 'sk-own',
        },
        {
          integrationId: other.id,
          name: 'openai',
          vendor: 'openai',
          baseUrl: 'https://api.openai.com/v1',
          apiKey: 'sk-openai',
        },
      ],
    });
    await world.knex('projects').where({ id: projectId }).update({ llmConnectorId: null });
    expect((await models(held)).connectors[0].apiKey).toBe('sk-old');
    await world.knex('integrations').where({ id: old.id }).update({ brokenSince: 1 });
    expect((await models(held)).connectors[0].apiKey).toBe('sk-own');
  });

  it('the models of a run are refused to every caller except the runtime that holds the lease on the run', async () => {
    await connect('anthropic', 'sk-secret');
    await start();
    const held = await claim();
    expect(await models(held, alice)).toMatchObject({ code: 'missing_scope' });
    expect(await models(held, elsewhere)).toMatchObject({ code: 'not_found' });
    expect(await models({ ...held, leaseId: 'lea_other' })).toMatchObject({ code: 'lease_lost' });
    const cancel = 'mutation ($runId: String!) { cancelRun(runId: $runId) { id } }';
    await graphql(cancel, { runId: held.runId }, alice.token);
    expect(await models(held)).toMatchObject({ code: 'lease_lost' });
  });

  it('the models of a run have a new revision as soon as a key is rotated, revoked, added or deleted', async () => {
    const { id } = await connect('anthropic', 'sk-1');
    await start();
    const held = await claim();
    const seen = [(await models(held)).revision];
    expect((await beat(held)).modelRevision).toBe(seen[0]);
    const change = async (work: () => Promise<unknown>) => {
      await work();
      const { modelRevision } = await beat(held);
      expect(seen).not.toContain(modelRevision);
      expect((await models(held)).revision).toBe(modelRevision);
      seen.push(modelRevision);
    };
    await change(() => replaceCredentials(id, 'sk-2'));
    await change(() => revokeCredentials(id));
    expect((await models(held)).connectors).toEqual([]);
    await change(() => replaceCredentials(id, 'sk-3'));
    await change(() => connect('openai', 'sk-4'));
    await disconnectIntegration(id);
    expect(seen).not.toContain((await beat(held)).modelRevision);
  });
});

describe('runtimes without a model key', () => {
  it('a runtime without a key gets runs of organizations that have connected a model; other runs show why they wait', async () => {
    const { id } = await start();
    expect(await claim()).toBeNull();
    expect(await claim({}, everywhere)).toBeNull();
    expect(await reasonOf(id)).toBe(noKey);
    const connector = await connect('anthropic', 'sk-key');
    expect(await reasonOf(id)).toBe('Waiting for a connected runtime to be free.');
    await revokeCredentials(connector.id);
    expect([await claim(), await reasonOf(id)]).toEqual([null, noKey]);
    await replaceCredentials(connector.id, 'sk-key');
    expect(await claim({}, everywhere)).toMatchObject({ runId: id });
  });

  it('a runtime gets runs for the vendors that it names, and for all vendors when it names none', async () => {
    const codex = await agent('codex', 'gpt-5.5');
    const { id } = await start(codex);
    expect(await claim({ harnesses: ['codex'], modelVendors: ['anthropic'] })).toBeNull();
    expect(await reasonOf(id)).toBe(noKey.replace('Anthropic', 'OpenAI'));
    expect(await claim({ harnesses: ['codex'], modelVendors: ['openai'] })).toMatchObject({ runId: id });
    const next = await start(codex);
    expect(await claim({ harnesses: ['codex'], modelVendors: undefined })).toMatchObject({ runId: next.id });
  });

  it('when a harness supports several vendors, a runtime gets only runs with models of the vendors that the runtime names', async () => {
    const claude = await agent('opencode', 'claude-sonnet-4-5');
    const first = await start(claude);
    expect(await claim({ harnesses: ['opencode'], modelVendors: ['openai'] })).toBeNull();
    expect(await claim({ harnesses: ['opencode'], modelVendors: ['anthropic'] })).toMatchObject({ runId: first.id });
    await world.knex('agents').where({ id: claude }).update({ model: 'gpt-5.1' });
    const second = await start(claude);
    expect(await claim({ harnesses: ['opencode'], modelVendors: ['anthropic'] })).toBeNull();
    expect(await claim({ harnesses: ['opencode'], modelVendors: ['openai'] })).toMatchObject({ runId: second.id });
  });

  it('a runtime without a model does not run a prompt as a script', async () => {
    await start();
    expect(await claim({ harnesses: ['claude-code', 'shell'] })).toBeNull();
    await connect('anthropic', 'sk-key');
    expect(await claim({ harnesses: ['claude-code', 'shell'] })).toMatchObject({
      step: { agent: { harness: 'claude-code' } },
    });
  });

  it('a runtime is listed with the vendors of its models', async () => {
    await claim({ modelVendors: ['openai'] });
    const list = await graphql('{ runtimes { data { name modelVendors } } }', {}, alice.token);
    expect(list.data).toContainEqual({ name: 'Runtime', modelVendors: ['openai'] });
  });
});

it('built-in agents run on any harness that has a model', async () => {
  await connect('openai', 'sk-openai');
  const shownAgent = async (harnesses: string[]) => {
    await start();
    const { runId, step } = await claim({ harnesses });
    await world.knex('runs').where({ id: runId }).update({ status: 'canceled' });
    return step.agent;
  };
  expect(await shownAgent(['opencode'])).toEqual({ harness: 'opencode', model: 'gpt-5.5' });
  expect(await shownAgent(['codex'])).toEqual({ harness: 'codex', model: 'gpt-5.5' });
  await connect('anthropic', 'sk-anthropic');
  expect(await shownAgent(['codex', 'opencode'])).toEqual({ harness: 'opencode', model: 'claude-sonnet-4-5' });
  expect(await shownAgent(['opencode', 'claude-code'])).toEqual({ harness: 'claude-code', model: 'claude-sonnet-4-5' });
});
