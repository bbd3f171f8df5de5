// Questions of agents to people through the gateway, decisions about tool calls, and the time spent waiting for people.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Fragment } from '../../src/runner/contract.ts';
import type { Json } from '../../src/runner/harness/fragments.ts';
import { type Gateway, openGateway } from '../../src/runner/protocol/gateway.ts';
import { peopleServer } from '../../src/runner/protocol/people-server.ts';
import { maxQuestions, openQuestions } from '../../src/runner/protocol/questions.ts';
import { timeUp } from '../../src/runner/step-time.ts';
import { createMask } from '../../src/runner/text.ts';

const called: { headers: Record<string, unknown>; body: Json }[] = [];
const platform = createServer(async (request, response) => {
  let text = '';
  for await (const piece of request) text += piece;
  const body = JSON.parse(text);
  called.push({ headers: request.headers, body });
  const answer = JSON.stringify({
    jsonrpc: '2.0',
    id: body.id,
    result: { content: [{ type: 'text', text: 'deployed' }] },
  });
  if (body.params.arguments.stream) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`event: message\ndata: ${answer}\n\n`);
  } else response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
});
const mask = createMask(['the-value']);
const shown: Fragment[] = [];
const waiting = new Set<string>();
const questions = openQuestions('run', waiting);
let gateway: Gateway;
beforeAll(async () => {
  await new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
  const approval = { questions, server: 'ci', isNeeded: async (tool: string) => tool === 'deploy', mask };
  const ci = { base, headers: { 'x-lease-id': 'lease' }, approval };
  gateway = await openGateway(
    { anthropic: null, openai: null, mcp: { people: { own: peopleServer(questions) }, ci } },
    null,
  );
  questions.begin({ show: (fragment) => void shown.push(fragment) });
});
afterAll(async () => {
  await gateway.close();
  platform.close();
});
beforeEach(() => {
  shown.length = called.length = 0;
});

const post = (server: string, message: object, signal?: AbortSignal) =>
  fetch(`http://127.0.0.1:${gateway.port}/mcp/${server}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, ...message }),
    ...(signal && { signal }),
  });
/** The last message of the answer, which may be a stream. */
async function ask(server: string, name: string, args: object, signal?: AbortSignal): Promise<Json> {
  const response = await post(server, { method: 'tools/call', params: { name, arguments: args } }, signal);
  const text = await response.text();
  return JSON.parse(text.startsWith('event:') ? text.split('data: ').at(-1)! : text);
}
const asked = () => vi.waitUntil(() => shown.find(({ kind }) => kind === 'elicitation'));
const from = { messageId: 'm', author: 'Alice' };
const wordsOf = ({ result }: Json) => [result.content[0].text, result.isError ?? false];

it('the server for questions offers one tool, and a person answers the question of an agent', async () => {
  const list = await (await post('people', { method: 'tools/list' })).json();
  expect(list.result.tools.map(({ name }: Json) => name)).toEqual(['ask_person']);
  const answer = ask('people', 'ask_person', { question: 'Which?', choices: ['A', 'B'] });
  const { toolUseId, ...question } = await asked();
  expect(question).toEqual({ kind: 'elicitation', body: 'Which?', choices: ['A', 'B'] });
  expect([questions.oldest(), [...waiting]]).toEqual(['Which?', ['run']]);
  const message = { ...from, messageId: 'm1', text: 'B', questionId: toolUseId!, approved: null };
  expect(questions.take(message)).toEqual({ used: true });
  expect(wordsOf(await answer)).toEqual(['Alice answers: B', false]);
  // A repeated delivery of the answer is not a message to the agent.
  expect(questions.take(message)).toEqual({ used: true });
  expect(shown.at(-1)).toMatchObject({ kind: 'action', toolUseId, result: 'Alice: B', failed: false });
  expect(waiting.size).toBe(0);
});

it('a message to an agent answers its open question; without an open question it goes to the agent', async () => {
  const answer = ask('people', 'ask_person', { question: 'Which?' });
  await asked();
  const message = { ...from, messageId: 'm2', text: 'Neither', questionId: null, approved: null };
  expect(questions.take(message)).toEqual({ used: true });
  expect(wordsOf(await answer)).toEqual(['Alice answers: Neither', false]);
  expect(questions.take({ ...message, messageId: 'm3' })).toBeNull();
  expect(questions.take({ ...message, messageId: 'm4', questionId: 'of another step' })).toBeNull();
  expect(questions.take({ ...message, messageId: 'm5', questionId: 'of another step', approved: true })).toEqual({
    used: true,
  });
});

it('a message to an agent answers all its open questions, whose number is limited', async () => {
  const answers = Array.from({ length: maxQuestions }, (_, n) => ask('people', 'ask_person', { question: `${n}?` }));
  await vi.waitUntil(() => shown.length === maxQuestions);
  const { error } = await ask('people', 'ask_person', { question: 'Another?' });
  expect(error.message).toBe('At most 10 questions can be open at the same time.');
  questions.take({ ...from, messageId: 'm8', text: 'As you like', questionId: null, approved: null });
  for (const answer of answers) expect(wordsOf(await answer)).toEqual(['Alice answers: As you like', false]);
  expect(questions.oldest()).toBeNull();
});

it('a question of an agent ends when the agent disconnects', async () => {
  const left = new AbortController();
  const answer = ask('people', 'ask_person', { question: 'Still there?' }, left.signal);
  await asked();
  left.abort();
  await expect(answer).rejects.toThrow();
  await vi.waitUntil(() => questions.oldest() === null);
  expect(shown.at(-1)).toMatchObject({ kind: 'action', result: 'The agent no longer waits.', failed: true });
});

it.each([
  [{}, 'question: must be a text of 1 to 4000 characters.'],
  [{ question: 'x'.repeat(4_001) }, 'question: must be a text of 1 to 4000 characters.'],
  [{ question: 'Q', choices: [] }, 'choices: must be at most 4 texts.'],
  [{ question: 'Q', choices: ['a', 'b', 'c', 'd', 'e'] }, 'choices: must be at most 4 texts.'],
])('a question with the arguments %j is refused', async (args, words) => {
  expect(wordsOf(await ask('people', 'ask_person', args))).toEqual([words, true]);
  expect(shown).toEqual([]);
});

it.each([{ to: 'live' }, { to: 'live', stream: true }])(
  'a tool that needs approval is called after a person has approved the call: %j',
  async (args) => {
    const answer = ask('ci', 'deploy', args);
    const { toolUseId, ...question } = await asked();
    const body = 'May I call deploy of the MCP server ci?';
    expect(question).toEqual({ kind: 'elicitation', body, action: 'ci.deploy', parameter: JSON.stringify(args) });
    // A message of a person is not a decision about the call.
    expect(questions.take({ ...from, messageId: 'm6', text: 'Yes', questionId: null, approved: null })).toBeNull();
    expect(called).toEqual([]);
    const approval = { ...from, messageId: `approve ${toolUseId}`, text: '', questionId: toolUseId!, approved: true };
    // The answer is not marked as used, because the platform consumes the approval when the call is made.
    expect(questions.take(approval)).toEqual({ used: false });
    expect(wordsOf(await answer)).toEqual(['deployed', false]);
    expect(called).toMatchObject([{ headers: { 'x-question-id': toolUseId, 'x-lease-id': 'lease' }, body: { id: 7 } }]);
  },
);

it('a call that a person denies is not made, and the agent reads the reason; other tools are called at once', async () => {
  const answer = ask('ci', 'deploy', {});
  const { toolUseId } = await asked();
  questions.take({ ...from, messageId: 'm7', text: 'Not on a Friday', questionId: toolUseId!, approved: false });
  expect(wordsOf(await answer)).toEqual(['Alice denied this call: Not on a Friday', true]);
  expect(called).toEqual([]);
  expect(wordsOf(await ask('ci', 'build', {}))).toEqual(['deployed', false]);
  expect(wordsOf(await ask('ci', 'deploy', { text: 'x'.repeat(16_384) }))).toEqual([
    'This tool needs approval by a person, who can be shown at most 16384 characters of arguments.',
    true,
  ]);
  expect(wordsOf(await ask('ci', 'deploy', { token: 'the-value' }))).toEqual([
    'This tool needs approval by a person, who cannot be shown these arguments, because they contain a secret.',
    true,
  ]);
});

it('the time limit of a step is paused while the step waits for a person’s answer, which has a time limit of its own', async () => {
  const { signal } = new AbortController();
  const waiting = { oldest: () => 'Which?', waitedMs: () => performance.now() };
  expect(await timeUp(1, 40, waiting, signal)).toBe('Nobody answered within 40 milliseconds: Which?');
  expect(await timeUp(1, 40, questions, signal)).toBe('The step has reached its time limit of 1 millisecond.');
  expect(await timeUp(20, 40, null, signal)).toBe('The step has reached its time limit of 20 milliseconds.');
});

it('an agent that calls its model while a question is open counts as running, and its time limit is not paused', async () => {
  const left = new AbortController();
  const places = new Set<string>();
  const own = openQuestions('run', places, 30);
  const endFirst = own.modelCalled();
  const asking = own.ask({ body: 'Which?' }, left.signal);
  expect(places.size).toBe(0);
  // The model call that led to the question has now ended, so the agent only waits for the answer.
  endFirst();
  expect([...places]).toEqual(['run']);
  await vi.waitUntil(() => own.waitedMs() > 0);
  const endSecond = own.modelCalled();
  const before = own.waitedMs();
  expect(places.size).toBe(0);
  const reached = 'The step has reached its time limit of 20 milliseconds.';
  expect(await timeUp(20, 60_000, own, left.signal)).toBe(reached);
  expect(own.waitedMs()).toBe(before);
  endSecond();
  expect(places.size).toBe(0);
  await vi.waitUntil(() => places.has('run'));
  left.abort();
  expect([await asking, places.size]).toEqual([null, 0]);
});

it('an agent whose model call waits for a higher limit does not count as running; its time limit is paused, and its wait is limited', async () => {
  const { signal } = new AbortController();
  const places = new Set<string>();
  const own = openQuestions('run', places, 30);
  const endCall = own.modelCalled();
  const endWait = own.modelCallParked();
  expect([...places]).toEqual(['run']);
  expect(await timeUp(1, 40, own, signal)).toBe(
    'Nobody answered within 40 milliseconds: A model call waits for a higher limit.',
  );
  // While another call of the agent is in progress, the agent counts as running.
  const endOther = own.modelCalled();
  expect(places.size).toBe(0);
  endOther();
  expect(places.size).toBe(1);
  endWait();
  const before = own.waitedMs();
  const reached = 'The step has reached its time limit of 20 milliseconds.';
  expect(await timeUp(20, 60_000, own, signal)).toBe(reached);
  expect([places.size, own.waitedMs()]).toEqual([0, before]);
  endCall();
});

it('model calls through the gateway are counted, and an approved tool call is aborted when its agent goes away', async () => {
  const called: string[] = [];
  const hanging = createServer((request, response) => {
    request.resume();
    called.push('begun');
    response.once('close', () => called.push('ended'));
  });
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
  const approval = { questions, server: 'ci', isNeeded: async () => true, mask };
  const upstreams = { anthropic: { base, headers: {} }, openai: null, mcp: { ci: { base, headers: {}, approval } } };
  const counted: string[] = [];
  const other = await openGateway(upstreams, null, null, () => {
    counted.push('begun');
    return () => void counted.push('ended');
  });
  const left = new AbortController();
  const send = (path: string, body: object) =>
    fetch(`http://127.0.0.1:${other.port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${other.key}` },
      body: JSON.stringify(body),
      signal: left.signal,
    })
      .then((response) => response.text())
      .catch(() => 'left');
  const model = send('/anthropic/v1/messages', {});
  const tool = send('/mcp/ci', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'deploy' } });
  const { toolUseId } = await asked();
  questions.take({ ...from, messageId: 'm9', text: '', questionId: toolUseId!, approved: true });
  await vi.waitUntil(() => called.length === 2);
  expect(counted).toEqual(['begun']);
  left.abort();
  expect(await Promise.all([model, tool])).toEqual(['left', 'left']);
  await vi.waitUntil(() => called.length === 4);
  expect(counted).toEqual(['begun', 'ended']);
  await other.close();
  hanging.close();
});
