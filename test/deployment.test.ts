// Files of deploy/ and the versions of a release: the chart, the manifests that come from it, and what Kubernetes says of both.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { headingOf, manifestsOf, renderChart } from '../scripts/manifests.ts';
import { settings } from '../src/config.ts';
import { type KubernetesObject, schemaErrorsOf } from './support/kubernetes-schemas.ts';
import { projectFolder } from './support/processes.ts';

const read = (file: string) => readFileSync(path.join(projectFolder, file), 'utf8');
const objectsIn = (text: string): KubernetesObject[] =>
  parseAllDocuments(text).flatMap((document) => document.toJS() ?? []);
const manifests = objectsIn(read('deploy/kubernetes/service.yaml'));
const named = (name: string) => manifests.find(({ kind, metadata }) => `${kind}/${metadata.name}` === name)!;
const { version } = JSON.parse(read('package.json'));

function hasHelm(): boolean {
  try {
    return execFileSync('helm', ['version', '--short'], { encoding: 'utf8', stdio: 'pipe' }) !== '';
  } catch {
    return false;
  }
}

it('packages, chart, manifests, pages and changelog have the version of the release', () => {
  const packages = ['clients/cli', 'clients/typescript'].map((folder) => JSON.parse(read(`${folder}/package.json`)));
  const { version: ofChart, appVersion } = parse(read('deploy/helm/Chart.yaml'));
  expect([...packages.map((one) => one.version), ofChart, appVersion]).toEqual([version, version, version, version]);
  expect(/^## (\d\S*)/m.exec(read('CHANGELOG.md'))![1]).toBe(version);
  const images = manifests.flatMap(
    ({ spec }) => spec?.template?.spec.containers.map((one: { image: string }) => one.image) ?? [],
  );
  expect(new Set(images)).toEqual(new Set([`agent-engineering-platform:${version}`]));
  const pages = ['README.md', 'deploy/README.md', 'clients/cli/README.md', 'docs/agents.md', 'docs/upgrade.md'];
  const packed = pages.flatMap((file) => read(file).match(/\b[\w-]+-\d+\.\d+\.\d+\.tgz/g) ?? []);
  expect(packed.filter((name) => !name.endsWith(`-${version}.tgz`))).toEqual([]);
});

describe('The Kubernetes manifests', () => {
  it('are rendered from the current chart', () => {
    expect(read('deploy/kubernetes/service.yaml').split('\n', 1)[0]).toBe(headingOf().trim());
  });

  it('are valid objects of Kubernetes', () => {
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

  it('have pods that the Pod Security Standard "restricted" admits, and contain the settings of the service but no secret', () => {
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

  it('refer to each other correctly: service, deployments, disruption budgets, network policy and ingress', () => {
    const labelsOf = (name: string) => named(`Deployment/${name}`).spec.template.metadata.labels;
    const selects = (selector: object, labels: object) =>
      Object.entries(selector).every(([name, value]) => (labels as Record<string, unknown>)[name] === value);
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

it('The manifest that scales runners reads a number of the API, with the token of the runners that it scales', () => {
  const [authentication, scaled] = objectsIn(read('deploy/kubernetes/runner-scaling.yaml'));
  const runner = objectsIn(read('deploy/kubernetes/runner.yaml'));
  const deployment = runner.find(({ kind }) => kind === 'Deployment')!;
  const { secretName } = deployment.spec.template.spec.volumes.find(
    ({ name }: { name: string }) => name === 'token',
  ).secret;
  expect(authentication!.spec.secretTargetRef).toEqual([{ parameter: 'token', name: secretName, key: 'token' }]);
  expect(scaled!.metadata).toEqual(deployment.metadata);
  expect(scaled!.spec.scaleTargetRef).toEqual({ name: deployment.metadata.name });
  const [{ type, metadata, authenticationRef }] = scaled!.spec.triggers;
  expect([type, metadata.authMode, authenticationRef.name]).toEqual([
    'metrics-api',
    'bearer',
    authentication!.metadata.name,
  ]);
  const route = new URL(metadata.url).pathname.replace('/v1', 'GET ');
  expect(read('src/domain/work/runs/schema-demand.ts')).toContain(`rest: '${route}'`);
  const [, fields] = /^type RuntimeDemand \{(.*?)^\}/ms.exec(read('schema.graphql'))!;
  expect(fields).toContain(`  ${metadata.valueLocation}: Int!`);
});

describe('The Helm chart', () => {
  it.skipIf(!hasHelm())('renders valid objects for the default and for other values, and names invalid values', () => {
    expect(read('deploy/kubernetes/service.yaml')).toBe(manifestsOf());
    const needed = ['--set', 'settings.PUBLIC_URL=https://aep.example.com,settings.STORAGE_URL=s3://contents'];
    const chosen = objectsIn(
      renderChart(
        ...needed,
        '--set',
        'image.pullSecrets={registry},image.tag=Sha.1,nodeSelector.pool=aep,service.replicas=1,networkPolicy.enabled=false',
        '--set-json',
        'tolerations=[{"key":"aep","operator":"Exists"}],serviceAccount.annotations={"eks.amazonaws.com/role-arn":"arn"}',
      ),
    );
    expect(chosen.flatMap(schemaErrorsOf)).toEqual([]);
    expect(chosen.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort()).toEqual([
      ...['Deployment/aep-scheduler', 'Deployment/aep-service', 'Job/aep-migrations-sha-1'],
      ...['PodDisruptionBudget/aep-scheduler', 'Service/aep', 'ServiceAccount/aep'],
    ]);
    const refusals = [
      [[], "missing properties 'PUBLIC_URL', 'STORAGE_URL'"],
      [['--set', 'settings.SECRET_KEY=x'], '/settings/SECRET_KEY'],
      [['--set', 'settings.STORAGE_URL=file:///x'], '/settings/STORAGE_URL'],
      [['--set', 'service.replicas=0'], '/service/replicas'],
      [['--set', 'replicas=3'], "additional properties 'replicas'"],
      [['--set', 'ingress.enabled=true'], '/ingress/hosts'],
    ] as const;
    for (const [args, named] of refusals)
      expect(() => renderChart(...(args.length > 0 ? needed : []), ...args)).toThrow(named);
  });
});
