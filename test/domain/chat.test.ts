// Missions in a chat: a mention or a command starts one, its thread shows and steers it, buttons decide; by members only, and each thing
// once.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { continuePullRequests } from '#domain/execution/pull-requests/continue.ts';
import { followThreads } from '#domain/work/chat-threads/threads.ts';
import { minutes, seconds } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { type Account, createMember, createOwner, createProject } from '../support/callers.ts';
import { openSlack, type Slack, type SlackMessage, signedBySlack } from '../support/fake-slack.ts';
import { createRuntime, type Runtime } from '../support/runtime-client.ts';
import { showFragments } from '../support/runtime-records.ts';
import { openWorld, present, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const botToken = 'xoxb-of-acme-1';
const signingSecret = 'signing-secret-of-acme';
const contents = mkdtempSync(path.join(tmpdir(), 'aep-contents-'));
let world: World;
let slack: Slack;
let ada: Account;
let mallory: Account;
let runtime: Runtime;
let shop: string;
let connection: Json;

const connectMutation = `mutation ($input: ConnectChatRequest!) { connectChat(input: $input)
  { integrationId workspaceId eventsAddress hookId manifest problem integration { vendorKind externalOrgId checkFailure } } }`;
const connect = (more: object = {}, token = ada.token): Promise<Json> =>
  world.field(connectMutation, {
    token,
    variables: { input: { vendor: 'slack', displayName: 'Slack', botToken, signingSecret, ...more } },
  });
const bind = (channelId: string, projectId: string, { token }: Account = ada, to = connection): Promise<Json> =>
  world.field(
    'mutation ($chatId: String!, $channelId: String!, $projectId: String!) { bindChatChannel(chatId: $chatId, channelId: $channelId, projectId: $projectId) { name projectId } }',
    { token, variables: { chatId: to.integrationId, channelId, projectId } },
  );

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  slack = await openSlack(botToken);
  world = await openWorld({ vendors: { slack: slack.address } });
  openStorage(folderStorage(contents));
  ada = await createOwner(world, 'Ada', 'Acme');
  mallory = await createOwner(world, 'Mallory', 'Globex');
  await createMember(world, ada.organization, 'Bob', 'member');
  await createMember(world, ada.organization, 'Vera', 'viewer');
  await world.grant(ada.organization, 1_000);
  await world.lift(ada.organization);
  runtime = await createRuntime(world, ada.organization);
  shop = await createProject(world, ada, 'Shop');
  await createProject(world, ada, 'Docs');
  for (const role of ['planner', 'builder']) {
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const body = { name: role, role, harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
    await world.rest('POST', '/agents', { token: ada.token, body });
  }
  for (const [id, name] of Object.entries({ UADA: 'Ada', UBOB: 'Bob', UVERA: 'Vera', UEVE: 'Eve' }))
    slack.users.set(id, { name, email: `${name.toLowerCase()}@example.com` });
  connection = await connect();
});
afterAll(async () => {
  await Promise.all([world.close(), slack.close()]);
  rmSync(contents, { recursive: true });
  openOutbound({ allowLoopback: false });
});
beforeEach(async () => {
  await world.knex('chatThreads').delete();
  await world.knex('runs').delete();
  await world.knex('chatChannels').delete();
  await world.knex('chatConnections').update({ problem: null });
  await world.knex('integrations').update({ pausedUntil: null });
  await world.rest('PATCH', '/orchestrator', { token: ada.token, body: { planApproval: false } });
  slack.clear();
});
afterEach(() => expect(slack.violations).toEqual([]));

const send = (body: string, headers = signedBySlack(signingSecret, body), address = connection.eventsAddress) =>
  world.request('POST', new URL(address).pathname, { body, headers });
/** Sends a request of Slack, and does the work that it causes. Returns the newest delivery. */
async function heard(body: string): Promise<Json> {
  const before = (await newest())?.id;
  world.clock.turn(1);
  const answer = await send(body);
  expect(answer.status).toBe(200);
  await world.delivered();
  const delivery = await newest();
  return delivery?.id === before ? null : delivery;
}
const newest = async (): Promise<Json> =>
  (await world.rest('GET', `/inbound-hooks/${connection.hookId}/deliveries?limit=1`, { token: ada.token })).body
    .data[0];
const mention = (text: string, user = 'UADA', more: object = {}) =>
  slack.event({ type: 'app_mention', user, channel: 'C0DEV', ts: slack.nextTime(), text: `<@U0BOT> ${text}`, ...more });
const inThread = (thread_ts: string, text: string, user = 'UADA', more: object = {}) =>
  slack.event({ type: 'message', user, channel: 'C0DEV', ts: slack.nextTime(), thread_ts, text, ...more });
/** Runs the periodic job and the jobs that it causes, which send messages. */
async function reported(): Promise<Json[]> {
  await followThreads();
  await world.delivered();
  return slack.messages.map(({ blocks }) =>
    blocks.flatMap(({ text, elements }: Json) => [
      ...(text ? [text.text.split('\n<http')[0]] : []),
      ...(elements ? [elements.map(({ text: label }: Json) => label.text)] : []),
    ]),
  );
}
const runs = () => world.knex('runs').orderBy('createdAt');
const claim = () => runtime.claim({}, '{ runId leaseId branch prompt step { stepId role prompt resumeSessionId } }');
const finishStep = (held: Json, more: object = {}) =>
  runtime.report(
    'finishStep',
    { runId: held.runId, leaseId: held.leaseId, stepId: held.step.stepId, status: 'completed', ...more },
    '{ outcome step { stepId role } }',
  );
const plan = { output: JSON.stringify({ steps: ['Read <the> test', 'Mend it'] }) };
/** A mission that a mention has started, with its planner done. */
async function planned(): Promise<Json> {
  await bind('C0DEV', shop);
  await heard(mention('mend the date test'));
  const held = await claim();
  await finishStep(held, plan);
  return held;
}
async function checkpoint({ runId, leaseId, step: { stepId } }: Json): Promise<void> {
  const upload = await runtime.report('createArtifactUpload', { runId, leaseId }, '{ contentKey uploadUrl }');
  await fetch(upload.uploadUrl, { method: 'PUT', body: 'bundle' });
  const { contentKey } = upload;
  const commitSha = 'a'.repeat(40);
  await runtime.report('reportCheckpoint', { runId, leaseId, stepId, contentKey, commitSha, sessionId: 'session-1' });
}
async function finish(held: Json): Promise<void> {
  await finishStep(held);
  await runtime.finish(held);
}
const last = (): SlackMessage => slack.messages.at(-1)!;

describe('a connection to Slack', () => {
  it('is checked, shows no secret, and is the only one of its workspace', async () => {
    expect(connection).toMatchObject({
      workspaceId: 'T0ACME',
      problem: null,
      integration: { vendorKind: 'chat', externalOrgId: 'T0ACME', checkFailure: null },
    });
    const documented = readFileSync(new URL('../../docs/slack.md', import.meta.url), 'utf8').replaceAll(/^ {3}/gm, '');
    const { eventsAddress, manifest } = connection;
    const example = 'https://agents.example.com/hooks/hok_0123456789abcdef0123456789abcdef';
    expect(documented).toContain(manifest.replaceAll(eventsAddress, example));
    expect(await connect({ botToken: 'xoxb-of-nobody' })).toMatchObject({
      code: 'invalid_request',
      description: 'botToken: Slack rejected the credentials of the chat connector (invalid_auth): replace them.',
    });
    expect(await connect()).toMatchObject({ code: 'conflict' });
    const viaConnector =
      'mutation { connectIntegration(vendor: slack, displayName: "S", credentials: "xoxb-1") { id } }';
    expect(await world.field(viaConnector, { token: ada.token })).toMatchObject({
      description: 'vendor: must not be slack: connect a chat with connectChat.',
    });
    const { body } = await world.rest('GET', '/integrations', { token: ada.token });
    expect(body.integrations.find(({ vendor }: Json) => vendor === 'slack')).toMatchObject({ vendorKind: 'chat' });
    const hook = `/inbound-hooks/${connection.hookId}`;
    expect((await world.rest('DELETE', hook, { token: ada.token })).status).toBe(409);
    expect((await world.rest('PUT', `${hook}/secret`, { token: ada.token, body: {} })).status).toBe(409);
    const rows = [await world.knex('integrations'), await world.knex('inboundHooks')];
    expect(JSON.stringify(rows)).not.toMatch(/xoxb-of-acme|signing-secret-of/);
  });

  it('answers the challenge, and refuses forged, old and unsigned requests', async () => {
    const challenge = JSON.stringify({ token: 'legacy', challenge: 'c-1', type: 'url_verification' });
    expect((await send(challenge)).body).toEqual({ challenge: 'c-1' });
    const body = mention('mend it');
    const old = signedBySlack(signingSecret, body, Date.UTC(2026, 10, 23, 9) - minutes(6));
    const forged = signedBySlack('another-secret-of-globex', body);
    const { 'x-slack-signature': _, ...unsigned } = signedBySlack(signingSecret, body);
    for (const headers of [old, forged, unsigned as Record<string, string>]) {
      expect((await send(body, headers)).status).toBe(401);
    }
    expect(await newest()).toBeUndefined();
  });

  it('is rotated: the earlier signing secret is refused', async () => {
    const rotate = (input: object) =>
      world.field(
        'mutation ($id: String!, $input: RotateChatRequest!) { rotateChat(chatId: $id, input: $input) { workspaceId } }',
        { token: ada.token, variables: { id: connection.integrationId, input } },
      );
    expect(await rotate({ signingSecret: 'another-secret-of-acme', botToken })).toEqual({ workspaceId: 'T0ACME' });
    const challenge = JSON.stringify({ challenge: 'c', type: 'url_verification' });
    expect((await send(challenge)).status).toBe(401);
    slack.settings.team = 'T0ELSE';
    expect(await rotate({ botToken })).toMatchObject({
      description: 'botToken: must be of the workspace T0ACME, not of T0ELSE.',
    });
    slack.settings.team = 'T0ACME';
    await rotate({ signingSecret });
    expect((await send(challenge)).status).toBe(200);
  });
});

describe('a mission in Slack', () => {
  it('goes from a mention over plan and question to its outcome, in one thread', async () => {
    await world.rest('PATCH', '/orchestrator', { token: ada.token, body: { planApproval: true } });
    await bind('C0DEV', shop);
    const delivery = await heard(mention('mend the date test &amp; &lt;more&gt;'));
    const [run] = await runs();
    expect(delivery).toMatchObject({
      status: 'started',
      title: 'Mention: mend the date test & <more>',
      reason: `Started ${run.id}.`,
    });
    expect(run).toMatchObject({
      projectId: shop,
      missionTitle: 'mend the date test & <more>',
      billingActorUserId: ada.person.id,
    });
    expect(run.prompt).toMatch(/^Do what Ada asks for[\s\S]*<request-\w{16}>\nmend the date test & <more>\n<\/request/);
    expect(await reported()).toEqual([['mend the date test &amp; &lt;more&gt;: started']]);
    const [state] = slack.messages;
    expect(state!.thread_ts).not.toBe(null);

    const held = await claim();
    await finishStep(held, plan);
    const approval = ['The plan waits for approval', '1. Read <the> test\n2. Mend it', ['Approve plan', 'Reject']];
    expect((await reported()).slice(1)).toEqual([approval]);
    expect((await reported())[0]).toEqual(['mend the date test &amp; &lt;more&gt;: waits for approval of its plan']);
    await heard(slack.press('UBOB', last(), 'Approve plan'));
    expect((await reported()).slice(1)).toEqual([
      ['The plan waits for approval — approved by Bob', '1. Read <the> test\n2. Mend it'],
    ]);

    const build = await claim();
    const sandboxId = await runtime.register(build);
    const question = {
      kind: 'elicitation',
      toolUseId: 'q1',
      body: 'Which <!channel> color?',
      choices: ['Red', 'Blue'],
    };
    await showFragments({ id: sandboxId } as never, [question as never]);
    const asks = 'The agent asks a question. Choose an answer, or write one in this thread.';
    expect((await reported()).slice(2)).toEqual([[asks, 'Which <!channel> color?', ['Red', 'Blue']]]);
    const asked = last();
    await Promise.all([send(slack.press('UBOB', asked, 'Blue')), send(slack.press('UADA', asked, 'Red'))]);
    await world.delivered();
    const [, , [title]] = (await reported()) as [Json, Json, [string]];
    expect([`${asks} — Bob: Blue`, `${asks} — Ada: Red`]).toContain(title);
    expect(slack.answers).toEqual(['The question has already been answered.']);

    await finish(build);
    const done = await reported();
    expect(done).toHaveLength(4);
    expect(done[0]![0]).toBe('mend the date test &amp; &lt;more&gt;: completed');
    expect(done[3]).toEqual(['Completed', 'Cost: 0.00 USD']);
    await reported();
    expect(slack.messages).toHaveLength(4);
    expect(new Set(slack.messages.map(({ thread_ts }) => thread_ts)).size).toBe(1);
  });

  it('starts by a direct message and answers in its thread; messages written by the app itself are not stored', async () => {
    const direct = (text: string, more: object = {}) =>
      slack.event({
        type: 'message',
        channel_type: 'im',
        user: 'UADA',
        channel: 'D0ADA',
        ts: slack.nextTime(),
        text,
        ...more,
      });
    expect(await heard(direct('mend it'))).toMatchObject({ status: 'ignored' });
    expect(slack.whispers.at(-1)!.text).toContain('Begin with the name of one: “in ');
    const delivery = await heard(direct('in shop: mend it'));
    expect(delivery).toMatchObject({ status: 'started', event: 'message', title: 'Message: in shop: mend it' });
    expect(await reported()).toEqual([['mend it: started']]);
    const [state] = slack.messages;
    expect(state).toMatchObject({ channel: 'D0ADA', thread_ts: expect.any(String) });
    expect(await heard(direct('mend it: started', { bot_id: 'B0BOT', user: 'U0BOT' }))).toBe(null);
    expect(await heard(direct('', { subtype: 'message_changed' }))).toBe(null);
    const held = await claim();
    expect(await heard(direct('Use UTC.', { thread_ts: state!.thread_ts }))).toMatchObject({ status: 'started' });
    expect(await world.knex('runMessages')).toMatchObject([{ runId: held.runId, text: 'Use UTC.', author: 'Ada' }]);
    expect(await runs()).toHaveLength(1);
    await heard(slack.command('UADA', 'bind shop', 'D0ADA'));
    expect(slack.answers.at(-1)).toContain('Direct messages have no project of their own');
  });

  it('posts the notifications that its person has chosen, and always updates its first message', async () => {
    const choose = (input: object) =>
      world.field('mutation ($input: UpdateMissionNoticesRequest!) { updateMissionNotices(input: $input) { kind } }', {
        session,
        variables: { input },
      });
    const session = await world.session(ada.person, ada.organization.id);
    await world.rest('PATCH', '/orchestrator', { token: ada.token, body: { planApproval: true } });
    for (const kind of ['approval', 'completed']) await choose({ kind, origin: false });
    const held = await planned();
    expect(await reported()).toEqual([['mend the date test: waits for approval of its plan']]);
    await choose({ kind: 'approval', origin: true });
    await world.knex('chat_threads').update({ state: null });
    expect((await reported()).slice(1)).toEqual([
      ['The plan waits for approval', expect.any(String), ['Approve plan', 'Reject']],
    ]);
    await heard(slack.press('UBOB', last(), 'Approve plan'));
    await finish(await claim());
    expect(held.runId).toMatch(/^run_/);
    expect((await reported()).map(([title]) => title)).toEqual([
      'mend the date test: completed',
      'The plan waits for approval — approved by Bob',
    ]);
    for (const kind of ['approval', 'completed']) await choose({ kind, origin: true });
  });

  it('is canceled by the rejection of its plan; a late approval does nothing', async () => {
    await world.rest('PATCH', '/orchestrator', { token: ada.token, body: { planApproval: true } });
    await planned();
    await reported();
    const message = { ...last() };
    await heard(slack.press('UADA', message, 'Reject'));
    expect((await runs())[0]).toMatchObject({ status: 'canceled', reason: 'The plan was rejected in the chat.' });
    expect((await reported()).slice(1)).toEqual([
      ['The plan waits for approval — rejected', '1. Read <the> test\n2. Mend it'],
      ['Canceled', 'The plan was rejected in the chat.\nCost: 0.00 USD'],
    ]);
    expect((await heard(slack.press('UADA', message, 'Approve plan'))).status).toBe('ignored');
    expect(slack.answers).toEqual(['The run has ended (canceled): it can no longer be steered.']);
  });

  it('gets the messages of its thread, and continues with them after its end within the bounds of the project', async () => {
    await bind('C0DEV', shop);
    await heard(mention('mend the date test'));
    const held = await claim();
    const build = { ...held, step: (await finishStep(held, plan)).step };
    const { thread_ts } = slack.messages[0]!;
    expect(await heard(inThread(thread_ts!, 'Use UTC.'))).toMatchObject({ status: 'started' });
    expect(await world.knex('runMessages')).toMatchObject([{ kind: 'message', text: 'Use UTC.', author: 'Ada' }]);
    expect(
      await heard(
        slack.event({ type: 'message', user: 'UADA', channel: 'C0DEV', ts: slack.nextTime(), text: 'Lunch?' }),
      ),
    ).toBe(null);
    await checkpoint(build);
    await runtime.beat(build, { acknowledged: [(await world.knex('runMessages').first()).id] });
    await finish(build);
    await reported();
    expect(await heard(inThread(thread_ts!, 'And the time zone test.', 'UBOB'))).toMatchObject({ status: 'started' });
    expect(slack.whispers.at(-1)).toMatchObject({
      user: 'UBOB',
      text: 'The mission continues with this message within a minute.',
    });
    world.clock.turn(minutes(1));
    await continuePullRequests();
    const [, next] = await runs();
    expect(next.prompt).toMatch(/Bob wrote:\nAnd the time zone test\./);
    const rounds = await reported();
    expect(rounds[0]![0]).toMatch(/: started$/);
    await world.knex('runs').where({ id: next.id }).update({ status: 'completed', finishedAt: 1 });
    await world
      .knex('projects')
      .where({ id: shop })
      .update({ pullRequestLoop: JSON.stringify({ rounds: 1, hours: 1, costUsd: null }) });
    await heard(inThread(thread_ts!, 'One more.'));
    expect(slack.whispers.at(-1)!.text).toBe(
      'The mission of this thread was continued 1 times, the maximum. Mention the agent outside of this thread to start another mission.',
    );
    await world.knex('projects').update({ pullRequestLoop: null });
  });

  it('is started by a command in a channel that another command has bound to a project', async () => {
    const help = await send(slack.command('UADA', ''));
    expect(help.body).toMatchObject({ response_type: 'ephemeral', text: expect.stringContaining('/agent') });
    expect((await send(slack.command('UADA', 'mend it'))).body).toEqual({
      response_type: 'ephemeral',
      text: 'Got it. An answer will follow here.',
    });
    await world.delivered();
    expect(slack.answers.pop()).toMatch(/^This channel has no project\. Begin with the name of one: “in \w+: …”/);
    await heard(slack.command('UADA', 'in moon: mend it'));
    expect(slack.answers.pop()).toBe('There is no project moon. The projects are: docs, shop.');
    await heard(slack.command('UBOB', 'bind shop'));
    expect(slack.answers.pop()).toBe('Only owners and admins bind channels to projects.');
    await heard(slack.command('UADA', 'bind Shop'));
    expect(slack.answers.pop()).toBe('The channel dev is bound to the project Shop.');
    await heard(slack.command('UBOB', 'mend it'));
    await heard(slack.command('UBOB', 'in docs: write it'));
    expect((await runs()).map(({ missionTitle, projectId }: Json) => [missionTitle, projectId === shop])).toEqual([
      ['mend it', true],
      ['write it', false],
    ]);
    expect(await reported()).toEqual([['mend it: started'], ['write it: started']]);
    expect(await heard(inThread(last().ts, 'Go on.'))).toMatchObject({ status: 'started' });
  });
});

describe('Slack events', () => {
  it('start a mission once, even when they are sent repeatedly or an answer of Slack is lost', async () => {
    await bind('C0DEV', shop);
    const body = mention('mend it');
    const headers = signedBySlack(signingSecret, body);
    await Promise.all([send(body), send(body), send(body, { ...headers, 'x-slack-retry-num': '1' })]);
    slack.disturb('chat.postMessage', 'lose the answer');
    await world.delivered();
    world.clock.turn(seconds(90));
    await world.knex.raw("update background.job set start_after = now() where state = 'retry'");
    await world.delivered();
    expect(await runs()).toHaveLength(1);
    expect(slack.messages).toHaveLength(1);
    expect(await reported()).toEqual([['mend it: started']]);
    expect(slack.messages).toHaveLength(1);
  });

  it('start nothing when they are from programs, from other workspaces, or from people without permission', async () => {
    await bind('C0DEV', shop);
    slack.users.set('UGUEST', { name: 'Ada', email: 'ada@example.com', more: { team_id: 'T0ELSE' } });
    slack.users.set('UNEW', { name: 'Ada', email: 'ada@example.com', more: { is_email_confirmed: false } });
    const cases: [string, RegExp][] = [
      ['UEVE', /^eve@example\.com is not a member of Acme/],
      ['UVERA', /^Your role in Acme, viewer, may not/],
      ['UGUEST', /^Your account at Slack has no verified email address/],
      ['UNEW', /^Your account at Slack has no verified email address/],
    ];
    for (const [user, reason] of cases) {
      expect(await heard(mention('mend it', user))).toMatchObject({
        status: 'ignored',
        reason: expect.stringMatching(reason),
      });
      expect(slack.whispers.pop()).toMatchObject({ user, text: expect.stringMatching(reason) });
    }
    const byBot = await heard(mention('mend it', 'UADA', { bot_id: 'B0BOT' }));
    expect(byBot).toMatchObject({ status: 'ignored', reason: 'The message was posted by a program.' });
    expect(
      await heard(
        slack.event(
          { type: 'app_mention', user: 'UADA', channel: 'C0DEV', ts: slack.nextTime(), text: 'x' },
          { team_id: 'T0ELSE' },
        ),
      ),
    ).toMatchObject({
      reason: 'The event belongs to another workspace.',
    });
    await heard(mention('mend it'));
    const [run] = await runs();
    const { thread_ts } = slack.messages[0]!;
    for (const text of ['Hello', 'Hello again']) await heard(inThread(thread_ts!, text, 'UEVE'));
    expect(slack.whispers).toHaveLength(1);
    expect(await runs()).toEqual([run]);
  });

  it('never reach a mission when they are from another organization’s workspace', async () => {
    await world.rest('PATCH', '/orchestrator', { token: ada.token, body: { planApproval: true } });
    await planned();
    await reported();
    const theirs = await connect({ signingSecret: 'signing-secret-of-globex' }, mallory.token);
    await createMember(world, mallory.organization, 'Rob', 'owner');
    slack.users.set('UROB', { name: 'Rob', email: 'rob@example.com' });
    const press = slack.press('UROB', last(), 'Approve plan');
    await send(press, signedBySlack('signing-secret-of-globex', press), theirs.eventsAddress);
    await world.delivered();
    expect(slack.answers).toEqual(['The button does not belong to a mission of this channel.']);
    expect((await runs())[0]).toMatchObject({ awaitsApproval: true });
    const moon = await createProject(world, mallory, 'Moon');
    expect(await bind('C0DEV', moon, mallory, theirs)).toMatchObject({ code: 'conflict' });
    expect(await bind('C0DEV', shop, mallory, theirs)).toMatchObject({ code: 'not_found' });
    expect(await bind('C0DEV', moon, mallory)).toMatchObject({ code: 'not_found' });
    await world.knex('integrations').where({ id: theirs.integrationId }).delete();
  });
});

describe('an error from Slack', () => {
  const problemOf = async () => {
    const query = '{ chatConnections { data { problem integration { checkFailure brokenSince } } } }';
    return (await world.field(query, { token: ada.token })).data[0];
  };

  it.each(['invalid_auth', 'account_inactive'])(
    '%s is shown on the page until the token is replaced',
    async (error) => {
      await bind('C0DEV', shop);
      await heard(mention('mend it'));
      const held = await claim();
      slack.settings.error = error;
      await world.knex('runs').update({ status: 'failed', reason: 'It broke.', finishedAt: 1 });
      await reported();
      const failure = `Slack rejected the credentials of the chat connector (${error}): replace them.`;
      expect(await problemOf()).toEqual({
        problem: failure,
        integration: { checkFailure: failure, brokenSince: expect.any(Number) },
      });
      expect(await heard(mention('mend it again'))).toMatchObject({ status: 'ignored', reason: failure });
      slack.settings.error = null;
      await world.field(
        'mutation ($id: String!, $input: RotateChatRequest!) { rotateChat(chatId: $id, input: $input) { integrationId } }',
        { token: ada.token, variables: { id: connection.integrationId, input: { botToken } } },
      );
      expect((await reported()).map(([title]) => title)).toEqual(['mend it: failed', 'Failed']);
      expect(await problemOf()).toEqual({ problem: null, integration: { checkFailure: null, brokenSince: null } });
      expect(held.runId).toMatch(/^run_/);
    },
  );

  it('delays calls for the time that Slack requests when its rate limit is exceeded', async () => {
    await bind('C0DEV', shop);
    await heard(mention('mend it'));
    await world.knex('runs').update({ status: 'failed', reason: 'It broke.', finishedAt: 1 });
    slack.disturb('chat.update', {
      status: 429,
      headers: { 'retry-after': '120' },
      body: { ok: false, error: 'ratelimited' },
    });
    await reported();
    const query = '{ chatConnections { data { pausedUntil } } }';
    const { data } = await world.field(query, { token: ada.token });
    expect(data).toEqual([{ pausedUntil: present() + seconds(120) }]);
    const asked = slack.asked.length;
    world.clock.turn(seconds(100));
    await reported();
    expect(slack.asked).toHaveLength(asked);
    world.clock.turn(seconds(21));
    expect((await reported()).map(([title]) => title)).toEqual(['mend it: failed', 'Failed']);
  });
});
