// Sandbox templates: what they contain, who chooses them, and which one a step gets.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { packageRegistries } from '#domain/projects/sandbox-templates/registries.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let alice: Account;
let mallory: Account;
let projectId: string;
let runtime: Runtime;

beforeAll(async () => {
  world = await openWorld();
  [alice, mallory] = [await createOwner(world, 'Alice', 'Acme'), await createOwner(world, 'Mallory', 'Globex')];
  projectId = await createProject(world, alice, 'Shop');
  runtime = await createRuntime(world, alice.organization);
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' });
  world.clock.turn(1);
});

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const rest = (method: string, path: string, body?: object, { token } = alice) =>
  world.rest(method, path, { token, body });
let named = 0;
const create = async (more: object = {}): Promise<Json> => {
  const { status, body } = await rest('POST', '/sandbox-templates', { name: `Template ${++named}`, ...more });
  expect(status).toBe(201);
  return body;
};
const refusal = async (more: object): Promise<string> => {
  const { status, body } = await rest('POST', '/sandbox-templates', { name: 'x', ...more });
  expect(status).toBe(400);
  return body.description;
};
const choose = (defaultSandboxTemplateId: string | null) =>
  rest('PATCH', `/projects/${projectId}`, { defaultSandboxTemplateId });
const agentWith = async (templateId: string): Promise<string> => {
  const sandbox = { kind: 'existing', templateId };
  const agent = {
    name: `Agent ${++named}`,
    role: 'builder',
    harness: 'claude-code',
    model: 'claude-sonnet-4-5',
    sandbox,
  };
  return (await rest('POST', '/agents', agent)).body.id;
};
const environmentOfMission = async (agentId: string): Promise<Json> => {
  const start =
    'mutation ($p: String!, $a: String!) { startMission(projectId: $p, prompt: "Do it.", agentId: $a) { id } }';
  await world.graphql(start, { token: alice.token, variables: { p: projectId, a: agentId } });
  const environment = `{ templateId templateName base image dockerfile setupScript variables { name value }
    services { name image variables { name value } command healthCheck }
    setupNetwork { mode hosts } agentNetwork { mode hosts } memoryMb diskMb processes stepMinutes stepModelCalls stepTokens }`;
  return (await runtime.claim({}, `{ step { environment ${environment} } }`)).step.environment;
};

const answered =
  (answer: string) =>
  (host: string): [string, string] => [host, answer];

describe('sandbox templates', () => {
  it('a sandbox template starts with the settings of the built-in one, is listed before it, and can be changed and deleted', async () => {
    const made = await create({ name: 'Node' });
    expect(made).toEqual({
      id: expect.stringMatching(/^sbt_/),
      orgId: alice.organization.id,
      name: 'Node',
      description: null,
      base: 'machine',
      image: null,
      dockerfile: null,
      setupScript: null,
      variables: [],
      services: [],
      setupNetwork: { mode: 'packages', hosts: [] },
      agentNetwork: { mode: 'packages', hosts: [] },
      labels: [],
      instanceType: null,
      memoryMb: null,
      diskMb: null,
      processes: null,
      stepMinutes: null,
      stepModelCalls: null,
      stepTokens: null,
      maxMinutes: null,
      maxModelCalls: null,
      maxTokens: null,
      effectPolicy: null,
      isBuiltin: false,
      createdAt: present(),
      updatedAt: present(),
    });
    const { data } = (await rest('GET', '/sandbox-templates')).body;
    expect([data[0], data.at(-1)]).toMatchObject([made, { id: 'standard', isBuiltin: true, base: 'machine' }]);
    const path = `/sandbox-templates/${made.id}`;
    const changes = { base: 'image', image: 'ghcr.io/acme/tools:1', variables: [{ name: 'CI', value: 'true' }] };
    expect((await rest('PATCH', path, changes)).body).toMatchObject({ name: 'Node', ...changes });
    expect((await rest('PATCH', path, { base: 'machine' })).body).toMatchObject({ base: 'machine', image: null });
    expect((await rest('DELETE', path)).body).toEqual({ ok: true, id: made.id });
    expect((await rest('GET', path)).status).toBe(404);
  });

  it('400 · the error of an invalid sandbox template names the field and its limit', async () => {
    const reserved = ['PATH', 'https_proxy', 'GIT_SSH_COMMAND', 'ANTHROPIC_API_KEY', 'LD_PRELOAD'];
    for (const name of reserved) {
      expect(await refusal({ variables: [{ name, value: '' }] })).toBe(
        `variables.0.name: ${name} is set by the platform.`,
      );
    }
    expect(await refusal({ variables: [{ name: '1A', value: '' }] })).toContain('must not begin with a digit');
    const twice = { name: 'A', value: '' };
    expect(await refusal({ variables: [twice, twice] })).toBe('variables.1.name: A is listed twice.');
    const form = 'must be a host such as api.example.com, *.example.com or example.com:8443, in lower case.';
    const address = 'must be a host name, not an IP address.';
    const port = 'must have a port of 1 to 65535.';
    const hosts: [host: string, answer: string][] = [
      ...['https://a.example', 'a.example/path', 'user@a.example', '*', '*.*.a.example', 'A.example'].map(
        answered(form),
      ),
      ...['a.b.', 'localhost.', 'localhost..', 'a..example', '.a.example', '-a.example', 'bücher.example'].map(
        answered(form),
      ),
      ...['a.example:', 'a.example:http', `${'a'.repeat(64)}.example`, `${'a.'.repeat(123)}a.example`].map(
        answered(form),
      ),
      ...['10.0.0.1', '8.8.8.8:443', '127.1', '2130706433', '0x7f.1', '127.0.0.0x1', 'a.0x7f', '1.'].map(
        answered(address),
      ),
      ...['[::1]', '::1'].map(answered(form)),
      ...['a.example:0', 'a.example:65536'].map(answered(port)),
      ['localhost', 'must be a public name with a dot.'],
      ['*.com', 'must name at least two labels after *.'],
    ];
    for (const [host, answer] of hosts) {
      const said = await refusal({ agentNetwork: { mode: 'custom', hosts: [host] } });
      expect([host, said]).toEqual([host, `agentNetwork.hosts.0: ${answer}`]);
    }
    const names = ['xn--bcher-kva.example', '*.xn--bcher-kva.example:8443', 'a_b.example', '1.a.example'];
    expect(
      (await create({ name: 'Names', agentNetwork: { mode: 'custom', hosts: names } })).agentNetwork.hosts,
    ).toEqual(names);
    expect(await refusal({ setupNetwork: { mode: 'open', hosts: ['a.example'] } })).toContain(
      'must be empty with the mode open',
    );
    const service = { name: 'db', image: 'postgres:17' };
    const refusals: [object[], string][] = [
      [[{ ...service, name: 'My db' }], 'services.0.name: must be lower-case letters, digits and hyphens'],
      [[{ name: 'db' }], 'services.0.image: is required'],
      [[{ ...service, image: '--privileged' }], 'services.0.image: must be the name of an image'],
      [[{ ...service, variables: [{ name: 'PATH', value: '' }] }], 'services.0.variables.0.name: PATH is set by'],
      [[{ ...service, command: [] }], 'services.0.command: must be at least 1 entry'],
      [[{ ...service, command: ['x'.repeat(1_500), 'y'.repeat(501)] }], 'services.0.command: must have at most 2000'],
      [[{ ...service, command: ['x'.repeat(2_001)] }], 'services.0.command.0: must be at most 2000'],
      [[{ ...service, healthCheck: 'x'.repeat(1_001) }], 'services.0.healthCheck: must be at most 1000'],
      [[service, service], 'services.1.name: db is listed twice'],
      [Array.from({ length: 6 }, (_, i) => ({ ...service, name: `db${i}` })), 'services: must be at most 5'],
    ];
    for (const [services, expected] of refusals) expect(await refusal({ services })).toContain(expected);
    expect(await refusal({ base: 'image' })).toBe('image: is required with the base image.');
    expect(await refusal({ image: 'node:20' })).toBe('image: belongs to the base image, not to machine.');
    expect(await refusal({ base: 'image', image: '--privileged' })).toContain('must be the name of an image');
    expect(await refusal({ memoryMb: 1 })).toContain('memoryMb: must be at least 64');
  });

  it('409 · a sandbox template cannot get a name that another one has, and the built-in template cannot be changed', async () => {
    await create({ name: 'Taken' });
    expect((await rest('POST', '/sandbox-templates', { name: 'taken' })).status).toBe(409);
    for (const method of ['PATCH', 'DELETE']) {
      expect((await rest(method, '/sandbox-templates/standard', { name: 'x' })).status).toBe(409);
    }
  });

  it('404 · a sandbox template is not found by another organization, which cannot choose it either', async () => {
    const { id } = await create();
    expect((await rest('GET', `/sandbox-templates/${id}`, undefined, mallory)).status).toBe(404);
    const theirs = await createProject(world, mallory, 'Theirs');
    const chosen = await rest('PATCH', `/projects/${theirs}`, { defaultSandboxTemplateId: id }, mallory);
    expect(chosen.body.description).toContain('must be standard or the id of a sandbox template');
  });
});

describe('templates of steps', () => {
  it('the sandbox template of a step comes from the agent, else from the project, else is the built-in one', async () => {
    const hosts = ['api.example.com', '*.example.org:8443'];
    const custom = { mode: 'custom', hosts };
    const limits = {
      ...{ memoryMb: 2_048, diskMb: 4_096, processes: 200 },
      ...{ stepMinutes: 1_440, stepModelCalls: 500, stepTokens: 2_000_000 },
    };
    const db = { name: 'db', image: 'postgres:17', variables: [{ name: 'POSTGRES_PASSWORD', value: 'x' }] };
    const services = [
      { ...db, command: ['-c', 'fsync=off'], healthCheck: 'pg_isready' },
      { name: 'cache', image: 'valkey:8', variables: [], command: null, healthCheck: null },
    ];
    const node = await create({
      name: 'Node tools',
      services: [services[0], { name: 'cache', image: 'valkey:8' }],
      ...{ base: 'dockerfile', dockerfile: 'FROM node:20', setupScript: 'npm ci', agentNetwork: custom, ...limits },
      ...{ variables: [{ name: 'CI', value: '1' }], setupNetwork: { mode: 'packages', hosts: ['get.example.com'] } },
    });
    const python = await create();
    const [plain, own] = [await agentWith('standard'), await agentWith(python.id)];
    expect(await environmentOfMission(plain)).toMatchObject({ templateId: 'standard', base: 'machine' });
    await choose(node.id);
    expect(await environmentOfMission(plain)).toEqual({
      templateId: node.id,
      templateName: 'Node tools',
      ...{ base: 'dockerfile', image: null, dockerfile: 'FROM node:20', setupScript: 'npm ci' },
      variables: [{ name: 'CI', value: '1' }],
      services,
      setupNetwork: {
        mode: 'packages',
        hosts: [...packageRegistries.flatMap((registry) => registry.hosts), 'get.example.com'],
      },
      agentNetwork: custom,
      ...limits,
    });
    expect(await environmentOfMission(own)).toMatchObject({ templateId: python.id });
    await choose(null);
  });

  it('409 · a sandbox template in use cannot be deleted, and the error says where it is used', async () => {
    const { id } = await create();
    const agentId = await agentWith(id);
    await choose(id);
    await environmentOfMission(agentId);
    const { status, body } = await rest('DELETE', `/sandbox-templates/${id}`);
    expect(status).toBe(409);
    expect(body.description).toMatch(/used by the agent Agent \d+, the project Shop, the open mission run_\w+: choose/);
    await choose(null);
    await rest('DELETE', `/agents/${agentId}`);
    await world.knex('runs').update({ status: 'canceled' });
    expect((await rest('DELETE', `/sandbox-templates/${id}`)).status).toBe(200);
  });

  it('a project that chooses a sandbox template of the organization reaches the milestone custom_sandbox', async () => {
    await world.knex('setup_milestones').where({ milestoneId: 'custom_sandbox' }).delete();
    const where = { orgId: alice.organization.id, milestoneId: 'custom_sandbox' };
    await choose('standard');
    expect(await world.knex('setup_milestones').where(where)).toEqual([]);
    await choose((await create()).id);
    expect(await world.knex('setup_milestones').where(where)).toMatchObject([{ reachedAt: present() }]);
    await choose(null);
  });
});
