// Starts the local runner, the runtime of `npm start` for all organizations: src/runner as a child process with a service token. It
// executes the scripts of missions, so it starts only if the service is reachable only from this machine (config.ts).
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createServiceToken, revokeServiceTokensNamed } from '#domain/identity/tokens/service-tokens.ts';
import { minutes, now, seconds } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import type { Log } from '#foundation/log.ts';
import { packageFolder } from '#foundation/package-folder.ts';

const name = 'Local runner';
/** The runner's program, started by path: its source, or the built file. */
const ownProgram = import.meta.url.endsWith('.ts')
  ? ['--import', 'tsx', 'src/runner/runner.ts']
  : ['dist/runner/runner.js'];

export interface LocalRunner {
  /** Stops the runner, which hands back its runs; resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * Starts the runner. Resolves when it claims runs, or has ended before that.
 * @param restartDelayMs Delay before a runner that ended is started again; doubles while it keeps ending early
 * @param program Arguments for Node that start a runner
 */
export async function startLocalRunner(
  environment: { PATH: string },
  log: Log,
  restartDelayMs = seconds(5),
  program: readonly string[] = ownProgram,
): Promise<LocalRunner> {
  // Revokes tokens of earlier starts, whose runners have ended.
  await revokeServiceTokensNamed(null, name);
  const { token } = await createServiceToken({ name });

  let stopped = false;
  let pauseMs = restartDelayMs;
  let restart: NodeJS.Timeout | undefined;
  let child = startChild();
  await new Promise((resolve) => child.once('exit', resolve).once('error', resolve).stdout!.once('data', resolve));

  function startChild(): ChildProcess {
    const since = now();
    const started = spawnRunner(environment, program, token, log);
    started.on('exit', () => {
      if (stopped) return;
      if (now() - since > minutes(1)) pauseMs = restartDelayMs;
      log.warn({ milliseconds: pauseMs }, 'the local runner has ended and will be restarted');
      restart = setTimeout(() => {
        child = startChild();
      }, pauseMs);
      pauseMs = Math.min(pauseMs * 2, minutes(1));
    });
    return started;
  }

  return {
    async stop() {
      stopped = true;
      clearTimeout(restart);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      // The shutdown waits no longer than ten seconds, for example for a long upload. After SIGKILL the lease on the runner's mission
      // expires, and the mission can be claimed again.
      const late = setTimeout(() => child.kill('SIGKILL'), seconds(10));
      await gone;
      clearTimeout(late);
    },
  };
}

function spawnRunner(environment: { PATH: string }, program: readonly string[], token: string, log: Log): ChildProcess {
  const env = {
    ...environment,
    PLATFORM_URL: addresses().baseHost,
    EXIT_WITH_PARENT: 'on',
    // Heartbeats are more frequent than by default: on one machine they cost little, and the console is more current.
    HEARTBEAT_MS: '2000',
  };
  const started = spawn(process.execPath, program, {
    cwd: packageFolder,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // The token is passed on standard input: other processes of the same user can read the environment.
  started.stdin.on('error', () => {}).write(`${token}\n`);
  createInterface({ input: started.stdout }).on('line', (line) => log.info({ runner: started.pid }, line));
  // The runner writes to standard error what an operator has to know, for example that an isolation does not work.
  createInterface({ input: started.stderr }).on('line', (line) => log.warn({ runner: started.pid }, line));
  started.on('error', (error) => log.error({ err: error }, 'the local runner did not start'));
  return started;
}
