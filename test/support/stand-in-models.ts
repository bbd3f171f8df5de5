// A stand-in for vendors of models on loopback: Anthropic Messages, OpenAI Responses and Chat Completions, streamed or not. The
// prompt carries a script, so that the server keeps no state of sessions:
//
//   <script>[{"read":"a.txt"},{"edit":{"file":"a.txt","old":"x","new":"y"}},{"shell":"npm test"},{"say":"Done."}]</script>
//
// Only the script in the user's last message with a script counts. The number of tool calls after this message is the number of steps
// that are done. Each step names an action. The stand-in picks the tool that does this action from the tools that the request offers,
// and calls the tool. Further steps: {write: {file, content}},
// {plan: [{content, status}]}, {mcp: {tool, args}}, {json: {…}} (the answer in the shape that was asked for), {wait: ms},
// {use: {name, input}}; and steps of a model that misbehaves: {fail: {status, type, message, retryAfter?, times?}},
// {loop: step} (for ever), {characters: n} (an answer of that length), {breakOff: times} (a stream that stops half way),
// {broken: text} (a call of the shell whose arguments are this text instead of JSON).
// Each step may also have `think`.
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Json } from '../../src/runner/harness/fragments.ts';

const id = (prefix: string) => prefix + randomUUID().replaceAll('-', '').slice(0, 24);
const usage = { input: 1200, cached: 200, output: 50, reasoning: 10 };

/** The text of a message's content, in the format of any vendor. */
const textOf = (content: string | Json[] | null | undefined): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n');

/** A message of a request to the model; `role` is user, call or result. */
interface RequestMessage {
  role: string;
  text: string;
}

function stepOf(turns: RequestMessage[]): Json | null {
  const at = turns.findLastIndex(({ role, text }) => role === 'user' && /<script>[\s\S]*<\/script>/.test(text));
  if (at < 0) return null;
  const script = JSON.parse(/[\s\S]*<script>([\s\S]*?)<\/script>/.exec(turns[at]!.text)![1]!);
  const done = turns.slice(at).filter(({ role }) => role === 'call').length;
  const loop = script.slice(0, done + 1).find((step: Json) => 'loop' in step);
  return loop?.loop ?? script[done] ?? { say: 'Nothing is left to do.' };
}

const say = (text: string): Json => ({ text });

/**
 * Translates a step of the script to the model's response: {text} for a message, {name, input} for a call of an offered tool with JSON as
 * its input, and {name, free} for a call with free text as its input.
 */
function inWords(step: Json, tools: Json[], cwd = ''): Json {
  const names = tools.map(({ name }) => name);
  const first = (...wanted: string[]) => wanted.find((name) => names.includes(name));
  const abs = (file: string) => (cwd && !file.startsWith('/') ? `${cwd}/${file}` : file);
  if ('say' in step) return say(step.say);
  if ('characters' in step) return say('x'.repeat(step.characters));
  if ('breakOff' in step) return say('This is said half');
  if ('broken' in step) return { ...inWords({ shell: 'true' }, tools, cwd), raw: step.broken };
  if ('use' in step) return { name: step.use.name, input: step.use.input };
  // A language model in Codex's "code mode" is offered one tool, which runs JavaScript that calls the other tools.
  if (names.includes('exec') && !names.includes('exec_command') && !('json' in step)) {
    const nested = [{ name: 'exec_command' }, { name: 'apply_patch', free: true }, { name: 'update_plan' }];
    const inner = inWords(step, [...nested, ...(step.mcp ? [{ name: `mcp__platform__${step.mcp.tool}` }] : [])], cwd);
    if (!inner.name) return inner;
    return {
      name: 'exec',
      namespace: tools.find(({ name }) => name === 'exec')!.namespace,
      free: `text(await tools.${inner.name}(${JSON.stringify(inner.free ?? inner.input)}))`,
    };
  }
  if ('json' in step) {
    const name = first('StructuredOutput', 'choose_agents');
    return name ? { name, input: step.json } : say(JSON.stringify(step.json));
  }
  if ('mcp' in step) {
    const tool = tools.find(({ name, namespace }) =>
      name === step.mcp.tool ? namespace : name.endsWith(`_${step.mcp.tool}`),
    );
    if (!tool && names.includes('tool_search')) return { search: step.mcp.tool };
    return tool
      ? { name: tool.name, namespace: tool.namespace, input: step.mcp.args ?? {} }
      : say(`There is no tool ${step.mcp.tool} among ${names}.`);
  }
  if ('shell' in step) {
    const command = step.shell;
    const name = first('Bash', 'bash', 'exec_command', 'shell_command', 'shell', 'local_shell');
    if (name === 'exec_command') return { name, input: { cmd: command } };
    if (name === 'shell') return { name, input: { command: ['sh', '-c', command] } };
    if (name === 'shell_command') return { name, input: { command } };
    if (name) return { name, input: { command, description: 'Runs a command' } };
  }
  if ('read' in step) {
    const name = first('Read', 'read', 'read_file');
    if (name === 'Read') return { name, input: { file_path: abs(step.read) } };
    if (name === 'read') return { name, input: { filePath: abs(step.read), path: step.read } };
    if (name) return { name, input: { path: step.read } };
    return inWords({ shell: `cat ${step.read}` }, tools, cwd);
  }
  if ('edit' in step) {
    const { file, old, new: fresh } = step.edit;
    const name = first('Edit', 'edit');
    if (name === 'Edit') return { name, input: { file_path: abs(file), old_string: old, new_string: fresh } };
    if (name)
      return {
        name,
        input: {
          filePath: abs(file),
          oldString: old,
          newString: fresh,
          path: file,
          edits: [{ oldText: old, newText: fresh }],
        },
      };
    return patch(`*** Update File: ${file}\n@@\n${lines('-', old)}\n${lines('+', fresh)}`, tools, cwd);
  }
  if ('write' in step) {
    const { file, content } = step.write;
    const name = first('Write', 'write');
    if (name === 'Write') return { name, input: { file_path: abs(file), content } };
    if (name) return { name, input: { filePath: abs(file), path: file, content } };
    return patch(`*** Add File: ${file}\n${lines('+', content.replace(/\n$/, ''))}`, tools, cwd);
  }
  if ('plan' in step) {
    const name = first('TodoWrite', 'todowrite', 'update_plan', 'TaskCreate');
    if (name === 'update_plan')
      return { name, input: { plan: step.plan.map(({ content, status }: Json) => ({ step: content, status })) } };
    if (name === 'TaskCreate')
      return {
        name,
        input: { subject: step.plan[0].content, description: step.plan[0].content, activeForm: step.plan[0].content },
      };
    if (name)
      return {
        name,
        input: { todos: step.plan.map((item: Json) => ({ activeForm: item.content, priority: 'medium', ...item })) },
      };
  }
  // A model may call a tool that was not offered to it; the harness then refuses the call.
  return { name: 'Bash', input: step };
}
const lines = (mark: string, text: string) =>
  text
    .split('\n')
    .map((line) => mark + line)
    .join('\n');
function patch(body: string, tools: Json[], cwd: string): Json {
  const text = `*** Begin Patch\n${body}\n*** End Patch`;
  const tool = tools.find(({ name }) => name === 'apply_patch');
  if (tool)
    return tool.free
      ? { name: 'apply_patch', free: text }
      : { name: 'apply_patch', input: { input: text, patchText: text } };
  return inWords({ shell: `apply_patch <<'PATCH'\n${text}\nPATCH` }, tools, cwd);
}

/** Messages, tools and working directory of each vendor's request, in one form. */
interface Reading {
  turns: RequestMessage[];
  tools: Json[];
  said: string;
}
const readers: Record<string, (body: Json) => Reading> = {
  anthropic: ({ messages = [], tools = [], system }) => ({
    turns: messages.flatMap(({ role, content }: Json) => {
      if (typeof content === 'string') return [{ role, text: content }];
      const calls = content.filter(({ type }: Json) => type === 'tool_use').map(() => ({ role: 'call', text: '' }));
      // A message sent while a tool runs comes with the tool's result.
      const text = content
        .map((part: Json) => part.text ?? (part.type === 'tool_result' ? textOf(part.content) : ''))
        .join('\n')
        .trim();
      return [...(text ? [{ role, text }] : []), ...calls];
    }),
    tools: tools.map(({ name }: Json) => ({ name })),
    said: textOf(system) + messages.map(({ content }: Json) => textOf(content)).join('\n'),
  }),
  responses: ({ input = [], tools: offered = [], instructions = '' }) => {
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
    // Some tools are offered in items of the conversation: the tools of "code mode", and the tools that a search found.
    const tools = [
      ...offered,
      ...items
        .filter(({ type }: Json) => /^(additional_tools|tool_search_output)$/.test(type))
        .flatMap((item: Json) => item.tools),
    ];
    const role = (item: Json) =>
      item.type?.endsWith('_call') && item.type !== 'tool_search_call' ? 'call' : (item.role ?? 'result');
    const texts = items.map((item: Json) => ({ role: role(item), text: textOf(item.content) }));
    return {
      turns: texts,
      tools: tools.flatMap((tool: Json) =>
        tool.type === 'namespace'
          ? tool.tools.map(({ name, type }: Json) => ({ name, namespace: tool.name, free: type === 'custom' }))
          : [{ name: tool.name ?? tool.type, free: tool.type === 'custom' }],
      ),
      said: instructions + texts.map(({ text }: RequestMessage) => text).join('\n'),
    };
  },
  chat: ({ messages = [], tools = [] }) => ({
    turns: messages.flatMap(({ role, content, tool_calls }: Json) => [
      { role, text: textOf(content) },
      ...(tool_calls ?? []).map(() => ({ role: 'call', text: '' })),
    ]),
    tools: tools.map((tool: Json) => ({ name: tool.function.name })),
    said: messages.map(({ content }: Json) => textOf(content)).join('\n'),
  }),
};
/** The newest working directory in the text: a session that is resumed elsewhere names its new one in a later message. */
const cwdOf = (said: string) => [...said.matchAll(/(?:[Ww]orking directory:\s*|<cwd>)(\/[^\s<]*)/g)].at(-1)?.[1] ?? '';

function anthropic(response: ServerResponse, { model, stream }: Json, { text, name, input, raw, think }: Json): void {
  const blocks: Json[] = [];
  if (think) blocks.push({ type: 'thinking', thinking: think, signature: 'c3RhbmQtaW4=' });
  if (text !== undefined) blocks.push({ type: 'text', text });
  if (name) blocks.push({ type: 'tool_use', id: id('toolu_'), name, input, ...(raw && { raw }) });
  const used = {
    input_tokens: usage.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached,
    output_tokens: usage.output,
  };
  const stop_reason = name ? 'tool_use' : 'end_turn';
  const message = {
    id: id('msg_'),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...used, output_tokens: 1 },
  };
  if (!stream) {
    json(response, 200, { ...message, content: blocks, stop_reason, usage: used });
    return;
  }
  const send = events(response, true);
  send('message_start', { message });
  blocks.forEach((block, index) => {
    const [empty, delta] = (
      {
        thinking: () => [
          { type: 'thinking', thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: block.thinking },
        ],
        text: () => [
          { type: 'text', text: '' },
          { type: 'text_delta', text: block.text },
        ],
        tool_use: () => [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: block.raw ?? JSON.stringify(block.input) },
        ],
      } as Record<string, () => Json[]>
    )[block.type]!();
    send('content_block_start', { index, content_block: empty });
    send('content_block_delta', { index, delta });
    if (block.signature)
      send('content_block_delta', { index, delta: { type: 'signature_delta', signature: block.signature } });
    send('content_block_stop', { index });
  });
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output } });
  send('message_stop', {});
  response.end();
}

function responses(
  response: ServerResponse,
  { model, stream }: Json,
  { text, name, namespace, input, raw, free, think, search }: Json,
): void {
  const output: Json[] = [];
  if (think)
    output.push({
      type: 'reasoning',
      id: id('rs_'),
      summary: [{ type: 'summary_text', text: think }],
      encrypted_content: null,
    });
  if (text !== undefined)
    output.push({
      type: 'message',
      id: id('msg_'),
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    });
  if (search)
    output.push({
      type: 'tool_search_call',
      id: id('tsc_'),
      call_id: id('call_'),
      execution: 'client',
      status: 'completed',
      arguments: { query: search },
    });
  if (name && free !== undefined)
    output.push({
      type: 'custom_tool_call',
      id: id('ctc_'),
      call_id: id('call_'),
      name,
      ...(namespace && { namespace }),
      input: free,
      status: 'completed',
    });
  else if (name)
    output.push({
      type: 'function_call',
      id: id('fc_'),
      call_id: id('call_'),
      name,
      ...(namespace && { namespace }),
      arguments: raw ?? JSON.stringify(input),
      status: 'completed',
    });
  const used = {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
  const whole = {
    id: id('resp_'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    model,
    status: 'in_progress',
    output: [],
    usage: null,
    error: null,
    incomplete_details: null,
  };
  const completed = { ...whole, status: 'completed', output, usage: used };
  if (!stream) {
    json(response, 200, completed);
    return;
  }
  const send = events(response, true);
  let sequence_number = 0;
  const tell = (type: string, data: Json) => send(type, { ...data, sequence_number: sequence_number++ });
  tell('response.created', { response: whole });
  tell('response.in_progress', { response: whole });
  output.forEach((item, output_index) => {
    const at = { item_id: item.id, output_index };
    if (item.type === 'message') {
      tell('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', content: [] } });
      tell('response.content_part.added', {
        ...at,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      });
      tell('response.output_text.delta', { ...at, content_index: 0, delta: text });
      tell('response.output_text.done', { ...at, content_index: 0, text });
      tell('response.content_part.done', { ...at, content_index: 0, part: item.content[0] });
    } else if (item.type === 'reasoning') {
      tell('response.output_item.added', { output_index, item: { ...item, summary: [] } });
      tell('response.reasoning_summary_part.added', {
        ...at,
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      });
      tell('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta: think });
      tell('response.reasoning_summary_text.done', { ...at, summary_index: 0, text: think });
      tell('response.reasoning_summary_part.done', { ...at, summary_index: 0, part: item.summary[0] });
    } else if (item.type === 'function_call') {
      tell('response.output_item.added', { output_index, item: { ...item, arguments: '', status: 'in_progress' } });
      tell('response.function_call_arguments.delta', { ...at, delta: item.arguments });
      tell('response.function_call_arguments.done', { ...at, arguments: item.arguments });
    } else if (item.type === 'tool_search_call') {
      tell('response.output_item.added', { output_index, item });
    } else {
      tell('response.output_item.added', { output_index, item: { ...item, input: '', status: 'in_progress' } });
      tell('response.custom_tool_call_input.delta', { ...at, delta: item.input });
      tell('response.custom_tool_call_input.done', { ...at, input: item.input });
    }
    tell('response.output_item.done', { output_index, item });
  });
  tell('response.completed', { response: completed });
  response.end();
}

function chat(
  response: ServerResponse,
  { model, stream, stream_options }: Json,
  { text, name, input, raw, think }: Json,
): void {
  const used = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
  const tool_calls = name && [
    { id: id('call_'), type: 'function', function: { name, arguments: raw ?? JSON.stringify(input) } },
  ];
  const finish_reason = name ? 'tool_calls' : 'stop';
  const base = { id: id('chatcmpl-'), created: Math.floor(Date.now() / 1000), model };
  if (!stream) {
    const message = { role: 'assistant', content: text ?? null, ...(tool_calls && { tool_calls }) };
    json(response, 200, {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage: used,
    });
    return;
  }
  const send = events(response, false);
  const chunk = (delta: Json, finish_reason: string | null = null) =>
    send('', { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
  chunk({ role: 'assistant', content: '' });
  if (think) chunk({ reasoning_content: think });
  if (text !== undefined) chunk({ content: text });
  if (tool_calls) chunk({ tool_calls: tool_calls.map((call: Json, index: number) => ({ index, ...call })) });
  chunk({}, finish_reason);
  if (stream_options?.include_usage) send('', { ...base, object: 'chat.completion.chunk', choices: [], usage: used });
  response.end('data: [DONE]\n\n');
}

function events(response: ServerResponse, named: boolean) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  return (type: string, data: Json) =>
    response.write(
      named ? `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n` : `data: ${JSON.stringify(data)}\n\n`,
    );
}
function json(response: ServerResponse, status: number, body: Json, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

const vendors: [RegExp, string, typeof anthropic][] = [
  [/\/messages$/, 'anthropic', anthropic],
  [/\/responses$/, 'responses', responses],
  [/\/chat\/completions$/, 'chat', chat],
];

export interface Asked {
  method: string;
  path: string;
  headers: Json;
  body: Json;
  at: number;
}

/** Starts the stand-in. `seen` has every request; if `key` is set, only requests with this key are accepted. */
export async function startModels(port = 0) {
  const seen: Asked[] = [];
  const settings = { key: null as string | null };
  /** The number of times that each failure was sent, by the message of the failure. */
  const told = new Map<string, number>();
  const isTold = (what: string, times = Number.POSITIVE_INFINITY): boolean => {
    const before = told.get(what) ?? 0;
    told.set(what, before + 1);
    return before < times;
  };
  const server = createServer(async (request, response) => {
    const path = new URL(request.url!, 'http://here').pathname;
    let text = '';
    for await (const piece of request) text += piece;
    let body: Json = {};
    try {
      body = text ? JSON.parse(text) : {};
    } catch {
      body = { unreadable: text.length };
    }
    seen.push({ method: request.method!, path, headers: request.headers, body, at: Date.now() });
    const { authorization, 'x-api-key': shown = authorization?.replace(/^Bearer /, '') } = request.headers;
    if (settings.key !== null && shown !== settings.key) {
      const error = { type: 'authentication_error', code: 'invalid_api_key', message: 'invalid x-api-key' };
      return json(response, 401, /messages$|\/v1\/models$/.test(path) ? { type: 'error', error } : { error });
    }
    if (/count_tokens$/.test(path)) return json(response, 200, { input_tokens: usage.input });
    if (/\/models$/.test(path)) return json(response, 200, { object: 'list', data: [] });
    const [, kind, answer] = vendors.find(([pattern]) => pattern.test(path)) ?? [];
    if (!kind || !answer || request.method !== 'POST')
      return json(response, 404, { error: { type: 'not_found_error', message: `no ${path}` } });
    const { turns, tools, said } = readers[kind]!(body);
    let step: Json;
    try {
      step = stepOf(turns) ?? { say: 'A short title' };
    } catch (error) {
      return json(response, 400, {
        type: 'error',
        error: { type: 'invalid_request_error', message: `The script is no JSON: ${(error as Error).message}` },
      });
    }
    if (step.wait) await wait(step.wait);
    if (step.fail && isTold(step.fail.message, step.fail.times)) {
      const { status, retryAfter, times: _, ...error } = step.fail;
      const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
      return json(response, status, kind === 'anthropic' ? { type: 'error', error } : { error }, headers);
    }
    if (step.fail) step = { say: 'It went well in the end.' };
    if (step.breakOff) {
      if (isTold(`${text.length} breaks off`, step.breakOff)) breakOff(response);
      else step = { say: 'It went well in the end.' };
    }
    answer(response, body, { ...inWords(step, tools, cwdOf(said)), think: step.think });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    seen,
    settings,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Cuts the connection after a few events. */
function breakOff(response: ServerResponse): void {
  let left = 4;
  const write = response.write.bind(response) as (text: string) => boolean;
  response.write = ((text: string) => {
    if (left-- > 0) return write(text);
    setTimeout(() => response.destroy(), 50);
    return true;
  }) as never;
  response.end = (() => response) as never;
}
