// A scripted model on loopback for self-tests of harnesses: it requests one command, and gives its final answer after the result. It
// answers with streams in the formats of Anthropic Messages and OpenAI Responses.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Json, parsed } from './fragments.ts';

/** The command that the harness is asked to run, with the file that it creates, and the text of the last answer. */
export const script = {
  command: 'echo tested > self-test.txt',
  file: 'self-test.txt',
  answer: 'The self-test is done.',
};
const tokens = { input: 1_000, output: 10 };

type Events = [type: string, data: Json][];

/** The call of a tool that runs commands. */
interface Call {
  name: string;
  input: Json;
}

export async function startScriptedModel() {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += piece;
    const body = parsed(text) ?? {};
    if (/count_tokens/.test(request.url!)) return json(response, { input_tokens: tokens.input });
    const events = /\/messages/.test(request.url!) ? messages(body) : responses(body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [type, data] of events) response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const json = (response: ServerResponse, body: object): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const { command } = script;
/** Tools that run commands, by name. */
const inputs: Record<string, Json> = {
  Bash: { command, description: 'Tests itself' },
  bash: { command, description: 'Tests itself' },
  exec_command: { cmd: command },
  shell_command: { command },
  shell: { command: ['sh', '-c', command] },
};

/** The tool call to answer with; null when the command was already run, or when the request offers no tool that can run it. */
function callFor(tools: readonly Json[] = [], wasCalled: boolean): Call | null {
  const name = wasCalled ? undefined : Object.keys(inputs).find((one) => tools.some((tool) => tool.name === one));
  return name === undefined ? null : { name, input: inputs[name]! };
}

function messages({ model, tools, messages: said = [] }: Json): Events {
  const parts = said.flatMap(({ content }: Json) => (Array.isArray(content) ? content : []));
  const call = callFor(
    tools,
    parts.some(({ type }: Json) => type === 'tool_result'),
  );
  const usage = { input_tokens: tokens.input, output_tokens: tokens.output };
  const message = { id: `msg_${said.length}`, type: 'message', role: 'assistant', model, content: [], usage };
  const [block, delta] = call
    ? [
        { type: 'tool_use', id: 'toolu_1', name: call.name, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(call.input) },
      ]
    : [
        { type: 'text', text: '' },
        { type: 'text_delta', text: script.answer },
      ];
  return [
    ['message_start', { message: { ...message, stop_reason: null, stop_sequence: null } }],
    ['content_block_start', { index: 0, content_block: block }],
    ['content_block_delta', { index: 0, delta }],
    ['content_block_stop', { index: 0 }],
    ['message_delta', { delta: { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null }, usage }],
    ['message_stop', {}],
  ];
}

function responses({ model, tools, input = [] }: Json): Events {
  const wasCalled = Array.isArray(input) && input.some(({ type }: Json) => type === 'function_call_output');
  const call = callFor(tools, wasCalled);
  const item = call
    ? { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: call.name, arguments: JSON.stringify(call.input) }
    : {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        content: [{ type: 'output_text', text: script.answer, annotations: [] }],
      };
  const usage = {
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
  };
  const started = {
    id: `resp_${input.length}`,
    object: 'response',
    model,
    status: 'in_progress',
    output: [],
    usage: null,
  };
  const done = { ...item, status: 'completed' };
  return [
    ['response.created', { response: started }],
    ['response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress' } }],
    ['response.output_item.done', { output_index: 0, item: done }],
    ['response.completed', { response: { ...started, status: 'completed', output: [done], usage } }],
  ];
}
