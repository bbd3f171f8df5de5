// An MCP server in the sandbox of a mission, for the agent: it offers the tools that the platform allows, and asks the platform before each
// call.
import { hash } from 'node:crypto';
import type { RunLease } from '../contract.ts';
import { admitMcpCall, reportMcpCall, reportMcpTools } from '../generated/operations.ts';
import type { Json } from '../harness/fragments.ts';
import { clip } from '../text.ts';
import { decideCall } from './mcp-calls.ts';
import { type Platform, RequestRejected } from './platform.ts';
import type { Questions } from './questions.ts';
import { type StdioServer, ToolError } from './stdio-server.ts';
import { type ToolServer, textResult } from './tool-server.ts';

interface SandboxServer {
  platform: Platform;
  lease: RunLease;
  questions: Questions;
  serverName: string;
  /** Checksum of the server's package; null for a file of the repository. */
  packageIntegrity: string | null;
  server: StdioServer;
  traceparent?: string | null;
}

/** Opens the server with the tools that the platform allows. @throws with the reason why the agent must not use it */
export async function openSandboxServer(one: SandboxServer): Promise<ToolServer> {
  const { serverName: name, server } = one;
  let tools = await allowedTools(one);
  return {
    name,
    async tools() {
      if (server.hasChanged()) tools = await allowedTools(one);
      return tools;
    },
    call: (tool, args, left) => callTool(one, tool, args, left),
  };
}

async function allowedTools({ platform, lease, serverName, packageIntegrity, server }: SandboxServer): Promise<Json[]> {
  const listed = await server.listTools();
  const tools = platform.mask(JSON.stringify(listed));
  const answer = await platform.mutate(reportMcpTools, { ...lease, serverName, packageIntegrity, tools });
  if (answer.refusal !== null) throw new Error(answer.refusal);
  const allowed = new Set(answer.tools);
  return listed.filter(({ name }) => allowed.has(name));
}

async function callTool(one: SandboxServer, tool: string, args: Json, left: AbortSignal): Promise<Json | null> {
  const { platform, lease, serverName, server, traceparent } = one;
  const denial = await admit(one, tool, JSON.stringify(args), left);
  if (denial === null) return null;
  if (denial) return textResult(denial, true);
  const begun = Date.now();
  const call = { ...lease, serverName, tool, argumentsSha256: hash('sha256', JSON.stringify(args)) };
  const report = (outcome: 'ok' | 'tool_error' | 'failed', result?: Json) => {
    const resultSha256 = result && hash('sha256', JSON.stringify(result));
    return platform.mutate(reportMcpCall, { ...call, outcome, durationMs: Date.now() - begun, resultSha256 });
  };
  try {
    const result = await server.call(tool, args, left, traceparent ? { traceparent } : undefined);
    await report(result.isError ? 'tool_error' : 'ok', result);
    return JSON.parse(platform.mask(JSON.stringify(result)));
  } catch (error) {
    if (error instanceof RequestRejected) throw error;
    await report(error instanceof ToolError ? 'tool_error' : 'failed');
    return textResult(
      platform.mask(`The MCP server ${serverName} failed: ${clip((error as Error).message, 2_000)}`),
      true,
    );
  }
}

/**
 * Asks the platform, and a person if necessary, whether the call may be made. @returns the reason why it must not be made, empty if it may;
 * null when the agent no longer waits
 */
async function admit(one: SandboxServer, tool: string, given: string, left: AbortSignal): Promise<string | null> {
  const { platform, lease, serverName, questions } = one;
  const call = { ...lease, serverName, tool };
  try {
    const { needsPerson } = await platform.mutate(admitMcpCall, call);
    if (!needsPerson) return '';
    const decision = await decideCall({ questions, server: serverName, mask: platform.mask }, tool, given, left);
    if (!decision) return null;
    if ('denial' in decision) return decision.denial;
    await platform.mutate(admitMcpCall, { ...call, arguments: given, questionId: decision.questionId });
    return '';
  } catch (error) {
    if (error instanceof RequestRejected) return error.message;
    throw error;
  }
}
