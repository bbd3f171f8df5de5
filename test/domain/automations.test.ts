// Automations are scheduled tasks under another name (docs/contract.md#scheduled-tasks-and-automations), so the tests of
// scheduled-tasks.test.ts cover them too. This file tests their own names, and that the two kinds are separate.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { days } from '#foundation/clock.ts';
import { type Account, createCallers, createProject } from '../support/callers.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let stranger: Account;
let projectId: string;

beforeAll(async () => {
  world = await openWorld();
  ({ owner, stranger } = await createCallers(world));
  projectId = await createProject(world, owner, '7 Seas');
});
afterAll(() => world.close());

const trigger = { kind: 'schedule', schedule: { interval: 'monthly', time: '18:00', timezone: 'UTC', dayOfMonth: 31 } };
const create = async (more: object = {}) => {
  const body = { projectId, name: 'Month’s end', prompt: 'Close the books.', triggers: [trigger], ...more };
  return world.rest('POST', '/automations', { token: owner.token, body });
};
const get = async (id: string) => (await world.rest('GET', `/automations/${id}`, { token: owner.token })).body;
const runs = async (id: string) =>
  (await world.rest('GET', `/automations/${id}/runs`, { token: owner.token })).body.data;

describe('automations', () => {
  it('201, 200 · an automation is created, read, listed, changed and deleted under /automations', async () => {
    const { status, body: created } = await create();
    expect(status).toBe(201);
    expect(created).toEqual({
      id: expect.stringMatching(/^aut_[0-9a-f]{32}$/),
      orgId: owner.organization.id,
      projectId,
      name: 'Month’s end',
      prompt: 'Close the books.',
      templateKey: null,
      triggers: [trigger],
      labels: [],
      skipIfPreviousOpen: false,
      enabled: true,
      nextRunAt: Date.UTC(2026, 10, 30, 18),
      lastRunAt: null,
      createdAt: present(),
      updatedAt: present(),
    });
    const list = await world.rest('GET', `/automations?projectId=${projectId}`, { token: owner.token });
    expect(list.body).toEqual({ data: [created], nextCursor: null });
    const changed = await world.rest('PATCH', `/automations/${created.id}`, {
      token: owner.token,
      body: { enabled: false },
    });
    const updatedAt = created.updatedAt + 1;
    expect(changed.body).toEqual({ ...created, enabled: false, nextRunAt: null, updatedAt });
    expect(await get(created.id)).toEqual(changed.body);
    const deleted = await world.rest('DELETE', `/automations/${created.id}`, { token: owner.token });
    expect([deleted.status, deleted.body]).toEqual([200, { ok: true, id: created.id }]);
    expect((await world.rest('GET', `/automations/${created.id}`, { token: owner.token })).status).toBe(404);
  });

  it('200 · a person and a schedule start runs of an automation, which has its own run records', async () => {
    const { body: created } = await create();
    const { status, body: started } = await world.rest('POST', `/automations/${created.id}/run`, {
      token: owner.token,
    });
    expect([status, started]).toEqual([
      200,
      { ok: true, runId: started.runId, issueId: expect.stringMatching(/^iss_/), status: 'dispatching' },
    ]);
    world.clock.turn(created.nextRunAt - present());
    await dispatchDue();
    const [scheduled, manual, ...more] = await runs(created.id);
    expect(more).toEqual([]);
    expect(manual).toMatchObject({ id: started.runId, kind: 'manual' });
    expect(scheduled).toEqual({
      id: expect.stringMatching(/^run_/),
      automationId: created.id,
      projectId,
      scheduledFor: created.nextRunAt,
      kind: 'scheduled',
      status: 'dispatching',
      issueId: expect.stringMatching(/^iss_/),
      issueUrl: `${world.url}/console/o/acme/issues/${scheduled.issueId}`,
      reason: null,
      lastError: null,
      createdAt: present(),
      updatedAt: present(),
      missionProgress: null,
      missionActivity: null,
      missionCostUsd: 0,
      missionTitle: 'Month’s end',
    });
    expect((await get(created.id)).nextRunAt).toBe(Date.UTC(2026, 11, 31, 18));
    const query = `{ automation(automationId: "${created.id}") {
      upcoming(count: 3) project { name automations { name } } runs { automation { name } issue { key } } } }`;
    const { automation } = (await world.graphql(query, { token: owner.token })).body.data;
    expect(automation).toEqual({
      upcoming: [Date.UTC(2026, 11, 31, 18), Date.UTC(2027, 0, 31, 18), Date.UTC(2027, 1, 28, 18)],
      project: { name: '7 Seas', automations: [{ name: 'Month’s end' }] },
      runs: [2, 1].map((n) => ({ automation: { name: 'Month’s end' }, issue: { key: `P7SEAS-${n}` } })),
    });
  });

  it('200 · the templates of automations are those of scheduled tasks', async () => {
    const templates = async (path: string) =>
      (await world.rest('GET', `${path}/templates`, { token: owner.token })).body;
    expect(await templates('/automations')).toEqual(await templates('/scheduled-tasks'));
  });

  it('404 · an automation is not found as a scheduled task, nor a scheduled task as an automation', async () => {
    const { body: automation } = await create();
    const body = { projectId, name: 'Task', prompt: 'Do it.', triggers: [trigger] };
    const { body: task } = await world.rest('POST', '/scheduled-tasks', { token: owner.token, body });
    for (const path of [`/scheduled-tasks/${automation.id}`, `/automations/${task.id}`]) {
      for (const [method, below] of [
        ['GET', ''],
        ['DELETE', ''],
        ['GET', '/runs'],
        ['POST', '/run'],
      ]) {
        expect((await world.rest(method!, path + below, { token: owner.token })).status).toBe(404);
      }
    }
    await world.rest('POST', `/scheduled-tasks/${task.id}/run`, { token: owner.token });
    expect(await runs(automation.id)).toEqual([]);
  });

  it('403 · automations require scopes of their own; those of scheduled tasks do not suffice', async () => {
    const { body: created } = await create();
    const scopes = ['scheduled-tasks:read', 'scheduled-tasks:write', 'automations:read'];
    const token = await world.token(owner.person, owner.organization, { scopes });
    expect((await world.rest('GET', `/automations/${created.id}`, { token })).status).toBe(200);
    const { body: refusal } = await world.rest('DELETE', `/automations/${created.id}`, { token });
    expect(refusal.description).toContain('missing-scope:automations:write');
    const run = await world.rest('POST', `/automations/${created.id}/run`, { token });
    expect(run.body.description).toContain('missing-scope:missions:run');
  });

  it('404 · an automation of another organization is not found, and not listed', async () => {
    const { body: created } = await create();
    expect((await world.rest('GET', `/automations/${created.id}`, { token: stranger.token })).status).toBe(404);
    expect(
      (await world.rest('GET', `/automations?projectId=${projectId}`, { token: stranger.token })).body.data,
    ).toEqual([]);
  });

  it('an automation with skipIfPreviousOpen is skipped while its previous run is open', async () => {
    const daily = { kind: 'schedule', schedule: { interval: 'daily', time: '18:00', timezone: 'UTC' } };
    const { body: created } = await create({ skipIfPreviousOpen: true, triggers: [daily] });
    world.clock.turn(created.nextRunAt - present());
    await dispatchDue();
    world.clock.turn(days(1));
    await dispatchDue();
    expect(await runs(created.id)).toMatchObject([{ status: 'skipped' }, { status: 'dispatching' }]);
  });
});

it('403 · creating an automation, or changing its prompt, requires missions:run', async () => {
  const writer = await world.token(owner.person, owner.organization, {
    scopes: ['automations:read', 'automations:write'],
  });
  const { id } = (await create()).body;
  const body = { projectId, name: 'x', prompt: 'x', triggers: [trigger] };
  for (const answer of [
    await world.rest('POST', '/automations', { token: writer, body }),
    await world.rest('PATCH', `/automations/${id}`, { token: writer, body: { prompt: 'Other.' } }),
  ]) {
    expect([answer.status, answer.body.code]).toEqual([403, 'missing_scope']);
    expect(answer.body.description).toContain('missing-scope:missions:run');
  }
  const renamed = await world.rest('PATCH', `/automations/${id}`, { token: writer, body: { name: 'Renamed' } });
  expect(renamed.body.name).toBe('Renamed');
});
