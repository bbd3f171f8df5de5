// The vendors' list prices for tokens, US dollars per million tokens, as of `pricesAsOf`. The dollars that harnesses report are not used:
// they price unknown models at another model's rates, and accumulate over resumed sessions.
import type { ConnectorModel, Integration } from '../../projects/integrations/model.ts';
import type { Tokens } from '../runs/step-model.ts';

export const pricesAsOf = '2026-11-22';

export interface TokenPrice {
  input: number;
  /** `cachedInput` is the price of tokens that the vendor reads from its cache, `cacheWrite` the price of tokens that it writes to its cache. */
  cachedInput: number;
  cacheWrite: number;
  output: number;
}

/** Anthropic: a cache write (5 minutes) costs a quarter more than uncached input, and a cache read a tenth of it. */
const anthropic = (input: number, output: number): TokenPrice => ({
  input,
  cachedInput: input / 10,
  cacheWrite: input * 1.25,
  output,
});
/** OpenAI: a cache write costs as much as uncached input, and a cache read a tenth of it. */
const openai = (input: number, output: number): TokenPrice => ({
  input,
  cachedInput: input / 10,
  cacheWrite: input,
  output,
});

export const tokenPrices: Readonly<Record<string, TokenPrice>> = {
  'claude-opus-5': anthropic(5, 25),
  'claude-sonnet-5': anthropic(2, 10),
  'claude-opus-4-5': anthropic(5, 25),
  'claude-sonnet-4-5': anthropic(3, 15),
  'claude-haiku-4-5': anthropic(1, 5),
  'gpt-5.5': openai(5, 30),
  'gpt-5.4': openai(2.5, 15),
  'gpt-5.4-mini': openai(0.75, 4.5),
  'gpt-5.3-codex': openai(1.75, 14),
  'gpt-5.2': openai(1.75, 14),
  'gpt-5.1-codex': openai(1.25, 10),
  'gpt-5.1': openai(1.25, 10),
  'gpt-5-mini': openai(0.25, 2),
};

/** The price of a model; undefined for a model without a price. The name of the model may end with the date that vendors append to names. */
export const priceOf = (model: string): TokenPrice | undefined =>
  tokenPrices[model] ?? tokenPrices[model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')];

const fromConnector = ({ prices }: ConnectorModel): TokenPrice => {
  const { input, output, cacheRead, cacheWrite } = prices;
  return { input, output, cachedInput: cacheRead ?? input, cacheWrite: cacheWrite ?? input };
};

/** The price of a call through one of the connectors: the connector's own, else the list price. */
export function priceThrough(
  connectors: readonly Pick<Integration, 'models'>[],
  model: string,
): TokenPrice | undefined {
  const named = connectors.flatMap(({ models }) => models).find(({ id }) => id === model);
  return named ? fromConnector(named) : priceOf(model);
}

/**
 * The most that a call with these tokens costs, in millionths of a US dollar. A price in US dollars per million tokens equals a price in
 * millionths of a US dollar per token.
 */
export const highestPrice = (price: TokenPrice, inputTokens: number, outputTokens: number): number =>
  Math.ceil(inputTokens * Math.max(price.input, price.cachedInput, price.cacheWrite)) +
  Math.ceil(outputTokens * price.output);

export const costOfTokens = (usage: Tokens, price: TokenPrice): number =>
  (usage.inputTokens * price.input +
    usage.cachedInputTokens * price.cachedInput +
    usage.cacheWriteTokens * price.cacheWrite +
    usage.outputTokens * price.output) /
  1_000_000;
