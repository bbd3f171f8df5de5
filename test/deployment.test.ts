// Checks the versions of a release, the Helm chart in deploy/, and the manifests that are rendered from the chart: they are valid in
// Kubernetes and restrict what their pods may do.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { headingOf, manifestFiles } from '../scripts/manifests.ts';
import { runner as runnerSettings } from '../scripts/setting-descriptions.ts';
import { settings } from '../src/config.ts';
import { missionLabel } from '../src/runner/kubernetes/objects.ts';
import { type KubernetesObject, schemaErrorsOf } from './support/kubernetes-schemas.ts';
import { projectFolder } from './support/processes.ts';

const read = (file: string) => readFileSync(path.join(projectFolder, file), 'utf8');
const objectsIn = (text: string): KubernetesObject[] =>
  parseAllDocuments(text).flatMap((document) => document.toJS() ?? []);
const manifests = objectsIn(read('deploy/kubernetes/service.yaml'));
const named = (name: string) => manifests.find(({ kind, metadata }) => `${kind}/${metadata.name}` === name)!;
const { version } = JSON.parse(read('package.json'));

/** Objects of a manifest for runners, by kind and name. */
const ofRunner = (file = 'runner.yaml') =>
  new Map(
    objectsIn(read(`deploy/kubernetes/${file}`)).map((object) => [`${object.kind}/${object.metadata.name}`, object]),
  );
const selects = (selector: object, labels: object) =>
  Object.entries(selector).every(([name, value]) => (labels as Record<string, unknown>)[name] === value);

it('packages, chart, manifests, pages and changelog have the version of the release', () => {
  const packages = ['clients/cli', 'clients/typescript'].map((folder) => JSON.parse(read(`${folder}/package.json`)));
  const { version: ofChart, appVersion } = parse(read('deploy/helm/Chart.yaml'));
  expect([...packages.map((one) => one.version), ofChart, appVersion]).toEqual([version, version, version, version]);
  expect(/^## (\d\S*)/m.exec(read('CHANGELOG.md'))![1]).toBe(version);
  const images = manifests.flatMap(
    ({ spec }) => spec?.template?.spec.containers.map((one: { image: string }) => one.image) ?? [],
  );
  expect(new Set(images)).toEqual(new Set([`agent-engineering-platform:${version}`]));
  const pages = ['README.md', 'deploy/README.md', 'clients/cli/README.md'];
  pages.push(...['agents', 'organization-files', 'upgrade'].map((name) => `docs/${name}.md`));
  const packed = pages.flatMap((file) => read(file).match(/\b[\w-]+-\d+\.\d+\.\d+\.tgz/g) ?? []);
  expect(packed.filter((name) => !name.endsWith(`-${version}.tgz`))).toEqual([]);
});

describe('The Kubernetes manifests', () => {
  it('the Kubernetes manifests are rendered from the current chart', () => {
    for (const file of Object.keys(manifestFiles))
      expect(read(`deploy/kubernetes/${file}`).split('\n', 1)[0]).toBe(headingOf(file).trim());
  });

  it('the Kubernetes manifests are valid Kubernetes objects', () => {
    expect(manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort()).toEqual([
      'Deployment/aep-scheduler',
      'Deployment/aep-service',
      'Ingress/aep',
      `Job/aep-migrations-${version.replaceAll('.', '-')}`,
      'NetworkPolicy/aep',
      'PodDisruptionBudget/aep-scheduler',
      'PodDisruptionBudget/aep-service',
      'Service/aep',
      'ServiceAccount/aep',
    ]);
    expect(manifests.flatMap(schemaErrorsOf)).toEqual([]);
    const wrong = structuredClone(named('Deployment/aep-service'));
    Object.assign(wrong.spec, { replicas: '2', paused: undefined, revisions: 3 });
    delete wrong.spec.template.spec.containers[0].name;
    expect(schemaErrorsOf(wrong).sort()).toEqual([
      '/spec must NOT have additional properties: revisions',
      '/spec/replicas must be integer',
      "/spec/template/spec/containers/0 must have required property 'name'",
    ]);
  });

  it('the Kubernetes manifests have pods that the Pod Security Standard "restricted" admits, and contain the settings of the service but no secret', () => {
    const pods = manifests.flatMap(({ spec }) => spec?.template?.spec ?? []);
    expect(pods).toHaveLength(3);
    for (const { containers, volumes, ...pod } of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(volumes).toEqual([{ name: 'tmp', emptyDir: { sizeLimit: '1Gi' } }]);
      expect(containers).toHaveLength(1);
      const [{ securityContext, env, envFrom, resources }] = containers;
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(resources).toMatchObject({ requests: { cpu: expect.anything() }, limits: { memory: '1Gi' } });
      expect(envFrom).toEqual([{ secretRef: { name: 'agent-engineering-platform' } }]);
      const set = Object.fromEntries(env.map((one: { name: string; value: string }) => [one.name, one.value]));
      const given = settings.partial().strict().safeParse(set);
      expect(given.error?.issues ?? []).toEqual([]);
    }
  });

  it('objects of the Kubernetes manifests refer to each other correctly: service, deployments, disruption budgets, network policy and ingress', () => {
    const labelsOf = (name: string) => named(`Deployment/${name}`).spec.template.metadata.labels;
    const service = named('Service/aep').spec;
    expect(['aep-service', 'aep-scheduler'].map((name) => selects(service.selector, labelsOf(name)))).toEqual([
      true,
      false,
    ]);
    const port = named('Deployment/aep-service').spec.template.spec.containers[0].ports[0];
    expect([service.ports[0].targetPort, named('NetworkPolicy/aep').spec.ingress[0].ports[0].port]).toEqual([
      port.name,
      port.name,
    ]);
    for (const name of ['aep-service', 'aep-scheduler']) {
      expect(selects(named(`Deployment/${name}`).spec.selector.matchLabels, labelsOf(name))).toBe(true);
      expect(selects(named(`PodDisruptionBudget/${name}`).spec.selector.matchLabels, labelsOf(name))).toBe(true);
      expect(selects(named('NetworkPolicy/aep').spec.podSelector.matchLabels, labelsOf(name))).toBe(true);
      expect(named(`Deployment/${name}`).spec.template.spec.serviceAccountName).toBe(
        named('ServiceAccount/aep').metadata.name,
      );
    }
    expect(named('Ingress/aep').spec.rules[0].http.paths[0].backend.service.name).toBe(
      named('Service/aep').metadata.name,
    );
  });
});

describe('The manifests of the runner', () => {
  const objects = ofRunner();
  const { metadata, spec } = objects.get('Deployment/aep-runner')!;
  const pod = spec.template.spec;
  const [container] = pod.containers;

  it('the manifests of the runner contain a runner, the service of its relay, and its rights and network policies, all valid for Kubernetes and in the right namespace', () => {
    expect([...objects.keys()].sort()).toEqual([
      ...[
        'Deployment/aep-runner',
        'Namespace/agent-missions',
        'NetworkPolicy/aep-missions',
        'NetworkPolicy/aep-runner',
      ],
      ...['Role/aep-runner', 'RoleBinding/aep-runner', 'Service/aep-runner', 'ServiceAccount/aep-runner'],
    ]);
    const all = Object.keys(manifestFiles).flatMap((file) => [...ofRunner(file).values()]);
    expect(all.flatMap(schemaErrorsOf)).toEqual([]);
    expect(objects.get('Namespace/agent-missions')!.metadata.labels).toMatchObject({
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
    for (const file of ['runner.yaml', 'runner-sandboxes.yaml'])
      for (const { kind, metadata: of, ...more } of ofRunner(file).values()) {
        const { roleRef, subjects } = more as { roleRef?: object; subjects?: object[] };
        const isElsewhere = ['Role', 'RoleBinding'].includes(kind) || of.name === 'aep-missions';
        expect((of as { namespace?: string }).namespace).toBe(isElsewhere ? 'agent-missions' : undefined);
        if (kind !== 'RoleBinding') continue;
        expect(subjects).toEqual([{ kind: 'ServiceAccount', name: pod.serviceAccountName, namespace: 'aep' }]);
        expect(roleRef).toEqual({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: of.name });
      }
  });

  it('the manifests of the runner have a restricted pod with settings that the runner knows, and a token from a Secret', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const settings = Object.fromEntries(container.env.map(({ name, value }: Record<string, string>) => [name, value]));
    const unknown = Object.keys(settings).filter((name) => !(name in runnerSettings) && name !== 'HOME');
    expect(unknown).toEqual(['DATA_DIR']);
    expect(settings).toMatchObject({
      PLATFORM_URL: 'https://aep.example.com',
      KUBERNETES_NAMESPACE: objects.get('Namespace/agent-missions')!.metadata.name,
      KUBERNETES_RUNNER_IMAGE: container.image,
      RUNS_AT_ONCE: String(20 * spec.replicas),
    });
    const { secret } = pod.volumes.find(({ name }: { name: string }) => name === 'token');
    expect(secret).toEqual({
      secretName: 'agent-runner',
      items: [{ key: 'token', path: 'token' }],
      defaultMode: 0o440,
    });
    // The grace period is longer than the pause before the shutdown plus the time to drain missions.
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(5_000 + Number(settings.KUBERNETES_DRAIN_MS));
  });

  it('the manifests of the runner let missions reach only the relay, and let only missions reach the relay', () => {
    const service = objects.get('Service/aep-runner')!;
    const { labels } = spec.template.metadata;
    const [{ containerPort, name }] = container.ports;
    expect(selects(service.spec.selector, labels)).toBe(true);
    expect(service.spec.ports).toEqual([{ name: 'relay', port: containerPort, targetPort: name }]);
    const variable = `${service.metadata.name.toUpperCase().replaceAll('-', '_')}_SERVICE_HOST`;
    expect(container.env).toContainEqual({
      name: 'KUBERNETES_RELAY_URL',
      value: `http://$(${variable}):${containerPort}`,
    });
    const mission = { matchLabels: missionLabel };
    const runners = { matchLabels: service.spec.selector };
    const inNamespace = (of: string) => ({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': of } },
    });
    expect(objects.get('NetworkPolicy/aep-missions')!.spec).toEqual({
      podSelector: mission,
      policyTypes: ['Ingress', 'Egress'],
      egress: [
        {
          to: [{ ...inNamespace('aep'), podSelector: runners }],
          ports: [{ protocol: 'TCP', port: containerPort }],
        },
      ],
    });
    const { podSelector, ingress } = objects.get('NetworkPolicy/aep-runner')!.spec;
    expect(podSelector).toEqual(runners);
    expect(ingress).toEqual([
      { ports: [{ port: name }], from: [{ ...inNamespace('agent-missions'), podSelector: mission }] },
    ]);
    const ofService = named('NetworkPolicy/aep').spec.podSelector.matchExpressions;
    expect(ofService).toEqual([
      { key: 'app.kubernetes.io/component', operator: 'In', values: ['service', 'scheduler', 'migrations'] },
    ]);
  });

  it('the manifests of the runner let KEDA scale runners by the demand that the API returns for the token of these runners', () => {
    const scaling = ofRunner('runner-scaling.yaml');
    const authentication = scaling.get('TriggerAuthentication/aep-runner')!;
    const scaled = scaling.get('ScaledObject/aep-runner')!;
    expect(authentication.spec.secretTargetRef).toEqual([{ parameter: 'token', name: 'agent-runner', key: 'token' }]);
    expect(scaled.spec.scaleTargetRef).toEqual({ name: metadata.name });
    const [{ type, metadata: trigger, authenticationRef }] = scaled.spec.triggers;
    expect([type, trigger.authMode, authenticationRef.name]).toEqual([
      'metrics-api',
      'bearer',
      authentication.metadata.name,
    ]);
    const route = new URL(trigger.url).pathname.replace('/v1', 'GET ');
    expect(read('src/domain/work/runs/schema-demand.ts')).toContain(`rest: '${route}'`);
    const [, fields] = /^type RuntimeDemand \{(.*?)^\}/ms.exec(read('schema.graphql'))!;
    expect(fields).toContain(`  ${trigger.valueLocation}: Int!`);
  });
});
