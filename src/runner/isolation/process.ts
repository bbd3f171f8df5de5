// The process of a harness: its lines, its input, and its end with all that it has started.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '../contract.ts';
import type { Cgroup } from './cgroup.ts';
import { startInGroup } from './cgroup.ts';
import { membersOf } from './measure.ts';

/** For output that is left when a program has ended: somewhat longer than calls to an unreachable platform are retried. */
const drainTimeoutMs = 60_000;
/** For a program to exit by itself at the end of its input. */
const exitGraceMs = 1_000;

/** Characters of an event: longer ones are taken in pieces, which no driver understands. */
export const longestEvent = 32 * 1024 * 1024;

/** `env`: of the program itself, when that is another than the harness. */
export type Command = [program: string, args: string[], env?: Record<string, string>];

export interface Launch {
  /** Working directory. */
  cwd: string;
  /** All that it gets of the environment, in addition to what its driver sets. */
  env: Record<string, string>;
  /** Whom it runs as; undefined: as the runner. */
  account: Account | undefined;
  /** Milliseconds from asking it to end to ending it. */
  graceMs: number;
  /** The command that runs a program with these arguments, in a cell or as it is. */
  wrap(program: string, args: string[], env: Record<string, string>): Command;
  /** The container of the program; absent when it is a child process. */
  container?: { ask(): Promise<void>; remove(): Promise<void> } | undefined;
  /** Caps its memory and processes; undefined: something else does, or nothing. */
  group?: Cgroup | undefined;
  /** Whether `wrap` puts a program around it, whose end ends all that was started in it. */
  isConfined: boolean;
}

/** Launch of a harness, which may be a server. */
export interface HarnessLaunch extends Launch {
  /** Where a harness that is a server listens, and the socket that leads there from outside of its cell. */
  server: { port: number; socket: string | null };
}

export interface Process {
  pid: number;
  ended: Promise<string>;
  /** As `ended`, when all that it printed has been taken. */
  silent: Promise<string>;
  isRunning(): boolean;
  /** A line of its input. */
  write(line: string): void;
  end(): Promise<void>;
  /** The end of what it printed on standard error. */
  errors(): string;
}

export interface Program {
  program: string;
  args: string[];
  /** Beside `env` of the launch. */
  env?: Record<string, string>;
  /** Whether it reads its input, at whose end it ends. */
  hasInput: boolean;
  /** Characters after which a line is taken in pieces: a program need not ever end one. */
  longestLine: number;
  /** Get line by line; the program waits in its next `write` for as long as that takes. */
  out(line: string): void | Promise<void>;
  err(line: string): void | Promise<void>;
}

export function startProcess(
  launch: Launch,
  { program, args, env, hasInput, longestLine, out, err }: Program,
): Process {
  const { account, cwd, graceMs, isConfined, group, container } = launch;
  const its = { ...launch.env, ...env };
  const [wrapped, wrappedArgs, ownEnv = its] = launch.wrap(program, args, its);
  const [file, rest] = group ? startInGroup(wrapped, wrappedArgs) : [wrapped, wrappedArgs];
  const options = { ...(!container && account), cwd, env: ownEnv, detached: true } as const;
  const gate = group ? (['pipe'] as const) : [];
  const child = spawn(file, rest, { ...options, stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe', ...gate] });
  if (group && child.pid) {
    group.take(child.pid);
    (child.stdio[3] as Writable).on('error', () => {}).end('go\n');
  }
  const outputs = [child.stdout!, child.stderr!];
  const reading = { chunks: 0, taking: 0 };
  let errors = '';
  const counted = (take: Program['out']) => async (line: string) => {
    reading.taking++;
    // Not a `finally` on its answer: that may be no promise.
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
  // A closed pipe ends the output.
  const outputsRead = Promise.allSettled(
    [counted(out), counted(takeError)].map((take, i) => readLines(outputs[i]!, reading, longestLine, take)),
  );
  child.stdin?.on('error', () => {});

  /** Waits for what was printed: until all is taken, or nothing comes for a while. A platform that is slow is waited for. */
  async function drain(): Promise<void> {
    const until = Date.now() + drainTimeoutMs;
    for (let before = -1; (before !== reading.chunks || reading.taking > 0) && Date.now() < until; ) {
      before = reading.chunks;
      if (await Promise.race([outputsRead, wait(Math.max(graceMs, 1_000))])) return;
    }
  }

  function signal(name: NodeJS.Signals, to = -child.pid!): void {
    try {
      process.kill(to, name);
    } catch {
      // The process group has ended.
    }
  }

  const isRunning = () => child.exitCode === null && child.signalCode === null;

  async function end(): Promise<void> {
    if (!child.pid) return;
    child.stdin?.end();
    if (hasInput && isRunning()) await Promise.race([once(child, 'exit'), wait(exitGraceMs)]);
    if (container) await container.ask();
    else if (!isConfined) signal('SIGTERM');
    // The leader is the program that confines them: when it ends, all end at once.
    else for (const pid of await membersOf(child.pid)) if (pid !== child.pid) signal('SIGTERM', pid);
    await Promise.race([outputsRead, wait(graceMs)]);
    await container?.remove();
    signal('SIGKILL');
    // Who has left the group can hold the output open for ever.
    await drain();
    for (const output of outputs) output.destroy();
  }

  let ending: Promise<void> | undefined;
  const ended = once(child, 'exit').then(([code, by]) => {
    const killer = by ?? (isConfined ? signalOf(code) : undefined);
    return code === 0 ? '' : killer ? `killed by ${killer}` : `exit code ${code}`;
  });
  const silent = ended.then((how) => Promise.race([outputsRead, wait(exitGraceMs)]).then(() => how));
  for (const promise of [ended, silent]) promise.catch(() => {});
  return {
    pid: child.pid ?? 0,
    ended,
    silent,
    isRunning,
    write: (line) => void child.stdin?.write(`${line}\n`),
    end: () => (ending ??= end()),
    errors: () => errors.trim(),
  };
}

/** The exit code of a shell for a signal: 128 plus its number. */
const signalOf = (code: number): string | undefined =>
  Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];

async function readLines(
  output: Readable,
  reading: { chunks: number },
  longestLine: number,
  take: (line: string) => Promise<void>,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const bytes of output) {
    reading.chunks++;
    // NUL is no text.
    const [first, ...others] = decoder.write(bytes).replaceAll('\0', '\u2400').split('\n');
    rest += first!;
    for (const line of others) {
      await take(`${rest}\n`);
      rest = line;
    }
    if (rest.length < longestLine) continue;
    await take(rest);
    rest = '';
  }
  if (rest) await take(`${rest}\n`);
}
