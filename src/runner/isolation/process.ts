// The process of a harness: its lines, its input, and its end with all its descendants.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '../contract.ts';
import type { Cgroup } from './cgroup.ts';
import { startInGroup } from './cgroup.ts';
import { membersOf } from './measure.ts';

/**
 * Time limit for reading the remaining output of a program that has ended. The limit is somewhat longer than the time for which the runner
 * retries calls to an unreachable platform.
 */
const drainTimeoutMs = 60_000;
/** Time for a program to exit by itself at the end of its input. */
const exitGraceMs = 1_000;

/** Exit code of Docker and Podman for their own failure, such as the end of their daemon. */
const engineFailed = 125;

/** Maximum number of characters of an event: longer ones arrive in pieces, which drivers ignore. */
export const maxEventBytes = 32 * 1024 * 1024;

/**
 * A program with its arguments. `env`: the environment for this program, if it is a wrapper that starts the harness with another
 * environment.
 */
export type Command = [program: string, args: string[], env?: Record<string, string>];

export interface Launch {
  /** Working directory. */
  cwd: string;
  /** The environment, in addition to the variables of the driver. */
  env: Record<string, string>;
  /** The user of the process; undefined means the user of the runner. */
  account: Account | undefined;
  /** Milliseconds that the program has to end after it is asked to; then it is killed. */
  graceMs: number;
  /**
   * Returns the command that runs the program with these arguments in a cell or container. Without either, returns the program and
   * arguments unchanged.
   */
  wrap(program: string, args: string[], env: Record<string, string>): Command;
  /** The container of the program; absent when it is a child process. */
  container?: { ask(): Promise<void>; remove(): Promise<void> } | undefined;
  /** Cgroup that limits memory and processes of the program; undefined without one. */
  group?: Cgroup | undefined;
  /** Whether `wrap` runs the program inside another program. When that other program ends, all processes in it end too. */
  isIsolated: boolean;
}

/** Launch of a harness, which may be a server. */
export interface HarnessLaunch extends Launch {
  /** The port of a harness that is a server, and the socket that reaches it from outside its cell. */
  server: { port: number; socket: string | null };
}

export interface Process {
  pid: number;
  ended: Promise<string>;
  /** Resolves like `ended`, but only once all output of the program has been processed. */
  silent: Promise<string>;
  isRunning(): boolean;
  /** Writes a line to the input of the program. */
  write(line: string): void;
  end(): Promise<void>;
  /** The last part of the program's output on standard error. */
  errors(): string;
}

export interface Program {
  program: string;
  args: string[];
  /** Variables in addition to `env` of the launch. */
  env?: Record<string, string>;
  /** Whether the program reads its input, and ends when the input ends. */
  hasInput: boolean;
  /** Maximum length of a line, in characters. A longer line is processed in pieces, because some programs never write a line break. */
  maxLineBytes: number;
  /** Called for each line; until it returns, the program blocks in its next `write`. */
  out(line: string): void | Promise<void>;
  err(line: string): void | Promise<void>;
}

export function startProcess(launch: Launch, program: Program): Process {
  const { graceMs, isIsolated, container } = launch;
  const { hasInput } = program;
  const child = spawnIn(launch, program);
  child.stdin?.on('error', () => {});
  const output = readOutput(child, program, graceMs);

  function signal(name: NodeJS.Signals, to = -child.pid!): void {
    try {
      process.kill(to, name);
    } catch {
      // The signal has no target, because the process group has ended.
    }
  }

  const isRunning = () => child.exitCode === null && child.signalCode === null;

  async function end(): Promise<void> {
    if (!child.pid) return;
    child.stdin?.end();
    if (hasInput && isRunning()) await Promise.race([once(child, 'exit'), wait(exitGraceMs)]);
    if (container) await container.ask();
    else if (!isIsolated) signal('SIGTERM');
    // The leader of the group is the isolating program: when it ends, all other processes end at once.
    else for (const pid of membersOf(child.pid)) if (pid !== child.pid) signal('SIGTERM', pid);
    await Promise.race([output.read, wait(graceMs)]);
    await container?.remove();
    signal('SIGKILL');
    // A process that has left the group can keep the output open forever.
    await output.drain();
    output.close();
  }

  let ending: Promise<void> | undefined;
  const ended = once(child, 'exit').then(async ([code, by]) => {
    if (container && code === engineFailed) {
      await Promise.race([output.read, wait(exitGraceMs)]);
      return `the container engine failed: ${output.errors()}`;
    }
    const killer = by ?? (isIsolated ? signalOf(code) : undefined);
    return code === 0 ? '' : killer ? `killed by ${killer}` : `exit code ${code}`;
  });
  const silent = ended.then((how) => Promise.race([output.read, wait(exitGraceMs)]).then(() => how));
  for (const promise of [ended, silent]) promise.catch(() => {});
  return {
    pid: child.pid ?? 0,
    ended,
    silent,
    isRunning,
    write: (line) => void child.stdin?.write(`${line}\n`),
    end: () => (ending ??= end()),
    errors: output.errors,
  };
}

/**
 * Starts the program as the launch specifies: under its account and in its cell or container. If the launch has a cgroup, the program is in
 * it from its first instruction on.
 */
function spawnIn({ account, cwd, env, wrap, group, container }: Launch, started: Program): ChildProcess {
  const its = { ...env, ...started.env };
  const [wrapped, wrappedArgs, ownEnv = its] = wrap(started.program, started.args, its);
  const [file, rest] = group ? startInGroup(wrapped, wrappedArgs) : [wrapped, wrappedArgs];
  const options = { ...(!container && account), cwd, env: ownEnv, detached: true } as const;
  const gate = group ? (['pipe'] as const) : [];
  const stdin = started.hasInput ? 'pipe' : 'ignore';
  const child = spawn(file, rest, { ...options, stdio: [stdin, 'pipe', 'pipe', ...gate] });
  if (group && child.pid) {
    group.take(child.pid);
    (child.stdio[3] as Writable).on('error', () => {}).end('go\n');
  }
  return child;
}

/** Reads the program's stdout and stderr, and calls `out` or `err` with each line. */
function readOutput({ stdout, stderr }: ChildProcess, { maxLineBytes, out, err }: Program, graceMs: number) {
  const reading = { chunks: 0, taking: 0 };
  let errors = '';
  const counted = (take: Program['out']) => async (line: string) => {
    reading.taking++;
    // `await` accepts a result that is not a promise, on which `.finally()` would fail.
    try {
      await take(line);
    } finally {
      reading.taking--;
    }
  };
  const takeError = (line: string) => {
    errors = (errors + line).slice(-2_000);
    return err(line);
  };
  // A broken pipe ends the reading, but throws nothing.
  const read = Promise.allSettled([
    readLines(stdout!, reading, maxLineBytes, counted(out)),
    readLines(stderr!, reading, maxLineBytes, counted(takeError)),
  ]);
  return {
    /** Resolves when both outputs have ended and are processed. */
    read,
    /** Waits until all output is processed, or no more arrives for some time. The wait is longer while the platform is slow. */
    async drain(): Promise<void> {
      const until = Date.now() + drainTimeoutMs;
      for (let before = -1; (before !== reading.chunks || reading.taking > 0) && Date.now() < until; ) {
        before = reading.chunks;
        if (await Promise.race([read, wait(Math.max(graceMs, 1_000))])) return;
      }
    },
    close(): void {
      stdout!.destroy();
      stderr!.destroy();
    },
    errors: () => errors.trim(),
  };
}

/** The signal that a shell's exit code stands for: the code is 128 plus the number of the signal. */
const signalOf = (code: number): string | undefined =>
  Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];

async function readLines(
  output: Readable,
  reading: { chunks: number },
  maxLineBytes: number,
  take: (line: string) => Promise<void>,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const bytes of output) {
    reading.chunks++;
    // NUL characters are replaced, because texts cannot contain them.
    const [first, ...others] = decoder.write(bytes).replaceAll('\0', '\u2400').split('\n');
    rest += first!;
    for (const line of others) {
      await take(`${rest}\n`);
      rest = line;
    }
    if (rest.length < maxLineBytes) continue;
    await take(rest);
    rest = '';
  }
  if (rest) await take(`${rest}\n`);
}
