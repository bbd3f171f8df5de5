// The shell harness: a prompt is a POSIX shell script, which `sh` executes as a process group of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as wait } from 'node:timers/promises';

/** Characters after which a line is taken in pieces: a script need not ever end one. */
const longestLine = 20_000;

export interface Script {
  pid: number;
  /** How it ended: empty when all went well, else `exit code 3` or `killed by SIGSEGV`. */
  ended: Promise<string>;
  isRunning(): boolean;
  /** Ends it and all that it has started, first politely. What was printed has been taken then. */
  end(): Promise<void>;
}

/** `take` gets line by line; the script waits in its next `write` for as long as that takes. */
export function startScript(
  file: string,
  { cwd, env, grace }: { cwd: string; env: Record<string, string>; grace: number },
  take: (line: string) => Promise<void>,
): Script {
  const child = spawn('sh', [file], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const outputs = [child.stdout, child.stderr];
  // Output that breaks off is where it is told to.
  const taken = Promise.allSettled(outputs.map((output) => readLines(output, take)));

  function signal(name: NodeJS.Signals): void {
    try {
      process.kill(-child.pid!, name);
    } catch {
      // There is nobody left.
    }
  }

  async function end(): Promise<void> {
    signal('SIGTERM');
    await Promise.race([taken, wait(grace)]);
    signal('SIGKILL');
    // Who has left the group can hold the output open for ever.
    await Promise.race([taken, wait(grace)]);
    for (const output of outputs) output.destroy();
  }

  let ending: Promise<void> | undefined;
  return {
    pid: child.pid ?? 0,
    ended: once(child, 'exit').then(([code, by]) => (code === 0 ? '' : by ? `killed by ${by}` : `exit code ${code}`)),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    end: () => (ending ??= end()),
  };
}

async function readLines(output: Readable, take: (line: string) => Promise<void>): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const bytes of output) {
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
