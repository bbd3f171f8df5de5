// Missions with a SandboxClaim each, and pods that have started before their mission, with stand-ins for the API server and the controllers
// of agent-sandbox.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOffered } from '../../../src/runner/isolation/script-isolation.ts';
import { openHandOver } from '../../../src/runner/kubernetes/hand-over.ts';
import { poolNameOf } from '../../../src/runner/kubernetes/sandboxes.ts';
import { openTokens } from '../../../src/runner/kubernetes/tokens.ts';
import { type ClusterWorld, itSurvivesLosses, openClusterWorld } from '../../support/cluster-world.ts';

describe.skipIf(!(await isOffered('cell')))('a mission with a SandboxClaim', () => {
  let world: ClusterWorld;
  const claims = () => [...world.cluster.objects.sandboxclaims.values()];
  const warmPods = () =>
    [...world.cluster.objects.pods.values()].filter(
      ({ metadata, status }) => status.phase === 'Running' && !metadata.annotations['agent-runner/run'],
    );

  beforeAll(async () => {
    world = await openClusterWorld(true, {
      KUBERNETES_RUNTIME_CLASS: 'gvisor',
      KUBERNETES_WARM_PODS: '1',
      KUBERNETES_KEEP_SECONDS: '1',
    });
  });
  afterAll(() => world.close());

  it('a mission with a SandboxClaim gets a pod that was started in advance, and leaves neither objects nor processes behind', async () => {
    const { missions, cluster, objectsOf, running } = world;
    const runner = await running();
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
    await missions.until(async () => objectsOf(runId, 'pods').length === 1);
    const [claim] = claims();
    expect(claim.metadata.name).toMatch(/^mission-[0-9a-f]{24}$/);
    expect(claim.spec).toEqual({
      warmPoolRef: { name: template.metadata.name },
      lifecycle: { shutdownTime: expect.any(String), shutdownPolicy: 'Delete', ttlSecondsAfterFinished: 1 },
      additionalPodMetadata: { annotations: { 'agent-runner/run': runId } },
    });
    expect(objectsOf(runId, 'pods')[0]).toMatchObject({
      metadata: { name: metadata.name, uid: metadata.uid },
      spec: warm,
    });
    // No object of the cluster contains the token of the mission, the token of the service or the key of a model.
    const objects = JSON.stringify(Object.values(cluster.objects).map((kind) => [...kind.values()]));
    expect(objects).not.toMatch(/MISSION_TOKEN|HTTPS_PROXY|srv_|real-key/);
    const run = await missions.ended(runId);
    const output = runner.output + cluster.nodes.output();
    expect(run, output).toMatchObject({ status: 'completed', lastError: null, artifacts: [{ caption: 'result.txt' }] });
    expect(await missions.log(runId)).toBe('hello\n');
    await missions.until(async () => claims().length === 0 && objectsOf(runId, 'pods').length === 0);
    // The pool has another pod for the next mission.
    await missions.until(async () => warmPods().length === 1 && cluster.nodes.running().length === 1);
  });

  itSurvivesLosses(() => world);

  it('a mission runs as a Job if the rights for claims are missing; templates without missions are removed', async () => {
    const { missions, cluster, start, restart } = world;
    await missions.killRunners();
    cluster.rules.lacking = new Set(['patch sandboxclaims']);
    const refused = start({ KUBERNETES_SANDBOXES: 'required' });
    await missions.until(async () => refused.process.exitCode !== null);
    const lacks = 'the runner lacks rights: patch sandboxclaims.extensions.agents.x-k8s.io';
    expect(refused.output).toContain(`KUBERNETES_SANDBOXES is required, but ${lacks}`);
    const runner = await restart();
    expect(runner.output).toContain(`Missions of the cluster have a Job each: ${lacks}.`);
    const [old] = cluster.objects.sandboxtemplates.keys();
    cluster.rules.lacking = new Set();
    await restart({ KUBERNETES_WARM_KEEP_SECONDS: '1' });
    const { sandboxtemplates, sandboxwarmpools } = cluster.objects;
    await missions.until(async () => !sandboxtemplates.has(old!) && !sandboxwarmpools.has(old!));
    await missions.until(async () => cluster.objects.pods.size === 0 && cluster.nodes.running().length === 0);
  });
});

it('a mission goes only to the pod of its claim, and not to a pod that replaces it', async () => {
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
  // The pod may ask again after a lost response. A pod that replaces a lost one has the same name.
  expect(await ask(podToken, 'uid-1')).toHaveProperty('MISSION_TOKEN');
  pods.set('pod-1', 'uid-2');
  expect(await ask(podToken, 'uid-2')).toBe(410);
  expect(await ask(other, 'uid-2')).toBe(204);
});
