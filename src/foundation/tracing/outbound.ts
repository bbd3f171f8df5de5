// The span of a request to another service.
import type { IncomingMessage } from 'node:http';
import { type OpenSpan, tracing } from './tracing.ts';

/** Only the host is named, because paths and queries contain ids and secrets. */
export function beginOutbound(address: string, method = 'GET'): OpenSpan | undefined {
  const on = tracing();
  if (!on?.active()) return undefined;
  const host = URL.canParse(address) ? new URL(address).hostname : undefined;
  return on.begin({
    name: method,
    kind: 'client',
    attributes: { 'http.request.method': method, 'server.address': host },
  });
}

export function endWithBody(span: OpenSpan, response: IncomingMessage): void {
  const status = response.statusCode!;
  span.set({ 'http.response.status_code': status });
  if (status >= 400) span.fail(String(status));
  response.once('close', () => span.end());
}
