// Services next to a mission: containers that share a network namespace with the containers of the mission. The namespace has only a
// loopback interface. The mission reaches a service at `localhost`; a service reaches no other host, because the ports of the gateway and
// the proxy refuse processes of the services. One more container holds the namespace for as long as the mission lasts.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Limits } from '../contract.ts';
import { boundsOf, type Containers, userNamespace } from './engine.ts';
import { type ImageRequest, pullImage } from './image.ts';
import { makeTemporaryFolder } from './place.ts';
import {
  isContainerRunning,
  type Running,
  readiness,
  runContainer,
  type Service,
  waitFor,
  writtenBy,
} from './service-container.ts';

export interface Services {
  /**
   * Starts the services and returns once all are ready. @throws with the name of a service that fails or is not ready in time, and its last
   * lines
   */
  start(source: Omit<ImageRequest, 'engine'>, timeoutMs: number): Promise<void>;
  /** Resolves once all services have become ready and one of them has ended. The value is the reason why this service has ended. */
  failed: Promise<string>;
  /** Reason why a service no longer runs; empty while all do. */
  failure(): string;
  /** Bytes that all services together have written. */
  diskBytes(): Promise<number>;
  remove(): Promise<void>;
}

/**
 * Capabilities that the entrypoints of common images need. Such an entrypoint starts as root, takes ownership of a folder and continues as
 * another user.
 */
const capabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'NET_BIND_SERVICE', 'SETGID', 'SETUID'];

/** With services, the mission keeps half of its memory and processes; the services share the other half equally. */
export function divideLimits(limits: Limits, services: number): { own: Limits; each: Limits } {
  const part = (parts: number): Limits => ({
    ...limits,
    cpus: limits.cpus && limits.cpus / parts,
    memoryBytes: Math.floor(limits.memoryBytes / parts),
    processes: Math.floor(limits.processes / parts),
  });
  return services === 0 ? { own: limits, each: limits } : { own: part(2), each: part(2 * services) };
}

/**
 * Creates the containers of services, without starting them. @param containers The containers of the mission, whose network is set here.
 * @param limits The limits of one service. @param secrets Values by name, for variables that contain `${secret:NAME}`.
 */
export function openServices(
  services: readonly Service[],
  containers: Containers,
  limits: Limits,
  secrets: Readonly<Record<string, string>> = {},
): Services {
  const { program: engine, image } = containers;
  let group: Group | undefined;
  let isRemoved = false;
  let fail: (why: string) => void;
  const failed = new Promise<string>((resolve) => {
    fail = resolve;
  });
  return {
    failed,
    async start(source, timeoutMs) {
      if (containers.network) return;
      const resolved = services.map((service) => withSecrets(service, secrets));
      for (const { name, image } of services) {
        await pullImage({ ...source, engine }, image).catch((error) => {
          throw new Error(`the service ${name}: ${error.message}`);
        });
      }
      // Removes the containers of a failed attempt.
      await group?.remove();
      group = await openGroup(engine);
      if (isRemoved) await group.remove();
      await startIn(group, resolved, { image, limits, source, timeoutMs });
      group.watch(fail);
      containers.network = `container:${group.holder}`;
    },
    failure: () => group?.failure() ?? '',
    diskBytes: async () => (await group?.diskBytes()) ?? 0,
    async remove() {
      isRemoved = true;
      await group?.remove();
    },
  };
}

/**
 * Returns the service with the values of secrets inserted into its environment variables. @throws for a secret that the mission does not
 * have, or whose value cannot be in an environment variable of a container
 */
function withSecrets(service: Service, secrets: Readonly<Record<string, string>>): Service {
  const variables = service.variables.map(({ name, value }) => {
    const resolve = (_: string, secret: string): string => {
      const found = secrets[secret];
      const refuse = (why: string) => new Error(`the service ${service.name}: the secret ${secret} of ${name} ${why}`);
      if (found === undefined) throw refuse('is not a secret for the setup of this mission');
      if (/[\r\n]/.test(found)) throw refuse('has several lines');
      return found;
    };
    return { name, value: value.replace(/\$\{secret:(\w+)\}/g, resolve) };
  });
  return { ...service, variables };
}

type Group = Awaited<ReturnType<typeof openGroup>>;

/** Containers that end together, even when the runner is killed. */
async function openGroup(engine: string) {
  const { folder, guard, remove } = await makeTemporaryFolder('services-');
  const started: Running[] = [];
  let isRemoved = false;
  return {
    engine,
    folder,
    /** Name of the container that holds the network. */
    holder: `${path.basename(folder).toLowerCase()}-${process.pid}`,
    run(label: string, name: string, args: string[]): Running {
      if (isRemoved) throw new Error('stopped');
      const running = runContainer(engine, label, name, args);
      started.push(running);
      const pids = started.flatMap(({ pid }) => pid ?? []);
      // The containers are removed in reverse order: an engine refuses to remove the first one while other containers use its network.
      guard(
        pids,
        `${engine} ${started
          .map((one) => one.name)
          .reverse()
          .join(' ')}`,
      );
      return running;
    },
    failure: () => started.map((one) => one.failure()).find(Boolean) ?? '',
    async diskBytes() {
      const [, ...services] = started;
      const sizes = await Promise.all(services.map(({ name }) => writtenBy(engine, name).catch(() => 0)));
      return sizes.reduce((sum, bytes) => sum + bytes, 0);
    },
    /** Calls `fail` with the reason when a container of the group ends by itself. Containers that `remove` ends cause no call. */
    watch(fail: (why: string) => void): void {
      for (const one of started) void one.ended.then((why) => isRemoved || fail(why));
    },
    async remove() {
      isRemoved = true;
      await remove();
    },
  };
}

interface Start {
  /** Image of the containers of the mission. */
  image: string;
  /** Limits of one service. */
  limits: Limits;
  source: Omit<ImageRequest, 'engine'>;
  timeoutMs: number;
}

async function startIn(group: Group, services: readonly Service[], { image, limits, source, timeoutMs }: Start) {
  const { engine, holder, folder } = group;
  const timeout = AbortSignal.timeout(timeoutMs);
  const until = (running: Running, isReady: () => Promise<boolean>) =>
    waitFor(running, isReady, timeout, source.signal);
  const network = group.run('network of the services', holder, holderOptions(engine, image));
  await until(network, () => isContainerRunning(engine, holder));
  await Promise.all(
    services.map(async (service) => {
      const file = path.join(folder, `${service.name}.env`);
      await writeFile(file, service.variables.map(variableLine).join(''), { mode: 0o600 });
      const options = serviceOptions(engine, service, holder, file, limits);
      const running = group.run(`service ${service.name}`, `${holder}-${service.name}`, options);
      await until(running, readiness(engine, service, running));
      source.log(`The service ${service.name} is ready.\n`);
    }),
  );
}

const variableLine = ({ name, value }: { name: string; value: string }): string =>
  `${name}=${value.replaceAll('\n', ' ')}\n`;

/** Options of every container. Without a stop time of zero, Podman would wait for ten seconds. */
const defaultVariables = [
  ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
  ...['--stop-timeout', '0', '--log-driver', 'none'],
];

const ofHolder = { cpus: null, memoryBytes: 32 * 1024 ** 2, processes: 8 };

const holderOptions = (engine: string, image: string): string[] => [
  ...userNamespace(engine),
  ...[
    '--network',
    'none',
    '--hostname',
    'container',
    '--read-only',
    ...defaultVariables,
    ...boundsOf(engine, ofHolder),
  ],
  ...['--entrypoint', 'sleep', image, 'infinity'],
];

const serviceOptions = (
  engine: string,
  { image, command }: Service,
  holder: string,
  variables: string,
  limits: Limits,
): string[] => [
  ...userNamespace(engine, `container:${holder}`),
  ...['--network', `container:${holder}`, ...defaultVariables, ...capabilities.flatMap((name) => ['--cap-add', name])],
  ...[...boundsOf(engine, limits), '--env-file', variables, image, ...(command ?? [])],
];
