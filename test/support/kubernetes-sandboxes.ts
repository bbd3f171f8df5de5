// Controllers of agent-sandbox for the stand-in of a cluster. Pools keep sandboxes whose pods are ready. A claim adopts a ready sandbox, or
// gets a new one. A sandbox replaces its pod when the pod is gone. Like the published controllers, these do not copy the labels and
// annotations of agent-sandbox itself to pods.
import type { ClusterState, Plural } from './fake-kubernetes.ts';
import { schemaErrorsOf } from './kubernetes-schemas.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects of the cluster have any shape
type Json = any;

const isReserved = (key: string): boolean => /^(extensions\.)?agents\.x-k8s\.io\//.test(key);
const owned = (entries: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(entries).filter(([key]) => !isReserved(key)));
const conditionOf = (object: Json, type: string): Json =>
  object.status?.conditions?.find((one: Json) => one.type === type && one.status === 'True');

export function openSandboxControllers({ objects, put, remove, nextId, startPod }: ClusterState) {
  const ownerOf = ({ apiVersion, kind, metadata: { name, uid } }: Json) => ({
    apiVersion,
    kind,
    name,
    uid,
    controller: true,
  });
  const ownedBy = (owner: Json): Json[] =>
    [...objects.sandboxes.values()].filter(({ metadata }) => metadata.ownerReferences[0].uid === owner.metadata.uid);
  const claimOf = (sandbox: Json): Json =>
    [...objects.sandboxclaims.values()].find(
      ({ metadata }) => metadata.uid === sandbox.metadata.ownerReferences[0].uid,
    );

  const condition = (type: string, isTrue: boolean, reason: string, message = '') => ({
    ...{ type, status: isTrue ? 'True' : 'False', reason, message, lastTransitionTime: new Date().toISOString() },
  });

  /** Sets the status of a sandbox, and copies it to the claim that owns the sandbox. */
  function setStatus(name: string, conditions: Json[]): void {
    const sandbox = objects.sandboxes.get(name);
    if (!sandbox) return;
    put('sandboxes', { ...sandbox, status: { conditions } });
    const claim = claimOf(sandbox);
    if (claim) mirror(claim.metadata.name, name);
    else reconcilePools();
  }

  function mirror(claimName: string, name: string): void {
    const claim = objects.sandboxclaims.get(claimName);
    const conditions = objects.sandboxes.get(name)?.status?.conditions ?? [];
    put('sandboxclaims', { ...claim, status: { conditions, sandbox: { name } } });
    const { ttlSecondsAfterFinished: ttl } = claim.spec.lifecycle;
    if (conditionOf({ status: { conditions } }, 'Finished'))
      setTimeout(() => remove('sandboxclaims', claimName), 1_000 * ttl).unref();
  }

  function startSandboxPod(sandbox: Json): void {
    const { name } = sandbox.metadata;
    const { metadata = {}, spec } = sandbox.spec.podTemplate;
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: 'missions',
        uid: `uid-${nextId()}`,
        labels: owned(metadata.labels),
        annotations: owned(metadata.annotations),
        ownerReferences: [ownerOf(sandbox)],
      },
      spec: structuredClone(spec),
      status: { phase: 'Pending' },
    };
    setStatus(name, [condition('Ready', false, 'DependenciesNotReady')]);
    const refusal = startPod(pod, ({ phase }) => {
      if (phase === 'Running') setStatus(name, [condition('Ready', true, 'DependenciesReady')]);
      const reason = `Pod${phase}`;
      if (['Succeeded', 'Failed'].includes(phase))
        setStatus(name, [condition('Ready', false, reason), condition('Finished', true, reason)]);
    });
    if (refusal) setStatus(name, [condition('Ready', false, 'ReconcilerError', `Error seen: ${refusal}`)]);
  }

  function createSandbox(name: string, template: Json, owner: Json, annotations: Record<string, string>): void {
    const { podTemplate, service } = structuredClone(template.spec);
    podTemplate.metadata.annotations = { ...podTemplate.metadata.annotations, ...annotations };
    const metadata = { name, namespace: 'missions', uid: `uid-${nextId()}`, ownerReferences: [ownerOf(owner)] };
    const sandbox = {
      apiVersion: 'agents.x-k8s.io/v1beta1',
      kind: 'Sandbox',
      metadata,
      spec: { podTemplate, service },
    };
    const wrong = schemaErrorsOf(sandbox);
    if (wrong.length > 0) throw new Error(wrong.join('; '));
    startSandboxPod(put('sandboxes', sandbox));
  }

  let isQueued = false;
  function reconcilePools(): void {
    if (isQueued) return;
    isQueued = true;
    queueMicrotask(() => {
      isQueued = false;
      reconcile();
    });
  }

  function reconcile(): void {
    for (const pool of objects.sandboxwarmpools.values()) {
      const template = objects.sandboxtemplates.get(pool.spec.sandboxTemplateRef.name);
      const { replicas } = pool.spec;
      const there = ownedBy(pool);
      for (const { metadata } of there.slice(replicas)) remove('sandboxes', metadata.name);
      for (let missing = replicas - there.length; template && missing > 0; missing--)
        createSandbox(`${pool.metadata.name}-${nextId().toString(36).padStart(5, '0')}`, template, pool, {});
      const ready = ownedBy(pool).filter((one) => conditionOf(one, 'Ready')).length;
      const status = { replicas: ownedBy(pool).length, readyReplicas: ready };
      if (JSON.stringify(pool.status) !== JSON.stringify(status)) put('sandboxwarmpools', { ...pool, status });
    }
    for (const claim of objects.sandboxclaims.values()) if (!claim.status?.sandbox) reconcileClaim(claim);
  }

  function reconcileClaim(claim: Json): void {
    const { name } = claim.metadata;
    const { annotations } = claim.spec.additionalPodMetadata;
    const pool = objects.sandboxwarmpools.get(claim.spec.warmPoolRef.name);
    const template = pool && objects.sandboxtemplates.get(pool.spec.sandboxTemplateRef.name);
    if (!template) {
      if (claim.status) return;
      const reason = pool ? 'TemplateNotFound' : 'WarmPoolNotFound';
      put('sandboxclaims', { ...claim, status: { conditions: [condition('Ready', false, reason)] } });
      return;
    }
    const warm = ownedBy(pool).find((one) => conditionOf(one, 'Ready'));
    if (warm) adopt(claim, warm);
    else createSandbox(name, template, claim, annotations);
  }

  function adopt(claim: Json, warm: Json): void {
    const { annotations } = claim.spec.additionalPodMetadata;
    put('sandboxes', { ...warm, metadata: { ...warm.metadata, ownerReferences: [ownerOf(claim)] } });
    const pod = objects.pods.get(warm.metadata.name);
    put('pods', {
      ...pod,
      metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } },
    });
    mirror(claim.metadata.name, warm.metadata.name);
    reconcilePools();
  }

  function claimed(claim: Json): void {
    if (claim.status?.sandbox) return;
    const until = Date.parse(claim.spec.lifecycle.shutdownTime) - Date.now();
    setTimeout(() => remove('sandboxclaims', claim.metadata.name), until).unref();
    reconcileClaim(claim);
  }

  return {
    /** Called after a change of a claim, pool or template, and when the pod of a sandbox is gone. */
    changed(plural: Plural, name: string): void {
      if (plural === 'sandboxes') startSandboxPod(objects.sandboxes.get(name));
      else if (plural === 'sandboxclaims') claimed(objects.sandboxclaims.get(name));
      else reconcilePools();
    },
  };
}
