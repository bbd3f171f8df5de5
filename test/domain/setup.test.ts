// The setup of an organization consists of milestones. The transaction that stores an event also marks the milestone of this event as
// reached, and a mark that a person sets never undoes this.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Requirement } from '#domain/lifecycle/setup/requirements.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { newId } from '#foundation/ids.ts';
import { createMember, createOwner, createProject } from '../support/callers.ts';
import { openEnvironment, type Place, startSandbox } from '../support/runtime-records.ts';
import { openWorld, present, type Session, type World } from '../support/world.ts';

let world: World;
let owner: Person;

beforeAll(async () => {
  world = await openWorld();
  owner = await world.person('Alice');
});
afterAll(() => world.close());

interface Acme {
  organization: Organization;
  session: Session;
}

let founded = 0;
async function found(): Promise<Acme> {
  const { organization } = await createOwner(world, owner, `Acme ${++founded}`);
  return { organization, session: await world.session(owner, organization.id) };
}

const call = (method: string, path: string, { session }: Acme, body?: object) =>
  world.rest(method, path, { session, body });
const read = async (acme: Acme) => (await call('GET', '/setup', acme)).body;

interface Milestone {
  id: string;
  state: string;
  reachedAt: number | null;
}
// biome-ignore lint/suspicious/noExplicitAny: an answer is looked into
const milestonesOf = (progress: any): Milestone[] => progress.groups.flatMap((group: any) => group.milestones);
const inState = async (acme: Acme, state: string): Promise<string[]> =>
  milestonesOf(await read(acme))
    .filter((one) => one.state === state)
    .map(({ id }) => id);

async function project(acme: Acme): Promise<Place> {
  return { orgId: acme.organization.id, projectId: await createProject(world, acme, 'Shop') };
}

async function run(place: Place, more: object = {}): Promise<string> {
  const id = newId('run');
  const at = present();
  const row = {
    id,
    ...place,
    scheduledFor: at,
    kind: 'manual',
    status: 'dispatching',
    leaseUntil: at + 60_000,
    createdAt: at,
    updatedAt: at,
  };
  await world.knex('runs').insert({ ...row, ...more });
  return id;
}
const end = (id: string, status: string) =>
  world.knex('runs').where({ id }).update({ status, finishedAt: present(), updatedAt: present() });

describe('GET /setup', () => {
  it('200 · a new organization has reached no milestone, and reading the setup does not change that', async () => {
    const acme = await found();
    await read(acme);
    await world.request('GET', `/console/o/${acme.organization.slug}/overview`, { session: acme.session });
    expect(await read(acme)).toMatchObject({
      orgId: acme.organization.id,
      reachedCount: 0,
      totalCount: 12,
      complete: false,
      next: 'workspace',
      activeGroup: 'first_mission',
      activeGroupProgress: { reachedCount: 0, totalCount: 4 },
      firstMission: null,
      guides: ['mission-control', 'mission-detail', 'mission-results'].map((id) => ({
        id,
        step: 0,
        completedAt: null,
      })),
    });
    expect(await world.knex('setup_milestones').where({ orgId: acme.organization.id })).toEqual([]);
  });

  it('200 · the setup names each connection that agents need and that is still missing', async () => {
    await world.knex('runtime_harnesses').delete();
    const { organization, session } = await found();
    const missing = async () => {
      const { body } = await world.graphql('{ setup { requirements { id isMet } } }', { session });
      return body.data.setup.requirements.flatMap(({ id, isMet }: Requirement) => (isMet ? [] : [id]));
    };
    const connect = (vendorKind: 'llm' | 'scm', vendor: 'openai' | 'github', credentials?: string) =>
      connectIntegration({ orgId: organization.id, vendorKind, vendor, displayName: vendor, credentials });
    expect(await missing()).toEqual(['model', 'source_host']);
    await connect('llm', 'openai');
    expect(await missing()).toEqual(['model', 'source_host']);
    await connect('llm', 'openai', 'secret');
    expect(await missing()).toEqual(['source_host']);
    await connect('scm', 'github', 'secret');
    expect(await missing()).toEqual([]);
  });

  it('200 · the first mission is shown as soon as it has an issue; the milestone of the first mission is reached when any mission completes', async () => {
    const acme = await found();
    const place = await project(acme);
    await end(await run(place), 'failed');
    const id = await run(place, { issueId: 'iss_1' });
    expect(await inState(acme, 'done')).toEqual(['workspace']);
    const { firstMission } = await read(acme);
    const url = `${world.url}/console/o/${acme.organization.slug}/runs/${id}`;
    expect(firstMission).toEqual({ issueId: 'iss_1', orgSlug: acme.organization.slug, url });
    const at = present();
    await end(id, 'completed');
    world.clock.turn(1_000);
    await end(await run(place, { issueId: 'iss_2' }), 'completed');
    expect(milestonesOf(await read(acme))[1]).toMatchObject({ id: 'first_mission', state: 'done', reachedAt: at });
  });

  it('200 · each milestone is reached by its event', async () => {
    const acme = await found();
    const place = await project(acme);
    const reached = async (id: string, act: () => Promise<unknown>) => {
      expect(await inState(acme, 'done')).not.toContain(id);
      await act();
      expect(await inState(acme, 'done')).toContain(id);
    };
    const sandbox = await startSandbox(place, { role: 'reviewer' });
    await reached('first_review', () =>
      world.knex('sandboxes').where({ id: sandbox.id }).update({ status: 'completed' }),
    );
    const environment = await openEnvironment(place, { status: 'provisioning' });
    await reached('preview_deployment', () =>
      world.knex('environments').where({ id: environment.id }).update({ status: 'active' }),
    );
    const mission = await run(place);
    await reached('agent_to_pr', () =>
      world.knex('runs').where({ id: mission }).update({ prNumber: 17, prState: 'open' }),
    );
    const agent = {
      name: 'Builder',
      role: 'builder',
      harness: 'claude-code',
      model: 'claude-sonnet-4-5',
      sandbox: { kind: 'existing', templateId: 'standard' },
    };
    const created = await call('POST', '/agents', acme, agent);
    await reached('agent_instructions', () =>
      call('PATCH', `/agents/${created.body.id}`, acme, { userPrompt: 'Write tests first.' }),
    );
    const triggers = [{ kind: 'schedule', schedule: { interval: 'daily', time: '09:00', timezone: 'UTC' } }];
    const recurring = { projectId: place.projectId, name: 'Tidy', prompt: 'Tidy up.', triggers };
    await call('POST', '/automations', acme, recurring);
    await reached('scheduled_task', () => call('POST', '/scheduled-tasks', acme, recurring));
    await reached('teammate', async () => world.join(acme.organization, await world.person('Bob'), 'member'));
  });

  it('200 · a milestone stays reached when its record is deleted, and is not reached by a change that is rolled back', async () => {
    const acme = await found();
    await world.knex
      .transaction(async (trx) => {
        await trx('memberships').insert({
          orgId: acme.organization.id,
          userId: (await world.person('Bob')).id,
          role: 'viewer',
          createdAt: present(),
        });
        throw new Error('rolled back');
      })
      .catch(() => {});
    expect(await inState(acme, 'done')).toEqual([]);
    const { projectId } = await project(acme);
    expect((await call('DELETE', `/projects/${projectId}`, acme)).status).toBe(200);
    expect(await inState(acme, 'done')).toEqual(['workspace']);
  });

  it('200 · a migration finds milestones that were reached before the setup existed', async () => {
    const acme = await found();
    await end(await run(await project(acme)), 'completed');
    const before = await read(acme);
    await world.knex('setup_milestones').where({ orgId: acme.organization.id }).delete();
    const file = readFileSync(
      new URL('../../migrations/20261123_21_setup_reached.concurrently.sql', import.meta.url),
      'utf8',
    );
    await world.knex.raw(file.slice(0, file.indexOf('-- down')));
    expect(await read(acme)).toEqual(before);
  });

  it('403 · the setup is refused to a project-bound token', async () => {
    const acme = await found();
    const { projectId } = await project(acme);
    const token = await world.token(owner, acme.organization, { projectId, scopes: ['setup:read'] });
    expect((await world.rest('GET', '/setup', { token })).status).toBe(403);
  });
});

describe('PATCH /setup/milestones/{milestoneId}', () => {
  it('200 · a skipped milestone is no longer the next one, a milestone marked as done counts, and a reset reverts both', async () => {
    const acme = await found();
    const before = await read(acme);
    const mark = (id: string, word: string) => call('PATCH', `/setup/milestones/${id}`, acme, { mark: word });
    expect((await mark('workspace', 'skipped')).body).toMatchObject({ next: 'first_mission', reachedCount: 0 });
    expect((await mark('first_mission', 'done')).body).toMatchObject({ next: 'first_review', reachedCount: 1 });
    expect(milestonesOf(await read(acme)).slice(0, 2)).toMatchObject([
      { state: 'skipped', reachedAt: null },
      { state: 'done', reachedAt: present() },
    ]);
    await mark('workspace', 'reset');
    expect((await mark('first_mission', 'reset')).body).toEqual(before);
  });

  it('200 · a reached milestone stays reached whatever a person marks', async () => {
    const acme = await found();
    await project(acme);
    for (const mark of ['skipped', 'reset']) {
      expect((await call('PATCH', '/setup/milestones/workspace', acme, { mark })).status).toBe(200);
      expect(await inState(acme, 'done')).toEqual(['workspace']);
    }
  });

  it('400, 403, 404 · an invalid mark, a viewer, and unknown milestones, groups and guides are refused', async () => {
    const acme = await found();
    const wrong = await call('PATCH', '/setup/milestones/workspace', acme, { mark: 'finished' });
    expect([wrong.status, wrong.body.description]).toEqual([400, expect.stringContaining('mark: must be one of')]);
    for (const path of ['milestones/unknown', 'groups/unknown', 'milestones/toString'])
      expect((await call('PATCH', `/setup/${path}`, acme, { mark: 'done' })).status).toBe(404);
    expect((await call('PATCH', '/setup/guides/unknown', acme, { step: 1 })).status).toBe(404);
    const { person: viewer } = await createMember(world, acme.organization, 'Viewer', 'viewer');
    const session = await world.session(viewer, acme.organization.id);
    const refused = await world.rest('PATCH', '/setup/groups/team', { session, body: { mark: 'done' } });
    expect(refused.status).toBe(403);
    expect((await world.rest('GET', '/setup', { session })).status).toBe(200);
  });
});

it('marking a group also marks its open milestones, and the setup is complete when all groups are marked', async () => {
  const acme = await found();
  await project(acme);
  const mark = async (id: string, word: string) =>
    (await call('PATCH', `/setup/groups/${id}`, acme, { mark: word })).body;
  expect(await mark('first_mission', 'done')).toMatchObject({ activeGroup: 'team', reachedCount: 4 });
  await mark('team', 'skipped');
  expect(await mark('explore', 'skipped')).toMatchObject({
    complete: true,
    next: null,
    activeGroup: null,
    activeGroupProgress: null,
    reachedCount: 4,
  });
  expect(await mark('first_mission', 'reset')).toMatchObject({
    complete: false,
    next: 'first_mission',
    reachedCount: 1,
  });
});

describe('PATCH /setup/guides/{guideId}', () => {
  it('200 · a guide records the progress of one person, who can restart it', async () => {
    const acme = await found();
    const follow = async (body: object) =>
      (await call('PATCH', '/setup/guides/mission-detail', acme, body)).body.guides[1];
    expect(await follow({ step: 3 })).toEqual({ id: 'mission-detail', step: 3, completedAt: null });
    expect(await follow({ step: 20, completed: true })).toMatchObject({ step: 20, completedAt: present() });
    const { person: bob } = await createMember(world, acme.organization, 'Bob', 'member');
    const session = await world.session(bob, acme.organization.id);
    expect((await world.rest('GET', '/setup', { session })).body.guides[1]).toMatchObject({ step: 0 });
    expect(await follow({ step: 0 })).toEqual({ id: 'mission-detail', step: 0, completedAt: null });
  });

  it.each([{ step: -1 }, { step: 21 }, { step: 1.5 }, { step: '1' }, {}])(
    '400 · the progress of a guide is refused: %j',
    async (body) => {
      const { status, body: problem } = await call('PATCH', '/setup/guides/mission-detail', await found(), body);
      expect([status, problem.description]).toEqual([400, expect.stringMatching(/^step: /)]);
    },
  );
});

it('concurrent completions of missions reach a milestone once', async () => {
  const acme = await found();
  const place = await project(acme);
  const ids = await Promise.all(Array.from({ length: 20 }, () => run(place)));
  await Promise.all(ids.map((id) => end(id, 'completed')));
  const rows = await world
    .knex('setup_milestones')
    .where({ orgId: acme.organization.id, milestoneId: 'first_mission' });
  expect(rows).toHaveLength(1);
});
