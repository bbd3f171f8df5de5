// A person can start a mission that has no schedule. Such a start follows the same rules as a manual start of a recurring mission, and the
// agent that the person names works on the mission.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { cancelRunsOfDeletedAgents, explainWaits } from '#domain/work/runs/waiting.ts';
import { minutes } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { spend } from '../support/runtime-records.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let acme: Organization;
let alice: string;
let bound: string;
let reader: string;
let mallory: string;
let runtime: Runtime;
let projectId: Id<'project'>;
let other: string;

beforeAll(async () => {
  world = await openWorld();
  const owner = await createOwner(world, 'Alice', 'Acme');
  ({ organization: acme, token: alice } = owner);
  mallory = (await createOwner(world, 'Mallory', 'Globex')).token;
  [projectId, other] = [await createProject(world, owner, 'shop'), await createProject(world, owner, 'docs')];
  bound = await world.token(owner.person, acme, { projectId });
  reader = await world.token(owner.person, acme, { scopes: ['missions:read'] });
  runtime = await createRuntime(world, acme);
});
afterAll(() => world.close());
beforeEach(() => world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' }));

const starting = `mutation ($projectId: String!, $prompt: String!, $agentId: String, $issue: String) {
  run: startMission(projectId: $projectId, prompt: $prompt, agentId: $agentId, issue: $issue) {
    id projectId kind status missionTitle issueId issueUrl scheduledTaskId automationId issue { key title body }
  } }`;
async function start(more: object = {}, token = alice) {
  // Runs created in one millisecond are claimed in any order.
  world.clock.turn(1);
  const variables = { projectId, prompt: '# Fix the cart\n\nIt loses items.', ...more };
  const { body } = await world.graphql(starting, { token, variables });
  return { run: body.data?.run, problem: body.errors?.[0].extensions.problem };
}
const refused = async (...given: Parameters<typeof start>) => {
  const { problem } = await start(...given);
  return [problem?.code, problem?.description];
};
const claim = (harness = 'claude-code') =>
  runtime.claim(
    { runtime: harness, harnesses: [harness] },
    '{ runId prompt missionTitle issueId agent { agentId name } }',
  );
const agent = async (name: string, harness: string, model: string) => {
  const body = { name, role: 'builder', harness, model, sandbox: { kind: 'existing', templateId: 'standard' } };
  return (await world.rest('POST', '/agents', { token: alice, body })).body.id as string;
};

describe('missions without a schedule', () => {
  it('a mission gets an issue, is claimed with its prompt, and belongs to no recurring mission', async () => {
    const { run } = await start();
    expect(run).toEqual({
      id: expect.stringMatching(/^run_/),
      projectId,
      kind: 'manual',
      status: 'dispatching',
      missionTitle: 'Fix the cart',
      issueId: expect.stringMatching(/^iss_/),
      issueUrl: `${world.url}/console/o/acme/issues/${run.issueId}`,
      scheduledTaskId: null,
      automationId: null,
      issue: { key: 'SHOP-1', title: 'Fix the cart', body: '# Fix the cart\n\nIt loses items.' },
    });
    expect(await claim()).toMatchObject({
      runId: run.id,
      prompt: '# Fix the cart\n\nIt loses items.',
      missionTitle: 'Fix the cart',
      agent: { agentId: null, name: 'Builder' },
    });
  });

  it('REST starts a mission once per Idempotency-Key, steers it, and returns its messages, steps and issue', async () => {
    const headers = { 'idempotency-key': 'first' };
    const body = { projectId, prompt: 'Fix the cart.', agentId: null, budgetUsd: 2.5 };
    const post = (path: string, more: object) => world.rest('POST', path, { token: alice, ...more });
    const [first, second] = [await post('/runs', { body, headers }), await post('/runs', { body, headers })];
    expect([first.status, first.body.status, first.body.budgetUsd]).toEqual([201, 'dispatching', 2.5]);
    expect([second.body, second.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    expect((await post('/runs', { body: { ...body, prompt: 'Other.' }, headers })).status).toBe(422);
    const run = `/runs/${first.body.id}`;
    const said = await post(`${run}/messages`, { body: { text: 'Use UTC.', messageId: 'm1' } });
    expect([said.status, said.body.kind, said.body.author]).toEqual([201, 'message', 'Alice']);
    expect((await post(`${run}/messages`, { body: { text: 'Use UTC.', messageId: 'm1' } })).body).toEqual(said.body);
    expect((await post(`${run}/interruption`, {})).body.interruptedAt).toEqual(expect.any(Number));
    expect((await post(`${run}/resumption`, {})).body.interruptedAt).toBe(null);
    expect([
      (await post(`${run}/approval`, {})).status,
      (await post(`${run}/continuation`, { body: { prompt: 'Go' } })).status,
    ]).toEqual([409, 409]);
    const get = async (path: string, token = reader) => (await world.rest('GET', path, { token })).body;
    expect((await get(`${run}/messages`)).data.map(({ kind }: { kind: string }) => kind)).toEqual([
      'message',
      'interrupt',
      'resume',
    ]);
    expect(await get(`${run}/steps`)).toEqual({ data: [] });
    expect(await get(`/issues/${first.body.issueId}`)).toMatchObject({ title: 'Fix the cart.', runId: first.body.id });
    expect((await world.rest('POST', '/runs', { token: reader, body })).body.code).toBe('missing_scope');
    expect((await world.rest('POST', '/runs', { token: alice, body: [] })).status).toBe(400);
  });

  it('each of three concurrent requests starts a mission of its own', async () => {
    const runs = await Promise.all([start(), start(), start()]);
    expect(new Set(runs.map(({ run }) => run.issueId)).size).toBe(3);
  });

  it('a mission works on an existing issue, named by its id or its key', async () => {
    const { run } = await start();
    const again = await start({ issue: run.issueId });
    const named = await start({ issue: run.issue.key.toLowerCase(), prompt: 'Look again' });
    expect([again.run.issueId, named.run.issueId]).toEqual([run.issueId, run.issueId]);
    expect(await claim()).toMatchObject({ runId: run.id });
    expect(await claim()).toMatchObject({ runId: again.run.id, issueId: run.issueId });
    // The issue is quoted to the agent, between marks that the author of the issue could not know.
    const { step } = await runtime.claim({ harnesses: ['claude-code'] }, '{ runId step { prompt } }');
    const quoted =
      /^Look again\n\n# The issue\n\n[^\n]+quoted[^\n]+\n\n<(issue-[0-9a-f]{16})>\nTitle: Fix the cart\n\n# Fix the cart\n\nIt loses items.\n<\/\1>$/;
    expect(step.prompt).toMatch(quoted);
    // A script is exactly the text that a person wrote, without the text of the issue.
    await start({ issue: run.issueId, prompt: 'echo hi', agentId: 'agn_builtin_shell' });
    const script = await runtime.claim({ harnesses: ['shell'] }, '{ step { prompt } }');
    expect(script.step.prompt).toBe('echo hi');
    expect(await refused({ issue: 'SHOP-999' })).toEqual(['not_found', 'No such issue.']);
    expect(await refused({ issue: run.issueId, projectId: other })).toEqual(['not_found', 'No such issue.']);
  });

  it('another process creates the issue of a mission when the first process died before it created the issue', async () => {
    const { run } = await start();
    await world.knex('issues').where({ id: run.issueId }).delete();
    await world.knex('runs').where({ id: run.id }).update({ issueId: null, issueUrl: null, leaseUntil: 0 });
    await dispatchDue();
    expect(await claim()).toMatchObject({ runId: run.id, issueId: expect.stringMatching(/^iss_/) });
  });

  it('a mission gets a title from any prompt', async () => {
    const titles = [];
    for (const prompt of ['\n\n## ', 'x'.repeat(200), `${'x'.repeat(118)}\u{1f600}\u{1f600}`, '  two\r\nlines']) {
      titles.push((await start({ prompt })).run.missionTitle);
    }
    expect(titles).toEqual(['Mission', `${'x'.repeat(119)}…`, `${'x'.repeat(118)}…`, 'two']);
  });
});

describe('the agent that a mission names', () => {
  it('a mission that names an agent is claimed only for that agent', async () => {
    const codex = await agent('Cody', 'codex', 'gpt-5.5');
    const [own, builtin] = [await start({ agentId: codex }), await start({ agentId: 'agn_builtin_shell' })];
    expect(await claim()).toBeNull();
    expect(await claim('shell')).toMatchObject({ runId: builtin.run.id, agent: { name: 'Script', agentId: null } });
    expect(await claim('codex')).toMatchObject({ runId: own.run.id, agent: { name: 'Cody', agentId: codex } });
  });

  it('a waiting mission shows that no runtime has the harness of its agent', async () => {
    const { run } = await start({ agentId: await agent('Opie', 'opencode', 'gpt-5.1') });
    const { run: any } = await start();
    await claim('opencode');
    world.clock.turn(minutes(5));
    await explainWaits();
    const rows = await world.knex('runs').whereIn('id', [run.id, any.id]).select('id', 'status', 'reason');
    expect(rows.find(({ id }) => id === run.id)).toMatchObject({ status: 'running' });
    const { run: second } = await start({ agentId: await agent('Clyde', 'claude-code', 'claude-sonnet-4-5') });
    await explainWaits();
    expect((await world.knex('runs').where({ id: second.id }).first()).reason).toBe(
      'No runtime with the harness claude-code is connected.',
    );
  });

  it('a waiting mission is canceled when its agent is deleted', async () => {
    const id = await agent('Gone', 'codex', 'gpt-5.5');
    const { run } = await start({ agentId: id });
    const { run: builtin } = await start({ agentId: 'agn_builtin_planner' });
    await world.rest('DELETE', `/agents/${id}`, { token: alice });
    await cancelRunsOfDeletedAgents();
    expect((await world.knex('runs').where({ id: builtin.id }).first()).status).toBe('dispatching');
    expect(await world.knex('runs').where({ id: run.id }).first()).toMatchObject({
      status: 'canceled',
      reason: 'The agent of the run was deleted.',
    });
  });

  it('a mission cannot name an agent that is unknown or belongs to another organization', async () => {
    const body = {
      name: 'X',
      role: 'qa',
      harness: 'codex',
      model: 'gpt-5.5',
      sandbox: { kind: 'existing', templateId: 'standard' },
    };
    const { id } = (await world.rest('POST', '/agents', { token: mallory, body })).body;
    for (const agentId of [id, 'agn_nobody', 'agn_builtin_nobody']) {
      expect(await refused({ agentId })).toEqual(['not_found', 'No such agent.']);
    }
  });
});

describe('refused starts of missions', () => {
  it('a refused start names the missing scope, the unknown project or the invalid prompt', async () => {
    expect(await refused({}, reader)).toEqual(['missing_scope', expect.stringContaining('missing-scope:missions:run')]);
    expect(await refused({}, mallory)).toEqual(['not_found', 'No such project.']);
    expect(await refused({ projectId: other }, bound)).toEqual(['not_found', 'No such project.']);
    expect(await refused({ prompt: '' })).toEqual(['invalid_request', 'prompt: must be at least 1 character.']);
    expect(await refused({ prompt: 'x'.repeat(20_001) })).toEqual([
      'invalid_request',
      'prompt: must be at most 20000 characters.',
    ]);
    expect((await start({}, bound)).run.status).toBe('dispatching');
  });

  it('a mission does not start on a paused project, nor once the daily cost cap is reached', async () => {
    await world.rest('PATCH', `/projects/${other}`, { token: alice, body: { status: 'paused' } });
    expect(await refused({ projectId: other })).toEqual([
      'conflict',
      'The project is paused: no mission starts on it.',
    ]);
    await spend({ orgId: acme.id, projectId }, 100);
    const before = await world.knex('runs').count().first();
    expect(await refused()).toEqual(['daily_cost_cap', expect.stringContaining('The daily cost cap of 100 USD')]);
    expect(await world.knex('runs').count().first()).toEqual(before);
  });
});
