// The connection to a chat: its credentials, the events that it accepts and refuses, and errors of the vendor.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { minutes, seconds } from '#foundation/clock.ts';
import { createMember, createProject } from '../support/callers.ts';
import { botToken, type Json, openChatWorld, signingSecret } from '../support/chat-world.ts';
import { signedBySlack } from '../support/fake-slack.ts';
import { present } from '../support/world.ts';

const {
  world,
  slack,
  ada,
  mallory,
  shop,
  connection,
  connect,
  bind,
  send,
  heard,
  newest,
  mention,
  inThread,
  reported,
  runs,
  claim,
  planned,
  last,
  close,
  reset,
  check,
} = await openChatWorld();
afterAll(close);
beforeEach(reset);
afterEach(check);

describe('connections to Slack', () => {
  it('a Slack connection is checked when it is created, shows no secret, and is the only one for its workspace', async () => {
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

  it('a Slack connection answers Slack’s URL verification, and refuses forged, old and unsigned requests', async () => {
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

  it('a Slack connection refuses its earlier signing secret after the rotation, and refuses a token of another workspace', async () => {
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

describe('Slack events', () => {
  it('a Slack event starts one mission, even when it is sent repeatedly or an answer from Slack is lost', async () => {
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

  it('Slack events from programs, other workspaces and people without permission start nothing', async () => {
    await bind('C0DEV', shop);
    slack.users.set('UGUEST', { name: 'Ada', email: 'ada@example.com', more: { team_id: 'T0ELSE' } });
    slack.users.set('UNEW', { name: 'Ada', email: 'ada@example.com', more: { is_email_confirmed: false } });
    const cases: [string, RegExp][] = [
      ['UEVE', /^eve@example\.com is not a member of Acme/],
      ['UVERA', /^Your role in Acme, viewer, does not allow/],
      ['UGUEST', /^Your Slack account has no verified email address/],
      ['UNEW', /^Your Slack account has no verified email address/],
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

  it('a button pressed in another organization’s workspace does not reach a mission', async () => {
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

describe('errors from Slack', () => {
  const problemOf = async () => {
    const query = '{ chatConnections { data { problem integration { checkFailure brokenSince } } } }';
    return (await world.field(query, { token: ada.token })).data[0];
  };

  it.each(['invalid_auth', 'account_inactive'])(
    'the error %s from Slack is shown on the connection until the token is replaced',
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

  it('calls to Slack wait for the time that Slack requests when its rate limit is exceeded', async () => {
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
