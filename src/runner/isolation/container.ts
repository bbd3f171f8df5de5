// Runs an agent or a script in a container, which the command line of Docker or Podman starts. A container replaces the cell on a machine
// without bubblewrap, and in an environment that is an image. The container has no network except the network of the mission's services. It
// reaches everything else through the sockets of the runner, which are in a mounted folder.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Account, Limits } from '../contract.ts';
import { listenOn } from '../network/listen.ts';
import { newAccount } from './accounts.ts';
import { commonPaths, packagesOf, socketsOf, withSocketProxy } from './cell.ts';
import {
  adviceFor,
  bounded,
  boundsOf,
  type Container,
  type Containers,
  containersFrom,
  engineEnvironment,
  userNamespace,
} from './engine.ts';
import { makePlace, type Place } from './place.ts';
import { type RunProgram, reasonOf } from './programs.ts';

const [imagePullTimeoutMs, engineTimeoutMs] = [10 * 60_000, 60_000];
/** Interval between two checks for the process of a starting container. */
const searchMs = 250;

/**
 * The program by which a container engine is tested. Like every mission, it writes to the folder of an agent and connects to a socket of
 * the runner.
 */
const probe = `require('fs').writeFileSync('probe', '');
require('net').connect(process.argv[1]).on('connect', () => { console.log(process.version); process.exit(); })
  .on('error', ({ message }) => { console.error('Unix sockets of the runner cannot be reached: ' + message); process.exit(1); });`;

/** Finds the container engine and tests it with a real container. @throws with the reason why no container can run */
export async function findContainers(env?: NodeJS.ProcessEnv): Promise<Containers> {
  const containers = await containersFrom(env);
  const server = createServer((socket) => socket.destroy());
  const version = await inNewContainer(containers, async (run, { gateway }) => {
    await listenOn(server, gateway);
    return run('node', ['-e', probe, gateway]);
  })
    .catch((error) => {
      if (!containers.runtime) throw error;
      throw new Error(`containers cannot be started with CONTAINER_RUNTIME ${containers.runtime}: ${reasonOf(error)}`);
    })
    .finally(() => server.close());
  if (!/^v\d+\./.test(version)) throw new Error(`${containers.image} has no Node.js`);
  return { ...containers, advice: await adviceFor(containers) };
}

/** Runs a program in a new container and returns its output. */
export const runInContainer =
  (containers: Containers): RunProgram =>
  (program, args) =>
    inNewContainer(containers, (run) => run(program, args));

const minLimits: Limits = { cpus: null, memoryBytes: 1024 ** 3, processes: 256, diskBytes: 1024 ** 3 };

async function inNewContainer(
  containers: Containers,
  use: (run: RunProgram, sockets: ReturnType<typeof socketsOf>) => Promise<string>,
): Promise<string> {
  const account = await newAccount();
  const place = await makePlace('', account);
  const container = openContainer(containers, place, account, minLimits, false);
  place.guard(0, watchdogArguments(containers, container));
  const run: RunProgram = async (program, args) => {
    const [file, rest, env] = container.wrap(program, args, { HOME: place.home });
    const options = { env, timeout: imagePullTimeoutMs, killSignal: 'SIGKILL' } as const;
    return (await promisify(execFile)(file, rest, options)).stdout;
  };
  try {
    return await use(run, socketsOf(place));
  } finally {
    await container.remove();
    await place.remove();
  }
}

/** Arguments with which the watchdog ends the container. Empty in a pod, which ends with its runner. */
export const watchdogArguments = ({ program, pod }: Containers, { name }: Container): string =>
  pod ? '' : `${program} ${name}`;

let count = 0;

/**
 * Opens a container in which programs of a mission run.
 * @param containers The property `image` is read only when a program starts, because the image may be built after this call.
 */
export function openContainer(
  containers: Containers,
  place: Place,
  account: Account | undefined,
  limits: Limits,
  isServer: boolean,
  hasDevice = false,
): Container {
  if (containers.pod) return containers.pod.open(place, limits);
  const { program: engine } = containers;
  const name = `${path.basename(path.dirname(place.work)).toLowerCase()}-${process.pid}-${++count}`;
  let [isOverMemory, isRemoved] = [false, false];
  const runEngine = async (...args: string[]): Promise<string> => {
    const options = { env: engineEnvironment(), timeout: engineTimeoutMs, killSignal: 'SIGKILL' } as const;
    return (await promisify(execFile)(engine, args, options)).stdout;
  };
  return {
    name,
    wrap(program, args, env) {
      const { PATH: _, ...passedEnv } = env;
      // Variables are passed in a file of the runner, because everyone on the machine can read a command line.
      const variables = path.join(path.dirname(place.work), `${name}.env`);
      const lines = Object.entries(passedEnv).map(([key, value]) => `${key}=${value.replaceAll('\n', ' ')}\n`);
      writeFileSync(variables, lines.join(''), { mode: 0o600 });
      const options = optionsOf(containers, place, account, limits, program);
      const command = bounded(limits, withSocketProxy('node', place, program, args, isServer, !!containers.network));
      const runtime = containers.runtime ? ['--runtime', containers.runtime] : [];
      const device = hasDevice ? ['--tty'] : [];
      const run = ['run', ...runtime, '--interactive', ...device, '--name', name, '--env-file', variables, ...options];
      return [
        engine,
        [...run, '--entrypoint', command[0]!, containers.image, ...command.slice(1)],
        engineEnvironment(),
      ];
    },
    async firstProcess() {
      for (; !isRemoved; await wait(searchMs)) {
        const pid = Number(await runEngine('inspect', '--format', '{{.State.Pid}}', name).catch(() => ''));
        if (!pid) continue;
        // The engine may be on another machine. A process ID from there may belong to a different process on this machine.
        const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
        return command.includes(place.root) ? pid : null;
      }
      return null;
    },
    ask: async () => void (await runEngine('kill', '--signal', 'TERM', name).catch(() => {})),
    async remove() {
      isRemoved = true;
      const how = await runEngine('inspect', '--format', '{{.State.OOMKilled}}', name).catch(() => '');
      isOverMemory ||= how.trim() === 'true';
      // The container is killed first, because `podman rm` would give it ten seconds to end.
      await runEngine('kill', '--signal', 'KILL', name).catch(() => {});
      await runEngine('rm', '--force', '--volumes', name).catch(() => {});
    },
    isOverMemory: async () => isOverMemory,
  };
}

function optionsOf(
  { program: engine, network }: Containers,
  { file, work, home, artifacts, root, skills, trust, isReadOnly }: Place,
  account: Account | undefined,
  limits: Limits,
  program: string,
): string[] {
  const { uid, gid } = account ?? { uid: process.getuid!(), gid: process.getgid!() };
  const mount = (source: string, more = '', target = source) => [
    '--mount',
    `type=bind,source=${source},target=${target}${more}`,
  ];
  return [
    ...['--network', network ?? 'none', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--read-only'],
    ...['--stop-timeout', '0'],
    ...boundsOf(engine, limits),
    ...['--user', `${uid}:${gid}`, ...userNamespace(engine, network)],
    // Docker does not accept the option `--hostname` for a container that uses the network of another container.
    ...(network ? [] : ['--hostname', 'container']),
    ...['--tmpfs', '/tmp:rw,nosuid,nodev,size=256m', '--workdir', work],
    ...[work, commonPaths.work].flatMap((at) => mount(work, isReadOnly ? ',readonly' : '', at)),
    ...[home, artifacts, root].flatMap((folder) => mount(folder)),
    ...mount(home, '', commonPaths.home),
    ...[skills, file, ...(trust ? [trust.path] : [])].flatMap((at) => mount(at, ',readonly')),
    ...(path.isAbsolute(program) ? mount(packagesOf(program), ',readonly') : []),
  ];
}
