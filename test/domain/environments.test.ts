// Preview environments: listed, read, destroyed on request, and invisible without access to the project.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Environment, environmentStatuses, statusesBefore } from '#domain/work/environments/model.ts';
import { expireEnvironments } from '#domain/work/environments/operations.ts';
import { days } from '#foundation/clock.ts';
import { type Account, createCallersWithProjects } from '../support/callers.ts';
import { openEnvironment, type Place } from '../support/runtime-records.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let viewer: Account;
let shop: Place;
let other: Place;
let foreign: Place;
let projectToken: string;

beforeAll(async () => {
  world = await openWorld();
  ({ owner, viewer, shop, other, foreign, projectToken } = await createCallersWithProjects(world));
});
afterAll(() => world.close());

const get = (path: string, token = owner.token) => world.rest('GET', `/environments${path}`, { token });
const ids = async (query: string, token = owner.token): Promise<string[]> =>
  (await get(query, token)).body.data.map(({ environmentId }: { environmentId: string }) => environmentId);
const destroy = ({ id }: Pick<Environment, 'id'>, token = owner.token) =>
  world.rest('DELETE', `/environments/${id}`, { token });
const statusOf = async ({ id }: Environment) => (await get(`/${id}`)).body.environment.status;

const inStatus = (status: Environment['status']) =>
  openEnvironment(shop, { status, ...(status === 'destroyed' && { destroyedAt: present() }) });

describe('GET /environments', () => {
  it('200 · environments are listed newest first, with every field that GET by id returns', async () => {
    const older = await openEnvironment(shop);
    world.clock.turn(1);
    const more = { issueId: 'WEB-12', prNumber: 34, workerName: 'shop-pr-34', expiresAt: present() + days(1) };
    const newer = await openEnvironment(shop, more);
    const { status, body } = await get('?limit=2');
    expect(status).toBe(200);
    expect(body.data[1].environmentId).toBe(older.id);
    const shown = {
      environmentId: newer.id,
      projectId: shop.projectId,
      status: 'active',
      createdAt: present(),
      destroyedAt: null,
      ...more,
    };
    expect(body.data[0]).toEqual(shown);
    expect((await get(`/${newer.id}`)).body).toEqual({ environment: shown });
  });

  it('200 · environments are filtered by issue, project and status, alone and together, page by page', async () => {
    const [one, two, three] = [
      await openEnvironment(shop, { issueId: 'WEB-7' }),
      await openEnvironment(other, { issueId: 'WEB-7', status: 'failed' }),
      await openEnvironment(other, { issueId: 'WEB-8' }),
    ];
    expect((await ids('?issueId=WEB-7')).sort()).toEqual([one.id, two.id].sort());
    expect((await ids(`?projectId=${other.projectId}`)).sort()).toEqual([two.id, three.id].sort());
    expect(await ids('?issueId=WEB-7&status=failed')).toEqual([two.id]);
    expect(await ids(`?issueId=WEB-7&projectId=${shop.projectId}&status=active`)).toEqual([one.id]);
    expect(await ids(`?issueId=WEB-8&projectId=${shop.projectId}`)).toEqual([]);
    const first = (await get(`?projectId=${other.projectId}&limit=1`)).body;
    const second = (await get(`?projectId=${other.projectId}&limit=1&cursor=${first.nextCursor}`)).body;
    expect(
      [first, second].flatMap(({ data }) => data.map((row: { environmentId: string }) => row.environmentId)).sort(),
    ).toEqual([two.id, three.id].sort());
    expect(second.nextCursor).toBe(null);
    expect((await get(`?limit=1&cursor=${first.nextCursor}`)).status).toBe(400);
  });

  it.each(environmentStatuses)('200 · environments are filtered by the status %s', async (status) => {
    const environment = await inStatus(status);
    expect(await ids(`?status=${status}`)).toContain(environment.id);
    expect(await statusOf(environment)).toBe(status);
  });

  it('200 · a project-bound token lists only environments of its project; a filter by a project that the caller cannot access finds nothing', async () => {
    const [ours, theirs] = [await openEnvironment(shop), await openEnvironment(other)];
    const mine = await ids('', projectToken);
    expect([mine.includes(ours.id), mine.includes(theirs.id)]).toEqual([true, false]);
    await openEnvironment(foreign);
    for (const [projectId, token] of [
      [other.projectId, projectToken],
      [foreign.projectId, owner.token],
      ['prj_none', owner.token],
    ]) {
      expect((await get(`?projectId=${projectId}`, token)).body).toEqual({ data: [], nextCursor: null });
    }
  });

  it.each([
    ['limit=0', 'limit: must be at least 1.'],
    ['limit=501', 'limit: must be at most 500.'],
    ['status=asleep', 'status: must be one of provisioning, active, destroying, destroyed, failed.'],
    [`issueId=${'i'.repeat(201)}`, 'issueId: must be at most 200 characters.'],
  ])('400 · a list of environments is refused for the query %s', async (query, words) => {
    const { status, body } = await get(`?${query}`);
    expect([status, body.description]).toEqual([400, words]);
  });

  it('200 · the list of environments accepts the smallest and the largest limit, and the longest issue id', async () => {
    for (const query of ['limit=1', 'limit=500', `issueId=${'i'.repeat(200)}`]) {
      expect((await get(`?${query}`)).status).toBe(200);
    }
  });
});

describe('DELETE /environments/{environmentId}', () => {
  it.each(['provisioning', 'active', 'destroying', 'failed'] as const)(
    '200 · destroying an environment that is %s sets its status to destroying',
    async (status) => {
      const environment = await inStatus(status);
      const answer = await destroy(environment);
      expect([answer.status, answer.body]).toEqual([200, { ok: true, environmentId: environment.id }]);
      expect(await statusOf(environment)).toBe('destroying');
      expect((await destroy(environment)).body).toEqual(answer.body);
    },
  );

  it('200 · destroying a destroyed environment changes nothing', async () => {
    const environment = await inStatus('destroyed');
    const before = (await get(`/${environment.id}`)).body;
    expect((await destroy(environment)).status).toBe(200);
    expect((await get(`/${environment.id}`)).body).toEqual(before);
  });

  it('the expiry job does not change a failed environment', async () => {
    const environment = await openEnvironment(shop, { status: 'failed', expiresAt: present() - 1 });
    await expireEnvironments();
    expect(await statusOf(environment)).toBe('failed');
  });

  it('200 · ten concurrent requests to destroy an environment all succeed', async () => {
    const environment = await openEnvironment(shop);
    const answers = await Promise.all(Array.from({ length: 10 }, () => destroy(environment)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  });

  it('403, 404 · an environment is not destroyed without the scope, or from outside its project or organization', async () => {
    const [ours, beside, theirs] = [
      await openEnvironment(shop),
      await openEnvironment(other),
      await openEnvironment(foreign),
    ];
    expect((await destroy(ours, viewer.token)).body.description).toContain('missing-scope:environments:write');
    const unknown = await destroy({ id: 'env_none' });
    for (const answer of [await destroy(beside, projectToken), await destroy(theirs), await get(`/${theirs.id}`)]) {
      expect([answer.status, answer.body]).toEqual([404, unknown.body]);
    }
    const rows = await world.knex('environments').whereIn('id', [ours.id, beside.id, theirs.id]);
    expect(rows.map(({ status }) => status)).toEqual(Array(3).fill('active'));
    expect((await destroy(ours, projectToken)).status).toBe(200);
  });
});

it('the status of an environment changes only along the allowed transitions', () => {
  expect(Object.fromEntries(environmentStatuses.map((status) => [status, statusesBefore(status)]))).toEqual({
    provisioning: [],
    active: ['provisioning'],
    destroying: ['provisioning', 'active', 'failed'],
    destroyed: ['destroying'],
    failed: ['provisioning', 'active', 'destroying'],
  });
});

it('GraphQL returns the newest 20 environments of a project and the project of an environment; a project-bound token sees only its own project’s environments', async () => {
  for (let i = 0; i < 21; i++) await openEnvironment(other);
  const query = '{ projects { data { id environments { environmentId project { id } } } } }';
  const of = async (token: string) => {
    const { body } = await world.graphql(query, { token });
    expect(body.errors).toBe(undefined);
    return Object.fromEntries(
      body.data.projects.data.map(({ id, environments }: { id: string; environments: { project: object }[] }) => [
        id,
        environments,
      ]),
    );
  };
  const all = await of(owner.token);
  expect(all[other.projectId].length).toBe(20);
  expect(all[other.projectId][0].project).toEqual({ id: other.projectId });
  const own = await of(projectToken);
  expect(own[other.projectId]).toEqual([]);
  expect(own[shop.projectId]).toEqual(all[shop.projectId]);
});
