// MCP servers that run in the sandboxes of missions, for the runtime that holds a run. The runtime starts them as declared, reports their
// tools, and asks before each call. People approve the tools of such a server like the tools of a remote server.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { invalid } from '#foundation/problem.ts';
import { Project } from '../../projects/projects/model.ts';
import { beginToolCall, endToolCall } from '../../work/runs/spans.ts';
import {
  admitCall,
  type LeaseHold,
  needsPerson,
  recorder,
  runningRun,
  type ServerOfRun,
  serverOfRun,
} from './gateway.ts';
import type { Launch } from './isolation.ts';
import { McpBinding, type McpCall, obstacleOf, toolsFor } from './model.ts';
import { McpServerError, unsealed } from './remote.ts';
import { noteSandboxFailure, noteSandboxTools, readTools } from './tools.ts';
import { type ConfigFile, markDrift, readConfigFile } from './view.ts';

interface Value {
  name: string;
  value: string;
}

export interface RunMcpCommand extends Launch {
  serverName: string;
  env: Value[];
  /** Values of secrets, for `${secret:NAME}` in `args` and `env`. */
  credentials: Value[];
  /** Required checksum of the first package; null when no checksum is recorded yet. */
  packageIntegrity: string | null;
  /** Reason why the server must not be started; null when it may be. */
  refusal: string | null;
}

/** The MCP servers that the runtime has to start in the sandbox for the agent of the run. @throws 404, or 409 `lease_lost` */
export async function commandsOfRun(caller: Caller, hold: LeaseHold): Promise<RunMcpCommand[]> {
  const { projectId, agentRole } = await runningRun(caller, hold);
  const filter = { projectId, transport: 'sandbox' as const, enabled: true };
  const isOfRole = ({ roles }: McpBinding) => agentRole !== null && roles.includes(agentRole);
  if (!(await McpBinding.findAll(filter)).some(isOfRole)) return [];
  const file = await readConfigFile(await Project.get({ id: projectId }));
  await markDrift(projectId, file);
  const bindings = (await McpBinding.findAll(filter)).filter(isOfRole);
  return Promise.all(bindings.map((binding) => commandOf(binding, file)));
}

async function commandOf(binding: McpBinding, file: ConfigFile): Promise<RunMcpCommand> {
  const { serverName, packageIntegrity } = binding;
  const launch = file.declared.find(({ name }) => name === serverName)?.launch;
  const obstacle = obstacleOf(binding);
  const refusal = obstacle ? obstacle[1] : launch ? null : `The config file cannot be read: ${file.configError}`;
  if (refusal !== null || !launch)
    return {
      ...{ serverName, packageIntegrity, refusal },
      packages: [],
      program: null,
      args: [],
      env: [],
      credentials: [],
    };
  const { credentials } = await unsealed(binding.id);
  return {
    ...launch,
    serverName,
    packageIntegrity,
    refusal,
    env: valuesOf(launch.env),
    credentials: valuesOf(credentials),
  };
}

const valuesOf = (values: Record<string, string>): Value[] =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

interface OfServer extends LeaseHold {
  serverName: string;
}

export interface ReportedTools extends OfServer {
  packageIntegrity?: string | null | undefined;
  /** Tools that the server lists, as JSON. */
  tools?: string | null | undefined;
  error?: string | null | undefined;
}

export interface UsableTools {
  /** Names of the tools that the run's agent may use. */
  tools: string[];
  /** Reason why the agent may use no tool of the server. */
  refusal: string | null;
}

/**
 * Records the tools of a server that the runtime started, or the reason why it could not start the server. @throws 400, 404, or 409
 * `lease_lost`
 */
export async function reportTools(caller: Caller, report: ReportedTools): Promise<UsableTools> {
  const { serverName, packageIntegrity: reported = null, tools, error } = report;
  const { binding, role } = await serverOfRun(caller, report, serverName, 'sandbox');
  if (error) return refused(binding, error);
  const pinned = binding.packageIntegrity ?? reported;
  if (pinned !== reported) return refused(binding, 'The package has a different checksum than at its first run.');
  try {
    const noted = await noteSandboxTools(binding, readTools(listOf(tools)), pinned);
    const obstacle = obstacleOf(noted);
    if (obstacle) return { tools: [], refusal: obstacle[1] };
    return { tools: toolsFor(noted, role).map(({ name }) => name), refusal: null };
  } catch (failure) {
    if (!(failure instanceof McpServerError)) throw failure;
    return refused(binding, failure.message);
  }
}

async function refused(binding: McpBinding, refusal: string): Promise<UsableTools> {
  await noteSandboxFailure(binding, refusal);
  return { tools: [], refusal };
}

function listOf(json: string | null | undefined): unknown[] {
  try {
    const list: unknown = JSON.parse(json ?? '');
    if (Array.isArray(list)) return list;
  } catch {
    // Invalid JSON causes the same error as JSON other than a list.
  }
  throw invalid.field('tools', 'must be a JSON list');
}

export interface AskedCall extends OfServer {
  tool: string;
  /** Arguments of the call as JSON; absent before a person has decided about the call. */
  arguments?: string | null | undefined;
  questionId?: string | null | undefined;
}

/**
 * Checks that a tool may be called now. Returns `needsPerson` when a person has to decide first. @throws 403 for a decision about another
 * call, 404 for a tool that is not approved, 409
 */
export async function admitSandboxCall(caller: Caller, call: AskedCall): Promise<{ needsPerson: boolean }> {
  const server: ServerOfRun = await serverOfRun(caller, call, call.serverName, 'sandbox');
  if (!call.questionId && (await needsPerson(server, call.tool))) return { needsPerson: true };
  await admitCall(server, call.tool, call.arguments ?? '{}', call.questionId ?? undefined);
  return { needsPerson: false };
}

export interface ReportedCall extends OfServer {
  tool: string;
  outcome: McpCall['outcome'];
  durationMs: number;
  argumentsSha256?: string | null | undefined;
  resultSha256?: string | null | undefined;
}

/** Records a call that the runtime has made. @throws 404, or 409 `lease_lost` */
export async function reportSandboxCall(caller: Caller, report: ReportedCall): Promise<{ ok: true }> {
  const server = await serverOfRun(caller, report, report.serverName, 'sandbox');
  const { tool, outcome, serverName, argumentsSha256, resultSha256 } = report;
  const beganAt = now() - report.durationMs;
  await recorder(server, tool, beganAt)(outcome, { arguments: argumentsSha256, result: resultSha256 });
  endToolCall(await beginToolCall(server.run.id, serverName, tool, beganAt), outcome, now());
  return { ok: true };
}
