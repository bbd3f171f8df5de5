// Scheduled tasks and automations can name their agent in GraphQL and in the MCP tools, but not in REST, whose records keep the fields of
// the contract.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { schema } from '#schema.ts';
import { toolsOf } from '../../src/surfaces/mcp/tools.ts';
import { type Account, createCallers, createProject } from '../support/callers.ts';
import { startSandbox } from '../support/runtime-records.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let stranger: Account;
let projectId: string;

beforeAll(async () => {
  world = await openWorld();
  ({ owner, stranger } = await createCallers(world));
  projectId = await createProject(world, owner, 'Shop');
});
afterAll(() => world.close());

const trigger = { kind: 'schedule', schedule: { interval: 'daily', time: '18:00', timezone: 'UTC' } };
const task = (more: object = {}) => ({ projectId, name: 'Task', prompt: 'Do it.', triggers: [trigger], ...more });
const ask = async (query: string, variables: object, token = owner.token) => {
  const { body } = await world.graphql(query, { token, variables: variables as Record<string, unknown> });
  if (body.errors) return body.errors[0].extensions.problem;
  return Object.values(body.data as object)[0];
};
const create = (more: object, token?: string) =>
  ask(
    `mutation ($input: CreateScheduledTaskRequest!) { createScheduledTask(input: $input) { id agentId agent { name } } }`,
    { input: task(more) },
    token,
  );
const change = (id: string, input: object, token?: string) =>
  ask(
    `mutation ($id: String!, $input: UpdateScheduledTaskRequest!) { updateScheduledTask(id: $id, input: $input) {
      agentId updatedByUserId } }`,
    { id, input },
    token,
  );
let count = 0;
const agent = async ({ token } = owner): Promise<string> => {
  const sandbox = { kind: 'existing', templateId: 'standard' };
  const body = { name: `Agent ${++count}`, role: 'builder', harness: 'codex', model: 'gpt-5.5', sandbox };
  return (await world.rest('POST', '/agents', { token, body })).body.id;
};
const runsOf = (id: string) =>
  ask(`query ($id: String!) { scheduledTask(id: $id) { nextRunAt runs { id status reason } } }`, { id });

it('a recurring mission runs with the agent that it names, until its agent is set to null', async () => {
  const id = await agent();
  const created = await create({ agentId: id });
  expect(created).toEqual({ id: created.id, agentId: id, agent: { name: `Agent ${count}` } });
  world.clock.turn((await runsOf(created.id)).nextRunAt - present());
  await dispatchDue();
  const agentOf = async () => {
    const { runs } = await runsOf(created.id);
    return (await world.rest('GET', `/runs/${runs[0].id}`, { token: owner.token })).body.agentId;
  };
  expect(await agentOf()).toBe(id);
  expect(await change(created.id, { agentId: 'agn_builtin_shell' })).toMatchObject({ agentId: 'agn_builtin_shell' });
  expect(await change(created.id, { name: 'Renamed' })).toMatchObject({ agentId: 'agn_builtin_shell' });
  expect(await change(created.id, { agentId: null })).toMatchObject({ agentId: null });
  world.clock.turn(1);
  await world.rest('POST', `/scheduled-tasks/${created.id}/run`, { token: owner.token });
  expect(await agentOf()).toBeNull();
});

it('404 · a recurring mission cannot name an agent that is unknown or of another organization', async () => {
  const { id } = await create({});
  for (const agentId of [await agent(stranger), 'agn_nobody', 'agn_builtin_nobody']) {
    for (const refused of [await create({ agentId }), await change(id, { agentId })]) {
      expect(refused).toMatchObject({ code: 'not_found', description: 'No such agent.' });
    }
  }
});

it('403 · changing the agent of a recurring mission requires missions:run', async () => {
  const scopes = ['scheduled-tasks:read', 'scheduled-tasks:write'];
  const token = await world.token(owner.person, owner.organization, { scopes });
  const { id } = await create({});
  expect(await change(id, { agentId: 'agn_builtin_shell' }, token)).toMatchObject({ code: 'missing_scope' });
});

it('a recurring mission is skipped once its agent is deleted, and a manual run is refused with 409', async () => {
  const agentId = await agent();
  const { id } = await create({ agentId });
  await world.rest('DELETE', `/agents/${agentId}`, { token: owner.token });
  world.clock.turn((await runsOf(id)).nextRunAt - present());
  await dispatchDue();
  const reason = 'The agent of this mission was deleted.';
  expect((await runsOf(id)).runs).toMatchObject([{ status: 'skipped', reason }]);
  const { status, body } = await world.rest('POST', `/scheduled-tasks/${id}/run`, { token: owner.token });
  expect([status, body.description]).toEqual([409, reason]);
});

it('the agentId of a recurring mission is in the MCP tools, not in REST', async () => {
  for (const name of ['create_scheduled_task', 'update_scheduled_task', 'create_automation', 'update_automation']) {
    const { inputSchema, outputSchema } = toolsOf(schema).get(name)!.listed;
    expect(inputSchema.properties).toHaveProperty('agentId');
    expect(JSON.stringify(outputSchema)).toContain('"agentId"');
  }
  const body = task({ agentId: 'agn_nobody' });
  const created = await world.rest('POST', '/automations', { token: owner.token, body });
  expect(created.status).toBe(201);
  expect(created.body).not.toHaveProperty('agentId');
  const { body: openapi } = await world.request('GET', '/v1/openapi.json');
  for (const name of ['CreateScheduledTaskRequest', 'UpdateScheduledTaskRequest', 'ScheduledTask', 'Automation']) {
    expect(openapi.components.schemas[name].properties).not.toHaveProperty('agentId');
  }
});

it('the upgrade that lets recurring missions name an agent sets the shell agent for missions that ran as scripts, and no agent for others', async () => {
  const file = new URL('../../migrations/20261201_30_script_missions.sql', import.meta.url);
  const [, up] = readFileSync(file, 'utf8').split(/^-- (?:up|down)$/m);
  const ran = async (harness: string | null) => {
    const { id } = await create({});
    const { runId } = (await world.rest('POST', `/scheduled-tasks/${id}/run`, { token: owner.token })).body;
    if (harness)
      await startSandbox({ orgId: owner.organization.id, projectId: projectId as never }, { runId, harness } as object);
    world.clock.turn(1);
    return { id, runId };
  };
  const tasks = [await ran('shell'), await ran('claude-code'), await ran(null)];
  await world.knex.raw(up!);
  const agents = await Promise.all(
    tasks.map(async ({ id, runId }) => [
      (await world.knex('recurring_missions').where({ id }).first()).agentId,
      (await world.knex('runs').where({ id: runId }).first()).agentId,
    ]),
  );
  expect(agents).toEqual([
    ['agn_builtin_shell', 'agn_builtin_shell'],
    [null, null],
    [null, null],
  ]);
});
