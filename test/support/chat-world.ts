// An organization with a chat at a stand-in for Slack: a test speaks for its members, and plays the runtime of their missions.
import { expect } from 'vitest';
import { followThreads } from '#domain/work/chat-threads/threads.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Account, createMember, createOwner, createProject } from './callers.ts';
import { openSlack, type SlackMessage, signedBySlack } from './fake-slack.ts';
import { createRuntime } from './runtime-client.ts';
import { openWorld } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
export type Json = any;

export const botToken = 'xoxb-of-acme-1';
export const signingSecret = 'signing-secret-of-acme';

const connectMutation = `mutation ($input: ConnectChatRequest!) { connectChat(input: $input)
  { integrationId workspaceId eventsAddress hookId manifest problem integration { vendorKind externalOrgId checkFailure } } }`;
export const plan = { output: JSON.stringify({ steps: ['Read <the> test', 'Mend it'] }) };

export async function openChatWorld() {
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
  openOutbound({ allowLoopback: true });
  const slack = await openSlack(botToken);
  const world = await openWorld({ vendors: { slack: slack.address } });
  const ada = await createOwner(world, 'Ada', 'Acme');
  const mallory = await createOwner(world, 'Mallory', 'Globex');
  await createMember(world, ada.organization, 'Bob', 'member');
  await createMember(world, ada.organization, 'Vera', 'viewer');
  await world.grant(ada.organization, 1_000);
  await world.lift(ada.organization);
  const runtime = await createRuntime(world, ada.organization);
  const shop = await createProject(world, ada, 'Shop');
  await createProject(world, ada, 'Docs');
  for (const role of ['planner', 'builder']) {
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const body = { name: role, role, harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
    await world.rest('POST', '/agents', { token: ada.token, body });
  }
  for (const [id, name] of Object.entries({ UADA: 'Ada', UBOB: 'Bob', UVERA: 'Vera', UEVE: 'Eve' }))
    slack.users.set(id, { name, email: `${name.toLowerCase()}@example.com` });
  const connection = await connect();

  const send = (body: string, headers = signedBySlack(signingSecret, body), address = connection.eventsAddress) =>
    world.request('POST', new URL(address).pathname, { body, headers });
  /**
   * Sends a request as Slack would, and waits until the service has done the work that the request causes. Returns the delivery of the request; null
   * if the service stored none.
   */
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
    slack.event({
      type: 'app_mention',
      user,
      channel: 'C0DEV',
      ts: slack.nextTime(),
      text: `<@U0BOT> ${text}`,
      ...more,
    });
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
  /** A mission that a mention has started, and whose planner has finished. */
  async function planned(): Promise<Json> {
    await bind('C0DEV', shop);
    await heard(mention('mend the date test'));
    const held = await claim();
    await finishStep(held, plan);
    return held;
  }
  const last = (): SlackMessage => slack.messages.at(-1)!;
  return {
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
    runtime,
    finishStep,
    async close(): Promise<void> {
      await Promise.all([world.close(), slack.close()]);
      openOutbound({ allowLoopback: false });
    },
    async reset(): Promise<void> {
      await world.knex('chatThreads').delete();
      await world.knex('runs').delete();
      await world.knex('chatChannels').delete();
      await world.knex('chatConnections').update({ problem: null });
      await world.knex('integrations').update({ pausedUntil: null });
      await world.rest('PATCH', '/orchestrator', { token: ada.token, body: { planApproval: false } });
      slack.clear();
    },
    async check(): Promise<void> {
      expect(slack.violations).toEqual([]);
    },
  };
}
