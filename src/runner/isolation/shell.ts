// The shell of a person in the sandbox of a mission: with a terminal device (`@lydell/node-pty`, which has binaries for common machines),
// or with pipes if that package is missing.
import { type ChildProcess, spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as wait } from 'node:timers/promises';
import { membersOfSession } from './measure.ts';
import { makeTemporaryFolder } from './place.ts';
import type { Launch } from './process.ts';

export interface Size {
  /** Size of the terminal: characters per line, and number of lines. */
  width: number;
  height: number;
}

export interface Shell {
  hasDevice: boolean;
  write(text: string): void;
  resize(size: Size): void;
  /** Holds the output back until `resume`: the shell then blocks in its next `write`. */
  pause(): void;
  resume(): void;
  /** Ends the shell with all that it has started in its process group or container. */
  end(): Promise<void>;
}

export interface ShellListener {
  output(text: string): void;
  /** Called once, after the last output. */
  ended(how: string): void;
}

/** Time for a shell to end its jobs. */
const graceMs = 500;

/** A terminal of the package `@lydell/node-pty`. The interface declares only the properties and functions that this module uses. */
interface Device {
  pid: number;
  onData(take: (bytes: Buffer) => void): void;
  onExit(take: (how: { exitCode: number }) => void): void;
  write(text: string): void;
  resize(columns: number, rows: number): void;
  pause(): void;
  resume(): void;
}

interface Devices {
  spawn(file: string, args: string[], options: object): Device;
}

let found: Promise<Devices | null> | undefined;

/**
 * Loads the package for terminal devices; null if it is not installed. The package name is a variable, so that bundlers do not include the
 * package.
 */
function findDevices(name = '@lydell/node-pty'): Promise<Devices | null> {
  found ??= import(name).catch(() => null);
  return found;
}

export const hasDevices = async (): Promise<boolean> => (await findDevices()) !== null;

export interface ShellLaunch extends Pick<Launch, 'cwd' | 'env' | 'account' | 'wrap' | 'group' | 'container'> {
  /** Arguments for the watchdog: the cgroup or container that it ends when it ends the shell. */
  watchdogArguments: string | undefined;
}

/** Starts the shell of a person. @param args Arguments of `sh`, which executes the shell of the mission in its own process (`exec`). */
export async function startShell(launch: ShellLaunch, args: string[], size: Size, on: ShellListener): Promise<Shell> {
  const { cwd, account, wrap, group, container, watchdogArguments } = launch;
  const devices = await findDevices();
  const [file, rest, env = launch.env] = wrap('sh', args, launch.env);
  // The folder has a watchdog of its own, which ends the shell when the runner is killed.
  const { guard, remove } = await makeTemporaryFolder('terminal-');
  let over = () => {};
  const isOver = new Promise<void>((resolve) => {
    over = resolve;
  });
  const decode = decoder({
    output: on.output,
    ended(how) {
      over();
      on.ended(how);
    },
  });
  const options = { cwd, env, ...(!container && account) };
  const { pid, ...shell } = devices
    ? onDevice(devices.spawn(file, rest, { ...options, cols: size.width, rows: size.height, encoding: null }), decode)
    : onPipes(spawn(file, rest, { ...options, detached: true, stdio: 'pipe' }), decode);
  if (group && pid) group.take(pid);
  // If the shell has a terminal device, the watchdog gets no process group to kill, because the device is closed when the runner is killed,
  // and this ends the shell and its jobs. Killing the shell's process group would not end the jobs, which have process groups of their own.
  guard(devices ? 0 : pid, watchdogArguments);
  const signal = (name: NodeJS.Signals) => unlessEnded(() => void (pid && process.kill(-pid, name)));
  return {
    ...shell,
    async end() {
      signal('SIGHUP');
      await Promise.race([isOver, wait(graceMs)]);
      await container?.remove();
      signal('SIGKILL');
      // The jobs of the shell have process groups of their own and may ignore the hangup, so they are killed one by one.
      for (const one of pid ? membersOfSession(pid) : []) unlessEnded(() => void process.kill(one, 'SIGKILL'));
      await remove();
    },
  };
}

interface Output {
  data(bytes: Buffer): void;
  ended(how: string): void;
}

/** Decodes the output, without NUL characters, which a stored text cannot contain. */
function decoder(on: ShellListener): Output {
  const utf8 = new StringDecoder('utf8');
  let isOver = false;
  return {
    data(bytes) {
      const text = utf8.write(bytes).replaceAll('\0', '');
      if (text && !isOver) on.output(text);
    },
    ended(how) {
      if (isOver) return;
      isOver = true;
      on.ended(how);
    },
  };
}

const howEnded = (code: number | null): string => `The shell has ended${code ? ` with the exit code ${code}` : ''}.`;

type Started = Omit<Shell, 'end'> & { pid: number | undefined };

/** Ignores the error of the call, because the device of a shell throws when the shell has just ended. */
function unlessEnded(use: () => void): void {
  try {
    use();
  } catch {}
}

function onDevice(device: Device, output: Output): Started {
  device.onData((bytes) => output.data(bytes));
  device.onExit(({ exitCode }) => output.ended(howEnded(exitCode)));
  return {
    pid: device.pid,
    hasDevice: true,
    write: (text) => unlessEnded(() => device.write(text)),
    resize: ({ width, height }) => unlessEnded(() => device.resize(width, height)),
    pause: () => unlessEnded(() => device.pause()),
    resume: () => unlessEnded(() => device.resume()),
  };
}

function onPipes(child: ChildProcess, output: Output): Started {
  const { stdin, stdout, stderr } = child;
  for (const stream of [stdout!, stderr!]) stream.on('data', (bytes: Buffer) => output.data(bytes));
  child.on('error', ({ message }) => output.ended(message));
  child.on('close', (code) => output.ended(howEnded(code)));
  stdin!.on('error', () => {});
  return {
    pid: child.pid,
    hasDevice: false,
    write: (text) => void stdin!.write(text),
    resize: () => {},
    pause: () => void [stdout!.pause(), stderr!.pause()],
    resume: () => void [stdout!.resume(), stderr!.resume()],
  };
}
