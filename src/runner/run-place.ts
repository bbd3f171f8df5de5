// Working folders of a run: steps that are isolated in the same way share one, with its checkout, its environment and its egress proxy.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Account, Environment, Limits, Step } from './contract.ts';
import { type Plan, planOf } from './environment.ts';
import { newAccount } from './isolation/accounts.ts';
import type { Caps } from './isolation/caps.ts';
import { socketsOf } from './isolation/cell.ts';
import type { Containers } from './isolation/engine.ts';
import { hasEgress, type Isolation } from './isolation/level.ts';
import { makePlace, type Place } from './isolation/place.ts';
import { divideLimits, openServices, type Services } from './isolation/services.ts';
import { openAuthority } from './network/authority.ts';
import { type ConnectionCounter, countConnections } from './network/connections.ts';
import type { RouteSettings } from './network/dialer.ts';
import { type EgressProxy, openEgressProxy } from './network/egress-proxy.ts';
import { openHostSecrets } from './network/host-secrets.ts';
import type { Interception } from './network/intercept.ts';
import { addAuthorities, replaceAuthorities } from './network/trust.ts';
import type { RunSettings } from './step-context.ts';
import { type Checkout, checkOut } from './workspace/repository.ts';
import { retain } from './workspace/retention.ts';

export interface RunPlace {
  isolation: Isolation;
  caps: Caps;
  limits: Limits;
  place: Place;
  account: Account | undefined;
  checkout: Checkout;
  /** Containers with the image of the environment. */
  containers: Containers | undefined;
  /** Services of the environment; null if it has none, or there are no containers here. */
  services: Services | null;
  /** The proxy that enforces the policy; null if nothing is enforced, or there is no network at all. */
  egress: EgressProxy | null;
  connections: ConnectionCounter;
  plan: Plan;
  /** Intercepts requests to the hosts for which the mission has secrets; null if it has no such secrets. */
  interception: Interception | null;
  /** Whether the environment is prepared. */
  isPrepared: boolean;
}

export type RunPlaces = ReturnType<typeof openPlaces>;

export function openPlaces(settings: RunSettings) {
  const { platform, capabilities, lease } = settings;
  const { mirrors, hasNotes, retention, isolation: ofAgents, scripts, caps, routes, trust } = capabilities;
  const opened = new Map<Isolation, RunPlace>();
  const closing: (() => Promise<void>)[] = [];

  async function open(isolation: Isolation, step: Step, startSha: string | null): Promise<RunPlace> {
    const isScript = isolation === scripts;
    // Agents without isolation run as the runner's user; scripts run as another user if possible.
    const account = isolation.level === 'none' && !isScript ? undefined : await newAccount();
    const place = await makePlace('', account, trust ? addAuthorities(trust) : null, isolation.containers?.pod?.folder);
    closing.push(place.remove);
    const keep = () => (retention && !isScript ? retain(retention, place.work, lease.runId) : Promise.resolve());
    // The folder of the run is removed even when its workspace could not be kept.
    closing.push(() => keep().catch((error) => console.error(`${lease.runId}: ${error.message}`)));
    const connections = countConnections();
    const { agent, checkpoint } = step;
    const from = { mirrors, hasNotes, checkpoint, startSha };
    const checkout = await checkOut(platform, { lease, place, account, author: agent.name, ...from });
    const plan = await planOf(step.environment, place.work);
    const interception = await openInterception(plan, isolation, place, routes);
    const egress = hasEgress(isolation.level)
      ? await openEgressProxy(socketsOf(place).egress, connections.add, routes, interception)
      : null;
    if (egress) closing.push(egress.close);
    const shared = shareOf(plan, isolation, settings.limits);
    if (shared.services) closing.push(shared.services.remove);
    return {
      isolation,
      caps: isScript ? caps.scripts : caps.agents,
      ...shared,
      place,
      account,
      checkout,
      egress,
      connections,
      plan,
      interception,
      isPrepared: false,
    };
  }

  return {
    /** The folder and isolation for a step, opened when a step first needs them. @param startSha The commit to begin from */
    async of(step: Step, startSha: string | null = null): Promise<RunPlace> {
      const isolation = step.agent.harness === 'shell' ? scripts : ofAgents;
      if (!isolation) throw new Error(`This runner does not offer the harness ${step.agent.harness}.`);
      const found = opened.get(isolation) ?? (await open(isolation, step, startSha));
      opened.set(isolation, found);
      found.interception?.secrets.renew(step.environment.secrets);
      return found;
    },
    /** Registers a callback to run before the working folders are removed. */
    beforeClosing: (close: () => Promise<void>) => void closing.push(close),
    async close(): Promise<void> {
      for (const close of closing.reverse()) await close();
    },
  };
}

/** TLS connections to hosts with secrets end at the egress proxy; the programs behind it trust the proxy's certificate authority. */
async function openInterception(
  { hostSecrets, notes }: Plan,
  { level }: Isolation,
  place: Place,
  { roots }: RouteSettings,
): Promise<Interception | null> {
  if (hostSecrets.length === 0) return null;
  if (!hasEgress(level)) {
    notes.push(`Secrets for hosts need a cell or container: ${hostSecrets.map(({ name }) => name).join(', ')}.`);
    return null;
  }
  const authority = openAuthority();
  place.trust = await replaceAuthorities(path.join(place.skills, '.trust'), `${roots}\n${authority.certificate}`);
  return { authority, secrets: openHostSecrets(hostSecrets), roots: createSecureContext({ ca: roots }) };
}

/** Environment variables of setup and agents. */
export const variablesOf = ({ plan, interception }: RunPlace): Record<string, string> => ({
  ...plan.variables,
  ...interception?.secrets.placeholders,
});

/** The containers and services for a working folder, none of them started, and the limits that services leave to the mission. */
function shareOf(
  { template, setupSecrets }: Plan,
  isolation: Isolation,
  most: Limits,
): Pick<RunPlace, 'containers' | 'services' | 'limits'> {
  const wanted = template.services;
  const containers = isolation.containers && { ...isolation.containers };
  const { own, each } = divideLimits(withinOf(most, template), wanted.length);
  const services =
    containers && !containers.pod && wanted.length > 0 ? openServices(wanted, containers, each, setupSecrets) : null;
  return { containers, services, limits: own };
}

/** Limits of the mission, within the limits of the runner. */
function withinOf(most: Limits, { cpus, memoryMb, diskMb, processes }: Environment): Limits {
  const least = (bound: number, wanted: number | null, unit = 1) => (wanted ? Math.min(bound, wanted * unit) : bound);
  return {
    cpus,
    memoryBytes: least(most.memoryBytes, memoryMb, 1024 ** 2),
    diskBytes: least(most.diskBytes, diskMb, 1024 ** 2),
    processes: least(most.processes, processes),
  };
}

/** Writes the script of a step to the script file of the run. */
export const writeScript = ({ place }: RunPlace, script: string): Promise<void> => writeFile(place.file, script);
