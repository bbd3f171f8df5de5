// OpenCode: `opencode serve`, HTTP with basic authentication and server-sent events.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { maxEventBytes, startProcess } from '../isolation/process.ts';
import { logLine } from './fragments.ts';
import { openConnection } from './opencode-connection.ts';
import { opencodeEvents } from './opencode-events.ts';
import { callTimeoutMs, type Harness, hasShell, type Listener, type Task } from './port.ts';

export function opencode(task: Task, on: Listener): Harness {
  const { effort, instructions, schema, resume, server } = task;
  const [password, model] = [randomUUID(), modelOf(task.model)];
  const events = opencodeEvents(model.id, on);
  let [listening, absent]: [(port: number) => void, (why: Error) => void] = [() => {}, () => {}];
  const port = new Promise<number>((resolve, reject) => {
    [listening, absent] = [resolve, reject];
  });
  const process = startProcess(task, {
    program: task.program,
    args: ['serve', '--hostname', '127.0.0.1', '--port', String(server.port)],
    env: environmentFor(task, model, password),
    hasInput: false,
    maxLineBytes: maxEventBytes,
    out: (line) => {
      const [, at] = /listening on \S+:(\d+)/.exec(line) ?? [];
      return at ? listening(Number(at)) : on({ log: logLine(line) });
    },
    err: (line) => on({ log: logLine(line) }),
  });
  const { pid, ended, isRunning, end } = process;
  // A call that is sent before the server reports that it listens would be accepted, but never answered.
  const connected = port.then((at) => openConnection({ port: at, socket: server.socket }, password, task.cwd));

  async function send(text: string): Promise<'steered' | 'begun'> {
    const { call } = await connected;
    const wasWorking = events.sent();
    const turns = events.turns();
    const body = {
      model: { providerID: 'gateway', modelID: model.id },
      ...(instructions && { system: instructions }),
      ...(schema && { format: { type: 'json_schema', schema } }),
      ...(effort && { variant: effort }),
      parts: [{ type: 'text', text }],
    };
    await call('POST', `/session/${events.session()}/prompt_async`, body);
    // If the turn ended during the call, the message begins another turn.
    if (!wasWorking || events.turns() === turns) return wasWorking ? 'steered' : 'begun';
    events.sent();
    return 'begun';
  }

  async function open(): Promise<void> {
    const { call, listen } = await connected;
    await listen(events.take);
    // Sets a title, because OpenCode would otherwise ask a model for one.
    await events.begin(resume ?? (await call('POST', '/session', { title: 'mission' })).id);
    await send(task.prompt);
  }

  const ready = open();
  ready.catch((error) => events.gone(error.message));
  process.silent.then((why) => {
    const error = process.errors() || why || 'The harness ended before its turn was over.';
    absent(new Error(error));
    return Promise.all([events.gone(error), connected.then(({ close }) => close())]).catch(() => {});
  }, absent);
  const interrupt = () => connected.then(({ call }) => abort(call, events));
  return { pid, ready, ended, isRunning, end, send, interrupt };
}

async function abort(
  call: Awaited<ReturnType<typeof openConnection>>['call'],
  events: ReturnType<typeof opencodeEvents>,
): Promise<void> {
  events.interrupted();
  await call('POST', `/session/${events.session()}/abort`);
}

interface Model {
  id: string;
  /** Name of a bundled package for the provider. */
  provider: string;
  route: 'anthropic' | 'openai';
}

/** The API for a model: Messages for Anthropic and `messages/…`, Responses for OpenAI, Chat Completions for `compatible/…`. */
function modelOf(name: string): Model {
  if (name.startsWith('compatible/')) {
    return { id: name.slice('compatible/'.length), provider: '@ai-sdk/openai-compatible', route: 'openai' };
  }
  if (name.startsWith('messages/')) {
    return { id: name.slice('messages/'.length), provider: '@ai-sdk/anthropic', route: 'anthropic' };
  }
  const route = name.startsWith('claude') ? 'anthropic' : 'openai';
  return { id: name, provider: `@ai-sdk/${route}`, route };
}

function environmentFor(task: Task, { id, provider, route }: Model, password: string) {
  const { home, gateway, mcp, readOnly } = task;
  const at = (name: string) => path.join(home, name);
  const timeouts = { timeout: false, headerTimeout: false };
  const options = { baseURL: `${gateway.url}/${route}/v1`, apiKey: '{env:GATEWAY_KEY}', ...timeouts };
  const known = { name: id, tool_call: true, reasoning: true, limit: { context: 200_000, output: 32_000 } };
  const headers = { Authorization: 'Bearer {env:GATEWAY_KEY}' };
  const servers = Object.entries(mcp).map(([server, url]) => [
    server,
    { type: 'remote', url, enabled: true, oauth: false, headers, timeout: callTimeoutMs },
  ]);
  const config = {
    autoupdate: false,
    share: 'disabled',
    // Otherwise OpenCode would copy the checkout before each call of the model, for its own `undo`.
    snapshot: false,
    enabled_providers: ['gateway'],
    model: `gateway/${id}`,
    small_model: `gateway/${id}`,
    provider: { gateway: { npm: provider, name: 'Gateway', options, models: { [id]: known } } },
    permission: {
      ...{ edit: readOnly ? 'deny' : 'allow', bash: hasShell(task) ? 'allow' : 'deny' },
      ...{ webfetch: 'deny', websearch: 'deny', question: 'deny' },
      // The runtime isolates the mission, which has its own `/tmp` and system files.
      external_directory: task.isIsolated ? 'allow' : 'deny',
    },
    mcp: Object.fromEntries(servers),
  };
  return {
    HOME: home,
    TMPDIR: at('tmp'),
    XDG_CONFIG_HOME: at('.config'),
    XDG_DATA_HOME: at('.local/share'),
    XDG_CACHE_HOME: at('.cache'),
    XDG_STATE_HOME: at('.local/state'),
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_SERVER_PASSWORD: password,
    GATEWAY_KEY: gateway.key,
    // Each of these variables turns off connections to other hosts.
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_PROJECT_CONFIG: '1',
    npm_config_offline: 'true',
  };
}
