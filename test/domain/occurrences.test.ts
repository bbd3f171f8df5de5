// Upcoming occurrences of an organization: scheduled tasks and automations, in the order in which they are due.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let alice: Person;
let acme: Organization;
let token: string;
let shop: string;
let search: string;
/** Ids of the recurring missions by name. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  // It is Monday, 09:00 UTC.
  world = await openWorld();
  ({ person: alice, organization: acme, token } = await createOwner(world, 'Alice', 'Acme'));
  [shop, search] = [await createProject(world, { token }, 'Shop'), await createProject(world, { token }, 'Search')];
  await recurring('scheduled-tasks', 'later', shop, '11:00');
  await recurring('scheduled-tasks', 'soon', search, '09:30');
  await recurring('scheduled-tasks', 'never', shop, '09:15', false);
  await recurring('automations', 'between', shop, '10:00');
});
afterAll(() => world.close());

async function recurring(kind: string, name: string, projectId: string, time: string, enabled = true): Promise<void> {
  const triggers = [{ kind: 'schedule', schedule: { interval: 'daily', time, timezone: 'UTC' } }];
  const body = { projectId, name, prompt: 'Look after it.', triggers, enabled };
  ids[name] = (await world.rest('POST', `/${kind}`, { token, body })).body.id;
}

const upcoming = async (args = '', by = token) =>
  (
    await world.graphql(
      `{ upcomingOccurrences${args} { data { at name projectId scheduledTaskId automationId project { name } } } }`,
      { token: by },
    )
  ).body;
const names = async (args = '', by = token): Promise<string[]> =>
  (await upcoming(args, by)).data.upcomingOccurrences.data.map(({ name }: { name: string }) => name);

it('200 · upcoming occurrences of tasks and automations are listed soonest first, without disabled ones', async () => {
  const at = (hour: number, minute = 0) => Date.UTC(2026, 10, 23, hour, minute);
  expect((await upcoming()).data.upcomingOccurrences.data).toEqual([
    {
      at: at(9, 30),
      name: 'soon',
      projectId: search,
      scheduledTaskId: ids.soon,
      automationId: null,
      project: { name: 'Search' },
    },
    {
      at: at(10),
      name: 'between',
      projectId: shop,
      scheduledTaskId: null,
      automationId: ids.between,
      project: { name: 'Shop' },
    },
    {
      at: at(11),
      name: 'later',
      projectId: shop,
      scheduledTaskId: ids.later,
      automationId: null,
      project: { name: 'Shop' },
    },
  ]);
});

it('200 · upcoming occurrences are limited in number, and filtered by project on request', async () => {
  expect(await names('(limit: 2)')).toEqual(['soon', 'between']);
  expect(await names(`(projectId: "${shop}")`)).toEqual(['between', 'later']);
  const { errors } = await upcoming('(limit: 51)');
  expect(errors[0].extensions.problem).toMatchObject({ code: 'invalid_request' });
});

it('200 · a token without the scope for automations lists no occurrences of them, and a project-bound token only those of its project', async () => {
  expect(
    await names('', await world.token(alice, acme, { scopes: ['scheduled-tasks:read', 'projects:read'] })),
  ).toEqual(['soon', 'later']);
  const bound = await world.token(alice, acme, { projectId: search });
  expect(await names('', bound)).toEqual(['soon']);
  expect(await names(`(projectId: "${shop}")`, bound)).toEqual([]);
});

it('200 · upcoming occurrences of another organization are not listed', async () => {
  expect(await names('', (await createOwner(world, 'Mallory', 'Globex')).token)).toEqual([]);
});
