// Tasks over A2A, as its clients use them: messages, streams, lists, cancellation, permissions and budgets.
import {
  type AgentCard,
  type StreamResponse,
  SubscribeToTaskRequest,
  type Task,
  TaskState,
  verifyAgentCardSignature,
} from '@a2a-js/sdk';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { seconds } from '#foundation/clock.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { subscriptions, text } from '#limits.ts';
import { a2a } from '#surfaces/a2a/bounds.ts';
import { caught, openA2aWorld, request } from '../support/a2a-world.ts';
import { createProject } from '../support/callers.ts';
import type { Held } from '../support/runtime-client.ts';
import { present } from '../support/world.ts';

const {
  world,
  owner,
  acme,
  alice,
  runtime,
  projectId,
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

const kindOf = ({ payload }: StreamResponse) => payload?.$case;
const stateOf = ({ payload }: StreamResponse) =>
  payload?.$case === 'statusUpdate' || payload?.$case === 'task' ? payload.value.status?.state : undefined;

describe('A2A discovery', () => {
  it('the A2A agent card is signed with a published key, and lists the offered skills', async () => {
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

describe('A2A messages', () => {
  it('an A2A message starts a mission that a runtime completes', async () => {
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

  it('an A2A message that asks to wait is answered when its task ends', async () => {
    const waiting = client.sendMessage(request(message('Wait for it'), {})) as Promise<Task>;
    const held = await until(claim);
    await runtime.finish(held);
    expect((await waiting).status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('repeated and concurrent sends of one A2A message start one mission', async () => {
    const one = message('Only once');
    const tasks = await Promise.all([1, 2, 3].map(() => client.sendMessage(request(one)) as Promise<Task>));
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(1);
    expect(new Set(tasks.map(({ contextId }) => contextId)).size).toBe(1);
    expect(await world.knex('runs').where({ missionTitle: 'Only once' }).count().first()).toMatchObject({ count: 1 });
    const other = { ...one, parts: [{ text: 'Something else' }] };
    expect(await caught(client.sendMessage(request(other)))).toEqual([
      -32602,
      'messageId: was already used for a different message.',
    ]);
  });

  it('a repeated A2A message to a working task reaches the agent once, and is in the history of the task', async () => {
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

  it('an A2A message approves the plan of a task that waits for approval', async () => {
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
      'The run has no plan that is awaiting approval.',
    ]);
  });

  it('an A2A message to a finished task starts a new task in the same context', async () => {
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

  it('an A2A message starts a run of a scheduled task, and another one asks for the state of the run', async () => {
    const schedule = { interval: 'daily', time: '09:00', timezone: 'UTC' };
    const body = { projectId, name: 'Check', prompt: 'echo checked', triggers: [{ kind: 'schedule', schedule }] };
    const { id } = (await world.rest('POST', '/scheduled-tasks', { token: alice, body })).body;
    const task = await send('Run it', { metadata: { scheduledTaskId: id } });
    expect(task.metadata?.title).toBe('Check');
    expect(await claim()).toMatchObject({ runId: task.id, prompt: 'echo checked' });
    const answer = await client.sendMessage(request(message('How far?', { parts: [{ data: { runId: task.id } }] })));
    expect(answer).toMatchObject({ metadata: { status: 'running', runId: task.id }, referenceTaskIds: [task.id] });
  });

  it('an A2A message must name its project when the organization has several', async () => {
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

describe('A2A task streams', () => {
  const all = async (events: AsyncIterable<StreamResponse>, each: (event: StreamResponse) => unknown = () => {}) => {
    const found: StreamResponse[] = [];
    for await (const event of events) {
      found.push(event);
      await each(event);
    }
    return found;
  };

  it('a task stream reports the task, each of its states, and its end', async () => {
    let held: Held | undefined;
    const events = await all(client.sendMessageStream(request(message('Show me'))), async (event) => {
      if (stateOf(event) === TaskState.TASK_STATE_SUBMITTED && !held) held = await claim();
      else if (stateOf(event) === TaskState.TASK_STATE_WORKING) await runtime.finish(held!);
    });
    expect(kindOf(events[0]!)).toBe('task');
    expect(stateOf(events.at(-1)!)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(events.some((event) => stateOf(event) === TaskState.TASK_STATE_WORKING)).toBe(true);
  });

  it('a client can subscribe to a task of its organization until the task ends', async () => {
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

describe('A2A task streams of one caller', () => {
  const open = async (token: string, id: string, signal: AbortSignal) =>
    fetch(`${world.url}/a2a`, {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } }),
    });

  it('429 · a credential has a limited number of open task streams; a closed stream no longer counts', async () => {
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

  it('a task stream ends when the credential of its reader is revoked', async () => {
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
  it('tasks are listed by page and by state, newest first', async () => {
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

  it('canceling a canceled task changes nothing, and a completed task cannot be canceled', async () => {
    const task = await send('Stop me');
    expect((await cancel(task.id)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect((await cancel(task.id)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const other = await send('Too late');
    await runtime.finish(await claim());
    expect((await caught(cancel(other.id)))[0]).toBe(-32002);
  });

  it('a task is not found for another organization', async () => {
    const task = await send('Ours');
    for (const ask of [() => get(task.id, {}, stranger), () => cancel(task.id, stranger), () => get('run_none')]) {
      expect((await caught(ask()))[0]).toBe(-32001);
    }
    expect((await caught(send('x', { taskId: task.id }, stranger)))[0]).toBe(-32001);
    expect(await caught(send('x', { metadata: { projectId } }, stranger))).toEqual([-32602, 'No such project.']);
    expect((await get(task.id)).status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
  });

  it('a task shows the artifacts of its run only to callers who may read artifacts', async () => {
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

describe('Permissions and budgets of A2A clients', () => {
  it('403 · a call without the needed scope is refused with a challenge that names the scope', async () => {
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

  it('an A2A message is refused with the reason when the daily cost cap is used up', async () => {
    await world.knex('orchestrators').insert({ orgId: acme.id, dailyCostCapUsd: 0, updatedAt: present() });
    expect(await caught(send('Too dear'))).toEqual([-32000, expect.stringMatching(/^The daily cost cap of 0 USD/)]);
    await world.knex('orchestrators').delete();
  });
});

describe('Invalid A2A messages', () => {
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
  ])('an A2A message with %s is refused, and starts no run', async (_, more, code, words) => {
    const before = await world.knex('runs').count().first();
    expect(await caught(send('Do it', more))).toEqual([code, expect.stringMatching(words)]);
    expect(await world.knex('runs').count().first()).toEqual(before);
  });

  it('an A2A message with a lone surrogate is refused, because that is not Unicode text', async () => {
    const params = { message: message('Do it') };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }).replace('Do it', '\\ud800');
    const answer = await world.request('POST', '/a2a', { token: alice, body, headers: { 'a2a-version': '1.0' } });
    expect([answer.status, answer.body.description]).toEqual([400, expect.stringContaining('lone surrogate')]);
  });
});

describe('A2A version 0.3', () => {
  const call = async (method: string, params: object) =>
    (await world.request('POST', '/a2a', { token: alice, body: { jsonrpc: '2.0', id: 'x', method, params } })).body;

  it('a client that sends no A2A version is served in version 0.3', async () => {
    const old = { kind: 'message', messageId: 'old-1', role: 'user', parts: [{ kind: 'text', text: 'The old way' }] };
    const { result } = await call('message/send', { message: old, configuration: { blocking: false } });
    expect(result).toMatchObject({ kind: 'task', id: expect.stringMatching(/^run_/), status: { state: 'submitted' } });
    expect((await call('tasks/get', { id: result.id })).result.status.state).toBe('submitted');
    expect((await call('tasks/cancel', { id: result.id })).result.status.state).toBe('canceled');
    expect((await call('tasks/get', { id: 'run_none' })).error.code).toBe(-32001);
  });
});

/** Repeats `ask` until it has a result, within the time limit of the test. */
async function until<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const found = await ask();
    if (found) return found;
  }
}
