// Events from Linear: labels, assignees and mentions start missions, which report in one comment on the issue there.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { recordId } from '#domain/projects/vendors/linear/ids.ts';
import { minutes } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Account, createMember, createOwner, createProject } from '../support/callers.ts';
import { type Linear, openLinear } from '../support/fake-linear.ts';
import { openWorld, present, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const key = 'lin_api_OfAcmeAndOfNobodyElse';
let world: World;
let linear: Linear;
let owner: Account;
let bob: Account;
let hook: { id: string; address: string; secret: string };
let changes = 0;

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  linear = await openLinear(key);
  world = await openWorld({ vendors: { linear: linear.address } });
  owner = await createOwner(world, 'Alice', 'Acme');
  bob = await createMember(world, owner.organization, 'Bob', 'member');
  await createMember(world, owner.organization, 'Vera', 'viewer');
  await world.grant(owner.organization, 1_000);
  await world.lift(owner.organization);
  const orgId = owner.organization.id;
  await connectIntegration({ orgId, vendor: 'linear', vendorKind: 'tracker', displayName: 'Linear', credentials: key });
  const projectId = await createProject(world, owner, 'Shop', { tracker: 'linear', trackerTeamKey: 'ENG' });
  await createProject(world, owner, 'Ops', { tracker: 'linear', trackerTeamKey: 'OPS' });
  const secret = 'lin_wh_chosenByLinear';
  const created = await world.rest('POST', '/inbound-hooks', {
    token: owner.token,
    body: { name: 'Linear', vendor: 'linear' },
  });
  const { id } = created.body.hook;
  const replaced = await world.rest('PUT', `/inbound-hooks/${id}/secret`, { token: owner.token, body: { secret } });
  hook = { ...replaced.body.hook, secret };
  const rules = [
    { kind: 'issue', label: 'Agent' },
    { kind: 'issue', assignee: 'bob@example.com' },
    { kind: 'comment', mention: 'agent' },
  ];
  const input = { projectId, name: 'Work', prompt: 'Solve it.', triggers: [], skipIfPreviousOpen: false };
  await world.field('mutation ($input: CreateScheduledTaskRequest!) { createAutomation(input: $input) { id } }', {
    token: owner.token,
    variables: { input: { ...input, eventTriggers: rules } },
  });
});
afterAll(async () => {
  await Promise.all([world.close(), linear.close()]);
  openOutbound({ allowLoopback: false });
});
afterEach(async () => {
  await world.knex('runs').delete();
  await world.knex('inbound_deliveries').delete();
  expect(linear.violations).toEqual([]);
});

const actor = (name: string) => ({
  ...{ id: `user-${name}`, type: 'user', name, email: `${name.toLowerCase()}@example.com` },
  url: `https://linear.app/acme/profiles/${name}`,
});
const userOf = (name: string) => {
  const { type, ...user } = actor(name);
  return user;
};
const engineers = () => ({ id: linear.teamId, key: 'ENG', name: 'Engineers' });
const label = (name: string) => ({ id: `label-${name}`, name, color: '#bada55' });

/** An issue that a person has written in Linear. */
function issue(): Json {
  const id = `0193f0c2-0000-4000-8000-${String(++changes).padStart(12, '0')}`;
  const identifier = `ENG-${changes}`;
  const url = `https://linear.app/acme/issue/${identifier}`;
  const words = { title: 'Wrong year', description: 'The footer says 2019.' };
  linear.issues.set(id, { id, identifier, url, ...words, labelIds: [], teamId: linear.teamId, stateId: 'state-todo' });
  return { id, identifier, url, ...words, number: changes, team: engineers(), teamId: linear.teamId };
}
const dataOf = (about: Json, names: string[], more: object = {}) => ({
  ...about,
  ...{
    labels: names.map(label),
    labelIds: names.map((name) => `label-${name}`),
    createdAt: '2026-11-23T08:00:00.000Z',
  },
  updatedAt: `2026-11-23T09:00:00.${String(++changes).padStart(3, '0')}Z`,
  ...more,
});
const labeled = (about: Json, names: string[], by: object = actor('Bob'), more: object = {}) => ({
  ...{ action: 'update', actor: by, data: dataOf(about, names), updatedFrom: { labelIds: [] }, url: about.url },
  ...more,
});
const comment = (about: Json, body: string, more: object = {}, by = 'Bob') => {
  const { id, identifier, title, url, team, teamId } = about;
  const times = { createdAt: '2026-11-23T09:00:00.000Z', updatedAt: '2026-11-23T09:00:00.000Z' };
  const data = { id: 'comment-1', body, issue: { id, identifier, title, url, team, teamId }, issueId: id, ...times };
  return {
    action: 'create',
    actor: actor(by),
    data: { ...data, user: userOf(by), userId: `user-${by}` },
    url,
    ...more,
  };
};

async function send(type: 'Issue' | 'Comment', event: object): Promise<Json> {
  const answer = await linear.send(hook, type, { webhookTimestamp: present(), ...event });
  expect(answer.status).toBe(200);
  await world.delivered();
  const { deliveryId } = (await answer.json()) as Json;
  return (await world.rest('GET', `/inbound-hooks/${hook.id}/deliveries/${deliveryId}`, { token: owner.token })).body;
}
const runs = (): Promise<Json[]> => world.knex('runs').orderBy('createdAt');

describe('Linear', () => {
  it('a label in Linear starts one mission billed to the member; one comment on the issue links to it and shows its outcome', async () => {
    const about = issue();
    const event = { ...labeled(about, ['Bug', 'agent']), delivery: 'delivery-1' };
    expect(await send('Issue', event)).toMatchObject({
      event: 'Issue.update',
      status: 'started',
      title: 'Wrong year (ENG-1)',
    });
    expect((await linear.send(hook, 'Issue', { webhookTimestamp: present(), ...event })).status).toBe(200);
    const [run, ...others] = await runs();
    expect(others).toEqual([]);
    expect(run).toMatchObject({ issueId: about.id, issueUrl: about.url, billingActorUserId: bob.person.id });
    expect(run.issueText).toContain('Title: Wrong year\n\nThe footer says 2019.');
    const comments = () => [...linear.comments.values()].filter(({ issueId }) => issueId === about.id);
    expect(comments()).toMatchObject([{ body: expect.stringMatching(/^Work: started\n/) }]);
    await world.rest('POST', `/runs/${run.id}/cancel`, { token: owner.token });
    await world.delivered();
    expect(comments()).toMatchObject([{ body: expect.stringMatching(/^Work: canceled\n/) }]);
  });

  it('an assignee or a mention in Linear starts a mission, even a mention that an edit adds', async () => {
    const given = issue();
    const assignee = { assignee: userOf('Bob'), assigneeId: 'user-Bob' };
    const assigned = { action: 'update', actor: actor('Alice'), updatedFrom: { assigneeId: null }, url: given.url };
    await send('Issue', { ...assigned, data: dataOf(given, [], assignee) });
    const spoken = issue();
    const edit = { action: 'update', updatedFrom: { body: 'Who can help?' } };
    expect(await send('Comment', comment(spoken, 'Who can help?'))).toMatchObject({ status: 'ignored' });
    expect(await send('Comment', comment(spoken, '@agent can you help?', edit))).toMatchObject({ status: 'started' });
    const again = { action: 'update', updatedFrom: { body: '@agent can you help?' } };
    expect(await send('Comment', comment(spoken, '@agent, can you help?', again))).toMatchObject({ status: 'ignored' });
    expect((await runs()).map(({ issueId, billingActorUserId }) => [issueId, billingActorUserId])).toEqual([
      [given.id, owner.person.id],
      [spoken.id, bob.person.id],
    ]);
  });

  it('an event from Linear waits for approval when its author is not a member who may start missions', async () => {
    for (const name of ['Vera', 'Eve']) {
      const waiting = await send('Issue', labeled(issue(), ['Agent'], actor(name)));
      expect(waiting).toMatchObject({
        status: 'waiting',
        reason: `${name} is not known as a member of the organization.`,
      });
      const approval = `/inbound-hooks/${hook.id}/deliveries/${waiting.id}/approval`;
      await world.rest('POST', approval, { token: owner.token });
      await world.delivered();
    }
    expect(await runs()).toMatchObject([
      { billingActorUserId: owner.person.id },
      { billingActorUserId: owner.person.id },
    ]);
  });

  it('a Linear event from a program, a mission or another team, or of another kind, starts nothing', async () => {
    const bot = { id: 'client-1', type: 'oauthClient', name: 'Robot' };
    expect(await send('Issue', labeled(issue(), ['Agent'], bot))).toMatchObject({ reason: 'Robot is a program.' });
    const own = { ...issue(), id: recordId('issue', 'run_1') };
    expect(await send('Issue', labeled(own, ['Agent']))).toMatchObject({
      reason: 'The issue was written by a mission.',
    });
    const said = comment(issue(), '@agent');
    const mine = { ...said, data: { ...said.data, id: recordId('comment', 'run_1') } };
    expect(await send('Comment', mine)).toMatchObject({ reason: 'The comment was written by a mission.' });
    const foreign = { ...issue(), team: { id: 'team-2', key: 'OPS', name: 'Ops' }, teamId: 'team-2' };
    expect(await send('Issue', labeled(foreign, ['Agent']))).toMatchObject({ status: 'ignored' });
    const retitled = { ...labeled(issue(), ['Agent']), updatedFrom: { title: 'Old' } };
    expect(await send('Issue', retitled)).toMatchObject({ reason: 'The issue got no label and no assignee.' });
    expect(await send('Issue', { ...labeled(issue(), ['Agent']), action: 'remove' })).toMatchObject({
      status: 'ignored',
    });
    expect(await runs()).toEqual([]);
  });

  it('an event from Linear with a forged signature or an old time is refused', async () => {
    const event = labeled(issue(), ['Agent']);
    const forged = await linear.send(hook, 'Issue', {
      webhookTimestamp: present(),
      ...event,
      signature: 'a'.repeat(64),
    });
    expect([forged.status, (await forged.json()) as Json]).toMatchObject([
      401,
      { description: expect.stringContaining('Linear-Signature') },
    ]);
    const old = await linear.send(hook, 'Issue', { ...event, webhookTimestamp: present() - minutes(1) - 1 });
    expect([old.status, (await old.json()) as Json]).toMatchObject([
      401,
      { description: expect.stringContaining('webhookTimestamp') },
    ]);
    expect(await world.knex('inbound_deliveries')).toEqual([]);
  });
});
