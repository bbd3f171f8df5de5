// The table of surfaces: which path leads where, and the last 404. Every answer gets its request id here.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Caller } from '#access/principal.ts';
import { addresses } from '#foundation/addresses.ts';
import { ownHosts } from '#foundation/hosts.ts';
import { answerHtml, answerJson, type Exchange, type Handler } from '#foundation/http.ts';
import type { Log } from '#foundation/log.ts';
import { observeRequest } from '#foundation/metrics.ts';
import { misdirectedRequest, notFound, type Problem, toProblem } from '#foundation/problem.ts';
import { createThrottle, rateLimitHeaders } from '#foundation/throttle.ts';
import { rates } from '#limits.ts';
import { schema } from './schema.ts';
import { createA2a } from './surfaces/a2a/surface.ts';
import { agentIdentityPaths, agentIdentitySchemas } from './surfaces/agent-identity/openapi.ts';
import { createAgentIdentity } from './surfaces/agent-identity/surface.ts';
import { createArtifacts } from './surfaces/artifacts/surface.ts';
import { callerStill, createAuthenticate } from './surfaces/bearer.ts';
import { type ConsoleSettings, createConsole } from './surfaces/console/surface.ts';
import { createGraphql } from './surfaces/graphql/surface.ts';
import { createMcp } from './surfaces/mcp/surface.ts';
import { oauthPaths, oauthSchemas } from './surfaces/oauth/openapi.ts';
import { createOAuth, type OAuthSettings } from './surfaces/oauth/surface.ts';
import { createOperator } from './surfaces/operator/surface.ts';
import { createReference } from './surfaces/reference/surface.ts';
import { createRest } from './surfaces/rest/surface.ts';

export interface AppSettings extends Omit<OAuthSettings & ConsoleSettings, 'report'> {
  version: string;
  /** Per credential. */
  requestsPerMinute: number;
  requestsPerMinuteOrganization?: number;
  subscriptionsPerOrganization?: number;
  /** Whether a proxy of ours stands in front and appends to X-Forwarded-For. */
  trustProxy: boolean;
  log: Log;
}

/** One way in. The first that owns a path answers it. */
interface Surface {
  name: string;
  owns(path: string, host: string | undefined): boolean;
  handle: Handler;
}

/** What stands under /v1 and is not of the graph, for the OpenAPI document. */
const beside = {
  paths: { ...oauthPaths, ...agentIdentityPaths },
  schemas: { ...oauthSchemas, ...agentIdentitySchemas },
};

/** The whole service as one request listener. The database, the addresses, the key and mail must be bound before. */
export function createApp(settings: AppSettings): RequestListener {
  const { version, requestsPerMinute, trustProxy, log } = settings;
  const failures = createThrottle('failed', rates.failedAuthenticationsPerMinute, 60, 'Too many bad credentials.');
  const requests = createThrottle('requests', requestsPerMinute, 60);
  const ofOrganization = createThrottle(
    'organization',
    settings.requestsPerMinuteOrganization ?? rates.requestsPerMinuteOrganization,
    60,
    'The organization has made too many requests.',
  );
  const authenticate = createAuthenticate(failures, 'api');
  const meter = async ({ res }: Exchange, { credentialId, orgId }: Caller, count = 1): Promise<void> => {
    const headers = rateLimitHeaders(await requests.take(credentialId, count));
    for (const name in headers) res.setHeader(name, headers[name]!);
    // What the credential itself may not have does not count against its organization.
    if (orgId) await ofOrganization.take(orgId, count);
  };
  const report = (exchange: Exchange, error: unknown): void => log.fault(exchange, error);

  const console = createConsole({ ...settings, report });
  const surfaces: Surface[] = [
    // Before REST: some of their addresses stand below /v1 too.
    createOAuth({ ...settings, report }),
    createAgentIdentity({ ...settings, report }),
    // Before the console: on a host of its own the endpoint may be that host's root.
    createA2a({ version, authenticate: createAuthenticate(failures, 'a2a'), meter, report }),
    console,
    createRest({ schema, version, beside, authenticate, meter, report }),
    createGraphql({ ...settings, schema, authenticate, callerStill, meter, report }),
    createMcp({ schema, version, authenticate: createAuthenticate(failures, 'mcp'), meter, report }),
    createArtifacts({ report }),
    createReference(),
    createOperator({ version, authenticate }),
  ];

  const isOwnHost = ownHosts();

  return (req, res) => {
    const exchange = open(req, res, trustProxy);
    if (addresses().baseHost.startsWith('https:')) res.setHeader('strict-transport-security', 'max-age=31536000');
    const isKnown = isOwnHost(req.headers.host) || probed.has(exchange.path);
    const surface = isKnown ? surfaces.find((one) => one.owns(exchange.path, req.headers.host)) : misdirected;
    const started = performance.now();
    res.on('close', () => {
      const milliseconds = performance.now() - started;
      const name = surface?.name ?? 'none';
      observeRequest(name, exchange, milliseconds);
      log.request(name, exchange, milliseconds);
    });
    const unknown = wantsPage(req) ? console.answerUnknown : answerUnknown;
    Promise.resolve((surface?.handle ?? unknown)(exchange)).catch((error) => {
      // A surface answers its own failures; what comes here broke while answering.
      report(exchange, error);
      if (res.headersSent) res.destroy();
      else answerProblem(exchange, toProblem(error));
    });
  };
}

/** A Host that is not one of ours: what a page of a rebound name would send. */
const misdirected: Surface = {
  name: 'none',
  owns: () => true,
  handle(exchange) {
    const { status, body } = misdirectedRequest();
    const wantsPage = exchange.req.headers.accept?.includes('text/html');
    if (!wantsPage) return answerJson(exchange, status, body);
    const { title, description } = body;
    answerHtml(
      exchange,
      status,
      `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1><p>${description}</p>`,
    );
  },
};

/** Asked for by address, by whoever runs the service. */
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
  return trace ? trace[1]! : `req_${randomUUID().replaceAll('-', '')}`;
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

/** Browsers name HTML when they load a page; programs don't. */
const wantsPage = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/i.test(headers.accept ?? '');

const answerUnknown: Handler = (exchange) => answerProblem(exchange, notFound('path'));

const answerProblem = (exchange: Exchange, { status, body, headers }: Problem): void =>
  answerJson(exchange, status, body, headers);
