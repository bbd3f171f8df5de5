// Spans of OpenTelemetry. Modules describe their spans here. The SDK, in sdk.ts, is loaded only if a collector is configured; otherwise
// the function `work` is called directly, without a span (docs/decisions/0066-the-service-traces-missions.md).
import { Problem } from '../problem.ts';

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** The trace context of a span in the format of the headers (W3C Trace Context); a malformed one counts as absent. */
export interface TraceContext {
  traceparent?: string | undefined;
  tracestate?: string | undefined;
}

/** Description of a span that is to begin. */
export interface SpanDescription {
  name: string;
  /** Kind of the span; absent means `internal`. */
  kind?: 'internal' | 'server' | 'client' | 'consumer';
  attributes?: Attributes;
  /** The parent: a caller's span or the span of a mission. Absent means the span of the async context. */
  parent?: TraceContext | undefined;
  /** A span of another trace, to which the new span is linked. */
  link?: TraceContext | undefined;
  /** When the span began, in epoch milliseconds; absent means now. */
  beganAt?: number;
  /** Ids that are derived from the id of a record; the trace id is used only for a span without a parent. */
  ids?: { spanId: string; traceId?: string };
}

export interface OpenSpan {
  readonly traceId: string;
  /** The trace context of the span, which is sent to other services. */
  context(): TraceContext & { traceparent: string };
  /** Runs work whose spans become children of this span. */
  within<T>(work: () => T): T;
  set(attributes: Attributes, name?: string): void;
  link(to: TraceContext): void;
  /** Marks the span as failed. @param type The code or class of the error, never its message, which may contain values */
  fail(type: string): void;
  /** Ends the span. @param at Epoch milliseconds; absent means now */
  end(at?: number): void;
}

export interface Tracing {
  begin(description: SpanDescription): OpenSpan;
  /** The span in whose async context the caller runs. */
  active(): OpenSpan | undefined;
  /** Whether the span of the async context is recorded. SQL statements within a span get spans of their own only if the span is recorded. */
  isRecording(): boolean;
  /** Executes `work` outside of the current span: spans that begin in the work do not become its children. */
  outside<T>(work: () => T): T;
  /** Whether a trace with this id is recorded. */
  isSampled(traceId: string): boolean;
  close(): Promise<void>;
}

let bound: Tracing | undefined;

/** The bound SDK; undefined when nothing is traced. */
export const tracing = (): Tracing | undefined => bound;

export function bindTracing(opened: Tracing | undefined): void {
  bound = opened;
}

/** Executes `work` within a new span. If nothing is traced, executes `work` without a span and does not call `describe`. */
export const traced = <T>(describe: () => SpanDescription, work: () => T | Promise<T>): T | Promise<T> =>
  bound ? inSpan(bound.begin(describe()), work) : work();

/** Executes `work` outside of the current span, because the work outlives the request that has caused it. */
export const untraced = <T>(work: () => T): T => (bound ? bound.outside(work) : work());

export async function inSpan<T>(span: OpenSpan, work: () => T | Promise<T>): Promise<T> {
  try {
    return await span.within(work);
  } catch (error) {
    failWith(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/**
 * Marks the span as failed. For a refused request (4xx), only the error type is recorded, because a refusal is not a failure of the
 * service.
 */
export function failWith(span: OpenSpan, error: unknown): void {
  if (error instanceof Problem && error.status < 500)
    span.set({ 'error.type': error.details.code ?? String(error.status) });
  else span.fail(errorType(error));
}

function errorType(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
}

const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=-|$)/;

/** The trace id of a `traceparent` (W3C Trace Context, 3.2); undefined for a malformed one. */
export const traceIdOf = (traceparent: unknown): string | undefined =>
  typeof traceparent === 'string' ? form.exec(traceparent)?.[1] : undefined;
