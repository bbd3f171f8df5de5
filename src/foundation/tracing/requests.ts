// The span of a request to the service. Paths and addresses of clients are left out: paths contain ids and sometimes secrets.
import type { Exchange } from '../http/http.ts';
import { statusOf } from '../log.ts';
import { type OpenSpan, type TraceContext, traceIdOf, tracing } from './tracing.ts';

/**
 * Begins the span of a request, as a part of the caller's trace if the request names one. The exchange gets the id of the trace even if
 * this process does not record it.
 */
export function beginRequest(exchange: Exchange): OpenSpan | undefined {
  const { method, headers } = exchange.req;
  const { traceparent } = headers;
  const tracestate = headers.tracestate?.toString();
  const span = tracing()?.begin({
    name: method!,
    kind: 'server',
    parent: typeof traceparent === 'string' ? { traceparent, tracestate } : {},
    attributes: {
      'http.request.method': method,
      'aep.surface': exchange.surface,
      'aep.request_id': exchange.requestId,
    },
  });
  exchange.traceId = span?.traceId ?? traceIdOf(traceparent);
  return span;
}

export function endRequest(span: OpenSpan, exchange: Exchange): void {
  const { req, route, caller } = exchange;
  const status = statusOf(exchange);
  const organization = (caller as { orgId?: string | null } | undefined)?.orgId ?? undefined;
  const attributes = { 'http.response.status_code': status, 'aep.organization_id': organization };
  span.set({ ...attributes, ...(route && { 'http.route': route }) }, route && `${req.method} ${route}`);
  if (status >= 500) span.fail(String(status));
  span.end();
}

/** The span of one message of a request. The message contains the trace context of its sender. */
export function beginMessage(exchange: Exchange, name: string, parent: TraceContext): OpenSpan | undefined {
  const on = tracing();
  if (!on || !traceIdOf(parent.traceparent)) return undefined;
  const span = on.begin({ name, kind: 'server', parent, link: on.active()?.context() });
  exchange.traceId = span.traceId;
  return span;
}
