// Runs of scheduled tasks: started at once by a person, listed, and dispatched when they are due. The clock begins on Monday
// 23 November 2026, 09:00 UTC. programs/surfaces/scheduler.test.ts tests how processes share due runs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { days, minutes } from '#foundation/clock.ts';
import { type Account, createCallers, createProject } from '../support/callers.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let stranger: Account;
let shop: string;
let other: string;
let projectToken: string;

beforeAll(async () => {
  world = await openWorld();
  ({ owner, stranger } = await createCallers(world));
  await world.grant(owner.organization, 1_000);
  await world.lift(owner.organization);
  shop = await project('Web Shop', { issueCode: 'WEB' });
  other = await project('Other');
  projectToken = await world.token(owner.person, owner.organization, { projectId: shop });
});
afterAll(() => world.close());

const project = (name: string, fields: object = {}) => createProject(world, owner, name, fields);

const at = (interval: string, time: string, timezone: string, more: object = {}) => ({
  kind: 'schedule',
  schedule: { interval, time, timezone, ...more },
});
const mondays = at('weekly', '09:00', 'Pacific/Auckland', { weekday: 'monday' });
const hourly = (hour: number) => at('daily', `${String(hour).padStart(2, '0')}:00`, 'UTC');
const body = (more: object = {}) => ({
  projectId: shop,
  name: 'Updates',
  prompt: 'Update the dependencies.',
  triggers: [mondays],
  ...more,
});

const create = (more: object = {}, token = owner.token) =>
  world.rest('POST', '/scheduled-tasks', { token, body: body(more) });
const task = async (more: object = {}) => (await create(more)).body;
const get = async (id: string) => (await world.rest('GET', `/scheduled-tasks/${id}`, { token: owner.token })).body;
const change = (id: string, changes: unknown, token = owner.token) =>
  world.rest('PATCH', `/scheduled-tasks/${id}`, { token, body: changes });
const runNow = (id: string, token = owner.token) => world.rest('POST', `/scheduled-tasks/${id}/run`, { token });
const runs = async (id: string) =>
  (await world.rest('GET', `/scheduled-tasks/${id}/runs`, { token: owner.token })).body.data;
const due = () => dispatchDue();
const finish = (runId: string) => world.knex('runs').where({ id: runId }).update({ status: 'completed' });

describe('POST /scheduled-tasks/{id}/run', () => {
  it('200 · a disabled scheduled task runs at once when a person starts it, with an issue in the built-in tracker', async () => {
    const { id } = await task({ name: 'By hand', enabled: false, labels: ['night'] });
    const { status, body: started } = await runNow(id);
    expect(status).toBe(200);
    expect(started).toEqual({
      ok: true,
      runId: expect.stringMatching(/^run_/),
      issueId: expect.stringMatching(/^iss_/),
      status: 'dispatching',
    });
    expect(await runs(id)).toEqual([
      {
        id: started.runId,
        scheduledTaskId: id,
        projectId: shop,
        scheduledFor: present(),
        kind: 'manual',
        status: 'dispatching',
        issueId: started.issueId,
        issueUrl: `${world.url}/console/o/acme/issues/${started.issueId}`,
        reason: null,
        lastError: null,
        createdAt: present(),
        updatedAt: present(),
        missionProgress: null,
        missionActivity: null,
        missionCostUsd: 0,
        missionTitle: 'By hand',
        billingActorUserId: owner.person.id,
        missionCostIncomplete: false,
      },
    ]);
    expect(await get(id)).toMatchObject({ lastRunAt: present(), nextRunAt: null, enabled: false });
    const { issue } = (
      await world.graphql(
        `{ issue(issueId: "${started.issueId}") { key title body labels state runId project { name } } }`,
        { token: owner.token },
      )
    ).body.data;
    expect(issue).toEqual({
      key: expect.stringMatching(/^WEB-\d+$/),
      title: 'By hand',
      body: 'Update the dependencies.',
      labels: ['night'],
      state: 'open',
      runId: started.runId,
      project: { name: 'Web Shop' },
    });
  });

  it('ten concurrent starts with skipIfPreviousOpen create one run and skip nine', async () => {
    const { id } = await task({ skipIfPreviousOpen: true });
    const answers = await Promise.all(Array.from({ length: 10 }, () => runNow(id)));
    expect(answers.map((answer) => answer.body.status).sort()).toEqual(['dispatching', ...Array(9).fill('skipped')]);
    const skipped = (await runs(id)).filter(({ status }: { status: string }) => status === 'skipped');
    expect(skipped).toHaveLength(9);
    expect(skipped[0]).toMatchObject({ reason: 'The previous run is still open.', issueId: null, issueUrl: null });
    expect(answers.filter((answer) => answer.body.issueId === null)).toHaveLength(9);
  });

  it('ten concurrent starts of a task create ten runs', async () => {
    const { id } = await task();
    const answers = await Promise.all(Array.from({ length: 10 }, () => runNow(id)));
    expect(new Set(answers.map((answer) => answer.body.issueId)).size).toBe(10);
  });

  it('two starts of a task with the same Idempotency-Key create one run', async () => {
    const { id } = await task();
    const press = () =>
      world.rest('POST', `/scheduled-tasks/${id}/run`, {
        token: owner.token,
        headers: { 'idempotency-key': `run-${id}` },
      });
    expect((await press()).body).toEqual((await press()).body);
    expect(await runs(id)).toHaveLength(1);
  });

  it('409 · a scheduled task cannot be started in a paused project, and no run is created', async () => {
    const home = await project('Paused');
    const { id } = await task({ projectId: home });
    await world.rest('PATCH', `/projects/${home}`, { token: owner.token, body: { status: 'paused' } });
    const answer = await runNow(id);
    expect([answer.status, answer.body.description]).toEqual([409, 'The project is paused: no mission starts on it.']);
    expect(await runs(id)).toEqual([]);
  });

  it('402 · a scheduled task does not start at the daily cost cap; a due occurrence is skipped with the reason', async () => {
    const { id } = await task({ triggers: [hourly(12)] });
    const cap = (dailyCostCapUsd: number | null) =>
      world.rest('PATCH', '/orchestrator', { token: owner.token, body: { dailyCostCapUsd } });
    await cap(0);
    const answer = await runNow(id);
    const description = 'The daily cost cap of 0 USD is reached: missions have cost 0 USD since midnight UTC.';
    expect([answer.status, answer.body]).toEqual([
      402,
      { category: 'agent', title: 'Payment required', description, retryable: false, code: 'daily_cost_cap' },
    ]);
    expect(await runs(id)).toEqual([]);
    // An occurrence that becomes due in the meantime is skipped, with a reason.
    world.clock.turn(days(1));
    await due();
    expect(await runs(id)).toMatchObject([
      { kind: 'scheduled', status: 'skipped', reason: description, issueId: null },
    ]);
    await cap(null);
    expect((await runNow(id)).body.status).toBe('dispatching');
  });

  it('200 · a scheduled task can be started when its tracker is not connected, but its run fails', async () => {
    const { id } = await task({ projectId: await project('Linear', { tracker: 'linear' }) });
    expect((await runNow(id)).body).toMatchObject({ ok: true, issueId: null, status: 'failed' });
    expect((await runs(id))[0].lastError).toContain('Linear');
  });

  it('404 · a scheduled task of another organization cannot be started', async () => {
    const { id } = await task();
    expect((await runNow(id, stranger.token)).status).toBe(404);
    expect(await runs(id)).toEqual([]);
  });
});

describe('GET /scheduled-tasks/{id}/runs', () => {
  it('200 · runs of a scheduled task are listed newest first, 50 by default, in pages of 1 to 200', async () => {
    const { id } = await task();
    const made = Array.from({ length: 52 }, (_, n) => `run_${n}`);
    const done = { kind: 'manual', status: 'completed', scheduledFor: 0, createdAt: 0, updatedAt: 0 };
    const rows = made.map((runId) => ({
      ...done,
      id: runId,
      orgId: owner.organization.id,
      projectId: shop,
      recurringId: id,
    }));
    await world.knex('runs').insert(rows);
    const page = async (query: string) =>
      (await world.rest('GET', `/scheduled-tasks/${id}/runs${query}`, { token: owner.token })).body;
    const first = await page('');
    const second = await page(`?cursor=${first.nextCursor}`);
    expect([first.data.length, second.data.length, second.nextCursor]).toEqual([50, 2, null]);
    const seen = [...first.data, ...second.data].map((run: { id: string }) => run.id);
    expect(seen).toEqual([...made].sort().reverse());
    expect((await page('?limit=200')).data).toHaveLength(52);
    for (const [limit, words] of [
      [0, 'limit: must be at least 1.'],
      [201, 'limit: must be at most 200.'],
    ]) {
      expect((await page(`?limit=${limit}`)).description).toBe(words);
    }
    const elsewhere = await task();
    const foreign = `/scheduled-tasks/${elsewhere.id}/runs?cursor=${first.nextCursor}`;
    expect((await world.rest('GET', foreign, { token: owner.token })).status).toBe(400);
  });

  it('200 · after a task has moved to another project, a project-bound token sees only the runs in its own project', async () => {
    const { id } = await task({ projectId: other });
    await runNow(id);
    await change(id, { projectId: shop });
    const second = (await runNow(id)).body.runId;
    const seen = (await world.rest('GET', `/scheduled-tasks/${id}/runs`, { token: projectToken })).body.data;
    expect(seen.map((run: { id: string }) => run.id)).toEqual([second]);
    expect(await runs(id)).toHaveLength(2);
    const nested = await world.graphql(`{ scheduledTask(id: "${id}") { runs { id } } }`, { token: projectToken });
    expect(nested.body.data.scheduledTask.runs).toEqual([{ id: second }]);
  });
});

describe('due tasks', () => {
  it('a due scheduled task runs, moves to its next time, and runs again', async () => {
    const created = await task({ triggers: [hourly(12)] });
    world.clock.turn(created.nextRunAt - present() - 1);
    await due();
    expect(await runs(created.id)).toEqual([]);
    world.clock.turn(1);
    await due();
    await due();
    const [run, ...more] = await runs(created.id);
    expect(more).toEqual([]);
    expect(run).toMatchObject({
      kind: 'scheduled',
      status: 'dispatching',
      scheduledFor: created.nextRunAt,
      billingActorUserId: owner.person.id,
      issueId: expect.stringMatching(/^iss_/),
    });
    expect(await get(created.id)).toEqual({ ...created, nextRunAt: created.nextRunAt + days(1), lastRunAt: present() });
    world.clock.turn(days(1));
    await due();
    expect(await runs(created.id)).toHaveLength(2);
  });

  it('a scheduled task that missed several occurrences runs only once, and continues from now', async () => {
    const created = await task({ triggers: [hourly(12)] });
    world.clock.turn(created.nextRunAt - present() + days(5) + minutes(1));
    await due();
    const all = await runs(created.id);
    expect(all).toHaveLength(1);
    expect(all[0].scheduledFor).toBe(created.nextRunAt);
    expect((await get(created.id)).nextRunAt).toBe(created.nextRunAt + days(6));
  });

  it('a scheduled task with skipIfPreviousOpen is skipped, with the reason, only while its previous run is open', async () => {
    const created = await task({ triggers: [hourly(12)], skipIfPreviousOpen: true });
    const { runId } = (await runNow(created.id)).body;
    world.clock.turn(created.nextRunAt - present());
    await due();
    const [skipped] = await runs(created.id);
    expect(skipped).toMatchObject({
      kind: 'scheduled',
      status: 'skipped',
      reason: 'The previous run is still open.',
      scheduledFor: created.nextRunAt,
      issueId: null,
    });
    expect((await get(created.id)).lastRunAt).not.toBe(present());
    await finish(runId);
    world.clock.turn(days(1));
    await due();
    expect((await runs(created.id))[0]).toMatchObject({ status: 'dispatching', reason: null });
  });

  it('a due scheduled task is skipped, with the reason, on a project that is not active', async () => {
    const home = await project('Archived');
    const created = await task({ projectId: home, triggers: [hourly(12)] });
    await world.rest('PATCH', `/projects/${home}`, { token: owner.token, body: { status: 'archived' } });
    world.clock.turn(created.nextRunAt - present());
    await due();
    expect(await runs(created.id)).toMatchObject([
      { status: 'skipped', reason: 'The project is archived: no mission starts on it.' },
    ]);
  });

  it('a disabled scheduled task does not run, and does not catch up on missed occurrences when it is enabled', async () => {
    const created = await task({ triggers: [hourly(12)] });
    await change(created.id, { enabled: false });
    world.clock.turn(days(2));
    await due();
    await change(created.id, { enabled: true });
    await due();
    expect(await runs(created.id)).toEqual([]);
  });
});
