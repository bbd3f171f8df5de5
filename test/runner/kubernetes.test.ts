// Missions in pods of a cluster, by a stand-in for its API server whose containers are processes in bubblewrap.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seconds } from '#foundation/clock.ts';
import { isOffered } from '../../src/runner/isolation/confinement.ts';
import { inPath } from '../../src/runner/isolation/programs.ts';
import { startKubernetes } from '../support/fake-kubernetes.ts';
import { openMissionWorld, type Runner } from '../support/mission-world.ts';
import { compiled, freePort } from '../support/processes.ts';

/** The official client, where it is installed: it proves the stand-in to be a Kubernetes to others. */
const kubectl = inPath('kubectl', process.env.PATH);
const hasBubblewrap = await isOffered('bubblewrap');
let missions: Awaited<ReturnType<typeof openMissionWorld>>;
let cluster: Awaited<ReturnType<typeof startKubernetes>>;
let settings: Record<string, string>;
beforeAll(async () => {
  missions = await openMissionWorld();
  cluster = await startKubernetes(missions.folder, [process.execPath, compiled('runner/runner')]);
  const port = await freePort();
  settings = {
    RUNTIME: 'kubernetes',
    KUBECONFIG: cluster.config,
    KUBERNETES_RELAY_URL: `http://127.0.0.1:${port}`,
    KUBERNETES_RELAY_PORT: String(port),
    KUBERNETES_RUNNER_IMAGE: 'registry.example.com/runner:1',
    KUBERNETES_NETWORK_POLICY: 'ignored',
    CHECKPOINT_MS: '500',
  };
});
afterAll(async () => {
  await missions.killRunners();
  await cluster.close();
  await missions.close();
});

const jobsOf = (runId: string) =>
  [...cluster.objects.jobs.values()].filter(({ metadata }) => metadata.annotations['agent-runner/run'] === runId);
const pods = () => cluster.nodes.running();

describe.skipIf(!hasBubblewrap)('a mission in a pod', () => {
  let runner: Runner;

  it('a mission of a script ends with its log and artifact, and leaves no process', async () => {
    await missions.team('shell', 'builder');
    runner = missions.startRunner(settings);
    const runId = await missions.mission('echo hello from the pod; echo result > "$ARTIFACTS/result.txt"');
    const run = await missions.ended(runId);
    const output = runner.output + cluster.nodes.output();
    expect(run, output).toMatchObject({ status: 'completed', lastError: null, artifacts: [{ caption: 'result.txt' }] });
    expect(await missions.log(runId)).toBe('hello from the pod\n');
    expect(await missions.log(runId, 'system')).toContain('Missions run in pods of a cluster');
    await missions.until(async () => pods().length === 0);
    const [{ metadata, spec, status }] = jobsOf(runId);
    expect(metadata.name).toMatch(/^mission-[0-9a-f]{24}$/);
    expect(status.conditions).toMatchObject([{ type: 'Complete' }]);
    expect(spec).toMatchObject({ backoffLimit: 0, ttlSecondsAfterFinished: 300 });
    if (kubectl) {
      const args = ['--kubeconfig', cluster.config, 'get', 'jobs', '--output', 'name'];
      const env = { HOME: missions.folder, PATH: process.env.PATH };
      const { stdout } = await promisify(execFile)(kubectl, args, { env });
      expect(stdout).toContain(`job.batch/${metadata.name}\n`);
    }
    // Neither the token of the service nor a key of a model is in an object of the cluster.
    expect(JSON.stringify([...cluster.objects.jobs.values()])).not.toMatch(/srv_|real-key/);
  });

  it('a mission of an agent calls its model through the relay, and continues from its checkpoint when its node is lost', async () => {
    await missions.team('claude-code', 'builder');
    const runId = await missions.mission('[draft] [wait]');
    await missions.until(async () => (await missions.look(runId)).steps[0]?.checkpoint);
    expect(missions.models.seen.at(-1)!.headers['x-api-key']).toBe('real-key');
    const [lost] = pods();
    cluster.loseNode(lost!);
    await missions.until(async () => (await missions.look(runId)).status === 'dispatching');
    missions.turn(seconds(11));
    await missions.until(async () => (await missions.log(runId, 'system')).includes('begins from the checkpoint'));
    await missions.say(runId, 'Go on.');
    expect(await missions.ended(runId), runner.output).toMatchObject({ status: 'completed', lastError: null });
    expect(jobsOf(runId)).toHaveLength(2);
  });

  it('continues while its runner is killed, the API server is unavailable, and resource versions are too old', async () => {
    const runId = await missions.mission('[wait]');
    await missions.until(async () => (await missions.look(runId)).steps[0]?.inputTokens > 0);
    await missions.killRunners();
    cluster.forget();
    runner = missions.startRunner(settings);
    await missions.until(async () => runner.output.includes('claims runs'));
    cluster.away(true);
    await missions.say(runId, 'Go on.');
    expect(await missions.ended(runId), runner.output).toMatchObject({ status: 'completed', lastError: null });
    const second = await missions.mission('Work.');
    cluster.away(false);
    cluster.forget();
    cluster.rules.conflicts = 2;
    expect(await missions.ended(second), runner.output).toMatchObject({ status: 'completed', lastError: null });
    await missions.until(async () => pods().length === 0);
    expect([jobsOf(runId), jobsOf(second)]).toMatchObject([[{}], [{}]]);
    expect(cluster.seen.filter(({ status }) => status === 409)).toHaveLength(2);
    await missions.until(async () => runner.output.includes(`${runId} is done`));
  });

  it('is handed back with the reason when a quota refuses its Job', async () => {
    await missions.killRunners();
    runner = missions.startRunner({ ...settings, KUBERNETES_START_MS: '1500' });
    await missions.until(async () => runner.output.includes('claims runs'));
    cluster.rules.admit = () => 'exceeded quota: missions, requested: count/jobs.batch=1';
    const runId = await missions.mission('Work.');
    await missions.until(async () => runner.output.includes('exceeded quota'));
    expect((await missions.look(runId)).status).toBe('dispatching');
    cluster.rules.admit = () => null;
    await missions.steer('cancelRun', runId);
  });
});

describe.skipIf(!hasBubblewrap)('a runner of a cluster', () => {
  async function refusal(more: Record<string, string> = {}): Promise<string> {
    const started = missions.startRunner({ ...settings, ...more });
    await missions.until(async () => started.process.exitCode !== null);
    return started.output;
  }

  it('names what the cluster forbids, and does not start', async () => {
    await missions.killRunners();
    cluster.rules.lacking = new Set(['create jobs', 'list events']);
    expect(await refusal()).toContain('lacks rights in the namespace missions: create jobs.batch, list events');
    cluster.rules.lacking = new Set();
    cluster.rules.admit = () => 'image registry.example.com is not allowed';
    expect(await refusal()).toMatch(/refuses the Job of a mission: admission webhook .* is not allowed/);
    cluster.rules.admit = () => null;
    cluster.rules.admitPod = ({ spec }) => spec.runtimeClassName && `RuntimeClass "${spec.runtimeClassName}" not found`;
    expect(await refusal({ KUBERNETES_RUNTIME_CLASS: 'gvisor' })).toContain('RuntimeClass "gvisor" not found');
    expect(await refusal({ KUBERNETES_NETWORK_POLICY: 'required' })).toContain('Pods of missions reach the API server');
  });
});
