// The bounds of a model call, computed from its request: the most tokens that the vendor may charge for the call. An agent writes the
// request, so calls whose price does not follow from it are refused.
import type { Json } from '../harness/fragments.ts';

/** Assumed output tokens of a request without a limit. */
const defaultOutputTokens = 32_000;

/** Tokens that vendors add to a request, such as instructions for tools. */
const addedTokens = 1_000;

/** Maximum number of tokens of an image, at the highest detail that vendors offer. */
const imageTokens = 12_000;

/** The largest context window of a model: the bound of input that is not in the request itself, such as files and earlier responses. */
export const contextTokens = 1_050_000;

const imageTypes = ['image', 'input_image', 'image_url'];
const referenceTypes = ['document', 'input_file', 'file', 'input_audio', 'item_reference', 'container_upload'];
const references = ['previous_response_id', 'conversation', 'prompt', 'container'];

/** Tools that run at the vendor. The vendor charges for each use of such a tool, and for the model's turns after its results. */
const hostedTools =
  /^(web_search|web_fetch|code_execution|code_interpreter|file_search|image_generation|computer_use|mcp|advisor)/;

/**
 * Fields of a request that can change the price of the call. Only the listed values of a field are forwarded, because they leave the
 * model's own prices unchanged.
 */
const pricedMembers: Record<string, readonly unknown[]> = {
  n: [1],
  best_of: [1],
  speed: ['standard'],
  service_tier: ['auto', 'default', 'flex', 'standard_only'],
  inference_geo: ['global'],
  web_search_options: [],
  prediction: [],
  mcp_servers: [],
};

/** A call that the gateway does not forward. */
export class CallRefused extends Error {}

const isEmpty = (value: unknown): boolean => value == null || (Array.isArray(value) && value.length === 0);

/**
 * Checks that the price of the call depends only on its tokens and the prices of its model. @throws CallRefused for a call that may cost
 * more
 */
function refuseOtherPrices(request: Json): void {
  const refuse = (what: string) => {
    throw new CallRefused(`Calls with ${what} are not forwarded, because their price is not known beforehand.`);
  };
  for (const [name, neutral] of Object.entries(pricedMembers))
    if (!isEmpty(request[name]) && !neutral.includes(request[name])) refuse(`\`${name}\``);
  for (const tool of Array.isArray(request.tools) ? request.tools : [])
    if (hostedTools.test(tool?.type)) refuse(`the tool \`${tool.type}\`, which runs at the vendor,`);
  const { context_management: management } = request;
  for (const edit of [management?.edits ?? management ?? []].flat())
    if (/^compact/.test(edit?.type)) refuse('compaction');
}

/** Content parts that cost more tokens than they have bytes. */
function countParts(value: unknown, counts = { images: 0, references: 0 }) {
  if (Array.isArray(value)) for (const one of value) countParts(one, counts);
  else if (value && typeof value === 'object') {
    const { type } = value as Json;
    if (imageTypes.includes(type)) counts.images++;
    if (referenceTypes.includes(type)) counts.references++;
    for (const one of Object.values(value)) countParts(one, counts);
  }
  return counts;
}

/** The request fields that limit the output. */
function limitsOf(path: string, request: Json): [first: string, ...string[]] {
  if (path.endsWith('/responses')) return ['max_output_tokens'];
  if (!path.endsWith('/chat/completions')) return ['max_tokens'];
  return 'max_tokens' in request ? ['max_tokens', 'max_completion_tokens'] : ['max_completion_tokens'];
}

export interface ModelRequest {
  model: string;
  /** Upper bound of the input tokens. */
  inputTokens: number;
  /** Maximum output tokens that the request allows. */
  outputTokens: number;
  /** Returns the body of the request with its limit of output tokens set to `outputTokens`. */
  bounded(outputTokens: number): Buffer;
}

/**
 * Reads the limits that the request sets. @throws SyntaxError for a body that is not a JSON object, and CallRefused for a call whose price
 * is not known beforehand
 */
export function readModelRequest(path: string, body: Buffer): ModelRequest {
  const request: Json = JSON.parse(body.toString());
  if (!request || typeof request !== 'object') throw new SyntaxError('The request is not a JSON object.');
  refuseOtherPrices(request);
  const limits = limitsOf(path, request);
  const wanted = Math.max(...limits.map((name) => Number(request[name] ?? 0) || 0));
  const { images, references: others } = countParts([request.messages, request.input]);
  const isWhole = others === 0 && references.every((name) => isEmpty(request[name]));
  // Each byte of text counts as a token: a token has at least one byte.
  const inputTokens = body.length + addedTokens + images * imageTokens;
  return {
    model: String(request.model ?? ''),
    inputTokens: isWhole ? inputTokens : Math.max(inputTokens, contextTokens),
    outputTokens: Math.max(1, Math.floor(wanted || defaultOutputTokens)),
    bounded: (outputTokens) => bounded(path, request, limits, outputTokens),
  };
}

/**
 * Shortens the lifetime of cache writes from an hour to five minutes. Only the price of five-minute writes is known; one-hour writes cost
 * more.
 */
const shortCache = (text: string): string => text.replaceAll(/("cache_control":\{[^{}]*"ttl":)"1h"/g, '$1"5m"');

/**
 * The request with its output limited and usage reporting enabled. The JSON is written anew, because parsers treat repeated members
 * differently.
 */
function bounded(path: string, request: Json, limits: [string, ...string[]], outputTokens: number): Buffer {
  const changes: Json = {};
  const given = limits.filter((name) => request[name] != null);
  for (const name of given.length > 0 ? given : [limits[0]]) changes[name] = outputTokens;
  if (path.endsWith('/chat/completions') && request.stream)
    changes.stream_options = { ...request.stream_options, include_usage: true };
  const thought = request.thinking?.budget_tokens ?? 0;
  // Anthropic rejects a thinking budget below 1,024 tokens, or as large as the output limit.
  if (thought >= outputTokens)
    changes.thinking =
      outputTokens > 2_048 ? { ...request.thinking, budget_tokens: outputTokens - 1_024 } : { type: 'disabled' };
  return Buffer.from(shortCache(JSON.stringify({ ...request, ...changes })));
}
