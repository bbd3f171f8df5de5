// Tokens of a model call, read from its answer on the way to the agent.
import { createHash } from 'node:crypto';
import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Json } from '../harness/fragments.ts';
import type { Tokens } from '../harness/port.ts';
import type { AdmittedCall } from './meter.ts';

/** Paths of billable model calls. */
export const isPaid = (path: string): boolean => /^(\/v1\/messages(\?.*)?|\/responses|\/chat\/completions)$/.test(path);

/** Names of token counts in the three protocols. */
function tokensOf(usage: Json): Tokens {
  const { input_tokens: input, prompt_tokens: prompt, cache_read_input_tokens: cacheRead } = usage;
  const details = usage.input_tokens_details ?? usage.prompt_tokens_details;
  // Anthropic counts cached tokens separately from the input, OpenAI as part of it.
  const cached = cacheRead ?? details?.cached_tokens ?? 0;
  const all = input ?? prompt ?? 0;
  return {
    inputTokens: details ? Math.max(0, all - cached) : all,
    cachedInputTokens: cached,
    cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? usage.completion_tokens ?? 0,
  };
}

const usageIn = (event: Json): Json | undefined => event.usage ?? event.message?.usage ?? event.response?.usage;

export interface UsageReader {
  read(bytes: Buffer): void;
  /**
   * Tokens of the call; null when the answer contained no usage, or ended before it reported the output tokens.
   * @param isWhole Whether the answer has ended and was not interrupted.
   */
  result(maxOutputTokens: number, isWhole: boolean): Tokens | null;
}

/**
 * The runner assumes that each token takes at least this number of bytes of a stream. The assumption is safe, because even an event with a
 * single token is many times longer.
 */
const bytesPerToken = 8;
/**
 * Maximum number of tokens per millisecond that a vendor generates. Some tokens are generated without being sent, such as thoughts and
 * arguments of tools.
 */
const tokensPerMs = 0.5;

/** The error event that ends a stream. */
const errorEvent = /^(event: ?error|data: ?\{"error")/;

/**
 * Reads the usage from the pieces of an answer. @param isStream Whether the answer is a stream of server-sent events; otherwise it is one
 * JSON document. @param sentAt Milliseconds of `performance.now` when the call was sent
 */
function readUsage(isStream: boolean, sentAt: number): UsageReader {
  let held: Buffer[] = [];
  let size = 0;
  let latest: Json | null = null;
  let isFinal = !isStream;
  let hasFailed = false;
  const take = (text: string) => {
    try {
      const event = JSON.parse(text);
      const usage = usageIn(event);
      // Anthropic reports input tokens at the beginning and output tokens at the end.
      if (usage)
        latest = { ...latest, ...Object.fromEntries(Object.entries(usage).filter(([, value]) => value != null)) };
      if (usage && event.type !== 'message_start') isFinal = true;
    } catch {
      // The text is not JSON, so it contains no usage.
    }
  };
  return {
    read(bytes) {
      size += bytes.length;
      if (!isStream) return void held.push(bytes);
      let from = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
        const line = Buffer.concat([...held, bytes.subarray(from, end)]);
        [held, from] = [[], end + 1];
        if (line.includes('"usage"')) take(line.toString().replace(/^data:/, ''));
        hasFailed ||= errorEvent.test(line.subarray(0, 16).toString());
      }
      held.push(bytes.subarray(from));
    },
    result(maxOutputTokens, isWhole) {
      if (!isStream) take(Buffer.concat(held).toString());
      if (!latest || (isWhole && !isFinal && !hasFailed)) return null;
      const tokens = tokensOf(latest);
      // An interrupted stream is charged for its tokens so far. Their number is unknown; the received bytes and the elapsed time give its
      // upper bound.
      const bound = Math.max(tokens.outputTokens, size / bytesPerToken, (performance.now() - sentAt) * tokensPerMs);
      if (!isFinal) tokens.outputTokens = Math.min(maxOutputTokens, Math.ceil(bound));
      return tokens;
    },
  };
}

/** Asks Anthropic's API how many input tokens a request has. Anthropic does not charge for the answer. */
export async function countTokens(
  from: IncomingMessage,
  {
    base,
    headers,
    agent,
    signal,
  }: { base: string; headers: Record<string, string>; agent?: Agent; signal?: AbortSignal },
  body: Buffer,
): Promise<number> {
  const { model, messages, system, tools, tool_choice, thinking } = JSON.parse(body.toString());
  const url = new URL(`${base}/v1/messages/count_tokens`);
  const counted = {
    'content-type': 'application/json',
    'anthropic-version': from.headers['anthropic-version'] ?? '2023-06-01',
  };
  const options = { method: 'POST', headers: { ...counted, ...headers }, agent, signal, timeout: 30_000 };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, resolve);
    asked.on('error', reject).on('timeout', () => asked.destroy(new Error('timeout')));
    asked.end(JSON.stringify({ model, messages, system, tools, tool_choice, thinking }));
  });
  const text = (await answer.toArray()).join('');
  const { input_tokens: tokens } = JSON.parse(text);
  if (answer.statusCode !== 200 || !Number.isInteger(tokens)) throw new Error(text);
  return tokens;
}

/** Reports the tokens of the answer when it has ended or was interrupted. */
export function watchUsage(answer: IncomingMessage, call: AdmittedCall, sentAt: number): void {
  const isStream = /^text\/event-stream/.test(answer.headers['content-type'] ?? '');
  const usage = readUsage(isStream, sentAt);
  const digest = createHash('sha256');
  answer.on('data', usage.read);
  answer.on('data', (bytes: Buffer) => digest.update(bytes));
  answer.once('close', () =>
    call.end(
      answer.statusCode!,
      answer.statusCode! >= 400 ? 'refused' : usage.result(call.outputTokens, answer.complete),
      digest.digest('hex'),
    ),
  );
}
