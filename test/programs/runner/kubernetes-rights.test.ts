// The Kubernetes manifests grant a runner exactly the rights that its requests to the cluster need. To see all these requests, the test
// executes one mission in a Job and another mission in a SandboxClaim.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { rights, sandboxRights } from '../../../src/runner/kubernetes/preflight.ts';
import { type ClusterWorld, openClusterWorld } from '../../support/cluster-world.ts';
import { openLightNodes } from '../../support/light-nodes.ts';
import { projectFolder } from '../../support/processes.ts';

let world: ClusterWorld;
beforeAll(async () => {
  const settings = { KUBERNETES_KEEP_SECONDS: '1', KUBERNETES_WARM_PODS: '1', KUBERNETES_WARM_KEEP_SECONDS: '1' };
  world = await openClusterWorld(false, settings, openLightNodes(1));
});
afterAll(() => world.close());

/** Group, resource and verbs of each rule of the only Role in a manifest. */
function grantedBy(file: string): [string, string, string[]][] {
  const text = readFileSync(path.join(projectFolder, 'deploy/kubernetes', file), 'utf8');
  const roles = parseAllDocuments(text).flatMap((document) => {
    const object = document.toJS();
    return object?.kind === 'Role' ? [object] : [];
  });
  expect(roles).toHaveLength(1);
  return roles[0].rules.flatMap(({ apiGroups, resources, verbs, ...more }: Record<string, string[]>) => {
    expect([apiGroups, resources, more]).toEqual([[expect.any(String)], [expect.any(String)], {}]);
    return [[apiGroups![0], resources![0], verbs]];
  });
}

it('the rights that the manifests grant a runner are those that it needs, and no others', async () => {
  const granted = [grantedBy('runner.yaml'), grantedBy('runner-sandboxes.yaml')];
  expect(granted).toEqual([rights, sandboxRights]);
  const { missions, cluster, start } = world;
  await missions.team('shell', 'builder');
  // When a runner starts, it creates a pod as a test. If the cluster refuses the pod, the runner reads events to report the reason.
  cluster.rules.admitPod = () => 'exceeded quota';
  const refused = start();
  await once(refused.process, 'exit');
  expect(refused.output).toContain('exceeded quota');
  cluster.rules.admitPod = () => null;
  const runner = start();
  const ofJob = await missions.mission('1');
  expect(await missions.ended(ofJob), runner.output).toMatchObject({ status: 'completed' });
  runner.process.kill('SIGTERM');
  expect(await once(runner.process, 'exit')).toEqual([0, null]);
  cluster.rules.hasSandboxes = true;
  const another = start();
  const ofClaim = await missions.mission('1');
  expect(await missions.ended(ofClaim), another.output).toMatchObject({ status: 'completed' });
  const { sandboxtemplates, sandboxwarmpools } = cluster.objects;
  await missions.until(async () => sandboxtemplates.size + sandboxwarmpools.size === 0);
  const needed = granted.flat().flatMap(([, resource, verbs]) => verbs.map((verb) => `${verb} ${resource}`));
  expect([...cluster.used].sort()).toEqual(needed.sort());
});
