// Runs have an issue in the built-in tracker, or in the tracker of the assigned connector. Some tests create issues for runs that are due,
// and others find an issue that exists already.
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AskedIssue, createIssues } from '#domain/projects/issues/operations.ts';
import type { Project, ProjectTracker } from '#domain/projects/projects/model.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { textOfIssue } from '#domain/projects/vendors/issue-text.ts';
import { trackerOf } from '#domain/projects/vendors/tracker-of.ts';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { createRuns } from '#domain/work/runs/create.ts';
import { dispatching, takeOverRuns } from '#domain/work/runs/dispatch.ts';
import { seconds } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { openLog } from '#foundation/log.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { startScheduler } from '#surfaces/scheduler/surface.ts';
import { createOwner } from '../support/callers.ts';
import { rowsOf } from '../support/database-rows.ts';
import { failing, rateLimited } from '../support/fake-linear.ts';
import {
  create,
  finish,
  githubToken,
  linearKey,
  newIssue,
  openTrackerWorld,
  problemOf,
} from '../support/tracker-world.ts';
import { present } from '../support/world.ts';

const { logged, world, linear, github, acme, alice, connect, projectOn, using, close, reset, check } =
  await openTrackerWorld();
afterAll(close);
beforeEach(reset);
afterEach(check);

let number = 0;

describe('trackers', () => {
  const keysOf = async (runIds: (string | null)[]) => {
    const issues = await world.knex('issues').whereIn('runId', runIds);
    return runIds.map((runId) => issues.find((issue) => issue.runId === runId).key);
  };

  /** A run whose issue has not been created yet. */
  const runOf = async ({ id: projectId, orgId }: Project): Promise<Id<'run'>> => {
    const run = { orgId, projectId, recurringId: null, scheduledFor: present(), kind: 'manual' as const };
    const more = { missionTitle: 'Daily', billingActorUserId: null, blockedBy: null, prompt: 'Do it.' };
    return (await transaction((trx) => createRuns(trx, [{ ...run, ...more }], present())))[0]!.id;
  };

  it('the built-in tracker numbers the issues of many runs within their projects, and finds existing ones', async () => {
    const [shop, site] = [
      await projectOn('builtin', { issueCode: 'SHOP' }),
      await projectOn('builtin', { issueCode: 'SITE', repoFullName: 'acme/site' }),
    ];
    const asked: AskedIssue[] = [];
    for (const project of [shop, site, shop]) asked.push({ project, issue: newIssue({ runId: await runOf(project) }) });
    const runIds = asked.map(({ issue }) => issue.runId);
    const created = await createIssues(asked);
    expect(await keysOf(runIds)).toEqual(['SHOP-1', 'SITE-1', 'SHOP-2']);
    const later = { project: shop, issue: newIssue({ runId: await runOf(shop) }) };
    const all = await createIssues([...asked, later]);
    expect(runIds.map((id) => all.get(id))).toEqual(runIds.map((id) => created.get(id)));
    expect(await keysOf([later.issue.runId])).toEqual(['SHOP-3']);
  });

  it('the built-in tracker creates each issue only once when ten calls create it concurrently', async () => {
    const project = await projectOn('builtin');
    const asked = await Promise.all(
      [1, 2, 3].map(async () => ({ project, issue: newIssue({ runId: await runOf(project) }) })),
    );
    const answers = await Promise.all(Array.from({ length: 10 }, () => createIssues(asked)));
    expect(new Set(answers.map((answer) => JSON.stringify([...answer].sort()))).size).toBe(1);
    expect(await world.knex('issues').where({ projectId: project.id })).toHaveLength(3);
  });

  it('the built-in tracker closes the issue of a completed run, and leaves the issue of a failed run open', async () => {
    const project = await projectOn('builtin');
    const task = await scheduledTask(project);
    const { runId, issueId } = (await world.rest('POST', `/scheduled-tasks/${task}/run`, { token: alice })).body;
    const state = async () => (await world.knex('issues').where({ id: issueId }).first()).state;
    await finish(project, issueId, { runId, closes: false, comment: 'It broke.' });
    expect(await state()).toBe('open');
    await finish(project, issueId, { runId, closes: true, comment: 'Done.' });
    expect(await state()).toBe('closed');
  });
});

describe('connectors of trackers', () => {
  it('409 · the connector of a tracker must exist, belong to the tracker’s vendor, and have readable credentials', async () => {
    const project = await projectOn('linear');
    expect(await problemOf(create(Object.assign({}, project, { trackerConnectorId: null })))).toEqual([
      409,
      false,
      null,
      'The project has no tracker connector: connect one to the organization.',
    ]);
    await using(connect('linear'), async (id) => {
      expect(await problemOf(create(Object.assign({}, project, { trackerConnectorId: id })))).toEqual([
        409,
        false,
        null,
        'The connector linear has no credentials: set new ones.',
      ]);
    });
    await using(connect('github', githubToken), async (id) => {
      expect(await problemOf(create(Object.assign({}, project, { trackerConnectorId: id })))).toEqual([
        409,
        false,
        null,
        "The project's tracker connector is not for Linear.",
      ]);
    });
    bindSecretKey(Buffer.alloc(32, 8));
    const unread = await problemOf(create(project)).finally(() => bindSecretKey(Buffer.alloc(32, 7)));
    expect(unread).toEqual([409, false, null, 'The credentials of the connector linear cannot be read: set new ones.']);
    expect(linear.asked).toEqual([]);
  });

  it('409 · the connector of a tracker must belong to the organization of the run', async () => {
    const project = await projectOn('linear');
    const { organization: other } = await createOwner(world, 'Bob', `Other ${++number}`);
    expect(await problemOf(create(Object.assign({}, project, { orgId: other.id })))).toMatchObject([
      409,
      false,
      null,
      /no tracker/,
    ]);
  });

  it('a new tracker connector is assigned to existing projects that use the same tracker and have no connector for it', async () => {
    const { organization: late, token } = await createOwner(world, 'Carol', `Late ${++number}`);
    const make = async (tracker: ProjectTracker, repoFullName: string) =>
      (await world.rest('POST', '/projects', { token, body: { name: tracker, repoFullName, tracker } })).body;
    const [onLinear, onGitHub] = [await make('linear', 'late/a'), await make('github', 'late/b')];
    expect(onLinear.missingConnectorKinds).toEqual(['tracker', 'scm', 'llm']);
    const connector = { orgId: late.id, displayName: 'Late', credentials: linearKey };
    const made = await connectIntegration({ ...connector, vendor: 'linear', vendorKind: 'tracker' });
    await connectIntegration({ ...connector, vendor: 'linear', vendorKind: 'tracker' });
    await connectIntegration({ ...connector, vendor: 'github', vendorKind: 'scm' });
    const read = async (id: string) => (await world.rest('GET', `/projects/${id}`, { token })).body;
    expect(await read(onLinear.id)).toMatchObject({ trackerConnectorId: made.id, missingConnectorKinds: ['llm'] });
    expect(await read(onGitHub.id)).toMatchObject({
      trackerConnectorId: null,
      missingConnectorKinds: ['tracker', 'llm'],
    });
  });
});

/** A task of the project that is due every morning. */
async function scheduledTask(project: Project): Promise<string> {
  const schedule = { interval: 'daily', time: '09:00', timezone: 'UTC' };
  const body = { projectId: project.id, name: 'Daily', prompt: 'Do it.', triggers: [{ kind: 'schedule', schedule }] };
  const { id, nextRunAt } = (await world.rest('POST', '/scheduled-tasks', { token: alice, body })).body;
  world.clock.turn(nextRunAt - present());
  return id;
}

describe('issues that are due to be created', () => {
  const due = () => dispatchDue();
  const runsOf = (id: string) => world.knex('runs').where({ recurringId: id });

  it('an issue is created in Linear, and the run links to it', async () => {
    const id = await scheduledTask(await projectOn('linear'));
    await due();
    const [issue] = [...linear.issues.values()];
    expect(await runsOf(id)).toMatchObject([
      { status: 'dispatching', issueId: issue!.id, issueUrl: issue!.url, lastError: null, leaseUntil: null },
    ]);
  });

  it('an issue is created on GitHub, and the run links to it', async () => {
    const id = await scheduledTask(await projectOn('github'));
    await due();
    expect(await runsOf(id)).toMatchObject([
      { issueId: 'acme/shop#1', issueUrl: 'https://github.com/acme/shop/issues/1', leaseUntil: null },
    ]);
  });

  it('the creation of an issue is retried when the tracker is unavailable; if only the answer was lost, no second issue is created', async () => {
    const id = await scheduledTask(await projectOn('github'));
    github.disturb('issues/create', 'lose the answer');
    await due();
    expect(await runsOf(id)).toMatchObject([
      {
        status: 'dispatching',
        issueId: null,
        lastError: 'GitHub is unreachable.',
        reason: 'Waiting for the tracker (github): GitHub is unreachable.',
        leaseUntil: present() + dispatching.delayMs.min,
      },
    ]);
    await due();
    expect(github.asked).toHaveLength(2);
    world.clock.turn(dispatching.delayMs.min);
    await due();
    expect(await runsOf(id)).toMatchObject([{ status: 'dispatching', attempts: 2, issueId: 'acme/shop#1' }]);
    expect(github.repositories.get('acme/shop')!.issues).toHaveLength(1);
  });

  it('an issue stays with the process that claimed it, however long the tracker takes', async () => {
    await world.lift(acme);
    await world.grant(acme, 10_000);
    const project = await projectOn('linear');
    for (let n = 0; n < 2 * dispatching.concurrency + 1; n++) await scheduledTask(project);
    const tracker = trackerOf(project);
    const create = tracker.createIssue;
    const taken: unknown[] = [];
    vi.spyOn(tracker, 'createIssue').mockImplementation(async (...asked) => {
      world.clock.turn((dispatching.leaseMs / dispatching.concurrency) * 0.7);
      taken.push(...(await takeOverRuns()));
      return create(...asked);
    });
    await due();
    expect(taken).toEqual([]);
    expect(linear.issues.size).toBe(2 * dispatching.concurrency + 1);
  });

  it('the creation of an issue waits for the time that the tracker requests', async () => {
    const id = await scheduledTask(await projectOn('linear'));
    linear.disturb('Team', rateLimited({ 'retry-after': '1800' }));
    await due();
    expect(await runsOf(id)).toMatchObject([{ status: 'dispatching', leaseUntil: present() + seconds(1_800) }]);
    world.clock.turn(seconds(1_800));
    await due();
    expect(await runsOf(id)).toMatchObject([{ issueId: expect.any(String) }]);
  });

  it('a run fails, with advice, when the tracker refuses its issue for good', async () => {
    const id = await scheduledTask(await projectOn('linear'));
    linear.settings.authorization = 'another';
    await due();
    const lastError =
      'Linear rejected the credentials of the tracker connector (You need to authenticate to access this operation.): replace them.';
    expect(await runsOf(id)).toMatchObject([{ status: 'failed', attempts: 1, issueId: null, lastError }]);
    expect((await runsOf(id))[0].reason).toBe(`The tracker (linear) did not accept the issue: ${lastError}`);
  });
});

it('credentials of connectors are in no log line and in no row, even after failures that quote them', async () => {
  const log = openLog({ level: 'trace', destination: { write: (line) => logged.push(line) } });
  const [onLinear, onGitHub] = [
    await scheduledTask(await projectOn('linear')),
    await scheduledTask(await projectOn('github', { repoFullName: 'acme/other' })),
  ];
  github.clear('acme/other');
  linear.disturb('Team', failing(400, `Not ${linearKey}.`, { type: 'forbidden' }));
  github.disturb('issues/create', { status: 403, body: { message: `Not ${githubToken}.` } });
  const run = () => dispatchDue();
  const scheduler = startScheduler([{ name: 'start due missions', intervalMs: 20, run }], log);
  await vi.waitFor(async () => expect(await world.knex('runs').where({ status: 'failed' })).toHaveLength(2));
  await scheduler.stop();
  const runs = await world.knex('runs').whereIn('recurringId', [onLinear, onGitHub]);
  expect(runs.map(({ lastError }) => lastError.replace(/^\w+ rejected/, ''))).toEqual(
    Array.from(
      { length: 2 },
      () => ' the request, because the credentials of the tracker connector do not allow it: Not [redacted].',
    ),
  );
  const written = [...(await rowsOf(world.knex)), ...logged].join('\n');
  expect(written.length).toBeGreaterThan(1_000);
  expect(written).not.toContain('OfAcmeAndOfNobodyElse');
});

describe('existing issues', () => {
  it('an existing issue in Linear is found by its id', async () => {
    const project = await projectOn('linear');
    const issue = await create(project);
    expect(await trackerOf(project).findIssue(project, issue.id)).toMatchObject({
      ...issue,
      title: expect.any(String),
      comments: [],
    });
    linear.comments.set('c1', { id: 'c1', issueId: issue.id, body: 'Seen on Mondays.' });
    const { comments } = await trackerOf(project).findIssue(project, issue.id);
    expect(comments).toEqual([{ author: '', text: 'Seen on Mondays.' }]);
    const [status, retryable] = await problemOf(trackerOf(project).findIssue(project, 'ENG-999'));
    expect([status, retryable]).toEqual([409, false]);
  });

  it('an existing issue on GitHub is found by its number, in the repository of the project only', async () => {
    const project = await projectOn('github');
    const issue = await create(project);
    for (const name of ['1', '#1', 'ACME/shop#1']) {
      expect(await trackerOf(project).findIssue(project, name)).toMatchObject({
        ...issue,
        title: expect.any(String),
        comments: [],
      });
    }
    const said = {
      body: 'Me too.',
      html_url: 'https://github.com/acme/shop/issues/1#c',
      created_at: '2026-01-01T00:00:00Z',
    };
    github.repositories.get('acme/shop')!.issues[0]!.comments.push(said);
    const found = await trackerOf(project).findIssue(project, '#1');
    expect(found).toMatchObject({ title: expect.any(String), comments: [{ author: '', text: 'Me too.' }] });
    const many = Array.from({ length: 9 }, (_, i) => ({ author: `p${i}`, text: `${i}`.repeat(2_500) }));
    const text = textOfIssue({ ...found, body: 'x\0y'.repeat(9_000), comments: many });
    expect(text.length).toBeLessThan(24_000);
    expect(text).toContain('(5 earlier comments are left out.)\n\nComment of p5:\n5');
    expect(text).not.toContain('\0');
    for (const name of ['acme/other#1', '../1', 'first']) {
      const problem = await problemOf(trackerOf(project).findIssue(project, name));
      expect(problem).toEqual([
        400,
        false,
        null,
        'issue: must be the number of an issue of acme/shop, for example #12.',
      ]);
    }
    const unknown = await problemOf(trackerOf(project).findIssue(project, '999'));
    expect(unknown.slice(0, 2)).toEqual([409, false]);
    const issues = ['#1', '1', '999'].map((name) => ({ projectId: project.id, issue: name }));
    const start =
      'mutation ($input: StartMissionsRequest!) { startMissions(input: $input) { starts { runId reason } } }';
    const { starts } = await world.field(start, { token: alice, variables: { input: { issues } } });
    expect(starts).toEqual([
      { runId: expect.stringMatching(/^run_/), reason: null },
      { runId: null, reason: `A mission is already working on the issue: ${starts[0].runId}.` },
      { runId: null, reason: expect.stringMatching(/github/i) },
    ]);
    const [run] = await world.knex('runs').where({ id: starts[0].runId });
    expect(run).toMatchObject({ issueId: found.id, issueUrl: found.url, prompt: `Solve the issue ${found.id}.` });
  });
});
