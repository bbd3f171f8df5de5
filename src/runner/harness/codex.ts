// Codex: `codex app-server`, line-delimited JSON-RPC on its standard input and output.
import path from 'node:path';
import { maxEventBytes, startProcess } from '../isolation/process.ts';
import { codexEvents } from './codex-events.ts';
import { logLine } from './fragments.ts';
import { jsonRpc } from './json-rpc.ts';
import { callTimeoutMs, type Harness, hasShell, type Listener, type Task } from './port.ts';

/** Refuses requests from Codex that a person would have to answer: approvals and inputs. */
const refuseQuestion = () => Promise.reject(new Error('No person is available to answer requests from Codex.'));

export function codex(task: Task, on: Listener): Harness {
  const { effort, schema } = task;
  const events = codexEvents(task, on);
  let thread = '';
  const write = (message: object) => process.write(JSON.stringify(message));
  const { call, receive, rejectAll } = jsonRpc({ write, notified: events.take, asked: refuseQuestion }, on);
  const process = startProcess(task, {
    program: task.program,
    args: ['app-server', ...settingsFor(task)],
    env: environmentFor(task),
    hasInput: true,
    maxLineBytes: maxEventBytes,
    out: receive,
    err: (line) => on({ log: logLine(line) }),
  });
  const { pid, ended, isRunning, end } = process;

  async function begin(text: string): Promise<'begun'> {
    const more = { ...(effort && { effort }), ...(schema && { outputSchema: schema }) };
    events.begun();
    await call('turn/start', { threadId: thread, input: input(text), ...more });
    return 'begun';
  }
  async function send(text: string): Promise<'steered' | 'begun'> {
    const turn = events.turn();
    if (!turn) return begin(text);
    // Steering fails when the turn has just ended; the text then begins another turn.
    const steered = call('turn/steer', { threadId: thread, expectedTurnId: turn, input: input(text) });
    return steered.then(
      () => 'steered',
      (error) => (events.turn() === turn ? Promise.reject(error) : begin(text)),
    );
  }

  async function open(): Promise<void> {
    await call('initialize', { clientInfo: { name: 'runtime', title: null, version: '1' }, capabilities: null });
    write({ method: 'initialized' });
    const opened = await call(...openingOf(task));
    thread = opened.thread.id;
    await on({ session: thread });
    await begin(task.prompt);
  }

  const ready = open();
  ready.catch((error) => events.gone(error.message));
  process.silent.then(
    async (why) => {
      const error = process.errors() || why || 'The harness ended before its turn was over.';
      rejectAll(error);
      await events.gone(error);
    },
    () => {},
  );
  const interrupt = async () => {
    const turnId = events.turn();
    if (turnId) await call('turn/interrupt', { threadId: thread, turnId });
  };
  return { pid, ready, ended, isRunning, end, send, interrupt };
}

const input = (text: string) => [{ type: 'text', text, text_elements: [] }];

/** The request that starts the task's thread in Codex, or resumes it. */
function openingOf(task: Task): [method: string, params: object] {
  const { cwd, model, instructions, resume } = task;
  // The isolation is the runtime's. Codex's own sandbox cannot be created within a cell or a container, and
  // keeps .git read-only, so that nothing could be committed.
  const sandbox = hasShell(task) ? 'danger-full-access' : 'read-only';
  const setting = { cwd, model, approvalPolicy: 'never', sandbox };
  const parameters = { ...setting, ...(instructions && { developerInstructions: instructions }) };
  return resume ? ['thread/resume', { threadId: resume, ...parameters }] : ['thread/start', parameters];
}

/** Settings are passed on the command line, because the agent could change settings in a file. */
function settingsFor({ gateway, model, mcp }: Task): string[] {
  const text = JSON.stringify;
  const provider = 'model_providers.gateway';
  const settings = [
    `model=${text(model)}`,
    'model_provider="gateway"',
    'check_for_update_on_startup=false',
    'web_search="disabled"',
    `${provider}.name="Gateway"`,
    `${provider}.base_url=${text(`${gateway.url}/openai/v1`)}`,
    `${provider}.env_key="GATEWAY_KEY"`,
    `${provider}.wire_api="responses"`,
    'analytics.enabled=false',
    'tools.update_plan.enabled=true',
    // Each of these features would connect to other hosts when Codex starts.
    ...['plugins', 'apps', 'remote_plugin', 'tool_suggest'].map((feature) => `features.${feature}=false`),
  ];
  for (const [name, url] of Object.entries(mcp)) {
    const server = `mcp_servers.${name}`;
    settings.push(`${server}.url=${text(url)}`, `${server}.bearer_token_env_var="GATEWAY_KEY"`);
    // Codex would otherwise ask a person before each call of a tool when its own sandbox is read-only.
    settings.push(
      `${server}.default_tools_approval_mode="approve"`,
      `${server}.tool_timeout_sec=${callTimeoutMs / 1_000}`,
    );
  }
  return settings.flatMap((setting) => ['-c', setting]);
}

// CODEX_HOME is outside of TMPDIR, because Codex creates no helper programs if its home is in the folder for temporary files.
const environmentFor = ({ home, gateway }: Task): Record<string, string> => ({
  HOME: home,
  TMPDIR: path.join(home, 'tmp'),
  CODEX_HOME: path.join(home, '.codex'),
  GATEWAY_KEY: gateway.key,
});
