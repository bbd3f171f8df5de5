// An organization whose missions are scripts, and runners that carry them out as real processes. Runners use the clock of the machine,
// so the service's clock follows it; a test moves it only to let leases expire.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { setClock } from '#foundation/clock.ts';
import { createOwner, createProject } from './callers.ts';
import { kill, pace } from './mission-world.ts';
import { compiled, projectFolder } from './processes.ts';
import { openWorld } from './world.ts';

const fields = `id status missionProgress missionActivity missionCostUsd lastError
  sandboxes { sandboxId status terminationReason } artifacts { kind contentType caption criterion criterionPassed sizeBytes url }`;

export async function openScriptWorld() {
  let turned = 0;
  const turn = (ms: number): void => {
    turned += ms;
  };
  const runners: { process: ChildProcess; output: string }[] = [];
  const world = await openWorld();
  setClock(() => Date.now() + turned);
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-contents-'));
  // If the runner is root, scripts run as separate users.
  chmodSync(folder, 0o777);
  const { organization: acme, token: alice } = await createOwner(world, 'Alice', 'Acme');
  const service = (await createServiceToken({ name: 'runner', orgId: acme.id })).token;
  const projectId = await createProject(world, { token: alice }, 'Shop');

  const killRunners = (): Promise<unknown> => Promise.all(runners.splice(0).map(({ process }) => kill(process)));

  function startRunner(
    token: string = service,
    more: Record<string, string> = {},
    program: string = compiled('runner/runner'),
  ) {
    const env = {
      PATH: process.env.PATH,
      PLATFORM_URL: world.url,
      TMPDIR: folder,
      // Scripts are not isolated: most scripts here wait for files that a test writes, and tests inspect the processes of scripts.
      CONFINEMENT: 'none',
      HARNESS_INSTALL: 'off',
      HARNESS_TEST: 'off',
      HARNESSES_DIR: path.join(folder, 'harnesses'),
      ...pace,
      ...more,
    };
    const child = spawn(process.execPath, [program], {
      cwd: projectFolder,
      env,
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    });
    const runner = { process: child, output: '' };
    child.stdin!.on('error', () => {}).write(`${token}\n`);
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (bytes) => (runner.output += bytes));
    runners.push(runner);
    return runner;
  }

  /** Starts a mission with a script. */
  async function mission(prompt: string): Promise<string> {
    const schedule = { interval: 'daily', time: '00:00', timezone: 'UTC' };
    const triggers = [{ kind: 'schedule', schedule }];
    const body = { projectId, name: 'Script', prompt, templateKey: 'script', triggers, enabled: false };
    const { id } = (await world.rest('POST', '/scheduled-tasks', { token: alice, body })).body;
    return (await world.rest('POST', `/scheduled-tasks/${id}/run`, { token: alice })).body.runId;
  }
  const look = async (runId: string) =>
    (
      await world.graphql(`query ($runId: String!) { run(runId: $runId) { ${fields} } }`, {
        token: alice,
        variables: { runId },
      })
    ).body.data.run;

  /** Repeats `ask` until `right` accepts its result; fails after a time limit. */
  async function until<T>(ask: () => Promise<T>, right: (answer: T) => boolean): Promise<T> {
    const end = Date.now() + 100_000;
    for (;;) {
      const answer = await ask();
      if (right(answer)) return answer;
      if (Date.now() > end)
        throw new Error(`waited in vain: ${JSON.stringify(answer)} ${runners.map(({ output }) => output)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  /** Polls the row, which costs a fraction of a request to the service. */
  const ended = async (runId: string) => {
    await until(
      () => world.knex('runs').where({ id: runId }).first('status'),
      ({ status }) => ['completed', 'failed', 'canceled'].includes(status),
    );
    return look(runId);
  };
  const detail = async (sandboxId: string) =>
    (await world.rest('GET', `/sandboxes/${sandboxId}`, { token: alice })).body;
  const log = async ({ sandboxId }: { sandboxId: string }, part = 'session') => {
    const [{ role, sessionId }] = (await detail(sandboxId)).sessions;
    const query = `role=${role}&sessionId=${sessionId}&part=${part}`;
    return (await world.rest('GET', `/sandboxes/${sandboxId}/logs?${query}`, { token: alice })).body;
  };
  return {
    world,
    acme,
    alice,
    folder,
    service,
    turn,
    killRunners,
    startRunner,
    mission,
    look,
    until,
    ended,
    detail,
    log,
    async close(): Promise<void> {
      await world.close();
      rmSync(folder, { recursive: true });
    },
  };
}
