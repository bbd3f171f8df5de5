// An organization whose missions are executed by real runners, in which the agents are scripts or a stand-in for Claude Code.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { seconds, setClock } from '#foundation/clock.ts';
import { createOwner, createProject } from './callers.ts';
import { compiled, projectFolder } from './processes.ts';
import { startModels } from './stand-in-models.ts';
import { openWorld, type WorldSettings } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

export interface Runner {
  process: ChildProcess;
  output: string;
}

export const standInClaude = fileURLToPath(new URL('stand-in-claude.mjs', import.meta.url));
export const standInAcp = fileURLToPath(new URL('stand-in-acp.mjs', import.meta.url));

export async function kill(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  process.kill('SIGKILL');
  await once(process, 'exit');
}

/** Intervals of runners: short enough that no test waits for them, and long enough that polling keeps no core busy. */
export const pace = { POLL_MS: '200', HEARTBEAT_MS: '400', SAMPLE_MS: '200', FLUSH_MS: '50', GRACE_MS: '200' };

/** Ends the lease of a run whose runner is dead. A heartbeat that was on its way may renew it once more. */
export async function endLease(look: () => Promise<{ status: string }>, turn: (ms: number) => void): Promise<void> {
  for (let waits = 0; waits < 3; ) {
    turn(seconds(61));
    await releaseSilentRuns();
    waits = (await look()).status === 'dispatching' ? waits + 1 : 0;
  }
}

export async function openMissionWorld(settings: WorldSettings = {}) {
  const [world, models, made] = await Promise.all([
    openWorld(settings),
    startModels(),
    mkdtemp(path.join(tmpdir(), 'aep-missions-')),
  ]);
  const folder = made;
  // If the runner is root, scripts run as separate users.
  await chmod(folder, 0o777);
  let turned = 0;
  /** The id of the team's agent that executes scripts; null if the team has none. `mission` names this agent when it starts a mission. */
  let scriptAgentId: string | null = null;
  // The runner uses the clock of the machine.
  setClock(() => Date.now() + turned);
  const alice = await createOwner(world, 'Alice', 'Acme');
  const projectId = await createProject(world, alice, 'Shop');
  const service = (await createServiceToken({ name: 'runner', orgId: alice.organization.id })).token;
  const runners: Runner[] = [];
  const turn = (milliseconds: number): void => {
    turned += milliseconds;
  };
  async function killRunners(): Promise<void> {
    await Promise.all(runners.splice(0).map(({ process }) => kill(process)));
  }

  const graphql = async (query: string, variables: Record<string, unknown>): Promise<Json> => {
    const { body } = await world.graphql(query, { token: alice.token, variables });
    if (body.errors) throw new Error(JSON.stringify(body.errors));
    return Object.values(body.data)[0];
  };
  const steer = (mutation: string, runId: string, more: Record<string, string> = {}) => {
    const names = ['runId', ...Object.keys(more)];
    const types = names.map((name) => `$${name}: String!`).join(', ');
    const passed = names.map((name) => `${name}: $${name}`).join(', ');
    return graphql(`mutation (${types}) { ${mutation}(${passed}) { id } }`, { runId, ...more });
  };
  const get = async (at: string) => (await world.rest('GET', at, { token: alice.token })).body;
  const look = async (runId: string): Promise<Json> => {
    const run = await graphql(
      `query ($runId: String!) { run(runId: $runId) { status lastError missionCostUsd missionActivity
        steps { id seq role round status sessionId turns inputTokens outputTokens costUsd error
          checkpoint { commitSha createdAt } }
        artifacts { caption } sandboxes { sandboxId status terminationReason harnessVersion }
        messages { seq kind text acknowledgedAt } } }`,
      { runId },
    );
    for (const list of [run.steps, run.messages]) list.sort((a: Json, b: Json) => a.seq - b.seq);
    return run;
  };
  /** Resolves with the first truthy result of `ask`. */
  async function until<T>(ask: () => Promise<T | false | null | undefined>): Promise<T> {
    const found = await vi.waitUntil(ask, { interval: 50 }).catch(async (error) => {
      const runs = await world.knex('runs').orderBy('createdAt').select('id', 'status', 'lastError');
      throw new Error(`${error} ${JSON.stringify(runs)} ${runners.map(({ output }) => output)}`);
    });
    return found as T;
  }
  /** The pieces of live output that the agents of the run have reported, beginning with the pieces from the latest sandbox. */
  async function shown(runId: string): Promise<string[]> {
    const { sandboxes } = await look(runId);
    const details = await Promise.all(sandboxes.map(({ sandboxId }: Json) => get(`/sandboxes/${sandboxId}`)));
    return details.flatMap(({ liveFragments }) => liveFragments.map(({ kind, body }: Json) => `${kind}: ${body}`));
  }

  return {
    world,
    models,
    folder,
    alice,
    projectId,
    service,
    until,
    look,
    graphql,
    turn,
    shown,
    /**
     * Waits until the agents of the run have reported a piece of live output that contains the text, and returns the first such piece. The
     * function polls the table, which is much cheaper than polling the service.
     */
    async isShown(runId: string, text: string): Promise<string> {
      const ofRun = world.knex('sandboxes').where({ runId }).select('id');
      const rows = world.knex('sandbox_fragments').whereIn('sandboxId', ofRun).whereRaw('strpos(body, ?) > 0', [text]);
      await until(() => rows.clone().first());
      return (await shown(runId)).find((fragment) => fragment.includes(text))!;
    },
    say: (runId: string, text: string) => steer('sendMessage', runId, { text }),
    /** Calls a mutation with the id of a run. All other arguments must be strings too. */
    steer,
    /** Kills the runners, and ends the lease that one of them had on the run. */
    async loseRunner(runId: string): Promise<void> {
      await killRunners();
      await endLease(() => look(runId), turn);
    },
    /** `account`: user of the runner, for tests under root. `launcher`: words before its command. */
    startRunner(
      more: Record<string, string> = {},
      { launcher = [], ...account }: { launcher?: string[]; uid?: number; gid?: number } = {},
    ): Runner {
      const agents = {
        CLAUDE_CODE_PROGRAM: standInClaude,
        ANTHROPIC_API_KEY: 'real-key',
        ANTHROPIC_BASE_URL: models.url,
      };
      const levels = {
        CONFINEMENT: 'none',
        ISOLATION: 'none',
        HARNESS_INSTALL: 'off',
        HARNESS_TEST: 'off',
        // Runners of the tests do not find the harnesses that a runner of this machine has installed.
        HARNESSES_DIR: path.join(folder, 'harnesses'),
        PLATFORM_URL: world.url,
      };
      const env = { PATH: process.env.PATH, TMPDIR: folder, ...levels, ...agents, ...pace, ...more };
      const [program, ...args] = [...launcher, process.execPath, compiled('runner/runner')];
      const child = spawn(program!, args, { ...account, cwd: projectFolder, env });
      const runner = { process: child, output: '' };
      child.stdin.on('error', () => {}).write(`${service}\n`);
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (bytes) => {
          runner.output += bytes;
        });
      runners.push(runner);
      return runner;
    },
    killRunners,
    /** Replaces the organization's agents: one harness, these roles. */
    async team(harness: string, ...roles: string[]): Promise<void> {
      await world.knex('agents').delete();
      for (const role of roles) {
        const sandbox = { kind: 'existing', templateId: 'standard' };
        const model = harness === 'shell' ? 'none' : 'claude-sonnet-4-5';
        const body = { name: role, role, harness, model, sandbox };
        const { status, body: agent } = await world.rest('POST', '/agents', { token: alice.token, body });
        if (status !== 201) throw new Error(`no agent: ${status}`);
        scriptAgentId = harness === 'shell' ? agent.id : null;
      }
    },
    async mission(prompt: string, project = projectId): Promise<string> {
      const start =
        'mutation ($p: String!, $prompt: String!, $a: String) { startMission(projectId: $p, prompt: $prompt, agentId: $a) { id } }';
      return (await graphql(start, { p: project, prompt, a: scriptAgentId })).id;
    },
    /** Polls the row, which costs a fraction of a request to the service. */
    async ended(runId: string): Promise<Json> {
      await until(async () => {
        const { status } = await world.knex('runs').where({ id: runId }).first('status');
        return ['completed', 'failed', 'canceled'].includes(status);
      });
      return look(runId);
    },
    /** A log of the run's newest sandbox; empty while there is none. */
    async log(runId: string, part = 'session'): Promise<string> {
      const { sandboxes } = await look(runId);
      if (sandboxes.length === 0) return '';
      const { sandboxId } = sandboxes[0];
      const [session] = (await get(`/sandboxes/${sandboxId}`)).sessions;
      const { role, sessionId } = session ?? {};
      return (await get(`/sandboxes/${sandboxId}/logs?role=${role}&sessionId=${sessionId}&part=${part}`)).content ?? '';
    },
    async close(): Promise<void> {
      await killRunners();
      await Promise.all([world.close(), models.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
