// Events of other systems as a story: hooks take signed events, rules of automations start missions on them once, and
// each delivery shows its outcome.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { planLimits } from '#domain/money/billing/catalog.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { sweepDeliveries } from '#domain/work/inbound/deliveries.ts';
import { processDelivery } from '#domain/work/inbound/process.ts';
import { retryDeliveries } from '#domain/work/inbound/retry.ts';
import { deliveryRetentionMs } from '#domain/work/inbound-hooks/bounds.ts';
import { finishIssue } from '#domain/work/runs/finish-issue.ts';
import { days, minutes } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { newId } from '#foundation/ids.ts';
import { type Account, createCallers } from '../support/callers.ts';
import { type GitHub, openGitHub } from '../support/fake-github.ts';
import { githubHeaders } from '../support/github-events.ts';
import { createHook } from '../support/host-world.ts';
import { openWorld, present, type World } from '../support/world.ts';

const githubToken = 'ghp_OfAcmeAndOfNobodyElse';
let world: World;
let github: GitHub;
let owner: Account;
let viewer: Account;
let stranger: Account;
let project: string;
let hook: { id: string; address: string; secret: string };
let events = 0;

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  github = await openGitHub(githubToken);
  github.clear('acme/shop');
  github.repositories.get('acme/shop')!.permissions.set('ada', 'write').set('eve', 'read');
  world = await openWorld({ vendors: { github: github.address } });
  ({ owner, viewer, stranger } = await createCallers(world));
  await world.grant(owner.organization, 1_000);
  await world.lift(owner.organization);
  for (const vendorKind of ['tracker', 'scm'] as const) {
    const orgId = owner.organization.id;
    await connectIntegration({ orgId, vendor: 'github', vendorKind, displayName: 'GitHub', credentials: githubToken });
  }
  const body = { name: 'Shop', repoFullName: 'acme/shop', tracker: 'github' };
  project = (await world.rest('POST', '/projects', { token: owner.token, body })).body.id;
});
afterAll(async () => {
  await world.close();
  await github.close();
  openOutbound({ allowLoopback: false });
});
beforeEach(async () => {
  await world.knex('recurring_missions').delete();
  await world.knex('runs').delete();
  await world.knex('inbound_hooks').delete();
  hook = await newHook({ vendor: 'github' });
});
afterEach(() => expect(github.violations).toEqual([]));

async function newHook(more: object): Promise<typeof hook> {
  const { status, body } = await world.rest('POST', '/inbound-hooks', {
    token: owner.token,
    body: { name: 'Events', ...more },
  });
  expect(status).toBe(201);
  return { ...body.hook, secret: body.secret };
}

const create = `mutation ($input: CreateScheduledTaskRequest!) {
  createAutomation(input: $input) { id triggers { kind } eventTriggers { kind from label mention filter key } nextRunAt }
}`;
const automation = (eventTriggers: object[], more: object = {}, ask: object = { token: owner.token }) =>
  world.field(create, {
    ...ask,
    variables: {
      input: {
        ...{
          projectId: project,
          name: 'Work',
          prompt: 'Do it.',
          triggers: [],
          agentId: 'agn_builtin_shell',
          eventTriggers,
        },
        ...more,
      },
    },
  });

const hex = (secret: string, body: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

interface Sent {
  to?: typeof hook;
  id?: string;
  headers?: Record<string, string>;
  signed?: string;
}
async function send(name: string, payload: object | string, { to = hook, id, headers, signed }: Sent = {}) {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const answer = await fetch(to.address, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': name,
      'x-github-delivery': id ?? `delivery-${++events}`,
      'x-hub-signature-256': signed ?? hex(to.secret, body),
      ...headers,
    },
  });
  return { status: answer.status, body: (await answer.json()) as { deliveryId: string; description?: string } };
}

/** Sends an event that is processed at once, and returns its delivery. */
async function deliver(name: string, payload: object | string, sent: Sent = {}) {
  const { status, body } = await send(name, payload, sent);
  expect(status).toBe(202);
  await world.delivered();
  return delivery(body.deliveryId, sent.to);
}
const deliveryPath = (id: string, { id: hookId } = hook) => `/inbound-hooks/${hookId}/deliveries/${id}`;
const delivery = async (id: string, of = hook) =>
  (await world.rest('GET', deliveryPath(id, of), { token: owner.token })).body;
const runs = () => world.knex('runs').orderBy('createdAt');

const repository = { full_name: 'Acme/shop' };
const person = (login: string, type = 'User') => ({ login, type });
function labeled(label: string, { by = person('ada'), title = 'Slow page', body = 'It takes 9 s.' } = {}) {
  const issue = github.open('acme/shop', { title, body });
  const { number, html_url } = issue;
  return {
    action: 'labeled',
    issue: { number, html_url, title, body, updated_at: '2026-11-23T09:00:00Z' },
    label: { name: label },
    repository,
    sender: by,
  };
}
function comment(body: string, more: object = {}) {
  const { issue } = labeled('x');
  return {
    action: 'created',
    issue,
    comment: { id: ++events, html_url: `${issue.html_url}#c${events}`, body, user: person('ada') },
    repository,
    sender: person('ada'),
    ...more,
  };
}

describe('An issue that gets a label', () => {
  it('starts the mission of the rule once, on that issue, with its text and comments as quoted data', async () => {
    expect(await automation([{ kind: 'issue', label: 'agent' }])).toMatchObject({
      ...{ triggers: [], nextRunAt: null, eventTriggers: [{ kind: 'issue', label: 'agent', from: 'writers' }] },
    });
    const event = labeled('Agent');
    github.repositories
      .get('acme/shop')!
      .issues.at(-1)!
      .comments.push({
        ...{ body: 'Since Monday.', html_url: 'https://github.com/c', created_at: '2026-01-01T00:00:00Z' },
      });
    const done = await deliver('issues', event);
    const [run] = await runs();
    expect(done).toMatchObject({
      ...{ event: 'issues.labeled', status: 'started', reason: null, title: `Slow page (#${event.issue.number})` },
      outcomes: [{ name: 'Work', result: 'started', reason: null, runId: run.id }],
    });
    expect(run).toMatchObject({
      issueId: `acme/shop#${event.issue.number}`,
      issueUrl: event.issue.html_url,
      kind: 'manual',
    });
    expect(run.issueText).toContain('It takes 9 s.');
    expect(run.issueText).toContain('Since Monday.');

    // One comment leads to the run, and has its outcome in the end.
    const comments = () => github.repositories.get('acme/shop')!.issues[event.issue.number - 1]!.comments;
    const page = `/console/o/${owner.organization.slug}/runs/${run.id}`;
    expect(comments().map(({ body }) => body)).toEqual([
      'Since Monday.',
      expect.stringContaining(`Work: started\n\n${world.url}${page}`),
    ]);
    await world
      .knex('runs')
      .where({ id: run.id })
      .update({ status: 'completed', finishedAt: present(), leaseUntil: null });
    await finishIssue({ runId: run.id });
    expect(comments().map(({ body }) => body)).toEqual(['Since Monday.', expect.stringContaining('Work: completed')]);

    // The same event by another hook of the organization, and the same delivery once more.
    const second = await newHook({ vendor: 'github' });
    const again = await deliver('issues', event, { to: second });
    expect(again).toMatchObject({
      status: 'ignored',
      outcomes: [{ reason: `The same event has already started ${run.id}.` }],
    });
    const repeated = await send('issues', event, { id: done.externalId });
    expect(repeated).toMatchObject({ status: 200, body: { deliveryId: done.id } });
    expect(await runs()).toHaveLength(1);
  });

  it.each([
    ['another label', () => labeled('bug'), 'No rule matched: Work: the label bug is not agent.'],
    [
      'opened',
      () => ({ ...labeled('x'), action: 'opened', label: undefined }),
      'No rule matched: Work: it was opened, and the rule waits for the label agent.',
    ],
    ['a program', () => labeled('agent', { by: person('ci', 'Bot') }), 'ci is a program.'],
    [
      'a mission',
      () => labeled('agent', { body: 'Work\n\n<!-- run: run_1 -->' }),
      'The issue was written by a mission.',
    ],
    [
      'unlabeled',
      () => ({ ...labeled('agent'), action: 'unlabeled' }),
      'No rule matched: Work: it was unlabeled, and the rule waits for the label agent.',
    ],
    [
      'another repository',
      () => ({ ...labeled('agent'), repository: { full_name: 'acme/other' } }),
      'No rule matched: no enabled automation or task has a rule for such an event of acme/other.',
    ],
  ])('is ignored with the reason: %s', async (_, event, reason) => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    expect(await deliver('issues', event())).toMatchObject({ status: 'ignored', reason });
    expect(await runs()).toEqual([]);
  });

  it('starts one mission in any order of its events, even when the label is removed in the meantime', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const event = labeled('agent');
    const others = ['unlabeled', 'opened'].map((action) => ({ ...event, action }));
    const sent = [others[0]!, event, others[1]!, event, others[0]!];
    const answers = await Promise.all(sent.map((one) => send('issues', one)));
    await world.delivered();
    const done = await Promise.all(answers.map(({ body }) => delivery(body.deliveryId)));
    expect(done.map(({ status }) => status).sort()).toEqual(['ignored', 'ignored', 'ignored', 'ignored', 'started']);
    expect(await runs()).toHaveLength(1);
  });

  it('starts one mission for each of many issues that are labeled at once, as many as the plan runs; the others wait for one to end', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const { id: orgId } = owner.organization;
    const billing = () => world.knex('billing_settings').where({ orgId });
    await billing().update({ isEnterprise: false });
    const agentsAtOnce = planLimits.free.agentsAtOnce!;
    const count = Number(process.env.ISSUES ?? 10);
    const places = Math.ceil(count / 6);
    const at = present();
    await world.knex('runs').insert(
      Array.from({ length: Math.max(agentsAtOnce - places, 0) }, () => ({
        ...{ id: newId('run'), orgId, projectId: project, scheduledFor: at, kind: 'manual', issueId: 'other' },
        ...{ status: 'dispatching', createdAt: at, updatedAt: at, billingActorUserId: owner.person.id },
      })),
    );
    const open = () => world.knex('runs').whereNot({ issueId: 'other' }).where({ status: 'dispatching' });
    const waiting = () => world.knex('inbound_deliveries').where({ status: 'received' });
    const answers = await Promise.all(Array.from({ length: count }, () => send('issues', labeled('agent'))));
    expect(answers.filter(({ status }) => status !== 202)).toEqual([]);
    await world.delivered();
    for (let started = places; started < count; started += places) {
      expect(await open()).toHaveLength(places);
      const asked = github.asked.length;
      await Promise.all([retryDeliveries(), retryDeliveries()]);
      await world.delivered();
      expect(github.asked).toHaveLength(asked);
      const rows = await waiting();
      expect(rows).toHaveLength(count - started);
      for (const { reason, title } of rows)
        expect([reason, title]).toEqual([expect.stringContaining('runs 100 missions at once'), expect.any(String)]);
      await open().update({ status: 'completed', finishedAt: present() });
      await Promise.all([retryDeliveries(), retryDeliveries()]);
      await world.delivered();
    }
    expect(await waiting()).toEqual([]);
    expect(await world.knex('inbound_retries')).toEqual([]);
    const started = await world.knex('runs').whereNot({ issueId: 'other' });
    expect(new Set(started.map(({ issueId }) => issueId)).size).toBe(count);
    expect(started).toHaveLength(count);
    await billing().update({ isEnterprise: true });
  });

  it('starts a mission in a new organization whose trial credits were not used yet', async () => {
    const { token } = stranger;
    const body = { name: 'Site', repoFullName: 'globex/site' };
    const { id: projectId } = (await world.rest('POST', '/projects', { token, body })).body;
    await automation([{ kind: 'issue', label: 'agent', from: 'anyone' }], { projectId }, { token });
    const theirs = await createHook(world, token, 'github');
    const event = JSON.stringify({ ...labeled('agent'), repository: { full_name: 'globex/site' } });
    const done = await theirs.deliver(event, githubHeaders('issues', event, theirs.secret));
    expect(done).toMatchObject({ status: 'started', reason: null });
  });

  it('starts nothing once its hook is deleted', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    await send('issues', labeled('agent'));
    await world.rest('DELETE', `/inbound-hooks/${hook.id}`, { token: owner.token });
    await world.delivered();
    expect(await runs()).toEqual([]);
    expect(await send('issues', labeled('agent'))).toMatchObject({ status: 404 });
  });

  it('updates the projects of a renamed or transferred repository, if their connector can read it', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const moved = (action: string, full_name: string, changes: object) =>
      deliver('repository', { action, changes, repository: { full_name }, sender: person('ada') });
    const repoFullName = async () => {
      const { scmOwner, scmRepo } = (await world.rest('GET', `/projects/${project}`, { token: owner.token })).body;
      return `${scmOwner}/${scmRepo}`;
    };
    const change = { repository: { name: { from: 'shop' } } };
    // The service asks the host: an event alone changes nothing.
    await moved('renamed', 'acme/store', change);
    expect(await repoFullName()).toBe('acme/shop');
    const labeledShop = labeled('agent');
    github.rename('acme/shop', 'acme/store');
    expect(await moved('renamed', 'acme/store', change)).toMatchObject({
      ...{ status: 'ignored' },
      reason: 'The repository acme/shop is now acme/store: its projects follow.',
    });
    expect(await repoFullName()).toBe('acme/store');
    const event = await deliver('issues', { ...labeledShop, repository: { full_name: 'acme/store' } });
    expect(event).toMatchObject({ status: 'started' });
    github.rename('acme/store', 'acme/shop');
    const from = { organization: { login: 'acme' } };
    const shop = github.repositories.get('acme/shop')!;
    github.repositories.delete('acme/shop');
    expect(await moved('transferred', 'globex/store', { owner: { from } })).toMatchObject({
      ...{ status: 'ignored' },
      reason: expect.stringMatching(
        /^The repository of the project Shop was renamed or transferred: GitHub shows no repository/,
      ),
    });
    expect((await moved('archived', 'acme/shop', {})).reason).toBe('A repository that is archived starts nothing.');
    github.repositories.set('acme/shop', shop);
    await world.rest('PATCH', `/projects/${project}`, { token: owner.token, body: { repoFullName: 'acme/shop' } });
  });

  it('waits for an approval when its author may not write, and then bills the person who approves', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const waiting = await deliver('issues', labeled('agent', { by: person('eve') }));
    expect(waiting).toMatchObject({ status: 'waiting', reason: 'eve may not write to acme/shop.' });
    const approve = (token: string) => world.rest('POST', `${deliveryPath(waiting.id)}/approval`, { token });
    expect((await approve(viewer.token)).status).toBe(403);
    expect((await approve(stranger.token)).status).toBe(404);
    const both = await Promise.all([approve(owner.token), approve(owner.token)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    await world.delivered();
    expect(await delivery(waiting.id)).toMatchObject({ status: 'started' });
    expect(await runs()).toMatchObject([{ billingActorUserId: owner.person.id }]);
    expect((await approve(owner.token)).status).toBe(409);
  });

  it('starts a mission for any author if the rule allows it, unless the billing settings forbid it', async () => {
    await automation([{ kind: 'issue', label: 'agent', from: 'anyone' }]);
    const session = await world.session(owner.person, owner.organization.id);
    const policy = (trackerTriggers: string) =>
      world.field(
        `mutation { updateBillingSettings(input: { trackerTriggers: ${trackerTriggers} }) { trackerTriggers } }`,
        {
          session,
        },
      );
    await policy('off');
    expect(await deliver('issues', labeled('agent'))).toMatchObject({ status: 'ignored' });
    await policy('members');
    expect(await deliver('issues', labeled('agent'))).toMatchObject({
      ...{ status: 'waiting', reason: 'ada is not known as a member of the organization.' },
    });
    await policy('anyone');
    expect(await deliver('issues', labeled('agent', { by: person('eve') }))).toMatchObject({ status: 'started' });
  });
});

describe('A member whose account is linked', () => {
  it('starts missions that are billed to them, by the id of the account, as long as they may start missions', async () => {
    const session = await world.session(owner.person, owner.organization.id);
    const policy = (to: string) =>
      world.field(`mutation { updateBillingSettings(input: { trackerTriggers: ${to} }) { trackerTriggers } }`, {
        session,
      });
    const bob = await world.person('Bob');
    await world.join(owner.organization, bob, 'member');
    github.accounts.set('eve', { id: 7, login: 'Eve' }).set('robot', { id: 8, login: 'robot', type: 'Bot' });
    const [{ id: integrationId }] = await world.knex('integrations').where({ vendorKind: 'scm' });
    const link = (userId: string, login: string, by: object = { session }) =>
      world.field(
        `mutation ($orgId: String!, $userId: String!, $integrationId: String!, $login: String!) {
          linkAccount(orgId: $orgId, userId: $userId, integrationId: $integrationId, login: $login) {
            userId accounts { vendor host login } } }`,
        { ...by, variables: { orgId: owner.organization.id, userId, integrationId, login } },
      );
    const { host } = new URL(github.address);
    const linked = { userId: bob.id, accounts: [{ vendor: 'github', host, login: 'Eve' }] };
    for (const login of ['nobody', 'robot']) {
      expect((await link(bob.id, login)).description).toContain('login: is not the login of a person at');
    }
    expect(await link(bob.id, 'eve', { token: viewer.token })).toMatchObject({ title: 'Missing scope' });
    expect(await link(stranger.person.id, 'eve')).toMatchObject({ title: 'Not found' });
    expect(await link(bob.id, 'eve')).toEqual(linked);
    expect(await link(bob.id, 'EVE')).toEqual(linked);
    expect((await link(owner.person.id, 'eve')).description).toContain('is already linked to another member');

    // Another person has the login now; the id is that of the account.
    const event = (id: number) => labeled('agent', { by: { id, ...person('eve') } as never });
    await policy('members');
    const { id } = await automation([{ kind: 'issue', label: 'agent', from: 'anyone' }]);
    expect(await deliver('issues', event(9))).toMatchObject({ status: 'waiting' });
    expect(await deliver('issues', event(7))).toMatchObject({ status: 'started' });
    expect(await runs()).toMatchObject([{ billingActorUserId: bob.id }]);
    await policy('anyone');
    await world.rest('DELETE', `/automations/${id}`, { token: owner.token });
    await automation([{ kind: 'issue', label: 'agent', from: 'members' }]);
    expect(await deliver('issues', labeled('agent'))).toMatchObject({
      ...{ status: 'waiting', reason: 'ada is not known as a member of the organization.' },
    });
    expect(await deliver('issues', event(7))).toMatchObject({ status: 'started' });
    await world.knex('memberships').where({ userId: bob.id }).update({ role: 'viewer' });
    expect(await deliver('issues', event(7))).toMatchObject({ status: 'waiting' });
    await world.knex('memberships').where({ userId: bob.id }).update({ role: 'member' });
    const unlink = `mutation { unlinkAccount(orgId: "${owner.organization.id}", userId: "${bob.id}", vendor: "github", host: "${host}") {
      accounts { login } } }`;
    expect(await world.field(unlink, { session })).toEqual({ accounts: [] });
    expect(await world.field(unlink, { session })).toMatchObject({ title: 'Not found' });
    expect(await deliver('issues', event(7))).toMatchObject({ status: 'waiting' });
  });
});

describe('A comment', () => {
  const rule = { kind: 'comment', mention: 'agent' };
  it('starts a mission when it mentions the agent, even when an edit adds the mention', async () => {
    await automation([rule]);
    expect(await deliver('issue_comment', comment('Please look, @Agent: why?'))).toMatchObject({ status: 'started' });
    expect((await runs())[0].issueText).toContain('why?');
    for (const body of ['No mention', 'me@agent.example', '@agents', '`@agent`', 'x <!-- run: run_1 --> @agent']) {
      expect(await deliver('issue_comment', comment(body))).toMatchObject({ status: 'ignored' });
    }
    const edited = comment('@agent', { action: 'edited', changes: { body: { from: 'Hm' } } });
    expect(await deliver('issue_comment', edited)).toMatchObject({ status: 'started' });
    expect(await deliver('issue_comment', { ...edited, changes: { body: { from: '@agent hm' } } })).toMatchObject({
      ...{ status: 'ignored' },
    });
    expect(await runs()).toHaveLength(2);
  });
});

describe('Two automations', () => {
  it('do not start each other: neither the texts nor the checks of a mission start another mission', async () => {
    await automation([{ kind: 'comment', mention: 'second' }], { name: 'First' });
    await automation([{ kind: 'comment', mention: 'first' }], { name: 'Second' });
    expect(await deliver('issue_comment', comment('@first please'))).toMatchObject({ status: 'started' });
    const [run] = await runs();
    const answers = ['created', 'edited'].map((action) => comment(`@second go on <!-- run: ${run.id} -->`, { action }));
    for (const answer of answers) {
      expect(await deliver('issue_comment', answer)).toMatchObject({ reason: 'The comment was written by a mission.' });
    }
    expect(await runs()).toHaveLength(1);
  });
});

describe('Agents that answer each other through the account of a person', () => {
  it('start ten missions a day on an issue; then a person has to approve', async () => {
    await automation([{ kind: 'comment', mention: 'agent' }]);
    const { issue } = labeled('x');
    for (let n = 0; n < 10; n++)
      expect(await deliver('issue_comment', comment('@agent go on', { issue }))).toMatchObject({ status: 'started' });
    const tooOften = await deliver('issue_comment', comment('@agent go on', { issue }));
    expect(tooOften).toMatchObject({
      ...{ status: 'waiting' },
      reason: 'The rule has started 10 missions on this issue within a day: agents may be answering each other.',
    });
    expect(await deliver('issue_comment', comment('@agent another'))).toMatchObject({ status: 'started' });
    await world.rest('POST', `${deliveryPath(tooOften.id)}/approval`, { token: owner.token });
    await world.delivered();
    expect(await delivery(tooOften.id)).toMatchObject({ status: 'started' });
  });
});

describe('A pull request', () => {
  const opened = (ref: string, more: object = {}) => {
    const { issue, ...event } = labeled('review');
    return { ...event, action: 'opened', pull_request: { ...issue, head: { ref } }, ...more };
  };

  it('starts a mission when a person opens it, and when a person labels it; not when a mission opens it', async () => {
    await automation([{ kind: 'pullRequest' }, { kind: 'pullRequest', label: 'review' }]);
    expect(await deliver('pull_request', opened('fix'))).toMatchObject({ status: 'started' });
    const [run] = await runs();
    expect(run.issueText).toContain('Slow page');
    // GitHub reports the pull request of a mission before the run has recorded its branch.
    expect(run.branch).toBeNull();
    const branch = `mission/${run.id}`;
    expect(await deliver('pull_request', opened(branch))).toMatchObject({
      ...{ status: 'ignored', outcomes: [{ reason: `The branch ${branch} was created by a mission.` }] },
    });
    expect(await deliver('pull_request', opened(branch, { action: 'labeled' }))).toMatchObject({ status: 'started' });
    expect(await runs()).toHaveLength(2);
  });
});

describe('A failed check', () => {
  const failed = (more: object = {}) => ({
    action: 'completed',
    check_run: {
      ...{ id: ++events, name: 'test', html_url: 'https://ci', head_sha: 'abc', conclusion: 'failure' },
      ...{ check_suite: { head_branch: 'main' }, output: { text: `${'x'.repeat(20_000)}1 test failed` } },
      ...more,
    },
    repository,
    sender: person('github-actions[bot]', 'Bot'),
  });

  it('starts a mission with the end of its log, but not one on the branch of a mission', async () => {
    await automation([{ kind: 'check', branch: 'main' }]);
    expect(await deliver('check_run', failed())).toMatchObject({ status: 'started', title: 'test failed on main' });
    const [run] = await runs();
    expect(run.issueText).toContain('1 test failed');
    expect(run.issueText.length).toBeLessThan(11_000);
    expect(await deliver('check_run', failed({ conclusion: 'success' }))).toMatchObject({
      ...{ status: 'ignored', reason: 'The check has not failed: success.' },
    });
    await world.knex('runs').where({ id: run.id }).update({ branch: 'main' });
    expect(await deliver('check_run', failed())).toMatchObject({
      ...{ status: 'ignored', outcomes: [{ reason: 'The branch main was created by a mission.' }] },
    });
  });
});

describe('An event of any system', () => {
  const standard = (secret: string, body: string, id: string, time: number) => ({
    'webhook-id': id,
    'webhook-timestamp': String(time),
    'webhook-signature': `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${id}.${time}.${body}`)
      .digest('base64')}`,
  });
  const error = (level: string, culprit: string) =>
    JSON.stringify({ type: 'error', data: { level, culprit, n: ++events } });

  it('starts a mission by its filter, with the template filled, once for each key', async () => {
    const to = await newHook({ vendor: 'webhook' });
    const rule = {
      ...{ kind: 'webhook', hookId: to.id, filter: "data.level == 'fatal'", key: 'data.culprit' },
      template: 'Error in {{ data.culprit }}{{ data.absent }}: {{ data }}',
    };
    await automation([rule]);
    const sign = (body: string, id = `w${++events}`) => ({
      ...{ to, headers: standard(to.secret, body, id, Math.floor(present() / 1_000)) },
    });
    const report = (body: string) => deliver('', body, sign(body));
    expect(await report(error('fatal', 'cart.js'))).toMatchObject({ status: 'started', event: 'error' });
    expect((await runs())[0].issueText).toMatch(/^Error in cart\.js: \{\n "level": "fatal"/);
    expect(await report(error('fatal', 'cart.js'))).toMatchObject({ status: 'ignored' });
    expect(await report(error('info', 'pay.js'))).toMatchObject({
      reason: 'No rule matched: Work: the filter does not match.',
    });
    expect(await report(error('fatal', 'pay.js'))).toMatchObject({ status: 'started' });
    const body = error('fatal', 'x.js');
    const old = standard(to.secret, body, 'old', Math.floor(present() / 1_000) - 400);
    expect(await send('', body, { to, headers: old })).toMatchObject({ status: 401 });
    expect(await send('', body, { to, headers: { ...sign(body).headers, 'webhook-id': 'other' } })).toMatchObject({
      ...{ status: 401 },
    });
  });

  it('is accepted as a form, with a signature in a header of the sender’s choice', async () => {
    const to = await newHook({
      vendor: 'webhook',
      signature: 'header',
      signatureHeader: 'X-Form',
      secret: 'secret-of-the-form',
    });
    await automation([{ kind: 'webhook', hookId: to.id, template: '{{ name }} asks: {{ question }}' }]);
    const body = 'name=Eve&question=Why%3F';
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-form': createHmac('sha256', to.secret).update(body).digest('base64'),
    };
    const done = await deliver('', body, { to, headers });
    expect(done.status).toBe('started');
    expect((await runs())[0].issueText).toBe('Eve asks: Why?');
    // Without an id of the sender, the same body is the same event.
    expect(await send('', body, { to, headers })).toMatchObject({ status: 200, body: { deliveryId: done.id } });
  });

  it('is accepted in the forms that docs/triggers.md shows: an error report, a failure of CI and a form', async () => {
    const page = readFileSync(new URL('../../docs/triggers.md', import.meta.url), 'utf8');
    const bodies = [...page.matchAll(/^BODY='(.*)'$/gm)].map(([, body]) => body!);
    const rule = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!.replaceAll('\n  "', '"'));
    const [errors, ci, form] = await Promise.all([
      newHook({ vendor: 'webhook' }),
      newHook({ vendor: 'webhook', signature: 'github' }),
      newHook({ vendor: 'webhook', signature: 'header', signatureHeader: 'X-Form' }),
    ]);
    await automation([
      { ...rule, hookId: errors.id },
      ...[ci, form].map(({ id: hookId }) => ({ kind: 'webhook', hookId })),
    ]);
    const error = JSON.stringify({ data: { level: 'fatal', culprit: 'cart.js', title: 'TypeError', stack: 'at buy' } });
    const headers = standard(errors.secret, error, 'e1', Math.floor(present() / 1_000));
    expect(await deliver('', error, { to: errors, headers })).toMatchObject({ status: 'started' });
    expect(await deliver('', bodies[0]!, { to: ci })).toMatchObject({ status: 'started', event: 'build.failed' });
    const signed = hex(form.secret, bodies[1]!).slice('sha256='.length);
    const type = 'application/x-www-form-urlencoded';
    expect(
      await deliver('', bodies[1]!, { to: form, headers: { 'content-type': type, 'x-form': signed } }),
    ).toMatchObject({
      ...{ status: 'started' },
    });
    expect((await runs()).map(({ issueText }) => issueText).sort()).toEqual([
      expect.stringContaining('1 test failed'),
      expect.stringContaining('Why?'),
      'TypeError in cart.js\n\nat buy',
    ]);
  });

  it.each([
    ['pad_left(name, `1000000000`)', 'must not use pad_left and pad_right'],
    ['data.[', 'must be a JMESPath expression'],
  ])('cannot have a rule with the invalid filter %s', async (filter, message) => {
    const problem = await automation([{ kind: 'webhook', hookId: hook.id, filter }]);
    expect(problem.description).toContain(`filter`);
    expect(problem.description).toContain(message);
  });

  it('does not occupy the process with a filter that never ends', async () => {
    const to = await newHook({ vendor: 'webhook', signature: 'header', signatureHeader: 'X-Form' });
    const filter = `data${'.[@,@][]'.repeat(60)}`;
    expect(await automation([{ kind: 'webhook', hookId: to.id, filter }])).toHaveProperty('id');
    const body = '{"data":{"a":1}}';
    const headers = { 'x-form': createHmac('sha256', to.secret).update(body).digest('hex') };
    expect((await deliver('', body, { to, headers })).reason).toContain('the filter failed: ');
  });
});

describe('A delivery to a hook', () => {
  it.each<[string, number, object | string, Sent]>([
    ['a forged signature', 401, {}, { signed: `sha256=${'0'.repeat(64)}` }],
    ['no signature', 401, {}, { signed: '' }],
    ['an unknown hook', 404, {}, { to: { id: '', secret: 'x', address: `hooks/hok_${'0'.repeat(32)}` } }],
  ])('is refused with %s: %i', async (_, status, payload, sent) => {
    const to = sent.to && { ...sent.to, address: `${world.url}/${sent.to.address}` };
    expect(await send('issues', payload, { ...sent, ...(to && { to }) })).toMatchObject({ status });
    expect(await world.knex('inbound_deliveries').where({ hookId: hook.id })).toEqual([]);
  });

  it.each<[string, number, Uint8Array<ArrayBuffer> | string, string, string]>([
    ['a body that is not JSON', 400, 'x', 'application/json', 'The body is not valid JSON.'],
    ['a body that is not UTF-8', 400, new Uint8Array([0x22, 0xff]), 'application/json', 'The body is not valid UTF-8.'],
    [
      'a body with too many levels',
      400,
      '['.repeat(70) + ']'.repeat(70),
      'application/json',
      'The body has more than 64 levels',
    ],
    ['another charset', 415, '{}', 'application/json; charset=utf-16', 'Content-Type: must be UTF-8.'],
    ['another type', 415, '{}', 'text/plain', 'Content-Type: must be application/json or'],
    [
      '25 MB',
      413,
      new Uint8Array(25 * 1024 * 1024).fill(0x20),
      'application/json',
      'The body is limited to 1048576 bytes.',
    ],
  ])(
    'is refused, but listed with the reason because it is signed, for %s: %i',
    async (_, status, body, type, reason) => {
      const signed = `sha256=${createHmac('sha256', hook.secret).update(body).digest('hex')}`;
      const headers = { 'content-type': type, 'x-github-event': 'issues' };
      const post = (signature: string) =>
        fetch(hook.address, { method: 'POST', body, headers: { ...headers, 'x-hub-signature-256': signature } });
      expect((await post(signed.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).status).toBe(401);
      const query = `query ($hookId: String!) {
      inboundDeliveries(hookId: $hookId) { data { event status reason } }
    }`;
      const listed = () => world.field(query, { token: owner.token, variables: { hookId: hook.id } });
      expect((await listed()).data).toEqual([]);
      // A repeated event is listed once.
      expect([(await post(signed)).status, (await post(signed)).status]).toEqual([status, status]);
      expect((await listed()).data).toEqual([
        { event: 'issues', status: 'ignored', reason: expect.stringContaining(reason) },
      ]);
    },
  );

  it('is processed once by concurrent workers, and once more for a person who repeats it', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const { body } = await send('issues', labeled('agent'));
    const job = { deliveryId: body.deliveryId };
    await Promise.all(Array.from({ length: 8 }, () => processDelivery(job)));
    await world.delivered();
    expect(await runs()).toHaveLength(1);
    const redelivery = `${deliveryPath(body.deliveryId)}/redelivery`;
    expect((await world.rest('POST', redelivery, { token: viewer.token })).status).toBe(403);
    const repeated = await world.rest('POST', redelivery, { token: owner.token });
    expect(repeated).toMatchObject({ status: 201, body: { redeliveryOf: body.deliveryId, status: 'received' } });
    await world.delivered();
    expect(await runs()).toHaveLength(2);
  });

  it('is tried again when the daily cap is reached, and nothing is lost', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const cap = (dailyCostCapUsd: number) =>
      world.rest('PATCH', '/orchestrator', { token: owner.token, body: { dailyCostCapUsd } });
    await cap(0);
    const waiting = await deliver('issues', labeled('agent'));
    expect(waiting).toMatchObject({
      status: 'received',
      reason: expect.stringContaining('The daily cost cap'),
      processedAt: null,
    });
    expect(await runs()).toEqual([]);
    await retryDeliveries();
    await cap(1_000);
    await retryDeliveries();
    await world.delivered();
    expect(await delivery(waiting.id)).toMatchObject({ status: 'started', reason: null });
    expect(await runs()).toHaveLength(1);
  });

  it('is retried after the time that the source host requests, including a start that a person has approved', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const limited = (headers: Record<string, string>, message = 'Slow down') =>
      github.disturb('repos/get-collaborator-permission-level', { status: 403, headers, body: { message } });
    limited({ 'retry-after': '600' }, 'You have exceeded a secondary rate limit.');
    const waiting = await deliver('issues', labeled('agent'));
    expect(waiting).toMatchObject({ status: 'received', reason: 'GitHub limits the rate of requests.' });
    const query = '{ integrations { integrations { vendorKind pausedUntil } } }';
    const { integrations } = await world.field(query, { token: owner.token });
    expect(integrations).toContainEqual({ vendorKind: 'scm', pausedUntil: present() + minutes(10) });
    const asked = github.asked.length;
    const pass = async (ms: number) => {
      world.clock.turn(ms);
      await retryDeliveries();
      await world.delivered();
    };
    await pass(minutes(9));
    expect(github.asked).toHaveLength(asked);
    await pass(minutes(1));
    expect(await delivery(waiting.id)).toMatchObject({ status: 'started', reason: null });

    const theirs = await deliver('issues', labeled('agent', { by: person('eve') }));
    github.disturb('issues/get', { status: 429, headers: { 'retry-after': '60' } });
    await world.rest('POST', `${deliveryPath(theirs.id)}/approval`, { token: owner.token });
    await world.delivered();
    expect(await delivery(theirs.id)).toMatchObject({ status: 'received' });
    await pass(minutes(1));
    expect(await delivery(theirs.id)).toMatchObject({ status: 'started' });
    expect(await runs()).toMatchObject([{}, { billingActorUserId: owner.person.id }]);
  });

  it('is deleted after its retention; one that fails for two days is given up', async () => {
    const { body } = await send('issues', labeled('agent'));
    const receivedAgo = (age: number) =>
      world
        .knex('inbound_deliveries')
        .where({ id: body.deliveryId })
        .update({ receivedAt: present() - age });
    await receivedAgo(days(2) + 1);
    await sweepDeliveries();
    expect(await delivery(body.deliveryId)).toMatchObject({ status: 'failed', reason: 'It could not be processed.' });
    await receivedAgo(deliveryRetentionMs + 1);
    await sweepDeliveries();
    expect((await world.rest('GET', deliveryPath(body.deliveryId), { token: owner.token })).status).toBe(404);
  });
});

describe('A rule for events', () => {
  it.each<[string, object]>([
    ['hookId', { kind: 'webhook' }],
    ['mention', { kind: 'comment' }],
    ['branch', { kind: 'issue', branch: 'main' }],
    ['assignee', { kind: 'issue', label: 'a', assignee: 'b' }],
    ['template', { kind: 'issue', template: '{{ [ }}' }],
  ])('is refused, and the error names the member: %s', async (member, rule) => {
    expect((await automation([rule])).description).toContain(`eventTriggers.0.${member}`);
  });

  it('cannot name a hook of another organization, and is kept when its recurring mission is changed over REST', async () => {
    const theirs = await world.rest('POST', '/inbound-hooks', {
      token: stranger.token,
      body: { name: 'X', vendor: 'webhook' },
    });
    expect(await automation([{ kind: 'webhook', hookId: theirs.body.hook.id }])).toMatchObject({ title: 'Not found' });
    expect(await automation([])).toMatchObject({ description: 'triggers: must be at least 1 entry.' });
    const { id } = await automation([{ kind: 'issue' }]);
    const { body } = await world.rest('PATCH', `/automations/${id}`, { token: owner.token, body: { name: 'New' } });
    expect(body).toMatchObject({ name: 'New', triggers: [] });
    expect(
      await world.field(`{ automation(automationId: "${id}") { eventTriggers { kind } } }`, { token: owner.token }),
    ).toEqual({
      ...{ eventTriggers: [{ kind: 'issue' }] },
    });
  });
});

describe('A preview of a rule for events', () => {
  const preview = (trigger: object, more: object = {}, token = owner.token) =>
    world.field(
      `query ($input: PreviewEventTriggerRequest!) {
        previewEventTrigger(input: $input) { data { reason key text delivery { id } } }
      }`,
      { token, variables: { input: { trigger, ...more } } },
    );

  it('shows which of the newest events match, with the key and text that processing them would use, and starts nothing', async () => {
    const ignored = await deliver('issues', labeled('bug'));
    await deliver('pull_request', { ...labeled('agent'), pull_request: labeled('agent').issue });
    world.clock.turn(1);
    const fits = await deliver('issues', labeled('agent', { title: 'Slow' }));
    const rule = {
      kind: 'issue',
      hookId: hook.id,
      label: 'agent',
      key: 'issue.title',
      template: 'Solve {{ issue.title }}.',
    };
    const rows = [
      {
        ...{ reason: null, key: 'key "Slow"', text: 'Event by ada.\n\nSolve Slow.', delivery: { id: fits.id } },
      },
      { reason: 'The label bug is not agent.', key: null, text: null, delivery: { id: ignored.id } },
    ];
    const { data } = await preview(rule, { projectId: project });
    expect(data).toEqual(rows);
    expect(await preview(rule, { deliveryId: ignored.id })).toEqual({ data: [rows[1]] });
    expect(await runs()).toEqual([]);
    await automation([rule]);
    const again = await world.rest('POST', `${deliveryPath(fits.id)}/redelivery`, { token: owner.token });
    await world.delivered();
    expect(await delivery(again.body.id)).toMatchObject({ status: 'started' });
    expect((await runs())[0].issueText).toBe(rows[0]!.text);
  });

  it('has one time limit for all expressions, and refuses records of another organization', async () => {
    const to = await newHook({ vendor: 'webhook', signature: 'github' });
    await deliver('', '{"data":{"a":1}}', { to });
    const slow = `{{ data${'.[@,@][]'.repeat(60)} }}`.repeat(8);
    const from = performance.now();
    const { data } = await preview({ kind: 'webhook', hookId: to.id, template: slow });
    expect(data).toMatchObject([{ reason: null, text: '' }]);
    // Each expression alone would end after 500 ms.
    expect(performance.now() - from).toBeLessThan(3_000);
    const other = { kind: 'webhook', hookId: to.id };
    const refused = { title: 'Not found' };
    expect(await preview(other, {}, stranger.token)).toMatchObject(refused);
    for (const of of [{ projectId: project }, { deliveryId: data[0].delivery.id }]) {
      expect(await preview({ kind: 'issue' }, of, stranger.token)).toMatchObject(refused);
    }
    expect(await preview({ kind: 'issue' }, {}, stranger.token)).toEqual({ data: [] });
  });
});

describe('A hook that is disabled', () => {
  it('keeps its events with the reason; they can be processed once it is enabled', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const change = (enabled: boolean) =>
      world.rest('PATCH', `/inbound-hooks/${hook.id}`, { token: owner.token, body: { enabled } });
    expect(await change(false)).toMatchObject({ status: 200, body: { enabled: false, name: 'Events' } });
    const kept = await deliver('issues', labeled('agent'), { headers: { cookie: 'a=b', 'x-more': 'yes' } });
    expect(kept).toMatchObject({ status: 'ignored', reason: 'The hook is disabled.' });
    const { headers } = await world.field(
      `{ inboundDelivery(hookId: "${hook.id}", deliveryId: "${kept.id}") { headers { name value } } }`,
      { token: owner.token },
    );
    const names = headers.map(({ name }: { name: string }) => name);
    expect(headers).toContainEqual({ name: 'x-more', value: 'yes' });
    expect(names).not.toContain('cookie');
    expect(names).not.toContain('x-hub-signature-256');
    await change(true);
    await world.rest('POST', `${deliveryPath(kept.id)}/redelivery`, { token: owner.token });
    await world.delivered();
    expect(await runs()).toHaveLength(1);
  });
});
