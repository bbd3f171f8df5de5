// Lists filtered by status, name, kind and role, in either order, page by page.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Id } from '#foundation/ids.ts';
import { packCursor } from '#foundation/postgres/cursor.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { noteArtifact } from '../support/runtime-records.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let ada: Account;
let projects: Id<'project'>[];

beforeAll(async () => {
  world = await openWorld();
  ada = await createOwner(world, 'Ada', 'Acme');
  await world.lift(ada.organization);
  projects = [];
  for (const name of ['Web shop', 'Mobile 100%', 'The SHOP of old']) {
    world.clock.turn(1);
    projects.push(await createProject(world, ada, name.replace('%', ''), { name }));
  }
  const body = { status: 'archived' };
  await world.rest('PATCH', `/projects/${projects[2]}`, { token: ada.token, body });
  for (const kind of ['log', 'report', 'log', 'log'] as const) {
    world.clock.turn(1);
    await world.graphql(`mutation { startMission(projectId: "${projects[0]}", prompt: "echo") { id } }`, {
      token: ada.token,
    });
    await noteArtifact({ orgId: ada.organization.id, projectId: projects[0]! }, { kind });
  }
});
afterAll(() => world.close());

const get = (path: string) => world.rest('GET', path, { token: ada.token });
const rows = async (path: string) => (await get(path)).body.data as Record<string, string>[];
const ids = async (path: string) => (await rows(path)).map(({ id }) => id);

it('projects are filtered by status and by literal text in their name, in GraphQL only', async () => {
  const [shop, mobile, old] = projects;
  const ask = async (args: string) => {
    const { body } = await world.graphql(`{ projects(${args}) { data { id } nextCursor } }`, { token: ada.token });
    return body.data?.projects ?? body.errors[0].message;
  };
  const found = async (args: string) => (await ask(args)).data.map(({ id }: { id: string }) => id);
  expect(await found('status: active')).toEqual([mobile, shop]);
  expect(await found('nameContains: "sHoP"')).toEqual([old, shop]);
  expect(await found('nameContains: "sHoP", order: oldest')).toEqual([shop, old]);
  expect(await found('nameContains: "shop", status: archived')).toEqual([old]);
  expect(await found('nameContains: "0%"')).toEqual([mobile]);
  expect(await found('nameContains: "_"')).toEqual([]);
  const { nextCursor } = await ask('nameContains: "shop", limit: 1');
  expect(await found(`nameContains: "shop", limit: 1, cursor: "${nextCursor}"`)).toEqual([shop]);
  expect(await ask(`nameContains: "Shop", limit: 1, cursor: "${nextCursor}"`)).toMatch(/^cursor: must be/);
  expect(await ids('/projects?status=archived&order=oldest')).toEqual([old, mobile, shop]);
});

// A cursor contains the conditions of its list in their order.
it.each([
  ['projects', 'status: active', { status: 'active' }],
  ['projects', 'byScmOwner: "acme", status: active', { scmOwner: { how: '~', text: 'acme' }, status: 'active' }],
  ['runs', 'kind: manual, agentId: "none"', { kind: 'manual', agentId: null }],
  ['runs', 'personId: "none", kind: manual', { kind: 'manual', handedToUserId: null, billingActorUserId: null }],
  ['issues', 'state: open, agentId: "agn_1"', { state: 'open', agentId: 'agn_1' }],
  ['environments', 'issueId: "iss_1", status: active', { issueId: 'iss_1', status: 'active' }],
] as const)('%s(%s) · the cursor of an earlier release is accepted', async (list, filter, conditions) => {
  const cursor = packCursor(
    `${list}\n${JSON.stringify([{ orgId: ada.organization.id, ...conditions }, null])}`,
    1,
    'x',
  );
  const { body } = await world.graphql(`{ ${list}(${filter}, cursor: "${cursor}") { data { __typename } } }`, {
    token: ada.token,
  });
  expect(body).toMatchObject({ data: { [list]: { data: [] } } });
});

it('artifacts are filtered by kind, using an index; agents are filtered by role', async () => {
  expect((await rows('/artifacts?kind=log')).map(({ kind }) => kind)).toEqual(['log', 'log', 'log']);
  expect(await ids(`/artifacts?kind=video&projectId=${projects[0]}`)).toEqual([]);
  expect(new Set((await rows('/agents?role=planner')).map(({ role }) => role))).toEqual(new Set(['planner']));
  const plan = await world.knex.transaction(async (trx) => {
    await trx.raw('set local enable_seqscan = off');
    return trx.raw(
      `explain select id from artifacts where org_id = 'o' and kind = 'log' order by created_at, id limit 10`,
    );
  });
  expect(JSON.stringify(plan)).toMatch(/Scan Backward using artifacts_kind/);
});

it.each(['/runs', '/artifacts', '/artifacts?kind=log'])(
  '%s lists the oldest records first on request, page by page',
  async (path) => {
    const query = `${path}${path.includes('?') ? '&' : '?'}limit=2`;
    const paged: (string | undefined)[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await get(`${query}&order=oldest${cursor ? `&cursor=${cursor}` : ''}`);
      paged.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor;
    } while (cursor);
    expect(paged).toEqual((await ids(path)).reverse());
    const { nextCursor } = (await get(`${query}&order=oldest`)).body;
    for (const order of ['', '&order=newest']) {
      expect((await get(`${query}${order}&cursor=${nextCursor}`)).status).toBe(400);
    }
    const { status, body } = await get(`${query}&order=size`);
    expect([status, body.description]).toEqual([400, 'order: must be one of oldest, newest.']);
  },
);

it('issues of a project are listed oldest first on request, page by page', async () => {
  const ask = async (args: string) => {
    const { body } = await world.graphql(`{ issues(${args}) { data { id } nextCursor } }`, { token: ada.token });
    return body.data?.issues ?? body.errors[0].message;
  };
  const found = async (args: string) => (await ask(args)).data.map(({ id }: { id: string }) => id);
  const newest = await found(`projectId: "${projects[0]}"`);
  expect([newest.length, await found(`projectId: "${projects[1]}"`)]).toEqual([4, []]);
  const { data, nextCursor } = await ask('order: oldest, limit: 3');
  expect(data.map(({ id }: { id: string }) => id)).toEqual([...newest].reverse().slice(0, 3));
  expect(await found(`order: oldest, limit: 3, cursor: "${nextCursor}"`)).toEqual([newest[0]]);
  expect(await ask(`limit: 3, cursor: "${nextCursor}"`)).toMatch(/^cursor: must be/);
});
