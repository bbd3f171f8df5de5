// The list of runs, filtered by origin, agent and time, alone and together, page by page.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { indexRunTexts, removeOldLogWords } from '#domain/work/runs/search.ts';
import { days, minutes } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { showFragments, startSandbox, writeMessages } from '../support/runtime-records.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let ada: Account;
let projectId: Id<'project'>;
let agentId: string;
/** Ids of runs by name. */
const ids: Record<string, string> = {};
const times: Record<string, number> = {};

beforeAll(async () => {
  world = await openWorld();
  ada = await createOwner(world, 'Ada', 'Acme');
  await world.lift(ada.organization);
  projectId = await createProject(world, ada, 'Shop');
  const body = {
    name: 'Ours',
    role: 'builder',
    harness: 'claude-code',
    model: 'claude-sonnet-4-5',
    sandbox: { kind: 'existing', templateId: 'standard' },
  };
  agentId = (await world.rest('POST', '/agents', { token: ada.token, body })).body.id;
  const query =
    'mutation ($p: String!, $a: String) { startMission(projectId: $p, prompt: "echo", agentId: $a) { id } }';
  for (const [name, agent, kind] of [
    ['first', null, 'manual'],
    ['second', agentId, 'manual'],
    ['third', agentId, 'scheduled'],
    ['fourth', null, 'scheduled'],
  ] as const) {
    world.clock.turn(1_000);
    const { body } = await world.graphql(query, { token: ada.token, variables: { p: projectId, a: agent } });
    ids[name] = body.data.startMission.id;
    times[name] = present();
    await world.knex('runs').where({ id: ids[name] }).update({ kind });
  }
});
afterAll(() => world.close());

const list = (query: Record<string, string | number>) =>
  world.rest('GET', `/runs?${new URLSearchParams(query as Record<string, string>)}`, { token: ada.token });
async function names(query: Record<string, string | number>): Promise<string[]> {
  const { status, body } = await list(query);
  expect(status).toBe(200);
  return body.data.map(({ id }: { id: string }) => Object.keys(ids).find((name) => ids[name] === id));
}

it('200 · runs are filtered by origin, by agent and by time', async () => {
  expect(await names({})).toEqual(['fourth', 'third', 'second', 'first']);
  expect(await names({ kind: 'manual' })).toEqual(['second', 'first']);
  expect(await names({ kind: 'scheduled' })).toEqual(['fourth', 'third']);
  expect(await names({ agentId })).toEqual(['third', 'second']);
  expect(await names({ agentId: 'agn_unknown' })).toEqual([]);
  expect(await names({ createdFrom: times.second! })).toEqual(['fourth', 'third', 'second']);
  expect(await names({ createdBefore: times.second! })).toEqual(['first']);
  expect(await names({ createdFrom: times.second!, createdBefore: times.fourth! })).toEqual(['third', 'second']);
});

it('200 · run filters can be combined; page cursors are valid only for their filter', async () => {
  const filter = { kind: 'scheduled', agentId, status: 'dispatching', projectId, createdFrom: times.first! };
  expect(await names(filter)).toEqual(['third']);
  const since = { createdFrom: times.second!, limit: 2 };
  const { nextCursor } = (await list(since)).body;
  expect(await names({ ...since, cursor: nextCursor })).toEqual(['second']);
  for (const other of [
    { limit: 2 },
    { ...since, createdFrom: times.first! },
    { ...since, createdBefore: times.fourth! },
  ]) {
    const { status, body } = await list({ ...other, cursor: nextCursor });
    expect([status, body.description]).toEqual([
      400,
      'cursor: must be the nextCursor of this list with the same filter.',
    ]);
  }
});

it('400 · an invalid filter of runs is named in the error', async () => {
  for (const [query, description] of [
    [{ kind: 'weekly' }, 'kind: must be one of scheduled, manual.'],
    [{ createdFrom: 'yesterday' }, 'createdFrom: must be an integer.'],
  ] as const) {
    const { status, body } = await list(query);
    expect([status, body.description]).toEqual([400, description]);
  }
});

describe('searching runs by words', () => {
  const found = async (search: string, token = ada.token): Promise<string[]> => {
    const query = 'query ($search: String) { runs(search: $search) { data { id } } }';
    const { data } = (await world.graphql(query, { token, variables: { search } })).body.data.runs;
    return data.map(({ id }: { id: string }) => id);
  };

  it('a search finds runs by words of their title or prompt, in any letter case and order, and by the beginning of a word', async () => {
    const of = {
      orgId: ada.organization.id,
      projectId,
      kind: 'manual',
      status: 'dispatching',
      issueId: 'iss_1',
      scheduledFor: 1,
    };
    const at = present();
    const [one, other] = [newId('run'), newId('run')];
    await world.knex('runs').insert([
      { ...of, id: one, missionTitle: 'Fix the Größe of src/login_page.ts', createdAt: at - 1, updatedAt: at },
      { ...of, id: other, missionTitle: 'Dates', prompt: 'Replace the LANTERN.', createdAt: at, updatedAt: at },
    ]);
    expect(await found('PAGE login')).toEqual([one]);
    expect(await found('größ')).toEqual([one]);
    expect(await found('lantern login')).toEqual([]);
    expect(await found("lant'rn | !x")).toEqual([]);
    expect(await found('lantern')).toEqual([other]);
    expect(await found('%')).toEqual([]);

    const message = { runId: other, seq: 0, kind: 'message', text: 'Use a torch.', author: 'Ada', createdAt: at };
    const { orgId } = of;
    await world.knex('run_messages').insert({ ...message, id: newId('runMessage'), orgId, projectId });
    const sandbox = await startSandbox({ orgId, projectId: projectId as never }, { runId: other });
    const call = { kind: 'action', toolUseId: 't1', action: 'Bash', parameter: 'npm test', result: 'Error: EQUUX' };
    await showFragments(sandbox, [call as never]);
    // The texts of an open run are indexed every two minutes.
    world.clock.turn(minutes(2));
    await indexRunTexts();
    expect(await found('torch')).toEqual([other]);
    expect(await found('equux lantern')).toEqual([other]);
    // A search in transcripts requires the scope sandboxes:read.
    const narrow = await world.token(ada.person, ada.organization, { scopes: ['missions:read'] });
    expect(await found('torch', narrow)).toEqual([other]);
    expect(await found('equux', narrow)).toEqual([]);
    const stranger = await createOwner(world, 'Eve', 'Globex');
    expect(await found('lantern', stranger.token)).toEqual([]);

    await world.knex('run_messages').update({ text: 'Use a lamp.' });
    await indexRunTexts();
    expect(await found('lamp')).toEqual([]);
    world.clock.turn(minutes(2));
    await world.knex('runs').whereIn('id', [one, other]).update({ status: 'completed', finishedAt: present() });
    await indexRunTexts();
    expect(await found('lamp')).toEqual([other]);
    world.clock.turn(days(15));
    await removeOldLogWords();
    expect(await found('equux')).toEqual([]);
    expect(await found('lamp')).toEqual([other]);
    await world.knex('runs').whereIn('id', [one, other]).delete();
  });
});

it('200 · GraphQL accepts the run filters of REST', async () => {
  const query = `{ runs(kind: manual, agentId: "${agentId}", createdBefore: ${times.third}) { data { id } } }`;
  const { body } = await world.graphql(query, { token: ada.token });
  expect(body.data.runs.data).toEqual([{ id: ids.second }]);
});

it('200 · runs that wait for a plan approval or for an answer are found by a filter', async () => {
  const of = { orgId: ada.organization.id, projectId };
  const runs = () => world.knex('runs');
  const read = async () => {
    const query = '{ runs(needsPerson: true) { data { id needs startedBy } } }';
    return (await world.graphql(query, { token: ada.token })).body.data.runs.data;
  };
  expect(await read()).toEqual([]);
  await runs().where({ id: ids.first }).update({ awaitsApproval: true, issueId: 'iss_1' });
  await runs()
    .where({ id: ids.fourth })
    .update({ status: 'running', leaseId: newId('lease'), leaseUntil: present() + 60_000 });
  const sandbox = await startSandbox(of, { runId: ids.fourth! });
  await showFragments(sandbox, [{ body: 'Hm' }, { kind: 'elicitation', body: 'Which one?' }]);
  expect(await read()).toEqual([
    { id: ids.fourth, needs: 'answer', startedBy: null },
    { id: ids.first, needs: 'approval', startedBy: 'Ada' },
  ]);
  expect(await names({ needsPerson: 'true', status: 'running' })).toEqual(['fourth']);
  world.clock.turn(1_000);
  await writeMessages(of, ids.fourth!, [
    { kind: 'answer', text: 'The second.', sandboxId: sandbox.id, fragmentSeq: 1 },
  ]);
  expect(await names({ needsPerson: 'true' })).toEqual(['first']);
});
