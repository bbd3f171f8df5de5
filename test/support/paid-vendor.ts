// A stand-in for Anthropic that charges for calls. It adds up the charges of each mission, at the highest prices of claude-haiku-4-5. The
// message of a call says which mission makes the call, and how the vendor has to respond. The vendor charges for everything that the model
// generates, whether or not it is sent.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';

export interface Fate {
  /**
   * `late`: the answer comes after a delay. `never`: no answer comes. `cut`: the stream ends in the middle. `refused`: an error, which
   * costs nothing. `silent`: an answer without usage. `twice`: usage is sent twice. `more`: the answer is longer than allowed.
   */
  answer: 'whole' | 'late' | 'never' | 'cut' | 'refused' | 'silent' | 'twice' | 'more';
  isStream: boolean;
  maxTokens: number;
  /** Bytes of the message. */
  size: number;
  /**
   * A number from 0 to 1. The vendor multiplies the allowed output tokens by it to decide how many output tokens the model generates. The
   * vendor also multiplies the bytes of the request, plus `addedTokens`, by it to get the number of input tokens.
   */
  share: number;
  delayMs: number;
}

export const fates: fc.Arbitrary<Fate> = fc.record({
  answer: fc.oneof(
    { weight: 4, arbitrary: fc.constant('whole' as const) },
    { weight: 3, arbitrary: fc.constantFrom('late', 'cut', 'twice', 'refused') },
    { weight: 1, arbitrary: fc.constantFrom('never', 'silent', 'more') },
  ),
  isStream: fc.boolean(),
  maxTokens: fc.integer({ min: 1, max: 4_000 }),
  size: fc.integer({ min: 200, max: 4_000 }),
  share: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
  delayMs: fc.integer({ min: 0, max: 300 }),
});

export interface PaidCall extends Fate {
  mission: string;
}

/** The maximum number of tokens that the vendor adds to the input of each request. */
const addedTokens = 1_000;
/** Millionths of a US dollar. */
const price = (input: number, output: number): number => input * 1.25 + output * 5;

const inputOf = ({ share }: PaidCall, body: string): number =>
  Math.floor(share * (Buffer.byteLength(body) + addedTokens));

export const messageOf = (call: PaidCall): object => {
  const text = JSON.stringify(call);
  return {
    model: 'claude-haiku-4-5',
    max_tokens: call.maxTokens,
    ...(call.isStream && { stream: true }),
    messages: [{ role: 'user', content: `${text}\n${'x'.repeat(Math.max(0, call.size - text.length))}` }],
  };
};

export type PaidVendor = Awaited<ReturnType<typeof startPaidVendor>>;

/** Starts the vendor. @param arrived Called when a call arrives, before it is charged, with the number of calls that arrived earlier */
export async function startPaidVendor(arrived: (call: PaidCall, count: number) => void = () => {}) {
  const paid = new Map<string, number>();
  /** For each mission, the charges for output tokens beyond the maximum that its calls allowed. */
  const excess = new Map<string, number>();
  const held = new Set<ServerResponse>();
  let count = 0;
  const add = (to: Map<string, number>, { mission }: PaidCall, amount: number) =>
    to.set(mission, (to.get(mission) ?? 0) + amount);

  async function answer(call: PaidCall, body: string, response: ServerResponse): Promise<void> {
    const { max_tokens: allowed, stream } = JSON.parse(body);
    const input = inputOf(call, body);
    if (call.answer === 'refused') return void response.writeHead(529).end('{"type":"error","error":{}}');
    const generated = Math.max(1, Math.floor(call.share * allowed));
    const output = call.answer === 'more' ? allowed + 500 : call.answer === 'never' ? allowed : generated;
    if (call.answer === 'cut' && stream) return cut(call, input, allowed, response);
    add(paid, call, price(input, output));
    add(excess, call, Math.max(0, output - allowed) * 5);
    if (call.answer === 'never') {
      held.add(response);
      return void response.once('close', () => held.delete(response));
    }
    if (call.answer === 'late') await wait(call.delayMs);
    const usage = { input_tokens: 0, cache_creation_input_tokens: input, output_tokens: output };
    if (!stream)
      return void response.end(JSON.stringify({ type: 'message', ...(call.answer !== 'silent' && { usage }) }));
    begin(response, usage);
    const delta = { type: 'message_delta', usage: { output_tokens: output } };
    if (call.answer !== 'silent') send(response, delta);
    if (call.answer === 'twice') send(response, delta);
    send(response, { type: 'message_stop' });
    response.end();
  }

  /** Ends the stream in the middle; charges for what was sent, and for what was generated until then and not sent. */
  async function cut(call: PaidCall, input: number, allowed: number, response: ServerResponse): Promise<void> {
    begin(response, { input_tokens: 0, cache_creation_input_tokens: input, output_tokens: 1 });
    const since = performance.now();
    const sent = Math.min(allowed, Math.ceil(call.share * 20));
    for (let n = 0; n < sent; n++) send(response, { type: 'content_block_delta', delta: { text: 'x' } });
    await wait(call.delayMs);
    const hidden = Math.floor((performance.now() - since) * 0.3);
    add(paid, call, price(input, Math.min(allowed, Math.max(sent, hidden))));
    response.destroy();
  }

  const server = createServer(async (request: IncomingMessage, response) => {
    try {
      const body = Buffer.concat(await request.toArray()).toString();
      const call: PaidCall = JSON.parse(JSON.parse(body).messages[0].content.split('\n')[0]);
      if (request.url!.endsWith('/count_tokens'))
        return void response.end(JSON.stringify({ input_tokens: inputOf(call, body) }));
      arrived(call, count++);
      await answer(call, body, response);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paid,
    excess,
    /** Number of calls that get no answer. */
    held: () => held.size,
    calls: () => count,
    close(): Promise<unknown> {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const send = (response: ServerResponse, event: { type: string } & Record<string, unknown>) =>
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

function begin(response: ServerResponse, usage: object): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send(response, { type: 'message_start', message: { usage } });
}
