// Trackers of vendors: requests are checked against the vendors' published APIs, an issue is created once in spite of lost answers,
// and each failure becomes a problem that says whether to retry or what a person must do.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { ProjectKind } from '#domain/projects/integrations/model.ts';
import { replaceCredentials } from '#domain/projects/integrations/operations.ts';
import { type AskedIssue, createIssues } from '#domain/projects/issues/operations.ts';
import type { Project, ProjectTracker } from '#domain/projects/projects/model.ts';
import { vendorPauseMs } from '#domain/projects/vendors/connection.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { textOfIssue } from '#domain/projects/vendors/issue-text.ts';
import type { IssueOutcome } from '#domain/projects/vendors/tracker.ts';
import { trackerOf } from '#domain/projects/vendors/tracker-of.ts';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { createRuns } from '#domain/work/runs/create.ts';
import { dispatching, takeOverRuns } from '#domain/work/runs/dispatch.ts';
import { hours, isoTime, seconds } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { openLog } from '#foundation/log.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { Problem } from '#foundation/problem.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { startScheduler } from '#surfaces/scheduler/surface.ts';
import { createOwner } from '../support/callers.ts';
import { rowsOf } from '../support/database-rows.ts';
import { type GitHub, openGitHub } from '../support/fake-github.ts';
import { failing, type Linear, openLinear, rateLimited } from '../support/fake-linear.ts';
import { openWorld, present, type World } from '../support/world.ts';

const linearKey = 'lin_api_OfAcmeAndOfNobodyElse';
const githubToken = 'ghp_OfAcmeAndOfNobodyElse';
const logged: string[] = [];
let world: World;
let linear: Linear;
let github: GitHub;
let acme: Organization;
let alice: string;
let number = 0;

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  [linear, github] = await Promise.all([openLinear(linearKey), openGitHub(githubToken)]);
  const vendors = { linear: linear.address, github: github.address };
  world = await openWorld({ vendors, log: (line) => logged.push(line) });
  ({ organization: acme, token: alice } = await createOwner(world, 'Alice', 'Acme'));
  await connect('linear', linearKey);
  await connect('github', githubToken);
});
afterAll(async () => {
  await Promise.all([world.close(), linear.close(), github.close()]);
  openOutbound({ allowLoopback: false });
});
beforeEach(async () => {
  linear.clear();
  github.clear('acme/shop');
  await world.knex('projects').delete();
});
afterEach(async () => {
  await world.knex('integrations').update({ pausedUntil: null });
  vi.restoreAllMocks();
  expect([linear.violations, github.violations]).toEqual([[], []]);
});

const connect = (vendor: ProjectTracker, credentials?: string, vendorKind: ProjectKind = 'tracker') =>
  connectIntegration({ orgId: acme.id, vendor, vendorKind, displayName: vendor, credentials });

interface Shown {
  missingConnectorKinds?: ProjectKind[];
}

/** A project created by the API. */
async function projectOn(tracker: ProjectTracker, more: object = {}): Promise<Project & Shown> {
  const body = { name: 'Shop', repoFullName: 'acme/shop', tracker, trackerTeamKey: 'ENG', ...more };
  const answer = await world.rest('POST', '/projects', { token: alice, body });
  expect(answer.status).toBe(201);
  return answer.body;
}

const newIssue = (more: object = {}) => ({
  runId: newId('run'),
  title: 'Daily',
  body: 'Do it.',
  labels: [],
  ...more,
});
const create = (project: Project, issue = newIssue()) => trackerOf(project).createIssue(project, issue);
const finish = (project: Project, issueId: string, outcome: IssueOutcome) =>
  trackerOf(project).finishIssue(project, issueId, outcome);

/** The error of a refused call: status, whether a retry may help, the seconds before a retry, and the message. */
const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it was not refused'),
    (error) => {
      expect(error).toBeInstanceOf(Problem);
      expect(JSON.stringify([error.message, error.stack, error.body])).not.toMatch(/OfAcmeAndOfNobodyElse/);
      const { status, body, headers } = error as Problem;
      return [status, body.retryable, headers['retry-after'] ?? null, body.description];
    },
  );

const soon = () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(150));
};

describe('Linear as tracker', () => {
  it('creates the issue of a run in the team, with the labels that exist', async () => {
    const project = await projectOn('linear');
    expect(project.missingConnectorKinds).not.toContain('tracker');
    const issue = newIssue({ labels: ['nightly', 'bot', 'Kind', 'unheard of'] });
    const { id, url } = await create(project, issue);
    expect(url).toBe('https://linear.app/acme/issue/ENG-1');
    expect([...linear.issues.values()]).toEqual([
      {
        id,
        identifier: 'ENG-1',
        url,
        title: 'Daily',
        description: 'Do it.',
        labelIds: ['label-nightly', 'label-bot'],
        teamId: linear.teamId,
        stateId: 'state-todo',
      },
    ]);
    expect(linear.asked).toEqual(['Team', 'CreateIssue']);
  });

  it('finds the team by its id, or by its key in any case', async () => {
    const project = await projectOn('linear', { trackerTeamKey: linear.teamId });
    await create(project);
    await create(Object.assign({}, project, { trackerTeamId: 'eng' }));
    expect([...linear.issues.values()].map(({ teamId }) => teamId)).toEqual([linear.teamId, linear.teamId]);
  });

  it.each([200, 400])('creates one issue for ten concurrent calls (errors with status %i)', async (status) => {
    linear.settings.statusOfErrors = status;
    const project = await projectOn('linear');
    const issue = newIssue();
    const created = await Promise.all(Array.from({ length: 10 }, () => create(project, issue)));
    const [{ id, url } = expect.unreachable()] = [...linear.issues.values()];
    expect(created).toEqual(Array.from({ length: 10 }, () => ({ id, url })));
    expect(linear.issues.size).toBe(1);
  });

  it('502 · an issue whose answer was lost is found again', async () => {
    const project = await projectOn('linear');
    const issue = newIssue();
    linear.disturb('CreateIssue', 'lose the answer');
    expect(await problemOf(create(project, issue))).toEqual([502, true, null, 'Linear is unreachable.']);
    const [made] = [...linear.issues.values()];
    expect(await create(project, issue)).toEqual({ id: made!.id, url: made!.url });
    expect(linear.issues.size).toBe(1);
  });

  it('sends a personal key unchanged, and any other token as a bearer token', async () => {
    const project = await projectOn('linear');
    await using(connect('linear', 'lin_oauth_token'), async (id) => {
      linear.settings.authorization = 'Bearer lin_oauth_token';
      await create(Object.assign({}, project, { trackerConnectorId: id }));
    });
    expect(linear.issues.size).toBe(1);
  });

  it('comments once on the end of a run, and moves the issue to the first completed state', async () => {
    const project = await projectOn('linear');
    const issue = newIssue();
    const { id } = await create(project, issue);
    const outcome: IssueOutcome = { runId: issue.runId, closes: false, comment: 'It broke.' };
    await finish(project, id, outcome);
    expect(linear.issues.get(id)!.stateId).toBe('state-todo');
    linear.disturb('UpdateIssue', 'lose the answer');
    const completed: IssueOutcome = { ...outcome, closes: true, comment: 'It is done.' };
    expect(await problemOf(finish(project, id, completed))).toMatchObject({ 0: 502, 1: true });
    await Promise.all([finish(project, id, completed), finish(project, id, completed)]);
    expect([...linear.comments.values()]).toEqual([{ id: expect.any(String), issueId: id, body: 'It is done.' }]);
    expect(linear.issues.get(id)!.stateId).toBe('state-done');
  });

  it('does not change an issue that a person has closed', async () => {
    const project = await projectOn('linear');
    const issue = newIssue();
    const { id } = await create(project, issue);
    linear.issues.get(id)!.stateId = 'state-canceled';
    await finish(project, id, { runId: issue.runId, closes: true, comment: 'Done.' });
    expect(linear.issues.get(id)!.stateId).toBe('state-canceled');
  });

  it('409 · reports a team without a state for completed issues', async () => {
    const project = await projectOn('linear', { trackerTeamKey: 'OPS' });
    const issue = newIssue();
    const { id } = await create(project, issue);
    expect(await problemOf(finish(project, id, { runId: issue.runId, closes: true, comment: 'Done.' }))).toMatchObject([
      409,
      false,
      null,
      expect.stringContaining('no workflow state'),
    ]);
  });

  it('409 · reports a comment on a deleted issue with the message of Linear', async () => {
    const project = await projectOn('linear');
    const outcome: IssueOutcome = { runId: newId('run'), closes: false, comment: 'It broke.' };
    expect(await problemOf(finish(project, 'gone', outcome))).toEqual([
      409,
      false,
      null,
      'Linear rejected the request: Could not find referenced Issue.',
    ]);
  });

  it.each([
    ['no team', undefined, 'trackerTeamKey: the project names no Linear team.'],
    ['an unknown team', 'NONE', 'trackerTeamKey: Linear shows no team NONE to this connector.'],
    [
      'an id that is not the id of a team',
      '00000000-0000-4000-8000-000000000000',
      'trackerTeamKey: Linear shows no team 00000000-0000-4000-8000-000000000000 to this connector.',
    ],
  ])('409 · reports a project with %s', async (_, trackerTeamKey, description) => {
    const project = await projectOn('linear', { trackerTeamKey });
    expect(await problemOf(create(project))).toEqual([409, false, null, description]);
    expect(linear.issues.size).toBe(0);
  });

  it('409 · reports rejected credentials', async () => {
    linear.settings.authorization = 'another';
    expect(await problemOf(create(await projectOn('linear')))).toEqual([
      409,
      false,
      null,
      'Linear rejected the credentials of the tracker connector (You need to authenticate to access this operation.): replace them.',
    ]);
  });

  it('causes a notice while a connector has rejected credentials, until they are accepted again or replaced', async () => {
    const project = await projectOn('linear');
    const session = await world.session(await world.person('Alice'), project.orgId);
    await create(project);
    const notices = async () => (await world.rest('GET', '/notices', { session })).body.notices;
    const authorization = linear.settings.authorization!;
    const breakDown = async () => {
      linear.settings.authorization = 'another';
      await problemOf(create(project));
      return (await notices())[0];
    };
    const first = await breakDown();
    expect(first).toMatchObject({ kind: 'action', createdAt: present() });
    expect(first.id).toBe(`connector_broken:${project.trackerConnectorId}:${present()}`);
    world.clock.turn(1_000);
    expect(await breakDown()).toEqual(first);
    linear.settings.authorization = authorization;
    await create(project);
    expect(await notices()).toEqual([]);
    const second = await breakDown();
    expect(second.id).not.toBe(first.id);
    linear.settings.authorization = authorization;
    await replaceCredentials(project.trackerConnectorId!, linearKey);
    expect(await notices()).toEqual([]);
  });

  const userPresentableMessage = `You said ${linearKey}.`;
  it.each([
    [
      'forbidden',
      200,
      { type: 'forbidden', userPresentableMessage },
      false,
      /rejected access for the credentials.*redacted/,
    ],
    ['usage limit exceeded', 400, { type: 'usage limit exceeded' }, false, /rejected the request: Words\./],
    ['feature not accessible', 200, { type: 'feature not accessible', userPresentableMessage }, false, /redacted/],
    ['invalid input', 400, { code: 'INPUT_ERROR', userError: true }, false, /rejected the request: Words\./],
    ['lock timeout', 200, { type: 'lock timeout' }, true, /Linear failed/],
    ['internal error', 200, { type: 'internal error', code: 'INTERNAL_SERVER_ERROR' }, true, /Linear failed/],
    ['an undocumented error', 200, { type: 'new' }, true, /Linear failed/],
    ['no GraphQL error', 400, null, false, /rejected the request\./],
    ['no GraphQL error', 503, null, true, /Linear failed \(status 503\)\./],
  ])('tells permanent failures from temporary ones: %s, with %i', async (_, status, extensions, retryable, words) => {
    const project = await projectOn('linear');
    linear.disturb(
      'CreateIssue',
      extensions ? failing(status, 'Words.', extensions) : { status, body: Buffer.from('') },
    );
    expect(await problemOf(create(project))).toEqual([
      retryable ? 502 : 409,
      retryable,
      null,
      expect.stringMatching(words),
    ]);
    expect(linear.issues.size).toBe(0);
  });

  it.each([
    [{ 'retry-after': '30' }, '30'],
    [{ 'x-ratelimit-requests-remaining': '0', 'x-ratelimit-requests-reset': 'in 20 minutes' }, '1200'],
    [{}, String(vendorPauseMs.default / 1_000)],
    [{ 'retry-after': '86400' }, String(vendorPauseMs.max / 1_000)],
  ])('503 · reports a rate limit, with %j', async (headers, after) => {
    const project = await projectOn('linear');
    const told = Object.entries(headers).map(([name, value]) => [
      name,
      value === 'in 20 minutes' ? String(present() + seconds(1_200)) : value,
    ]);
    linear.disturb('Team', rateLimited(Object.fromEntries(told)));
    const limited = [503, true, after, 'Linear limits the rate of requests.'];
    expect(await problemOf(create(project))).toEqual(limited);
    // The next call waits for the end of the limit, in any process.
    const asked = linear.asked.length;
    expect(await problemOf(create(project))).toEqual(limited);
    expect(linear.asked).toHaveLength(asked);
    world.clock.turn(seconds(Number(after)));
    expect((await create(project)).id).toBeTruthy();
  });

  it('504 · reports a missing answer after the time limit', async () => {
    const project = await projectOn('linear');
    linear.disturb('CreateIssue', 'never answer');
    soon();
    expect(await problemOf(create(project))).toEqual([504, true, null, 'Linear did not answer in time.']);
  });

  it('502 · reports an answer of an unexpected form', async () => {
    const project = await projectOn('linear');
    linear.disturb('Team', { status: 200, body: { data: { teams: [] } } });
    expect(await problemOf(create(project))).toMatchObject({ 0: 502, 1: true });
    linear.disturb('Team', { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from('<p>') });
    expect(await problemOf(create(project))).toMatchObject({ 0: 502, 1: true });
  });
});

describe('GitHub as tracker', () => {
  const issues = () => github.repositories.get('acme/shop')!.issues;

  it('creates the issue of a run, with its labels and a hidden mark', async () => {
    const issue = newIssue({ labels: ['nightly'] });
    expect(await create(await projectOn('github'), issue)).toEqual({
      id: 'acme/shop#1',
      url: 'https://github.com/acme/shop/issues/1',
    });
    expect(issues()).toMatchObject([
      { title: 'Daily', body: `Do it.\n\n<!-- run: ${issue.runId} -->`, labels: ['nightly'], state: 'open' },
    ]);
  });

  it('creates one issue for ten concurrent calls', async () => {
    const [project, issue] = [await projectOn('github'), newIssue()];
    const created = await Promise.all(Array.from({ length: 10 }, () => create(project, issue)));
    expect(new Set(created.map(({ id }) => id))).toEqual(new Set(['acme/shop#1']));
    expect(issues()).toHaveLength(1);
    await Promise.all([create(project), create(project)]);
    expect(issues()).toHaveLength(3);
  });

  it('502 · an issue whose answer was lost is found again, even behind newer ones', async () => {
    const [project, issue] = [await projectOn('github'), newIssue()];
    github.disturb('issues/create', 'lose the answer');
    expect(await problemOf(create(project, issue))).toEqual([502, true, null, 'GitHub is unreachable.']);
    // A pull request that quotes the issue is not the issue.
    github.open('acme/shop', { body: issues()[0]!.body, pull_request: {} });
    for (let n = 0; n < 120; n++) github.open('acme/shop', { body: 'Something else.' });
    expect(await create(project, issue)).toEqual({ id: 'acme/shop#1', url: issues()[0]!.html_url });
    expect(issues()).toHaveLength(122);
  });

  it('does not search issues older than the run', async () => {
    for (let n = 0; n < 300; n++) github.open('acme/shop', { created_at: isoTime(present() - hours(2)) });
    await create(await projectOn('github'));
    expect(github.asked).toEqual(['issues/list-for-repo', 'issues/create']);
  });

  it('comments once on the end of a run, after any other comments, and closes the issue as completed', async () => {
    const [project, issue] = [await projectOn('github'), newIssue()];
    const { id } = await create(project, issue);
    const others = { body: 'Interesting.', html_url: 'https://github.com/x', created_at: isoTime(present()) };
    issues()[0]!.comments.push(...Array.from({ length: 130 }, () => others));
    const outcome: IssueOutcome = { runId: issue.runId, closes: false, comment: 'It broke.' };
    await finish(project, id, outcome);
    expect(issues()).toMatchObject([{ state: 'open' }]);
    await Promise.all([1, 2].map(() => finish(project, id, { ...outcome, closes: true })));
    expect(issues()).toMatchObject([{ state: 'closed', state_reason: 'completed' }]);
    expect(
      issues()[0]!
        .comments.slice(130)
        .map(({ body }) => body),
    ).toEqual([`It broke.\n\n<!-- run: ${issue.runId} -->`]);
  });

  it('409 · reports an issue that is not on GitHub', async () => {
    const outcome: IssueOutcome = { runId: newId('run'), closes: false, comment: 'It broke.' };
    expect(await problemOf(finish(await projectOn('github'), 'iss_1', outcome))).toEqual([
      409,
      false,
      null,
      'iss_1 is not an issue on GitHub.',
    ]);
  });

  it.each(['acme/gone', '../shop', 'acme/..', 'a?b/c#d'])(
    '409 · reports an unknown or invalid repository: %s',
    async (repoFullName) => {
      expect(await problemOf(create(await projectOn('github', { repoFullName })))).toEqual([
        409,
        false,
        null,
        `GitHub shows no repository ${repoFullName} to this connector: correct repoFullName, or give its credentials access to it.`,
      ]);
    },
  );

  it('409 · reports rejected credentials', async () => {
    github.settings.token = 'another';
    expect(await problemOf(create(await projectOn('github')))).toEqual([
      409,
      false,
      null,
      'GitHub rejected the credentials of the tracker connector (Bad credentials): replace them.',
    ]);
  });

  const message = `You said ${githubToken}.`;
  it.each([
    [301, {}, {}, 409, false, null, /moved the repository acme\/shop/],
    [403, { message }, {}, 409, false, null, /rejected access for the credentials of the tracker.*\[redacted\]/],
    [403, { message: 'You have exceeded a secondary rate limit.' }, {}, 503, true, '60', /limits the rate/],
    [403, { message }, { 'retry-after': '7' }, 503, true, '7', /limits the rate/],
    [
      403,
      { message },
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1800' },
      503,
      true,
      '1800',
      /limits the rate/,
    ],
    [429, {}, {}, 503, true, '60', /limits the rate/],
    [410, { message: 'Issues are disabled for this repo' }, {}, 409, false, null, /Issues are disabled for acme\/shop/],
    [422, { message: 'Validation Failed' }, {}, 409, false, null, /rejected the request: Validation Failed/],
    [500, {}, {}, 502, true, null, /failed \(status 500\)/],
    [503, {}, {}, 502, true, null, /failed \(status 503\)/],
  ] as const)('tells permanent failures from temporary ones: %i %j %j', async (status, body, headers, ...expected) => {
    const project = await projectOn('github');
    const reset = (value: string) => String(Math.floor(present() / 1_000) + Number(value));
    const told = Object.entries(headers).map(([name, value]) => [name, name.endsWith('reset') ? reset(value) : value]);
    github.disturb('issues/create', { status, body, headers: Object.fromEntries(told) });
    const [words] = expected.slice(-1) as [RegExp];
    expect(await problemOf(create(project))).toEqual([...expected.slice(0, -1), expect.stringMatching(words)]);
    expect(issues()).toEqual([]);
  });

  it('504 · reports a missing answer after the time limit of all calls together', async () => {
    const project = await projectOn('github');
    github.disturb('issues/list-for-repo', 'never answer');
    soon();
    expect(await problemOf(create(project))).toEqual([504, true, null, 'GitHub did not answer in time.']);
  });

  it('502 · reports an answer of an unexpected form', async () => {
    const project = await projectOn('github');
    github.disturb('issues/list-for-repo', { status: 200, body: { message: 'Hello.' } });
    expect(await problemOf(create(project))).toMatchObject({ 0: 502, 1: true });
  });
});

describe('the built-in tracker', () => {
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

  it('numbers the issues of many runs within their projects, and finds existing ones', async () => {
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

  it('creates each issue once for ten concurrent calls', async () => {
    const project = await projectOn('builtin');
    const asked = await Promise.all(
      [1, 2, 3].map(async () => ({ project, issue: newIssue({ runId: await runOf(project) }) })),
    );
    const answers = await Promise.all(Array.from({ length: 10 }, () => createIssues(asked)));
    expect(new Set(answers.map((answer) => JSON.stringify([...answer].sort()))).size).toBe(1);
    expect(await world.knex('issues').where({ projectId: project.id })).toHaveLength(3);
  });

  it('closes the issue of a completed run, and leaves the issue of a failed run open', async () => {
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

describe('the connector of a tracker', () => {
  it('409 · is refused when it is missing, or when its credentials are missing or unreadable', async () => {
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

  it('409 · is refused when it belongs to another organization', async () => {
    const project = await projectOn('linear');
    const other = await world.found(await world.person('Bob'), `Other ${++number}`);
    expect(await problemOf(create(Object.assign({}, project, { orgId: other.id })))).toMatchObject([
      409,
      false,
      null,
      /no tracker/,
    ]);
  });

  it('is assigned, when it is connected later, to projects without one, only of its vendor and organization', async () => {
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

describe('an issue that is due to be created', () => {
  const due = () => dispatchDue();
  const runsOf = (id: string) => world.knex('runs').where({ recurringId: id });

  it('is created at Linear, and the run links to it', async () => {
    const id = await scheduledTask(await projectOn('linear'));
    await due();
    const [issue] = [...linear.issues.values()];
    expect(await runsOf(id)).toMatchObject([
      { status: 'dispatching', issueId: issue!.id, issueUrl: issue!.url, lastError: null, leaseUntil: null },
    ]);
  });

  it('is created at GitHub, and the run links to it', async () => {
    const id = await scheduledTask(await projectOn('github'));
    await due();
    expect(await runsOf(id)).toMatchObject([
      { issueId: 'acme/shop#1', issueUrl: 'https://github.com/acme/shop/issues/1', leaseUntil: null },
    ]);
  });

  it('is retried when the tracker is unavailable, and created once even if the first call succeeded', async () => {
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

  it('stays with the process that claimed it, however long the tracker takes', async () => {
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

  it('waits for the time that the tracker requests', async () => {
    const id = await scheduledTask(await projectOn('linear'));
    linear.disturb('Team', rateLimited({ 'retry-after': '1800' }));
    await due();
    expect(await runsOf(id)).toMatchObject([{ status: 'dispatching', leaseUntil: present() + seconds(1_800) }]);
    world.clock.turn(seconds(1_800));
    await due();
    expect(await runsOf(id)).toMatchObject([{ issueId: expect.any(String) }]);
  });

  it('fails permanently, with advice, when a retry does not help', async () => {
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
    Array.from({ length: 2 }, () => ' access for the credentials of the tracker connector: Not [redacted].'),
  );
  const written = [...(await rowsOf(world.knex)), ...logged].join('\n');
  expect(written.length).toBeGreaterThan(1_000);
  expect(written).not.toContain('OfAcmeAndOfNobodyElse');
});

/** Works with a second connector, which is deleted afterwards. */
async function using<T extends { id: string }>(made: Promise<T>, work: (id: T['id']) => Promise<void>): Promise<void> {
  const { id } = await made;
  await work(id);
  await world.knex('integrations').where({ id }).delete();
}

describe('an existing issue', () => {
  it('is found at Linear by its id', async () => {
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

  it('is found at GitHub by its number, in the repository of the project only', async () => {
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
      { runId: null, reason: `A mission works on the issue already: ${starts[0].runId}.` },
      { runId: null, reason: expect.stringMatching(/github/i) },
    ]);
    const [run] = await world.knex('runs').where({ id: starts[0].runId });
    expect(run).toMatchObject({ issueId: found.id, issueUrl: found.url, prompt: `Solve the issue ${found.id}.` });
  });
});
