// Contexts of a run's agent steps: they share one place, its gateway and its checkout.
import type { Account, Step } from './contract.ts';
import { drivers } from './harness/drivers.ts';
import type { Harness, Task } from './harness/port.ts';
import { prefixOf } from './isolation/caps.ts';
import { ports, socketsOf } from './isolation/cell.ts';
import { newAccount } from './isolation/confinement.ts';
import { openContainer, watchdogArguments } from './isolation/container.ts';
import { type Isolation, launchOf, scriptIn } from './isolation/isolation.ts';
import { makePlace, type Place } from './isolation/place.ts';
import { type Gateway, openGateway, type Upstreams } from './protocol/gateway.ts';
import { type Meter, openMeter } from './protocol/meter.ts';
import { openModels } from './protocol/models.ts';
import { inGroup, openGroup, type RunSettings, type StepContext } from './step-context.ts';
import { openCheckpoints } from './workspace/checkpoint-upload.ts';
import { systemParts, systemPrompt, turnParts } from './workspace/instructions.ts';
import { type Checkout, checkOut } from './workspace/repository.ts';
import { retain } from './workspace/retention.ts';
import { installSkills } from './workspace/skills.ts';

interface Shared {
  place: Place;
  account: Account | undefined;
  gateway: Gateway;
  checkout: Checkout;
  /** Sessions whose files are in the place. */
  sessions: Set<string>;
}

export function openAgentContexts(settings: RunSettings) {
  const { platform, capabilities, lease, limits } = settings;
  const upstreams: Upstreams = { ...capabilities.models, mcp: {} };
  const models = openModels(platform, lease, upstreams, capabilities.models);
  const upload = openCheckpoints(platform, lease, capabilities.mirrors);
  const meter = openMeter(platform, lease, settings.askAgainMs);
  const run = openShared(settings, upstreams, meter);
  let session: string | null = null;

  async function prepare(step: Step, maxCalls: number): Promise<StepContext> {
    const { name, harness, skillRepos, userPrompt, isReadOnly } = step.agent;
    const { isolation, caps } = capabilities;
    const found = capabilities.found.find((one) => one.harness === harness);
    if (!found || !isolation) throw new Error(`This runner has no ${harness}.`);
    const { place, account, gateway, checkout, sessions } = await run.share(isolation.level, name, step);
    const skills = await installSkills(platform, lease, skillRepos, place, account);
    const isolated = isolate(settings, isolation, { ...place, isReadOnly }, account, step);
    // A session whose files cannot be restored is not resumed.
    const resume = step.resumeSessionId && sessions.has(step.resumeSessionId) ? step.resumeSessionId : null;
    const turn = turnParts(step, resume !== null);
    session = resume;
    const task: Task = {
      ...isolated.launch,
      ...requestOf(step),
      ...(await connectServers(settings, upstreams, gateway)),
      env: { ...isolated.launch.env, ARTIFACTS: place.artifacts, RUN_ID: lease.runId },
      program: found.program,
      home: place.home,
      prompt: turn.map(({ text }) => text).join('\n\n'),
      instructions: systemPrompt(found.harness, userPrompt, checkout.instructions, skills.text),
      resume,
      readOnly: isReadOnly,
      maxCalls,
    };
    return {
      place,
      description:
        `${isolation.description} ${caps.agents.description}\n${checkout.description}\n${skills.description}`.trim(),
      prompt: [...systemParts(userPrompt, checkout.instructions, skills.text), ...turn],
      version: found.version,
      limits,
      enclosure: isolated.enclosure,
      processOf: isolated.processOf,
      models: await models.begin(),
      meter,
      start: (on) => drivers[found.harness](task, on),
      remember: (begun) => {
        sessions.add(begun);
        session = begun;
      },
      // Nothing that a read-only agent leaves in the checkout outlives the mission.
      save: isReadOnly ? async () => {} : () => upload(step, isolated.runScript, place, checkout.base, () => session),
      deliver: isReadOnly ? async () => {} : checkout.deliver,
      clear: isolated.close,
    };
  }

  return { prepare, close: run.close };
}

/** The place, gateway and checkout of a run: the first step makes them, the others share them. */
function openShared({ platform, lease, capabilities }: RunSettings, upstreams: Upstreams, meter: Meter) {
  const { mirrors, retention } = capabilities;
  let shared: Shared | undefined;
  const closing: (() => Promise<void>)[] = [];
  return {
    async share(level: Isolation['level'], author: string, { checkpoint }: Step): Promise<Shared> {
      if (shared) return shared;
      const account = level === 'none' ? undefined : await newAccount();
      const place = await makePlace('', account);
      closing.push(place.remove);
      const keep = () => (retention ? retain(retention, place.work, lease.runId) : Promise.resolve());
      // The place is removed even when it could not be retained.
      closing.push(() => keep().catch((error) => console.error(`${lease.runId}: ${error.message}`)));
      const gateway = await openGateway(upstreams, level === 'none' ? null : socketsOf(place).gateway, meter);
      closing.push(gateway.close);
      const checkout = await checkOut(platform, { lease, place, account, mirrors, author, checkpoint });
      shared = { place, account, gateway, checkout, sessions: new Set(checkout.sessions) };
      return shared;
    },
    async close(): Promise<void> {
      for (const close of closing.reverse()) await close();
    },
  };
}

/** The gateway's address for the agent, and the MCP servers behind it. */
async function connectServers(
  { platform, lease }: RunSettings,
  upstreams: Upstreams,
  { key, port }: Gateway,
): Promise<Pick<Task, 'gateway' | 'mcp'>> {
  const url = `http://127.0.0.1:${port || ports.gateway}`;
  const servers = await platform.mcpServers(lease);
  const headers = { authorization: platform.authorization, 'x-lease-id': lease.leaseId };
  upstreams.mcp = Object.fromEntries(servers.map(({ serverName, url: base }) => [serverName, { base, headers }]));
  const mcp = Object.fromEntries(servers.map(({ serverName }) => [serverName, `${url}/mcp/${serverName}`]));
  return { gateway: { url, key }, mcp };
}

const requestOf = ({ agent: { model, effort }, outputSchema }: Step): Pick<Task, 'model' | 'effort' | 'schema'> => ({
  model,
  effort: effort?.toLowerCase() ?? null,
  schema: outputSchema === null ? null : JSON.parse(outputSchema),
});

/** The cell, container or cgroup of a step, with the launch of its harness and of scripts beside it. */
function isolate(
  { capabilities: { caps }, limits, graceMs }: RunSettings,
  isolation: Isolation,
  place: Place,
  account: Account | undefined,
  step: Step,
) {
  const { level, containers } = isolation;
  const isServer = step.agent.harness === 'opencode';
  const container = containers && openContainer(containers, place, account, limits, isServer);
  const group = openGroup(caps.agents, step, limits);
  const prefix = prefixOf(caps.agents, limits);
  const launch = launchOf(level, place, account, graceMs, isServer, prefix, container);
  return {
    launch: { ...launch, group: group ?? undefined },
    enclosure:
      containers && container
        ? { ...container, watchdogArguments: watchdogArguments(containers, container) }
        : group && inGroup(group),
    processOf: container ? container.firstProcess : async ({ pid }: Harness) => pid,
    runScript: scriptIn(isolation, place, account, limits, prefix),
    close: async () => group?.close(),
  };
}
