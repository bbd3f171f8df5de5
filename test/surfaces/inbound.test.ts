// Events from GitHub that start missions: labels, mentions, pull requests and failed checks, and who is billed for them.
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planLimits } from '#domain/money/billing/catalog.ts';
import { retryDeliveries } from '#domain/work/inbound/retry.ts';
import { finishIssue } from '#domain/work/runs/finish-issue.ts';
import { newId } from '#foundation/ids.ts';
import { createMember, createProject } from '../support/callers.ts';
import { githubHeaders } from '../support/github-events.ts';
import { createHook } from '../support/host-world.ts';
import { openInboundWorld, person, repository } from '../support/inbound-world.ts';
import { present } from '../support/world.ts';

const {
  world,
  github,
  owner,
  viewer,
  stranger,
  project,
  hook,
  nextEvent,
  newHook,
  automation,
  send,
  deliver,
  deliveryPath,
  delivery,
  runs,
  labeled,
  close,
  reset,
  check,
} = await openInboundWorld();
afterAll(close);
beforeEach(reset);
afterEach(check);

function comment(body: string, more: object = {}) {
  const { issue } = labeled('x');
  const id = nextEvent();
  return {
    action: 'created',
    issue,
    comment: { id, html_url: `${issue.html_url}#c${id}`, body, user: person('ada') },
    repository,
    sender: person('ada'),
    ...more,
  };
}

describe('Issues that get a label', () => {
  it('a labeled issue starts the mission of the rule once, with the issue’s text and comments as quoted data', async () => {
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

    // One comment links to the run, and shows its outcome at the end.
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

    // The same event arrives by another hook of the organization, and the same delivery once more.
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
      'an opened issue',
      () => ({ ...labeled('x'), action: 'opened', label: undefined }),
      'No rule matched: Work: it was opened, and the rule waits for the label agent.',
    ],
    ['a label added by a program', () => labeled('agent', { by: person('ci', 'Bot') }), 'ci is a program.'],
    [
      'an issue written by a mission',
      () => labeled('agent', { body: 'Work\n\n<!-- run: run_1 -->' }),
      'The issue was written by a mission.',
    ],
    [
      'a removed label',
      () => ({ ...labeled('agent'), action: 'unlabeled' }),
      'No rule matched: Work: it was unlabeled, and the rule waits for the label agent.',
    ],
    [
      'an issue of another repository',
      () => ({ ...labeled('agent'), repository: { full_name: 'acme/other' } }),
      'No rule matched: no enabled automation or task has a rule for such an event of acme/other.',
    ],
  ])('an issue event is ignored, and its reason says why: %s', async (_, event, reason) => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    expect(await deliver('issues', event())).toMatchObject({ status: 'ignored', reason });
    expect(await runs()).toEqual([]);
  });

  it('an issue that gets the label starts one mission, whatever the order of its events, even if the label is removed meanwhile', async () => {
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

  it('many issues labeled at once start a mission each; missions beyond the plan’s limit wait until another one ends', async () => {
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
        expect([reason, title]).toEqual([expect.stringContaining('allows 100 missions at once'), expect.any(String)]);
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

  it('a labeled issue starts a mission in a new organization whose trial credits are unused', async () => {
    const { token } = stranger;
    const projectId = await createProject(world, { token }, 'Site', { repoFullName: 'globex/site' });
    await automation([{ kind: 'issue', label: 'agent', from: 'anyone' }], { projectId }, { token });
    const theirs = await createHook(world, token, 'github');
    const event = JSON.stringify({ ...labeled('agent'), repository: { full_name: 'globex/site' } });
    const done = await theirs.deliver(event, githubHeaders('issues', event, theirs.secret));
    expect(done).toMatchObject({ status: 'started', reason: null });
  });

  it('a labeled issue starts nothing once the hook is deleted', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    await send('issues', labeled('agent'));
    await world.rest('DELETE', `/inbound-hooks/${hook.id}`, { token: owner.token });
    await world.delivered();
    expect(await runs()).toEqual([]);
    expect(await send('issues', labeled('agent'))).toMatchObject({ status: 404 });
  });

  it('projects of a renamed repository are updated, if their connector can read it', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const moved = (action: string, full_name: string, changes: object) =>
      deliver('repository', { action, changes, repository: { full_name }, sender: person('ada') });
    const repoFullName = async () => {
      const { scmOwner, scmRepo } = (await world.rest('GET', `/projects/${project}`, { token: owner.token })).body;
      return `${scmOwner}/${scmRepo}`;
    };
    const change = { repository: { name: { from: 'shop' } } };
    // The service queries the source host, because an event alone changes nothing.
    await moved('renamed', 'acme/store', change);
    expect(await repoFullName()).toBe('acme/shop');
    const labeledShop = labeled('agent');
    github.rename('acme/shop', 'acme/store');
    expect(await moved('renamed', 'acme/store', change)).toMatchObject({
      ...{ status: 'ignored' },
      reason: 'The repository acme/shop is now acme/store: its projects are updated.',
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
        /^The repository of the project Shop was renamed or transferred: The connector cannot see the repository/,
      ),
    });
    expect((await moved('archived', 'acme/shop', {})).reason).toBe('A repository that is archived starts nothing.');
    github.repositories.set('acme/shop', shop);
    await world.rest('PATCH', `/projects/${project}`, { token: owner.token, body: { repoFullName: 'acme/shop' } });
  });

  it('when a person without write access adds the label, the mission waits for approval, and is billed to the person who approves it', async () => {
    await automation([{ kind: 'issue', label: 'agent' }]);
    const waiting = await deliver('issues', labeled('agent', { by: person('eve') }));
    expect(waiting).toMatchObject({ status: 'waiting', reason: 'eve has no write access to acme/shop.' });
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

  it('when the rule allows anyone, a label starts a mission no matter who adds it, unless the billing settings forbid it', async () => {
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

describe('Members with a linked account', () => {
  it('a member whose account is linked starts missions billed to them, as long as they may start missions', async () => {
    const session = await world.session(owner.person, owner.organization.id);
    const policy = (to: string) =>
      world.field(`mutation { updateBillingSettings(input: { trackerTriggers: ${to} }) { trackerTriggers } }`, {
        session,
      });
    const { person: bob } = await createMember(world, owner.organization, 'Bob', 'member');
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

    // The login `eve` now belongs to account 9. Bob is still linked to account 7, because the link contains the id of the account.
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

describe('Comments', () => {
  const rule = { kind: 'comment', mention: 'agent' };
  it('a comment that mentions the agent starts a mission, even when an edit adds the mention', async () => {
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

describe('Automations that mention each other', () => {
  it('two automations do not start each other: a mission’s comments start no other mission', async () => {
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

describe('Agents that answer each other through a person’s account', () => {
  it('a rule starts at most ten missions a day on one issue; after that, a person has to approve each mission', async () => {
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

describe('Pull requests', () => {
  const opened = (ref: string, more: object = {}) => {
    const { issue, ...event } = labeled('review');
    return { ...event, action: 'opened', pull_request: { ...issue, head: { ref } }, ...more };
  };

  it('a pull request starts a mission when a person opens or labels it, but not when a mission opens it', async () => {
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

describe('Failed checks', () => {
  const failed = (more: object = {}) => ({
    action: 'completed',
    check_run: {
      ...{ id: nextEvent(), name: 'test', html_url: 'https://ci', head_sha: 'abc', conclusion: 'failure' },
      ...{ check_suite: { head_branch: 'main' }, output: { text: `${'x'.repeat(20_000)}1 test failed` } },
      ...more,
    },
    repository,
    sender: person('github-actions[bot]', 'Bot'),
  });

  it('a failed check starts a mission that gets the end of the check’s log, unless the check ran on the branch of a mission', async () => {
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
