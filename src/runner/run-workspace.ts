// Workspace of a run: one place for its agents, with the gateway that is their only way out, and one for each script.
import { open, rm } from 'node:fs/promises';
import type { Account, Limits, RunLease, Step } from './contract.ts';
import { reportCheckpoint } from './generated/operations.ts';
import type { Found } from './harness/discovery.ts';
import { drivers } from './harness/drivers.ts';
import type { Harness, Listener, Task } from './harness/port.ts';
import { shell } from './harness/shell.ts';
import { type Caps, prefixOf } from './isolation/caps.ts';
import { ports, socketsOf } from './isolation/cell.ts';
import type { Cgroup } from './isolation/cgroup.ts';
import { type Confinement, commandFor, newAccount } from './isolation/confinement.ts';
import { openContainer, watchdogArguments } from './isolation/container.ts';
import { type Isolation, launchOf, type RunScript, scriptIn } from './isolation/isolation.ts';
import { makePlace, type Place } from './isolation/place.ts';
import type { HarnessLaunch } from './isolation/process.ts';
import { type Gateway, openGateway, type Upstreams } from './protocol/gateway.ts';
import { openModels, type StepModels } from './protocol/models.ts';
import type { Platform } from './protocol/platform.ts';
import { takeCheckpoint } from './workspace/checkpoint.ts';
import { type PromptPart, systemParts, systemPrompt, turnParts } from './workspace/instructions.ts';
import { type Checkout, checkOut } from './workspace/repository.ts';
import { type Retention, retain } from './workspace/retention.ts';
import { installSkills } from './workspace/skills.ts';

/** Isolation, harnesses, models and folders of this runner. */
export interface RunnerCapabilities {
  confinement: Confinement;
  /** What caps scripts, and what agents. */
  caps: { scripts: Caps; agents: Caps };
  /** What a mission may use at most, whatever its instance type. */
  limits: Limits;
  /** Null: agents are refused. */
  isolation: Isolation | null;
  /** Grows when one is installed. */
  found: Found[];
  models: Pick<Upstreams, 'anthropic' | 'openai'>;
  /** A folder for mirrors of repositories. */
  mirrors: string;
  /** Null: workspaces are removed with their mission. */
  retention: Retention | null;
}

/** Everything that a step needs to run. */
export interface StepContext {
  place: Place;
  /** For the log: how the step is isolated from the machine. */
  description: string;
  version: string;
  limits: Limits;
  /** Cgroup or container of the harness: caps it and ends with the place. Null without one. */
  enclosure: { watchdogArguments: string; isOverMemory(): Promise<boolean> } | null;
  /** Whether its processes can be measured from here. */
  isMeasured: boolean;
  /** Null: it asks none. */
  models: StepModels | null;
  /** Starts the harness of the step. */
  start(on: Listener): Harness;
  /** A later step can continue its session. */
  remember(session: string): void;
  /** The parts of its prompt, each with its id. */
  prompt: readonly PromptPart[];
  /** Keeps the workspace as a checkpoint, if it has changed; also while the harness works. */
  save(): Promise<void>;
  /** Pushes what the agent has committed; called once its harness has ended. */
  deliver(): Promise<void>;
  /** When the step is over. */
  clear(): Promise<void>;
}

export function openRunWorkspace(
  platform: Platform,
  capabilities: RunnerCapabilities,
  lease: RunLease,
  memoryMb: number,
  graceMs: number,
) {
  const { runId, leaseId } = lease;
  const { caps } = capabilities;
  const memoryBytes = Math.min(memoryMb * 1024 ** 2, capabilities.limits.memoryBytes);
  const limits = { ...capabilities.limits, memoryBytes };
  const groupOf = ({ cgroups }: Caps, { stepId }: Step) => cgroups?.(stepId, limits) ?? null;
  const upstreams: Upstreams = { ...capabilities.models, mcp: {} };
  const models = openModels(platform, lease, upstreams, capabilities.models);
  let shared: { place: Place; account: Account | undefined; gateway: Gateway; checkout: Checkout } | undefined;
  const closing: (() => Promise<void>)[] = [];
  /** Sessions whose files are in the shared place. */
  const sessions = new Set<string>();

  /** Of the step that was saved last. */
  let saved: { stepId: string; state: string } | undefined;
  let session: string | null = null;

  async function save({ stepId }: Step, run: RunScript, place: Place, { base }: Checkout): Promise<void> {
    const { file, commitSha, state } = await takeCheckpoint(run, place, base, capabilities.mirrors);
    try {
      if (saved?.stepId === stepId && saved.state === state) return;
      const content = await open(file);
      const contentKey = await platform.upload(lease, 'checkpoint', content).finally(() => content.close());
      await platform.mutate(reportCheckpoint, { ...lease, stepId, contentKey, commitSha, sessionId: session });
      saved = { stepId, state };
    } finally {
      await rm(file, { force: true });
    }
  }

  async function forScript(step: Step): Promise<StepContext> {
    const { kind, description } = capabilities.confinement;
    const account = await newAccount();
    const place = await makePlace(step.prompt, account);
    const { file, work: cwd, artifacts } = place;
    // All that a script gets of the runner's environment is PATH.
    const env = { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', HOME: cwd, ARTIFACTS: artifacts, RUN_ID: runId };
    // Confined scripts have a /tmp of their own.
    if (kind === 'none') Object.assign(env, { TMPDIR: `${place.home}/tmp` });
    const wrap = () => commandFor(kind, place, prefixOf(caps.scripts, limits));
    const group = groupOf(caps.scripts, step);
    const isConfined = kind !== 'none';
    const task = { file, cwd, env, account, graceMs, wrap, isConfined, group: group ?? undefined };
    return {
      place,
      description: `${description} ${caps.scripts.description}`,
      version: process.version,
      limits,
      enclosure: group && inGroup(group),
      isMeasured: true,
      models: null,
      start: (on) => shell(task, on),
      prompt: turnParts(step, false),
      remember: () => {},
      save: async () => {},
      deliver: async () => {},
      async clear() {
        await group?.close();
        await place.remove();
      },
    };
  }

  async function sharedPlace(level: Isolation['level'], author: string, { checkpoint }: Step) {
    if (shared) return shared;
    const account = level === 'none' ? undefined : await newAccount();
    const place = await makePlace('', account);
    closing.push(place.remove);
    const { retention } = capabilities;
    // The place is removed even when it could not be retained.
    if (retention)
      closing.push(() =>
        retain(retention, place.work, runId).catch((error) => console.error(`${runId}: ${error.message}`)),
      );
    const gateway = await openGateway(upstreams, level === 'none' ? null : socketsOf(place).gateway);
    closing.push(gateway.close);
    const { mirrors } = capabilities;
    const checkout = await checkOut(platform, { lease, place, account, mirrors, author, checkpoint });
    for (const restored of checkout.sessions) sessions.add(restored);
    shared = { place, account, gateway, checkout };
    return shared;
  }

  async function forAgent(step: Step, maxCalls: number): Promise<StepContext> {
    const { name, role, harness, model, effort, userPrompt, skillRepos } = step.agent;
    const readOnly = role === 'researcher';
    const { isolation } = capabilities;
    const found = capabilities.found.find((one) => one.harness === harness);
    if (!found || !isolation) throw new Error(`This runner has no ${harness}.`);
    const { place, account, gateway, checkout } = await sharedPlace(isolation.level, name, step);
    const isServer = harness === 'opencode';
    const skills = await installSkills(platform, lease, skillRepos, place, account);
    const { containers } = isolation;
    const container = containers && openContainer(containers, place, account, limits, isServer);
    const group = groupOf(caps.agents, step);
    const enclosure =
      containers && container
        ? { ...container, watchdogArguments: watchdogArguments(containers, container) }
        : group && inGroup(group);
    const launch: HarnessLaunch = launchOf(
      isolation.level,
      place,
      account,
      graceMs,
      isServer,
      prefixOf(caps.agents, limits),
      container,
    );
    const run = scriptIn(isolation, place, account, limits, prefixOf(caps.agents, limits));
    // A session whose files cannot be restored is not resumed.
    const resume = step.resumeSessionId && sessions.has(step.resumeSessionId) ? step.resumeSessionId : null;
    const turn = turnParts(step, resume !== null);
    session = resume;
    const url = `http://127.0.0.1:${gateway.port || ports.gateway}`;
    const servers = await platform.mcpServers(lease);
    const headers = { authorization: platform.authorization, 'x-lease-id': leaseId };
    upstreams.mcp = Object.fromEntries(servers.map(({ serverName, url: base }) => [serverName, { base, headers }]));
    const task: Task = {
      ...launch,
      group: group ?? undefined,
      env: { ...launch.env, ARTIFACTS: place.artifacts, RUN_ID: runId },
      program: found.program,
      home: place.home,
      prompt: turn.map(({ text }) => text).join('\n\n'),
      instructions: systemPrompt(found.harness, userPrompt, checkout.instructions, skills.text),
      model,
      effort: effort?.toLowerCase() ?? null,
      schema: step.outputSchema === null ? null : JSON.parse(step.outputSchema),
      resume,
      readOnly,
      maxCalls,
      gateway: { url, key: gateway.key },
      mcp: Object.fromEntries(servers.map(({ serverName }) => [serverName, `${url}/mcp/${serverName}`])),
    };
    return {
      place,
      description:
        `${isolation.description} ${caps.agents.description}\n${checkout.description}\n${skills.description}`.trim(),
      prompt: [...systemParts(userPrompt, checkout.instructions, skills.text), ...turn],
      version: found.version,
      limits,
      enclosure,
      isMeasured: !container,
      models: await models.begin(),
      start: (on) => drivers[found.harness](task, on),
      remember: (begun) => {
        sessions.add(begun);
        session = begun;
      },
      save: () => save(step, run, place, checkout),
      // A researcher answers a question: what it commits stays in the checkout, which goes with the mission.
      deliver: readOnly ? async () => {} : checkout.deliver,
      clear: async () => group?.close(),
    };
  }

  return {
    prepare: (step: Step, maxCalls: number): Promise<StepContext> =>
      step.agent.harness === 'shell' ? forScript(step) : forAgent(step, maxCalls),
    async close(): Promise<void> {
      for (const close of closing.reverse()) await close();
    },
  };
}

const inGroup = (group: Cgroup) => ({ watchdogArguments: `cgroup ${group.folder}`, isOverMemory: group.isOverMemory });
