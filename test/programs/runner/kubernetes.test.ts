// Missions in pods of a cluster. A stand-in for its API server runs containers as processes in bubblewrap.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inPath } from '../../../src/runner/isolation/programs.ts';
import { isOffered } from '../../../src/runner/isolation/script-isolation.ts';
import { type ClusterWorld, itSurvivesLosses, openClusterWorld } from '../../support/cluster-world.ts';

/**
 * The path of kubectl, or undefined if kubectl is not installed. A test lists the Jobs of the stand-in with kubectl. This shows that the
 * official client of Kubernetes accepts the responses of the stand-in, as the runner does.
 */
const kubectl = inPath('kubectl', process.env.PATH);
const hasBubblewrap = await isOffered('cell');
let world: ClusterWorld;
beforeAll(async () => {
  world = await openClusterWorld(false);
});
afterAll(() => world.close());

describe.skipIf(!hasBubblewrap)('a mission in a pod', () => {
  it('a mission in a pod executes a script, stores its log and its artifact, and leaves no process behind', async () => {
    const { missions, cluster, objectsOf, running } = world;
    await missions.team('shell', 'builder');
    const runner = await running();
    const runId = await missions.mission('echo hello from the pod; echo result > "$ARTIFACTS/result.txt"');
    const run = await missions.ended(runId);
    const output = runner.output + cluster.nodes.output();
    expect(run, output).toMatchObject({ status: 'completed', lastError: null, artifacts: [{ caption: 'result.txt' }] });
    expect(await missions.log(runId)).toBe('hello from the pod\n');
    expect(await missions.log(runId, 'system')).toContain('Missions run in pods of a cluster');
    await missions.until(async () => cluster.nodes.running().length === 0);
    const [{ metadata, spec, status }] = objectsOf(runId, 'jobs');
    expect(metadata.name).toMatch(/^mission-[0-9a-f]{24}$/);
    expect(status.conditions).toMatchObject([{ type: 'Complete' }]);
    expect(spec).toMatchObject({ backoffLimit: 0, ttlSecondsAfterFinished: 300 });
    if (kubectl) {
      const args = ['--kubeconfig', cluster.config, 'get', 'jobs', '--output', 'name'];
      const env = { HOME: missions.folder, PATH: process.env.PATH };
      const { stdout } = await promisify(execFile)(kubectl, args, { env });
      expect(stdout).toContain(`job.batch/${metadata.name}\n`);
    }
    // No Job contains the token of the service or the key of a model.
    expect(JSON.stringify([...cluster.objects.jobs.values()])).not.toMatch(/srv_|real-key/);
  });

  it('a mission in a pod calls the model of its agent through the relay', async () => {
    const { missions } = world;
    await missions.team('claude-code', 'builder');
    expect(await missions.ended(await missions.mission('Work.'))).toMatchObject({ status: 'completed' });
    expect(missions.models.seen.at(-1)!.headers['x-api-key']).toBe('real-key');
  });

  itSurvivesLosses(() => world);

  it('a mission in a pod is handed back with the reason when a quota refuses its Job', async () => {
    const { missions, cluster, running } = world;
    const runner = await running();
    cluster.rules.admit = () => 'exceeded quota: missions, requested: count/jobs.batch=1';
    const runId = await missions.mission('Work.');
    await missions.until(async () => runner.output.includes('exceeded quota'));
    expect((await missions.look(runId)).status).toBe('dispatching');
    cluster.rules.admit = () => null;
    await missions.steer('cancelRun', runId);
  });

  it('a mission in a pod continues when its runner is restarted, even if the cluster is full and refuses the test pod', async () => {
    const { missions, cluster, restart, start } = world;
    await restart();
    await missions.team('claude-code', 'builder');
    const runId = await missions.mission('[wait]');
    await missions.until(async () => (await missions.look(runId)).steps[0]?.inputTokens > 0);
    await missions.killRunners();
    cluster.rules.admit = () => 'exceeded quota: missions, requested: count/jobs.batch=1';
    const runner = start();
    await missions.until(async () => runner.output.includes('Its missions continue'));
    await missions.say(runId, 'Go on.');
    expect(await missions.ended(runId), runner.output).toMatchObject({ status: 'completed', sandboxes: [{}] });
    expect(runner.process.exitCode).toBeNull();
    cluster.rules.admit = () => null;
  });
});

describe.skipIf(!hasBubblewrap)('a runner of a cluster', () => {
  async function refusal(more: Record<string, string> = {}): Promise<string> {
    const started = world.start(more);
    await world.missions.until(async () => started.process.exitCode !== null);
    return started.output;
  }

  it('a runner of a cluster names the rights that it lacks and the objects that the cluster refuses, and does not start', async () => {
    await world.missions.killRunners();
    const { rules } = world.cluster;
    rules.lacking = new Set(['create jobs', 'list events']);
    expect(await refusal()).toContain('lacks rights in the namespace missions: create jobs.batch, list events');
    rules.lacking = new Set();
    rules.admit = () => 'image registry.example.com is not allowed';
    expect(await refusal()).toMatch(/refuses the Job of a mission: admission webhook .* is not allowed/);
    rules.admit = () => null;
    rules.admitPod = ({ spec }) => spec.runtimeClassName && `RuntimeClass "${spec.runtimeClassName}" not found`;
    expect(await refusal({ KUBERNETES_RUNTIME_CLASS: 'gvisor' })).toContain('RuntimeClass "gvisor" not found');
    expect(await refusal({ KUBERNETES_NETWORK_POLICY: 'required' })).toContain('Pods of missions reach the API server');
  });
});
