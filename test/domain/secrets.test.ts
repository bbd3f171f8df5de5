// Secrets and variables: written, listed by name, read only by the runtime that holds a run.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, createMember, createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let alice: Account;
let mallory: Account;
let session: Awaited<ReturnType<World['session']>>;
let projectId: string;
let templateId: string;
let runtime: Runtime;

beforeAll(async () => {
  world = await openWorld();
  [alice, mallory] = [await createOwner(world, 'Alice', 'Acme'), await createOwner(world, 'Mallory', 'Globex')];
  session = await world.session(alice.person, alice.organization.id);
  projectId = await createProject(world, alice, 'Shop');
  runtime = await createRuntime(world, alice.organization);
  const template = { name: 'Node', variables: [{ name: 'LEVEL', value: 'plain' }] };
  templateId = (await rest('POST', '/sandbox-templates', template)).body.id;
  await rest('PATCH', `/projects/${projectId}`, { defaultSandboxTemplateId: templateId });
});
afterAll(() => world.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const rest = (method: string, path: string, body?: object) => world.rest(method, path, { session, body });
const secret = {
  scope: 'organization',
  kind: 'secret',
  name: 'NPM_TOKEN',
  value: 'npm-0123456789',
  hosts: ['npm.example.com'],
};
const create = async (more: object): Promise<Json> => {
  const { status, body } = await rest('POST', '/secrets', { ...secret, ...more });
  expect([status, body.description]).toEqual([201, undefined]);
  return body;
};
const refusal = async (more: object): Promise<string> => {
  const { status, body } = await rest('POST', '/secrets', { ...secret, ...more });
  expect(status).toBe(400);
  return body.description;
};
const delivered = async (): Promise<Json> => {
  world.clock.turn(1);
  const start = 'mutation ($p: String!) { startMission(projectId: $p, prompt: "Do it.") { id } }';
  await world.graphql(start, { token: alice.token, variables: { p: projectId } });
  const environment = '{ variables { name value } secrets { name value hosts setupOnly } }';
  return (await runtime.claim({}, `{ step { environment ${environment} } }`)).step.environment;
};

describe('secrets', () => {
  it('a secret shows who last set its value', async () => {
    const { person: bob } = await createMember(world, alice.organization, 'Bob', 'admin');
    const { id } = await create({ name: 'SIGNED' });
    const setBy = async () => {
      const query = 'query ($id: String!) { secret(secretId: $id) { setBy } }';
      return (await world.graphql(query, { session, variables: { id } })).body.data.secret.setBy;
    };
    expect(await setBy()).toBe('Alice');
    const by = await world.session(bob, alice.organization.id);
    const change = (body: object) => world.rest('PATCH', `/secrets/${id}`, { session: by, body });
    await change({ hosts: ['other.example.com'] });
    expect(await setBy()).toBe('Alice');
    await change({ value: 'another-value' });
    expect(await setBy()).toBe('Bob');
    await rest('DELETE', `/secrets/${id}`);
  });

  it('a secret is stored encrypted and never returned; its delivery to a runtime is recorded', async () => {
    const made = await create({});
    const { value, ...told } = secret;
    const expected = { ...told, id: made.id, orgId: alice.organization.id, projectId: null, templateId: null };
    expect(made).toEqual({
      ...expected,
      ...{ id: expect.stringMatching(/^sec_/), setupOnly: false, lastUsedAt: null },
      ...{ createdAt: present(), updatedAt: present() },
    });
    const [row] = await world.knex('secrets').where({ id: made.id });
    expect(JSON.stringify(row)).not.toContain(value);
    expect((await delivered()).secrets).toEqual([
      { name: 'NPM_TOKEN', value, hosts: ['npm.example.com'], setupOnly: false },
    ]);
    const listed = (await rest('GET', '/secrets')).body.data;
    expect(listed).toEqual([{ ...made, lastUsedAt: present() }]);
    const changed = (
      await rest('PATCH', `/secrets/${made.id}`, { value: 'npm-9876543210', hosts: [], setupOnly: true })
    ).body;
    expect(changed).toMatchObject({ hosts: [], setupOnly: true, name: 'NPM_TOKEN' });
    expect((await delivered()).secrets).toMatchObject([{ value: 'npm-9876543210', hosts: [], setupOnly: true }]);
    expect((await rest('DELETE', `/secrets/${made.id}`)).body).toEqual({ ok: true, id: made.id });
    expect((await delivered()).secrets).toEqual([]);
  });

  it('the value of a secret or variable comes from the template’s secrets, else its variables, else the project, else the organization', async () => {
    const variable = { kind: 'variable', hosts: [] };
    const ofOrganization = { ...variable, name: 'LEVEL', value: 'organization' };
    await create(ofOrganization);
    await create({ ...ofOrganization, name: 'OTHER' });
    await create({ ...variable, scope: 'project', projectId, name: 'OTHER', value: 'project' });
    const value = (name: string, { variables }: Json) => variables.find((one: Json) => one.name === name).value;
    const first = await delivered();
    expect([value('LEVEL', first), value('OTHER', first)]).toEqual(['plain', 'project']);
    await create({ ...variable, scope: 'template', templateId, name: 'LEVEL', value: 'template' });
    expect(value('LEVEL', await delivered())).toBe('template');
    const listed = (await rest('GET', `/secrets?scope=project&projectId=${projectId}`)).body.data;
    expect(listed).toMatchObject([{ name: 'OTHER', scope: 'project' }]);
  });

  it('400, 409 · the error for an invalid secret names the field; a secret is refused if its scope already has a secret of that name', async () => {
    expect(await refusal({ value: '1234567' })).toContain('value: must be at least 8 characters');
    expect(await refusal({ value: 'line one\nline two' })).toContain('value: must be one line');
    expect(await refusal({ hosts: [] })).toContain('hosts: must name the hosts');
    expect(await refusal({ setupOnly: true })).toContain('or be empty with setupOnly');
    expect(await refusal({ hosts: ['10.0.0.1'] })).toContain('hosts.0: must be a host name');
    expect(await refusal({ name: 'HTTPS_PROXY' })).toBe('name: HTTPS_PROXY is set by the platform.');
    expect(await refusal({ kind: 'variable' })).toContain('hosts: must be empty for a variable');
    expect(await refusal({ scope: 'project' })).toBe('projectId: is required with the scope project.');
    expect(await refusal({ projectId })).toBe('projectId: belongs to the scope project, not to organization.');
    expect(await refusal({ scope: 'template', templateId: 'standard' })).toContain('the built-in one has no secrets');
    await create({ name: 'TAKEN' });
    expect((await rest('POST', '/secrets', { ...secret, name: 'TAKEN' })).status).toBe(409);
  });

  it('403, 404 · secrets are refused without the scope secrets:read, which no preset has, and are hidden from another organization', async () => {
    const { id } = await create({ name: 'MINE' });
    expect((await world.rest('GET', '/secrets', { token: alice.token })).body.description).toContain('secrets:read');
    const theirs = await world.session(mallory.person, mallory.organization.id);
    expect((await world.rest('GET', `/secrets/${id}`, { session: theirs })).status).toBe(404);
    const body = { ...secret, scope: 'project', projectId };
    expect((await world.rest('POST', '/secrets', { session: theirs, body })).status).toBe(404);
  });
});
