// Scheduled tasks: Alice's schedules, and callers without access to them. The clock begins on Monday 23 November
// 2026, 09:00 UTC. scheduled-task-runs.test.ts tests their runs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { days, hours } from '#foundation/clock.ts';
import { watchStatements } from '#foundation/postgres/database.ts';
import { type Account, createCallers, createMember, createProject } from '../support/callers.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let viewer: Account;
let stranger: Account;
let shop: string;
let other: string;
let projectToken: string;

beforeAll(async () => {
  world = await openWorld();
  ({ owner, viewer, stranger } = await createCallers(world));
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

describe('POST /scheduled-tasks', () => {
  it('201 · a scheduled task for Monday 09:00 in Auckland is created with defaults and its next run', async () => {
    const { status, body: created } = await create();
    expect(status).toBe(201);
    expect(created).toEqual({
      id: expect.stringMatching(/^sch_[0-9a-f]{32}$/),
      orgId: owner.organization.id,
      projectId: shop,
      name: 'Updates',
      prompt: 'Update the dependencies.',
      templateKey: null,
      triggers: [mondays],
      labels: [],
      skipIfPreviousOpen: false,
      enabled: true,
      nextRunAt: Date.UTC(2026, 10, 29, 20),
      lastRunAt: null,
      createdAt: present(),
      updatedAt: present(),
      createdByUserId: owner.person.id,
    });
    expect(await get(created.id)).toEqual(created);
  });

  it('201 · a scheduled task is created with the longest allowed values; schedule members that are null are omitted', async () => {
    const triggers = [
      at('monthly', '23:59', 'UTC', { dayOfMonth: 31, weekday: null }),
      ...Array.from({ length: 9 }, () => at('daily', '00:00', 'UTC', { dayOfMonth: null })),
    ];
    const most = {
      name: 'n'.repeat(120),
      prompt: 'p'.repeat(20_000),
      labels: Array.from({ length: 20 }, () => 'l'.repeat(50)),
      templateKey: 'security-review',
      skipIfPreviousOpen: true,
      enabled: false,
    };
    const { status, body: created } = await create({ ...most, triggers });
    expect(status).toBe(201);
    expect(created).toMatchObject({ ...most, nextRunAt: null });
    expect(created.triggers[0]).toEqual(at('monthly', '23:59', 'UTC', { dayOfMonth: 31 }));
    expect(created.triggers[9]).toEqual(at('daily', '00:00', 'UTC'));
  });

  const schedule = (more: object) => ({ triggers: [{ kind: 'schedule', schedule: { ...mondays.schedule, ...more } }] });
  const where = 'triggers.0.schedule';
  it.each([
    ['projectId: is required', { projectId: undefined }],
    ['projectId: must be at least 1 character', { projectId: '' }],
    ['name: must be at least 1 character', { name: '' }],
    ['name: must be at most 120 characters', { name: 'n'.repeat(121) }],
    ['prompt: is required', { prompt: undefined }],
    ['prompt: must be at most 20000 characters', { prompt: 'p'.repeat(20_001) }],
    ['triggers: is required', { triggers: undefined }],
    ['triggers: must be an array', { triggers: mondays }],
    ['triggers: must be at least 1 entry', { triggers: [] }],
    ['triggers: must be at most 10 entries', { triggers: Array.from({ length: 11 }, () => mondays) }],
    ['triggers.0.kind: must be "schedule"', { triggers: [{ ...mondays, kind: 'webhook' }] }],
    ['triggers.1.schedule: is required', { triggers: [mondays, { kind: 'schedule' }] }],
    [`${where}.interval: must be one of "daily", "weekly", "monthly"`, schedule({ interval: 'hourly' })],
    [`${where}.time: must be HH:MM, 00:00 to 23:59`, schedule({ time: '25:00' })],
    [`${where}.time: must be HH:MM, 00:00 to 23:59`, schedule({ time: '24:00' })],
    [`${where}.time: must be HH:MM, 00:00 to 23:59`, schedule({ time: '9:00' })],
    [`${where}.time: must be HH:MM, 00:00 to 23:59`, schedule({ time: '09:60' })],
    [`${where}.time: must be HH:MM, 00:00 to 23:59`, schedule({ time: '09:00\n' })],
    [`${where}.timezone: must be an IANA time zone`, schedule({ timezone: 'Mars/Olympus' })],
    [`${where}.timezone: must be an IANA time zone`, schedule({ timezone: '+13:00' })],
    [`${where}.timezone: must be at most 64 characters`, schedule({ timezone: 'x'.repeat(65) })],
    [`${where}.weekday: is required when interval is weekly`, schedule({ weekday: undefined })],
    [`${where}.weekday: is required when interval is weekly`, schedule({ weekday: null })],
    [`${where}.weekday: must be one of "monday"`, schedule({ weekday: 'Monday' })],
    [`${where}.dayOfMonth: is required when interval is monthly`, schedule({ interval: 'monthly' })],
    [`${where}.dayOfMonth: must be at most 31`, schedule({ interval: 'monthly', dayOfMonth: 32 })],
    [`${where}.dayOfMonth: must be at least 1`, schedule({ interval: 'monthly', dayOfMonth: 0 })],
    [`${where}.dayOfMonth: must be an integer`, schedule({ interval: 'monthly', dayOfMonth: 1.5 })],
    ['templateKey: must be one of "dependency-updates"', { templateKey: 'none' }],
    ['labels: must be at most 20 entries', { labels: Array.from({ length: 21 }, () => 'l') }],
    ['labels.0: must be at least 1 character', { labels: [''] }],
    ['labels.0: must be at most 50 characters', { labels: ['l'.repeat(51)] }],
    ['enabled: must be a boolean', { enabled: 'yes' }],
  ])('400 · an invalid scheduled task is refused: %s', async (words, wrong) => {
    const answer = await create(wrong);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.description).toContain(words);
  });

  it('400 · GraphQL refuses the same tasks as REST', async () => {
    const query = 'mutation ($input: CreateScheduledTaskRequest!) { createScheduledTask(input: $input) { id } }';
    const input = body(schedule({ timezone: 'Mars/Olympus', weekday: null }));
    const { errors } = (await world.graphql(query, { token: owner.token, variables: { input } })).body;
    expect(errors[0].extensions.problem.description).toBe(
      `${where}.timezone: must be an IANA time zone such as Europe/Berlin; ${where}.weekday: is required when interval is weekly.`,
    );
  });

  it('404 · a scheduled task cannot be created in an unknown project, or in one of another organization', async () => {
    for (const [projectId, token] of [
      ['prj_none', owner.token],
      [shop, stranger.token],
    ] as const) {
      const answer = await create({ projectId }, token);
      expect([answer.status, answer.body.description]).toEqual([404, 'No such project.']);
    }
  });

  it('403 · a project-bound token cannot create a task in another project', async () => {
    const answer = await create({ projectId: other }, projectToken);
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    expect((await create({}, projectToken)).status).toBe(201);
  });

  it('403 · a viewer can read a task, but cannot create or start one', async () => {
    expect((await create({}, viewer.token)).body.description).toContain('missing-scope:scheduled-tasks:write');
    const { id } = await task();
    expect((await world.rest('GET', `/scheduled-tasks/${id}`, { token: viewer.token })).status).toBe(200);
    expect((await runNow(id, viewer.token)).body.description).toContain('missing-scope:missions:run');
  });
});

describe('GET /scheduled-tasks', () => {
  it('200 · the list of scheduled tasks has pages, and contains the tasks of one project or of all projects', async () => {
    const home = await project('Pages');
    for (let n = 0; n < 5; n++) await task({ projectId: home, name: `T${n}` });
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/scheduled-tasks?projectId=${home}&limit=2${cursor && `&cursor=${cursor}`}`;
      const page = (await world.rest('GET', path, { token: owner.token })).body;
      seen.push(...page.data.map((one: { name: string }) => one.name));
      cursor = page.nextCursor;
    }
    expect(seen.sort()).toEqual(['T0', 'T1', 'T2', 'T3', 'T4']);
    const all = (await world.rest('GET', '/scheduled-tasks?limit=200', { token: owner.token })).body.data;
    expect(all.length).toBeGreaterThan(5);
  });

  it('200 · the list of scheduled tasks is empty for a project that the caller cannot read', async () => {
    await task();
    await task({ projectId: other });
    const list = async (query: string, token: string) =>
      (await world.rest('GET', `/scheduled-tasks${query}`, { token })).body;
    const empty = { data: [], nextCursor: null };
    expect(await list(`?projectId=${shop}`, stranger.token)).toEqual(empty);
    expect(await list('?projectId=prj_none', owner.token)).toEqual(empty);
    expect(await list(`?projectId=${other}`, projectToken)).toEqual(empty);
    const own = (await list('?limit=200', projectToken)).data.map((one: { projectId: string }) => one.projectId);
    expect(new Set(own)).toEqual(new Set([shop]));
  });

  it('404 · a project-bound token finds no task outside its project', async () => {
    const { id } = await task({ projectId: other });
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/runs'],
      ['POST', '/run'],
    ] as const) {
      const ask = { token: projectToken, ...(method === 'PATCH' && { body: { name: 'Mine' } }) };
      expect((await world.rest(method, `/scheduled-tasks/${id}${path}`, ask)).status).toBe(404);
    }
    expect((await get(id)).name).toBe('Updates');
  });

  it('200 · a task can be created with the unchanged values of each template of scheduled tasks', async () => {
    const { data } = (await world.rest('GET', '/scheduled-tasks/templates', { token: viewer.token })).body;
    expect(data[0]).toEqual({
      key: 'dependency-updates',
      name: 'Dependency updates',
      blurb: expect.any(String),
      prompt: expect.any(String),
      suggestedSchedule: { interval: 'weekly', time: '06:00', timezone: 'UTC', weekday: 'monday' },
    });
    for (const { key, name, prompt, suggestedSchedule } of data) {
      const triggers = [{ kind: 'schedule', schedule: suggestedSchedule }];
      expect((await create({ name, prompt, templateKey: key, triggers })).status).toBe(201);
    }
  });
});

describe('PATCH /scheduled-tasks/{id}', () => {
  it('200 · a rename does not move the next run of a task, however overdue', async () => {
    const before = await task();
    world.clock.turn(days(8));
    const { body: after } = await change(before.id, {
      name: 'Renamed',
      labels: ['a'],
      triggers: [mondays],
      enabled: true,
    });
    expect(after).toEqual({ ...before, name: 'Renamed', labels: ['a'], updatedAt: present() });
    expect(await get(before.id)).toEqual(after);
    expect((await change(before.id, {})).body).toEqual(after);
  });

  it('200 · the next run of a task moves when its triggers change or the task is enabled again; a disabled task has no next run', async () => {
    const { id } = await task();
    const daily = (await change(id, { triggers: [hourly(9)] })).body;
    expect(daily.nextRunAt).toBe(Math.ceil((present() + 1 - hours(9)) / days(1)) * days(1) + hours(9));
    expect((await change(id, { enabled: false })).body.nextRunAt).toBe(null);
    world.clock.turn(days(3));
    expect((await change(id, { enabled: true })).body.nextRunAt).toBe(daily.nextRunAt + days(3));
  });

  it('200 · null clears the template of a task, and its prompt and project can be changed', async () => {
    const before = await task({ templateKey: 'flaky-tests' });
    const changes = { templateKey: null, prompt: 'Other', skipIfPreviousOpen: true, projectId: other };
    expect((await change(before.id, changes)).body).toEqual({
      ...before,
      ...changes,
      updatedAt: before.updatedAt + 1,
    });
  });

  it.each([
    ['name: must be a string', { name: null }],
    ['triggers: must be at least 1 entry', { triggers: [] }],
    ['triggers.0.schedule.dayOfMonth: is required', { triggers: [at('monthly', '09:00', 'UTC')] }],
    ['enabled: must be a boolean', { enabled: null }],
  ])('400 · an invalid change of a task is refused: %s', async (words, wrong) => {
    const before = await task();
    const answer = await change(before.id, wrong);
    expect([answer.status, answer.body.description]).toEqual([400, expect.stringContaining(words)]);
    expect(await get(before.id)).toEqual(before);
  });

  it('404, 403 · a scheduled task cannot be moved to an unknown project, nor by a token bound to another one', async () => {
    const before = await task();
    expect((await change(before.id, { projectId: 'prj_none' })).status).toBe(404);
    expect((await change(before.id, { projectId: other }, projectToken)).status).toBe(403);
    expect((await change(before.id, { name: 'Mine' }, stranger.token)).status).toBe(404);
    expect(await get(before.id)).toEqual(before);
  });
});

describe('DELETE /scheduled-tasks/{id}', () => {
  it('200, 404 · a scheduled task is deleted once: its waiting runs are canceled, running ones continue, and both stay recorded', async () => {
    const { id } = await task();
    const [running, waiting] = [(await runNow(id)).body, (await runNow(id)).body];
    await world
      .knex('runs')
      .where({ id: running.runId })
      .update({ status: 'running', leaseId: 'lse_1', leaseUntil: present() });
    const first = await world.rest('DELETE', `/scheduled-tasks/${id}`, { token: owner.token });
    expect([first.status, first.body]).toEqual([200, { ok: true, id }]);
    expect((await world.rest('DELETE', `/scheduled-tasks/${id}`, { token: owner.token })).status).toBe(404);
    expect((await world.rest('GET', `/scheduled-tasks/${id}/runs`, { token: owner.token })).status).toBe(404);
    const left = await world.knex('runs').whereIn('id', [running.runId, waiting.runId]).orderBy('status');
    expect(left).toMatchObject([
      {
        id: waiting.runId,
        status: 'canceled',
        reason: 'The scheduled task was deleted.',
        finishedAt: present(),
        recurringId: null,
      },
      { id: running.runId, status: 'running', reason: null, recurringId: null },
    ]);
  });

  it('deleting a project deletes its tasks with their runs', async () => {
    const home = await project('Gone');
    const { id } = await task({ projectId: home });
    const { runId, issueId } = (await runNow(id)).body;
    expect((await world.rest('DELETE', `/projects/${home}`, { token: owner.token })).status).toBe(200);
    for (const [table, key] of [
      ['recurring_missions', id],
      ['runs', runId],
      ['issues', issueId],
    ]) {
      expect(await world.knex(table!).where({ id: key })).toEqual([]);
    }
  });
});

describe('scheduled tasks over GraphQL', () => {
  const upcoming = async (id: string, args = '') =>
    (await world.graphql(`{ scheduledTask(id: "${id}") { upcoming${args} } }`, { token: owner.token })).body;

  it('a scheduled task lists its next five occurrences, or fewer on request, an overdue one first, and none when disabled', async () => {
    const created = await task({ triggers: [hourly(12), hourly(18)] });
    const first = created.nextRunAt;
    const gaps = first % days(1) === hours(12) ? [6, 24, 30, 48] : [18, 24, 42, 48];
    const five = [first, ...gaps.map((gap) => first + hours(gap))];
    expect((await upcoming(created.id)).data.scheduledTask.upcoming).toEqual(five);
    expect((await upcoming(created.id, '(count: 2)')).data.scheduledTask.upcoming).toEqual(five.slice(0, 2));
    world.clock.turn(first - present() + days(2));
    const overdue = (await upcoming(created.id, '(count: 2)')).data.scheduledTask.upcoming;
    expect(overdue[0]).toBe(first);
    expect(overdue[1]).toBeGreaterThan(present());
    await change(created.id, { enabled: false });
    expect((await upcoming(created.id)).data.scheduledTask.upcoming).toEqual([]);
    for (const count of [0, 6]) {
      expect((await upcoming(created.id, `(count: ${count})`)).errors[0].extensions.problem.description).toMatch(
        /^count: must be/,
      );
    }
  });

  it('five tasks with projects, runs and issues take as many statements as one task', async () => {
    const home = await project('Nested');
    const query = `{ scheduledTasks(projectId: "${home}") { data {
      name upcoming(count: 2) project { name }
      runs { id status issue { key project { name } } scheduledTask { name } project { name } }
    } } }`;
    const asked = async () => {
      const tables: string[] = [];
      const stop = watchStatements((text) => tables.push(/(?:from|update|into) "?(\w+)/.exec(text)?.[1] ?? text));
      const { body } = await world.graphql(query, { token: owner.token });
      stop();
      expect(body.errors).toBe(undefined);
      return { tables: tables.sort(), tasks: body.data.scheduledTasks.data };
    };
    const first = await task({ projectId: home, name: 'T0' });
    await runNow(first.id);
    const one = await asked();
    for (let n = 1; n < 5; n++) {
      const { id } = await task({ projectId: home, name: `T${n}` });
      await Promise.all(Array.from({ length: 21 }, () => runNow(id)));
    }
    const five = await asked();
    expect(five.tables).toEqual(one.tables);
    expect(one.tables).toEqual([
      'issues',
      'organizations',
      'projects',
      'recurring_missions',
      'recurring_missions',
      'unnest',
    ]);
    expect(five.tasks).toHaveLength(5);
    const last = five.tasks.find(({ name }: { name: string }) => name === 'T4');
    expect(last.runs).toHaveLength(20);
    expect(last.runs[0]).toEqual({
      id: expect.stringMatching(/^run_/),
      status: 'dispatching',
      issue: { key: expect.stringMatching(/^NESTED-\d+$/), project: { name: 'Nested' } },
      scheduledTask: { name: 'T4' },
      project: { name: 'Nested' },
    });
  });

  it('a project lists only its own scheduled tasks and issues, newest first', async () => {
    const home = await project('Dashboard');
    const { id } = await task({ projectId: home, name: 'First' });
    world.clock.turn(1);
    await task({ projectId: home, name: 'Second' });
    await runNow(id);
    await runNow(id);
    const query = `{ project(projectId: "${home}") { scheduledTasks { name } issues { number title } } }`;
    const seen = (await world.graphql(query, { token: owner.token })).body.data.project;
    expect(seen.scheduledTasks).toEqual([{ name: 'Second' }, { name: 'First' }]);
    expect(seen.issues.map(({ number }: { number: number }) => number).sort()).toEqual([1, 2]);
    const nothing = { scheduledTasks: [], issues: [] };
    expect((await world.graphql(query, { token: projectToken })).body.data.project).toEqual(nothing);
    const list = (token: string) => world.graphql(`{ issues(projectId: "${home}") { data { number } } }`, { token });
    expect((await list(owner.token)).body.data.issues.data).toHaveLength(2);
    for (const token of [stranger.token, projectToken]) expect((await list(token)).body.data.issues.data).toEqual([]);
  });
});

describe('tasks and the scope missions:run', () => {
  const writes = ['scheduled-tasks:read', 'scheduled-tasks:write'];
  const lacking = 'missing-scope:missions:run';

  it('403 · creating or enabling a task, or changing its prompt, triggers or project, requires missions:run', async () => {
    const writer = await world.token(owner.person, owner.organization, { scopes: writes });
    const { id } = await task({ enabled: false });
    const before = await get(id);
    const answers = [
      await create({}, writer),
      await create({ enabled: false }, writer),
      await change(id, { enabled: true }, writer),
      await change(id, { name: 'Renamed', prompt: 'rm -rf /' }, writer),
      await change(id, { triggers: [hourly(5)] }, writer),
      await change(id, { projectId: other }, writer),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
    for (const { body } of answers) expect(body.description).toContain(lacking);
    expect(await get(id)).toEqual(before);
  });

  it('200 · renaming, labeling or disabling a task, and sending unchanged values, does not require missions:run', async () => {
    const writer = await world.token(owner.person, owner.organization, { scopes: writes });
    const { id, prompt, triggers } = await task();
    const same = { prompt, triggers, enabled: true, projectId: shop };
    expect((await change(id, { ...same, name: 'Renamed', labels: ['x'] }, writer)).status).toBe(200);
    expect((await change(id, { enabled: false }, writer)).body).toMatchObject({ enabled: false, nextRunAt: null });
  });

  it('a scheduled run is billed to the person who last changed the prompt or schedule of its task, not to one who renamed the task', async () => {
    const { person: erin, token: editor } = await createMember(world, owner.organization, 'Erin', 'member');
    const { token: renamer } = await createMember(world, owner.organization, 'Frank', 'member');
    const { id } = await task();
    const editorOf = async () =>
      (await world.graphql(`{ scheduledTask(id: "${id}") { updatedByUserId } }`, { token: owner.token })).body.data
        .scheduledTask.updatedByUserId;
    expect(await editorOf()).toBe(owner.person.id);
    await change(id, { prompt: 'Something else.' }, editor);
    await change(id, { name: 'Renamed' }, renamer);
    expect(await editorOf()).toBe(erin.id);
    expect(await get(id)).not.toHaveProperty('updatedByUserId');
    await world.knex('recurring_missions').where({ id }).update({ nextRunAt: present() });
    await due();
    expect((await runs(id))[0]).toMatchObject({ kind: 'scheduled', billingActorUserId: erin.id });
    await world.rest('DELETE', `/scheduled-tasks/${id}`, { token: owner.token });
  });
});
