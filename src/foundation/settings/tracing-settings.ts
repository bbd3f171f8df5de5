// The settings for tracing. They have the names that OpenTelemetry defines. Its SDK reads most of them itself; this file only checks them.
import { z } from 'zod';
import { endpoint, integer, matching, oneOf } from './setting-values.ts';

const pairs = matching(
  'a list of name=value, separated by commas, with special characters percent-encoded',
  (value) => value.split(',').every((pair) => /^\s*[\w.!#$%&'*+^`|~-]+\s*=[^,]*$/.test(pair)) && isDecodable(value),
);

function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value);
    return true;
  } catch {
    return false;
  }
}

const samplers = ['always_on', 'always_off', 'traceidratio'] as const;
/** Chooses the latest release of the conventions for generative AI. */
const latestGenAi = 'gen_ai_latest_experimental';

export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: pairs.optional(),
  OTEL_SERVICE_NAME: z.string().default('agent-engineering-platform'),
  OTEL_RESOURCE_ATTRIBUTES: pairs.optional(),
  OTEL_TRACES_SAMPLER: oneOf([...samplers, ...samplers.map((name) => `parentbased_${name}` as const)]).default(
    'parentbased_always_on',
  ),
  OTEL_TRACES_SAMPLER_ARG: matching('a number 0 to 1', (value) => /^(0|1|0?\.\d+|1\.0+)$/.test(value)).optional(),
  OTEL_SEMCONV_STABILITY_OPT_IN: z.string().default(''),
  SLOW_STATEMENT_MS: integer(0, 3_600_000).default(2_000),
};

export interface TracingConfig {
  /** The collector of spans, without `/v1/traces`; null means that nothing is traced. */
  readonly collector: string | null;
  /** Version of the semantic conventions for generative AI. */
  readonly genAi: 'stable' | 'latest';
  /** Minimum duration of statements that are logged, in milliseconds; 0 means that none are logged. */
  readonly slowStatementMs: number;
}

const shape = z.object(tracingSettings);

export const tracingOf = (set: z.infer<typeof shape>): TracingConfig =>
  Object.freeze({
    collector: set.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    genAi: set.OTEL_SEMCONV_STABILITY_OPT_IN.split(',').some((value) => value.trim() === latestGenAi)
      ? 'latest'
      : 'stable',
    slowStatementMs: set.SLOW_STATEMENT_MS,
  });
