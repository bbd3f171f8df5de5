// Missions with a SandboxClaim each, and pods that have started before their mission, by a stand-in for the API server and for the controllers of
// agent-sandbox.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seconds } from '#foundation/clock.ts';
import { isOffered } from '../../src/runner/isolation/confinement.ts';
import { openHandOver } from '../../src/runner/kubernetes/hand-over.ts';
import { poolNameOf } from '../../src/runner/kubernetes/sandboxes.ts';
import { openTokens } from '../../src/runner/kubernetes/tokens.ts';
import { startKubernetes } from '../support/fake-kubernetes.ts';
import { openMissionWorld, type Runner } from '../support/mission-world.ts';
import { compiled, freePort } from '../support/processes.ts';

describe.skipIf(!(await isOffered('bubblewrap')))('a mission with a SandboxClaim', () => {
  let missions: Awaited<ReturnType<typeof openMissionWorld>>;
  let cluster: Awaited<ReturnType<typeof startKubernetes>>;
  let settings: Record<string, string>;
  let runner: Runner;
  const claims = () => [...cluster.objects.sandboxclaims.values()];
  const podsOf = (runId: string) =>
    [...cluster.objects.pods.values()].filter(({ metadata }) => metadata.annotations['agent-runner/run'] === runId);
  const warmPods = () =>
    [...cluster.objects.pods.values()].filter(
      ({ metadata, status }) => status.phase === 'Running' && !metadata.annotations['agent-runner/run'],
    );

  beforeAll(async () => {
    missions = await openMissionWorld();
    cluster = await startKubernetes(missions.folder, [process.execPath, compiled('runner/runner')]);
    cluster.rules.hasSandboxes = true;
    const port = await freePort();
    settings = {
      RUNTIME: 'kubernetes',
      KUBECONFIG: cluster.config,
      KUBERNETES_RELAY_URL: `http://127.0.0.1:${port}`,
      KUBERNETES_RELAY_PORT: String(port),
      KUBERNETES_RUNNER_IMAGE: 'registry.example.com/runner:1',
      KUBERNETES_NETWORK_POLICY: 'ignored',
      KUBERNETES_RUNTIME_CLASS: 'gvisor',
      KUBERNETES_WARM_PODS: '1',
      KUBERNETES_KEEP_SECONDS: '1',
      CHECKPOINT_MS: '500',
    };
    runner = missions.startRunner(settings);
  });
  afterAll(async () => {
    await missions.killRunners();
    await cluster.close();
    await missions.close();
  });

  it('gets a pod that has started before it, and leaves neither objects nor processes', async () => {
    await missions.team('shell', 'builder');
    // The first mission of a size starts cold, and fills the pool of its template.
    expect(await missions.ended(await missions.mission('echo first'))).toMatchObject({ status: 'completed' });
    await missions.until(async () => warmPods().length === 1 && claims().length === 0);
    expect(runner.output).toContain('have a SandboxClaim each: the cluster serves extensions.agents.x-k8s.io/v1beta1');
    const [{ spec: warm, metadata }] = warmPods();
    await missions.until(async () => cluster.nodes.output().split('The pod waits for a mission.').length > 2);
    expect(warm).toMatchObject({ runtimeClassName: 'gvisor', automountServiceAccountToken: false });
    for (const { securityContext } of [...warm.initContainers, ...warm.containers])
      expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, runAsNonRoot: true });
    const [template] = cluster.objects.sandboxtemplates.values();
    expect(template.spec).toMatchObject({ networkPolicyManagement: 'Unmanaged', service: false });

    const runId = await missions.mission('echo hello; sleep 1; echo result > "$ARTIFACTS/result.txt"');
    await missions.until(async () => podsOf(runId).length === 1);
    const [claim] = claims();
    expect(claim.metadata.name).toMatch(/^mission-[0-9a-f]{24}$/);
    expect(claim.spec).toEqual({
      warmPoolRef: { name: template.metadata.name },
      lifecycle: { shutdownTime: expect.any(String), shutdownPolicy: 'Delete', ttlSecondsAfterFinished: 1 },
      additionalPodMetadata: { annotations: { 'agent-runner/run': runId } },
    });
    expect(podsOf(runId)[0]).toMatchObject({ metadata: { name: metadata.name, uid: metadata.uid }, spec: warm });
    // Neither the token of the mission, nor that of the service, nor a key of a model is in an object of the cluster.
    const objects = JSON.stringify(Object.values(cluster.objects).map((kind) => [...kind.values()]));
    expect(objects).not.toMatch(/MISSION_TOKEN|HTTPS_PROXY|srv_|real-key/);
    const run = await missions.ended(runId);
    const output = runner.output + cluster.nodes.output();
    expect(run, output).toMatchObject({ status: 'completed', lastError: null, artifacts: [{ caption: 'result.txt' }] });
    expect(await missions.log(runId)).toBe('hello\n');
    await missions.until(async () => claims().length === 0 && podsOf(runId).length === 0);
    // The pool has another pod for the next mission.
    await missions.until(async () => warmPods().length === 1 && cluster.nodes.running().length === 1);
  });

  it('continues from its checkpoint when its node is lost, and the pod in its place gets no mission', async () => {
    await missions.team('claude-code', 'builder');
    const runId = await missions.mission('[draft] [wait]');
    await missions.until(async () => (await missions.look(runId)).steps[0]?.checkpoint);
    const [{ metadata }] = podsOf(runId);
    cluster.loseNode(metadata.name);
    await missions.until(async () => (await missions.look(runId)).status === 'dispatching');
    expect(runner.output).toContain(`${runId}: `);
    missions.turn(seconds(11));
    await missions.until(async () => (await missions.log(runId, 'system')).includes('begins from the checkpoint'));
    await missions.say(runId, 'Go on.');
    expect(await missions.ended(runId), runner.output).toMatchObject({ status: 'completed', lastError: null });
    await missions.until(async () => claims().length === 0);
  });

  it('goes on while its runner is killed, the API server is away, and resource versions are too old', async () => {
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
    await missions.until(async () => claims().length === 0);
  });

  it('has a Job where the rights are missing, and templates without missions are removed', async () => {
    await missions.killRunners();
    cluster.rules.lacking = new Set(['patch sandboxclaims']);
    const refused = missions.startRunner({ ...settings, KUBERNETES_SANDBOXES: 'required' });
    await missions.until(async () => refused.process.exitCode !== null);
    const lacks = 'the runner lacks rights: patch sandboxclaims.extensions.agents.x-k8s.io';
    expect(refused.output).toContain(`KUBERNETES_SANDBOXES is required, but ${lacks}`);
    runner = missions.startRunner(settings);
    await missions.until(async () => runner.output.includes('claims runs'));
    expect(runner.output).toContain(`Missions of the cluster have a Job each: ${lacks}.`);
    const [old] = cluster.objects.sandboxtemplates.keys();
    await missions.killRunners();
    cluster.rules.lacking = new Set();
    runner = missions.startRunner({ ...settings, KUBERNETES_WARM_KEEP_SECONDS: '1' });
    const { sandboxtemplates, sandboxwarmpools } = cluster.objects;
    await missions.until(async () => !sandboxtemplates.has(old!) && !sandboxwarmpools.has(old!));
    await missions.until(async () => cluster.objects.pods.size === 0 && cluster.nodes.running().length === 0);
  });
});

it('a mission goes to the pod of its claim only, and to no pod in its place', async () => {
  const tokens = openTokens('srv_secret');
  const [podToken, other] = [tokens.signPods('template'), tokens.signPods('another')];
  const named = { 'agent-runner/run': 'run_1', 'agent-runner/lease': 'lease_1', 'agent-runner/claim': 'claim_1' };
  const claim = {
    metadata: { name: 'mission-1', resourceVersion: '1', annotations: { ...named, 'agent-runner/mission': '{}' } },
    spec: { warmPoolRef: { name: poolNameOf(podToken) }, lifecycle: { shutdownTime: '2099-01-01T00:00:00Z' } },
    status: { sandbox: { name: 'pod-1' } },
  };
  const pods = new Map([['pod-1', 'uid-1']]);
  const gone = new AbortController();
  const workloads = {
    claims: () => [claim],
    hasPod: (name: string, uid: string) => pods.get(name) === uid,
    next: async () => gone.abort(),
  };
  const merge = async ({ metadata }: { metadata: object }) => {
    Object.assign(claim.metadata.annotations, (metadata as typeof claim.metadata).annotations);
  };
  const handOver = openHandOver({ merge } as never, workloads as never, tokens, 'http://10.0.0.5:8080');
  const ask = (token: string, uid: string, name = 'pod-1') => handOver(token, { name, uid }, gone.signal);
  expect(await ask('template.wrong', 'uid-1')).toBe(401);
  expect(await ask(tokens.sign({ runId: 'run_1', leaseId: 'lease_1', claimId: 'claim_1' }, 9e15), 'uid-1')).toBe(401);
  const given = await ask(podToken, 'uid-1');
  const { MISSION_TOKEN, ...rest } = given as Record<string, string>;
  expect(tokens.read(MISSION_TOKEN!)).toEqual({ runId: 'run_1', leaseId: 'lease_1', claimId: 'claim_1' });
  expect(rest).toEqual({ MISSION: '{}', HTTPS_PROXY: `http://mission:${MISSION_TOKEN}@10.0.0.5:8080` });
  // A lost response is repeated. The pod that replaces a lost one has its name.
  expect(await ask(podToken, 'uid-1')).toHaveProperty('MISSION_TOKEN');
  pods.set('pod-1', 'uid-2');
  expect(await ask(podToken, 'uid-2')).toBe(410);
  expect(await ask(other, 'uid-2')).toBe(204);
});
