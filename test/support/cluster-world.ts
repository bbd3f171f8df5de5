// An organization whose missions run in pods of a cluster with a stand-in for its API server, and scenarios that Jobs and SandboxClaims share.
import { expect, it } from 'vitest';
import { seconds } from '#foundation/clock.ts';
import { balance } from './balancer.ts';
import { startKubernetes } from './fake-kubernetes.ts';
import type { PodProcesses } from './kubernetes-nodes.ts';
import { kill, openMissionWorld, type Runner } from './mission-world.ts';
import { compiled, freePort } from './processes.ts';

export type ClusterWorld = Awaited<ReturnType<typeof openClusterWorld>>;

/** @param more Settings of the runners of the cluster @param nodes Where the pods run; by default, each pod runs in bubblewrap */
export async function openClusterWorld(hasSandboxes: boolean, more: Record<string, string> = {}, nodes?: PodProcesses) {
  const missions = await openMissionWorld();
  const cluster = await startKubernetes(missions.folder, nodes ?? [process.execPath, compiled('runner/runner')]);
  cluster.rules.hasSandboxes = hasSandboxes;
  const [port, secondPort] = [await freePort(), await freePort()];
  /** Address of all relays for pods, like the Service of a Deployment of runners. */
  const service = await balance([port, secondPort].map((one) => ({ url: `http://127.0.0.1:${one}` })));
  const settings = {
    RUNTIME: 'kubernetes',
    KUBECONFIG: cluster.config,
    KUBERNETES_RELAY_URL: service.url,
    KUBERNETES_RELAY_PORT: String(port),
    KUBERNETES_RUNNER_IMAGE: 'registry.example.com/runner:1',
    KUBERNETES_NETWORK_POLICY: 'ignored',
    CHECKPOINT_MS: '500',
    ...more,
  };
  let runner: Runner | null = null;
  const start = (other: Record<string, string> = {}): Runner => missions.startRunner({ ...settings, ...other });
  /** Kills the runners, and starts another one. Resolves when it claims runs. */
  async function restart(other: Record<string, string> = {}): Promise<Runner> {
    await missions.killRunners();
    const started = start(other);
    runner = started;
    await missions.until(async () => started.output.includes('claims runs'));
    return started;
  }
  /** Kills the runners, and starts two others, whose relays share the connections of pods. Resolves when both claim runs. */
  async function startTwo(): Promise<[Runner, Runner]> {
    const first = await restart();
    const second = start({ KUBERNETES_RELAY_PORT: String(secondPort) });
    await missions.until(async () => second.output.includes('claims runs'));
    return [first, second];
  }

  return {
    missions,
    cluster,
    start,
    restart,
    startTwo,
    /** The runner that `restart` started last. If there is none, a first runner is started. */
    running: async (): Promise<Runner> => runner ?? restart(),
    objectsOf: (runId: string, plural: 'jobs' | 'pods' | 'sandboxclaims') =>
      [...cluster.objects[plural].values()].filter(
        ({ metadata }) => metadata.annotations['agent-runner/run'] === runId,
      ),
    async close(): Promise<void> {
      await missions.killRunners();
      service.close();
      await cluster.close();
      await missions.close();
    },
  };
}

/** Scenarios of a mission whose node, runner or API server is lost. */
export function itSurvivesLosses(opened: () => ClusterWorld): void {
  /** Starts a mission whose agent writes a draft and then waits for a message. The draft is the work that a checkpoint must save. */
  async function waitingMission(): Promise<string> {
    const { missions } = opened();
    await missions.team('claude-code', 'builder');
    const runId = await missions.mission('[draft] [wait]');
    await missions.until(async () => (await missions.look(runId)).steps[0]?.inputTokens > 0);
    return runId;
  }
  const podsOf = (runId: string): string[] => {
    const names = opened()
      .objectsOf(runId, 'pods')
      .map(({ metadata }) => metadata.name);
    return opened()
      .cluster.nodes.running()
      .filter((name) => names.includes(name));
  };

  /**
   * Expects that another pod claims the mission and continues from the checkpoint. Then sends a message, after which the agent completes the mission.
   */
  async function continues(runId: string): Promise<void> {
    const { missions } = opened();
    await missions.until(async () => (await missions.look(runId)).status === 'dispatching');
    missions.turn(seconds(11));
    await missions.until(async () => (await missions.log(runId, 'system')).includes('begins from the checkpoint'));
    await missions.say(runId, 'Go on.');
    const run = await missions.ended(runId);
    expect(run).toMatchObject({ status: 'completed', lastError: null, sandboxes: [{}, {}] });
  }

  it('a mission continues from its checkpoint when its node is lost', async () => {
    const { missions, cluster, running } = opened();
    const runner = await running();
    const runId = await waitingMission();
    await missions.until(async () => (await missions.look(runId)).steps[0]?.checkpoint);
    cluster.loseNode(podsOf(runId)[0]!);
    await missions.until(async () => runner.output.includes(`${runId}: `));
    await continues(runId);
  });

  it('a mission continues although its runner is killed, the API server is unavailable, and resource versions are too old', async () => {
    const { missions, cluster, running, restart } = opened();
    await running();
    const runId = await waitingMission();
    await missions.killRunners();
    cluster.forget();
    const runner = await restart();
    cluster.away(true);
    await missions.say(runId, 'Go on.');
    expect(await missions.ended(runId), runner.output).toMatchObject({ status: 'completed', lastError: null });
    const second = await missions.mission('Work.');
    cluster.away(false);
    cluster.forget();
    cluster.rules.conflicts = 2;
    const run = await missions.ended(second);
    expect(run, runner.output).toMatchObject({ status: 'completed', lastError: null, sandboxes: [{}] });
    expect(cluster.rules.conflicts).toBe(0);
    await missions.until(async () => [runId, second].every((id) => podsOf(id).length === 0));
    // Waits until the runner has logged that the first mission has left the runner. If the SandboxClaim of the mission was removed while the
    // API server was unavailable, the runner logs an error of the mission instead.
    await missions.until(async () => new RegExp(`^${runId}(:| has left)`, 'm').test(runner.output));
  });

  it('a mission goes on in its pod, through the relay of another runner, when the runner that has started it is killed', async () => {
    const { missions, startTwo } = opened();
    const runners = await startTwo();
    const runId = await waitingMission();
    const starter = runners.find(({ output }) => output.includes(runId))!;
    await kill(starter.process);
    await missions.say(runId, 'Go on.');
    const output = runners.map((runner) => runner.output).join('\n');
    expect(await missions.ended(runId), output).toMatchObject({
      status: 'completed',
      lastError: null,
      sandboxes: [{}],
    });
  });

  it('the work of a mission is saved when its node is drained, and the mission continues with the saved work', async () => {
    const { missions, cluster, restart } = opened();
    await restart({ CHECKPOINT_MS: '3600000' });
    const runId = await waitingMission();
    expect((await missions.look(runId)).steps[0].checkpoint).toBeNull();
    cluster.drainNode(podsOf(runId)[0]!);
    await missions.until(async () => podsOf(runId).length === 0);
    await continues(runId);
  });
}
