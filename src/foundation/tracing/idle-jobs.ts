// Periodic jobs run many times a second, and most runs find nothing to do. A run that writes no row, sends no request, does not fail and is
// fast is idle, and its spans are dropped. All spans of a run are held until it ends.
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-node';

/** The attribute of the root span of a periodic job. */
export const jobAttribute = 'aep.job';

const slowMs = 250;
/**
 * Maximum number of spans of one run of a job that are held back until its end. A run with more spans counts as not idle, and its spans are
 * passed on.
 */
const maxHeld = 500;

const isWork = ({ name, kind, status, attributes }: ReadableSpan): boolean =>
  status.code === SpanStatusCode.ERROR ||
  name.startsWith('INSERT ') ||
  (kind === SpanKind.CLIENT && 'http.request.method' in attributes);

const isSlow = ({ duration: [seconds, nanoseconds] }: ReadableSpan): boolean =>
  seconds * 1_000 + nanoseconds / 1e6 >= slowMs;

/** Passes all spans on, except those of idle runs. */
export function withoutIdleJobs(next: readonly SpanProcessor[]): SpanProcessor {
  const held = new Map<string, ReadableSpan[]>();
  const pass = (span: ReadableSpan): void => {
    for (const processor of next) processor.onEnd(span);
  };
  const all = async (work: (processor: SpanProcessor) => Promise<void>) => void (await Promise.all(next.map(work)));
  return {
    onStart(span) {
      if (!span.parentSpanContext && jobAttribute in span.attributes) held.set(span.spanContext().traceId, []);
    },
    onEnd(span) {
      const { traceId } = span.spanContext();
      const spans = held.get(traceId);
      if (!spans) return pass(span);
      spans.push(span);
      const isRoot = !span.parentSpanContext;
      if (!isRoot && spans.length <= maxHeld) return;
      held.delete(traceId);
      if (spans.length > maxHeld || isSlow(span) || spans.some(isWork)) spans.forEach(pass);
    },
    forceFlush: () => all((processor) => processor.forceFlush()),
    shutdown: () => all((processor) => processor.shutdown()),
  };
}
