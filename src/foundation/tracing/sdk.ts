// The SDK of OpenTelemetry, loaded only if a collector is configured. Spans wait in a bounded queue and are sent in the background as
// OTLP/HTTP with JSON: an unavailable collector loses spans, and delays nothing.
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  RandomIdGenerator,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { seconds } from '../clock.ts';
import { withoutIdleJobs } from './idle-jobs.ts';
import type { OpenSpan, SpanDescription, TraceContext, Tracing } from './tracing.ts';

/** `ended` counts all spans. Spans that are not counted as sent or lost are still in the queue, or did not fit into it. */
type Count = (outcome: 'ended' | 'sent' | 'lost', spans: number) => void;
type Report = (line: string) => void;

export interface TracingSettings {
  /** The collector's URL, without `/v1/traces`. */
  endpoint: string;
  version: string;
  /** Reports the beginning and the end of an outage of the collector. */
  report: Report;
  count: Count;
  /** Time limit of a message and its retries, milliseconds; 10 seconds when absent. */
  timeoutMs?: number;
  /** Time for which ended spans are gathered before they are sent, milliseconds; 1 second when absent. */
  delayMs?: number;
}

/** Maximum number of ended spans in memory, and maximum number of spans in one message. */
const bounds = { maxQueueSize: 4_096, maxExportBatchSize: 512 };
/** Maximum time for which a stopping process waits until the last spans are sent. */
const closeMs = seconds(3);

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const;

/** Random ids, except for a span whose ids are derived from a record. */
function createIds() {
  const random = new RandomIdGenerator();
  let given: SpanDescription['ids'];
  return {
    generateSpanId: () => given?.spanId ?? random.generateSpanId(),
    generateTraceId: () => given?.traceId ?? random.generateTraceId(),
    use<T>(ids: SpanDescription['ids'], start: () => T): T {
      given = ids;
      try {
        return start();
      } finally {
        given = undefined;
      }
    },
  };
}

export function openTracing(settings: TracingSettings): Tracing {
  const { version } = settings;
  const ids = createIds();
  const provider = openProvider(settings, ids);
  provider.register();
  const tracer = provider.getTracer('agent-engineering-platform', version);

  function begin(described: SpanDescription): OpenSpan {
    const { name, kind = 'internal', attributes, parent, link, beganAt, ids: given } = described;
    const from = given?.traceId ? ROOT_CONTEXT : parent ? contextOf(parent) : context.active();
    const linked = link && trace.getSpanContext(contextOf(link));
    const options = {
      kind: kinds[kind],
      attributes: { ...attributes },
      links: linked ? [{ context: linked }] : [],
      ...(beganAt !== undefined && { startTime: beganAt }),
    };
    const span = ids.use(given, () => tracer.startSpan(name, options as never, from));
    return openSpan(span, trace.setSpan(from, span));
  }

  return {
    begin,
    active() {
      const span = trace.getActiveSpan();
      return span && openSpan(span, context.active());
    },
    isRecording: () => trace.getActiveSpan()?.isRecording() ?? false,
    outside: (work) => context.with(ROOT_CONTEXT, work),
    isSampled(traceId) {
      // A span that does not end is not sent.
      const probe = begin({ name: 'probe', ids: { spanId: ids.generateSpanId(), traceId } });
      return probe.context().traceparent.endsWith('1');
    },
    async close() {
      const late = new Promise<void>((resolve) => void setTimeout(resolve, closeMs).unref());
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      for (const api of [trace, context, propagation]) api.disable();
    },
  };
}

/** The SDK itself reads OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES and OTEL_EXPORTER_OTLP_HEADERS. */
function openProvider(
  { endpoint, version, report, count, timeoutMs = seconds(10), delayMs = seconds(1) }: TracingSettings,
  idGenerator: ReturnType<typeof createIds>,
): NodeTracerProvider {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const exporter = watched(new OTLPTraceExporter({ url, timeoutMillis: timeoutMs }), report, count);
  const own = { 'service.name': 'agent-engineering-platform', 'service.version': version };
  const counting: SpanProcessor = {
    onStart() {},
    onEnd: () => count('ended', 1),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const times = { scheduledDelayMillis: delayMs, exportTimeoutMillis: timeoutMs };
  const batch = new BatchSpanProcessor(exporter, { ...bounds, ...times });
  return new NodeTracerProvider({
    idGenerator,
    resource: defaultResource()
      .merge(resourceFromAttributes(own))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [withoutIdleJobs([counting, batch])],
  });
}

const contextOf = (from: TraceContext): Context => propagation.extract(ROOT_CONTEXT, from);

function openSpan(span: Span, own: Context): OpenSpan {
  return {
    traceId: span.spanContext().traceId,
    context() {
      const headers = { traceparent: '' };
      propagation.inject(own, headers);
      return headers;
    },
    within: (work) => context.with(own, work),
    set(attributes, name) {
      span.setAttributes({ ...attributes });
      if (name !== undefined) span.updateName(name);
    },
    link(to) {
      const linked = trace.getSpanContext(contextOf(to));
      if (linked) span.addLink({ context: linked });
    },
    fail: (type) => void span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
    end: (at) => span.end(at),
  };
}

/** Counts the spans that the collector has accepted, and reports an outage once. */
function watched(exporter: SpanExporter, report: Report, count: Count): SpanExporter {
  let isAway = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== 0;
        count(hasFailed ? 'lost' : 'sent', spans.length);
        if (hasFailed && !isAway) report(`spans are lost, because the collector fails: ${result.error?.message}`);
        if (isAway && !hasFailed) report('the collector accepts spans again');
        isAway = hasFailed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
