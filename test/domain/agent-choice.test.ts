// The choice of a run's agents: the orchestrator's model is asked once, outside every transaction, and its answer is checked against the
// organization's agents; without a usable answer, agents are chosen by role and harness. The reason is recorded.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { answersSettled } from '#domain/execution/mission-steps/agent-choice.ts';
import { readChoice } from '#domain/execution/mission-steps/agent-question.ts';
import { replaceCredentials, revokeCredentials } from '#domain/projects/integrations/operations.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { explainWaits } from '#domain/work/runs/waiting.ts';
import { seconds } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { startModels } from '../support/stand-in-models.ts';
import { knownRuntime, openWorld, type World } from '../support/world.ts';

let world: World;
let models: Awaited<ReturnType<typeof startModels>>;
let alice: Account;
let projectId: string;
let runtime: Runtime;
/** A stand-in for a model vendor: the test decides when it answers. */
let slow: Server;
const held: ServerResponse[] = [];

beforeAll(async () => {
  [world, models] = await Promise.all([openWorld(), startModels()]);
  openOutbound({ allowLoopback: true });
  alice = await createOwner(world, 'Alice', 'Acme');
  await world.lift(alice.organization);
  projectId = await createProject(world, alice, 'Shop');
  runtime = await createRuntime(world, alice.organization);
  slow = createServer((request, response) => {
    held.push(response);
    request.resume();
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  openOutbound({ allowLoopback: false });
  slow.closeAllConnections();
  slow.close();
  await answersSettled();
  await Promise.all([world.close(), models.close()]);
});
let ids: Record<string, string> = {};
let connectorId: string;
let named = 0;

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;
const graphql = (query: string, variables: Record<string, unknown>): Promise<Json> =>
  world.field(query, { token: alice.token, variables });
const agent = async (role: string, harness = 'claude-code', model = 'claude-sonnet-4-5') => {
  const body = {
    name: `${role} ${++named}`,
    role,
    harness,
    model,
    sandbox: { kind: 'existing', templateId: 'standard' },
  };
  world.clock.turn(1);
  return (await world.rest('POST', '/agents', { token: alice.token, body })).body.id as string;
};
/** Changes the row directly: a request would make the service ask the vendor whether the key is usable. */
const change = (settings: object) =>
  world
    .knex('orchestrators')
    .insert({ orgId: alice.organization.id, inferenceEnabled: true, planApproval: false, updatedAt: 0, ...settings })
    .onConflict('orgId')
    .merge(settings);
const connect = async (vendor: 'anthropic' | 'openai', baseUrl: string, more: object = {}) => {
  const { id: orgId } = alice.organization;
  const connector = { orgId, vendor, vendorKind: 'llm', displayName: vendor, credentials: 'sk-key', baseUrl } as const;
  const { id } = await connectIntegration(connector);
  await change({ llmConnectorId: id, model: null, ...more });
  return id;
};
beforeEach(async () => {
  await answersSettled();
  await world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' });
  await world.knex('projects').update({ llmConnectorId: null });
  await world.knex('runtime_harnesses').whereNot({ runtime: knownRuntime }).delete();
  for (const table of ['orchestrators', 'agents', 'integrations']) await world.knex(table).delete();
  models.seen.length = held.length = 0;
  models.settings.key = null;
  connectorId = await connect('anthropic', models.url);
  ids = {};
  for (const role of ['planner', 'builder', 'reviewer', 'qa', 'researcher']) ids[role] = await agent(role);
  ids.other = await agent('builder');
});

const answering = (...steps: object[]) => `Work. <script>${JSON.stringify(steps)}</script>`;
const choosing = (...agents: string[]) => answering({ json: { agents, reason: 'They fit.' } });
const start = async (prompt: string, more: object = {}): Promise<string> => {
  world.clock.turn(1);
  const query = `mutation ($projectId: String!, $prompt: String!, $agentId: String, $budgetUsd: Float) {
    startMission(projectId: $projectId, prompt: $prompt, agentId: $agentId, budgetUsd: $budgetUsd) { id } }`;
  return (await graphql(query, { projectId, prompt, ...more })).id;
};
const claim = (harnesses = ['claude-code'], name = 'Runtime'): Promise<Json> =>
  runtime.claim({ runtime: name, harnesses }, '{ runId leaseId step { role agent { agentId } } }');
const look = (runId: string): Promise<Json> =>
  graphql(
    `query ($runId: String!) { run(runId: $runId) { status reason missionActivity missionCostUsd missionCostIncomplete agentChoice {
      way reason askedAt model agentIds inputTokens cachedInputTokens outputTokens costUsd } } }`,
    { runId },
  );
/** Claims a run twice: after the first claim the model is asked, and the second claim uses the model's answer. */
const claimed = async () => {
  expect(await claim()).toBeNull();
  await answersSettled();
  return claim();
};

describe('choice of agents by the orchestrator’s model', () => {
  it('the orchestrator’s model is asked once, with structured output; its answer sets the team, and the mission pays for its tokens', async () => {
    const runId = await start(choosing(ids.other!, ids.planner!));
    expect(await claim()).toBeNull();
    await answersSettled();
    expect(await claim()).toMatchObject({ runId, step: { role: 'planner', agent: { agentId: ids.planner } } });
    expect(await look(runId)).toMatchObject({
      missionCostUsd: 0.00735,
      missionCostIncomplete: false,
      agentChoice: {
        way: 'model',
        reason: 'They fit.',
        askedAt: expect.any(Number),
        model: 'claude-opus-4-5',
        agentIds: [ids.other, ids.planner],
        inputTokens: 1_200,
        cachedInputTokens: 200,
        outputTokens: 50,
        costUsd: 0.00735,
      },
    });
    const { team } = await world.knex('runs').where({ id: runId }).first();
    expect(team.map(({ agentId }: Json) => agentId)).toEqual([ids.planner, ids.other]);
    expect(models.seen).toHaveLength(1);
    const [{ path, headers, body }] = models.seen as [Json];
    expect([path, headers['x-api-key'], body.tool_choice]).toEqual([
      '/v1/messages',
      'sk-key',
      { type: 'tool', name: 'choose_agents' },
    ]);
    for (const id of Object.values(ids)) expect(body.messages[0].content).toContain(id);
  });

  it('OpenAI and compatible servers get the question with a JSON schema', async () => {
    await connect('openai', `${models.url}/v1`, { model: 'gpt-5-mini' });
    const runId = await start(choosing(ids.researcher!));
    expect(await claimed()).toMatchObject({ step: { role: 'researcher' } });
    expect(await look(runId)).toMatchObject({
      agentChoice: { way: 'model', model: 'gpt-5-mini', inputTokens: 1_000, cachedInputTokens: 200, outputTokens: 50 },
    });
    const [{ path, body }] = models.seen as [Json];
    expect([path, body.response_format.json_schema.strict]).toEqual(['/v1/chat/completions', true]);
  });

  it('a mission waits for another runtime when the model chose an agent that only that runtime executes', async () => {
    const codex = await agent('builder', 'codex', 'gpt-5.5');
    await claim(['codex'], 'Other');
    await start(choosing(codex));
    expect(await claimed()).toBeNull();
    expect(await claim(['codex'], 'Other')).toMatchObject({ step: { agent: { agentId: codex } } });
  });

  it.each<[why: string, steps: object[], cost: number]>([
    [
      'The model chose an agent that the organization does not have.',
      [{ json: { agents: ['agn_x'], reason: '' } }],
      0.00735,
    ],
    ['The model did not answer in the requested form.', [{ json: { agents: [] } }], 0.00735],
    ['The model did not answer in the requested form.', [{ say: 'I would take the builder.' }], 0.00735],
    [
      'Anthropic refused the question (status 529).',
      [{ fail: { status: 529, type: 'overloaded', message: 'busy' } }],
      0,
    ],
    ['Anthropic refused the question (status 400).', [{ fail: { status: 400, type: 'x', message: 'no' } }], 0],
  ])('the built-in rules choose the agents when the model fails: %s', async (why, steps, cost) => {
    const runId = await start(answering(...steps));
    expect(await claimed()).toMatchObject({ step: { agent: { agentId: ids.planner } } });
    const run = await look(runId);
    expect(run).toMatchObject({ agentChoice: { way: 'rules', reason: why, agentIds: [], costUsd: cost } });
    expect(run).toMatchObject({ missionCostUsd: cost, missionCostIncomplete: false });
    expect(models.seen).toHaveLength(1);
  });

  it('the orchestrator’s model is not asked when the question could cost more than the budget of the mission', async () => {
    const runId = await start(choosing(ids.other!), { budgetUsd: 0.05 });
    expect(await claim()).toMatchObject({ runId, step: { agent: { agentId: ids.planner } } });
    const reason = 'The limits of the mission leave too little to ask the model.';
    expect(await look(runId)).toMatchObject({ missionCostUsd: 0, agentChoice: { way: 'rules', reason } });
    expect(models.seen).toHaveLength(0);
  });

  it('the built-in rules choose the agents when the model’s key is rejected; the connector shows the rejection', async () => {
    models.settings.key = 'sk-other';
    const runId = await start(choosing(ids.other!));
    expect(await claimed()).toMatchObject({ step: { agent: { agentId: ids.planner } } });
    expect(await look(runId)).toMatchObject({
      agentChoice: { way: 'rules', reason: 'Anthropic refused the question (status 401).' },
    });
    expect((await world.knex('integrations').where({ id: connectorId }).first()).brokenSince).not.toBeNull();
  });

  it('the built-in rules choose the agents when the chosen agent is deleted before the claim', async () => {
    const runId = await start(choosing(ids.other!));
    expect(await claim()).toBeNull();
    await answersSettled();
    await world.knex('agents').where({ id: ids.other }).delete();
    expect(await claim()).toMatchObject({ step: { agent: { agentId: ids.planner } } });
    expect((await look(runId)).agentChoice).toMatchObject({
      way: 'rules',
      reason: 'An agent that the model has chosen no longer exists.',
    });
  });
});

describe('when the orchestrator’s model is asked', () => {
  const unasked = async (why: string, more: object = {}) => {
    const runId = await start(choosing(ids.other!), more);
    expect(await claim()).toMatchObject({ runId });
    const { agentChoice } = await look(runId);
    expect(agentChoice).toMatchObject({ way: 'rules', reason: why, askedAt: null, model: null, inputTokens: null });
    expect(models.seen).toEqual([]);
  };
  it('the orchestrator’s model is not asked when inference is off, its key is missing or there is no choice, and the run shows the reason', async () => {
    await unasked('The mission names its agent.', { agentId: ids.qa });
    await change({ inferenceEnabled: false });
    await unasked('The orchestrator is not allowed to ask its model, because inferenceEnabled is false.');
    await change({ inferenceEnabled: true, model: 'gpt-5.1' });
    await unasked('The model connector of the orchestrator has no key for its model.');
    await change({ model: null });
    await revokeCredentials(connectorId);
    await unasked('The model connector of the orchestrator has no key for its model.');
    await replaceCredentials(connectorId, 'sk-key');
    await change({ llmConnectorId: null });
    await unasked('The orchestrator has no model connector.');
    await change({ llmConnectorId: connectorId });
    await world.knex('agents').whereNot({ id: ids.builder }).delete();
    await unasked('The organization has fewer than two agents of its own to choose from.');
  });
});

describe('slow answers of the orchestrator’s model', () => {
  const address = () => `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  /** Answers the first of the held requests. */
  async function answer(...agents: string[]): Promise<void> {
    const usage = { input_tokens: 1_000, output_tokens: 100 };
    const content = [{ type: 'tool_use', name: 'choose_agents', input: { agents, reason: 'They fit.' } }];
    held[0]!.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ content, usage }));
    await answersSettled();
  }

  it('the orchestrator’s model is asked once for concurrent claims', async () => {
    await connect('anthropic', address());
    const runId = await start('Work.');
    const claimAtOnce = () => Promise.all([1, 2, 3, 4].map((n) => claim(['claude-code'], `Runtime ${n}`)));
    expect(await claimAtOnce()).toEqual([null, null, null, null]);
    await vi.waitUntil(() => held.length > 0);
    await answer(ids.builder!);
    expect((await claimAtOnce()).filter(Boolean)).toMatchObject([{ runId, step: { agent: { agentId: ids.builder } } }]);
    expect(held).toHaveLength(1);
  });

  it('a slow answer delays only the run that waits for it, for half a minute at most; a late answer is still charged', async () => {
    await connect('anthropic', address());
    const slowRun = await start('Work.');
    const other = await start('Work.', { agentId: ids.qa });
    expect(await claim()).toMatchObject({ runId: other });
    await vi.waitUntil(() => held.length === 1);
    expect(await claim()).toBeNull();
    const locks = await world.knex.raw(
      `select 1 from pg_stat_activity where state = 'idle in transaction' and datname = current_database()`,
    );
    expect(locks.rows).toEqual([]);
    await explainWaits();
    expect(await look(slowRun)).toMatchObject({
      status: 'dispatching',
      reason: 'The orchestrator’s model is choosing agents for the task.',
      missionActivity: 'Choosing the agents',
    });
    world.clock.turn(seconds(30) - 1);
    expect(await claim()).toBeNull();
    world.clock.turn(1);
    // The second claim no longer waits for the answer, because the process that asked the model may have ended.
    expect(await claim()).toMatchObject({ runId: slowRun, step: { agent: { agentId: ids.planner } } });
    const late = { way: 'rules', reason: 'The model did not answer in time.' };
    expect(await look(slowRun)).toMatchObject({ missionCostIncomplete: true, agentChoice: { ...late, costUsd: 0 } });
    await answer(ids.other!);
    expect(await look(slowRun)).toMatchObject({ missionCostUsd: 0.0075, agentChoice: { ...late, costUsd: 0.0075 } });
    expect(held).toHaveLength(1);
  });

  it('the built-in rules choose the agents at once when the model’s server disconnects; the cost of the question is then unknown', async () => {
    await connect('anthropic', address());
    const runId = await start('Work.');
    expect(await claim()).toBeNull();
    await vi.waitUntil(() => held.length === 1);
    held[0]!.destroy();
    await answersSettled();
    expect(await claim()).toMatchObject({ runId });
    expect(await look(runId)).toMatchObject({
      missionCostIncomplete: true,
      agentChoice: { way: 'rules', reason: 'Anthropic is unreachable.', inputTokens: null },
    });
  });
});

describe('answers of the orchestrator’s model', () => {
  const known = ['planner', 'builder', 'builder', 'researcher'].map((role, n) => ({ id: `a${n}`, role }) as never);

  it.each<[unknown, unknown]>([
    [
      { agents: ['a1', 'a0', 'a1'], reason: ' Good\0. ' },
      { agentIds: ['a1', 'a0'], reason: 'Good.' },
    ],
    [
      { agents: ['a3'], reason: '' },
      { agentIds: ['a3'], reason: 'The model gave no reason.' },
    ],
    [
      { agents: ['a1', 'a2'], reason: '' },
      { failure: 'The model chose agents that do not form a team: builder, builder.' },
    ],
    [
      { agents: ['a0', 'a3'], reason: '' },
      { failure: 'The model chose agents that do not form a team: planner, researcher.' },
    ],
    [
      { agents: ['a1', 'a9'], reason: '' },
      { failure: 'The model chose an agent that the organization does not have.' },
    ],
    [{ agents: 'a1', reason: '' }, { failure: 'The model did not answer in the requested form.' }],
  ])('a choice of agents is checked against the known agents: %j', (value, read) =>
    expect(readChoice(value, known)).toEqual(read),
  );
});
