#!/usr/bin/env node
// A stand-in for a harness of the Agent Client Protocol, on the agent's side of its library. It calls the model at
// ANTHROPIC_BASE_URL until the model calls no more tools: `bash`, for which it asks permission, `edit`, `todowrite`, which is a
// plan, and those of MCP servers. It keeps its sessions in its home, and repeats the history of one that it loads. Arguments:
// `--no-http` and `--no-load` leave out a capability; `--auth` needs an authentication; `--models` has the model as an option of
// the session.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { agent, ndJsonStream, RequestError } from '@agentclientprotocol/sdk';

const has = (flag) => process.argv.includes(flag);
if (has('--version')) {
  console.log('stand-in 1.2.3');
  process.exit(0);
}
const { ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY, HOME, AEP_MODEL } = process.env;
const sessions = new Map();
const fileOf = (id) => path.join(HOME, `${id}.json`);
let isKnown = !has('--auth');
let model = has('--models') ? 'provider/default' : AEP_MODEL;

const optionsOf = () => {
  const options = ['provider/default', `provider/${AEP_MODEL}`].map((value) => ({ value, name: value }));
  const select = { id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: model, options };
  const effort = { id: 'effort', name: 'Effort', category: 'thought_level', type: 'select', currentValue: 'low' };
  return has('--models') ? { configOptions: [select, { ...effort, options: [{ value: 'low', name: 'Low' }] }] } : {};
};

async function open(id, servers, messages) {
  if (!isKnown) throw RequestError.authRequired();
  const tools = [{ name: 'bash' }, { name: 'edit' }, { name: 'todowrite' }];
  for (const { name, url, headers } of servers) {
    const call = async (method, params) => {
      const own = Object.fromEntries(headers.map((one) => [one.name, one.value]));
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const accept = 'application/json, text/event-stream';
      const sent = { method: 'POST', headers: { 'content-type': 'application/json', accept, ...own }, body };
      const answer = await (await fetch(url, sent)).text();
      return JSON.parse(answer.split('data: ').at(-1));
    };
    const { result } = await call('tools/list');
    tools.push(...result.tools.map((tool) => ({ name: `${name}_${tool.name}`, call, own: tool.name })));
  }
  sessions.set(id, { id, tools, messages, canceled: null });
}

const words = (text) => ({ type: 'text', text });

async function runTool(session, { name, input }, toolCallId, tell, ask) {
  const kind = { bash: 'execute', edit: 'edit' }[name] ?? 'other';
  if (name === 'todowrite') {
    const entries = input.todos.map(({ content, status, priority }) => ({ content, status, priority }));
    await tell({ sessionUpdate: 'plan', entries });
    return 'Noted.';
  }
  const title = name === 'bash' ? `Run ${input.command}` : name;
  // A call that needs a permission is described with the request for it.
  if (kind === 'other') await tell({ sessionUpdate: 'tool_call', toolCallId, title, kind, status: 'pending' });
  const end = async (status, text) => {
    await tell({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status,
      content: [{ type: 'content', content: words(text) }],
    });
    return text;
  };
  if (kind !== 'other') {
    const options = ['allow_always', 'allow_once', 'reject_once'].map((one) => ({
      optionId: one,
      name: one,
      kind: one,
    }));
    const { outcome } = await ask({ toolCall: { toolCallId, title, kind, rawInput: input }, options });
    if (outcome.optionId !== 'allow_once') return end('failed', `Permission: ${outcome.optionId ?? outcome.outcome}`);
  }
  await tell({
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: 'in_progress',
    ...(kind === 'other' && { rawInput: input }),
  });
  if (name === 'edit') {
    const file = input.path;
    writeFileSync(file, readFileSync(file, 'utf8').replace(input.oldString, input.newString));
    return end('completed', 'Edited.');
  }
  const tool = session.tools.find((one) => one.name === name);
  if (tool?.call) {
    const { result, error } = await tool.call('tools/call', { name: tool.own, arguments: input });
    return end(error || result.isError ? 'failed' : 'completed', error?.message ?? result.content[0].text);
  }
  const child = spawn('sh', ['-c', input.command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: session.canceled.signal,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
  const code = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  return end(code === 0 ? 'completed' : 'failed', output);
}

/** Calls the model with the tools until it answers. */
async function work(session, tell, ask) {
  const { signal } = session.canceled;
  for (;;) {
    const headers = { 'content-type': 'application/json', 'x-api-key': ANTHROPIC_API_KEY };
    const tools = session.tools.map(({ name }) => ({ name, input_schema: { type: 'object' } }));
    const asked = { model: model.replace('provider/', ''), max_tokens: 1_000, messages: session.messages, tools };
    const sent = { method: 'POST', headers, body: JSON.stringify(asked), signal };
    const answer = await fetch(`${ANTHROPIC_BASE_URL}/v1/messages`, sent);
    const { content, error } = await answer.json();
    if (error) throw RequestError.internalError({ details: error.message }, 'The model failed');
    session.messages.push({ role: 'assistant', content: content.filter(({ type }) => type !== 'thinking') });
    for (const { type, thinking, text = '' } of content) {
      if (type === 'thinking') await tell({ sessionUpdate: 'agent_thought_chunk', content: words(thinking) });
      for (const piece of text.match(/[\s\S]{1,5}/g) ?? [])
        await tell({ sessionUpdate: 'agent_message_chunk', content: words(piece) });
    }
    const calls = content.filter(({ type }) => type === 'tool_use');
    if (calls.length === 0) return;
    const results = [];
    for (const call of calls) {
      const output = await runTool(session, call, call.id, tell, ask);
      results.push({ type: 'tool_result', tool_use_id: call.id, content: output });
    }
    session.messages.push({ role: 'user', content: results });
  }
}

const load = ({ sessionId, mcpServers }) => {
  if (!existsSync(fileOf(sessionId))) throw RequestError.resourceNotFound(sessionId);
  return open(sessionId, mcpServers, JSON.parse(readFileSync(fileOf(sessionId), 'utf8')));
};
const app = agent({ name: 'stand-in' })
  .onRequest('initialize', () => ({
    protocolVersion: 1,
    agentInfo: { name: 'stand-in', version: '1.2.3' },
    agentCapabilities: { loadSession: !has('--no-load'), mcpCapabilities: { http: !has('--no-http'), sse: false } },
    authMethods: [{ id: 'key', name: 'Key' }],
  }))
  .onRequest('authenticate', ({ params }) => {
    isKnown = params.methodId === 'key';
    return {};
  })
  .onRequest('session/new', async ({ params }) => {
    const sessionId = randomUUID();
    await open(sessionId, params.mcpServers, []);
    return { sessionId, ...optionsOf() };
  })
  .onRequest('session/load', async ({ params, client }) => {
    await load(params);
    const { sessionId } = params;
    for (const content of [words('history')])
      await client.notify('session/update', { sessionId, update: { sessionUpdate: 'agent_message_chunk', content } });
    return optionsOf();
  })
  .onRequest('session/set_config_option', ({ params }) => {
    model = params.value;
    return { configOptions: optionsOf().configOptions };
  })
  .onRequest('session/prompt', async ({ params: { sessionId, prompt }, client }) => {
    const session = sessions.get(sessionId);
    session.canceled = new AbortController();
    session.messages.push({ role: 'user', content: prompt.map(({ text }) => text).join('\n') });
    const tell = (update) => client.notify('session/update', { sessionId, update });
    const ask = (more) => client.request('session/request_permission', { sessionId, ...more });
    try {
      await work(session, tell, ask);
      return { stopReason: 'end_turn' };
    } catch (error) {
      if (!session.canceled.signal.aborted) throw error;
      return { stopReason: 'cancelled' };
    } finally {
      writeFileSync(fileOf(sessionId), JSON.stringify(session.messages));
    }
  })
  .onNotification('session/cancel', ({ params }) => sessions.get(params.sessionId)?.canceled?.abort());
app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
process.stdin.on('close', () => process.exit(0));
