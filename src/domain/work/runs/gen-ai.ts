// Names of the semantic conventions for generative AI, which are not stable: by default the names of version 1.36.0, and with
// `gen_ai_latest_experimental` in OTEL_SEMCONV_STABILITY_OPT_IN the names of release 0.1.0 of their own repository. Labels of metrics come from
// bounded sets, so agents, tools and models are attributes of spans only.
import { Counter, Histogram } from 'prom-client';
import { seconds } from '#foundation/clock.ts';
import { registers } from '#foundation/metrics.ts';
import type { Attributes } from '#foundation/tracing/tracing.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import type { Tokens } from './step-model.ts';

/** Bucket boundaries of histograms, in seconds and in tokens, as the conventions recommend. */
const durations = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const stepDurations = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200, 14_400];
const tokenCounts = Array.from({ length: 14 }, (_, power) => 4 ** power);

interface ModelUse {
  /** The vendor; undefined for a runtime that does not report it. */
  vendor: string | undefined;
  tokens: Tokens;
  ms: number;
  /** The type of an error; undefined for a call that was answered. */
  error: string | undefined;
}

interface Conventions {
  provider: string;
  /** The name of the operation that a mission performs. */
  mission: string;
  /** Returns the name of the operation that an agent performs in a step. @param role The role of this agent */
  step(role: AgentRole): string;
  /** Attributes of cached tokens. */
  cached(tokens: Tokens): Attributes;
  countCall(call: ModelUse): void;
  countStep(ms: number, error: string | undefined): void;
}

/** All input tokens, which include cached ones. */
const inputOf = ({ inputTokens, cachedInputTokens, cacheWriteTokens }: Tokens): number =>
  inputTokens + cachedInputTokens + cacheWriteTokens;

function openStable(): Conventions {
  const labelNames = ['gen_ai_operation_name', 'gen_ai_system'];
  const usage = new Histogram({
    name: 'gen_ai_client_token_usage',
    help: 'Input and output tokens of model calls (gen_ai.client.token.usage).',
    labelNames: [...labelNames, 'gen_ai_token_type'],
    buckets: tokenCounts,
    registers,
  });
  const duration = new Histogram({
    name: 'gen_ai_client_operation_duration_seconds',
    help: 'Time from the reservation of a model call to the report of its answer (gen_ai.client.operation.duration).',
    labelNames: [...labelNames, 'error_type'],
    buckets: durations,
    registers,
  });
  return {
    provider: 'gen_ai.system',
    mission: 'invoke_agent',
    step: () => 'invoke_agent',
    cached: () => ({}),
    countCall({ vendor = 'unknown', tokens, ms, error = '' }) {
      const labels = { gen_ai_operation_name: 'chat', gen_ai_system: vendor };
      duration.observe({ ...labels, error_type: error }, ms / seconds(1));
      if (error) return;
      usage.observe({ ...labels, gen_ai_token_type: 'input' }, inputOf(tokens));
      usage.observe({ ...labels, gen_ai_token_type: 'output' }, tokens.outputTokens);
    },
    countStep() {},
  };
}

function openLatest(): Conventions {
  const labelNames = ['gen_ai_operation_name', 'gen_ai_provider_name'];
  const counter = (name: string, help: string) =>
    new Counter({ name: `gen_ai_client_inference_usage_${name}_total`, help, labelNames, registers });
  const used = {
    input: counter('input_tokens', 'Input tokens of model calls.'),
    output: counter('output_tokens', 'Output tokens of model calls.'),
    read: counter('cache_read_input_tokens', 'Input tokens that were read from the cache of a vendor.'),
    written: counter('cache_write_input_tokens', 'Input tokens that were written to the cache of a vendor.'),
  };
  const duration = new Histogram({
    name: 'gen_ai_client_inference_duration_seconds',
    help: 'Time from the reservation of a model call to the report of its answer.',
    labelNames: [...labelNames, 'error_type'],
    buckets: durations,
    registers,
  });
  const steps = new Histogram({
    name: 'gen_ai_invoke_agent_duration_seconds',
    help: 'Time that agents worked on steps of missions.',
    labelNames: ['error_type'],
    buckets: stepDurations,
    registers,
  });
  return {
    provider: 'gen_ai.provider.name',
    mission: 'invoke_workflow',
    step: (role) => (role === 'planner' ? 'plan' : 'invoke_agent'),
    cached: ({ cachedInputTokens, cacheWriteTokens }) => ({
      'gen_ai.usage.cache_read.input_tokens': cachedInputTokens,
      'gen_ai.usage.cache_write.input_tokens': cacheWriteTokens,
    }),
    countCall({ vendor = 'unknown', tokens, ms, error = '' }) {
      const labels = { gen_ai_operation_name: 'chat', gen_ai_provider_name: vendor };
      duration.observe({ ...labels, error_type: error }, ms / seconds(1));
      used.input.inc(labels, inputOf(tokens));
      used.output.inc(labels, tokens.outputTokens);
      used.read.inc(labels, tokens.cachedInputTokens);
      used.written.inc(labels, tokens.cacheWriteTokens);
    },
    countStep: (ms, error = '') => steps.observe({ error_type: error }, ms / seconds(1)),
  };
}

let bound = openStable();

/** Selects the version of the conventions for this process. Must be called before anything is counted. */
export function bindGenAiConventions(version: 'stable' | 'latest'): void {
  const [registry] = registers;
  for (const { name } of registry!.getMetricsAsArray().filter(({ name }) => name.startsWith('gen_ai_')))
    registry!.removeSingleMetric(name);
  bound = version === 'latest' ? openLatest() : openStable();
}

export const genAi = (): Conventions => bound;

export const usageOf = (tokens: Tokens): Attributes => ({
  'gen_ai.usage.input_tokens': inputOf(tokens),
  'gen_ai.usage.output_tokens': tokens.outputTokens,
  ...genAi().cached(tokens),
});
