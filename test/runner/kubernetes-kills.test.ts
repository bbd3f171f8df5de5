// Missions of a cluster, while a node, the runner with the relay, and the API server are killed. `npm run soak:cluster` does the same with hundreds.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { verifyLog } from '#domain/lifecycle/audit/tree/verify.ts';
import { releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { now, seconds } from '#foundation/clock.ts';
import { silenceMs } from '#limits.ts';
import { startKubernetes } from '../support/fake-kubernetes.ts';
import { type LightNodes, openLightNodes } from '../support/light-nodes.ts';
import { openMissionWorld } from '../support/mission-world.ts';
import { leftIn, startClusterKills } from '../support/missions-under-kills.ts';
import { freePort } from '../support/processes.ts';

let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let nodes: LightNodes;
let cluster: Awaited<ReturnType<typeof startKubernetes>>;
beforeAll(async () => {
  missions = await openMissionWorld();
  nodes = openLightNodes(2);
  cluster = await startKubernetes(missions.folder, nodes);
  cluster.rules.hasSandboxes = true;
});
afterAll(async () => {
  await missions.killRunners();
  await cluster.close();
  await missions.close();
});

it('twelve missions end once each, and leave neither leases, sandboxes nor objects', async () => {
  const port = await freePort();
  const settings = {
    RUNTIME: 'kubernetes',
    KUBECONFIG: cluster.config,
    KUBERNETES_RELAY_URL: `http://127.0.0.1:${port}`,
    KUBERNETES_RELAY_PORT: String(port),
    KUBERNETES_RUNNER_IMAGE: 'registry.example.com/runner:1',
    KUBERNETES_NETWORK_POLICY: 'ignored',
    KUBERNETES_KEEP_SECONDS: '1',
    KUBERNETES_WARM_PODS: '2',
    RUNS_AT_ONCE: '6',
  };
  let runner = missions.startRunner(settings);
  await missions.team('shell', 'builder');
  const runIds: string[] = [];
  for (let n = 0; n < 12; n++) runIds.push(await missions.mission('1500'));
  const { knex } = missions.world;
  const started = () => knex('runs').whereNotIn('status', ['dispatching']);
  await missions.until(async () => (await started()).length >= 4);
  const kills = startClusterKills(
    {
      cluster,
      nodes,
      async killRunner() {
        await missions.killRunners();
        runner = missions.startRunner(settings);
      },
    },
    500,
    3,
  );
  await kills.done;
  expect(kills.counts).toMatchObject({ nodes: 1, runners: 1, apiServers: 1 });
  expect(kills.counts.pods).toBeGreaterThan(0);
  await missions.until(async () => {
    // The pause before a run that was handed back is claimed again. A runner that takes long to start must find the runs that wait for it.
    const silent = await knex('runs').whereNotNull('silentSince').orderBy('silentSince').first('silentSince');
    if (!silent || now() - silent.silentSince < silenceMs.failed / 2) missions.turn(seconds(11));
    await releaseSilentRuns();
    const open = await knex('runs').whereIn('status', ['dispatching', 'running']);
    return open.length === 0;
  });
  const runs = await knex('runs').select('id', 'status', 'leaseUntil', 'lastError').orderBy('createdAt');
  expect(runs, runner.output).toEqual(
    runIds.map((id) => ({ id, status: 'completed', leaseUntil: null, lastError: null })),
  );
  // The log of the organization has one end of each.
  await numberAllChanges();
  const ends = await knex('audit_events').where({ action: 'run.completed' }).select('targetId');
  expect(ends.map(({ targetId }) => targetId).sort()).toEqual([...runIds].sort());
  await signCheckpoints();
  expect((await verifyLog(missions.alice.organization.id, [])).findings).toEqual([]);
  expect(await knex('run_steps').whereIn('status', ['pending', 'running'])).toEqual([]);
  await missions.until(async () => leftIn(cluster) === '' && nodes.running().length === 2);
});
