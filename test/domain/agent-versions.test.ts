// Versions of agents: every change is kept as a version, earlier versions can be restored, and a share of the missions can try another version.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from '#foundation/postgres/database.ts';
import { type Account, createCallers, createProject } from '../support/callers.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let stranger: Account;
let runtime: Runtime;
let projectId: string;
let agentId: string;

beforeAll(async () => {
  world = await openWorld();
  ({ owner, stranger } = await createCallers(world));
  await world.lift(owner.organization);
  projectId = await createProject(world, owner, 'Shop');
  runtime = await createRuntime(world, owner.organization);
  await runtime.claim({ harnesses: ['claude-code', 'codex'] });
  const sandbox = { kind: 'existing', templateId: 'standard' };
  const body = { name: 'Smith', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
  agentId = (await world.rest('POST', '/agents', { token: owner.token, body })).body.id;
});
afterAll(() => world.close());

const ask = (query: string, variables: object = {}, token = owner.token) =>
  world.field(query, { token, variables: { agentId, ...variables } });
const agent = () =>
  ask('query ($agentId: String!) { agent(agentId: $agentId) { model userPrompt version trialVersion trialPercent } }');
const change = (input: object, note?: string) =>
  ask(
    `mutation ($agentId: String!, $input: UpdateAgentRequest!, $note: String) {
      updateAgent(agentId: $agentId, input: $input, note: $note) { version } }`,
    { input, note },
  );
const restore = (number: number, token?: string) =>
  ask(
    'mutation ($agentId: String!, $number: Int!) { restoreAgentVersion(agentId: $agentId, number: $number) { version model } }',
    { number },
    token,
  );
const tryOut = (input: object) =>
  ask(
    `mutation ($agentId: String!, $input: StartAgentTrialRequest!) {
      startAgentTrial(agentId: $agentId, input: $input) { version trialVersion trialPercent } }`,
    { input },
  );
const endTrial = (promote: boolean) =>
  ask(
    `mutation ($agentId: String!, $promote: Boolean!) {
      endAgentTrial(agentId: $agentId, promote: $promote) { name version trialVersion model } }`,
    { promote },
  );
const versions = (token?: string) =>
  ask(
    'query ($agentId: String!) { agentVersions(agentId: $agentId) { data { number name model note author } } }',
    {},
    token,
  );

it('each change of an agent’s settings creates a version with its number, author and note; an unchanged update creates none', async () => {
  expect(await change({ model: 'claude-opus-4-5' }, 'Harder tasks.')).toEqual({ version: 2 });
  expect(await change({ model: 'claude-opus-4-5' })).toEqual({ version: 2 });
  expect(await restore(1)).toEqual({ version: 3, model: 'claude-sonnet-4-5' });
  const by = { name: 'Smith', author: 'Alice' };
  expect(await versions()).toEqual({
    data: [
      { number: 3, model: 'claude-sonnet-4-5', note: 'Version 1 again.', ...by },
      { number: 2, model: 'claude-opus-4-5', note: 'Harder tasks.', ...by },
      { number: 1, model: 'claude-sonnet-4-5', note: null, ...by },
    ],
  });
  expect(await restore(9)).toMatchObject({
    fields: [{ path: 'number', message: 'must be one of the versions of the agent: 9 is not' }],
  });
  expect(await restore(1, stranger.token)).toMatchObject({ code: 'not_found' });
  expect(await versions(stranger.token)).toMatchObject({ code: 'not_found' });
});

it('after an older release without agent versions has changed the settings of an agent, the next change first stores these settings as a version', async () => {
  await sql(`update agents set user_prompt = 'Old release' where id = $1`, [agentId]);
  expect(await change({ userPrompt: 'New release' })).toEqual({ version: 5 });
  const { data } = await versions();
  expect(data[1]).toMatchObject({ number: 4, author: null });
});

const start = async (): Promise<string> => {
  const query = `mutation ($projectId: String!, $agentId: String!) {
    startMission(projectId: $projectId, prompt: "Do it.", agentId: $agentId) { id } }`;
  return (await ask(query, { projectId })).id;
};
const missionWith = async (harnesses: string[]) => {
  const id = await start();
  const held = await runtime.claim({ harnesses }, '{ runId leaseId step { agent { model } } }');
  await runtime.finish(held);
  const { steps } = await ask(
    'query ($runId: String!) { run(runId: $runId) { steps { agentId agentVersion model } } }',
    { runId: id },
  );
  return steps[0];
};

it('the trial version of an agent is used by a share of the missions whose runtime supports it; once promoted, by all missions', async () => {
  expect(await tryOut({ percent: 99 })).toMatchObject({ fields: [{ path: 'number' }] });
  expect(await tryOut({ percent: 99, number: 5 })).toMatchObject({ fields: [{ path: 'number' }] });
  expect(await tryOut({ percent: 100, number: 2 })).toMatchObject({ fields: [{ path: 'percent' }] });
  const changes = { harness: 'codex', model: 'gpt-5.5' };
  expect(await tryOut({ percent: 99, changes })).toEqual({ version: 5, trialVersion: 6, trialPercent: 99 });
  const drawn = [];
  for (let i = 0; i < 6; i++) drawn.push((await missionWith(['claude-code', 'codex'])).agentVersion);
  expect(drawn.filter((number) => number === 6).length).toBeGreaterThanOrEqual(4);
  expect(await missionWith(['claude-code'])).toEqual({ agentId, agentVersion: 5, model: 'claude-sonnet-4-5' });
  expect(await change({ name: 'Wright' })).toEqual({ version: 7 });
  expect(await endTrial(true)).toEqual({ name: 'Wright', version: 8, trialVersion: null, model: 'gpt-5.5' });
  expect(await missionWith(['codex'])).toEqual({ agentId, agentVersion: 8, model: 'gpt-5.5' });
  expect(await endTrial(false)).toMatchObject({ code: 'conflict' });
  expect(await agent()).toMatchObject({ version: 8, trialVersion: null, trialPercent: null });
});

it('concurrent changes of an agent get different version numbers', async () => {
  const prompts = Array.from({ length: 8 }, (_, i) => `Prompt ${i} ${present()}`);
  const numbers = await Promise.all(prompts.map(async (userPrompt) => (await change({ userPrompt })).version));
  expect(numbers.toSorted((a, b) => a - b)).toEqual(prompts.map((_, i) => 9 + i));
});
