// Push notifications of A2A: each change of a task is reported once, to receivers that a client has configured.
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  type Task,
  TaskPushNotificationConfig,
  TaskState,
} from '@a2a-js/sdk';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { configsPerTask, writePushNotifications } from '#domain/work/a2a/push.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { caught, openA2aWorld, request } from '../support/a2a-world.ts';
import { createMember } from '../support/callers.ts';
import { present } from '../support/world.ts';

const {
  world,
  owner,
  acme,
  runtime,
  client,
  stranger,
  connect,
  message,
  send,
  get,
  cancel,
  list,
  claim,
  close,
  reset,
} = await openA2aWorld();
afterAll(close);
beforeEach(reset);

interface Pushed {
  headers: IncomingHttpHeaders;
  body: string;
}

describe('A2A push notifications', () => {
  const pushed: Pushed[] = [];
  let receiver: Server;
  let url: string;
  let answer = 200;
  beforeAll(async () => {
    receiver = createServer(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      pushed.push({ headers: req.headers, body });
      res.writeHead(answer).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  });
  afterAll(() => new Promise((resolve) => receiver.close(resolve)));
  beforeEach(() => {
    pushed.length = 0;
    answer = 200;
  });

  const create = (taskId: string, more: object = {}, by = client) =>
    by.createTaskPushNotificationConfig(TaskPushNotificationConfig.fromJSON({ taskId, url, ...more }));
  const configs = async (taskId: string, by = client) =>
    (await by.listTaskPushNotificationConfig(ListTaskPushNotificationConfigsRequest.fromJSON({ taskId }))).configs;
  const about = ({ id }: Task): number => pushed.filter(({ body }) => body.includes(id)).length;
  async function deliver() {
    await writePushNotifications();
    await world.delivered();
  }

  it('a push notification reports each state once, signed, with the token of the task and the credentials of the receiver', async () => {
    const config = { url, token: 'of-the-task', authentication: { scheme: 'Bearer', credentials: 'of-the-receiver' } };
    const configuration = { returnImmediately: true, taskPushNotificationConfig: config };
    const task = (await client.sendMessage(request(message('Tell me'), configuration))) as Task;
    await deliver();
    expect(about(task)).toBe(0);
    const held = await claim();
    await deliver();
    await runtime.finish(held);
    await deliver();
    await deliver();
    const states = pushed.map(({ body }) => JSON.parse(body).statusUpdate.status.state);
    expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    const { headers, body } = pushed[1]!;
    expect(JSON.parse(body).statusUpdate).toMatchObject({ taskId: task.id, contextId: task.contextId });
    expect(headers).toMatchObject({
      authorization: 'Bearer of-the-receiver',
      'x-a2a-notification-token': 'of-the-task',
      'content-type': 'application/a2a+json',
    });
    const jwks = await (await fetch(`${world.url}/.well-known/jwks.json`)).json();
    const { payload } = await jwtVerify(String(headers['x-a2a-notification-signature']), createLocalJWKSet(jwks), {
      issuer: world.url,
      audience: url,
      subject: task.id,
      typ: 'a2a-push+jwt',
      currentDate: new Date(present()),
    });
    expect(payload.request_body_sha256).toBe(createHash('sha256').update(body).digest('base64url'));
  });

  it('the audit log records the changes of each A2A method with the caller and the method', async () => {
    const task = await send('On the record');
    const { id } = await create(task.id);
    await client.deleteTaskPushNotificationConfig(
      DeleteTaskPushNotificationConfigRequest.fromJSON({ taskId: task.id, id }),
    );
    await cancel(task.id);
    const session = await world.session(owner, acme.id);
    const events: { surface: string; operation: string; actor: { id: string } }[] = (
      await world.rest('GET', '/audit-events?limit=200', { session })
    ).body.data;
    const ofA2a = events.filter(({ surface, actor }) => surface === 'a2a' && actor.id === owner.id);
    expect(ofA2a.slice(0, 4).map(({ operation }) => operation)).toEqual([
      '/a2a CancelTask',
      '/a2a DeleteTaskPushNotificationConfig',
      '/a2a CreateTaskPushNotificationConfig',
      '/a2a SendMessage',
    ]);
  });

  it('a push notification is sent when a task begins to wait for its client, and when the task continues', async () => {
    const config = { returnImmediately: true, taskPushNotificationConfig: { url } };
    const task = (await client.sendMessage(request(message('Ask me'), config))) as Task;
    const { id } = task;
    const heard = async () => {
      await deliver();
      const { status } = JSON.parse(pushed.filter(({ body }) => body.includes(id)).at(-1)!.body).statusUpdate;
      return [about(task), status.state, status.message?.parts[0].text];
    };
    const plan = 'Waiting for a person to approve the plan.';
    await world.knex('runs').where({ id }).update({ awaitsApproval: true, reason: plan });
    expect(await heard()).toEqual([1, 'TASK_STATE_INPUT_REQUIRED', plan]);
    expect((await get(id)).status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    await client.sendMessage(request(message('', { taskId: id, parts: [{ data: { approvePlan: true } }] })));
    expect(await heard()).toEqual([2, 'TASK_STATE_SUBMITTED', undefined]);
    const held = await claim();
    const place = { sandboxId: await runtime.register(held), leaseId: held.leaseId };
    const show = (seq: number, kind: string, body: string) =>
      runtime.report('appendFragments', { ...place, seq, fragments: [{ kind, body, t: present() }] }, '{ nextSeq }');
    await show(0, 'elicitation', 'Which cart?');
    expect(await heard()).toEqual([3, 'TASK_STATE_INPUT_REQUIRED', 'Which cart?']);
    expect((await list()).tasks.find((one) => one.id === id)?.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    world.clock.turn(1);
    await send('The new secret or variable.', { taskId: id });
    expect((await heard()).slice(0, 2)).toEqual([4, 'TASK_STATE_WORKING']);
    await show(1, 'response', 'I take the new one.');
    expect((await heard()).slice(0, 2)).toEqual([4, 'TASK_STATE_WORKING']);
    // A repeated decision does not decide about the next call.
    const call = (toolUseId: string) => ({ kind: 'elicitation', t: 1, body: 'May I?', action: 'ci.deploy', toolUseId });
    const askFor = (seq: number, toolUseId: string) =>
      runtime.report('appendFragments', { ...place, seq, fragments: [call(toolUseId)] }, '{ nextSeq }');
    await askFor(2, 'first');
    const approval = message('', { taskId: id, parts: [{ data: { approveToolCall: true } }] });
    await client.sendMessage(request(approval));
    await askFor(3, 'second');
    await client.sendMessage(request(approval));
    const decided = () => world.knex('run_messages').where({ runId: id, approved: true }).orderBy('seq');
    expect((await decided()).map(({ fragmentSeq }) => fragmentSeq)).toEqual([2]);
    // Two questions now wait. The metadata of the status message contains the position of the newer question.
    await askFor(4, 'third');
    const approve = (more: object) =>
      client.sendMessage(request(message('', { taskId: id, parts: [{ data: { approveToolCall: true, ...more } }] })));
    expect((await caught(approve({})))[1]).toContain('several questions wait');
    const { status } = await client.getTask({ id, tenant: '', historyLength: 0 });
    expect(status?.message?.metadata).toEqual({ sandboxId: place.sandboxId, seq: 4 });
    await approve(status!.message!.metadata!);
    expect((await decided()).map(({ fragmentSeq }) => fragmentSeq)).toEqual([2, 4]);
  });

  it('an A2A message that starts a task can configure push notifications; sending it again adds no second configuration, and an invalid URL starts no task', async () => {
    const one = message('Tell me too');
    const pushTo = (address: string) => ({ returnImmediately: true, taskPushNotificationConfig: { url: address } });
    const bad = request(one, pushTo('http://10.0.0.1/'));
    expect(await caught(client.sendMessage(bad))).toEqual([-32602, 'url: must be an https URL of a public host.']);
    expect(await world.knex('runs').where({ missionTitle: 'Tell me too' }).first()).toBeUndefined();
    const task = (await client.sendMessage(request(one, pushTo(url)))) as Task;
    await client.sendMessage(request(one, pushTo(url)));
    expect((await configs(task.id)).map(({ id }) => id)).toEqual([one.messageId]);
  });

  it('a push configuration is created, read, listed and deleted; its secrets are never returned', async () => {
    const task = await send('Configured');
    const made = await create(task.id, {
      id: 'mine',
      token: 'secret',
      authentication: { scheme: 'Bearer', credentials: 's' },
    });
    expect(made).toMatchObject({ id: 'mine', taskId: task.id, url, token: '', authentication: { credentials: '' } });
    await create(task.id);
    expect((await configs(task.id)).length).toBe(2);
    const one = { taskId: task.id, id: 'mine' };
    expect(await client.getTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest.fromJSON(one))).toEqual(
      made,
    );
    await client.deleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest.fromJSON(one));
    expect((await configs(task.id)).map(({ id }) => id)).not.toContain('mine');
    expect((await caught(create(task.id, {}, stranger)))[0]).toBe(-32001);
    expect((await caught(configs(task.id, stranger)))[0]).toBe(-32001);
  });

  it('a push notification is retried when the receiver fails', async () => {
    const task = await send('Again');
    await create(task.id);
    answer = 500;
    await cancel(task.id);
    await deliver();
    expect(about(task)).toBe(1);
    answer = 200;
    await world.knex('background.job').where({ name: 'a2a push' }).update({ start_after: world.knex.fn.now() });
    await deliver();
    expect(about(task)).toBe(2);
    await deliver();
    expect(about(task)).toBe(2);
  });

  it('push notifications of a person end when the person has left the organization', async () => {
    const { person: bob } = await createMember(world, acme, 'Bob', 'member');
    const bobs = await connect(await world.token(bob, acme));
    const task = await send('Bob follows');
    await create(task.id, {}, bobs);
    await world.knex('memberships').where({ userId: bob.id }).delete();
    await cancel(task.id);
    await deliver();
    expect(about(task)).toBe(0);
  });

  it('a push configuration must have a public https URL, and a task has a limited number of configurations', async () => {
    const task = await send('Bounded');
    openOutbound({ allowLoopback: false });
    try {
      for (const bad of [
        url,
        'https://10.0.0.1/hook',
        'https://[::1]/',
        'http://example.com/',
        'ftp://example.com',
        'no address',
      ]) {
        expect(await caught(create(task.id, { url: bad }))).toEqual([
          -32602,
          'url: must be an https URL of a public host.',
        ]);
      }
    } finally {
      openOutbound({ allowLoopback: true });
    }
    expect(await caught(create(task.id, { token: 'a\nb' }))).toEqual([
      -32602,
      expect.stringMatching(/^pushNotificationConfig\.token/),
    ]);
    const results = await Promise.allSettled(Array.from({ length: configsPerTask + 3 }, () => create(task.id)));
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(configsPerTask);
    expect((await configs(task.id)).length).toBe(configsPerTask);
  });
});
