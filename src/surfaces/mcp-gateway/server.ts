// The gateway for missions: an MCP server at /mcp/runs/{runId}/{serverName}, for the runtime that holds the run. The runtime sends its
// service token, its lease in X-Lease-Id and, for a call that needs approval, the question in X-Question-Id. The runtime can use the tools
// that are approved for the role of its agent.
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { callToolOfRun, listToolsOfRun, type ServerOfRun, serverOfRun } from '#domain/execution/mcp-servers/gateway.ts';
import { addresses } from '#foundation/http/addresses.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { invalid, notFound, type Problem, toProblem } from '#foundation/problem.ts';
import { type CallerSettings, identify } from '../frame.ts';
import { createMcpHttp, originGuard } from '../mcp-http.ts';

export interface GatewaySettings extends CallerSettings {
  version: string;
}

interface GatewayRequest {
  exchange: Exchange;
  caller: Caller;
  server: ServerOfRun;
}

const route = '/mcp/runs/{runId}/{serverName}';

export function createGatewayServer(settings: GatewaySettings): Handler {
  const { version, meter, report } = settings;
  const guard = originGuard(addresses().mcp);
  const respond = createMcpHttp<GatewayRequest>({
    serverOf,
    meter: (exchange, { caller }, messages) => meter(exchange, caller, messages),
    report,
  });

  function serverOf({ exchange, server: runServer }: GatewayRequest): Server {
    const server = new Server({ name: runServer.binding.serverName, version }, { capabilities: { tools: {} } });
    const explained = async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        if (error instanceof ProtocolError) throw error;
        throw protocolError(toProblem(error), () => report(exchange, error));
      }
    };
    server.setRequestHandler('tools/list', async () => ({
      tools: (await explained(listToolsOfRun(runServer))) as never,
    }));
    const questionId = exchange.req.headers['x-question-id'];
    server.setRequestHandler('tools/call', ({ params }) =>
      explained(
        callToolOfRun(
          runServer,
          params.name,
          params.arguments,
          typeof questionId === 'string' ? questionId : undefined,
        ),
      ),
    );
    server.setNotificationHandler('notifications/cancelled', () => {});
    return server;
  }

  return async (exchange) => {
    exchange.route = route;
    guard(exchange);
    const caller = await identify(settings, exchange);
    admit(caller, 'runtime:report');
    const [runId, serverName] = namesIn(exchange.path);
    const leaseId = exchange.req.headers['x-lease-id'];
    if (typeof leaseId !== 'string' || leaseId === '') throw invalid.field('X-Lease-Id', 'is required');
    const server = await serverOfRun(caller, { runId, leaseId }, serverName);
    await respond(exchange, `${addresses().mcp}${exchange.path}`, { exchange, caller, server });
  };
}

/** Run id and server name in the path; their characters need no encoding. @throws 404 */
function namesIn(path: string): [runId: string, serverName: string] {
  const [, runId, serverName] = /^\/mcp\/runs\/([\w-]{1,200})\/([\w-]{1,64})$/.exec(path) ?? [];
  if (!runId || !serverName) throw notFound('path');
  return [runId, serverName];
}

/** Returns the problem as a JSON-RPC error for the agent's program. Calls `report` if it is an internal error, so that it is also logged. */
function protocolError({ status, details }: Problem, report: () => void): ProtocolError {
  if (status >= 500 && status !== 502) report();
  const code = status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, details.description, details);
}
