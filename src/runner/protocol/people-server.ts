// The MCP server for questions of an agent to people, which the runner gives to every harness: one tool, over streamable HTTP without
// sessions (https://modelcontextprotocol.io/specification/2025-06-18/basic/transports). An answer may take hours: its stream is kept alive.
import type { ServerResponse } from 'node:http';
import { setInterval } from 'node:timers';
import type { Json } from '../harness/fragments.ts';
import { clip } from '../text.ts';
import type { Questions } from './questions.ts';

export const askTool = 'ask_person';
const aliveMs = 15_000;
/** Characters of a question and of a choice, and number of choices. */
const most = { question: 4_000, choice: 200, choices: 4 };

const description =
  'Asks the people responsible for this mission, and waits for the answer, which may take hours. Use it when the task leaves a ' +
  'decision open that is not yours, or information is missing that you cannot find. Ask one precise question; the person sees neither ' +
  'your thoughts nor your files.';
const tool = {
  name: askTool,
  title: 'Ask a person',
  description,
  inputSchema: {
    type: 'object',
    properties: {
      question: { type: 'string', minLength: 1, maxLength: most.question },
      choices: {
        type: 'array',
        description: 'Answers to choose from. The person may write something else.',
        items: { type: 'string', minLength: 1, maxLength: most.choice },
        minItems: 2,
        maxItems: most.choices,
      },
    },
    required: ['question'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
};

export const textResult = (text: string, isError = false) => ({ content: [{ type: 'text', text }], isError });
export const send = (to: ServerResponse, status: number, body?: object): void => {
  to.writeHead(status, body && { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
};

/**
 * Answers a JSON-RPC request by a stream that begins at once: clients give up when nothing arrives.
 * @param respond Returns a whole message; its signal aborts when the client is gone
 */
export async function stream(
  to: ServerResponse,
  { id, params }: Json,
  respond: (left: AbortSignal) => Promise<Json | null>,
): Promise<void> {
  const left = new AbortController();
  to.on('close', () => left.abort());
  to.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }).flushHeaders();
  const write = (message: Json) => to.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  const progressToken = params?._meta?.progressToken;
  let progress = 0;
  const timer = setInterval(() => {
    if (progressToken === undefined) return void to.write(': waiting\n\n');
    write({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: ++progress } });
  }, aliveMs);
  try {
    const answer = await respond(left.signal);
    if (answer) write(answer);
  } catch (error) {
    write({ jsonrpc: '2.0', id, error: { code: -32603, message: (error as Error).message } });
  } finally {
    clearInterval(timer);
    to.end();
  }
}

export async function servePeople(message: Json | null, to: ServerResponse, questions: Questions): Promise<void> {
  if (!message) return send(to, 400, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
  const { id, method, params } = message;
  const result = (value: object) => ({ jsonrpc: '2.0', id, result: value });
  if (id === undefined) return send(to, 202);
  if (method === 'initialize') {
    const { protocolVersion } = params ?? {};
    const serverInfo = { name: 'people', version: '1' };
    return send(to, 200, result({ protocolVersion, capabilities: { tools: {} }, serverInfo }));
  }
  if (method === 'ping') return send(to, 200, result({}));
  if (method === 'tools/list') return send(to, 200, result({ tools: [tool] }));
  if (method !== 'tools/call' || params?.name !== askTool) {
    const error = {
      code: method === 'tools/call' ? -32602 : -32601,
      message: `${params?.name ?? method}: is unknown.`,
    };
    return send(to, 200, { jsonrpc: '2.0', id, error });
  }
  const question = readQuestion(params.arguments ?? {});
  if (typeof question === 'string') return send(to, 200, result(textResult(question, true)));
  await stream(to, message, async (left) => {
    const answer = await questions.ask(question, left);
    return answer && result(textResult(`${answer.author} answers: ${answer.text}`));
  });
}

/** @returns what is wrong with the arguments, as a text */
function readQuestion({ question, choices }: Json): { body: string; choices?: string[] } | string {
  if (typeof question !== 'string' || question.trim() === '' || question.length > most.question)
    return `question: must be a text of 1 to ${most.question} characters.`;
  if (choices === undefined || choices === null) return { body: question.toWellFormed() };
  const isRight =
    Array.isArray(choices) &&
    choices.length > 0 &&
    choices.length <= most.choices &&
    choices.every((choice) => typeof choice === 'string' && choice.trim() !== '');
  if (!isRight) return `choices: must be at most ${most.choices} texts.`;
  return { body: question.toWellFormed(), choices: choices.map((choice) => clip(choice, most.choice)) };
}
