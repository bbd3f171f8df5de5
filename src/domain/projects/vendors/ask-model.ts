// Sends a question to a model through a connector and requests an answer that matches a JSON schema: with a forced tool call in Anthropic
// Messages, with a response format in Chat Completions of OpenAI and compatible servers.
import { z } from 'zod';
import { seconds } from '#foundation/clock.ts';
import { jsonOf } from '#foundation/http/outbound.ts';
import { Problem } from '#foundation/problem.ts';
import type { Integration } from '../integrations/model.ts';
import { call, connectTo, type VendorConnection } from './connection.ts';
import { headersOf, modelPath } from './language-models/calls.ts';

export interface Question {
  model: string;
  /** The instruction to the model, and the text to which the question refers, which may be untrusted. */
  instructions: string;
  text: string;
  /** Name, description and schema of the answer. */
  name: string;
  description: string;
  schema: object;
}

export interface UsedTokens {
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
}

export interface Reply {
  /** The answer of the model, not validated yet; undefined when it does not have the requested form. */
  value: unknown;
  /** Reason why the value is missing; null when it is present. */
  failure: string | null;
  /** Used tokens; null when the vendor did not report them. The vendor may then have charged for an answer that did not arrive. */
  tokens: UsedTokens | null;
}

/** Total time limit of a question and its answer. */
export const answerTimeoutMs = seconds(20);
const maxAnswerBytes = 1024 * 1024;
/** Maximum output tokens of an answer. */
export const maxAnswerTokens = 2_000;
const free: UsedTokens = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };

const count = z
  .int()
  .min(0)
  .nullish()
  .transform((n) => n ?? 0);
const Message = z.object({
  content: z.array(z.looseObject({ type: z.string(), name: z.string().nullish(), input: z.unknown().optional() })),
  usage: z.object({
    input_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    output_tokens: count,
  }),
});
const Completion = z.object({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string().nullish() }) })).min(1),
  usage: z.object({
    prompt_tokens: count,
    prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
    completion_tokens: count,
  }),
});

/** Sends the question once. A vendor's failure, timeout or refusal is reported in the reply, not thrown. */
export async function askModel(connector: Integration, question: Question): Promise<Reply> {
  let connection: VendorConnection;
  try {
    connection = await connectTo(connector, answerTimeoutMs);
  } catch (error) {
    if (error instanceof Problem) return { value: undefined, failure: error.body.description, tokens: free };
    throw error;
  }
  const isAnthropic = connector.vendor === 'anthropic';
  const [path, json] = isAnthropic ? ['/messages', messageOf(question)] : ['/chat/completions', completionOf(question)];
  try {
    const headers = headersOf(connection);
    const response = await call(connection, modelPath(connection, path), {
      method: 'POST',
      headers,
      json,
      maxBytes: maxAnswerBytes,
    });
    if (response.status < 200 || response.status > 299) {
      // Vendors charge only for answers, so a failed request uses no tokens.
      const failure = `${connection.name} refused the question (status ${response.status}).`;
      return { value: undefined, failure, tokens: free };
    }
    const read = isAnthropic ? readMessage(jsonOf(response), question.name) : readCompletion(jsonOf(response));
    return read ?? { value: undefined, failure: `${connection.name} returned an invalid response.`, tokens: null };
  } catch (error) {
    if (error instanceof Problem) return { value: undefined, failure: error.body.description, tokens: null };
    const failure = `${connection.name} returned an answer that is too long.`;
    if ((error as Error).name === 'ResponseTooLarge') return { value: undefined, failure, tokens: null };
    throw error;
  }
}

const messageOf = ({ model, instructions, text, name, description, schema }: Question) => ({
  model,
  max_tokens: maxAnswerTokens,
  system: instructions,
  messages: [{ role: 'user', content: text }],
  tools: [{ name, description, input_schema: schema }],
  tool_choice: { type: 'tool', name },
});

const completionOf = ({ model, instructions, text, name, schema }: Question) => ({
  model,
  max_completion_tokens: maxAnswerTokens,
  messages: [
    { role: 'system', content: instructions },
    { role: 'user', content: text },
  ],
  response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } },
});

const noAnswer = 'The model did not answer in the requested form.';

function readMessage(body: unknown, name: string): Reply | null {
  const { success, data } = Message.safeParse(body);
  if (!success) return null;
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = data.usage;
  const tokens = {
    inputTokens: input_tokens,
    cachedInputTokens: cache_read_input_tokens,
    cacheWriteTokens: cache_creation_input_tokens,
    outputTokens: output_tokens,
  };
  const used = data.content.find((block) => block.type === 'tool_use' && block.name === name);
  return { value: used?.input, failure: used ? null : noAnswer, tokens };
}

/** Subtracts cached tokens, which OpenAI counts as input. */
function readCompletion(body: unknown): Reply | null {
  const { success, data } = Completion.safeParse(body);
  if (!success) return null;
  const cached = Math.min(data.usage.prompt_tokens_details?.cached_tokens ?? 0, data.usage.prompt_tokens);
  const tokens = {
    inputTokens: data.usage.prompt_tokens - cached,
    cachedInputTokens: cached,
    cacheWriteTokens: 0,
    outputTokens: data.usage.completion_tokens,
  };
  try {
    return { value: JSON.parse(data.choices[0]!.message.content ?? ''), failure: null, tokens };
  } catch {
    return { value: undefined, failure: noAnswer, tokens };
  }
}
