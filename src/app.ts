// The whole service as one request listener: dispatches each path to its surface (src/surfaces), and answers 404 for all other paths. Every
// response gets its request id here.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { originOfChanges } from '#access/origin.ts';
import type { Caller } from '#access/principal.ts';
import type { Resource } from '#domain/identity/oauth/resources.ts';
import { recordRefusalOf, wasRefused } from '#domain/identity/refusals/operations.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { ownCell, statementOfCell } from '#foundation/http/cells.ts';
import { hasSeveralHosts, ownHosts, readTarget } from '#foundation/http/hosts.ts';
import { answerHtml, answerJson, type Exchange, type Handler } from '#foundation/http/http.ts';
import { createThrottle } from '#foundation/http/throttle.ts';
import type { Log } from '#foundation/log.ts';
import { observeRequest } from '#foundation/metrics.ts';
import { withOrigin } from '#foundation/postgres/origin.ts';
import { invalid, misdirectedRequest, notFound, type Problem, readOnly } from '#foundation/problem.ts';
import { mayHandle } from '#foundation/read-only.ts';
import { beginRequest, endRequest } from '#foundation/tracing/requests.ts';
import { traceIdOf } from '#foundation/tracing/tracing.ts';
import { rates } from '#limits.ts';
import { schema } from './schema.ts';
import { createA2a } from './surfaces/a2a/surface.ts';
import { agentIdentityPaths, agentIdentitySchemas } from './surfaces/agent-identity/openapi.ts';
import { createAgentIdentity } from './surfaces/agent-identity/surface.ts';
import { readWholeContent } from './surfaces/artifacts/content.ts';
import { createArtifacts } from './surfaces/artifacts/surface.ts';
import { createAuthenticate, recheckCaller } from './surfaces/bearer.ts';
import { billingEventPaths } from './surfaces/billing-events/openapi.ts';
import { createBillingEvents } from './surfaces/billing-events/surface.ts';
import { inItsCell } from './surfaces/cells/route.ts';
import { createCells } from './surfaces/cells/surface.ts';
import { type ConsoleSettings, createConsole } from './surfaces/console/surface.ts';
import { feedPaths, feedSchemas } from './surfaces/events/openapi.ts';
import { webhookRequests, webhookSchemas } from './surfaces/events/openapi-webhooks.ts';
import { createEventsFeed } from './surfaces/events/surface.ts';
import { answerProblem, type CallerSettings, framed, type Report, type Surface } from './surfaces/frame.ts';
import { createGraphql } from './surfaces/graphql/surface.ts';
import { createInbound } from './surfaces/inbound/surface.ts';
import { createMcp } from './surfaces/mcp/surface.ts';
import { createMcpGateway } from './surfaces/mcp-gateway/surface.ts';
import { createMeter } from './surfaces/meter.ts';
import { oauthPaths, oauthSchemas } from './surfaces/oauth/openapi.ts';
import { createOAuth, type OAuthSettings } from './surfaces/oauth/surface.ts';
import { createOperator } from './surfaces/operator/surface.ts';
import { createReference } from './surfaces/reference/surface.ts';
import { createRest } from './surfaces/rest/surface.ts';
import { createScim } from './surfaces/scim/surface.ts';

export interface AppSettings extends Omit<OAuthSettings & ConsoleSettings, 'report'> {
  version: string;
  /** Maximum number of requests of one credential per minute. */
  requestsPerMinute: number;
  requestsPerMinuteOrganization?: number;
  requestsPerMinuteRuntime?: number;
  subscriptionsPerOrganization?: number;
  /** Whether a trusted proxy appends the client's address to X-Forwarded-For. */
  trustProxy: boolean;
  log: Log;
}

/** The endpoints under /v1 that are not in the graph, for the OpenAPI document. */
const beside = {
  paths: { ...oauthPaths, ...agentIdentityPaths, ...billingEventPaths, ...feedPaths },
  schemas: { ...oauthSchemas, ...agentIdentitySchemas, ...feedSchemas, ...webhookSchemas },
  webhooks: webhookRequests,
};

/** Every surface, in the order in which surfaces are matched with the path of a request, and the handler of all other paths. */
function openSurfaces(settings: AppSettings): { surfaces: Surface[]; unknown: Surface } {
  const { version, log } = settings;
  const report: Report = (exchange, error) => log.failure(exchange, error);
  const failures = createThrottle('failed', rates.failedAuthenticationsPerMinute, 60, 'Too many invalid credentials.');
  const meter = createMeter(settings);
  const callersOf = (place: Resource | 'scim'): CallerSettings => ({
    authenticate: createAuthenticate(failures, place),
    meter,
    report,
  });

  const console = createConsole({ ...settings, report });
  // Each surface responds to the errors of its own requests. An error that reaches this handler occurred while a response was being sent.
  const guarded = (surface: Surface): Surface => {
    const handle = withoutOrigin.has(surface.name) ? surface.handle : audited(surface.handle);
    const isLocal = ownCell() === null || surface.name === 'cells';
    return { ...surface, handle: framed(isLocal ? handle : inItsCell(handle), { report }) };
  };
  const rest = createRest({ schema, version, beside, ...callersOf('api') });
  const surfaces = [
    createCells({ report }),
    // OAuth, agent identity and events come before REST, because some of their paths are below /v1.
    createOAuth({ ...settings, report }),
    createAgentIdentity({ ...settings, report }),
    createBillingEvents({ report }),
    createEventsFeed({ ...settings, recheckCaller, ...callersOf('api') }),
    createInbound({ report }),
    // The console accepts the path `/` on every host. A2A can have a separate host, where `/` can be the A2A endpoint. The path of a
    // request is therefore matched with A2A before it is matched with the console.
    createA2a({ ...settings, ...callersOf('a2a') }),
    console,
    rest,
    createGraphql({ ...settings, schema, recheckCaller, ...callersOf('api') }),
    createMcp({ schema, version, readContent: readWholeContent, ...callersOf('mcp') }),
    createMcpGateway({ version, ...callersOf('api') }),
    createArtifacts({ report }),
    createScim(callersOf('scim')),
    createReference({ report, document: rest.document }),
    createOperator({ version, ...callersOf('api') }),
  ].map(guarded);
  const unknown = guarded({
    name: 'none',
    owns: () => true,
    handle: (exchange) => (wantsPage(exchange.req) ? console.answerUnknown(exchange) : answerUnknown(exchange)),
  });
  return { surfaces, unknown };
}

/**
 * Names of surfaces whose requests need no origin for the audit log: their root fields or methods set it (graph/exposure.ts,
 * surfaces/a2a/handler.ts), or they change no audited record.
 */
const withoutOrigin: ReadonlySet<string> = new Set([
  ...['rest', 'graphql', 'mcp', 'a2a', 'events'],
  ...['artifacts', 'reference', 'operator', 'none'],
]);

/**
 * Makes the audit log record the caller as the origin of the request's changes. The caller is not known until the surface has identified it,
 * so `withOrigin` gets a function that is called later.
 */
const audited =
  (handle: Handler): Handler =>
  (exchange) =>
    withOrigin(
      () => originOfChanges(exchange.caller as Caller | undefined, exchange),
      () => handle(exchange),
    );

/** Requires that the database, the public addresses, the service key and the mail transport are bound. */
export function createApp(settings: AppSettings): RequestListener {
  const { trustProxy, log } = settings;
  const { surfaces, unknown } = openSurfaces(settings);
  const isOwnHost = ownHosts();

  return (req, res) => {
    readTarget(req);
    const exchange = open(req, res, trustProxy);
    if (addresses().baseHost.startsWith('https:')) res.setHeader('strict-transport-security', 'max-age=31536000');
    const isKnown = isOwnHost(req.headers.host) || probed.has(exchange.path);
    const surface = hasSeveralHosts(req)
      ? severalHosts
      : !mayHandle(req.method, exchange.path)
        ? unchangeable
        : isKnown
          ? (surfaces.find((one) => one.owns(exchange.path, req.headers.host)) ?? unknown)
          : misdirected;
    exchange.surface = surface.name;
    const span = probed.has(exchange.path) ? undefined : beginRequest(exchange);
    const started = performance.now();
    res.on('close', () => {
      const milliseconds = performance.now() - started;
      observeRequest(surface.name, exchange, milliseconds);
      log.request(surface.name, exchange, milliseconds);
      if (span) endRequest(span, exchange);
      if (wasRefused(exchange)) {
        recordRefusalOf(exchange).catch((err) =>
          log.warn({ err, requestId: exchange.requestId }, 'cannot record a refusal in the audit log'),
        );
      }
    });
    // A pipelined request is handled only after the previous one, whose changes it may depend on (RFC 9112, 9.3.2). Until then it must hold
    // no resources, because Node closes only the current response when the client disconnects.
    const handle = () => void (span ? span.within(() => surface.handle(exchange)) : surface.handle(exchange));
    if (res.socket) handle();
    else res.once('socket', handle);
  };
}

/** Refuses a request whose host no surface may handle. */
const refusing = (problem: () => Problem): Surface => ({
  name: 'none',
  owns: () => true,
  handle(exchange) {
    const { status, body } = problem();
    const wantsPage = exchange.req.headers.accept?.includes('text/html');
    if (!wantsPage) return answerJson(exchange, status, body);
    const { title, description } = body;
    answerHtml(
      exchange,
      status,
      `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1><p>${description}</p>`,
    );
  },
});
/** The request's Host is not a name of the service: after DNS rebinding, a foreign page may have sent it. */
const misdirected = refusing(misdirectedRequest);
const unchangeable = refusing(readOnly);
const severalHosts = refusing(() => invalid.field('Host', 'must be sent once'));

/** Paths for which the Host header is not checked, because health checks request them by the IP address of the service. */
const probed: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

function open(req: IncomingMessage, res: ServerResponse, trustProxy: boolean): Exchange {
  const url = req.url!;
  const mark = url.indexOf('?');
  const exchange: Exchange = {
    req,
    res,
    path: mark < 0 ? url : url.slice(0, mark),
    search: mark < 0 ? '' : url.slice(mark + 1),
    requestId: requestId(req),
    address: statementOfCell(req)?.client ?? clientAddress(req, trustProxy),
  };
  res.setHeader('x-request-id', exchange.requestId);
  res.setHeader('x-content-type-options', 'nosniff');
  return exchange;
}

/** The request id: the client's if well-formed; else the trace id of a W3C `traceparent`; else a new one. */
function requestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  if (typeof sent === 'string' && /^[\w.:-]{8,128}$/.test(sent)) return sent;
  return traceIdOf(headers.traceparent) ?? `req_${randomUUID().replaceAll('-', '')}`;
}

/** Each proxy appends the address of its client, so the last entry was written by the trusted proxy. */
function clientAddress(req: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy
    ? String(req.headers['x-forwarded-for'] ?? '')
        .split(',')
        .at(-1)
        ?.trim()
    : '';
  return forwarded || (req.socket.remoteAddress ?? '');
}

/** Whether a browser loads a page: unlike programs, it accepts HTML. */
const wantsPage = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/i.test(headers.accept ?? '');

const answerUnknown: Handler = (exchange) => answerProblem(exchange, notFound('path'));
