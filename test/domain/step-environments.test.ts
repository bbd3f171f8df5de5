// The environment of a step as its runtime gets it, and what the runtime reports about it: connections and preparations.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { packageRegistries } from '#domain/projects/sandbox-templates/registries.ts';
import { connectionsPerRun } from '#domain/work/connections/bounds.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let alice: Account;
let projectId: string;
let runtime: Runtime;
let foreign: Runtime;
let mallory: Account;

beforeAll(async () => {
  world = await openWorld();
  mallory = await createOwner(world, 'Mallory', 'Globex');
  alice = await createOwner(world, 'Alice', 'Acme');
  projectId = await createProject(world, alice, 'Shop');
  runtime = await createRuntime(world, alice.organization);
  foreign = await createRuntime(world, mallory.organization);
});
afterAll(() => world.close());
beforeEach(() => world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' }));

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const graphql = async (query: string, variables: Record<string, unknown>, token = alice.token): Promise<Json> => {
  const { body } = await world.graphql(query, { token, variables });
  return body.errors ? body.errors[0].extensions.problem : Object.values(body.data)[0];
};
const environment = `environment { templateId templateName base image dockerfile setupScript variables { name value }
  secrets { name value hosts setupOnly } services { name image variables { name value } command healthCheck } setupNetwork { mode hosts } agentNetwork { mode hosts } memoryMb diskMb processes stepMinutes stepModelCalls stepTokens }`;
const held = async (): Promise<Json> => {
  world.clock.turn(1);
  await graphql('mutation ($p: String!) { startMission(projectId: $p, prompt: "Build it.") { id } }', { p: projectId });
  return runtime.claim({}, `{ runId leaseId step { stepId ${environment} } }`);
};
const ofRun = ({ runId, leaseId }: Json) => ({ runId, leaseId });

describe('environments of steps', () => {
  it('the environment of a step comes from the built-in template, which allows package registries', async () => {
    const { step } = await held();
    const network = { mode: 'packages', hosts: packageRegistries.flatMap(({ hosts }) => hosts) };
    expect(network.hosts).toContain('registry.npmjs.org');
    expect(step.environment).toEqual({
      templateId: 'standard',
      templateName: 'Standard',
      base: 'machine',
      image: null,
      dockerfile: expect.stringMatching(/^FROM /),
      setupScript: null,
      variables: [],
      secrets: [],
      services: [],
      setupNetwork: network,
      agentNetwork: network,
      memoryMb: 4_096,
      diskMb: null,
      processes: null,
      stepMinutes: null,
      stepModelCalls: null,
      stepTokens: null,
    });
  });
});

describe('network connections of steps', () => {
  const connection = { host: 'registry.example', port: 443, phase: 'agent', verdict: 'blocked', count: 1 };
  const rows = (runId: string) =>
    world.knex('connections').where({ runId }).orderBy(['host', 'verdict']).select('host', 'port', 'verdict', 'count');

  it('network connections are added up by host, port, phase and verdict; a repeated report changes nothing', async () => {
    const run = await held();
    const allowed = {
      ...connection,
      verdict: 'allowed',
      sentBytes: 10,
      receivedBytes: 5_000_000_000,
      programs: ['npm', 'git'],
    };
    const first = { ...ofRun(run), reportId: 'one', connections: [connection, allowed, connection] };
    expect(await runtime.ask('reportConnections', first)).toEqual({ ok: true });
    expect(await runtime.ask('reportConnections', first)).toEqual({ ok: true });
    expect(
      await runtime.ask('reportConnections', {
        ...first,
        reportId: 'two',
        connections: [{ ...allowed, programs: ['curl'] }],
      }),
    ).toEqual({
      ok: true,
    });
    const listed = await world.rest('GET', `/runs/${run.runId}/connections`, { token: alice.token });
    expect(listed.body.data).toMatchObject([
      { verdict: 'blocked', programs: [] },
      { verdict: 'allowed', receivedBytes: 10_000_000_000, programs: ['curl', 'git', 'npm'] },
    ]);
    const found = await world.knex('connections').where({ runId: run.runId }).orderBy('verdict');
    expect(found).toMatchObject([
      { verdict: 'allowed', count: 2, sentBytes: 20, receivedBytes: 10_000_000_000, templateId: 'standard' },
      { verdict: 'blocked', count: 2, sentBytes: 0, receivedBytes: 0 },
    ]);
  });

  it('network connections beyond the maximum of a run are counted together', async () => {
    const run = await held();
    for (let at = 0; at < connectionsPerRun + 100; at += 200) {
      const hosts = Array.from({ length: 200 }, (_, i) => ({ ...connection, host: `h${1_000 + at + i}.example` }));
      await runtime.ask('reportConnections', { ...ofRun(run), reportId: `r${at}`, connections: hosts });
    }
    const known = { ...connection, host: 'h1000.example' };
    await runtime.ask('reportConnections', { ...ofRun(run), reportId: 'last', connections: [known] });
    const found = await rows(run.runId);
    expect(found).toHaveLength(connectionsPerRun + 1);
    expect(found[0]).toEqual({ host: '*', port: 0, verdict: 'blocked', count: 100 });
    expect(found[1]).toMatchObject({ host: 'h1000.example', count: 2 });
  });

  it('409, 404, 400 · a report of network connections is refused if its lease is lost, if it comes from another organization, or if it has too many entries', async () => {
    const run = await held();
    const input = { ...ofRun(run), reportId: 'one', connections: [connection] };
    expect(await runtime.ask('reportConnections', { ...input, leaseId: 'lse_0' })).toMatchObject({
      code: 'lease_lost',
    });
    expect(await foreign.ask('reportConnections', input)).toMatchObject({ code: 'not_found' });
    const many = { ...input, connections: Array(201).fill(connection) };
    expect((await runtime.ask('reportConnections', many)).description).toContain('at most 200 entries');
    expect(await rows(run.runId)).toEqual([]);
  });
});

describe('hosts that were blocked', () => {
  const blocked = { host: 'api.example.com', port: 443, phase: 'agent', verdict: 'blocked', count: 3 };
  const asked = { host: 'api.example.com', port: 443, phase: 'agent' };
  const blockedIn = async (...connections: object[]): Promise<string> => {
    const run = await held();
    await runtime.ask('reportConnections', { ...ofRun(run), reportId: 'one', connections });
    return run.runId;
  };
  const allow = (runId: string, more: object = {}, { token } = alice) =>
    world.rest('POST', `/runs/${runId}/allowed-hosts`, { token, body: { ...asked, ...more } });
  const rest = (method: string, path: string, body?: object) => world.rest(method, path, { token: alice.token, body });
  const choose = (defaultSandboxTemplateId: string | null) =>
    rest('PATCH', `/projects/${projectId}`, { defaultSandboxTemplateId });
  const chosen = async () => (await rest('GET', `/projects/${projectId}`)).body.defaultSandboxTemplateId;
  const proposals = async (runId: string) => {
    const query = `query ($r: String!) { runConnections(runId: $r) { data { host recentRuns isAllowedNow template { name } } } }`;
    return (await graphql(query, { r: runId })).data;
  };

  it('a blocked host is allowed in a new template of the project, once for two concurrent requests', async () => {
    await choose(null);
    const other = { ...blocked, host: 'other.example.com', port: 8443 };
    const [runId, later] = [await blockedIn(blocked, other), await blockedIn(blocked)];
    expect(await proposals(runId)).toMatchObject([
      { host: 'api.example.com', recentRuns: 2, isAllowedNow: false, template: { name: 'Standard' } },
      { host: 'other.example.com', recentRuns: 1, isAllowedNow: false },
    ]);
    const presses = [allow(runId), allow(later), allow(runId, { host: other.host, port: other.port })];
    const answers = await Promise.all(presses);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.id))).toEqual(new Set([await chosen()]));
    const template = (await rest('GET', `/sandbox-templates/${await chosen()}`)).body;
    expect(template).toMatchObject({ name: 'Shop', setupNetwork: { mode: 'packages', hosts: [] } });
    expect(template.agentNetwork.mode).toBe('packages');
    expect(template.agentNetwork.hosts.toSorted()).toEqual(['api.example.com', 'other.example.com:8443']);
    expect(await proposals(runId)).toMatchObject([{ isAllowedNow: true, template: { name: 'Shop' } }, {}]);
    expect((await allow(runId)).body.updatedAt).toBe(template.updatedAt);
  });

  it('a request that allows a blocked host adds it to the template of its step; concurrent requests lose no host', async () => {
    const own = { name: 'Closed', agentNetwork: { mode: 'none', hosts: [] } };
    const { id } = (await rest('POST', '/sandbox-templates', own)).body;
    await choose(id);
    const hosts = Array.from({ length: 8 }, (_, n) => `h${n}.example.com`);
    const runId = await blockedIn(...hosts.map((host) => ({ ...blocked, host })), { ...blocked, phase: 'setup' });
    await choose(null);
    await Promise.all(hosts.map((host) => allow(runId, { host })));
    await allow(runId, { phase: 'setup' });
    const { body } = await rest('GET', `/sandbox-templates/${id}`);
    expect(body.agentNetwork.hosts.toSorted()).toEqual(hosts);
    expect(body).toMatchObject({ agentNetwork: { mode: 'custom' }, setupNetwork: { hosts: ['api.example.com'] } });
    expect(await chosen()).toBe(null);
  });

  it('400, 403, 404 · a host cannot be allowed if it was not blocked, if it is an IP address, if the token lacks a scope, or if the run belongs to another organization', async () => {
    await choose(null);
    const runId = await blockedIn({ ...blocked, host: '192.0.2.1' }, { ...blocked, verdict: 'failed' });
    const problem = 'host: must be a host that was blocked in the run, with its port and phase.';
    expect((await allow(runId)).body.description).toBe(problem);
    const address = await allow(runId, { host: '192.0.2.1' });
    expect(address.body.description).toBe('host: must be a host name, not an IP address.');
    const mine = await blockedIn(blocked);
    const scopes = ['agents:write', 'missions:read'] as const;
    const token = await world.token(alice.person, alice.organization, { scopes: [...scopes] });
    expect((await allow(mine, {}, { ...alice, token })).status).toBe(403);
    expect((await allow(mine, {}, mallory)).status).toBe(404);
    expect(await chosen()).toBe(null);
  });
});

describe('preparations of environments', () => {
  const rows = (runId: string) =>
    world.knex('preparations').where({ runId }).select('status', 'lastLines', 'notes', 'seconds');

  it('the preparation of an environment shows its latest report; a late report of its start changes nothing', async () => {
    const run = await held();
    const input = { ...ofRun(run), key: 'k1', templateId: 'standard', status: 'preparing' };
    expect(await runtime.ask('reportPreparation', input)).toEqual({ ok: true });
    const notes = ['devcontainer.json: features has no effect here.'];
    const failed = {
      ...input,
      status: 'failed',
      lastLines: 'npm error 404',
      notes,
      seconds: 2.5,
      commit: 'a'.repeat(40),
    };
    expect(await runtime.ask('reportPreparation', failed)).toEqual({ ok: true });
    await runtime.ask('reportPreparation', input);
    expect(await rows(run.runId)).toEqual([{ status: 'failed', lastLines: 'npm error 404', notes, seconds: 2.5 }]);
    expect(await runtime.ask('reportPreparation', { ...input, notes: Array(21).fill('x') })).toMatchObject({
      code: 'invalid_request',
    });
    const [row] = await world.knex('preparations').where({ runId: run.runId });
    expect(row).toMatchObject({ id: expect.stringMatching(/^pre_/), createdAt: present(), commit: 'a'.repeat(40) });
  });

  it('409 · a report about the preparation of an environment is refused if its lease is lost, or if its run already has the maximum number of preparations', async () => {
    const run = await held();
    const input = { ...ofRun(run), key: 'k', templateId: 'standard', status: 'ready' };
    expect(await runtime.ask('reportPreparation', { ...input, leaseId: 'lse_0' })).toMatchObject({
      code: 'lease_lost',
    });
    for (let n = 0; n < 50; n++) await runtime.ask('reportPreparation', { ...input, key: `k${n}` });
    expect((await runtime.ask('reportPreparation', { ...input, key: 'more' })).description).toContain('at most 50');
    expect(await rows(run.runId)).toHaveLength(50);
  });
});
