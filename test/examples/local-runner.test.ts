// examples/local-runner against a whole service: real processes run real scripts, are killed, stopped and relieved. The clock goes
// with the machine's, since a runner has its own; only the leases are turned by hand.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organizations/model.ts';
import { takeBackRuns } from '#domain/runtime/dispatch.ts';
import { createServiceToken } from '#domain/tokens/service-tokens.ts';
import { seconds, setClock } from '#foundation/clock.ts';
import { openStorage } from '#foundation/storage.ts';
import { folderStorage } from '#foundation/storage-folder.ts';
import { openWorld, type World } from '../world.ts';

let world: World;
let acme: Organization;
let alice: string;
let projectId: string;
let folder: string;
let service: string;
let turned = 0;
const runners: { process: ChildProcess; output: string }[] = [];

beforeAll(async () => {
  world = await openWorld();
  setClock(() => Date.now() + turned);
  folder = mkdtempSync(path.join(tmpdir(), 'aep-contents-'));
  openStorage(folderStorage(folder));
  const owner = await world.person('Alice');
  acme = await world.found(owner, 'Acme');
  alice = await world.token(owner, acme);
  service = (await createServiceToken({ name: 'runner', orgId: acme.id })).token;
  const project = { name: 'Shop', repoFullName: 'acme/shop' };
  projectId = (await world.rest('POST', '/projects', { token: alice, body: project })).body.id;
  const sandbox = { kind: 'existing', templateId: 'standard' };
  const agent = { name: 'Shell', role: 'builder', harness: 'shell', model: 'none', sandbox };
  await world.rest('POST', '/agents', { token: alice, body: agent });
});
afterEach(async () => {
  for (const { process } of runners.splice(0)) {
    if (process.exitCode !== null || process.signalCode !== null) continue;
    process.kill('SIGKILL');
    await once(process, 'exit');
  }
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

const root = path.resolve(import.meta.dirname, '../..');

function startRunner(token = service, more: Record<string, string> = {}) {
  const pace = { POLL_MS: '50', HEARTBEAT_MS: '100', SAMPLE_MS: '50', FLUSH_MS: '20', GRACE_MS: '200' };
  const env = { PATH: process.env.PATH, PLATFORM_URL: world.url, PLATFORM_TOKEN: token, ...pace, ...more };
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/local-runner/runner.ts'], { cwd: root, env });
  const runner = { process: child, output: '' };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (runner.output += bytes));
  runners.push(runner);
  return runner;
}

/** Presses "run now" for a script of its own. */
async function mission(prompt: string): Promise<string> {
  const schedule = { interval: 'daily', time: '00:00', timezone: 'UTC' };
  const body = { projectId, name: 'Script', prompt, triggers: [{ kind: 'schedule', schedule }], enabled: false };
  const { id } = (await world.rest('POST', '/scheduled-tasks', { token: alice, body })).body;
  return (await world.rest('POST', `/scheduled-tasks/${id}/run`, { token: alice })).body.runId;
}

const fields = `id status missionProgress missionActivity missionCostUsd lastError
  sandboxes { sandboxId status terminationReason } artifacts { kind contentType caption sizeBytes url }`;
const look = async (runId: string) =>
  (
    await world.graphql(`query ($runId: String!) { run(runId: $runId) { ${fields} } }`, {
      token: alice,
      variables: { runId },
    })
  ).body.data.run;

/** What `ask` gives as soon as it is `right`; it fails after a while. */
async function until<T>(ask: () => Promise<T>, right: (answer: T) => boolean): Promise<T> {
  const end = Date.now() + 15_000;
  for (;;) {
    const answer = await ask();
    if (right(answer)) return answer;
    if (Date.now() > end)
      throw new Error(`waited in vain: ${JSON.stringify(answer)} ${runners.map(({ output }) => output)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
const ended = (runId: string) =>
  until(
    () => look(runId),
    ({ status }) => ['completed', 'failed', 'canceled'].includes(status),
  );
const detail = async (sandboxId: string) => (await world.rest('GET', `/sandboxes/${sandboxId}`, { token: alice })).body;
const log = async ({ sandboxId }: { sandboxId: string }, part = 'session') => {
  const [{ role, sessionId }] = (await detail(sandboxId)).sessions;
  const query = `role=${role}&sessionId=${sessionId}&part=${part}`;
  return (await world.rest('GET', `/sandboxes/${sandboxId}/logs?${query}`, { token: alice })).body;
};
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the local runner', () => {
  it('carries a script out, and all that it leaves is there', async () => {
    startRunner();
    const script = `
      echo "::plan One | Two"; echo "::thought Let me see"; echo "::progress 50 Halfway"; echo "::cost 0.25"
      echo "größe: \${PLATFORM_TOKEN:-none}"; echo "to the other side" >&2
      mkdir site; echo hello > site/index.html; echo "::preview site"
      sleep 0.4
      printf '# Done' > "$ARTIFACTS/report.md"; printf '\\0\\1\\377' > "$ARTIFACTS/raw.bin"; echo "::response Done"`;
    const runId = await mission(script);
    const run = await ended(runId);
    expect(run).toMatchObject({
      status: 'completed',
      missionProgress: 100,
      missionActivity: 'Halfway',
      missionCostUsd: 0.25,
    });
    const [sandbox] = run.sandboxes;
    expect(sandbox).toMatchObject({ status: 'completed', terminationReason: 'completed' });

    const { content, bytes } = await log(sandbox);
    // Nothing of the runner's own surroundings reaches the script.
    expect(content.split('\n').sort()).toEqual(['', 'größe: none', 'to the other side']);
    expect(bytes).toBe(Buffer.byteLength(content));
    expect((await log(sandbox, 'prompt')).promptSpans).toEqual([{ id: 'mission', content: script }]);
    expect((await log(sandbox, 'system')).content).toContain(`node ${process.version}`);

    const { liveFragments, metrics, sessions } = await detail(sandbox.sandboxId);
    const shown = liveFragments.map(({ kind, body, action }: Record<string, string>) => [kind, body ?? action]);
    expect(shown).toEqual([
      ['plan', null],
      ['thought', 'Let me see'],
      ['action', 'preview'],
      ['response', 'Done'],
    ]);
    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics[0].memUsedMb).toBeGreaterThan(0);
    expect(sessions).toMatchObject([{ outcome: 'completed', totalCostUsd: 0.25 }]);

    const artifacts = run.artifacts.sort((a: { caption: string }, b: { caption: string }) =>
      a.caption.localeCompare(b.caption),
    );
    expect(artifacts).toMatchObject([
      { kind: 'file', contentType: 'application/octet-stream', caption: 'raw.bin', sizeBytes: 3 },
      { kind: 'report', contentType: 'text/markdown', caption: 'report.md', sizeBytes: 6 },
    ]);
    const raw = await (await fetch(artifacts[0].url)).arrayBuffer();
    expect([...new Uint8Array(raw)]).toEqual([0, 1, 255]);
    const { data } = (await world.rest('GET', '/environments', { token: alice })).body;
    expect(data).toMatchObject([{ status: 'destroyed', workerName: expect.stringMatching(/^127\.0\.0\.1:\d+$/) }]);
  });

  it('says with what a script failed', async () => {
    startRunner();
    expect(await ended(await mission('echo no; exit 3'))).toMatchObject({ status: 'failed', lastError: 'exit code 3' });
  });

  it('stops the script whose sandbox is killed, and what it has started', async () => {
    startRunner();
    const runId = await mission('sleep 600 & echo "pids $$ $!"; trap "" TERM; wait; sleep 600');
    const { sandboxes } = await until(
      () => look(runId),
      (run) => run.sandboxes.length > 0,
    );
    const said = await until(
      () => log(sandboxes[0]).catch(() => ({ content: '' })),
      ({ content }) => content.includes('pids'),
    );
    const pids = said.content.match(/\d+/g)!.map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await world.rest('POST', `/sandboxes/${sandboxes[0].sandboxId}/kill`, { token: alice });
    const run = await ended(runId);
    expect(run).toMatchObject({
      status: 'failed',
      lastError: 'stopped',
      sandboxes: [{ status: 'destroyed', terminationReason: 'killed' }],
    });
    expect(pids.map(isRunning)).toEqual([false, false]);
  });

  it('that is killed is relieved by another, once its lease is over', async () => {
    const first = startRunner();
    const mark = path.join(folder, 'mark');
    const runId = await mission(
      `if [ -e ${mark} ]; then echo second; else touch ${mark}; echo "pid $$"; sleep 600; fi`,
    );
    const { sandboxes } = await until(
      () => look(runId),
      (run) => run.sandboxes.length > 0,
    );
    const said = await until(
      () => log(sandboxes[0]).catch(() => ({ content: '' })),
      ({ content }) => content.includes('pid'),
    );
    first.process.kill('SIGKILL');
    await once(first.process, 'exit');
    // What it had started does not outlive it.
    await until(
      async () => isRunning(Number(said.content.match(/\d+/)![0])),
      (running) => !running,
    );
    startRunner();
    turned += seconds(61);
    await takeBackRuns();
    expect(await ended(runId)).toMatchObject({
      status: 'completed',
      sandboxes: [{ status: 'completed' }, { status: 'failed', terminationReason: 'the runtime was lost' }],
    });
  });

  it('that is asked to leave hands its run back', async () => {
    const runner = startRunner();
    const runId = await mission('sleep 600');
    await until(
      () => look(runId),
      (run) => run.sandboxes.length > 0,
    );
    runner.process.kill('SIGTERM');
    await once(runner.process, 'exit');
    expect(await look(runId)).toMatchObject({
      status: 'dispatching',
      missionActivity: 'Handed back: the runner is shutting down',
    });
    await world.knex('runs').where({ id: runId }).update({ status: 'canceled' });
  });

  it('and a second one share twenty runs, each of them done once', async () => {
    const more = { RUNS_AT_ONCE: '5' };
    startRunner(service, more);
    startRunner(service, more);
    const runs = await Promise.all(Array.from({ length: 20 }, (_, i) => mission(`echo number ${i}`)));
    const done = await Promise.all(runs.map(ended));
    expect(done.map(({ status, sandboxes }) => [status, sandboxes.length])).toEqual(runs.map(() => ['completed', 1]));
  });

  it('ends with a reason when its token is none', async () => {
    const runner = startRunner(`srv_${'x'.repeat(43)}`);
    const [code] = await once(runner.process, 'exit');
    expect([code, runner.output]).toEqual([
      1,
      expect.stringContaining('The platform refuses this runner: The bearer token'),
    ]);
  });
});
