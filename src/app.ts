// The table of surfaces: which path leads where, and the last 404. Every answer gets its request id here.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Caller } from '#access/principal.ts';
import { answerJson, type Exchange, type Handler } from '#foundation/http.ts';
import type { Log } from '#foundation/log.ts';
import { observeRequest } from '#foundation/metrics.ts';
import { notFound, type Problem, toProblem } from '#foundation/problem.ts';
import { createThrottle, rateLimitHeaders } from '#foundation/throttle.ts';
import { rates } from '#limits.ts';
import { schema } from './schema.ts';
import { createAuthenticate } from './surfaces/bearer.ts';
import { createConsole } from './surfaces/console/surface.ts';
import { createGraphql } from './surfaces/graphql/surface.ts';
import { createOperator } from './surfaces/operator/surface.ts';
import { createReference } from './surfaces/reference/surface.ts';
import { createRest } from './surfaces/rest/surface.ts';

export interface AppSettings {
  version: string;
  requestsPerMinute: number;
  /** Whether a proxy of ours stands in front and appends to X-Forwarded-For. */
  trustProxy: boolean;
  log: Log;
}

/** One way in. The first that owns a path answers it. */
interface Surface {
  name: string;
  owns(path: string): boolean;
  handle: Handler;
}

/** The whole service as one request listener. The database, the addresses, the key and mail must be bound before. */
export function createApp({ version, requestsPerMinute, trustProxy, log }: AppSettings): RequestListener {
  const failures = createThrottle('failed', rates.failedAuthenticationsPerMinute, 60, 'Too many bad credentials.');
  const requests = createThrottle('requests', requestsPerMinute, 60);
  const authenticate = createAuthenticate(failures, 'api');
  const meter = async ({ res }: Exchange, { credentialId }: Caller, count = 1): Promise<void> => {
    const headers = rateLimitHeaders(await requests.take(credentialId, count));
    for (const name in headers) res.setHeader(name, headers[name]!);
  };
  const report = (exchange: Exchange, error: unknown): void => log.fault(exchange, error);

  const surfaces: Surface[] = [
    createRest({ schema, version, authenticate, meter, report }),
    createGraphql({ schema, authenticate, meter, report }),
    createReference(),
    createOperator({ version, authenticate }),
    createConsole({ report }),
  ];

  return (req, res) => {
    const exchange = open(req, res, trustProxy);
    const surface = surfaces.find((one) => one.owns(exchange.path));
    const started = performance.now();
    res.on('close', () => {
      const milliseconds = performance.now() - started;
      const name = surface?.name ?? 'none';
      observeRequest(name, exchange, milliseconds);
      log.request(name, exchange, milliseconds);
    });
    Promise.resolve(surface ? surface.handle(exchange) : answerProblem(exchange, notFound('path'))).catch((error) => {
      // A surface answers its own failures; what comes here broke while answering.
      report(exchange, error);
      if (res.headersSent) res.destroy();
      else answerProblem(exchange, toProblem(error));
    });
  };
}

function open(req: IncomingMessage, res: ServerResponse, trustProxy: boolean): Exchange {
  const url = req.url!;
  const mark = url.indexOf('?');
  const exchange: Exchange = {
    req,
    res,
    path: mark < 0 ? url : url.slice(0, mark),
    search: mark < 0 ? '' : url.slice(mark + 1),
    requestId: requestId(req),
    address: clientAddress(req, trustProxy),
  };
  res.setHeader('x-request-id', exchange.requestId);
  res.setHeader('x-content-type-options', 'nosniff');
  return exchange;
}

/** Taken over when well-formed; else the trace id of a W3C `traceparent`; else made here. */
function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && /^[\w.:-]{8,128}$/.test(given)) return given;
  const trace =
    typeof headers.traceparent === 'string' && /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(headers.traceparent);
  return trace ? trace[1]! : `req_${randomBytes(12).toString('hex')}`;
}

/** A proxy appends whom it heard from: the last entry is the one that ours wrote. */
function clientAddress(req: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy
    ? String(req.headers['x-forwarded-for'] ?? '')
        .split(',')
        .at(-1)
        ?.trim()
    : '';
  return forwarded || (req.socket.remoteAddress ?? '');
}

const answerProblem = (exchange: Exchange, { status, body, headers }: Problem): void =>
  answerJson(exchange, status, body, headers);
