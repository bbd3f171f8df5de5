// Missions in the pods of a cluster, while nodes, the runner (which contains the relay) and the API server are killed.
// `npm run soak:cluster` does the same with hundreds of missions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { verifyLog } from '#domain/lifecycle/audit/tree/verify.ts';
import { releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { now, seconds } from '#foundation/clock.ts';
import { silenceMs } from '#limits.ts';
import { type ClusterWorld, openClusterWorld } from '../../support/cluster-world.ts';
import { type LightNodes, openLightNodes } from '../../support/light-nodes.ts';
import { kill } from '../../support/mission-world.ts';
import { leftIn, startClusterKills } from '../../support/missions-under-kills.ts';

describe.each([
  ['SandboxClaims', 2],
  ['Jobs', 0],
])('missions with %s', (kind, warm) => {
  let world: ClusterWorld;
  let nodes: LightNodes;
  beforeAll(async () => {
    nodes = openLightNodes(2);
    const settings = { KUBERNETES_KEEP_SECONDS: '1', KUBERNETES_WARM_PODS: String(warm), RUNS_AT_ONCE: '6' };
    world = await openClusterWorld(kind === 'SandboxClaims', settings, nodes);
    await world.missions.team('shell', 'builder');
  });
  afterAll(() => world.close());

  /** Starts missions, and waits until some of them run in pods. */
  async function start(count: number, prompt: string, working: number): Promise<string[]> {
    const { missions, cluster } = world;
    const runIds: string[] = [];
    for (let n = 0; n < count; n++) runIds.push(await missions.mission(prompt));
    const isWorking = ({ metadata, status }: { metadata: { annotations: object }; status: { phase: string } }) =>
      status.phase === 'Running' && 'agent-runner/run' in metadata.annotations;
    await missions.until(async () => [...cluster.objects.pods.values()].filter(isWorking).length >= working);
    return runIds;
  }

  async function endOnce(runIds: string[]): Promise<void> {
    const { missions, cluster } = world;
    const { knex } = missions.world;
    await missions.until(async () => {
      // Moving the clock ends the pauses of runs that were handed back, and ends the leases of runs whose pods are lost. The clock moves in
      // small steps, so that even a slow machine renews all other leases in time. A run whose lease has expired fails ten minutes after its
      // last heartbeat if no runtime claims it. The clock stops after half of this time, so that a runner that starts slowly can claim the run.
      const silent = await knex('runs').whereNotNull('silentSince').orderBy('silentSince').first('silentSince');
      if (!silent || now() - silent.silentSince < silenceMs.failed / 2) missions.turn(seconds(3));
      await releaseSilentRuns();
      return (await knex('runs').whereIn('status', ['dispatching', 'running'])).length === 0;
    });
    const runs = await knex('runs').whereIn('id', runIds).select('id', 'status', 'leaseUntil', 'lastError');
    const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
    const ended = runIds.map((id) => ({ id, status: 'completed', leaseUntil: null, lastError: null }));
    expect(runs.sort(byId)).toEqual(ended.sort(byId));
    // The audit log of the organization records the end of each mission exactly once.
    await numberAllChanges();
    const ends = await knex('audit_events').where({ action: 'run.completed' }).whereIn('targetId', runIds);
    expect(ends).toHaveLength(runIds.length);
    await signCheckpoints();
    expect((await verifyLog(missions.alice.organization.id, [])).findings).toEqual([]);
    expect(await knex('run_steps').whereIn('status', ['pending', 'running'])).toEqual([]);
    await missions.until(async () => leftIn(cluster) === '' && nodes.running().length === warm);
  }

  it('missions in pods end once each, and leave no leases, sandboxes or objects behind when their nodes are lost while the runner is down', async () => {
    const { missions, cluster, restart } = world;
    await restart();
    const runIds = await start(4, '1500', 4);
    await missions.killRunners();
    for (const lost of [await nodes.lose(), await nodes.lose()]) for (const name of lost) cluster.loseNode(name);
    await restart();
    await endOnce(runIds);
  });

  it('missions in pods end once each, and leave nothing, while a node, the runner and the API server are killed', async () => {
    const { cluster, running, restart } = world;
    await running();
    const runIds = await start(12, '1500', 4);
    const killRunner = async () => void (await restart());
    const kills = startClusterKills({ cluster, nodes, killRunner }, 500, 3);
    await kills.done;
    expect(kills.counts).toMatchObject({ nodes: 1, runners: 1, apiServers: 1 });
    expect(kills.counts.pods).toBeGreaterThan(0);
    await endOnce(runIds);
  });

  it('missions in pods end once each, and leave nothing, while two runners share them and their relays, and one runner is killed for good', async () => {
    const runners = await world.startTwo();
    const runIds = await start(12, '1500', 4);
    const claimedBy = ({ output }: { output: string }) => runIds.filter((id) => output.includes(id)).length;
    const [killed] = runners.sort((one, other) => claimedBy(other) - claimedBy(one));
    await kill(killed!.process);
    await endOnce(runIds);
  });
});
