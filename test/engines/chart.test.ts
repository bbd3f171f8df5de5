// The Helm chart, rendered by a real helm: with values that change everything, with everything off, and with values that it refuses. The
// objects are checked against the published schemas of Kubernetes, agent-sandbox and KEDA.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { helmProgram } from '../../scripts/helm.ts';
import { manifestFiles, manifestsOf, runHelm } from '../../scripts/manifests.ts';
import { type KubernetesObject, schemaErrorsOf } from '../support/kubernetes-schemas.ts';
import { projectFolder } from '../support/processes.ts';

const noHelm = (() => {
  try {
    return helmProgram() && null;
  } catch (error) {
    return (error as Error).message;
  }
})();
if (noHelm) console.warn(`skipped: ${noHelm}`);

const needed = ['--set', 'settings.PUBLIC_URL=https://aep.example.com,settings.STORAGE_URL=s3://contents'];
const alone = ['--set', 'platform.enabled=false,runner.enabled=true,runner.platformUrl=https://elsewhere.example.com'];
const json = (values: object): string[] => Object.entries(values).flatMap(set);
const set = ([name, value]: [string, unknown]): string[] => ['--set-json', `${name}=${JSON.stringify(value)}`];

/** Objects by kind and name. */
function rendered(...args: string[]): Map<string, KubernetesObject> {
  const objects = parseAllDocuments(runHelm('template', ...args)).flatMap((document) => document.toJS() ?? []);
  expect(objects.flatMap(schemaErrorsOf)).toEqual([]);
  return new Map(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
}
const settingsOf = (deployment: KubernetesObject): Record<string, string> =>
  Object.fromEntries(
    deployment.spec.template.spec.containers[0].env.map(({ name, value }: Record<string, string>) => [name, value]),
  );

describe.skipIf(noHelm)('the chart', () => {
  it('the chart renders exactly the manifests for kubectl that are in deploy/kubernetes', () => {
    for (const file of Object.keys(manifestFiles))
      expect(readFileSync(path.join(projectFolder, 'deploy/kubernetes', file), 'utf8')).toBe(manifestsOf(file));
  });

  it('the chart renders neither a runner nor autoscalers by default, and nothing when everything is switched off', () => {
    expect([...rendered(...needed).keys()].sort()).toEqual([
      ...['Deployment/aep-scheduler', 'Deployment/aep-service', 'Job/aep-migrations-0-2-0', 'NetworkPolicy/aep'],
      ...['PodDisruptionBudget/aep-scheduler', 'PodDisruptionBudget/aep-service', 'Service/aep', 'ServiceAccount/aep'],
    ]);
    const least = json({ networkPolicy: { enabled: false }, service: { replicas: 1 }, scheduler: { replicas: 1 } });
    expect([...rendered(...needed, ...least).keys()].sort()).toEqual([
      ...['Deployment/aep-scheduler', 'Deployment/aep-service', 'Job/aep-migrations-0-2-0', 'Service/aep'],
      'ServiceAccount/aep',
    ]);
    expect(rendered('--set', 'platform.enabled=false').size).toBe(0);
  });

  it('the chart renders everything that its values can add', () => {
    const everything = {
      image: { tag: 'Sha.1', pullSecrets: ['registry'] },
      nodeSelector: { pool: 'aep' },
      tolerations: [{ key: 'aep', operator: 'Exists' }],
      serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn' } },
      ingress: { enabled: true, className: 'nginx', hosts: ['aep.example.com'], tlsSecretName: 'tls' },
      networkPolicy: { from: [{ namespaceSelector: {} }], egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }] },
      service: { autoscaling: { enabled: true } },
      runner: {
        enabled: true,
        settingsSecretName: 'models',
        settings: { RUNNER_LABELS: 'gpu, arm64', KUBERNETES_CPUS: '4' },
        missions: { namespace: 'work', pullSecrets: ['one', 'two'] },
        relay: { port: 9000, url: 'http://[fd00::1]:9000' },
        drainSeconds: 300,
        autoscaling: { minReplicas: 2, maxReplicas: 5, keda: { enabled: true } },
        agentSandbox: { enabled: true, warmPods: 3 },
        serviceAccount: { annotations: { team: 'agents' } },
      },
    };
    const objects = rendered(...needed, ...json(everything));
    expect([...objects.keys()].sort()).toEqual([
      ...['Deployment/aep-runner', 'Deployment/aep-scheduler', 'Deployment/aep-service'],
      ...['HorizontalPodAutoscaler/aep-service', 'Ingress/aep', 'Job/aep-migrations-sha-1', 'Namespace/work'],
      ...['NetworkPolicy/aep', 'NetworkPolicy/aep-missions', 'NetworkPolicy/aep-runner'],
      ...['PodDisruptionBudget/aep-runner', 'PodDisruptionBudget/aep-scheduler', 'PodDisruptionBudget/aep-service'],
      ...['Role/aep-runner', 'Role/aep-runner-sandboxes', 'RoleBinding/aep-runner', 'RoleBinding/aep-runner-sandboxes'],
      ...['ScaledObject/aep-runner', 'Service/aep', 'Service/aep-runner', 'ServiceAccount/aep'],
      ...['ServiceAccount/aep-runner', 'TriggerAuthentication/aep-runner'],
    ]);
    const runner = objects.get('Deployment/aep-runner')!;
    expect(settingsOf(runner)).toMatchObject({
      PLATFORM_URL: 'https://aep.example.com',
      KUBERNETES_NAMESPACE: 'work',
      KUBERNETES_RELAY_URL: 'http://[fd00::1]:9000',
      KUBERNETES_PULL_SECRETS: 'one,two',
      KUBERNETES_SANDBOXES: 'required',
      KUBERNETES_WARM_PODS: '3',
      KUBERNETES_DRAIN_MS: '300000',
      // Twenty runs for each of at most five runners.
      RUNS_AT_ONCE: '100',
      RUNNER_LABELS: 'gpu, arm64',
    });
    // Autoscalers set the number of replicas. A number in the chart would override theirs at each upgrade.
    expect([runner, objects.get('Deployment/aep-service')!].map(({ spec }) => spec.replicas)).toEqual([
      undefined,
      undefined,
    ]);
    expect(objects.get('ScaledObject/aep-runner')!.spec).toMatchObject({
      minReplicaCount: 2,
      maxReplicaCount: 5,
      triggers: [
        { metadata: { url: 'https://aep.example.com/v1/runtimes/demand?labels=gpu,arm64', targetValue: '20' } },
      ],
    });
  });

  it('the chart renders a runner without a platform if the platform runs elsewhere; the notes explain how to read the log of the runner and create the Secret with the token of the runner', () => {
    const scaled = ['--set', 'runner.autoscaling.enabled=true,runner.missions.namespace=aep'];
    const objects = rendered(...alone, ...scaled);
    expect([...objects.keys()].sort()).toEqual([
      ...['Deployment/aep-runner', 'HorizontalPodAutoscaler/aep-runner', 'NetworkPolicy/aep-missions'],
      ...['NetworkPolicy/aep-runner', 'Role/aep-runner', 'RoleBinding/aep-runner', 'Service/aep-runner'],
      'ServiceAccount/aep-runner',
    ]);
    expect(settingsOf(objects.get('Deployment/aep-runner')!)).toMatchObject({
      PLATFORM_URL: 'https://elsewhere.example.com',
      RUNS_AT_ONCE: '200',
    });
    const notes = runHelm('install', '--dry-run=client', ...alone).split('\nNOTES:\n')[1]!;
    expect(notes).toContain('logs deploy/aep-runner');
    expect(notes).toContain('create secret generic agent-runner --from-file=token=token.txt');
    expect(notes).not.toContain('org:create');
  });

  it('the chart names the values that it rejects', () => {
    const refusals = [
      [[], "missing properties 'PUBLIC_URL', 'STORAGE_URL'"],
      [[...needed, '--set', 'settings.SECRET_KEY=x'], '/settings/SECRET_KEY'],
      [[...needed, '--set', 'settings.STORAGE_URL=file:///x'], '/settings/STORAGE_URL'],
      [[...needed, '--set', 'service.replicas=0'], '/service/replicas'],
      [[...needed, '--set', 'replicas=3'], "additional properties 'replicas'"],
      [[...needed, '--set', 'ingress.enabled=true'], '/ingress/hosts'],
      [[...alone, '--set', 'runner.settings.ANTHROPIC_API_KEY=x'], '/runner/settings/ANTHROPIC_API_KEY'],
      [[...alone, '--set', 'runner.missions.namespace=Work'], '/runner/missions/namespace'],
      [[...alone, '--set', 'runner.missionsPerRunner=1001'], '/runner/missionsPerRunner'],
      [[...needed, '--set', 'service.autoscaling.minReplicas=11'], 'minReplicas: must be at most maxReplicas'],
      [[...alone, '--set', 'runner.platformUrl='], 'runner.platformUrl: must be the address of the platform'],
      [
        [...alone, '--set', 'runner.autoscaling.enabled=true,runner.autoscaling.keda.enabled=true'],
        '/runner/autoscaling/keda/enabled',
      ],
    ] as const;
    for (const [args, named] of refusals) expect(() => runHelm('template', ...args)).toThrow(named);
  });
});
