// Counts of missions in groups, such as one group for each person. Views of the list of missions that a person saves.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '#foundation/ids.ts';
import { type Account, createMember, createOwner, createProject } from '../support/callers.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let ada: Account;
let bob: Account;
const projects: string[] = [];
const runs: string[] = [];

beforeAll(async () => {
  world = await openWorld();
  ada = await createOwner(world, 'Ada', 'Acme');
  bob = await createMember(world, ada.organization, 'Bob', 'member');
  for (const name of ['Shop', 'Docs']) projects.push(await createProject(world, ada, name));
  for (const [n, [project, person, status]] of (
    [
      [0, ada, 'completed'],
      [0, bob, 'completed'],
      [0, null, 'failed'],
      [1, bob, 'failed'],
      [1, bob, 'skipped'],
    ] as const
  ).entries()) {
    const id = newId('run');
    runs.push(id);
    await world.knex('runs').insert({
      ...{ id, orgId: ada.organization.id, projectId: projects[project], kind: 'manual', status, scheduledFor: 1 },
      ...{ missionTitle: n < 2 ? 'Fix it' : 'Other', createdAt: present() + n, updatedAt: 1 },
      ...{ billingActorUserId: person?.person.id ?? null },
    });
  }
});
afterAll(() => world.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
const ask = (query: string, by: Account = ada, variables: Record<string, unknown> = {}): Promise<any> =>
  world.field(query, { token: by.token, variables });

it('missions are counted in groups by status, project and person, within the filters and what the caller may see', async () => {
  const groups = async (args: string, by?: Account) =>
    (await ask(`{ runGroups(${args}) { data { key name count } } }`, by)).data.map(Object.values);
  expect(await groups('by: status')).toEqual([
    ['completed', null, 2],
    ['failed', null, 2],
    ['skipped', null, 1],
  ]);
  expect(await groups('by: project')).toEqual([
    [projects[0], 'Shop', 3],
    [projects[1], 'Docs', 2],
  ]);
  expect(await groups('by: person')).toEqual([
    [bob.person.id, 'Bob', 3],
    [ada.person.id, 'Ada', 1],
    [null, null, 1],
  ]);
  expect(await groups(`by: agent, projectId: "${projects[0]}", search: "fix"`)).toEqual([[null, null, 2]]);
  expect(await groups('by: status, createdFrom: 9999999999999')).toEqual([]);
  const narrow = await world.token(ada.person, ada.organization, { projectId: projects[1]! });
  expect(await groups('by: project', { ...ada, token: narrow })).toEqual([[projects[1], 'Docs', 2]]);
  const eve = await createOwner(world, 'Eve', 'Globex');
  expect(await groups('by: status', eve)).toEqual([]);
  const ofPerson = async (personId: string) =>
    (await ask(`{ runs(personId: "${personId}") { data { id personId personName } } }`)).data;
  expect(await ofPerson('none')).toEqual([{ id: runs[2], personId: null, personName: null }]);
  expect(await ofPerson(ada.person.id)).toEqual([{ id: runs[0], personId: ada.person.id, personName: 'Ada' }]);
});

it('a person saves, changes and deletes views of the list of missions; each view of a person has a different name and is hidden from other people', async () => {
  const fields = '{ id name layout groupBy filters { search projectId status agentId personId kind needsPerson } }';
  const create = `mutation ($input: MissionViewRequest!) { createMissionView(input: $input) ${fields} }`;
  const list = async (by: Account) => (await ask(`{ missionViews { views ${fields} } }`, by)).views;
  const none = { search: null, projectId: null, agentId: null, personId: null, kind: null, needsPerson: null };
  const input = { name: 'Failed', layout: 'list', groupBy: 'agent', filters: { status: 'failed' } };
  const view = await ask(create, ada, { input });
  expect(view).toEqual({ id: expect.stringMatching(/^viw_/), ...input, filters: { ...none, status: 'failed' } });
  const twice = await Promise.all([0, 1].map(() => ask(create, bob, { input: { ...input, name: 'failed' } })));
  expect(twice.map(({ description }) => description ?? null).sort()).toEqual(
    [null, 'name: is already the name of another of your views.'].sort(),
  );
  expect(await list(ada)).toEqual([view]);
  const update = `mutation ($id: String!, $input: MissionViewRequest!) { updateMissionView(viewId: $id, input: $input) ${fields} }`;
  const board = { name: 'Mine', layout: 'board', filters: { personId: ada.person.id, needsPerson: true } };
  const changed = await ask(update, ada, { id: view.id, input: board });
  expect(changed).toMatchObject({ ...board, groupBy: null, filters: { ...none, ...board.filters, status: null } });
  expect(await ask(update, bob, { id: view.id, input: board })).toMatchObject({ title: 'Not found' });
  const remove = 'mutation ($id: String!) { deleteMissionView(viewId: $id) { ok } }';
  expect(await ask(remove, bob, { id: view.id })).toMatchObject({ title: 'Not found' });
  expect(await ask(remove, ada, { id: view.id })).toEqual({ ok: true });
  expect(await list(ada)).toEqual([]);
  expect(await list(bob)).toHaveLength(1);
});
