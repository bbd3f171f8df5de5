// The runtime that `npm start` brings along for every organization: src/runner as a child process beside the service, with a token
// of its own. It executes what missions say, so it is started only where nobody but this machine reaches the service (config.ts).
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createServiceToken, revokeServiceTokensNamed } from '#domain/tokens/service-tokens.ts';
import { addresses } from '#foundation/addresses.ts';
import { minutes, now, seconds } from '#foundation/clock.ts';
import type { Log } from '#foundation/log.ts';

const name = 'Local runner';
const here = fileURLToPath(import.meta.url);
const root = path.resolve(here, '../../../..');
/** A program of its own, started by its path: as source, or as built beside this file. */
const program = path.resolve(here, `../../../runner/runner${path.extname(here)}`);
const loader = program.endsWith('.ts') ? ['--import', 'tsx'] : [];

export interface LocalRunner {
  /** Lets it hand its runs back; resolves when it is gone. */
  stop(): Promise<void>;
}

/**
 * Resolves when it takes runs, or has ended before that.
 * @param rest how long to wait before one that has died begins again, in milliseconds; longer each time that it dies soon
 */
export async function startLocalRunner(
  surroundings: { PATH: string },
  log: Log,
  rest = seconds(5),
): Promise<LocalRunner> {
  // Those of earlier starts: their runners are gone.
  await revokeServiceTokensNamed(null, name);
  const { token } = await createServiceToken({ name });

  let stopped = false;
  let pause = rest;
  let again: NodeJS.Timeout | undefined;
  let child = begin();
  await new Promise((resolve) => child.once('exit', resolve).once('error', resolve).stdout!.once('data', resolve));

  function begin(): ChildProcess {
    const env = {
      ...surroundings,
      PLATFORM_URL: addresses().baseHost,
      EXIT_WITH_PARENT: 'on',
      // On one machine a lively picture costs nothing.
      HEARTBEAT_MS: '2000',
    };
    const since = now();
    const started = spawn(process.execPath, [...loader, program], {
      cwd: root,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // Not in its environment, which other processes of the same user can read.
    started.stdin.on('error', () => {}).write(`${token}\n`);
    for (const stream of [started.stdout, started.stderr]) {
      createInterface({ input: stream }).on('line', (line) => log.info({ runner: started.pid }, line));
    }
    started.on('error', (error) => log.error({ err: error }, 'the local runner did not start'));
    started.on('exit', () => {
      if (stopped) return;
      if (now() - since > minutes(1)) pause = rest;
      log.warn({ milliseconds: pause }, 'the local runner has ended; it begins again');
      again = setTimeout(() => {
        child = begin();
      }, pause);
      pause = Math.min(pause * 2, minutes(1));
    });
    return started;
  }

  return {
    async stop() {
      stopped = true;
      clearTimeout(again);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      // What it uploads at this moment may take longer than anybody waits: its lease ends by itself.
      const late = setTimeout(() => child.kill('SIGKILL'), seconds(10));
      await gone;
      clearTimeout(late);
    },
  };
}
