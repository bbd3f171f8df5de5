// SIGKILL of harness, runner and service at every step of a mission: it continues or fails with the reason, leaves no process, and is
// charged once for each call of the model.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { seconds } from '#foundation/clock.ts';
import { endLease, kill, openMissionWorld } from '../../support/mission-world.ts';
import { freePort, startService } from '../../support/processes.ts';

let missions: Awaited<ReturnType<typeof openMissionWorld>>;
beforeAll(async () => {
  missions = await openMissionWorld();
  await missions.team('claude-code', 'builder');
});
afterEach(async () => {
  await missions.killRunners();
  missions.models.seen.length = 0;
});
afterAll(() => missions.close());

/** Processes started for the run, which have its id in their environment. */
function processesOf(runId: string): { pid: number; command: string }[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`RUN_ID=${runId}`)) return [];
      return [{ pid: Number(pid), command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') }];
    } catch {
      return [];
    }
  });
}
const isLinux = process.platform === 'linux';
const noneIsLeft = (runId: string) => missions.until(async () => processesOf(runId).length === 0);
const isIn = (runId: string, text: string) =>
  missions.until(async () => processesOf(runId).some(({ command }) => command.includes(text)));

let count = 0;
const isPaid = (runId: string) =>
  missions.until(async () => (await missions.look(runId)).steps[0]?.inputTokens === 1_200);

/** Starts missions that stop at the given points at their first attempt, and complete at the second. Resolves when all have stopped. */
async function beginAll(): Promise<string[]> {
  const begin = async (words: string, reached: (runId: string, mark: string) => Promise<unknown>) => {
    const mark = path.join(missions.folder, `once-${++count}`);
    const runId = await missions.mission(`[once:${mark}] ${words}`);
    return reached(runId, mark).then(() => runId);
  };
  return Promise.all([
    // The missions stop before the first model call, while they wait for a person's answer, and while a command runs.
    begin('[stall]', (_, mark) => missions.until(async () => existsSync(mark))),
    begin('[wait]', isPaid),
    begin('[run]\nsleep 98765', (runId) => isIn(runId, '98765').then(() => isPaid(runId))),
  ]);
}

/** Expects one charge for each call of the model. */
function expectPaid(runs: { missionCostUsd: number; steps: { inputTokens: number; costUsd: number }[] }[]): void {
  const tokens = runs.reduce((sum, { steps }) => sum + steps[0]!.inputTokens, 0);
  expect(tokens).toBe(1_200 * missions.models.seen.length);
  for (const { missionCostUsd, steps } of runs) expect(missionCostUsd).toBeCloseTo(steps[0]!.costUsd, 9);
}

/** Waits until the lease of the run is released. It tries repeatedly, because a heartbeat that is still on its way may renew the lease. */
const isReleased = (runId: string) =>
  missions.until(async () => {
    if ((await missions.look(runId)).status === 'dispatching') return true;
    missions.turn(seconds(121));
    await releaseSilentRuns();
    return false;
  });

describe.skipIf(!isLinux)('missions at every step', () => {
  it('missions fail with the reason when their harness is killed', async () => {
    missions.startRunner({ RUNS_AT_ONCE: '3' });
    const runIds = await beginAll();
    const harnesses = runIds.flatMap(processesOf).filter(({ command }) => command.includes('stand-in-claude'));
    for (const { pid } of harnesses) process.kill(pid, 'SIGKILL');
    const runs = await Promise.all(runIds.map(missions.ended));
    for (const run of runs) expect(run).toMatchObject({ status: 'failed', lastError: 'killed by SIGKILL' });
    expectPaid(runs);
    await Promise.all(runIds.map(noneIsLeft));
  });

  it('missions leave no process when their runner is killed, and are completed by another one', async () => {
    missions.startRunner({ RUNS_AT_ONCE: '3' });
    const runIds = await beginAll();
    const foldersOfRunners = () => readdirSync(missions.folder).filter((name) => /^(mirrors|mission)-/.test(name));
    expect(foldersOfRunners()).toContainEqual(expect.stringMatching(/^mirrors-/));
    await missions.killRunners();
    await Promise.all(runIds.map(noneIsLeft));
    await missions.until(async () => foldersOfRunners().length === 0);
    for (const runId of runIds) await isReleased(runId);
    missions.startRunner({ RUNS_AT_ONCE: '3' });
    const runs = await Promise.all(runIds.map(missions.ended));
    for (const run of runs) expect(run).toMatchObject({ status: 'completed', lastError: null });
    expectPaid(runs);
    await Promise.all(runIds.map(noneIsLeft));
  });
});

describe('a platform that fails', () => {
  /**
   * Starts a proxy in front of a service. For each request, the proxy passes the name of the operation, or the HTTP method, to `to`. The result names
   * the service, and says whether the response is lost and whether the proxy answers with a 503 instead.
   */
  async function openWire(
    to: (kind: string) => { url: string; isLost: boolean; isAway?: boolean },
  ): Promise<{ server: Server; url: string }> {
    const server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      const { method, headers } = request;
      const { url, isLost, isAway } = to(/answer: ?(\w+)\(/.exec(body.toString('latin1'))?.[1] ?? method!);
      if (isAway) {
        response.writeHead(503, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({ error: 'unavailable', code: 'unavailable', description: 'Away.', retryable: true }),
        );
        return;
      }
      const onward = forward(url + request.url, { method, headers }, (answer) => {
        if (isLost) {
          answer.resume().on('end', () => response.destroy());
          return;
        }
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy()).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  it('each mission completes once although every response of the platform is lost once', async () => {
    const lost = new Set<string>();
    const { server, url } = await openWire((kind) => {
      const isLost = !lost.has(kind);
      lost.add(kind);
      return { url: missions.world.url, isLost };
    });
    missions.startRunner({ PLATFORM_URL: url });
    const runId = await missions.mission('[run]\necho kept > "$ARTIFACTS/kept.txt"');
    const run = await missions.ended(runId);
    expect(run).toMatchObject({ status: 'completed', lastError: null, artifacts: [{ caption: 'kept.txt' }] });
    expect(missions.models.seen).toHaveLength(1);
    expect(run.steps).toMatchObject([{ status: 'completed', turns: 1, inputTokens: 1_200 }]);
    expect(run.missionCostUsd).toBeCloseTo(run.steps[0].costUsd, 9);
    expect([...lost]).toEqual(
      expect.arrayContaining([
        'claimRun',
        'registerSandbox',
        'heartbeat',
        'appendLog',
        'appendFragments',
        'reportUsage',
      ]),
    );
    expect([...lost]).toEqual(
      expect.arrayContaining(['createArtifactUpload', 'registerArtifact', 'finishStep', 'finishRun']),
    );
    server.closeAllConnections();
    server.close();
  });

  it('a runner keeps the mission and its lease when the platform answers 503 for longer than the lease', async () => {
    let isAway = false;
    let isNoticed = false;
    const { server, url } = await openWire((kind) => {
      isNoticed ||= isAway && kind === 'heartbeat';
      return { url: missions.world.url, isLost: false, isAway };
    });
    missions.startRunner({ PLATFORM_URL: url });
    const runId = await missions.mission('[wait]');
    await missions.until(async () => (await missions.look(runId)).steps[0]?.inputTokens > 0);
    isAway = true;
    await missions.until(async () => isNoticed);
    await endLease(() => missions.look(runId), missions.turn);
    isAway = false;
    await missions.until(async () => (await missions.look(runId)).status === 'running');
    const say = 'mutation ($r: String!) { sendMessage(runId: $r, text: "That is enough") { id } }';
    await missions.graphql(say, { r: runId });
    expect(await missions.ended(runId)).toMatchObject({ status: 'completed', lastError: null, steps: [{ turns: 2 }] });
    expect(await missions.world.knex('runs').where({ id: runId }).first('claims')).toEqual({ claims: 1 });
    server.closeAllConnections();
    server.close();
  });

  it('a mission continues in the same step when the platform is killed and another service process replaces it', async () => {
    const service = startService(missions.world.connection, await freePort());
    await service.ready;
    let { url } = service;
    const wire = await openWire(() => ({ url, isLost: false }));
    missions.startRunner({ PLATFORM_URL: wire.url });
    const runId = await missions.mission('[wait]');
    await isPaid(runId);
    await kill(service.process);
    // Another service process replaces the killed one.
    url = missions.world.url;
    const text = 'That is enough';
    const send = 'mutation ($runId: String!, $text: String!) { sendMessage(runId: $runId, text: $text) { id } }';
    await missions.graphql(send, { runId, text });
    const run = await missions.ended(runId);
    expect(run).toMatchObject({ status: 'completed', steps: [{ turns: 2, inputTokens: 2_400 }] });
    expect(missions.models.seen).toHaveLength(2);
    wire.server.closeAllConnections();
    wire.server.close();
  });
});
