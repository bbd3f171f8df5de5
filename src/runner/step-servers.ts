// MCP servers of a step that run in its sandbox, next to the harness. Each server runs in its own cell or container, so that the agent sees
// neither the environment variables nor the packages of the server. The servers start before the harness and end with it.

import type { Step } from './contract.ts';
import { withoutRefused } from './environment.ts';
import { reportMcpTools } from './generated/operations.ts';
import type { Harness } from './harness/port.ts';
import type { IsolatedStep } from './isolated-step.ts';
import { makePlace, type Place } from './isolation/place.ts';
import { type InstalledPackage, installPackages } from './mcp-packages.ts';
import { type McpCommand, RequestRejected } from './protocol/platform.ts';
import type { Questions } from './protocol/questions.ts';
import { openSandboxServer } from './protocol/sandbox-server.ts';
import { type StdioServer, startStdioServer } from './protocol/stdio-server.ts';
import type { ToolServer } from './protocol/tool-server.ts';
import type { RunPlace } from './run-place.ts';
import type { RunSettings, SetupReport } from './step-context.ts';
import { watchUsage } from './step-usage.ts';
import { clip } from './text.ts';

/** Maximum number of servers of one step. */
const maxServers = 10;
const sampleMs = 1_000;

type AddServer = (name: string, server: { own: ToolServer }) => void;

interface Prepared {
  command: McpCommand;
  place: Place;
  /** The installed packages; null for a server that is a file of the repository. */
  installed: InstalledPackage | null;
}

export type StepServers = ReturnType<typeof openStepServers>;

export function openStepServers(
  settings: RunSettings,
  { traceparent, agent: { isReadOnly } }: Step,
  runPlace: RunPlace,
  isolated: IsolatedStep,
  questions: Questions,
) {
  const { egress, plan } = runPlace;
  const [places, servers]: [Place[], StdioServer[]] = [[], []];
  const ended = new AbortController();
  let starting: Promise<unknown> = Promise.resolve();

  async function startAll(commands: readonly McpCommand[], report: SetupReport): Promise<[string, ToolServer][]> {
    const chosen = chooseServers(commands, report);
    if (chosen.length === 0) return [];
    settings.platform.conceal(chosen.flatMap(({ credentials }) => credentials.map(({ value }) => value)));
    egress?.set({ phase: 'setup', policy: plan.network.setup });
    const prepared: Prepared[] = [];
    for (const command of chosen) {
      if (report.signal.aborted) return [];
      const open = () => prepareOne(settings, runPlace, isolated, command, report, places);
      const one = await attempt(settings, command, report, open);
      if (one) prepared.push(one);
    }
    egress?.set({ phase: 'agent', policy: plan.network.agent });
    const start = (one: Prepared) => startOne(runPlace, isolated, isReadOnly, one, report, servers, ended.signal);
    const started = await Promise.all(
      prepared.map(async (one): Promise<[string, ToolServer | null]> => {
        const { serverName } = one.command;
        const open = async () =>
          openSandboxServer({ ...settings, traceparent, questions, serverName, ...(await start(one)) });
        return [serverName, await attempt(settings, one.command, report, open)];
      }),
    );
    return started.filter((one): one is [string, ToolServer] => one[1] !== null);
  }

  async function end(): Promise<void> {
    await starting.catch(() => {});
    ended.abort();
    await Promise.all(servers.splice(0).map((server) => server.end()));
    await Promise.all(places.splice(0).map((place) => place.remove()));
  }

  return {
    /** Adds the servers that the agent may use. A server that fails is left out, and the step continues. */
    async start(commands: readonly McpCommand[], report: SetupReport, add: AddServer): Promise<''> {
      const all = startAll(commands, report);
      starting = all;
      for (const [name, own] of await all) add(name, { own });
      return '';
    },
    /** Returns the harness with an `end` that also ends the servers. */
    endServersWith: (harness: Harness): Harness => ({
      ...harness,
      end: async () => void (await Promise.all([harness.end(), end()])),
    }),
    end,
  };
}

/** The servers that are started; the log says why other servers are not. */
function chooseServers(commands: readonly McpCommand[], { log }: SetupReport): McpCommand[] {
  for (const { serverName, refusal } of commands)
    if (refusal !== null) log(`The MCP server ${serverName} is not started: ${refusal}\n`);
  const allowed = commands.filter(({ refusal }) => refusal === null);
  for (const { serverName } of allowed.slice(maxServers))
    log(`The MCP server ${serverName} is not started: a step has at most ${maxServers}.\n`);
  return allowed.slice(0, maxServers);
}

/** Calls `work`, which prepares or starts one server. A failure is logged and reported, and the mission continues without the server. */
async function attempt<T>(
  { platform, lease }: RunSettings,
  { serverName }: McpCommand,
  { log }: SetupReport,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work();
  } catch (failure) {
    if (failure instanceof RequestRejected && failure.code === 'lease_lost') throw failure;
    const error = clip((failure as Error).message, 500);
    log(`The MCP server ${serverName} is not available: ${error}\n`);
    await platform.mutate(reportMcpTools, { ...lease, serverName, error });
    return null;
  }
}

async function prepareOne(
  settings: RunSettings,
  runPlace: RunPlace,
  isolated: IsolatedStep,
  command: McpCommand,
  report: SetupReport,
  places: Place[],
): Promise<Prepared> {
  const place = await makePlace('', runPlace.account);
  places.push(place);
  const [spec] = command.packages;
  if (!spec) return { command, place, installed: null };
  const installed = await installPackages(settings, runPlace, isolated, place, command, report);
  if (command.packageIntegrity === null || command.packageIntegrity === installed.integrity)
    return { command, place, installed };
  const remedy = 'Remove the binding and bind it again to accept it.';
  throw new Error(`${spec} has a different checksum than at its first run. ${remedy}`);
}

async function startOne(
  runPlace: RunPlace,
  isolated: IsolatedStep,
  isReadOnly: boolean,
  { command, place, installed }: Prepared,
  { log }: SetupReport,
  servers: StdioServer[],
  ended: AbortSignal,
): Promise<{ server: StdioServer; packageIntegrity: string | null }> {
  const { launch, enclosure, processOf } = isolated.open(false, isReadOnly, { home: place.home });
  const resolve = resolverOf(command, runPlace);
  const env = Object.fromEntries(command.env.map(({ name, value }) => [name, resolve(value)]));
  const allowed = withoutRefused(env);
  const refused = Object.keys(env).filter((name) => !(name in allowed));
  if (refused.length > 0)
    throw new Error(`the runner reserves these variables for its own programs: ${refused.join(', ')}`);
  const program = installed?.program ?? command.program!;
  const started = { program, args: command.args.map(resolve), env: { ...allowed, HOME: place.home } };
  const server = await startStdioServer(launch, started, (text) => log(`${command.serverName}: ${text}`));
  servers.push(server);
  // The watchdog needs arguments only for a container: the processes of a cgroup end with the step.
  place.guard(server.process.pid, runPlace.containers && enclosure?.watchdogArguments);
  const usage = watchUsage({ enclosure, processOf, limits: runPlace.limits, place }, server.process, sampleMs, ended);
  usage.exceeded.then(server.fail).catch(() => {});
  return { server, packageIntegrity: installed?.integrity ?? null };
}

/**
 * Replaces `${secret:NAME}` with the credential NAME of the server. If the server has no credential NAME, replaces the text with the
 * placeholder of the secret NAME of the environment. A secret of the environment has a placeholder only if the secret is restricted to a
 * list of hosts.
 */
function resolverOf({ credentials }: McpCommand, { interception }: RunPlace): (text: string) => string {
  const values = new Map(Object.entries(interception?.secrets.placeholders ?? {}));
  for (const { name, value } of credentials) values.set(name, value);
  return (text) =>
    text.replace(/\$\{secret:(\w+)\}/g, (_, name: string) => {
      const value = values.get(name);
      if (value === undefined)
        throw new Error(
          `the secret ${name} is missing: the server has no credential ${name}, and the environment has no secret ${name} limited to a list of hosts`,
        );
      return value;
    });
}
