// Services beside a mission: containers in one network namespace with those of the mission. It has no interface but loopback, so that
// a service is at `localhost` and reaches nothing else: the ports of the gateway and of the proxy refuse processes of other containers
// than theirs. One more container holds the namespace for as long as the mission.
import { execFile, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Environment, Limits } from '../contract.ts';
import { type Containers, engineEnvironment, userNamespace } from './engine.ts';
import { type ImageSource, pullImage } from './image.ts';
import { makeTemporaryFolder } from './place.ts';

type Service = Environment['services'][number];

export interface Services {
  /** Returns once all are ready. @throws with the name of a service that fails or is not ready in time, and its last lines */
  start(source: Omit<ImageSource, 'engine'>, timeoutMs: number): Promise<void>;
  /** Reason why a service no longer runs; empty while all do. */
  failure(): string;
  remove(): Promise<void>;
}

const [askAgainMs, checkTimeoutMs] = [250, 10_000];
/** A service without a health check is ready once it has run for so long. */
const settledMs = 2_000;
const longestTail = 1_500;

/** Entrypoints of common images begin as root, take a folder over and continue as another user. */
const capabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'NET_BIND_SERVICE', 'SETGID', 'SETUID'];

/** With services, half of the memory and of the processes of a mission is its own; the services have equal parts of the other half. */
export function divide(limits: Limits, services: number): { own: Limits; each: Limits } {
  const part = (parts: number): Limits => ({
    ...limits,
    cpus: limits.cpus && limits.cpus / parts,
    memoryBytes: Math.floor(limits.memoryBytes / parts),
    processes: Math.floor(limits.processes / parts),
  });
  return services === 0 ? { own: limits, each: limits } : { own: part(2), each: part(2 * services) };
}

/** @param containers The containers of the mission, whose network is set here. @param limits The limits of one service. */
export function openServices(services: readonly Service[], containers: Containers, limits: Limits): Services {
  const { program: engine, image } = containers;
  let group: Group | undefined;
  let isRemoved = false;
  return {
    async start(source, timeoutMs) {
      if (containers.network) return;
      for (const { name, image } of services) {
        await pullImage({ ...source, engine }, image).catch((error) => {
          throw new Error(`the service ${name}: ${error.message}`);
        });
      }
      // Removes the containers of a failed attempt.
      await group?.remove();
      group = await openGroup(engine);
      if (isRemoved) await group.remove();
      await startIn(group, services, { image, limits, source, timeoutMs });
      containers.network = `container:${group.holder}`;
    },
    failure: () => group?.failure() ?? '',
    async remove() {
      isRemoved = true;
      await group?.remove();
    },
  };
}

type Group = Awaited<ReturnType<typeof openGroup>>;

/** Containers that end together, also when the runner is killed. */
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
      // The holder is removed last: an engine refuses to remove a container whose network others use.
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
  source: Omit<ImageSource, 'engine'>;
  timeoutMs: number;
}

async function startIn(group: Group, services: readonly Service[], { image, limits, source, timeoutMs }: Start) {
  const { engine, holder, folder } = group;
  const timeout = AbortSignal.timeout(timeoutMs);
  const until = (running: Running, isReady: () => Promise<boolean>) =>
    waitFor(running, isReady, timeout, source.signal);
  const network = group.run('network of the services', holder, holderOptions(engine, image));
  await until(network, () => isUp(engine, holder));
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

/** Options of every container. They give it no time to stop, because Podman would wait for ten seconds. */
const usual = [
  ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
  ...['--stop-timeout', '0', '--log-driver', 'none'],
];

export const boundsOf = ({ cpus, memoryBytes, processes }: Omit<Limits, 'diskBytes'>): string[] => [
  ...['--memory', `${memoryBytes}b`, '--memory-swap', `${memoryBytes}b`, '--pids-limit', String(processes)],
  ...(cpus ? ['--cpus', String(cpus)] : []),
];

const ofHolder = { cpus: null, memoryBytes: 32 * 1024 ** 2, processes: 8 };

const holderOptions = (engine: string, image: string): string[] => [
  ...userNamespace(engine),
  ...['--network', 'none', '--hostname', 'container', '--read-only', ...usual, ...boundsOf(ofHolder)],
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
  ...['--network', `container:${holder}`, ...usual, ...capabilities.flatMap((name) => ['--cap-add', name])],
  ...[...boundsOf(limits), '--env-file', variables, image, ...(command ?? [])],
];

interface Running {
  label: string;
  /** Name of the service's container. */
  name: string;
  pid: number | undefined;
  /** Reason why the service has ended, with its last lines; empty while it runs. */
  failure(): string;
  /** The last lines of the service's output. */
  tail(): string;
  /** Output of the service's last health check. */
  said: string;
}

function runContainer(engine: string, label: string, name: string, args: string[]): Running {
  const child = spawn(engine, ['run', '--name', name, ...args], {
    env: engineEnvironment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [tail, failure] = ['', ''];
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-longestTail);
    });
  }
  const end = (why: string) => {
    failure ||= `the ${label} ${why}\n${tail}`.trim();
  };
  child.once('error', ({ message }) => end(message));
  child.once('close', (code) => end(`has ended with the exit code ${code}${code === 137 ? ' (killed)' : ''}`));
  return { label, name, pid: child.pid, failure: () => failure, tail: () => tail, said: '' };
}

async function waitFor(
  running: Running,
  isReady: () => Promise<boolean>,
  timeout: AbortSignal,
  stopping: AbortSignal,
): Promise<void> {
  const begun = Date.now();
  while (!(await isReady())) {
    if (running.failure()) throw new Error(running.failure());
    if (stopping.aborted) throw new Error('stopped');
    if (timeout.aborted) {
      const seconds = Math.round((Date.now() - begun) / 1_000);
      const lines = [`the ${running.label} is not ready after ${seconds} s`, running.said, running.tail()];
      throw new Error(lines.filter(Boolean).join('\n').trim());
    }
    await wait(askAgainMs);
  }
}

const ask = (engine: string, ...args: string[]) =>
  promisify(execFile)(engine, args, { env: engineEnvironment(), timeout: checkTimeoutMs, killSignal: 'SIGKILL' });

const isUp = (engine: string, name: string): Promise<boolean> =>
  ask(engine, 'inspect', '--format', '{{.State.Running}}', name).then(
    ({ stdout }) => stdout.trim() === 'true',
    () => false,
  );

function readiness(engine: string, { healthCheck }: Service, running: Running): () => Promise<boolean> {
  const { name } = running;
  let upSince: number | null = null;
  return async () => {
    if (running.failure() || !(await isUp(engine, name))) return false;
    upSince ??= Date.now();
    if (healthCheck === null) return Date.now() - upSince >= settledMs;
    return ask(engine, 'exec', name, 'sh', '-c', healthCheck).then(
      () => true,
      (error) => {
        const output = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim();
        running.said = output && `Its health check says: ${output.slice(-300)}`;
        return false;
      },
    );
  };
}
