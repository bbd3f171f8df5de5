// Notifications about a mission. The service sends each notification once by email, and shows it once in open pages. For each kind of
// notification, a person can switch off the email, the display in pages, or both.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OrgRole } from '#access/roles.ts';
import { notifyAboutMissions, sweepMissionNotices } from '#domain/lifecycle/mission-notices/tell.ts';
import { mailNotices } from '#domain/lifecycle/notices/mails.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { indexRunTexts } from '#domain/work/runs/search.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { openMail } from '#foundation/mail/mail.ts';
import { openBrowser } from '../../support/browser.ts';
import { createMember, createOwner, createProject } from '../../support/callers.ts';
import { showFragments, startSandbox } from '../../support/runtime-records.ts';
import { eventsOf } from '../../support/server-sent-events.ts';
import { closeSmtpServers, smtpServer, type TakenMail } from '../../support/smtp-server.ts';
import { openWorld, present, type Session, type World } from '../../support/world.ts';

let world: World;
let acme: Organization;
let owner: Person;
let session: Session;
let projectId: `prj_${string}`;
let taken: TakenMail[];
let founded = 0;
beforeAll(async () => {
  world = await openWorld();
  const server = await smtpServer();
  taken = server.taken;
  openMail({ smtpUrl: server.url, from: 'console@example.com', log: () => {} });
});
afterAll(async () => {
  await closeSmtpServers();
  await world.close();
});
beforeEach(async () => {
  ({ person: owner, organization: acme } = await createOwner(world, `Owner-${++founded}`, `Acme ${founded}`));
  session = await world.session(owner, acme.id);
  projectId = await createProject(world, { session }, 'Shop');
});

/** A run of the owner with the given columns. */
async function run(missionTitle: string, more: object): Promise<`run_${string}`> {
  const id = newId('run');
  const isEnded = 'status' in more && ['completed', 'failed', 'canceled'].includes(String(more.status));
  await world.knex('runs').insert({
    ...{ id, orgId: acme.id, projectId, scheduledFor: present(), kind: 'manual', missionTitle, issueId: 'iss_1' },
    ...{
      status: 'running',
      leaseId: newId('lease'),
      leaseUntil: present() + minutes(1),
      billingActorUserId: owner.id,
      finishedAt: isEnded ? present() : null,
    },
    ...{ createdAt: present(), updatedAt: present(), ...more },
  });
  return id;
}
async function asks(runId: `run_${string}`, question: object): Promise<void> {
  const sandbox = await startSandbox({ orgId: acme.id, projectId }, { runId });
  await showFragments(sandbox, [{ kind: 'elicitation', toolUseId: 'q1', ...question }]);
}

const subjectOf = ({ source }: TakenMail) => {
  const subject = /^Subject: ((?:.*\r\n[ \t])*.*)/m.exec(source)![1]!;
  return subject
    .replace(/\?=\r\n =\?/g, '?==?')
    .replace(/=\?UTF-8\?Q\?(.*?)\?=/g, (_, coded: string) =>
      decodeURIComponent(coded.replace(/_/g, ' ').replace(/=([0-9A-F]{2})/g, '%$1')),
    );
};
/** Four workers send the notices at the same time, although each notice may be sent only once. Returns the subjects of the emails. */
async function mailed(): Promise<string[]> {
  const before = taken.length;
  await Promise.all(Array.from({ length: 4 }, () => notifyAboutMissions()));
  await world.delivered();
  const begin = `${acme.name}: `;
  const subjects = taken.slice(before).map(subjectOf);
  return subjects.flatMap((words) => (words.startsWith(begin) ? [words.slice(begin.length)] : [])).sort();
}
const shownSql = 'select title, body from mission_notices where user_id = ? and in_browser order by title';
const shown = async () =>
  (await world.knex.raw(shownSql, [owner.id])).rows.map(({ title, body }: { title: string; body: string }) => [
    title,
    body,
  ]);
const choose = (input: object) =>
  world.field(
    'mutation ($input: UpdateMissionNoticesRequest!) { updateMissionNotices(input: $input) { kind mail browser origin } }',
    {
      session,
      variables: { input },
    },
  );

describe('notifications about a mission', () => {
  it('a mission that fails or waits for a person causes one mail, and open pages show it', async () => {
    await run('Broke', { status: 'failed', reason: 'The tests fail.' });
    await run('Planned', { status: 'dispatching', awaitsApproval: true });
    await run('Poor', { parkedAt: present(), parkedBy: 'budget', parkedReason: 'The budget of 5.00 USD is spent.' });
    await asks(await run('Curious', {}), { body: 'Which column?' });
    await asks(await run('Careful', {}), { body: 'May I delete it?', action: 'shop.delete', parameter: '{}' });
    await run('Done', { status: 'completed' });
    await run('Open', { status: 'completed', prState: 'open', prNumber: 1, prUrl: 'https://example.com/pull/1' });
    await run('Ended', { status: 'canceled' });
    const mails = [
      '“Broke” has failed',
      '“Careful” waits for approval',
      '“Curious” asks a question',
      '“Planned” waits for approval',
      '“Poor” has reached a limit',
    ];
    expect(await mailed()).toEqual(mails);
    expect(await mailed()).toEqual([]);
    expect(await shown()).toEqual([
      ['“Broke” has failed', 'The tests fail.'],
      ['“Careful” waits for approval', 'May I delete it?'],
      ['“Curious” asks a question', 'Which column?'],
      ['“Done” is completed', 'Its outcome is on the page of the run.'],
      ['“Open” is ready for review', 'https://example.com/pull/1'],
      ['“Planned” waits for approval', 'Work begins once the plan is approved.'],
      ['“Poor” has reached a limit', 'The budget of 5.00 USD is spent.'],
    ]);
  });

  it('a mail about a mission contains links to the mission, the inbox and the settings', async () => {
    const runId = await run('Broke', { status: 'failed' });
    expect(await mailed()).toEqual(['“Broke” has failed']);
    const { to, source } = taken.at(-1)!;
    const text = source.replace(/=\r\n/g, '').replace(/=3D/g, '=');
    expect(to).toEqual([owner.email]);
    expect(text).toContain(`Open the mission: ${world.url}/console/o/${acme.slug}/runs/${runId}`);
    expect(text).toContain(`Everything that waits for you: ${world.url}/console/o/${acme.slug}/inbox`);
    expect(text).toContain(`Choose which emails you get: ${world.url}/console/o/${acme.slug}/notifications`);
  });

  it('a notification is sent for each cause, but not again when the same wait begins anew', async () => {
    const runId = await run('Planned', { status: 'dispatching', awaitsApproval: true, waitingSince: present() });
    expect(await mailed()).toHaveLength(1);
    await world
      .knex('runs')
      .where({ id: runId })
      .update({ waitingSince: present() + 1 });
    expect(await mailed()).toEqual([]);
    await world
      .knex('runs')
      .where({ id: runId })
      .update({ awaitsApproval: false, status: 'failed', finishedAt: present() });
    expect(await mailed()).toEqual(['“Planned” has failed']);
  });

  it('a pull request that is merged automatically is not reported as ready for review', async () => {
    await world.knex('projects').where({ id: projectId }).update({ autoMerge: true });
    const ready = { status: 'completed', prState: 'open', prNumber: 1, headSha: 'a'.repeat(40) };
    await run('Approved', { ...ready, approvedSha: ready.headSha });
    await run('Unreviewed', ready);
    await mailed();
    expect((await shown()).map(([title]: string[]) => title)).toEqual([
      '“Approved” is completed',
      '“Unreviewed” is ready for review',
    ]);
  });

  it('notifications go only to members whose account is not disabled, and not about missions that ended at least three hours ago', async () => {
    await run('Old', { status: 'failed', finishedAt: present() - hours(3) });
    await run('Foreign', { status: 'failed', billingActorUserId: (await world.person(`Left-${founded}`)).id });
    await run('Nobody', { status: 'failed', billingActorUserId: null });
    expect(await mailed()).toEqual([]);
    await run('Broke', { status: 'failed' });
    await world.knex('people').where({ id: owner.id }).update({ disabledAt: 1 });
    expect(await mailed()).toEqual([]);
  });

  it('five minutes later the other members get a mail about a waiting mission; the person who already got one gets no second one', async () => {
    const { person: bob } = await createMember(world, acme, `Bob-${founded}`, 'member');
    await run('Planned', { status: 'dispatching', awaitsApproval: true });
    await mailed();
    world.clock.turn(minutes(5));
    const before = taken.length;
    await mailNotices();
    await world.delivered();
    expect(taken.slice(before).map(({ to }) => to)).toEqual([[bob.email]]);
  });

  it('notifications are deleted after 400 days', async () => {
    await run('Broke', { status: 'failed' });
    await mailed();
    world.clock.turn(days(401));
    await sweepMissionNotices();
    expect(await shown()).toEqual([]);
  });
});

const mine = async (by: Session) =>
  (await world.field('{ inbox(mine: true) { data { userId title } } }', { session: by })).data.map(
    ({ title }: { title: string }) => title,
  );
const join = async (name: string, role: OrgRole) => {
  const { person } = await createMember(world, acme, `${name}-${founded}`, role);
  return person;
};

describe('followers of a mission', () => {
  const follow = (runId: string, by: Session, field = 'followRun') =>
    world.graphql(`mutation ($runId: String!) { ${field}(runId: $runId) { isFollowed } }`, {
      session: by,
      variables: { runId },
    });
  const told = async (userId: string) =>
    (await world.knex('mission_notices').where({ userId }).orderBy('createdAt').select('kind')).map(({ kind }) => kind);

  it('a follower of a mission gets each later notification once, and sees the inbox items of the mission, until they unfollow it', async () => {
    const bob = await join('Bob', 'member');
    const bobs = await world.session(bob, acme.id);
    const planned = await run('Planned', { status: 'dispatching', awaitsApproval: true, waitingSince: present() });
    world.clock.turn(1);
    const curious = await run('Curious', {});
    await run('Other', {});
    expect(await mine(bobs)).toEqual([]);
    for (const runId of [planned, curious, curious])
      expect((await follow(runId, bobs)).body.data).toEqual({ followRun: { isFollowed: true } });
    await asks(curious, { body: 'Which column?' });
    expect(await mine(bobs)).toEqual(['Planned', 'Curious']);
    expect(await mailed()).toEqual([
      ...['“Curious” asks a question', '“Curious” asks a question', '“Planned” waits for approval'],
    ]);
    expect(await told(bob.id)).toEqual(['answer']);
    const text = taken.find(({ to }) => to[0] === bob.email)!.source.replace(/=\r\n/g, '');
    expect(text).toContain('because you follow this mission.');
    expect(await mailed()).toEqual([]);
    // Five minutes later, other members get an email about a run that waits for a person. People who already get the notifications of the run do not.
    world.clock.turn(minutes(5));
    const before = taken.length;
    await mailNotices();
    await world.delivered();
    expect(taken.slice(before).map(({ to }) => to)).toEqual([]);

    const list = 'query ($followed: Boolean) { runs(followed: $followed, search: "cur") { data { id isFollowed } } }';
    const listed = async (by: Session, followed: boolean) =>
      (await world.field(list, { session: by, variables: { followed } })).data;
    await indexRunTexts();
    expect(await listed(bobs, true)).toEqual([{ id: curious, isFollowed: true }]);
    expect([await listed(session, true), await listed(session, false)]).toEqual([
      [],
      [{ id: curious, isFollowed: false }],
    ]);
    expect((await follow(curious, bobs, 'unfollowRun')).body.data).toEqual({ unfollowRun: { isFollowed: false } });
    await world.knex('runs').where({ id: curious }).update({ status: 'failed', finishedAt: present() });
    expect(await mailed()).toEqual(['“Curious” has failed']);
    expect([await told(bob.id), await listed(bobs, true)]).toEqual([['answer'], []]);
  });

  it('a follower of a mission is not notified again when it is handed over to them', async () => {
    const bob = await join('Bob', 'viewer');
    const bobs = await world.session(bob, acme.id);
    const runId = await run('Broke', {});
    await Promise.all([follow(runId, bobs), follow(runId, bobs), follow(runId, session)]);
    await world.knex('runs').where({ id: runId }).update({ status: 'failed', finishedAt: present() });
    expect(await mailed()).toEqual(['“Broke” has failed', '“Broke” has failed']);
    await world.knex('runs').where({ id: runId }).update({ handedToUserId: bob.id });
    expect(await mailed()).toEqual([]);
    expect([await told(owner.id), await told(bob.id)]).toEqual([['failed'], ['failed']]);
  });

  it('a follower is notified of all attempts at a task, and of nothing once removed from the organization', async () => {
    const bob = await join('Bob', 'viewer');
    const bobs = await world.session(bob, acme.id);
    const group = { attemptGroupId: newId('attemptGroup'), attemptState: 'open' };
    const first = await run('Try', { ...group, attemptNumber: 1 });
    const second = await run('Try', { ...group, attemptNumber: 2 });
    await follow(first, bobs);
    await world.knex('runs').where({ id: second }).update({ status: 'failed', finishedAt: present() });
    await mailed();
    expect(await told(bob.id)).toEqual(['failed']);
    await world.rest('DELETE', `/organizations/${acme.id}/memberships/${bob.id}`, { session });
    await world.join(acme, bob, 'viewer');
    await world.knex('runs').where({ id: first }).update({ status: 'failed', finishedAt: present() });
    await mailed();
    expect(await told(bob.id)).toEqual(['failed']);
    const { person: stranger, organization: other } = await createOwner(
      world,
      `Stranger-${founded}`,
      `Other ${founded}`,
    );
    const theirs = await world.session(stranger, other.id);
    for (const field of ['followRun', 'unfollowRun'])
      expect((await follow(first, theirs, field)).body.errors[0].extensions.code).toBe('not_found');
    expect(await world.knex('run_followers').where({ orgId: acme.id })).toEqual([]);
  });
});

describe('handing over a mission', () => {
  const handOver = (runId: string, userId: string, by = session) =>
    world.graphql(
      'mutation ($runId: String!, $userId: String!) { handOverRun(runId: $runId, userId: $userId) { personId personName startedBy } }',
      {
        session: by,
        variables: { runId, userId },
      },
    );
  it('a handover of a mission moves notifications and inbox items to another person, who is notified once; the payer stays the same', async () => {
    const bob = await join('Bob', 'member');
    const bobs = await world.session(bob, acme.id);
    const runId = await run('Curious', {});
    await asks(runId, { body: 'Which column?' });
    expect([await mine(session), await mine(bobs)]).toEqual([['Curious'], []]);
    const both = await Promise.all([handOver(runId, bob.id), handOver(runId, bob.id)]);
    for (const { body } of both)
      expect(body.data.handOverRun).toEqual({ personId: bob.id, personName: bob.name, startedBy: owner.name });
    expect([await mine(session), await mine(bobs)]).toEqual([[], ['Curious']]);
    expect(await mailed()).toEqual(['“Curious” asks a question', '“Curious” was handed to you']);
    const told = await world.knex('mission_notices').where({ runId }).orderBy('kind').select('kind', 'userId', 'body');
    expect(told).toEqual([
      { kind: 'answer', userId: bob.id, body: 'Which column?' },
      { kind: 'handover', userId: bob.id, body: `${owner.name} handed the mission to you.` },
    ]);
    const filtered =
      'query ($of: String) { runs(personId: $of) { data { id } } runGroups(by: person) { data { key count } } }';
    const found = (await world.graphql(filtered, { session, variables: { of: bob.id } })).body.data;
    expect(found).toEqual({ runs: { data: [{ id: runId }] }, runGroups: { data: [{ key: bob.id, count: 1 }] } });
    for (const of of [owner.id, 'none'])
      expect((await world.graphql(filtered, { session, variables: { of } })).body.data.runs.data).toEqual([]);
    const stored = () => world.knex('runs').where({ id: runId }).first('billingActorUserId', 'handedToUserId');
    expect(await stored()).toEqual({ billingActorUserId: owner.id, handedToUserId: bob.id });
    const history = await world.field(
      'query ($runId: String!) { run(runId: $runId) { messages { kind text author } } }',
      {
        session,
        variables: { runId },
      },
    );
    expect(history.messages).toEqual([{ kind: 'handover', text: bob.name, author: owner.name }]);
    // When the member is removed, the mission returns to the owner, who gets its notifications again.
    await world.rest('DELETE', `/organizations/${acme.id}/memberships/${bob.id}`, { session });
    expect(await stored()).toEqual({ billingActorUserId: owner.id, handedToUserId: null });
    expect(await mine(session)).toEqual(['Curious']);
  });

  it('a handover includes all attempts at a task', async () => {
    const bob = await join('Bob', 'member');
    const group = { attemptGroupId: newId('attemptGroup'), attemptState: 'open' };
    const first = await run('Try', { ...group, attemptNumber: 1, status: 'failed' });
    await run('Try', { ...group, attemptNumber: 2, status: 'completed' });
    await handOver(first, bob.id);
    expect(await mine(await world.session(bob, acme.id))).toEqual(['Try']);
    expect(await mailed()).toEqual(['“Try” has failed', '“Try” was handed to you']);
  });

  it('a mission cannot be handed over to viewers or non-members, nor when nothing is left to do', async () => {
    const viewer = await join('Viewer', 'viewer');
    const { person: stranger, organization: other } = await createOwner(
      world,
      `Stranger-${founded}`,
      `Other ${founded}`,
    );
    const theirs = await world.session(stranger, other.id);
    const runId = await run('Broke', { status: 'failed' });
    const refusal = async (answer: ReturnType<typeof handOver>) => (await answer).body.errors[0].extensions;
    for (const id of [stranger.id, 'usr_nobody'])
      expect(await refusal(handOver(runId, id))).toMatchObject({ code: 'not_found' });
    expect(await refusal(handOver(runId, viewer.id))).toMatchObject({
      code: 'invalid_request',
      problem: { fields: [{ path: 'userId' }] },
    });
    expect(await refusal(handOver(runId, stranger.id, theirs))).toMatchObject({ code: 'not_found' });
    const canceled = await run('Ended', { status: 'canceled' });
    expect(await refusal(handOver(canceled, (await join('Bob', 'member')).id))).toMatchObject({ code: 'conflict' });
    expect(await world.knex('mission_notices').where({ runId })).toEqual([]);
  });
});

describe('the choice of notifications', () => {
  it('notifications are chosen per kind and channel, by each person', async () => {
    await choose({ kind: 'failed', mail: false });
    const chosen = await choose({ kind: 'completed', mail: true, browser: false });
    expect(chosen).toEqual([
      { kind: 'completed', mail: true, browser: false, origin: true },
      { kind: 'review', mail: false, browser: true, origin: true },
      { kind: 'failed', mail: false, browser: true, origin: true },
      ...['answer', 'approval', 'budget', 'handover'].map((kind) => ({
        kind,
        mail: true,
        browser: true,
        origin: true,
      })),
    ]);
    expect(await world.field('{ missionNoticeChoices { kind mail browser origin } }', { session })).toEqual(chosen);
    await run('Broke', { status: 'failed' });
    await run('Done', { status: 'completed' });
    expect(await mailed()).toEqual(['“Done” is completed']);
    expect((await shown()).map(([title]: string[]) => title)).toEqual(['“Broke” has failed']);
  });
});

it('an open page gets recent notifications of missions at once, then each new one, and only those for the signed-in person', async () => {
  await run('Broke', { status: 'failed' });
  await mailed();
  const leaving = new AbortController();
  const query = new URLSearchParams({ query: 'subscription { missionNews { notices { title url } } }' });
  const response = await fetch(`${world.url}/graphql?${query}`, {
    headers: { accept: 'text/event-stream', cookie: `session=${session.secret}`, 'sec-fetch-site': 'same-origin' },
    signal: leaving.signal,
  });
  const events = eventsOf(response);
  const next = async () => (await events.next()).value!.data.data.missionNews.notices;
  const url = (id: string) => `${world.url}/console/o/${acme.slug}/runs/${id}`;
  expect(await next()).toEqual([{ title: '“Broke” has failed', url: expect.stringContaining('/runs/run_') }]);
  await run('Foreign', { status: 'failed', billingActorUserId: (await world.person(`Else-${founded}`)).id });
  const id = await run('Done', { status: 'completed' });
  await mailed();
  expect(await next()).toEqual([{ title: '“Done” is completed', url: url(id) }]);
  leaving.abort();
});

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The test in a browser is skipped: ${launched}.`);

it.skipIf(typeof launched === 'string')(
  'each browser notification appears on only one open page of the console, after the person has granted permission',
  async () => {
    const context = await (launched as Browser).newContext();
    try {
      await context.addCookies([{ name: 'session', value: session.secret, url: world.url }]);
      // A headless browser refuses notifications, so a stand-in for the class grants the permission once the button is
      // pressed.
      await context.addInitScript(`
        shown = [];
        Notification = class {
          constructor(title) {
            shown.push(title);
          }
          static get permission() {
            return localStorage.getItem('pressed') ?? 'default';
          }
          static async requestPermission() {
            localStorage.setItem('pressed', 'granted');
            return 'granted';
          }
        };`);
      const pages = await Promise.all([context.newPage(), context.newPage()]);
      for (const page of pages) await page.goto(`${world.url}/console/o/${acme.slug}/notifications`);
      const titles = async () =>
        (await Promise.all(pages.map((page) => page.evaluate('shown') as Promise<string[]>))).flat();
      const [page] = pages;
      await run('Broke', { status: 'failed' });
      await mailed();
      await page!.getByRole('button', { name: 'Allow notifications in this browser' }).click();
      await pages[1]!.reload();
      await page!.getByText('This browser shows notifications while a page').waitFor();
      await expect.poll(titles).toEqual(['“Broke” has failed']);
      await page!.getByLabel('The mission is completed: Email').check();
      await page!.getByLabel('The agent asks a question: Browser').uncheck();
      await page!.getByLabel('The mission has failed: Where the mission began').uncheck();
      await page!
        .getByRole('region', { name: 'Updates about my missions' })
        .getByRole('button', { name: 'Save' })
        .click();
      await page!.getByText('Saved.').waitFor();
      const [failed] = await world.knex('mission_notice_choices').where({ userId: owner.id, kind: 'failed' });
      expect(failed).toMatchObject({ mail: true, browser: true, origin: false });
      await asks(await run('Curious', {}), { body: 'Which column?' });
      await run('Done', { status: 'completed' });
      expect(await mailed()).toEqual(['“Curious” asks a question', '“Done” is completed']);
      await expect.poll(titles).toEqual(['“Broke” has failed', '“Done” is completed']);
    } finally {
      await context.close();
    }
  },
);
