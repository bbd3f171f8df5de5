// Missions over the agent-to-agent protocol with the official client: every method over real HTTP, against a runtime that claims and
// finishes the runs; refusals, the view of another organization, and concurrent calls.
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  type StreamResponse,
  SubscribeToTaskRequest,
  type Task,
  TaskPushNotificationConfig,
  TaskState,
  verifyAgentCardSignature,
} from '@a2a-js/sdk';
import { type Client, ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { configsPerTask, writePushNotifications } from '#domain/work/a2a/push.ts';
import { seconds } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { subscriptions, text } from '#limits.ts';
import { a2a } from '#surfaces/a2a/bounds.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { createRuntime, type Held, type Runtime } from '../support/runtime-client.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Person;
let acme: Organization;
let alice: string;
let runtime: Runtime;
let projectId: string;
let client: Client;
let stranger: Client;

beforeAll(async () => {
  openOutbound({ allowLoopback: true });
  world = await openWorld();
  const account = await createOwner(world, 'Alice', 'Acme');
  ({ person: owner, organization: acme, token: alice } = account);
  runtime = await createRuntime(world, acme);
  projectId = await createProject(world, account, 'Shop');
  client = await connect(alice);
  stranger = await connect((await createOwner(world, 'Mallory', 'Globex')).token);
});
afterAll(async () => {
  await world.close();
  openOutbound({ allowLoopback: false });
});
beforeEach(() => world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' }));

/** The official client, which reads the card and chooses the transport. */
function connect(token: string): Promise<Client> {
  const fetchImpl: typeof fetch = (url, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(url, { ...init, headers });
  };
  return new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] }).createFromUrl(world.url);
}

let sent = 0;
const message = (words: string, more: object = {}) => ({
  messageId: `message-${++sent}`,
  role: 'ROLE_USER',
  parts: [{ text: words }],
  ...more,
});
const request = (one: object, configuration: object = { returnImmediately: true }) =>
  SendMessageRequest.fromJSON({ message: one, configuration });
const send = async (words: string, more: object = {}, by = client): Promise<Task> =>
  (await by.sendMessage(request(message(words, more)))) as Task;
const get = (id: string, more: object = {}, by = client) => by.getTask(GetTaskRequest.fromJSON({ id, ...more }));
const cancel = (id: string, by = client) => by.cancelTask(CancelTaskRequest.fromJSON({ id }));
const list = (more: object = {}, by = client) => by.listTasks(ListTasksRequest.fromJSON(more));

const claim = () => runtime.claim({}, '{ runId leaseId prompt }');

const caught = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it was not refused'),
    (error: Error & { envelopeCode?: number }) => [error.envelopeCode, error.message],
  );
const kindOf = ({ payload }: StreamResponse) => payload?.$case;
const stateOf = ({ payload }: StreamResponse) =>
  payload?.$case === 'statusUpdate' || payload?.$case === 'task' ? payload.value.status?.state : undefined;

describe('the agent card', () => {
  it('is signed with a published key, and lists the offered skills', async () => {
    const card = (await (await fetch(`${world.url}/.well-known/agent-card.json`)).json()) as AgentCard;
    const jwks = await (await fetch(`${world.url}/.well-known/jwks.json`)).json();
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      expect(jku).toBe(`${world.url}/.well-known/jwks.json`);
      return jwks.keys.find((key: { kid: string }) => key.kid === kid);
    });
    await verify(card);
    await expect(verify({ ...card, name: 'Another' })).rejects.toThrow();
    expect(card.skills.map(({ id }) => id)).toEqual([
      'run-mission',
      'run-scheduled-task',
      'steer-mission',
      'run-state',
    ]);
  });
});

describe('an A2A message', () => {
  it('starts a mission that a runtime completes', async () => {
    const task = await send('Fix the cart.');
    expect(task).toMatchObject({
      id: expect.stringMatching(/^run_/),
      status: { state: TaskState.TASK_STATE_SUBMITTED },
      metadata: { projectId, title: 'Fix the cart.', issueId: expect.stringMatching(/^iss_/) },
      history: [{ parts: [{ content: { $case: 'text', value: 'Fix the cart.' } }] }],
    });
    const held = await claim();
    expect(held).toMatchObject({ runId: task.id, prompt: 'Fix the cart.' });
    expect((await get(task.id)).status?.state).toBe(TaskState.TASK_STATE_WORKING);
    await runtime.finish(held, { status: 'failed', error: 'No cart.' });
    const over = await get(task.id, { historyLength: 0 });
    expect(over.history).toEqual([]);
    expect(over.status).toMatchObject({
      state: TaskState.TASK_STATE_FAILED,
      message: { parts: [{ content: { value: 'No cart.' } }] },
    });
  });

  it('is answered at the end of its task when the client asks to wait for it', async () => {
    const waiting = client.sendMessage(request(message('Wait for it'), {})) as Promise<Task>;
    const held = await until(claim);
    await runtime.finish(held);
    expect((await waiting).status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('starts one mission for repeated and concurrent sends', async () => {
    const one = message('Only once');
    const tasks = await Promise.all([1, 2, 3].map(() => client.sendMessage(request(one)) as Promise<Task>));
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(1);
    expect(new Set(tasks.map(({ contextId }) => contextId)).size).toBe(1);
    expect(await world.knex('runs').where({ missionTitle: 'Only once' }).count().first()).toMatchObject({ count: 1 });
    const other = { ...one, parts: [{ text: 'Something else' }] };
    expect(await caught(client.sendMessage(request(other)))).toEqual([
      -32602,
      'messageId: was used for another message.',
    ]);
  });

  it('goes to the agent of a working task once, and is kept in its history', async () => {
    const task = await send('Begin');
    const held = await claim();
    const more = message('Use the UTC helper.', { taskId: task.id });
    const answers = await Promise.all([1, 2].map(() => client.sendMessage(request(more))));
    expect(answers).toMatchObject([{ id: task.id }, { id: task.id }]);
    const { history } = await get(task.id);
    expect(history.map(({ parts }) => (parts[0]!.content as { value: string }).value)).toEqual([
      'Begin',
      'Use the UTC helper.',
    ]);
    expect(await caught(send('x'.repeat(4_001), { taskId: task.id }))).toEqual([
      -32602,
      'message.parts: must be at most 4000 characters.',
    ]);
    expect(await caught(send('', { taskId: task.id }))).toEqual([
      -32602,
      'message.parts: must have a text for the agent.',
    ]);
    await runtime.finish(held);
    expect(await client.sendMessage(request(more))).toMatchObject({ id: task.id });
  });

  it('approves the plan of a task that waits for it', async () => {
    const task = await send('Begin');
    await world.knex('runs').where({ id: task.id }).update({ awaitsApproval: true, reason: 'Waiting for approval.' });
    const { status } = (await client.sendMessage(request(message('Add a test.', { taskId: task.id }), {}))) as Task;
    expect(status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const approval = message('', { taskId: task.id, parts: [{ data: { approvePlan: true } }] });
    const approved = (await client.sendMessage(request(approval))) as Task;
    expect(approved.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
    const again = message('', { taskId: (await send('Other')).id, parts: [{ data: { approvePlan: true } }] });
    expect(await caught(client.sendMessage(request(again)))).toEqual([
      -32004,
      'The run has no plan that waits for approval.',
    ]);
  });

  it('continues in the context of a finished task', async () => {
    const first = await send('Begin', { contextId: 'conversation' });
    await runtime.finish(await claim());
    const second = await send('Go on', { taskId: first.id });
    const third = await send('And on', { contextId: 'conversation' });
    expect([second.contextId, third.contextId]).toEqual(['conversation', 'conversation']);
    expect(new Set([first.id, second.id, third.id]).size).toBe(3);
    expect(await caught(send('x', { taskId: first.id, contextId: 'another' }))).toEqual([
      -32602,
      'message.contextId: is not the context of the task.',
    ]);
    const { tasks, totalSize } = await list({ contextId: 'conversation' });
    expect([tasks.map(({ id }) => id).sort(), totalSize]).toEqual([[first.id, second.id, third.id].sort(), 3]);
  });

  it('runs a scheduled task, and returns the state of a run', async () => {
    const schedule = { interval: 'daily', time: '09:00', timezone: 'UTC' };
    const body = { projectId, name: 'Check', prompt: 'echo checked', triggers: [{ kind: 'schedule', schedule }] };
    const { id } = (await world.rest('POST', '/scheduled-tasks', { token: alice, body })).body;
    const task = await send('Run it', { metadata: { scheduledTaskId: id } });
    expect(task.metadata?.title).toBe('Check');
    expect(await claim()).toMatchObject({ runId: task.id, prompt: 'echo checked' });
    const answer = await client.sendMessage(request(message('How far?', { parts: [{ data: { runId: task.id } }] })));
    expect(answer).toMatchObject({ metadata: { status: 'running', runId: task.id }, referenceTaskIds: [task.id] });
  });

  it('must name its project when the organization has several', async () => {
    const docs = await createProject(world, { token: alice }, 'Docs');
    expect(await caught(send('Which?'))).toEqual([
      -32602,
      expect.stringMatching(/^message\.metadata\.projectId: is required/),
    ]);
    expect((await send('There', { metadata: { projectId: docs } })).metadata?.projectId).toBe(docs);
    const bound = await connect(await world.token(owner, acme, { projectId: docs }));
    expect((await send('Here', {}, bound)).metadata?.projectId).toBe(docs);
    await world.rest('DELETE', `/projects/${docs}`, { token: alice });
  });
});

describe('a stream of task events', () => {
  const all = async (events: AsyncIterable<StreamResponse>, each: (event: StreamResponse) => unknown = () => {}) => {
    const found: StreamResponse[] = [];
    for await (const event of events) {
      found.push(event);
      await each(event);
    }
    return found;
  };

  it('reports the task, its states and its end', async () => {
    let held: Held | undefined;
    const events = await all(client.sendMessageStream(request(message('Show me'))), async (event) => {
      if (stateOf(event) === TaskState.TASK_STATE_SUBMITTED && !held) held = await claim();
      else if (stateOf(event) === TaskState.TASK_STATE_WORKING) await runtime.finish(held!);
    });
    expect(kindOf(events[0]!)).toBe('task');
    expect(stateOf(events.at(-1)!)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(events.some((event) => stateOf(event) === TaskState.TASK_STATE_WORKING)).toBe(true);
  });

  it('can be resumed by another reader, and refuses a finished task', async () => {
    const task = await send('Follow me');
    const subscription = SubscribeToTaskRequest.fromJSON({ id: task.id });
    const events = await all(client.resubscribeTask(subscription), async (event) => {
      if (kindOf(event) === 'task') await cancel(task.id);
    });
    expect(stateOf(events.at(-1)!)).toBe(TaskState.TASK_STATE_CANCELED);
    const [code, words] = await caught(all(client.resubscribeTask(subscription)));
    expect([code, words]).toEqual([-32602, expect.stringMatching(/^id: the task has ended/)]);
    expect((await caught(all(stranger.resubscribeTask(subscription))))[0]).toBe(-32001);
  });
});

describe('the task streams of one caller', () => {
  const open = async (token: string, id: string, signal: AbortSignal) =>
    fetch(`${world.url}/a2a`, {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } }),
    });

  it('429 · are bounded; a closed stream no longer counts', async () => {
    const token = await world.token(owner, acme);
    const { id } = await send('Followed by many');
    const leaving = new AbortController();
    const streams = Array.from({ length: subscriptions.perCredential }, () => open(token, id, leaving.signal));
    expect((await Promise.all(streams)).map(({ status }) => status)).toEqual(streams.map(() => 200));
    expect((await open(token, id, leaving.signal)).status).toBe(429);
    leaving.abort();
    const again = new AbortController();
    await until(async () => (await open(token, id, again.signal)).status === 200);
    again.abort();
  });

  it('end when the credential is revoked', async () => {
    const token = await world.token(owner, acme);
    const { id } = await send('Followed no longer');
    const stream = await open(token, id, AbortSignal.timeout(60_000));
    await world
      .knex('tokens')
      .where({ digest: digest(token) })
      .update({ revokedAt: present() });
    world.clock.turn(seconds(2));
    await cancel(id);
    const text = await stream.text();
    expect(text).not.toContain('TASK_STATE_CANCELED');
    expect(text).toContain('"error"');
  });
});

describe('A2A tasks', () => {
  it('are listed by page and by state, newest first', async () => {
    for (let i = 0; i < 3; i++) {
      world.clock.turn(1);
      await send(`Listed ${i}`);
    }
    const first = await list({ pageSize: 2, status: 'TASK_STATE_SUBMITTED' });
    const second = await list({ pageSize: 2, status: 'TASK_STATE_SUBMITTED', pageToken: first.nextPageToken });
    expect([...first.tasks, ...second.tasks].map(({ metadata }) => metadata?.title)).toEqual([
      'Listed 2',
      'Listed 1',
      'Listed 0',
    ]);
    expect([first.totalSize, first.pageSize, second.nextPageToken]).toEqual([3, 2, '']);
    expect((await list({}, stranger)).tasks).toEqual([]);
    expect(await caught(list({ pageSize: 101 }))).toEqual([-32602, 'pageSize: must be at most 100.']);
    expect((await caught(list({ pageToken: 'other' })))[0]).toBe(-32602);
  });

  it('are canceled once, and not after their end', async () => {
    const task = await send('Stop me');
    expect((await cancel(task.id)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect((await cancel(task.id)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const other = await send('Too late');
    await runtime.finish(await claim());
    expect((await caught(cancel(other.id)))[0]).toBe(-32002);
  });

  it('do not exist for another organization', async () => {
    const task = await send('Ours');
    for (const ask of [() => get(task.id, {}, stranger), () => cancel(task.id, stranger), () => get('run_none')]) {
      expect((await caught(ask()))[0]).toBe(-32001);
    }
    expect((await caught(send('x', { taskId: task.id }, stranger)))[0]).toBe(-32001);
    expect(await caught(send('x', { metadata: { projectId } }, stranger))).toEqual([-32602, 'No such project.']);
    expect((await get(task.id)).status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
  });

  it('show the artifacts of the run to callers who may read artifacts', async () => {
    const task = await send('Prove it');
    const place = { orgId: acme.id, projectId, issueId: task.metadata?.issueId, expiresAt: present() + 1e9 };
    const row = { id: 'art_1', ...place, role: 'builder', kind: 'report', contentType: 'text/plain', sizeBytes: 5 };
    await world.knex('stored_contents').insert({ key: 'cnt_1', orgId: acme.id, createdAt: present(), sizeBytes: 5 });
    await world.knex('artifacts').insert({ ...row, caption: 'Proof', contentKey: 'cnt_1', createdAt: present() });
    const { artifacts } = await get(task.id);
    expect(artifacts).toMatchObject([
      { artifactId: 'art_1', name: 'Proof', parts: [{ mediaType: 'text/plain', content: { $case: 'url' } }] },
    ]);
    const reader = await connect(await world.token(owner, acme, { scopes: ['missions:read'] }));
    expect((await get(task.id, {}, reader)).artifacts).toEqual([]);
  });
});

describe('the permissions and budgets of an A2A client', () => {
  it('403 · are checked: the error names the missing scope', async () => {
    const reader = await world.token(owner, acme, { scopes: ['missions:read'] });
    const runner = await world.token(owner, acme, { scopes: ['missions:run'] });
    const ask = async (token: string, method: string) => {
      const body = { jsonrpc: '2.0', id: 1, method, params: {} };
      const answer = await world.request('POST', '/a2a', { token, body, headers: { 'a2a-version': '1.0' } });
      return [answer.status, answer.headers.get('www-authenticate')];
    };
    const challenge = (scope: string) =>
      `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${world.url}/.well-known/oauth-protected-resource/a2a"`;
    for (const method of ['SendMessage', 'SendStreamingMessage', 'CancelTask']) {
      expect(await ask(reader, method)).toEqual([403, challenge('missions:read missions:run')]);
    }
    for (const method of ['GetTask', 'ListTasks', 'SubscribeToTask', 'CreateTaskPushNotificationConfig']) {
      expect(await ask(runner, method)).toEqual([403, challenge('missions:run missions:read')]);
    }
  });

  it('402 · are checked: the error for an exhausted budget has its reason', async () => {
    await world.knex('orchestrators').insert({ orgId: acme.id, dailyCostCapUsd: 0, updatedAt: present() });
    expect(await caught(send('Too dear'))).toEqual([-32000, expect.stringMatching(/^The daily cost cap of 0 USD/)]);
    await world.knex('orchestrators').delete();
  });
});

describe('an A2A message is refused with', () => {
  it.each<[string, object, number, RegExp]>([
    ['no parts', { parts: [] }, -32602, /^message\.parts: must be 1 to 20 entries/],
    ['too many parts', { parts: Array(a2a.parts + 1).fill({ text: 'x' }) }, -32602, /^message\.parts/],
    [
      'a text that is too long',
      { parts: [{ text: 'x'.repeat(text.prompt.max + 1) }] },
      -32602,
      /at most 20000 characters/,
    ],
    ['a text of spaces', { parts: [{ text: '  ' }] }, -32602, /must have a text/],
    ['a file', { parts: [{ raw: 'AAAA', mediaType: 'image/png' }] }, -32005, /Only text and data/],
    ['a linked file', { parts: [{ url: 'https://example.com/x.png' }] }, -32005, /Only text and data/],
    ['no message id', { messageId: '' }, -32602, /^message\.messageId: must be at least 1/],
    ['a long context id', { contextId: 'x'.repeat(201) }, -32602, /^message\.contextId: must be at most 200/],
    ['an unknown agent', { metadata: { agentId: 'agn_none' } }, -32602, /^No such agent/],
    [
      'a member of another type',
      { metadata: { projectId: 7 } },
      -32602,
      /^message\.metadata\.projectId: must be a string/,
    ],
    ['a NUL character', { parts: [{ text: 'a\0b' }] }, -32602, /NUL/],
  ])('%s', async (_, more, code, words) => {
    const before = await world.knex('runs').count().first();
    expect(await caught(send('Do it', more))).toEqual([code, expect.stringMatching(words)]);
    expect(await world.knex('runs').count().first()).toEqual(before);
  });

  it('a lone surrogate, which is not Unicode text', async () => {
    const params = { message: message('Do it') };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }).replace('Do it', '\\ud800');
    const answer = await world.request('POST', '/a2a', { token: alice, body, headers: { 'a2a-version': '1.0' } });
    expect([answer.status, answer.body.description]).toEqual([400, expect.stringContaining('lone surrogate')]);
  });
});

interface Pushed {
  headers: IncomingHttpHeaders;
  body: string;
}

describe('push notifications', () => {
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

  it('report each change of the state once, signed, with the token and the credentials of the receiver', async () => {
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

  it('report that the task waits for its client, and that it continues', async () => {
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
    // Several wait: the status message has the position of the newest one.
    await askFor(4, 'third');
    const approve = (more: object) =>
      client.sendMessage(request(message('', { taskId: id, parts: [{ data: { approveToolCall: true, ...more } }] })));
    expect((await caught(approve({})))[1]).toContain('several questions wait');
    const { status } = await client.getTask({ id, tenant: '', historyLength: 0 });
    expect(status?.message?.metadata).toEqual({ sandboxId: place.sandboxId, seq: 4 });
    await approve(status!.message!.metadata!);
    expect((await decided()).map(({ fragmentSeq }) => fragmentSeq)).toEqual([2, 4]);
  });

  it('are configured with a message: once for repeated sends, and before anything starts', async () => {
    const one = message('Tell me too');
    const pushTo = (address: string) => ({ returnImmediately: true, taskPushNotificationConfig: { url: address } });
    const bad = request(one, pushTo('http://10.0.0.1/'));
    expect(await caught(client.sendMessage(bad))).toEqual([-32602, 'url: must be an https address of a public host.']);
    expect(await world.knex('runs').where({ missionTitle: 'Tell me too' }).first()).toBeUndefined();
    const task = (await client.sendMessage(request(one, pushTo(url)))) as Task;
    await client.sendMessage(request(one, pushTo(url)));
    expect((await configs(task.id)).map(({ id }) => id)).toEqual([one.messageId]);
  });

  it('are created, read, listed and deleted; secrets are not shown again', async () => {
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

  it('are retried when the receiver fails', async () => {
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

  it('end when the person who configured them has left the organization', async () => {
    const bob = await world.person('Bob');
    await world.join(acme, bob, 'member');
    const bobs = await connect(await world.token(bob, acme));
    const task = await send('Bob follows');
    await create(task.id, {}, bobs);
    await world.knex('memberships').where({ userId: bob.id }).delete();
    await cancel(task.id);
    await deliver();
    expect(about(task)).toBe(0);
  });

  it('go to public addresses only, and to a bounded number of them', async () => {
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
          'url: must be an https address of a public host.',
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

describe('version 0.3 of A2A', () => {
  const call = async (method: string, params: object) =>
    (await world.request('POST', '/a2a', { token: alice, body: { jsonrpc: '2.0', id: 'x', method, params } })).body;

  it('is supported for clients that send no version', async () => {
    const old = { kind: 'message', messageId: 'old-1', role: 'user', parts: [{ kind: 'text', text: 'The old way' }] };
    const { result } = await call('message/send', { message: old, configuration: { blocking: false } });
    expect(result).toMatchObject({ kind: 'task', id: expect.stringMatching(/^run_/), status: { state: 'submitted' } });
    expect((await call('tasks/get', { id: result.id })).result.status.state).toBe('submitted');
    expect((await call('tasks/cancel', { id: result.id })).result.status.state).toBe('canceled');
    expect((await call('tasks/get', { id: 'run_none' })).error.code).toBe(-32001);
  });
});

/** Repeats `ask` until it has an answer, within the time limit of the test. */
async function until<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const found = await ask();
    if (found) return found;
  }
}
