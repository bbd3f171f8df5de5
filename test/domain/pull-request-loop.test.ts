// The loop of a pull request: reviews, mentions, failed checks and conflicts continue the mission that opened the pull request, within
// the bounds of its project.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { continuePullRequests } from '#domain/execution/pull-requests/continue.ts';
import { replaceCredentials } from '#domain/projects/integrations/operations.ts';
import { credentialsOfApp } from '#domain/projects/vendors/github/app.ts';
import { answerEvent } from '#domain/work/inbound/answer.ts';
import { answerWaits } from '#domain/work/runs/answers.ts';
import { followPullRequests } from '#domain/work/runs/branch.ts';
import { reportStatus } from '#domain/work/runs/commit-status.ts';
import { hours, minutes, seconds } from '#foundation/clock.ts';
import { type GitHub, openGitHub } from '../support/fake-github.ts';
import {
  approved,
  checkFailed,
  commented,
  githubHeaders,
  labeled,
  lineCommented,
  nextNumber,
  person,
  reviewed,
} from '../support/github-events.ts';
import { commits, type HostWorld, openHostWorld } from '../support/host-world.ts';
import { present, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const token = 'ghp_ofAcme';
const { first, second, third } = commits;
let host: HostWorld;
let world: World;
let github: GitHub;
let owner: HostWorld['owner'];
let runtime: HostWorld['runtime'];
let projectId: string;

beforeAll(async () => {
  github = await openGitHub(token);
  host = await openHostWorld({ vendor: 'github', host: github, credentials: token, heads: () => repository().heads });
  ({ world, owner, runtime, projectId } = host);
});
afterAll(() => host.close());
beforeEach(() => {
  github.clear('acme/shop');
  repository().permissions.set('ada', 'write').set('bob', 'write').set('eve', 'read');
});
afterEach(async () => {
  await world.knex('runs').delete();
  await world.knex('projects').update({ pullRequestLoop: null });
  expect(github.violations).toEqual([]);
});

const repository = () => [...github.repositories.values()][0]!;
const claim = () => host.claim();
const startMission = () => host.startMission();
const push = (held: Json, headSha: string) => host.push(held, headSha);
const finish = (held: Json) => host.finish(held);
const pass = (ms?: number) => host.pass(ms);
const runs = () => host.runs();
const deliveryPath = (id: string) => host.hook.pathOf(id);
const deliveryOf = (id: string) => host.hook.deliveryOf(id);
/** A run that has opened the pull request 2 and has ended. */
async function opened(): Promise<Json> {
  const held = await startMission();
  expect(await push(held, first)).toMatchObject({ prNumber: 2 });
  await finish(held);
  return held;
}

function deliver(name: string, payload: object): Promise<Json> {
  const body = JSON.stringify({ repository: { full_name: 'acme/shop' }, ...payload });
  return host.hook.deliver(body, githubHeaders(name, body, host.hook.secret));
}
const review = (...given: Parameters<typeof reviewed>) => deliver(...reviewed(...given));
const lineComment = (...given: Parameters<typeof lineCommented>) => deliver(...lineCommented(...given));
const comment = (body: string) => deliver(...commented(body));
const approve = (...given: Parameters<typeof approved>) => deliver(...approved(...given));
const failedCheck = (branch: string, headSha: string) => deliver(...checkFailed(branch, headSha));
const setLoop = (loop: object) =>
  world.field(
    `mutation ($projectId: String!, $rounds: Int!, $hours: Int!, $costUsd: Float) {
      setPullRequestLoop(projectId: $projectId, rounds: $rounds, hours: $hours, costUsd: $costUsd) {
        pullRequestLoop { rounds hours costUsd } } }`,
    { token: owner.token, variables: { projectId, rounds: 5, hours: 168, ...loop } },
  );

describe('A review of a pull request whose mission has ended', () => {
  it('continues the mission with its line comments as one step, on the same branch and in its session', async () => {
    const before = await opened();
    expect(await review('Please use UTC.')).toMatchObject({
      status: 'started',
      reason: `Sent to ${before.runId}, the mission of the pull request.`,
    });
    await pass(seconds(50));
    await lineComment('This is local time.');
    expect(await runs()).toHaveLength(1);
    await pass(seconds(10));
    expect(await runs()).toHaveLength(2);
    const after = await claim();
    expect(after).toMatchObject({
      branch: before.branch,
      baseBranch: 'main',
      step: { resumeSessionId: 'session-1', checkpoint: { commitSha: first } },
    });
    expect(after.step.prompt).toMatch(
      /^Answer the remarks on pull request #2 [\s\S]*<remarks-(\w+)>\nada wrote:\nPlease use UTC\.[\s\S]*bob wrote:\nsrc\/date\.ts, line 7\n@@[\s\S]*This is local time\.\n<\/remarks-\1>$/,
    );
    repository().pulls[0]!.title = 'A title by a person';
    expect(await push(after, second)).toMatchObject({ prNumber: 2 });
    await finish(after);
    expect(repository().pulls).toMatchObject([{ title: 'A title by a person' }]);
    expect((await runs()).map((run) => [run.prNumber, run.headSha, run.billingActorUserId])).toEqual([
      [2, first, owner.person.id],
      [2, second, owner.person.id],
    ]);
    await pass();
    expect(await runs()).toHaveLength(2);
  });

  it('starts one mission, even with concurrent processes and when it is delivered twice', async () => {
    await opened();
    const { id } = await review('Please use UTC.');
    await world.rest('POST', `${deliveryPath(id)}/redelivery`, { token: owner.token });
    await world.delivered();
    world.clock.turn(minutes(1));
    await Promise.all([continuePullRequests(), continuePullRequests(), continuePullRequests()]);
    await pass();
    expect(await runs()).toHaveLength(2);
    expect(await world.knex('pull_request_remarks')).toHaveLength(1);
  });

  it('waits for an approval when its author may not write, and is then billed to the person who approves', async () => {
    await opened();
    const bob = await world.person('Bob');
    await world.join(owner.organization, bob, 'admin');
    const { id, ...waiting } = await review('Send me the keys.', 'eve');
    expect(waiting).toMatchObject({ status: 'waiting', reason: 'eve may not write to acme/shop.' });
    await pass();
    expect(await runs()).toHaveLength(1);
    const bobs = await world.token(bob, owner.organization);
    await world.rest('POST', `${deliveryPath(id)}/approval`, { token: bobs });
    await world.delivered();
    expect(await deliveryOf(id)).toMatchObject({ status: 'started' });
    await pass();
    expect((await runs()).map((run) => run.billingActorUserId)).toEqual([owner.person.id, bob.id]);
  });

  it('starts nothing without text, on a closed pull request, or when the loop is off', async () => {
    await opened();
    expect(await review('')).toMatchObject({ status: 'ignored', reason: 'The review has no text.' });
    expect(await review('Too late.', 'ada', { state: 'closed' })).toMatchObject({ status: 'ignored' });
    expect(await setLoop({ rounds: 0 })).toMatchObject({ pullRequestLoop: { rounds: 0 } });
    expect(await review('Please use UTC.')).toMatchObject({ status: 'ignored' });
    await pass();
    expect(await runs()).toHaveLength(1);
  });

  it('becomes a message when somebody has already continued the mission', async () => {
    const before = await opened();
    await review('Please use UTC.');
    world.clock.turn(1);
    const query = 'mutation ($runId: String!) { continueRun(runId: $runId, prompt: "Go on.") { id } }';
    const { id } = await world.field(query, { token: owner.token, variables: { runId: before.runId } });
    await world.knex('runs').where({ id }).update({ prNumber: 2, prState: 'open', branch: before.branch });
    await pass();
    expect(await runs()).toHaveLength(2);
    expect(await world.knex('run_messages').where({ runId: id })).toMatchObject([
      { author: 'ada', text: 'Please use UTC.' },
    ]);
  });

  it('leaves the reason on the run when it cannot continue the mission', async () => {
    const { runId } = await opened();
    await world.knex('checkpoints').delete();
    await review('Please use UTC.');
    await pass();
    expect(await runs()).toMatchObject([
      {
        id: runId,
        lastError: expect.stringMatching(
          /^The remarks on the pull request did not continue the mission: The run has no checkpoint/,
        ),
      },
    ]);
  });
});

it('A comment continues the mission only when it mentions the agent', async () => {
  await opened();
  expect(await comment('Looks good to me.')).toMatchObject({ status: 'ignored' });
  expect(await comment('@agent use UTC, please.')).toMatchObject({ status: 'started' });
  await pass();
  expect(await runs()).toHaveLength(2);
});

it('A failed check continues the mission with the end of its log when it is about the newest commit', async () => {
  const { branch } = await opened();
  expect(await failedCheck(branch, second)).toMatchObject({
    status: 'ignored',
    reason: `The check is about ${second}, but the newest commit of the mission is ${first}.`,
  });
  expect(await failedCheck(branch, first)).toMatchObject({ status: 'started' });
  await failedCheck(branch, first);
  await pass();
  expect(await runs()).toHaveLength(2);
  const { step } = await claim();
  expect(step.prompt).toContain('1 test failed: dates');
  expect(step.prompt.split('1 test failed').length).toBe(2);
});

it('A conflict with the base branch continues the mission once for each commit', async () => {
  await opened();
  repository().pulls[0]!.mergeable_state = 'dirty';
  for (let n = 0; n < 2; n++) {
    world.clock.turn(hours(1));
    await followPullRequests();
    await pass();
  }
  expect(await runs()).toHaveLength(2);
  expect((await claim()).step.prompt).toContain('The branch conflicts with its base branch');
});

describe('An approval of a pull request', () => {
  const merged = () => repository().pulls[0]!.merged;
  beforeEach(() => world.knex('projects').update({ autoMerge: true }));
  afterEach(() => world.knex('projects').update({ autoMerge: false }));

  it('allows the merge of the newest commit, and closes the issue, when its author may write', async () => {
    const { runId } = await opened();
    expect(await approve(second)).toMatchObject({ status: 'ignored' });
    expect(await approve(first, 'eve')).toMatchObject({ status: 'waiting' });
    await followPullRequests();
    expect(merged()).toBe(false);
    expect(await approve(first)).toMatchObject({
      status: 'started',
      reason: `It approves the commit ${first} of ${runId}.`,
    });
    await followPullRequests();
    await world.delivered();
    expect([merged(), repository().issues[0]!.state]).toEqual([true, 'closed']);
    expect(await runs()).toHaveLength(1);
  });
});

describe('The source host', () => {
  it('shows a reaction on the comment that continues a mission, once', async () => {
    await opened();
    await lineComment('This is local time.');
    const { id } = await comment('@agent use UTC, please.');
    await world.rest('POST', `${deliveryPath(id)}/redelivery`, { token: owner.token });
    await world.delivered();
    expect(repository().reactions).toEqual([
      expect.stringMatching(/^pulls\/comments\/\d+$/),
      expect.stringMatching(/^issues\/comments\/\d+$/),
    ]);
  });

  it('may refuse the reaction: the delivery has the reason, and the mission continues', async () => {
    await opened();
    github.disturb('reactions/create-for-pull-request-review-comment', { status: 403, body: { message: 'No access' } });
    expect(await lineComment('This is local time.')).toMatchObject({
      ...{
        status: 'started',
        reason: expect.stringMatching(/^Sent to run_\w+, the mission of the pull request\.$/),
      },
      answerProblems: [expect.stringMatching(/^No reaction was added: GitHub rejected access /)],
    });
    await pass();
    expect(await runs()).toHaveLength(2);
  });

  it('shows the mission as a status of its commit: pending, then its outcome with cost and size', async () => {
    const held = await startMission();
    await push(held, first);
    const page = expect.stringContaining(`/console/o/acme/runs/${held.runId}`);
    const status = { sha: first, context: 'mission', target_url: page };
    expect(repository().statuses).toEqual([
      { ...status, state: 'pending', description: 'The mission works on the change.' },
    ]);
    await world.knex('runs').update({ changedFiles: 2, insertions: 5, deletions: 1, missionCostUsd: 1.2 });
    await finish(held);
    expect(repository().statuses[1]).toEqual({
      ...status,
      state: 'success',
      description: 'completed · 1.20 USD · 2 files, +5 −1',
    });
    await approve(first);
    expect(repository().statuses[2]!.description).toBe('completed · 1.20 USD · 2 files, +5 −1 · approved');
    await deliver('status', { id: 1, sha: first, state: 'failure', context: 'mission', sender: person('acme-bot') });
    await pass();
    expect(await runs()).toHaveLength(1);
  });

  it('shows a failure for a mission that fails or is canceled; a mission continues when statuses are refused', async () => {
    const held = await startMission();
    github.disturb('repos/create-commit-status', { status: 403, body: { message: 'No access' } });
    await push(held, first);
    await world.rest('POST', `/runs/${held.runId}/cancel`, { token: owner.token });
    await world.delivered();
    expect(repository().statuses).toMatchObject([{ state: 'failure', description: 'canceled · 0.00 USD' }]);
  });
});

it('A pull request that reverts the pull request of a mission counts only when it is merged', async () => {
  const { runId } = await opened();
  const revertedAt = async () => (await runs()).find(({ id }) => id === runId).prRevertedAt;
  const closed = (body: string, merged: boolean) =>
    deliver('pull_request', {
      action: 'closed',
      sender: person('ada'),
      pull_request: {
        number: 3,
        html_url: 'https://github.com/acme/shop/pull/3',
        title: 'Revert',
        body,
        merged,
        head: { ref: 'revert-2-mission' },
      },
    });
  await closed('Reverts acme/shop#2', false);
  await closed('Reverts acme/blog#2', true);
  await closed('It reverts acme/shop#2', true);
  expect(await revertedAt()).toBeNull();
  await closed('Reverts acme/shop#2', true);
  expect(await revertedAt()).toBe(present());
});

it('A label leads to a merged pull request: a check and a review are answered on the way, and the issue is closed', async () => {
  await world.knex('projects').update({ autoMerge: true });
  await host.automation([{ kind: 'issue', label: 'agent' }]);
  const issue = github.open('acme/shop', { title: 'Dates are wrong', body: 'Use UTC.' });
  await deliver(...labeled(issue));
  expect(repository().reactions).toEqual(['issues/1']);
  expect(issue.comments).toMatchObject([{ body: expect.stringContaining('Work: started') }]);

  const built = await claim();
  expect(built.step.prompt).toContain('Dates are wrong');
  await push(built, first);
  await finish(built);
  await failedCheck(built.branch, first);
  await pass();
  const mended = await claim();
  expect(mended.step.prompt).toContain('1 test failed: dates');
  await push(mended, second);
  await finish(mended);
  await lineComment('This is local time.');
  await lineComment('Name it utcDate.', 'ada');
  await pass();
  const reviewed = await claim();
  expect(reviewed.step.prompt).toMatch(
    /bob wrote:[\s\S]*This is local time\.[\s\S]*ada wrote:[\s\S]*Name it utcDate\./,
  );
  await push(reviewed, third);
  await finish(reviewed);
  await approve(third);
  await followPullRequests();
  // The earlier runs of the pull request learn of the merge when they are next checked.
  world.clock.turn(hours(1));
  await followPullRequests();
  await world.delivered();

  expect(repository().pulls).toMatchObject([{ number: 2, merged: true, head: { ref: built.branch } }]);
  expect((await runs()).map((run) => [run.status, run.headSha, run.prState])).toEqual([
    ['completed', first, 'merged'],
    ['completed', second, 'merged'],
    ['completed', third, 'merged'],
  ]);
  expect(repository().statuses.map(({ sha, state }) => [sha, state])).toEqual([
    ...[first, second, third].flatMap((sha) => [
      [sha, 'pending'],
      [sha, 'success'],
    ]),
    // The approval is part of the status.
    [third, 'success'],
  ]);
  expect(issue).toMatchObject({ state: 'closed', state_reason: 'completed' });
  // The runs of the pull request keep one comment up to date.
  expect(issue.comments).toHaveLength(1);
  expect(issue.comments[0]!.body).toMatch(
    new RegExp(`^Work: completed[\\s\\S]*/pull/2[\\s\\S]*/runs/${reviewed.runId}`),
  );
  expect(repository().pulls[0]!.comments).toMatchObject([{ body: expect.stringContaining('Work: completed, merged') }]);
  await world.knex('projects').update({ autoMerge: false });
  await world.knex('recurring_missions').delete();
});

describe('An event that starts a mission without an issue of the tracker', () => {
  const rule = { kind: 'comment', mention: 'agent', from: 'writers' };
  beforeEach(async () => {
    await world.knex('projects').update({ tracker: 'builtin' });
    await host.automation([rule]);
  });
  afterEach(async () => {
    await world.knex('recurring_missions').delete();
    await world.knex('projects').update({ tracker: 'github' });
  });
  const asked = async (pull = false): Promise<Json> => {
    const { number, html_url, title } = github.open('acme/shop', { title: 'Dates are wrong' });
    const issue = { number, html_url, title, ...(pull && { pull_request: {} }) };
    const said = {
      id: nextNumber(),
      html_url: `https://github.com/c${nextNumber()}`,
      body: '@agent why?',
      user: person('ada'),
    };
    return deliver('issue_comment', { action: 'created', comment: said, issue, sender: person('ada') });
  };
  const comments = () => repository().issues.flatMap((issue) => issue.comments.map(({ body }) => body));
  const waits = async (awaitsApproval: boolean) => {
    await world.knex('runs').update({ awaitsApproval });
    await Promise.all([answerWaits(), answerWaits()]);
    await world.delivered();
  };

  it('is answered where it happened by one comment, which follows the mission to its end', async () => {
    expect(await asked()).toMatchObject({ status: 'started', answerProblems: [] });
    const held = await claim();
    const page = `${world.url}/console/o/acme/runs/${held.runId}`;
    const mark = `<!-- run: ${held.runId} -->`;
    expect(comments()).toEqual([`Work: started\n\n${page}\n\n${mark}`]);
    await waits(true);
    expect(comments()).toEqual([`Work: waits for approval of its plan\n\n${page}\n\n${mark}`]);
    await waits(false);
    expect(comments()[0]).toContain('Work: started');
    const choose = (origin: boolean) =>
      world.field('mutation ($input: UpdateMissionNoticesRequest!) { updateMissionNotices(input: $input) { kind } }', {
        session,
        variables: { input: { kind: 'approval', origin } },
      });
    const session = await world.session(owner.person, owner.organization.id);
    await choose(false);
    await waits(true);
    expect(comments()).toEqual([`Work: started\n\n${page}\n\n${mark}`]);
    await waits(false);
    await choose(true);
    await finish(held);
    expect(comments()).toEqual([`Work: completed\n\nCost: 0.00 USD\n\n${page}\n\n${mark}`]);
    expect(repository().reactions).toEqual([expect.stringMatching(/^issues\/comments\/\d+$/)]);
  });

  it('is answered at a pull request too, even when the mission is canceled; the answer starts nothing', async () => {
    await asked(true);
    const [{ id }] = await runs();
    await world.rest('POST', `/runs/${id}/cancel`, { token: owner.token });
    await world.delivered();
    expect(comments()).toEqual([expect.stringMatching(/^Work: canceled/)]);
    const own = {
      id: nextNumber(),
      html_url: `https://github.com/c${nextNumber()}`,
      body: `@agent ${comments()[0]}`,
      user: person('acme-bot'),
    };
    const { number, html_url, title } = repository().issues[0]!;
    const issue = { number, html_url, title };
    const answer = { action: 'created', comment: own, issue, sender: person('acme-bot') };
    expect(await deliver('issue_comment', answer)).toMatchObject({ status: 'ignored' });
    expect(await runs()).toHaveLength(1);
  });

  it('starts its mission although the host refuses the comment or limits its rate; the reason is on the delivery until it succeeds', async () => {
    github.disturb('issues/create-comment', { status: 403, body: { message: 'Resource not accessible' } });
    const { id, ...refused } = await asked();
    expect(refused).toMatchObject({
      status: 'started',
      answerProblems: [expect.stringMatching(/^No comment was added: GitHub rejected access .*not accessible/)],
    });
    github.disturb('issues/list-comments', {
      status: 429,
      headers: { 'retry-after': '60' },
      body: { message: 'Slow' },
    });
    await waits(true);
    expect((await deliveryOf(id)).answerProblems).toEqual([
      'No comment was added: GitHub limits the rate of requests.',
    ]);
    // The job waits until GitHub’s rate limit ends; the wait does not count as an attempt.
    const [job] = await world.knex('background.job').where({ name: 'answer event' });
    expect(job).toMatchObject({ state: 'retry', retryCount: 0, startedOn: null });
    expect(job.startAfter.getTime()).toBeGreaterThan(Date.now() + seconds(50));
    const calls = github.asked.length;
    await world.knex('background.job').update({ startAfter: new Date(0) });
    await world.delivered();
    expect(github.asked).toHaveLength(calls);
    world.clock.turn(minutes(1));
    await world.knex('background.job').update({ startAfter: new Date(0) });
    await world.delivered();
    expect(comments()).toHaveLength(1);
    expect((await deliveryOf(id)).answerProblems).toEqual([]);
  });

  it('is answered once even if the response of the host is lost', async () => {
    github.disturb('issues/create-comment', 'lose the answer');
    await asked();
    const [{ id }] = await runs();
    await Promise.all([answerEvent({ runId: id }), answerEvent({ runId: id })]);
    expect(comments()).toHaveLength(1);
  });
});

describe('A rule with a sandbox template for outsiders', () => {
  const environment =
    '{ runId leaseId branch step { stepId environment { templateId variables { name value } secrets { name } agentNetwork { mode } } } }';
  const held = (): Promise<Json> => runtime.claim({}, environment);
  const api = (method: string, route: string, body?: object) => world.rest(method, route, { token: owner.token, body });
  const create = (outsiderTemplateId: string) =>
    host.automation([{ kind: 'issue', label: 'agent', from: 'anyone', outsiderTemplateId }]);
  const labeledBy = (by: string) => deliver(...labeled(github.open('acme/shop', { title: 'Dates are wrong' }), { by }));

  it('keeps their missions and all continuations in it, without secrets of the project and the organization', async () => {
    const narrow = {
      name: 'Narrow',
      agentNetwork: { mode: 'none', hosts: [] },
      variables: [{ name: 'A', value: '1' }],
    };
    const secret = { kind: 'secret', value: '0123456789', setupOnly: true };
    const template = (await api('POST', '/sandbox-templates', narrow)).body.id;
    const session = await world.session(owner.person, owner.organization.id);
    for (const place of [
      { scope: 'organization', name: 'ORG' },
      { scope: 'project', projectId, name: 'PROJECT' },
    ]) {
      await world.field('mutation ($input: CreateSecretRequest!) { createSecret(input: $input) { id } }', {
        ...{ session, variables: { input: { ...secret, ...place } } },
      });
    }
    expect(await create('sbt_0')).toMatchObject({
      description: expect.stringContaining('eventTriggers.0.outsiderTemplateId'),
    });
    const { id: automationId } = await create(template);
    const inNarrow = { templateId: template, secrets: [], agentNetwork: { mode: 'none' }, variables: narrow.variables };

    await labeledBy('ada');
    const own = await held();
    expect(own.step.environment).toMatchObject({
      ...{ templateId: 'standard', secrets: [{ name: 'ORG' }, { name: 'PROJECT' }] },
    });
    await runtime.finish(own);
    world.clock.turn(1);
    await labeledBy('eve');
    const theirs = await held();
    expect(theirs.step.environment).toEqual(inNarrow);
    expect((await api('DELETE', `/sandbox-templates/${template}`)).body.description).toMatch(
      /used by a rule of Work, the open mission run_\w+: choose/,
    );
    expect(await push(theirs, first)).toHaveProperty('prNumber');
    const { number } = repository().pulls[0]!;
    await finish(theirs);
    world.clock.turn(1);
    const again =
      'mutation ($runId: String!) { continueRun(runId: $runId, prompt: "Go on.") { id sandboxTemplateId } }';
    const continued = () => world.field(again, { token: owner.token, variables: { runId: theirs.runId } });
    expect(await continued()).toMatchObject({ sandboxTemplateId: template });
    const further = await held();
    expect(further.step.environment).toEqual(inNarrow);
    await runtime.finish(further);
    await review('Please use UTC.', 'ada', { number });
    await pass();
    const reviewed = await held();
    expect(reviewed.step.environment).toEqual(inNarrow);
    await runtime.finish(reviewed);

    await api('DELETE', `/automations/${automationId}`);
    expect((await api('DELETE', `/sandbox-templates/${template}`)).status).toBe(200);
    expect(await continued()).toMatchObject({
      description: 'The sandbox template that an event rule set for the mission was deleted.',
    });
    await world.knex('secrets').delete();
  });
});

it('Two processes that update one comment or check do so one after the other', async () => {
  const file = fileURLToPath(new URL('../../src/domain/projects/vendors/marks.ts', import.meta.url));
  const processes: typeof import('#domain/projects/vendors/marks.ts')[] = await Promise.all(
    ['one', 'other'].map((instance) => import(`${file}?${instance}`)),
  );
  let [inside, most] = [0, 0];
  const work = async () => {
    most = Math.max(most, ++inside);
    await fetch(world.url);
    inside--;
  };
  await Promise.all(processes.map(({ queueCall }) => queueCall('check', work)));
  expect(most).toBe(1);
  // The lock of a process that has died expires.
  await world.knex('vendor_turns').insert({ key: 'check', holder: 'dead', expiresAt: 0 });
  await processes[0]!.queueCall('check', work);
  expect(await world.knex('vendor_turns')).toEqual([]);
});

describe('A GitHub App', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
  const scm = async (): Promise<Json> => world.knex('integrations').where({ vendorKind: 'scm' }).first();
  const become = async (permissions: object) => {
    // Tokens are kept for the credentials, and the stand-in forgets them between tests.
    const appId = `${nextNumber()}`;
    github.settings.app = { appId, installationId: '7', publicKey, permissions: { issues: 'write', ...permissions } };
    const app = credentialsOfApp({ appId, installationId: '7', privateKey: pem })!;
    await replaceCredentials((await scm()).id, app.write());
  };
  const writes = { contents: 'write', pull_requests: 'write' };
  afterEach(async () => {
    await replaceCredentials((await scm()).id, token);
    await world.knex('integrations').update({ brokenSince: null, checkFailure: null });
  });

  it('shows the mission as one check of its commit: in progress, then its outcome with cost, size and review', async () => {
    await become({ ...writes, checks: 'write' });
    const held = await startMission();
    github.disturb('checks/create', 'lose the answer');
    await push(held, first);
    await reportStatus(held);
    const page = expect.stringContaining(`/console/o/acme/runs/${held.runId}`);
    const check = { id: 1, sha: first, name: 'mission', external_id: held.runId, details_url: page };
    expect(repository().checks).toMatchObject([{ ...check, status: 'in_progress' }]);
    await world.knex('runs').update({ changedFiles: 2, insertions: 5, deletions: 1, missionCostUsd: 1.2 });
    await finish(held);
    await reportStatus(held);
    expect(repository().checks).toMatchObject([{ ...check, status: 'completed', conclusion: 'success' }]);
    const { summary } = repository().checks[0]!.output;
    expect(summary).toMatch(
      /completed[\s\S]*Cost: 1\.20 USD[\s\S]*Change: 2 files, \+5 −1[\s\S]*Review: not approved[\s\S]*\/runs\/run_/,
    );
    await approve(first);
    await reportStatus(held);
    expect(repository().checks[0]!.output.summary).toContain('Review: approved');
    expect(repository().statuses).toEqual([]);
    const own = { id: 1, name: 'mission', head_sha: first, conclusion: 'failure' };
    expect(await deliver('check_run', { action: 'completed', check_run: own, sender: person('app') })).toMatchObject({
      ...{ status: 'ignored', reason: 'The check was created by a mission.' },
    });
    await pass();
    expect(await runs()).toHaveLength(1);
  });

  it('sets a status instead when it lacks the permission for checks, and the run shows the reason once', async () => {
    await become(writes);
    const held = await startMission();
    await push(held, first);
    await reportStatus(held);
    expect(repository().statuses[0]).toMatchObject({ sha: first, state: 'pending' });
    const [{ lastError }] = await runs();
    expect(lastError.match(/a commit status instead of a check: GitHub rejected access/g)).toHaveLength(1);
    await world.rest('POST', `/runs/${held.runId}/cancel`, { token: owner.token });
  });

  it('is shown as suspended at its connector as soon as GitHub reports it', async () => {
    await become({ ...writes, checks: 'write' });
    github.settings.app!.isSuspended = true;
    const installation = { id: 7, account: { login: 'acme' } };
    expect(await deliver('installation', { action: 'suspend', installation, sender: person('ada') })).toMatchObject({
      ...{ status: 'ignored' },
      reason: 'The installation 7 of the App at acme has the event suspend: its connectors are checked.',
    });
    expect((await scm()).checkFailure).toContain('suspended');
    await host.automation([{ kind: 'issue', label: 'agent' }]);
    const issue = github.open('acme/shop', { title: 'Dates are wrong' });
    expect(await deliver(...labeled(issue))).toMatchObject({
      status: 'waiting',
      reason: expect.stringMatching(/^The source host does not say whether ada may write to acme\/shop: .*suspended/),
    });
    github.settings.app!.isSuspended = false;
    await deliver('installation', { action: 'unsuspend', installation, sender: person('ada') });
    expect((await scm()).checkFailure).toBeNull();
    github.settings.app!.installationId = '8';
    expect(await deliver('installation', { action: 'deleted', installation, sender: person('ada') })).toMatchObject({
      reason: expect.stringContaining('has the event deleted'),
    });
    expect((await scm()).checkFailure).toContain('GitHub shows no installation 7 to the App');
    const moved = {
      action: 'renamed',
      account: { login: 'globex' },
      changes: { login: { from: 'acme' } },
      installation,
    };
    expect(await deliver('installation_target', { ...moved, sender: person('ada') })).toMatchObject({
      ...{ status: 'ignored' },
      reason: expect.stringMatching(/^The repository of the project Shop was renamed or transferred: GitHub rejected/),
    });
    await world.knex('recurring_missions').delete();
  });
});

it('A mission follows its repository when it is renamed while the agent works, and ignores another repository with the old name', async () => {
  const address = async (held: Json) =>
    (await runtime.ask('openRepository', { runId: held.runId, leaseId: held.leaseId }, '{ url }')).url;
  const reviewIn = (full_name: string, text: string) => {
    const [name, payload] = reviewed(text);
    return deliver(name, {
      ...payload,
      repository: { id: repository().id, full_name, html_url: `${github.address}/${full_name}` },
    });
  };
  const projectName = async () => {
    const { scmOwner, scmRepo } = await world.knex('projects').where({ id: projectId }).first();
    return `${scmOwner}/${scmRepo}`;
  };
  const held = await startMission();
  expect(await address(held)).toBe(`${github.address}/acme/shop.git`);
  github.rename('acme/shop', 'acme/store');
  // Calls with the earlier name still work.
  expect(await push(held, first)).toMatchObject({ prNumber: 2 });
  expect(repository().pulls).toMatchObject([{ head: { ref: held.branch } }]);
  expect(await projectName()).toBe('acme/shop');
  expect(await address(held)).toBe(`${github.address}/acme/store.git`);
  expect(await projectName()).toBe('acme/store');
  await finish(held);

  github.rename('acme/store', 'globex/store');
  expect(await reviewIn('globex/store', 'Please use UTC.')).toMatchObject({ status: 'started' });
  expect(await projectName()).toBe('globex/store');
  // An event with the name from before the renaming arrives late.
  expect(await reviewIn('acme/shop', 'And the tests.')).toMatchObject({ status: 'started' });
  await pass();
  const next = await claim();
  expect(next.step.prompt).toMatch(/Please use UTC\.[\s\S]*And the tests\./);

  github.rename('globex/store', 'globex/shop');
  github.add('globex/store');
  expect(await address(next)).toBe(`${github.address}/globex/shop.git`);
  expect(await projectName()).toBe('globex/shop');
  expect(await push(next, second)).toMatchObject({ prNumber: 2 });
  await world.knex('projects').update({ scmOwner: 'acme', scmRepo: 'shop', scmRepositoryKey: null });
});

it('A failed workflow continues the mission with the ends of the logs of its failed jobs', async () => {
  const { branch } = await opened();
  const asked: unknown[] = [];
  const storage = createServer((req, res) => {
    asked.push([req.url, req.headers.authorization]);
    res.end(`${'2026-11-25T10:00:00.1234567Z noise\n'.repeat(20_000)}2026-11-25T10:00:01.1Z 1 test failed: dates\n`);
  }).listen(0, '127.0.0.1');
  await once(storage, 'listening');
  const log = `http://127.0.0.1:${(storage.address() as AddressInfo).port}/log?sig=x`;
  const job = { attempt: '5 2', conclusion: 'failure', log };
  repository().jobs.push(
    { ...job, id: 1, name: 'lint', conclusion: 'success', steps: [] },
    { ...job, id: 2, name: 'test', steps: [{ name: 'Run tests', number: 1, conclusion: 'failure' }] },
  );
  const workflow_run = {
    ...{ id: 5, run_attempt: 2, name: 'CI', html_url: 'https://ci.example/5', head_sha: first },
    ...{ head_branch: branch, conclusion: 'failure' },
  };
  const failed = (more: object = {}) =>
    deliver('workflow_run', {
      ...{ action: 'completed', sender: person('ci') },
      workflow_run: { ...workflow_run, ...more },
    });
  const before = github.asked.length;
  for (const other of [{ head_sha: second }, { head_branch: 'main' }])
    expect(await failed(other)).toMatchObject({ status: 'ignored' });
  expect(github.asked).toHaveLength(before);
  expect(await failed()).toMatchObject({ status: 'started' });
  await pass();
  const { step } = await claim();
  expect(step.prompt).toContain('Job test failed, step Run tests:');
  expect(step.prompt).toContain('noise\n1 test failed: dates');
  expect(step.prompt).not.toContain('lint');
  expect(step.prompt.length).toBeLessThan(14_000);
  expect(asked).toEqual([['/log?sig=x', undefined]]);
  storage.close();
});

it('A push to the base branch causes conflicts to be found at once, even when the host has to compute them first', async () => {
  await opened();
  world.clock.turn(hours(5));
  await followPullRequests();
  const pushed = () => deliver('push', { ref: 'refs/heads/main', sender: person('ada') });
  Object.assign(repository().pulls[0]!, { mergeable: null, mergeable_state: 'unknown' });
  expect(await pushed()).toMatchObject({ status: 'ignored', reason: expect.stringContaining('main has moved') });
  const before = github.asked.length;
  await followPullRequests();
  expect(github.asked).toHaveLength(before);
  world.clock.turn(seconds(5));
  await followPullRequests();
  Object.assign(repository().pulls[0]!, { mergeable: false, mergeable_state: 'dirty' });
  world.clock.turn(minutes(1));
  await followPullRequests();
  await pass();
  expect(await runs()).toHaveLength(2);
});

it('A conflict beyond the bounds of the project is shown on the run once, and waits for a person', async () => {
  await opened();
  await setLoop({ hours: 1 });
  repository().pulls[0]!.mergeable_state = 'dirty';
  for (let n = 0; n < 2; n++) {
    world.clock.turn(hours(2));
    await followPullRequests();
    await pass();
  }
  const [{ lastError }, ...others] = await runs();
  expect(others).toEqual([]);
  expect(lastError).toMatch(
    new RegExp(
      `^The commit ${first} conflicts with the base branch\\. The mission .* Continue the mission to resolve it\\.$`,
    ),
  );
});

describe('The bounds of the pull request loop of a project', () => {
  it.each([
    [{ rounds: 1 }, 'The mission of the pull request was continued 1 times, the maximum.'],
    [{ costUsd: 0.01 }, 'The missions of the pull request have cost 2.00 US dollars; the maximum is 0.01.'],
    [{ hours: 1 }, expect.stringMatching(/^The mission of the pull request was continued only until 20/)],
  ])('make further reviews wait for approval: %j', async (bound, reason) => {
    await opened();
    await review('Please use UTC.');
    await pass();
    await finish(await claim());
    await world.knex('runs').update({ missionCostUsd: 1 });
    world.clock.turn(hours(2));
    await setLoop(bound);
    const { id, ...waiting } = await review('And rename it.');
    expect(waiting).toMatchObject({ status: 'waiting', reason });
    await world.rest('POST', `${deliveryPath(id)}/approval`, { token: owner.token });
    await world.delivered();
    await pass();
    expect(await runs()).toHaveLength(3);
  });

  it('are shown, have defaults, and are refused when out of range', async () => {
    const query = 'query ($id: String!) { project(projectId: $id) { pullRequestLoop { rounds hours costUsd } } }';
    const { body } = await world.graphql(query, { token: owner.token, variables: { id: projectId } });
    expect(body.data.project.pullRequestLoop).toEqual({ rounds: 5, hours: 168, costUsd: null });
    expect(await setLoop({ rounds: 51 })).toMatchObject({ code: 'invalid_request' });
    expect(await setLoop({ costUsd: 0 })).toMatchObject({ code: 'invalid_request' });
    expect(await setLoop({ costUsd: 20 })).toEqual({ pullRequestLoop: { rounds: 5, hours: 168, costUsd: 20 } });
  });
});
