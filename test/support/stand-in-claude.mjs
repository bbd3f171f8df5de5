#!/usr/bin/env node
// A stand-in for Claude Code that speaks its protocol and calls its model once a turn, through the gateway. Its prompt controls it:
// `[stall]` calls no model and does not end; `[run]` executes the rest as a command; `[once:FILE]` applies the rest only while FILE
// is missing; `[commit]` commits a change; `[draft]` leaves one uncommitted; `[look]` prints its folder; `[told]` prints its system
// prompt; `[plan]` and `[half]` show a plan; `[ask]` asks a person; `[use:SERVER]` names the tools
// of an MCP server and `[use:SERVER.TOOL JSON]` calls one; `[wait]` waits for a message, an interruption or its end; otherwise it answers at once, in the requested shape.
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';

// The flag halves the cost of fetch, as in the runner.
setFlagsFromString('--wasm-tiering-budget=100000000');
const args = process.argv.slice(2);
if (args.includes('--version')) {
  console.log('2.1.330 (Claude Code)');
  process.exit(0);
}
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : null);
const { ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY, CLAUDE_CONFIG_DIR } = process.env;
const session = option('--resume') ?? randomUUID();
const schema = option('--json-schema') ?? '';
const tell = (event) => process.stdout.write(`${JSON.stringify({ ...event, session_id: session })}\n`);
const say = (text) =>
  tell({ type: 'assistant', message: { model: option('--model'), content: [{ type: 'text', text }] } });

/** Messages of the session, in Claude Code's file. */
const folder = path.join(CLAUDE_CONFIG_DIR, 'projects', process.cwd().replace(/[^a-zA-Z0-9]/g, '-'));
const conversation = path.join(folder, `${session}.jsonl`);
if (option('--resume') && !existsSync(conversation)) {
  console.error(`No conversation found with session ID: ${session}`);
  process.exit(1);
}
const remembered = () => readFileSync(conversation, 'utf8').trim().split('\n');

async function call() {
  const headers = { 'content-type': 'application/json', 'x-api-key': ANTHROPIC_API_KEY };
  const messages = [{ role: 'user', content: 'Say something.' }];
  const body = JSON.stringify({ model: option('--model'), messages });
  const answer = await fetch(`${ANTHROPIC_BASE_URL}/v1/messages`, { method: 'POST', headers, body });
  if (!answer.ok) return false;
  const { id, model, usage } = await answer.json();
  tell({ type: 'stream_event', event: { type: 'message_start', message: { id, model, usage } } });
  tell({ type: 'stream_event', event: { type: 'message_stop' } });
  return true;
}

const plan = (...statuses) => {
  const todos = statuses.map((status, i) => ({ content: ['Measure', 'Repair'][i], status }));
  const content = [{ type: 'tool_use', id: randomUUID(), name: 'TodoWrite', input: { todos } }];
  tell({ type: 'assistant', message: { model: option('--model'), content } });
};

/** Sends a request to an MCP server, and returns the answer. */
async function toServer(server, method, params) {
  const url = JSON.parse(option('--mcp-config')).mcpServers[server]?.url;
  if (!url) return { error: { message: `there is no ${server}` } };
  const accept = 'application/json, text/event-stream';
  const authorization = `Bearer ${process.env.GATEWAY_KEY}`;
  const headers = { accept, 'content-type': 'application/json', authorization };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const answer = await (await fetch(url, { method: 'POST', headers, body })).text();
  return JSON.parse(answer.split('data: ').at(-1));
}
async function use(server, name, args) {
  const { result, error } = await toServer(server, 'tools/call', { name, arguments: args });
  return error ? `error: ${error.message}` : result.content[0].text;
}

/** Asks a person with the tool of the runner, and returns the answer. */
const ask = () => use('people', 'ask_person', { question: 'Which colour?', choices: ['Red', 'Blue'] });

/** Output of the role; a reviewer requests changes the first time. */
function output() {
  if (schema.includes('steps')) return { steps: ['Do it', 'Commit it'] };
  if (schema.includes('passed')) return { passed: true, findings: [] };
  const seen = path.join(CLAUDE_CONFIG_DIR, '..', 'reviewed');
  const isFirst = !existsSync(seen);
  writeFileSync(seen, '');
  const comments = isFirst ? [{ path: 'a.txt', line: 1, body: 'A typo.' }] : [];
  return { verdict: isFirst ? 'request_changes' : 'approve', comments };
}

/** The prompt without the parts that run only once and have run. */
function spoken(text) {
  const [, mark, rest] = /\[once:([^\]]+)\]([\s\S]*)/.exec(text) ?? [];
  if (!mark) return text;
  if (existsSync(mark)) return 'again';
  writeFileSync(mark, '');
  return rest;
}

const end = (more) => tell({ type: 'result', subtype: 'success', is_error: false, usage: {}, ...more });
let isWaiting = false;
async function take({ type, message }) {
  if (type === 'control_request') {
    isWaiting = false;
    return end({ is_error: true, terminal_reason: 'aborted_tools' });
  }
  const text = spoken(message.content[0].text);
  if (!isWaiting) tell({ type: 'system', subtype: 'init' });
  tell({ type: 'user', isReplay: true, message });
  if (text.includes('[stall]')) await new Promise(() => {});
  if (!(await call())) return end({ is_error: true, result: 'API Error' });
  const [, command] = /\[run\]\n([\s\S]*)/.exec(text) ?? [];
  if (command) await new Promise((resolve) => spawn('sh', ['-c', command], { stdio: 'ignore' }).on('exit', resolve));
  if (text.includes('[commit]')) execFileSync('sh', ['-c', 'echo new > a.txt && git commit -qam "Say new" || true']);
  // A session whose machine was lost is continued unchanged.
  const waited = text.startsWith('The machine that you worked on was lost') && remembered().at(-1).includes('[wait]');
  mkdirSync(folder, { recursive: true });
  appendFileSync(conversation, `${JSON.stringify({ text })}\n`);
  if (text.includes('[draft]')) execFileSync('sh', ['-c', 'echo draft > draft.txt; echo changed >> a.txt']);
  if (!option('--tools').split(',').includes('Edit')) say(`My tools: ${option('--tools')}`);
  if (text.includes('[told]')) say(`I was told: ${option('--append-system-prompt')}`);
  if (text.includes('[look]')) {
    const files = readdirSync('.').filter((name) => name !== '.git');
    const read = files.map((name) => `${name}=${readFileSync(name, 'utf8').trim().replaceAll('\n', '+')}`);
    say(`I see ${read.sort().join(' ')} after ${remembered().length} messages`);
  }
  if (text.includes('[ask]')) say(`I was answered: ${await ask()}`);
  for (const [, server, name, args] of text.matchAll(/\[use:([\w-]+)(?:\.(\w+) ([^\]]*))?\]/g)) {
    const listed = async () => (await toServer(server, 'tools/list')).result?.tools.map((tool) => tool.name).join(',');
    say(`${server}: ${name ? await use(server, name, JSON.parse(args)) : await listed()}`);
  }
  if (text.includes('[plan]')) plan('in_progress', 'pending');
  if (text.includes('[half]')) plan('completed', 'in_progress');
  isWaiting = waited || text.includes('[wait]');
  say(`I ${isWaiting ? 'wait' : 'heard'}: ${text} (${session})`);
  if (!isWaiting) end(schema ? { structured_output: output() } : { result: 'Done.' });
}
let chain = Promise.resolve();
createInterface({ input: process.stdin })
  .on('line', (line) => {
    chain = chain.then(() => take(JSON.parse(line)));
  })
  .on('close', () => chain.then(() => process.exit(0)));
