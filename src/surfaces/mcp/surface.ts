// The MCP server: Streamable HTTP at {mcp_url}/mcp, stateless (MCP 2025-03-26 to 2026-07-28). The official SDK implements the
// protocol, with one server object per request; origin, caller, rate and size are checked here before it.
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { GraphQLSchema } from 'graphql';
import { admits } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { addresses } from '#foundation/addresses.ts';
import type { Exchange } from '#foundation/http.ts';
import { toProblem } from '#foundation/problem.ts';
import { type CallerSettings, framed, identify } from '../frame.ts';
import { createMcpHttp, originGuard } from '../mcp-http.ts';
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
  const respond = createMcpHttp<Asked>({
    serverOf,
    meter: (exchange, { caller }, messages) => settings.meter(exchange, caller, messages),
    report: settings.report,
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

  async function handle(exchange: Exchange): Promise<void> {
    exchange.route = '/mcp';
    guard(exchange);
    await respond(exchange, url, { exchange, caller: await identify(settings, exchange) });
  }

  const { pathname } = new URL(url);
  return { name: 'mcp', owns: (path: string) => path === pathname, handle: framed(handle, settings) };
}
