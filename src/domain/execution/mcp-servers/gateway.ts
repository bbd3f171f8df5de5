// Access to the MCP servers of a project for the runtime that holds a run: lists and calls the tools that a person has approved for the
// role of its agent. The runtime never sees an address or a credential, and every call is recorded with the run.
import { hash } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Caller } from '#access/principal.ts';
import { minutes, now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { newId } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { badGateway, conflict, forbidden, notFound } from '#foundation/problem.ts';
import { text } from '#limits.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { addRunCall } from '../../work/run-calls/record.ts';
import { leaseIsLost, lockHeldRun, lockRun } from '../../work/runs/lock.ts';
import { useApproval } from '../../work/runs/messages.ts';
import type { Run } from '../../work/runs/model.ts';
import { beginToolCall, endToolCall } from '../../work/runs/spans.ts';
import { McpBinding, McpCall, obstacleOf, type ToolDefinition, toolsFor } from './model.ts';
import { McpServerError, withRemote } from './remote.ts';
import { sdk } from './sdk.ts';
import { callIsStaged, describeStaging, stageCall } from './staging.ts';
import { noteFailure, takeSnapshot } from './tools.ts';
import { markDrift, readConfigFile } from './view.ts';

const callTimeoutMs = minutes(2);
/** Maximum age of a snapshot, in ms. An older snapshot is refreshed when a run lists the tools. */
const maxSnapshotAgeMs = minutes(10);

export interface LeaseHold {
  runId: string;
  leaseId: string;
}

export interface ServerOfRun {
  run: Run;
  role: AgentRole;
  binding: McpBinding;
}

/**
 * Returns the run if it is running and the runtime holds its lease; a canceled run makes no further calls. @throws 404, or 409 `lease_lost`
 */
export async function runningRun(caller: Caller, hold: LeaseHold): Promise<Run> {
  const run = await transaction((trx) => lockHeldRun(trx, caller, hold));
  if (run.status !== 'running' || run.leaseUntil! <= now()) throw leaseIsLost();
  return run;
}

export interface RunMcpServer {
  serverName: string;
  /** Path at which the runtime reaches this server (surfaces/mcp-gateway). */
  url: string;
  /** Names of the tools that need a person's decision for each call. */
  alwaysAsk: string[];
}

/** The remote servers that the agent of the run may use. @throws 404, or 409 `lease_lost` */
export async function serversOfRun(caller: Caller, hold: LeaseHold): Promise<RunMcpServer[]> {
  const { id, projectId, agentRole } = await runningRun(caller, hold);
  const filter = { projectId, transport: 'remote' as const, enabled: true };
  const bindings = await McpBinding.findAll(filter);
  return bindings
    .filter(({ roles }) => agentRole !== null && roles.includes(agentRole))
    .map(({ serverName, approvedTools }) => ({
      serverName,
      url: `${addresses().mcp}/mcp/runs/${id}/${serverName}`,
      alwaysAsk: approvedTools.flatMap(({ name, alwaysAsk }) => (alwaysAsk ? [name] : [])),
    }));
}

/**
 * The binding of a server that the agent of the run may use.
 * @throws 404, also for a server that the role of the agent must not use; 409 `lease_lost`
 */
export async function serverOfRun(
  caller: Caller,
  hold: LeaseHold,
  serverName: string,
  transport: McpBinding['transport'] = 'remote',
): Promise<ServerOfRun> {
  const run = await runningRun(caller, hold);
  const { projectId, agentRole: role } = run;
  const binding = await McpBinding.find({ projectId, serverName, transport });
  if (!binding || !role || !binding.roles.includes(role)) throw notFound('MCP server for this run');
  return { run, role, binding };
}

/** Lists the reviewed tools, even if the server has changed them since. A snapshot that is too old is refreshed first. */
export async function listToolsOfRun({ binding, role, run }: ServerOfRun): Promise<ToolDefinition[]> {
  const age = now() - (binding.toolsRefreshedAt ?? 0);
  const current = age < maxSnapshotAgeMs ? binding : await lookAgain(binding, run);
  refuseObstacle(current);
  return describeStaging({ run, binding: current }, toolsFor(current, role));
}

async function lookAgain({ id }: McpBinding, run: Run): Promise<McpBinding> {
  const project = await Project.get({ id: run.projectId });
  await markDrift(project.id, await readConfigFile(project));
  return takeSnapshot(await McpBinding.get({ id }));
}

/** Checks that the server can be used. @throws 409 naming the action that a person must take */
export function refuseObstacle(binding: McpBinding): void {
  const obstacle = obstacleOf(binding);
  if (obstacle) throw conflict(`The MCP server cannot be used: ${obstacle[1] ?? 'it is disabled.'}`);
}

/**
 * Calls the tool, or stages the call if it must wait for approval. @param questionId The question whose approval the call uses; absent means
 * none. @throws 403 for a call that needs approval; 404 for a tool that is not approved; 409 when the server cannot be used; 502 when the
 * server fails; a ProtocolError that the server returned, unchanged
 */
export async function callToolOfRun(
  server: ServerOfRun,
  name: string,
  toolArguments: Record<string, unknown> | undefined,
  questionId?: string | undefined,
): Promise<CallToolResult> {
  const given = toolArguments ?? {};
  await admitCall(server, name, JSON.stringify(given), questionId);
  if (await callIsStaged(server, name)) return stageCall(server, name, given);
  return requestTool(server, name, given);
}

/** Calls the tool of a remote server, and records the call. @throws 502; a ProtocolError of the server unchanged */
export async function requestTool(
  server: ServerOfRun,
  name: string,
  given: Record<string, unknown>,
): Promise<CallToolResult> {
  const { binding } = server;
  const record = recorder(server, name);
  const span = await beginToolCall(server.run.id, binding.serverName, name);
  const recorded = (outcome: McpCall['outcome'], result: string | null) => {
    endToolCall(span, outcome);
    return record(outcome, { arguments: digestOf(JSON.stringify(given)), result });
  };
  const params = { name, arguments: given, ...(span && { _meta: span.context() }) };
  const request = () =>
    withRemote(binding, callTimeoutMs, (client, signal) =>
      client.request({ method: 'tools/call', params }, { signal, timeout: callTimeoutMs }),
    );
  try {
    const result = await (span ? span.within(request) : request());
    await recorded(result.isError ? 'tool_error' : 'ok', digestOf(JSON.stringify(result)));
    return result as CallToolResult;
  } catch (error) {
    const { ProtocolError } = await sdk();
    await recorded(error instanceof ProtocolError ? 'tool_error' : 'failed', null);
    if (!(error instanceof McpServerError)) throw error;
    if (error.needsAuthorization) await noteFailure(binding, error);
    throw badGateway(`The MCP server ${binding.serverName} failed: ${error.message}`);
  }
}

/** Whether this call needs a person's decision first. */
export const needsPerson = async (server: ServerOfRun, name: string): Promise<boolean> => {
  const { approvedTools, transport } = server.binding;
  const asks = approvedTools.find((tool) => tool.name === name)?.alwaysAsk ?? false;
  return asks || (transport === 'sandbox' && (await callIsStaged(server, name)));
};

/**
 * Checks that the call may be made, and records it when it is refused. @param given The arguments as JSON, as the person saw them. @throws
 * 403 for a call that needs approval, 404 for a tool that is not approved, 409 when the server cannot be used
 */
export async function admitCall(
  server: ServerOfRun,
  name: string,
  given: string,
  questionId: string | undefined,
): Promise<void> {
  const { binding, role, run } = server;
  const recorded = recorder(server, name);
  const isApproved = obstacleOf(binding) === null && toolsFor(binding, role).some((tool) => tool.name === name);
  if (!isApproved) {
    await recorded('refused', { arguments: digestOf(given) });
    refuseObstacle(binding);
    throw notFound('tool that is approved for this run');
  }
  if (!(await needsPerson(server, name))) return;
  const approval = { runId: run.id, leaseId: run.leaseId!, tool: `${binding.serverName}.${name}`, arguments: given };
  if (questionId && (await useApproval({ ...approval, questionId }))) return;
  await recorded('refused', { arguments: digestOf(given) });
  throw forbidden(`Each call of ${name} needs a person's approval, and nobody has approved this call.`);
}

/** Hexadecimal SHA-256 digests of a call's arguments and result, both as JSON. An absent digest is unknown. */
export interface CallDigests {
  arguments?: string | null | undefined;
  result?: string | null | undefined;
}

const digestOf = (text: string): string => hash('sha256', text);

/** Returns a function that records the outcome of a call. */
export function recorder({ run, binding }: ServerOfRun, tool: string, createdAt = now()) {
  const { serverName } = binding;
  const id = newId('mcpCall');
  return (outcome: McpCall['outcome'], digests: CallDigests): Promise<void> =>
    transaction(async (trx) => {
      await lockRun(trx, { id: run.id });
      const called = { serverName, tool: tool.replace(/[^\x21-\x7e]/g, '?').slice(0, text.mcpToolName.max), outcome };
      const of = { id, orgId: run.orgId, projectId: run.projectId, runId: run.id };
      await McpCall.insert(trx, { ...of, ...called, createdAt, durationMs: now() - createdAt });
      const { arguments: asked = null, result = null } = digests;
      await addRunCall(trx, run, 'tool', id, { ...called, arguments: asked, result });
    });
}
