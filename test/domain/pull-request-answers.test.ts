// Missions respond at the source host: with reactions, commit statuses, checks of a GitHub App, and comments at the place where an event
// happened.
import { generateKeyPairSync } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceCredentials } from '#domain/projects/integrations/operations.ts';
import { credentialsOfApp } from '#domain/projects/vendors/github/app.ts';
import { answerEvent } from '#domain/work/inbound/answer.ts';
import { answerWaits } from '#domain/work/runs/answers.ts';
import { reportStatus } from '#domain/work/runs/commit-status.ts';
import { minutes, seconds } from '#foundation/clock.ts';
import { labeled, nextNumber, person, reviewed } from '../support/github-events.ts';
import { first, type Json, openPullRequestWorld, second, token } from '../support/pull-request-world.ts';

const {
  hook,
  automation,
  world,
  github,
  owner,
  runtime,
  projectId,
  repository,
  claim,
  startMission,
  push,
  finish,
  pass,
  runs,
  opened,
  deliver,
  review,
  lineComment,
  comment,
  approve,
  close,
  reset,
  check,
} = await openPullRequestWorld();
afterAll(close);
beforeEach(reset);
afterEach(check);

describe('answers at the source host', () => {
  it('each comment that continues a mission gets one reaction', async () => {
    await opened();
    await lineComment('This is local time.');
    const { id } = await comment('@agent use UTC, please.');
    await world.rest('POST', `${hook.pathOf(id)}/redelivery`, { token: owner.token });
    await world.delivered();
    expect(repository().reactions).toEqual([
      expect.stringMatching(/^pulls\/comments\/\d+$/),
      expect.stringMatching(/^issues\/comments\/\d+$/),
    ]);
  });

  it('if the source host refuses a reaction, the delivery shows it and the mission continues', async () => {
    await opened();
    github.disturb('reactions/create-for-pull-request-review-comment', { status: 403, body: { message: 'No access' } });
    expect(await lineComment('This is local time.')).toMatchObject({
      ...{
        status: 'started',
        reason: expect.stringMatching(/^Sent to run_\w+, the mission of the pull request\.$/),
      },
      answerProblems: [
        expect.stringMatching(
          /^No reaction was added: GitHub rejected the request, because the credentials of the tracker connector do not allow it: /,
        ),
      ],
    });
    await pass();
    expect(await runs()).toHaveLength(2);
  });

  it('the commit of a mission gets a status: pending, then its outcome with cost and size', async () => {
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

  it('the commit of a canceled mission gets a failed status, even when an earlier status was refused', async () => {
    const held = await startMission();
    github.disturb('repos/create-commit-status', { status: 403, body: { message: 'No access' } });
    await push(held, first);
    await world.rest('POST', `/runs/${held.runId}/cancel`, { token: owner.token });
    await world.delivered();
    expect(repository().statuses).toMatchObject([{ state: 'failure', description: 'canceled · 0.00 USD' }]);
  });
});

describe('events that start a mission without an issue of the tracker', () => {
  const rule = { kind: 'comment', mention: 'agent', from: 'writers' };
  beforeEach(async () => {
    await world.knex('projects').update({ tracker: 'builtin' });
    await automation([rule]);
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

  it('each event is answered by one comment at the place where it happened, and the comment is updated until the mission ends', async () => {
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

  it('an event on a pull request is answered even when its mission is canceled; the answer starts nothing', async () => {
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

  it('an event starts its mission although the host refuses the comment or limits requests; the delivery shows why the comment is missing', async () => {
    github.disturb('issues/create-comment', { status: 403, body: { message: 'Resource not accessible' } });
    const { id, ...refused } = await asked();
    expect(refused).toMatchObject({
      status: 'started',
      answerProblems: [
        expect.stringMatching(
          /^No comment was added: GitHub rejected the request, because the credentials of the scm connector do not allow it: .*not accessible/,
        ),
      ],
    });
    github.disturb('issues/list-comments', {
      status: 429,
      headers: { 'retry-after': '60' },
      body: { message: 'Slow' },
    });
    await waits(true);
    expect((await hook.deliveryOf(id)).answerProblems).toEqual([
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
    expect((await hook.deliveryOf(id)).answerProblems).toEqual([]);
  });

  it('an event is answered once even if the response of the host is lost', async () => {
    github.disturb('issues/create-comment', 'lose the answer');
    await asked();
    const [{ id }] = await runs();
    await Promise.all([answerEvent({ runId: id }), answerEvent({ runId: id })]);
    expect(comments()).toHaveLength(1);
  });
});

describe('rules with a sandbox template for outsiders', () => {
  const environment =
    '{ runId leaseId branch step { stepId environment { templateId variables { name value } secrets { name } agentNetwork { mode } } } }';
  const held = (): Promise<Json> => runtime.claim({}, environment);
  const api = (method: string, route: string, body?: object) => world.rest(method, route, { token: owner.token, body });
  const create = (outsiderTemplateId: string) =>
    automation([{ kind: 'issue', label: 'agent', from: 'anyone', outsiderTemplateId }]);
  const labeledBy = (by: string) => deliver(...labeled(github.open('acme/shop', { title: 'Dates are wrong' }), { by }));

  it('missions that outsiders start, and continuations of these missions, run in the rule’s template, without secrets of project and organization', async () => {
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
      description: 'An event rule chose the sandbox template of this mission, and the template has since been deleted.',
    });
    await world.knex('secrets').delete();
  });
});

it('two processes that update one comment or check do so one after the other', async () => {
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

describe('GitHub Apps', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
  const scm = async (): Promise<Json> => world.knex('integrations').where({ vendorKind: 'scm' }).first();
  const become = async (permissions: object) => {
    // The service caches tokens by credentials, but the stand-in forgets them between tests.
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

  it('the commit of a mission gets one check: in progress, then its outcome with cost, size and review', async () => {
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

  it('a GitHub App without the permission for checks sets a status instead, and the run shows the reason once', async () => {
    await become(writes);
    const held = await startMission();
    await push(held, first);
    await reportStatus(held);
    expect(repository().statuses[0]).toMatchObject({ sha: first, state: 'pending' });
    const [{ lastError }] = await runs();
    expect(lastError.match(/a commit status instead of a check: GitHub rejected the request/g)).toHaveLength(1);
    await world.rest('POST', `/runs/${held.runId}/cancel`, { token: owner.token });
  });

  it('a connector shows that its GitHub App is suspended as soon as GitHub reports the suspension', async () => {
    await become({ ...writes, checks: 'write' });
    github.settings.app!.isSuspended = true;
    const installation = { id: 7, account: { login: 'acme' } };
    expect(await deliver('installation', { action: 'suspend', installation, sender: person('ada') })).toMatchObject({
      ...{ status: 'ignored' },
      reason: 'The installation 7 of the App at acme has the event suspend: its connectors are checked.',
    });
    expect((await scm()).checkFailure).toContain('suspended');
    await automation([{ kind: 'issue', label: 'agent' }]);
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
    expect((await scm()).checkFailure).toContain('has no installation 7 on GitHub');
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

it('a mission follows its repository through renames while the agent works, and ignores another repository with the old name', async () => {
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
  // An event arrives late and still has the old name of the repository.
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
