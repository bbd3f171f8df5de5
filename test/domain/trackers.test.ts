// Trackers of vendors: an issue is created only once although a response is lost, the tracker gets the outcome of the run, and each failure
// becomes a problem that says whether to retry or what a person must do.
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { replaceCredentials } from '#domain/projects/integrations/operations.ts';
import { vendorPauseMs } from '#domain/projects/vendors/connection.ts';
import type { IssueOutcome } from '#domain/projects/vendors/tracker.ts';
import { hours, isoTime, seconds } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
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

const { world, linear, github, connect, projectOn, using, close, reset, check } = await openTrackerWorld();
afterAll(close);
beforeEach(reset);
afterEach(check);

const soon = () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(150));
};

describe('Linear as tracker', () => {
  it('the issue of a run is created in Linear’s team, with the labels that exist', async () => {
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

  it('Linear’s team is found by its id, or by its key in any letter case', async () => {
    const project = await projectOn('linear', { trackerTeamKey: linear.teamId });
    await create(project);
    await create(Object.assign({}, project, { trackerTeamId: 'eng' }));
    expect([...linear.issues.values()].map(({ teamId }) => teamId)).toEqual([linear.teamId, linear.teamId]);
  });

  it.each([200, 400])(
    'one issue is created in Linear for ten concurrent calls, when Linear sends errors with the status %i',
    async (status) => {
      linear.settings.statusOfErrors = status;
      const project = await projectOn('linear');
      const issue = newIssue();
      const created = await Promise.all(Array.from({ length: 10 }, () => create(project, issue)));
      const [{ id, url } = expect.unreachable()] = [...linear.issues.values()];
      expect(created).toEqual(Array.from({ length: 10 }, () => ({ id, url })));
      expect(linear.issues.size).toBe(1);
    },
  );

  it('502 · an issue that was created in Linear although the answer was lost is found by the next call', async () => {
    const project = await projectOn('linear');
    const issue = newIssue();
    linear.disturb('CreateIssue', 'lose the answer');
    expect(await problemOf(create(project, issue))).toEqual([502, true, null, 'Linear is unreachable.']);
    const [made] = [...linear.issues.values()];
    expect(await create(project, issue)).toEqual({ id: made!.id, url: made!.url });
    expect(linear.issues.size).toBe(1);
  });

  it('a token that is not a personal API key for Linear is sent as a bearer token', async () => {
    const project = await projectOn('linear');
    await using(connect('linear', 'lin_oauth_token'), async (id) => {
      linear.settings.authorization = 'Bearer lin_oauth_token';
      await create(Object.assign({}, project, { trackerConnectorId: id }));
    });
    expect(linear.issues.size).toBe(1);
  });

  it('Linear gets one comment about the end of a run, and the issue moves to the first completed state', async () => {
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

  it('an issue that a person has closed in Linear is not changed', async () => {
    const project = await projectOn('linear');
    const issue = newIssue();
    const { id } = await create(project, issue);
    linear.issues.get(id)!.stateId = 'state-canceled';
    await finish(project, id, { runId: issue.runId, closes: true, comment: 'Done.' });
    expect(linear.issues.get(id)!.stateId).toBe('state-canceled');
  });

  it('409 · an error says that Linear’s team has no state for completed issues', async () => {
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

  it('409 · a comment on a deleted issue fails with Linear’s message', async () => {
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
    ['an unknown team', 'NONE', 'trackerTeamKey: the connector cannot see the team NONE in Linear.'],
    [
      'an id that is not the id of a team',
      '00000000-0000-4000-8000-000000000000',
      'trackerTeamKey: the connector cannot see the team 00000000-0000-4000-8000-000000000000 in Linear.',
    ],
  ])('409 · no issue is created in Linear for a project with %s', async (_, trackerTeamKey, description) => {
    const project = await projectOn('linear', { trackerTeamKey });
    expect(await problemOf(create(project))).toEqual([409, false, null, description]);
    expect(linear.issues.size).toBe(0);
  });

  it('409 · an error says that Linear rejected the credentials', async () => {
    linear.settings.authorization = 'another';
    expect(await problemOf(create(await projectOn('linear')))).toEqual([
      409,
      false,
      null,
      'Linear rejected the credentials of the tracker connector (You need to authenticate to access this operation.): replace them.',
    ]);
  });

  it('rejected credentials cause a notice until they are accepted again or replaced', async () => {
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
      /rejected the request, because the credentials.*redacted/,
    ],
    ['usage limit exceeded', 400, { type: 'usage limit exceeded' }, false, /rejected the request: Words\./],
    ['feature not accessible', 200, { type: 'feature not accessible', userPresentableMessage }, false, /redacted/],
    ['invalid input', 400, { code: 'INPUT_ERROR', userError: true }, false, /rejected the request: Words\./],
    ['lock timeout', 200, { type: 'lock timeout' }, true, /Linear failed/],
    ['internal error', 200, { type: 'internal error', code: 'INTERNAL_SERVER_ERROR' }, true, /Linear failed/],
    ['an undocumented error', 200, { type: 'new' }, true, /Linear failed/],
    ['no GraphQL error', 400, null, false, /rejected the request\./],
    ['no GraphQL error', 503, null, true, /Linear failed \(status 503\)\./],
  ])(
    'failures from Linear are classified as permanent or temporary: %s, with status %i',
    async (_, status, extensions, retryable, words) => {
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
    },
  );

  it.each([
    [{ 'retry-after': '30' }, '30'],
    [{ 'x-ratelimit-requests-remaining': '0', 'x-ratelimit-requests-reset': 'in 20 minutes' }, '1200'],
    [{}, String(vendorPauseMs.default / 1_000)],
    [{ 'retry-after': '86400' }, String(vendorPauseMs.max / 1_000)],
  ])('503 · Linear’s rate limit delays the next call, with %j', async (headers, after) => {
    const project = await projectOn('linear');
    const told = Object.entries(headers).map(([name, value]) => [
      name,
      value === 'in 20 minutes' ? String(present() + seconds(1_200)) : value,
    ]);
    linear.disturb('Team', rateLimited(Object.fromEntries(told)));
    const limited = [503, true, after, 'Linear limits the rate of requests.'];
    expect(await problemOf(create(project))).toEqual(limited);
    // The next call, in any process, waits until the rate limit ends.
    const asked = linear.asked.length;
    expect(await problemOf(create(project))).toEqual(limited);
    expect(linear.asked).toHaveLength(asked);
    world.clock.turn(seconds(Number(after)));
    expect((await create(project)).id).toBeTruthy();
  });

  it('504 · an error says that Linear did not answer in time', async () => {
    const project = await projectOn('linear');
    linear.disturb('CreateIssue', 'never answer');
    soon();
    expect(await problemOf(create(project))).toEqual([504, true, null, 'Linear did not answer in time.']);
  });

  it('502 · an answer from Linear in an unexpected form is a temporary failure', async () => {
    const project = await projectOn('linear');
    linear.disturb('Team', { status: 200, body: { data: { teams: [] } } });
    expect(await problemOf(create(project))).toMatchObject({ 0: 502, 1: true });
    linear.disturb('Team', { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from('<p>') });
    expect(await problemOf(create(project))).toMatchObject({ 0: 502, 1: true });
  });
});

describe('GitHub as tracker', () => {
  const issues = () => github.repositories.get('acme/shop')!.issues;

  it('the issue of a run is created on GitHub with its labels and a hidden mark', async () => {
    const issue = newIssue({ labels: ['nightly'] });
    expect(await create(await projectOn('github'), issue)).toEqual({
      id: 'acme/shop#1',
      url: 'https://github.com/acme/shop/issues/1',
    });
    expect(issues()).toMatchObject([
      { title: 'Daily', body: `Do it.\n\n<!-- run: ${issue.runId} -->`, labels: ['nightly'], state: 'open' },
    ]);
  });

  it('one issue is created on GitHub for ten concurrent calls', async () => {
    const [project, issue] = [await projectOn('github'), newIssue()];
    const created = await Promise.all(Array.from({ length: 10 }, () => create(project, issue)));
    expect(new Set(created.map(({ id }) => id))).toEqual(new Set(['acme/shop#1']));
    expect(issues()).toHaveLength(1);
    await Promise.all([create(project), create(project)]);
    expect(issues()).toHaveLength(3);
  });

  it('502 · an issue that GitHub created although the answer was lost is found by the next call, even if many issues are newer', async () => {
    const [project, issue] = [await projectOn('github'), newIssue()];
    github.disturb('issues/create', 'lose the answer');
    expect(await problemOf(create(project, issue))).toEqual([502, true, null, 'GitHub is unreachable.']);
    // This pull request has the same text as the issue. The repeated call must find the issue, and not the pull request.
    github.open('acme/shop', { body: issues()[0]!.body, pull_request: {} });
    for (let n = 0; n < 120; n++) github.open('acme/shop', { body: 'Something else.' });
    expect(await create(project, issue)).toEqual({ id: 'acme/shop#1', url: issues()[0]!.html_url });
    expect(issues()).toHaveLength(122);
  });

  it('issues on GitHub that are older than the run are not searched', async () => {
    for (let n = 0; n < 300; n++) github.open('acme/shop', { created_at: isoTime(present() - hours(2)) });
    await create(await projectOn('github'));
    expect(github.asked).toEqual(['issues/list-for-repo', 'issues/create']);
  });

  it('an issue on GitHub gets one comment about the end of its run even if it has many comments already, and is closed as completed', async () => {
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

  it('409 · an error says that an issue is not on GitHub', async () => {
    const outcome: IssueOutcome = { runId: newId('run'), closes: false, comment: 'It broke.' };
    expect(await problemOf(finish(await projectOn('github'), 'iss_1', outcome))).toEqual([
      409,
      false,
      null,
      'iss_1 is not an issue on GitHub.',
    ]);
  });

  it.each(['acme/gone', '../shop', 'acme/..', 'a?b/c#d'])(
    '409 · an error says that GitHub does not show the repository %s',
    async (repoFullName) => {
      expect(await problemOf(create(await projectOn('github', { repoFullName })))).toEqual([
        409,
        false,
        null,
        `The connector cannot see the repository ${repoFullName} on GitHub: correct repoFullName, or give its credentials access.`,
      ]);
    },
  );

  it('409 · an error says that GitHub rejected the credentials', async () => {
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
    [
      403,
      { message },
      {},
      409,
      false,
      null,
      /rejected the request, because the credentials of the tracker.*\[redacted\]/,
    ],
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
  ] as const)(
    'failures from GitHub are classified as permanent or temporary: %i %j %j',
    async (status, body, headers, ...expected) => {
      const project = await projectOn('github');
      const reset = (value: string) => String(Math.floor(present() / 1_000) + Number(value));
      const told = Object.entries(headers).map(([name, value]) => [
        name,
        name.endsWith('reset') ? reset(value) : value,
      ]);
      github.disturb('issues/create', { status, body, headers: Object.fromEntries(told) });
      const [words] = expected.slice(-1) as [RegExp];
      expect(await problemOf(create(project))).toEqual([...expected.slice(0, -1), expect.stringMatching(words)]);
      expect(issues()).toEqual([]);
    },
  );

  it('504 · an error says that GitHub did not answer in time', async () => {
    const project = await projectOn('github');
    github.disturb('issues/list-for-repo', 'never answer');
    soon();
    expect(await problemOf(create(project))).toEqual([504, true, null, 'GitHub did not answer in time.']);
  });

  it('502 · an answer from GitHub in an unexpected form is a temporary failure', async () => {
    const project = await projectOn('github');
    github.disturb('issues/list-for-repo', { status: 200, body: { message: 'Hello.' } });
    expect(await problemOf(create(project))).toMatchObject({ 0: 502, 1: true });
  });
});
