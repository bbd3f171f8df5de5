// The shell harness: a prompt is a POSIX shell script, which `sh` executes as a process group of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as wait } from 'node:timers/promises';
import { type Account, commandFor, type Kind } from './confinement.ts';
import { membersOf } from './measure.ts';
import type { Place } from './place.ts';

/** Characters after which a line is taken in pieces: a script need not ever end one. */
const longestLine = 20_000;
/** Milliseconds for output that is left when a script has ended: somewhat longer than a platform that is away is called again. */
const longestDrain = 60_000;

export interface Script {
  pid: number;
  /** How it ended: empty when all went well, else `exit code 3` or `killed by SIGSEGV`. */
  ended: Promise<string>;
  isRunning(): boolean;
  /** Ends it and all that it has started, first politely. What was printed has been taken then. */
  end(): Promise<void>;
}

export interface ScriptSettings {
  kind: Kind;
  /** Whom it runs as; undefined: as the runner. */
  account: Account | undefined;
  /** All of its environment. */
  env: Record<string, string>;
  /** Milliseconds. */
  grace: number;
}

/** `take` gets line by line; the script waits in its next `write` for as long as that takes. */
export function startScript(
  place: Place,
  { kind, account, env, grace }: ScriptSettings,
  take: (line: string) => Promise<void>,
): Script {
  const [program, args] = commandFor(kind, place);
  const options = { ...account, cwd: place.work, env, detached: true } as const;
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const isConfined = kind !== 'none';
  const outputs = [child.stdout, child.stderr];
  const reading = { chunks: 0, taking: 0 };
  const counted = async (line: string) => {
    reading.taking++;
    await take(line).finally(() => reading.taking--);
  };
  // A closed pipe ends the output.
  const taken = Promise.allSettled(outputs.map((output) => readLines(output, reading, counted)));

  /** Waits for what was printed: until all is taken, or nothing comes for a while. A platform that is slow is waited for. */
  async function drain(): Promise<void> {
    const until = Date.now() + longestDrain;
    for (let before = -1; (before !== reading.chunks || reading.taking > 0) && Date.now() < until; ) {
      before = reading.chunks;
      if (await Promise.race([taken, wait(Math.max(grace, 1_000))])) return;
    }
  }

  function signal(name: NodeJS.Signals, to = -child.pid!): void {
    try {
      process.kill(to, name);
    } catch {
      // The process group has ended.
    }
  }

  async function end(): Promise<void> {
    if (!child.pid) return;
    if (!isConfined) signal('SIGTERM');
    // The leader is the program that confines them: when it ends, all end at once.
    else for (const pid of await membersOf(child.pid)) if (pid !== child.pid) signal('SIGTERM', pid);
    await Promise.race([taken, wait(grace)]);
    signal('SIGKILL');
    // Who has left the group can hold the output open for ever.
    await drain();
    for (const output of outputs) output.destroy();
  }

  let ending: Promise<void> | undefined;
  return {
    pid: child.pid ?? 0,
    ended: once(child, 'exit').then(([code, by]) => {
      const killer = by ?? (isConfined ? signalOf(code) : undefined);
      return code === 0 ? '' : killer ? `killed by ${killer}` : `exit code ${code}`;
    }),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    end: () => (ending ??= end()),
  };
}

/** The exit code of a shell for a signal: 128 plus its number. */
const signalOf = (code: number): string | undefined =>
  Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];

async function readLines(
  output: Readable,
  reading: { chunks: number },
  take: (line: string) => Promise<void>,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const bytes of output) {
    reading.chunks++;
    // NUL is no text.
    const lines = (rest + decoder.write(bytes).replaceAll('\0', '\u2400')).split('\n');
    rest = lines.pop()!;
    for (const line of lines) await take(`${line}\n`);
    if (rest.length < longestLine) continue;
    await take(rest);
    rest = '';
  }
  if (rest) await take(`${rest}\n`);
}
