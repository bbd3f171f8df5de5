// The list of runs, filtered by origin, agent and time, alone and together, page by page.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { searchedRuns } from '#domain/work/runs/bounds.ts';
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

it('200 · filters are combined; runs are read page by page, with cursors of that filter only', async () => {
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

it('400 · an error names the invalid argument', async () => {
  for (const [query, description] of [
    [{ kind: 'weekly' }, 'kind: must be one of scheduled, manual.'],
    [{ createdFrom: 'yesterday' }, 'createdFrom: must be an integer.'],
  ] as const) {
    const { status, body } = await list(query);
    expect([status, body.description]).toEqual([400, description]);
  }
});

it('200 · GraphQL finds runs by text in their title or prompt, case-insensitive, among the newest', async () => {
  await world.knex('runs').where({ id: ids.second }).update({ missionTitle: 'Fix the Login page' });
  const found = async (search: string) => {
    const query = 'query ($search: String) { runs(search: $search) { data { id } } }';
    return (await world.graphql(query, { token: ada.token, variables: { search } })).body.data.runs.data;
  };
  expect(await found('login')).toEqual([{ id: ids.second }]);
  expect(await found('log%in')).toEqual([]);
  await world.knex('runs').where({ id: ids.first }).update({ prompt: 'Replace the LANTERN.' });
  expect(await found('lantern')).toEqual([{ id: ids.first }]);
  // As many newer runs as make the first one the last that is searched; then one more.
  const others = Number((await world.knex('runs').where({ projectId }).count())[0]!.count);
  const addNewer = (from: number, to: number) =>
    world.knex.raw(
      `insert into runs (id, org_id, project_id, kind, status, scheduled_for, created_at, updated_at)
       select 'run_filler_' || n, org_id, project_id, kind, 'completed', scheduled_for, created_at + 1000000 + n, updated_at
       from runs cross join generate_series(?::int, ?::int) n where id = ?`,
      [from, to, ids.first!],
    );
  await addNewer(1, searchedRuns - others);
  expect(await found('lantern')).toEqual([{ id: ids.first }]);
  await addNewer(searchedRuns, searchedRuns);
  expect(await found('lantern')).toEqual([]);
  await world.knex('runs').where('id', 'like', 'run_filler_%').delete();
});

it('200 · GraphQL takes the filters of REST', async () => {
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
