// Agents: the catalog of their options, the built-in ones, and those of an organization.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinAgents, harnesses, providerNeeded } from '#domain/projects/agents/catalog.ts';
import { Agent } from '#domain/projects/agents/model.ts';
import { vendorOf } from '#domain/projects/agents/runnable.ts';
import { canAnyRuntimeRun, canRunWith } from '#domain/projects/agents/runtime-harnesses.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { type Account, createCallers, createOwner, createProject } from '../support/callers.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let stranger: Account;

beforeAll(async () => {
  world = await openWorld();
  ({ owner, stranger } = await createCallers(world));
});
afterAll(() => world.close());

const sandbox = { kind: 'existing', templateId: 'standard' };
const right = { name: 'Smith', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
let made = 0;
const create = (changes: object = {}, token = owner.token) =>
  world.rest('POST', '/agents', { token, body: { ...right, name: `Smith ${++made}`, ...changes } });
const change = (id: string, body: object, token = owner.token) => world.rest('PATCH', `/agents/${id}`, { token, body });
const list = async (query = '', token = owner.token) => (await world.rest('GET', `/agents${query}`, { token })).body;
const names = (page: { data: { name: string }[] }) => page.data.map(({ name }) => name);
const builtinNames = builtinAgents.map(({ name }) => name);

describe('GET /agents/catalog', () => {
  it('200 · the catalog lists the options of an agent, and built-in agents use only these', async () => {
    const { status, body } = await world.rest('GET', '/agents/catalog', { token: owner.token });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual([
      'roles',
      'harnesses',
      'builtinAgents',
      'builtinSandboxTemplate',
      'instanceTypes',
    ]);
    expect(body.roles.map(({ key }: { key: string }) => key)).toEqual([
      'planner',
      'builder',
      'reviewer',
      'qa',
      'researcher',
    ]);
    expect(body.harnesses.at(-1)).toEqual({
      id: 'shell',
      label: 'Script',
      executable: true,
      models: [{ id: 'none', label: 'No model' }],
    });
    expect(body.builtinSandboxTemplate).toEqual({
      key: 'standard',
      name: 'Standard',
      dockerfile: readFileSync('deploy/images/standard/Dockerfile', 'utf8'),
    });
    expect(body.instanceTypes[0]).toEqual({ id: 'lite', label: 'Lite', vcpu: 0.0625, memory: 256, disk: 2 });
    for (const { key, sandboxTemplateKey, ...agent } of body.builtinAgents) {
      const answer = await create({
        ...agent,
        name: `As ${key}`,
        sandbox: { kind: 'existing', templateId: sandboxTemplateKey },
      });
      expect([key, answer.status]).toEqual([key, 201]);
    }
  });
});

describe('POST /agents', () => {
  it('201 · an agent is created without optional members', async () => {
    const { status, body } = await create({ name: 'Plain' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^agn_[0-9a-f]{32}$/),
      orgId: owner.organization.id,
      name: 'Plain',
      role: 'builder',
      harness: 'claude-code',
      model: 'claude-sonnet-4-5',
      effort: null,
      sandboxTemplateId: 'standard',
      userPrompt: null,
      skillRepos: [],
      isBuiltin: false,
      createdAt: present(),
      updatedAt: present(),
    });
    expect((await world.rest('GET', `/agents/${body.id}`, { token: owner.token })).body).toEqual(body);
  });

  it('201 · an agent is created with the longest allowed values', async () => {
    const edges = {
      name: 'n'.repeat(120),
      effort: 'high',
      userPrompt: 'p'.repeat(20_000),
      skillRepos: Array.from({ length: 20 }, (_, i) => `acme/skill-${i}`),
    };
    const { status, body } = await create(edges);
    expect(status).toBe(201);
    expect(body).toMatchObject(edges);
  });

  it.each([
    ['name: is required', { name: undefined }],
    ['name: must be at least 1 character.', { name: '' }],
    ['name: must be at most 120 characters.', { name: 'n'.repeat(121) }],
    ['role: must be one of "planner", "builder", "reviewer", "qa", "researcher".', { role: 'boss' }],
    ['harness: must be one of "claude-code", "codex", "opencode", "acp", "shell".', { harness: 'vim' }],
    ['model: is required', { model: undefined }],
    ['model: must be one that codex runs: gpt-5.5.', { harness: 'codex' }],
    ['model: must be one that claude-code runs', { model: 'gpt-5.1' }],
    ['model: must be one that shell runs: none.', { harness: 'shell' }],
    ['sandbox: is required', { sandbox: undefined }],
    ['sandbox.kind: must be "existing".', { sandbox: { kind: 'new', templateId: 'standard' } }],
    ['sandbox.templateId: is required', { sandbox: { kind: 'existing' } }],
    [
      'sandbox.templateId: must be standard or the id of a sandbox template',
      { sandbox: { kind: 'existing', templateId: 'tpl_1' } },
    ],
    ['effort: must be one of "low", "medium", "high".', { effort: 'extreme' }],
    ['userPrompt: must be at most 20000 characters.', { userPrompt: 'p'.repeat(20_001) }],
    ['skillRepos: must be at most 20 entries.', { skillRepos: Array(21).fill('acme/skill') }],
    ['skillRepos.0: must be <owner>/<repo>.', { skillRepos: ['acme'] }],
  ])('400 · an invalid agent is refused: %s', async (words, changes) => {
    const { status, body } = await create(changes);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.description).toContain(words);
  });

  it('409 · the name of an agent is unique in its organization, regardless of letter case', async () => {
    await create({ name: 'Unique' });
    const again = await create({ name: 'UNIQUE' });
    expect([again.status, again.body.description]).toEqual([
      409,
      'name: another agent of this organization already has the name "UNIQUE".',
    ]);
    expect((await create({ name: 'Unique' }, stranger.token)).status).toBe(201);
  });

  it('201, 409 · only one of ten concurrent requests for the same agent name succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ name: 'Race' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
  });
});

describe('GET /agents', () => {
  it('200 · agents of the organization are listed newest first, then the built-in ones, each once over all pages', async () => {
    const { organization: pages, token } = await createOwner(world, 'Petra', 'Pages');
    for (const name of ['First', 'Second', 'Third']) {
      await create({ name }, token);
      world.clock.turn(1_000);
    }
    const whole = await list('', token);
    expect(whole.nextCursor).toBe(null);
    expect(names(whole).slice(0, 3)).toEqual(['Third', 'Second', 'First']);
    expect(names(whole).slice(3).sort()).toEqual([...builtinNames].sort());
    expect(new Set(whole.data.map(({ orgId }: { orgId: string }) => orgId))).toEqual(new Set([pages.id]));

    const read: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Awaited<ReturnType<typeof list>> = await list(`?limit=2${cursor && `&cursor=${cursor}`}`, token);
      read.push(...names(page));
      cursor = page.nextCursor;
    }
    expect(read).toEqual(names(whole));
    const [first] = (await list('?limit=1', token)).data;
    expect(await list(`?limit=1&cursor=${(await list('?limit=1', token)).nextCursor}`, stranger.token)).toMatchObject({
      code: 'invalid_request',
      description: expect.stringContaining('cursor: must be the nextCursor of this list'),
    });
    expect(first).toEqual((await world.rest('GET', `/agents/${first.id}`, { token })).body);
  });

  it.each([
    ['limit=0', 'limit: must be at least 1.'],
    ['limit=201', 'limit: must be at most 200.'],
  ])('400 · a list of agents is refused for the query %s', async (query, words) => {
    const { status, body } = await world.rest('GET', `/agents?${query}`, { token: owner.token });
    expect([status, body.description]).toEqual([400, words]);
  });

  it('403 · a project-bound token cannot list agents, because they belong to the whole organization', async () => {
    const projectId = await createProject(world, owner, 'Shop');
    const bound = await world.token(owner.person, owner.organization, { projectId });
    for (const path of ['/agents', '/agents/agn_builtin_builder']) {
      expect((await world.rest('GET', path, { token: bound })).status).toBe(403);
    }
    expect((await world.rest('GET', '/agents/catalog', { token: bound })).status).toBe(200);
  });
});

describe('built-in agents', () => {
  it('200 · a built-in agent is read by its id in every organization', async () => {
    const { body: catalog } = await world.rest('GET', '/agents/catalog', { token: owner.token });
    const { key, sandboxTemplateKey, ...entry } = catalog.builtinAgents[1];
    const { body } = await world.rest('GET', '/agents/agn_builtin_builder', { token: owner.token });
    expect(key).toBe('builder');
    expect(body).toEqual({
      ...entry,
      id: 'agn_builtin_builder',
      orgId: owner.organization.id,
      effort: null,
      sandboxTemplateId: sandboxTemplateKey,
      isBuiltin: true,
      createdAt: Date.UTC(2026, 0, 1),
      updatedAt: Date.UTC(2026, 0, 1),
    });
    expect((await list()).data).toContainEqual(body);
    expect((await world.rest('GET', '/agents/agn_builtin_boss', { token: owner.token })).status).toBe(404);
  });

  it('409 · a built-in agent cannot be changed or deleted', async () => {
    const words = 'A built-in agent cannot be changed: create one of your own instead.';
    const changed = await change('agn_builtin_builder', { name: 'Mine' });
    const deleted = await world.rest('DELETE', '/agents/agn_builtin_builder', { token: owner.token });
    for (const { status, body } of [changed, deleted]) expect([status, body.description]).toEqual([409, words]);
  });
});

describe('PATCH /agents/{agentId}', () => {
  it('200 · an update changes the given members of an agent, clears those that are null, and keeps the others', async () => {
    const { body: agent } = await create({ effort: 'low', userPrompt: 'Hurry.' });
    world.clock.turn(5_000);
    const { status, body } = await change(agent.id, {
      name: 'Renamed',
      role: 'qa',
      harness: 'codex',
      model: 'gpt-5.5',
      effort: null,
      userPrompt: null,
      skillRepos: ['acme/skills'],
      sandbox,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...agent,
      name: 'Renamed',
      role: 'qa',
      harness: 'codex',
      model: 'gpt-5.5',
      effort: null,
      userPrompt: null,
      skillRepos: ['acme/skills'],
      updatedAt: present(),
    });
    expect((await change(agent.id, {})).body).toEqual(body);
  });

  it('200 · an agent keeps a model that has left the catalog until its model or harness is changed', async () => {
    const { body: agent } = await create({ harness: 'claude-code', model: 'claude-opus-5' });
    await Agent.query().findById(agent.id).patch({ model: 'claude-of-old' });
    const renamed = await change(agent.id, { name: 'Of old' });
    expect(renamed).toMatchObject({ status: 200, body: { name: 'Of old', model: 'claude-of-old' } });
    expect(await change(agent.id, { harness: 'opencode' })).toMatchObject({
      status: 400,
      body: { description: expect.stringContaining('model: must be one that opencode runs: ') },
    });
    expect((await change(agent.id, { model: 'claude-sonnet-5' })).status).toBe(200);
  });

  it('400 · a new harness is refused when it does not run the agent’s model', async () => {
    const { body: agent } = await create();
    const { status, body } = await change(agent.id, { harness: 'shell' });
    expect([status, body.description]).toEqual([400, 'model: must be one that shell runs: none.']);
    expect((await world.rest('GET', `/agents/${agent.id}`, { token: owner.token })).body).toEqual(agent);
  });

  it('concurrent changes of an agent’s harness and model leave a valid pair', async () => {
    const { body: agent } = await create({ harness: 'opencode', model: 'claude-opus-4-5' });
    const answers = await Promise.all([
      change(agent.id, { harness: 'claude-code' }),
      change(agent.id, { model: 'gpt-5.1' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  it('409 · an agent cannot get the name of another one', async () => {
    const [{ body: one }, { body: other }] = [await create(), await create()];
    expect((await change(one.id, { name: other.name })).status).toBe(409);
    expect((await change(one.id, { name: one.name.toUpperCase() })).body.name).toBe(one.name.toUpperCase());
  });

  it('404 · an agent of another organization is not found, and stays unchanged', async () => {
    const { body: agent } = await create();
    expect((await change(agent.id, { name: 'Mine' }, stranger.token)).status).toBe(404);
    expect((await world.rest('DELETE', `/agents/${agent.id}`, { token: stranger.token })).status).toBe(404);
    expect((await world.rest('GET', `/agents/${agent.id}`, { token: stranger.token })).status).toBe(404);
    expect((await world.rest('GET', `/agents/${agent.id}`, { token: owner.token })).body).toEqual(agent);
  });
});

describe('DELETE /agents/{agentId}', () => {
  it('200, 404 · an agent is deleted once, and its name can be used again', async () => {
    const { body: agent } = await create();
    const gone = await world.rest('DELETE', `/agents/${agent.id}`, { token: owner.token });
    expect([gone.status, gone.body]).toEqual([200, { ok: true, id: agent.id }]);
    expect((await world.rest('DELETE', `/agents/${agent.id}`, { token: owner.token })).status).toBe(404);
    expect((await create({ name: agent.name })).status).toBe(201);
  });
});

it('GraphQL returns an agent with its organization, and refuses a value that is not in the catalog', async () => {
  const document = `mutation ($input: CreateAgentRequest!) { createAgent(input: $input) { name organization { name } } }`;
  const ask = (input: object) => world.graphql(document, { token: owner.token, variables: { input } });
  const { body } = await ask({ ...right, name: 'Graphed' });
  expect(body.data).toEqual({ createAgent: { name: 'Graphed', organization: { name: 'Acme' } } });
  const refused = (await ask({ ...right, name: 'Wrong', harness: 'vim' })).body;
  expect(refused.errors[0].extensions.problem).toMatchObject({ code: 'invalid_request' });
});

it('a GraphQL update based on an outdated version of an agent is refused, even concurrently', async () => {
  const { body: agent } = await create({ name: 'Edited by two' });
  const change = async (effort: string, ifUpdatedAt: number) => {
    const document = `mutation ($id: String!, $input: UpdateAgentRequest!, $at: EpochMs) {
      updateAgent(agentId: $id, input: $input, ifUpdatedAt: $at) { effort updatedAt } }`;
    const variables = { id: agent.id, input: { effort }, at: ifUpdatedAt };
    const { body } = await world.graphql(document, { token: owner.token, variables });
    return body.data?.updateAgent ?? body.errors[0].extensions.problem;
  };
  const answers = await Promise.all(['low', 'medium', 'high'].map((effort) => change(effort, agent.updatedAt)));
  const [taken, ...others] = answers.filter(({ updatedAt }) => updatedAt);
  expect(others).toEqual([]);
  expect(answers.filter(({ updatedAt }) => !updatedAt)).toEqual(
    [1, 2].map(() => ({
      ...{ category: 'validation', title: 'Record changed', retryable: false, code: 'record_changed' },
      description: 'ifUpdatedAt: the record has changed since it was read. Read it again.',
      fields: [{ path: 'ifUpdatedAt', message: 'the record has changed since it was read. Read it again' }],
    })),
  );
  expect(await change('low', taken.updatedAt)).toMatchObject({ effort: 'low' });
});

describe('which runtimes can execute an agent', () => {
  const models = [...new Set(harnesses.flatMap((harness) => harness.models.map(({ id }) => id))), 'unlisted'];
  const agents = harnesses.flatMap(({ id: harness }) => models.map((model) => ({ harness, model })));

  it('SQL and TypeScript name the same model vendor for each harness with each model', async () => {
    const rows = agents.map(({ harness, model }) => `('${harness}', '${model}')`).join(', ');
    const found = await sql(
      `select harness, model, ${vendorOf('a')} as vendor from (values ${rows}) a (harness, model)`,
      [],
    );
    expect(found).toEqual(agents.map((agent) => ({ ...agent, vendor: providerNeeded(agent) })));
  });

  it('a runtime can execute an agent when the runtime has the agent’s harness, and the runtime or the organization has a key of the model’s vendor', async () => {
    const orgId = owner.organization.id;
    for (const harness of ['claude-code', 'codex', 'opencode', 'shell'] as const) {
      for (const modelVendors of [null, [], ['openai'], ['anthropic']] as const) {
        const offer = { runtime: 'one', harnesses: [harness], modelVendors };
        const canRun = await transaction((trx) => canRunWith(trx, orgId, offer));
        expect(agents.filter(canRun)).toEqual(
          agents.filter((agent) => {
            const vendor = providerNeeded(agent);
            const isProvided = !modelVendors || [...modelVendors].includes(vendor as never);
            // Runtimes have no credentials for models outside the catalog.
            return agent.harness === harness && (!vendor || (isProvided && !vendor.startsWith('model:')));
          }),
        );
      }
    }
    expect(agents.filter(await transaction((trx) => canAnyRuntimeRun(trx, orgId)))).toEqual([]);
  });
});
