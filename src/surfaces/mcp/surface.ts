// The MCP server: Streamable HTTP at {mcp_url}/mcp, stateless (MCP 2025-03-26 to 2026-07-28). The official SDK implements the
// protocol, with one server object per request; origin, caller, rate and size are checked here before it.
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  validateHostHeader,
  validateOriginHeader,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { GraphQLSchema } from 'graphql';
import { admits } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { addresses } from '#foundation/addresses.ts';
import { answer, answerJson, type Exchange, mediaType, parseJson, readText } from '#foundation/http.ts';
import { forbidden, invalid, methodNotAllowed, toProblem, unsupportedMediaType } from '#foundation/problem.ts';
import { bytes, mcp } from '#limits.ts';
import { type CallerSettings, framed, identify } from '../frame.ts';
import { answered, refused, toolsOf } from './tools.ts';

export interface McpSettings extends CallerSettings {
  schema: GraphQLSchema;
  version: string;
}

interface Asked {
  exchange: Exchange;
  caller: Caller;
}

const instructions =
  'The tools are the operations of the Agent Engineering Platform that your credential allows; get_me tells what it is. ' +
  'Lists are newest first: pass nextCursor as cursor to read on. A time that is a number counts milliseconds since 1970, or ' +
  'seconds where its name ends in Sec; a time that is a string is ISO 8601 in UTC. ' +
  'An error says in its description what to change; only one that is retryable is worth repeating.';

export function createMcp(settings: McpSettings) {
  const tools = toolsOf(settings.schema);
  const url = `${addresses().mcp}/mcp`;
  const guard = originGuard(url);
  const identity = {
    name: 'agent-engineering-platform',
    title: 'Agent Engineering Platform',
    version: settings.version,
  };
  const asked = new WeakMap<Request, Asked>();
  // From 2026-07-28 on. There is nothing to subscribe to: a tool list changes with the credential alone.
  const modern = createMcpHandler(({ requestInfo }) => serverOf(asked.get(requestInfo!)!), {
    legacy: 'reject',
    maxSubscriptions: 0,
  });

  function serverOf({ exchange, caller }: Asked): Server {
    const server = new Server(identity, { capabilities: { tools: {} }, instructions });
    server.setRequestHandler('tools/list', () => ({
      tools: [...tools.values()].filter(({ rule }) => admits(caller, rule)).map(({ listed }) => listed),
    }));
    server.setRequestHandler('tools/call', async ({ params }) => {
      const tool = tools.get(params.name);
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
      exchange.route = `/mcp ${params.name}`;
      try {
        return answered(await tool.call(caller, exchange.requestId, params.arguments ?? {}));
      } catch (error) {
        const problem = toProblem(error);
        if (problem.status >= 500) settings.report(exchange, error);
        return refused(problem);
      }
    });
    // What is cancelled gets no answer, and in a batch the other answers would wait for it for ever.
    server.setNotificationHandler('notifications/cancelled', () => {});
    return server;
  }

  async function respond(request: Request, body: unknown, who: Asked): Promise<Response> {
    if (!(await isLegacyRequest(request, body))) {
      asked.set(request, who);
      return modern.fetch(request, { parsedBody: body });
    }
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = serverOf(who);
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: body });
    await server.close();
    return response;
  }

  async function handle(exchange: Exchange): Promise<void> {
    const { req } = exchange;
    exchange.route = '/mcp';
    guard(exchange);
    const caller = await identify(settings, exchange);
    // Without sessions there is no stream to open and nothing to end.
    if (req.method !== 'POST') throw methodNotAllowed('POST');
    if (mediaType(exchange) !== 'application/json')
      throw unsupportedMediaType('Send the messages as application/json.');
    const body = parseJson(await readText(exchange, bytes.jsonBody));
    if (body === undefined) return answerJson(exchange, 400, unparsable, { 'cache-control': 'no-store' });
    if (Array.isArray(body)) {
      if (body.length > mcp.messagesPerBatch) throw invalid(`A batch has at most ${mcp.messagesPerBatch} messages.`);
      if (body.length > 1) await settings.meter(exchange, caller, body.length - 1);
    }
    const request = new Request(url, { method: 'POST', headers: spoken(req.headers) });
    const response = await respond(request, body, { exchange, caller });
    const text = await response.text();
    if (response.status >= 500) settings.report(exchange, new Error(`the MCP server failed: ${text}`));
    const type = response.headers.get('content-type');
    answer(exchange, response.status, text || undefined, {
      ...(type && { 'content-type': type }),
      'cache-control': 'no-store',
    });
  }

  const { pathname } = new URL(url);
  return { name: 'mcp', owns: (path: string) => path === pathname, handle: framed(handle, settings) };
}

const unparsable = { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error: the body is no JSON.' } };

/** The headers that the protocol reads. The credential stays here. */
const spoken = (headers: Exchange['req']['headers']): [string, string][] =>
  Object.entries(headers).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' && (/^(accept|content-type)$/.test(entry[0]) || entry[0].startsWith('mcp-')),
  );

/**
 * Against DNS rebinding (MCP, Transports: Security Warning): a page of a foreign site reaches nothing here. On a person's own
 * machine it may come under a name that was made to point there, so the Host is looked at too.
 */
function originGuard(url: string): (exchange: Exchange) => void {
  const { hostname } = new URL(url);
  const isLocal = localhostAllowedHostnames().includes(hostname);
  const allowed = [hostname, new URL(addresses().issuer).hostname, ...(isLocal ? localhostAllowedHostnames() : [])];
  return ({ req }) => {
    if (!validateOriginHeader(req.headers.origin, allowed).ok) throw forbidden('Pages of this Origin may not call.');
    if (isLocal && !validateHostHeader(req.headers.host, allowed).ok) {
      throw forbidden(`This server answers to ${[...new Set(allowed)].join(', ')} as its Host.`);
    }
  };
}
