// The container engine: Docker or Podman.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Limits } from '../contract.ts';
import type { Command } from './process.ts';
import { inPath } from './programs.ts';

/** The container of one program. */
export interface Container {
  name: string;
  wrap(program: string, args: string[], env: Record<string, string>): Command;
  /** The process to measure; null if the process is on another machine, or if the container ended before the process was found. */
  firstProcess(): Promise<number | null>;
  /** Asks the harness in the container to end. */
  ask(): Promise<void>;
  /** Ends the container with all its processes. */
  remove(): Promise<void>;
  /** Whether the container was killed because it exceeded its memory limit; known once the container is removed. */
  isOverMemory(): Promise<boolean>;
}

/**
 * The pod in which a mission runs in a cluster; the pod ends with the mission. Programs of the mission run in the containers of the pod.
 */
export interface Pod {
  /** The folder of the mission. Each container mounts a part of it. */
  folder: string;
  open(place: { work: string; home: string; isReadOnly?: boolean }, limits: Limits): Container;
}

export interface Containers {
  /** The program of Docker or Podman. */
  program: string;
  /** An image with Node.js, git and a shell. */
  image: string;
  /** The engine's container runtime, such as gVisor's `runsc`; absent means the engine's default. */
  runtime?: string | undefined;
  /** The network that containers join when the mission has services; absent means that they have no network. */
  network?: string | undefined;
  /** The pod in which the mission runs. If it is set, the programs of the mission run in its containers, and no engine is used. */
  pod?: Pod | undefined;
  /** Advice about the engine's settings; empty if there is none. */
  advice?: string;
}

/**
 * The environment variables for the engine's program: those variables of the runner that contain the address of the engine. The variables
 * of an agent are not passed, because they refer to the agent's folders.
 */
export const engineEnvironment = (): Record<string, string> => {
  const names = ['PATH', 'HOME', 'DOCKER_HOST', 'DOCKER_CONFIG', 'DOCKER_CONTEXT', 'CONTAINER_HOST', 'XDG_RUNTIME_DIR'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
};

/** Whether the engine is rootless Podman, which maps the users of containers to other users of the machine. */
export const isRootlessPodman = (program: string): boolean =>
  process.getuid!() !== 0 && path.basename(program) === 'podman';

/**
 * Whether the engine can limit containers. Podman without root cannot on cgroups of version 1: it only prints a warning into the output of
 * each container.
 */
export const isCapping = (program: string): boolean =>
  !isRootlessPodman(program) || existsSync('/sys/fs/cgroup/cgroup.controllers');

/** Options of a container that limit its CPUs, memory and processes, if the engine can. */
export const boundsOf = (program: string, { cpus, memoryBytes, processes }: Omit<Limits, 'diskBytes'>): string[] =>
  isCapping(program)
    ? [
        ...['--memory', `${memoryBytes}b`, '--memory-swap', `${memoryBytes}b`, '--pids-limit', String(processes)],
        ...(cpus ? ['--cpus', String(cpus)] : []),
      ]
    : [];

/**
 * User namespace of a container. Without root, Podman would map the user of the container to another user, who could not write in the
 * folders of a mission.
 * @param network The network of another container: it can be used only in that container's user namespace.
 */
export const userNamespace = (program: string, network?: string): string[] =>
  isRootlessPodman(program) ? ['--userns', network ?? 'keep-id'] : [];

/**
 * On some systems, Podman without root uses the storage driver vfs, which copies the whole image for every container and takes seconds each
 * time. The driver is read from the image. `podman info` also names it, but takes ten times as long, because it looks up the packages of
 * Podman's programs.
 */
export async function adviceFor({ program, image }: Containers): Promise<string> {
  if (path.basename(program) !== 'podman') return '';
  const options = { env: engineEnvironment(), timeout: 30_000 };
  const asked = promisify(execFile)(program, ['image', 'inspect', '--format', '{{.GraphDriver.Name}}', image], options);
  const { stdout } = await asked.catch(() => ({ stdout: '' }));
  return stdout.trim() === 'vfs'
    ? 'Podman copies the image for every container, because its storage driver is vfs: containers start faster with overlay (docs/local-runner.md).'
    : '';
}

/** Docker, or Podman when Docker is absent or its client has no running engine. */
async function programIn(searched: string | undefined): Promise<string | undefined> {
  const [docker, podman] = [inPath('docker', searched), inPath('podman', searched)];
  if (!docker || !podman) return docker ?? podman;
  const asked = promisify(execFile)(docker, ['version'], { env: engineEnvironment(), timeout: 30_000 });
  return asked.then(
    () => docker,
    () => podman,
  );
}

/** Finds the container engine that the settings name, or one in PATH. @throws when no engine is found */
export async function containersFrom(
  { CONTAINER_PROGRAM, CONTAINER_IMAGE, CONTAINER_RUNTIME, PATH } = process.env,
): Promise<Containers> {
  const program = CONTAINER_PROGRAM || (await programIn(PATH));
  if (!program) throw new Error('there is neither docker nor podman in PATH, and CONTAINER_PROGRAM is not set');
  if (/\s/.test(program)) throw new Error('CONTAINER_PROGRAM: must not contain spaces');
  if (CONTAINER_RUNTIME && !/^[\w/.][\w/.-]*$/.test(CONTAINER_RUNTIME))
    throw new Error('CONTAINER_RUNTIME: must be the name or path of a runtime, such as runsc');
  return { program, image: CONTAINER_IMAGE || 'node:22-bookworm', runtime: CONTAINER_RUNTIME || undefined };
}

/**
 * Limits the size of files in a shell, where POSIX counts blocks of 512 bytes. The engine's own `--ulimit` also sets other limits, which
 * not every machine allows.
 */
export const bounded = ({ diskBytes }: Limits, command: string[]): string[] => [
  ...['sh', '-c', 'ulimit -f "$0" && exec "$@"', String(Math.ceil(diskBytes / 512))],
  ...command,
];
