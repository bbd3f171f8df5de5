// GitLab as tracker, source host and sender of events of one organization.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Project } from '#domain/projects/projects/model.ts';
import { hostOf, mayWriteTo, readRepositoryFile } from '#domain/projects/vendors/source-host-of.ts';
import { trackerOf } from '#domain/projects/vendors/tracker-of.ts';
import { followPullRequests } from '#domain/work/runs/branch.ts';
import { hours, minutes, seconds } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { type GitLab, gitlabHeaders, openGitLab } from '../support/fake-gitlab.ts';
import { commits, type HostWorld, openHostWorld } from '../support/host-world.ts';
import { present, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const token = 'glpat-OfAcmeAndOfNobodyElse';
const name = 'acme/web/shop';
const { first, second, third } = commits;
let host: HostWorld;
let world: World;
let gitlab: GitLab;
let owner: HostWorld['owner'];
let projectId: string;
let hook: HostWorld['hook'];
let events = 0;

beforeAll(async () => {
  gitlab = await openGitLab(token);
  const project = { repoFullName: 'acme%2Fweb/shop' };
  const vendor = 'gitlab';
  host = await openHostWorld({ vendor, host: gitlab, credentials: token, project, heads: () => shop().heads });
  ({ world, owner, projectId, hook } = host);
});
afterAll(() => host.close());
beforeEach(() => {
  gitlab.clear(name);
  // Access levels in GitLab: Developer (30), Maintainer (40), Reporter (20).
  shop().members.set('ada', 30).set('bob', 40).set('eve', 20);
});
afterEach(async () => {
  await world.knex('runs').delete();
  await world.knex('recurring_missions').delete();
  expect(gitlab.violations).toEqual([]);
});

const shop = () => [...gitlab.projects.values()][0]!;
const record = () => Project.get({ id: projectId });
const runs = () => host.runs();
const automation = (eventTriggers: object[]) => host.automation(eventTriggers);

const event = (more: object) =>
  JSON.stringify({ user: { username: 'ada' }, project: { path_with_namespace: name }, ...more });
const send = (body: string, headers: Record<string, string>) => hook.send(body, headers);
function deliver(kind: string, more: object): Promise<Json> {
  const body = event(more);
  const key = `key-${++events}`;
  return hook.deliver(body, gitlabHeaders(kind, body, { secret: hook.secret, key, isSigned: events % 2 === 0 }));
}

const issueEvent = (iid: number, more: object, others: object = {}) =>
  deliver('Issue Hook', {
    object_kind: 'issue',
    object_attributes: {
      ...{ iid, title: 'Dates are wrong', description: 'Use UTC.', state: 'opened', updated_at: String(++events) },
      ...{ url: `${gitlab.site}/${name}/-/issues/${iid}`, action: 'update' },
      ...more,
    },
    ...others,
  });
const mergeRequestEvent = (more: object) => {
  const one = shop().mergeRequests[0]!;
  const { iid, title, state, source_branch } = one;
  const last_commit = { id: shop().heads.get(source_branch) };
  const object_attributes = { iid, title, state, source_branch, last_commit, url: one.web_url, ...more };
  return deliver('Merge Request Hook', { object_kind: 'merge_request', object_attributes });
};
const noteEvent = (username: string, note: string, more: object = {}) => {
  const { iid, title, state, web_url } = shop().mergeRequests[0]!;
  const object_attributes = {
    ...{ id: ++events, note, noteable_type: 'MergeRequest', action: 'create', url: `${web_url}#note_${events}` },
    ...more,
  };
  const merge_request = { iid, title, state };
  return deliver('Note Hook', { object_kind: 'note', object_attributes, merge_request, user: { username } });
};

const claim = () => host.claim();
const push = (held: Json, headSha: string) =>
  host.push(held, headSha, { title: 'Use UTC', body: 'Dates are UTC.\n/merge' });
const finish = (held: Json) => host.finish(held);
const pass = () => host.pass();

describe('GitLab connectors', () => {
  const connect = (more: object = {}) =>
    world.graphql(
      `mutation ($credentials: String!, $baseUrl: String) {
        connectIntegration(vendor: gitlab, vendorKind: scm, displayName: "Code", credentials: $credentials, baseUrl: $baseUrl) {
          id externalOrgId checkFailure
        }
      }`,
      { token: owner.token, variables: { credentials: token, ...more } },
    );

  it('a GitLab connector is created with a token that has the scope api, and shows its account', async () => {
    const { data } = (await connect()).body;
    expect(data.connectIntegration).toMatchObject({ externalOrgId: 'project_7_bot_a1', checkFailure: null });
    await world.knex('integrations').where({ id: data.connectIntegration.id }).delete();
  });

  it('400 · a GitLab connector is refused when the token is rejected or lacks the scope api, or when its URL is not public', async () => {
    const refusal = async (more: object = {}) => (await connect(more)).body.errors[0].extensions.problem.description;
    expect(await refusal({ credentials: 'glpat-wrong' })).toBe(
      'credentials: GitLab rejected the credentials of the scm connector (401 Unauthorized): replace them.',
    );
    gitlab.settings.scopes = ['read_api'];
    expect(await refusal()).toBe('credentials: The token has the scopes read_api; it needs api.');
    expect(await refusal({ baseUrl: 'https://10.0.0.1/api/v4' })).toBe(
      'baseUrl: must be an https URL of a public host, on port 443.',
    );
  });
});

describe('GitLab as source host', () => {
  it('GitLab reads files of a project in a subgroup, and gives git access to it', async () => {
    const project = await record();
    shop().files.set('main:docs/read me.md', Buffer.from('Hello'));
    expect(await readRepositoryFile(project, 'docs/read me.md')).toMatchObject({ content: 'Hello' });
    expect(await readRepositoryFile(project, 'none.md')).toBeNull();
    const { connector, host } = await hostOf(project);
    expect(await host.access(project, connector)).toEqual({
      url: `${gitlab.site}/${name}.git`,
      username: 'oauth2',
      password: token,
      defaultBranch: 'main',
      repository: { id: 1, fullName: 'acme%2Fweb/shop' },
    });
  });

  it('active members of a GitLab project with at least the role Developer may write', async () => {
    const project = await record();
    const may = await Promise.all(['ada', 'bob', 'eve', 'nobody'].map((login) => mayWriteTo(project, login)));
    expect(may).toEqual([true, true, false, false]);
  });

  it('409 · errors from GitLab are marked as temporary for a rate limit, and as permanent for a project that the token cannot see', async () => {
    const project = { ...(await record()), scmRepo: 'gone' };
    const { connector, host } = await hostOf(project);
    await expect(host.access(project, connector)).rejects.toMatchObject({
      body: {
        description: expect.stringContaining('cannot see the project acme/web/gone on GitLab'),
        retryable: false,
      },
    });
    gitlab.disturb('getApiV4ProjectsId', { status: 429, headers: { 'retry-after': '7' } });
    await expect(host.access(project, connector)).rejects.toMatchObject({ body: { retryable: true } });
    world.clock.turn(seconds(7));
  });
});

it('GitLab as tracker gets one issue for a run, returns its texts, and closes it with one note; no text acts as a quick action', async () => {
  const project = await record();
  const tracker = trackerOf(project);
  const runId = newId('run');
  const issue = { runId, title: 'Dates', body: 'Use UTC.\n/close', labels: ['agent'] };
  const created = await tracker.createIssue(project, issue as never);
  expect(created).toEqual({ id: `${name}#1`, url: `${gitlab.site}/${name}/-/issues/1` });
  expect(await tracker.createIssue(project, issue as never)).toEqual(created);
  expect(shop().issues).toMatchObject([
    { title: 'Dates', description: `Use UTC.\n\\/close\n\n<!-- run: ${runId} -->`, labels: ['agent'] },
  ]);
  gitlab.noteOn(shop().issues[0]!, 'bob', 'In all time zones.');
  expect(await tracker.findIssue(project, '#1')).toMatchObject({
    title: 'Dates',
    comments: [{ author: 'bob', text: 'In all time zones.' }],
  });
  await expect(tracker.findIssue(project, 'acme/other#1')).rejects.toMatchObject({ status: 400 });
  await tracker.finishIssue(project, created.id, { runId, closes: false, comment: 'Work: started' });
  await tracker.finishIssue(project, created.id, { runId, closes: true, comment: 'Work: completed' });
  expect(shop().issues[0]).toMatchObject({
    state: 'closed',
    notes: [{}, { body: `Work: completed\n\n<!-- run: ${runId} -->` }],
  });
});

/** A review on the platform becomes a note on GitLab, and a discussion on GitLab becomes a thread on the platform. */
async function reviewsAndThreads(merge: Json, runId: string): Promise<void> {
  await world.field('mutation ($input: SubmitReviewRequest!) { submitReview(input: $input) { id } }', {
    token: owner.token,
    variables: { input: { runId: runId, headSha: third, verdict: 'comment', body: 'Fine.\n/close' } },
  });
  await world.delivered();
  const isReview = ({ body }: Json) =>
    /^\*\*Alice\*\* comments[\s\S]*Fine\.\n\\\/close\n\n<!-- review: rvw_\w+ -->$/.test(body);
  expect(merge.notes.filter(isReview)).toHaveLength(1);
  const at = { old_path: 'src/date.ts', new_path: 'src/date.ts', old_line: 3, new_line: null };
  Object.assign(gitlab.noteOn(merge, 'ada', 'Why?', at), { resolved: true, resolved_by: { username: 'bob' } });
  world.clock.turn(minutes(5));
  await followPullRequests();
  const { hostThreads } = await world.field(
    'query ($id: String!) { run(runId: $id) { hostThreads { path side line isResolved resolvedBy comments { author body } } } }',
    { token: owner.token, variables: { id: runId } },
  );
  expect(hostThreads).toEqual([
    {
      ...{ path: 'src/date.ts', side: 'old', line: 3, isResolved: true, resolvedBy: 'bob' },
      comments: [{ author: 'ada', body: 'Why?' }],
    },
  ]);
  const first = merge.notes.at(-1);
  const key = `discussion-${first.id}`;
  const reopened = await world.field(
    'mutation ($id: String!, $key: String!) { resolveHostThread(runId: $id, key: $key, isResolved: false) { isResolved resolvedBy } }',
    { token: owner.token, variables: { id: runId, key } },
  );
  expect(reopened).toEqual({ isResolved: false, resolvedBy: null });
  expect(first).toMatchObject({ resolved: false, resolved_by: null });
  const { comments } = await world.field(
    'mutation ($id: String!, $key: String!) { answerHostThread(runId: $id, key: $key, body: "Done.\\n/close") { comments { body } } }',
    { token: owner.token, variables: { id: runId, key } },
  );
  expect(comments.map(({ body }: Json) => body)).toEqual([
    'Why?',
    '**Alice** opened this thread again.',
    '**Alice:** Done.\n\\/close',
  ]);
}

it('a label on a GitLab issue leads to a merged merge request, after a failed pipeline and a review; the issue is then closed', async () => {
  await world.knex('projects').update({ autoMerge: true });
  await automation([{ kind: 'issue', label: 'agent' }]);
  const issue = gitlab.open(name, { title: 'Dates are wrong', description: 'Use UTC.' });
  const labels = { previous: [{ title: 'bug' }], current: [{ title: 'bug' }, { title: 'Agent' }] };
  expect(await issueEvent(1, {}, { changes: { labels } })).toMatchObject({ status: 'started', event: 'issue.update' });
  expect(shop().reactions).toEqual(['issues/1']);
  expect(issue.notes).toMatchObject([{ body: expect.stringContaining('Work: started') }]);

  const built = await claim();
  expect(built.step.prompt).toContain('Dates are wrong');
  expect(await push(built, first)).toEqual({ prNumber: 1, prUrl: `${gitlab.site}/${name}/-/merge_requests/1` });
  const [merge] = shop().mergeRequests as [Json];
  expect(merge).toMatchObject({ title: 'Use UTC', target_branch: 'main' });
  expect(merge.description).toMatch(/^Dates are UTC\.\n\\\/merge\n\nCloses acme\/web\/shop#1\n/);
  await finish(built);

  shop().traces.set('71', `section_start:1:step\r\x1b[0K\x1b[31m${'x'.repeat(20_000)}\n1 test failed: dates\x1b[0m\n`);
  const builds = [
    { id: 70, name: 'lint', status: 'failed', allow_failure: true },
    { id: 71, name: 'test', status: 'failed', allow_failure: false },
  ];
  const pipeline = { id: 5, ref: built.branch, tag: false, sha: first, status: 'failed', url: `${gitlab.site}/5` };
  expect(
    await deliver('Pipeline Hook', { object_kind: 'pipeline', object_attributes: pipeline, builds }),
  ).toMatchObject({ status: 'started', title: `Pipeline: test failed on ${built.branch}` });
  await pass();
  const mended = await claim();
  expect(mended).toMatchObject({ branch: built.branch, step: { resumeSessionId: 'session-1' } });
  expect(mended.step.prompt).toMatch(/Pipeline: test: failed[\s\S]*xx\n1 test failed: dates\n/);
  await push(mended, second);
  await finish(mended);

  const position = { new_path: 'src/date.ts', new_line: 7, old_line: null };
  const line = { type: 'DiffNote', position, st_diff: { diff: '@@ -7 +7 @@\n+local()' } };
  await noteEvent('bob', 'This is local time.', line);
  await noteEvent('ada', '@agent Name it utcDate.');
  expect(await noteEvent('ada', 'Thanks.')).toMatchObject({ status: 'ignored' });
  expect(await noteEvent('eve', 'Use mine.', line)).toMatchObject({ status: 'waiting' });
  await pass();
  const reviewed = await claim();
  expect(reviewed.step.prompt).toMatch(
    /bob wrote:[\s\S]*src\/date\.ts, line 7[\s\S]*\+local\(\)[\s\S]*This is local time\.[\s\S]*ada wrote:[\s\S]*Name it utcDate\./,
  );
  expect(reviewed.step.prompt).not.toMatch(/Thanks|Use mine/);
  await push(reviewed, third);
  await finish(reviewed);

  await reviewsAndThreads(merge, reviewed.runId);

  merge.head_pipeline = { status: 'running' };
  expect(await mergeRequestEvent({ action: 'approved' })).toMatchObject({
    status: 'started',
    reason: `It approves the commit ${third} of ${reviewed.runId}.`,
  });
  await followPullRequests();
  expect(merge.state).toBe('opened');
  merge.head_pipeline = { status: 'success' };
  world.clock.turn(hours(1));
  await followPullRequests();
  world.clock.turn(hours(1));
  await followPullRequests();
  await world.delivered();
  expect((await runs()).map((run) => [run.status, run.headSha, run.prState])).toEqual([
    ['completed', first, 'merged'],
    ['completed', second, 'merged'],
    ['completed', third, 'merged'],
  ]);
  expect([...new Set(shop().statuses.map(({ sha, state }) => `${sha[0]} ${state}`))]).toEqual(
    ['a', 'b', 'c'].flatMap((sha) => [`${sha} pending`, `${sha} success`]),
  );
  expect(issue.state).toBe('closed');
  expect(issue.notes).toHaveLength(1);
  expect(issue.notes[0]!.body).toMatch(new RegExp(`^Work: completed, merged[\\s\\S]*/runs/${reviewed.runId}`));
  expect(
    merge.notes.filter(({ author, inThread }: Json) => author.username === 'project_7_bot_a1' && !inThread),
  ).toMatchObject([
    { body: expect.stringContaining('Work: completed, merged') },
    { body: expect.stringContaining('Fine.') },
  ]);
  await mergeRequestEvent({ iid: 2, action: 'merge', description: 'This reverts merge request !1' });
  expect((await runs()).map((run) => run.prRevertedAt)).toEqual(Array(3).fill(present()));
  await world.knex('projects').update({ autoMerge: false });
});

it('a renamed GitLab project is reached by its earlier path until the rename event updates the projects of the service', async () => {
  const before = await record();
  const issue = gitlab.open(name, { title: 'Dates' });
  gitlab.rename(name, 'globex/store');
  const outcome = { runId: newId('run'), closes: true, comment: 'Done.' };
  await trackerOf(before).finishIssue(before, `${name}#1`, outcome);
  expect(issue).toMatchObject({ state: 'closed', notes: [{ body: expect.stringContaining('Done.') }] });
  const moved = { event_name: 'project_rename', old_path_with_namespace: name, path_with_namespace: 'globex/store' };
  expect(await deliver('System Hook', moved)).toMatchObject({
    reason: 'The project acme%2Fweb/shop is now globex/store: its projects are updated.',
  });
  expect(await record()).toMatchObject({ scmOwner: 'globex', scmRepo: 'store' });
  const { scmOwner, scmRepo } = before;
  await world.knex('projects').update({ scmOwner, scmRepo, scmRepositoryKey: null });
});

describe('GitLab events', () => {
  it('401, 400 · a GitLab event is refused without the secret, with an old signature, or without its event name', async () => {
    const body = event({ object_kind: 'issue' });
    const status = async (headers: Record<string, string>) => (await send(body, headers)).status;
    const given = { secret: hook.secret, key: `key-${++events}` };
    const signed = gitlabHeaders('Issue Hook', body, { ...given, isSigned: true });
    expect(await status(gitlabHeaders('Issue Hook', body, { ...given, secret: 'whsec_b3RoZXI' }))).toBe(401);
    expect(await status({ ...signed, 'webhook-signature': 'v1,AAAA' })).toBe(401);
    expect(await status(gitlabHeaders('x', body, { ...given, isSigned: true, at: present() - minutes(6) }))).toBe(401);
    const { 'x-gitlab-event': _, ...unnamed } = signed;
    expect(await status(unnamed)).toBe(400);
  });

  it('a GitLab event starts one mission, however often it arrives; its secret token is not stored', async () => {
    await automation([{ kind: 'issue' }]);
    gitlab.open(name, { title: 'Dates are wrong' });
    const url = `${gitlab.site}/${name}/-/issues/1`;
    const object_attributes = { iid: 1, title: 'Dates are wrong', url, action: 'open', updated_at: 'now' };
    const body = event({ object_kind: 'issue', object_attributes });
    const headers = gitlabHeaders('Issue Hook', body, { secret: hook.secret, key: 'once' });
    const answers = await Promise.all([send(body, headers), send(body, headers)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 202]);
    await world.delivered();
    expect(await runs()).toHaveLength(1);
    const [stored] = await world.knex('inbound_deliveries').where({ externalId: 'once' });
    expect(stored.headers).toMatchObject({ 'idempotency-key': 'once' });
    expect(JSON.stringify(stored)).not.toContain(hook.secret);
  });

  it('an issue opened with the label of a rule starts a mission; no mission starts when the label is removed, or when a program opens the issue', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    gitlab.open(name, { title: 'Dates are wrong' });
    const labels = [{ title: 'agent' }];
    const lost = { changes: { labels: { previous: labels, current: [] } } };
    expect(await issueEvent(1, {}, lost)).toMatchObject({ status: 'ignored' });
    expect(await issueEvent(1, { action: 'open' }, { labels, user: { username: 'group_3_bot_9f' } })).toMatchObject({
      status: 'ignored',
      reason: 'group_3_bot_9f is a program.',
    });
    expect(await issueEvent(1, { action: 'open' }, { labels })).toMatchObject({ status: 'started' });
  });

  it('a mention on an issue is answered there, and not on the merge request with the same number', async () => {
    await world.knex('projects').update({ tracker: 'builtin' });
    await automation([{ kind: 'comment', mention: 'agent' }]);
    const issue = gitlab.open(name, { title: 'Dates are wrong' });
    const object_attributes = { id: 5, note: '@agent why?', noteable_type: 'Issue', url: `${issue.web_url}#note_5` };
    const about = { iid: 1, title: issue.title, state: 'opened' };
    await deliver('Note Hook', { object_kind: 'note', object_attributes, issue: about });
    expect(issue.notes).toMatchObject([{ body: expect.stringContaining('Work: started') }]);
    expect(shop().reactions).toEqual(['issues/1/notes/5']);
    await world.knex('projects').update({ tracker: 'gitlab' });
  });

  it('a GitLab event affects only projects on its own server, even if a project on another server has the same path', async () => {
    await automation([{ kind: 'issue' }]);
    gitlab.open(name, { title: 'Dates are wrong' });
    const { hasCredentials: _, ...connector } = await world.knex('integrations').where({ vendorKind: 'scm' }).first();
    const id = newId('integration');
    await world.knex('integrations').insert({ ...connector, id, baseUrl: 'https://gitlab.example/api/v4' });
    const openedAt = (site: string) =>
      issueEvent(1, { action: 'open' }, { project: { path_with_namespace: name, web_url: `${site}/${name}` } });
    expect(await openedAt('https://gitlab.example')).toMatchObject({ status: 'ignored' });
    expect(await openedAt(gitlab.site)).toMatchObject({ status: 'started' });
    // `https://code.example` belongs to no connector. It may be another name of the same server, so the event is accepted.
    expect(await openedAt('https://code.example')).toMatchObject({ status: 'started' });
    await world.knex('integrations').where({ id }).delete();
  });

  it('no mission starts if a mission set the failed status, if the failed job is allowed to fail, or if the project uses another source host', async () => {
    await automation([{ kind: 'check' }, { kind: 'issue' }]);
    const failed = { id: 5, ref: 'main', sha: first, status: 'failed' };
    const own = [{ id: 1, name: 'mission', status: 'failed' }];
    expect(
      await deliver('Pipeline Hook', { object_kind: 'pipeline', object_attributes: failed, builds: own }),
    ).toMatchObject({ status: 'ignored', reason: 'The status was set by a mission.' });
    const job = { object_kind: 'build', ref: 'main', sha: first, build_id: 9, build_name: 'lint' };
    expect(await deliver('Job Hook', { ...job, build_status: 'failed', build_allow_failure: true })).toMatchObject({
      reason: 'The job lint is allowed to fail.',
    });
    await world.knex('integrations').where({ vendorKind: 'scm' }).update({ vendor: 'github' });
    await world.knex('projects').update({ tracker: 'builtin' });
    expect(await issueEvent(1, { action: 'open' })).toMatchObject({ status: 'ignored' });
    await world.knex('integrations').where({ vendorKind: 'scm' }).update({ vendor: 'gitlab' });
    await world.knex('projects').update({ tracker: 'gitlab' });
    expect(await runs()).toHaveLength(0);
    shop().traces.set('9', 'error: no such file\n');
    expect(await deliver('Job Hook', { ...job, build_status: 'failed' })).toMatchObject({ status: 'started' });
    expect((await claim()).step.prompt).toContain('error: no such file');
  });
});
