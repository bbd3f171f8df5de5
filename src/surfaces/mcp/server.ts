// The MCP server, stateless (MCP 2025-03-26 to 2026-07-28). The official SDK implements the protocol, with one server object per request;
// this module checks origin, caller, rate and size before it.
import {
  type CallToolRequest,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server';
import type { GraphQLSchema } from 'graphql';
import { admits } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { missingScopes, toProblem } from '#foundation/problem.ts';
import { beginMessage } from '#foundation/tracing/requests.ts';
import { inSpan, type TraceContext } from '#foundation/tracing/tracing.ts';
import { canStepUp } from '../bearer.ts';
import { type CallerSettings, identify } from '../frame.ts';
import { createMcpHttp, originGuard } from '../mcp-http.ts';
import { callsOf, createAnswerBudget, type ReadContent, type ToolRecord } from './call.ts';
import { complete } from './completions.ts';
import { plainCallOf } from './plain-call.ts';
import { followStart } from './progress.ts';
import { getPrompt, hasPrompt, listPrompts } from './prompts.ts';
import { hasTemplate, listResources, listTemplates, readResource, toolOfResource } from './resources.ts';
import { answered, refusedResult, type Tool, toolsOf } from './tools.ts';

export interface McpSettings extends CallerSettings {
  schema: GraphQLSchema;
  version: string;
  readContent: ReadContent;
}

interface McpRequest {
  exchange: Exchange;
  caller: Caller;
}

type Tools = ReturnType<typeof toolsOf>;

/** State shared by the server objects of all requests. */
interface Served extends Pick<McpSettings, 'report' | 'readContent'> {
  tools: Tools;
  identity: { name: string; title: string; version: string };
}

/** The members of a message that are read before the SDK has validated it. */
interface Message {
  method?: unknown;
  params?: { name?: unknown; uri?: unknown; _meta?: { progressToken?: unknown } };
}

const instructions =
  'The tools are the operations of the Agent Engineering Platform that your credential allows; get_me describes the credential. ' +
  'Lists are newest first: pass nextCursor as cursor to read on. A time that is a number counts milliseconds since 1970, or ' +
  'seconds where its name ends in Sec; a time that is a string is ISO 8601 in UTC. ' +
  'The description of an error names the correction; retry a call only after a retryable error.';

const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };

export function createToolServer(settings: McpSettings, url: string): Handler {
  const tools = toolsOf(settings.schema);
  const guard = originGuard(url);
  const identity = {
    name: 'agent-engineering-platform',
    title: 'Agent Engineering Platform',
    version: settings.version,
  };
  const { report, readContent } = settings;
  const respond = createMcpHttp<McpRequest>({
    serverOf: (asked) => serverOf({ tools, identity, report, readContent }, asked),
    meter: (exchange, { caller }, messages) => settings.meter(exchange, caller, messages),
    report,
    check: (asked, message) => checkScope(tools, asked, (message ?? {}) as Message),
    answerPlainly(asked, message) {
      const call = plainCallOf(asked.exchange, message);
      const tool = call && tools.get(call.params.name);
      if (!tool || tool.startsRun) return undefined;
      const { jsonrpc, id, params } = call;
      const result = callTool(report, asked, tool, params, createAnswerBudget());
      return result.then((value) => ({ result: value, jsonrpc, id }));
    },
    isStreamed(message) {
      const { method, params } = (message ?? {}) as Message;
      const isFollowed = params?._meta?.progressToken !== undefined && tools.get(String(params.name))?.startsRun;
      return method === 'tools/call' && isFollowed === true;
    },
  });

  return async (exchange) => {
    exchange.route = '/mcp';
    guard(exchange);
    await respond(exchange, url, { exchange, caller: await identify(settings, exchange) });
  };
}

/**
 * Checks the scope of a tool call for a client that can ask a person for more scopes. For any other client, the result of the tool
 * reports the missing scope.
 * @throws 403
 */
function checkScope(tools: Tools, { exchange, caller }: McpRequest, { method, params }: Message): void {
  const { name, uri } = params ?? {};
  const tool = method === 'tools/call' ? name : method === 'resources/read' && toolOfResource(String(uri));
  const rule = tools.get(String(tool))?.rule;
  if (!rule || rule === 'any-caller' || rule === 'person' || caller.principalType === 'agent') return;
  if (!admits(caller, rule) && canStepUp(exchange)) throw missingScopes([rule]);
}

/**
 * Calls the tool and returns its result. `follow` may replace the value that the tool returns. An error of the tool becomes a result too.
 */
async function callTool(
  report: McpSettings['report'],
  { exchange, caller }: McpRequest,
  tool: Tool,
  { name, arguments: values = {}, _meta }: CallToolRequest['params'],
  spend: (size: number) => void,
  follow: (value: unknown) => unknown = (value) => value,
): Promise<CallToolResult> {
  exchange.route = `/mcp ${name}`;
  const span = beginMessage(exchange, `tools/call ${name}`, (_meta ?? {}) as TraceContext);
  const call = () => tool.call(caller, exchange.requestId, values);
  try {
    const result = answered(await follow(await (span ? inSpan(span, call) : call())));
    spend(Buffer.byteLength((result.content[0] as { text: string }).text));
    return result;
  } catch (error) {
    const problem = toProblem(error);
    if (problem.status >= 500) report(exchange, error);
    return refusedResult(problem);
  }
}

/** Problems as errors of the protocol, for everything but tools, which have errors of their own. */
async function explain<T>(
  report: McpSettings['report'],
  exchange: Exchange,
  uri: string | null,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const problem = toProblem(error);
    if (problem.status === 404 && uri !== null) throw new ResourceNotFoundError(uri);
    if (problem.status >= 500) report(exchange, error);
    const code = problem.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, problem.body.description, problem.details);
  }
}

function serverOf({ tools, identity, report, readContent }: Served, asked: McpRequest): Server {
  const { exchange, caller } = asked;
  const server = new Server(identity, { capabilities, instructions });
  const calls = callsOf(tools, readContent, caller, exchange.requestId);
  const spend = createAnswerBudget();
  const explained = <T extends object>(uri: string | null, work: () => T | Promise<T>): Promise<T> =>
    explain(report, exchange, uri, async () => {
      const result = await work();
      spend(Buffer.byteLength(JSON.stringify(result)));
      return result;
    });

  server.setRequestHandler('tools/list', () => ({
    tools: [...tools.values()].filter(({ rule }) => admits(caller, rule)).map(({ listed }) => listed),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = tools.get(params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    const follow = (value: unknown) => followStart(value as ToolRecord, calls, caller.credentialId, context);
    return callTool(report, asked, tool, params, spend, tool.startsRun ? follow : undefined);
  });
  server.setRequestHandler('resources/list', ({ params }) =>
    explained(null, () => listResources(calls, params?.cursor)),
  );
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: listTemplates(calls) }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    explained(uri, async () => ({ contents: [await readResource(calls, uri)] })),
  );
  server.setRequestHandler('prompts/list', () => ({ prompts: listPrompts(calls) }));
  server.setRequestHandler('prompts/get', ({ params }) =>
    explained(null, () => getPrompt(calls, params.name, params.arguments)),
  );
  server.setRequestHandler('completion/complete', ({ params: { ref, argument, context } }) => {
    const isKnown = ref.type === 'ref/prompt' ? hasPrompt(ref.name) : hasTemplate(ref.uri);
    if (!isKnown) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'ref: is unknown.');
    return explained(null, () => complete(calls, argument, context?.arguments));
  });
  // Cancellations are ignored. Otherwise the SDK would send no response to a cancelled request, and the responses to the other requests of
  // its batch would wait for this response forever.
  server.setNotificationHandler('notifications/cancelled', () => {});
  return server;
}
