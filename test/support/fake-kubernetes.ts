// A stand-in for the API server of a cluster with its controllers and nodes: the REST protocol of the resources that the runner uses
// (server-side apply, lists, watches with resource versions and bookmarks), and pods as processes of this machine. Objects are checked
// against Kubernetes' published schemas.
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { makeCertificate } from './certificate.ts';
import { openNodes, type PodProcesses } from './kubernetes-nodes.ts';
import { openSandboxControllers } from './kubernetes-sandboxes.ts';
import { schemaErrorsOf } from './kubernetes-schemas.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects of the cluster have any shape
type Json = any;

interface Refusal {
  code: number;
  reason: string;
  message: string;
}

const extensions = 'extensions.agents.x-k8s.io/v1beta1';
const kinds = {
  jobs: { apiVersion: 'batch/v1', kind: 'Job' },
  pods: { apiVersion: 'v1', kind: 'Pod' },
  events: { apiVersion: 'v1', kind: 'Event' },
  sandboxclaims: { apiVersion: extensions, kind: 'SandboxClaim' },
  sandboxtemplates: { apiVersion: extensions, kind: 'SandboxTemplate' },
  sandboxwarmpools: { apiVersion: extensions, kind: 'SandboxWarmPool' },
  sandboxes: { apiVersion: 'agents.x-k8s.io/v1beta1', kind: 'Sandbox' },
} as const;
export type Plural = keyof typeof kinds;
const plurals = Object.keys(kinds) as Plural[];
/** Whether a kind of object belongs to agent-sandbox. A cluster serves these kinds only if agent-sandbox is installed in it. */
const isOfSandboxes = (plural: Plural): boolean => plural.startsWith('sandbox');

/**
 * The functions with which the controllers of the cluster read and change its objects, and start pods, which run as processes of this
 * machine.
 */
export interface ClusterState {
  objects: Record<Plural, Map<string, Json>>;
  put(plural: Plural, object: Json): Json;
  remove(plural: Plural, name: string): Json | null;
  nextId(): number;
  /** Starts a pod. Returns why admission refuses it, or null. */
  startPod(pod: Json, changed: (status: Json) => void): string | null;
}

const token = 'cluster-token';
const refused = (code: number, reason: string, message: string): Refusal => ({ code, reason, message });

/**
 * Starts a stand-in for a Kubernetes cluster. @param pods Either the nodes that run the pods, or the command that containers of the runner's
 * image execute. If it is a command, the pods run as processes of this machine, in bubblewrap.
 */
export async function startKubernetes(folder: string, pods: string[] | PodProcesses) {
  const objects = Object.fromEntries(plurals.map((one) => [one, new Map()])) as ClusterState['objects'];
  const history: { version: number; plural: Plural; type: string; object: Json }[] = [];
  const watches = new Set<{ plural: Plural; selector: string; response: ServerResponse }>();
  /** Milliseconds from the creation of each claim until a pod has its mission. */
  const starts = { cold: [] as number[], warm: [] as number[] };
  const seen: { method: string; path: string; status: number }[] = [];
  /** Rights that requests needed, as `verb resource`. */
  const used = new Set<string>();
  const rules = {
    /** Rights that the token lacks, as `verb resource`. */
    lacking: new Set<string>(),
    /** Whether agent-sandbox is installed. */
    hasSandboxes: false,
    /** Admission of Jobs and claims: the reason for a refusal, or null. */
    admit: (_job: Json): string | null => null,
    /** Admission of pods, which a quota or Pod Security may refuse: the reason for a refusal, or null. */
    admitPod: (_pod: Json): string | null => null,
    /**
     * The number of conflict responses that the API server still has to send. While it is above 0, each request to apply an object gets a
     * conflict response.
     */
    conflicts: 0,
    isAway: false,
    /** The oldest resource version that a watch may begin from. */
    oldest: 0,
  };
  let version = 1;
  let ids = 0;

  const fits = ({ metadata }: Json, selector: string): boolean =>
    selector
      .split(',')
      .filter(Boolean)
      .every((one) => {
        const [key, value] = one.split('=');
        return metadata.labels?.[key!] === value;
      });

  function emit(plural: Plural, type: string, object: Json): void {
    object.metadata.resourceVersion = String(++version);
    const copy = structuredClone(object);
    history.push({ version, plural, type, object: copy });
    for (const one of watches)
      if (one.plural === plural && fits(copy, one.selector))
        one.response.write(`${JSON.stringify({ type, object: copy })}\n`);
  }

  const put = (plural: Plural, object: Json): Json => {
    const { name } = object.metadata;
    const isNew = !objects[plural].has(name);
    objects[plural].set(name, object);
    emit(plural, isNew ? 'ADDED' : 'MODIFIED', object);
    return object;
  };

  function remove(plural: Plural, name: string): Json | null {
    const object = objects[plural].get(name);
    if (!object) return null;
    objects[plural].delete(name);
    emit(plural, 'DELETED', object);
    if (plural === 'pods') nodes.end(name);
    const { uid } = object.metadata;
    for (const other of uid ? plurals : [])
      for (const { metadata } of [...objects[other].values()])
        if (metadata.ownerReferences?.[0]?.uid === uid) remove(other, metadata.name);
    return object;
  }

  const warn = (name: string, reason: string, message: string): void => {
    const metadata = { name: `${name}.${++ids}`, namespace: 'missions' };
    put('events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata,
      type: 'Warning',
      reason,
      message,
      involvedObject: { name },
    });
  };

  const endJob = (name: string, type: 'Complete' | 'Failed', reason: string, message: string): void => {
    const job = objects.jobs.get(name);
    if (!job || job.status?.conditions) return;
    put('jobs', { ...job, status: { conditions: [{ type, status: 'True', reason, message }] } });
    const ttl = job.spec.ttlSecondsAfterFinished;
    if (ttl !== undefined) setTimeout(() => remove('jobs', name), ttl * 1_000).unref();
  };

  function startPod(pod: Json, changed: (status: Json) => void): string | null {
    const { name, uid } = pod.metadata;
    const refusal = rules.admitPod(pod);
    if (refusal) return `pods "${name}" is forbidden: ${refusal}`;
    put('pods', pod);
    nodes.start(pod, {
      changed(status) {
        const current = objects.pods.get(name);
        if (current?.metadata.uid !== uid) return;
        put('pods', { ...current, status });
        changed(status);
        const isOver = ['Succeeded', 'Failed'].includes(status.phase);
        if (isOver && current.metadata.deletionTimestamp) remove('pods', name);
      },
    });
    return null;
  }

  /** Deletes a pod as a node does: its containers get SIGTERM, and the pod exists until they have ended. */
  function terminate(name: string): void {
    const pod = objects.pods.get(name);
    if (!pod) return;
    put('pods', { ...pod, metadata: { ...pod.metadata, deletionTimestamp: new Date().toISOString() } });
    nodes.ask(name);
  }

  /** The controller of Jobs: one pod for each, which is never replaced. */
  function startJob({ metadata, spec }: Json): void {
    const { name } = metadata;
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...structuredClone(spec.template.metadata),
        name: `${name}-${(++ids).toString(36).padStart(5, '0')}`,
        namespace: 'missions',
        uid: `uid-${ids}`,
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid: metadata.uid, controller: true }],
      },
      spec: spec.template.spec,
      status: { phase: 'Pending' },
    };
    pod.metadata.labels['batch.kubernetes.io/job-name'] = name;
    const refusal = startPod(pod, (status) => {
      if (status.phase === 'Succeeded')
        endJob(name, 'Complete', 'CompletionsReached', 'Reached expected number of succeeded pods');
      if (status.phase === 'Failed')
        endJob(name, 'Failed', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit');
    });
    if (refusal) {
      warn(name, 'FailedCreate', `Error creating: ${refusal}`);
      return;
    }
    setTimeout(() => {
      endJob(name, 'Failed', 'DeadlineExceeded', 'Job was active longer than specified deadline');
      terminate(pod.metadata.name);
    }, spec.activeDeadlineSeconds * 1_000).unref();
  }

  function failJobOf(podName: string): void {
    const job = [...objects.jobs.keys()].find((name) => podName.startsWith(name));
    if (job) endJob(job, 'Failed', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }

  function apply(plural: Plural, name: string, body: Json, query: URLSearchParams): Json {
    const manager = query.get('fieldManager');
    if (manager === null) throw refused(422, 'Invalid', 'fieldManager is required for apply patch');
    if (rules.conflicts-- > 0)
      throw refused(
        409,
        'Conflict',
        `Operation cannot be fulfilled on ${plural} "${name}": the object has been modified`,
      );
    rules.conflicts = Math.max(0, rules.conflicts);
    const wrong = schemaErrorsOf(body);
    const { kind, apiVersion } = kinds[plural];
    if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) wrong.push('metadata.name must be a DNS label');
    if (wrong.length > 0) throw refused(422, 'Invalid', `${kind} "${name}" is invalid: ${wrong.join('; ')}`);
    const denied = ['jobs', 'sandboxclaims'].includes(plural) && rules.admit(body);
    if (denied) throw refused(403, 'Forbidden', `admission webhook "policy.example.com" denied the request: ${denied}`);
    const before = objects[plural].get(name);
    if (!before) used.add(`create ${plural}`);
    if (before && plural === 'jobs') {
      if (JSON.stringify(before.spec) !== JSON.stringify(body.spec))
        throw refused(422, 'Invalid', `Job.batch "${name}" is invalid: spec.template: field is immutable`);
      return before;
    }
    const metadata = {
      ...(before?.metadata ?? { uid: `uid-${++ids}`, creationTimestamp: new Date().toISOString() }),
      ...body.metadata,
      annotations: { ...before?.metadata.annotations, ...body.metadata.annotations },
      managedFields: [{ manager, operation: 'Apply', apiVersion }],
    };
    const object = put(plural, { ...before, ...body, metadata });
    if (plural === 'jobs') startJob(object);
    else sandboxes.changed(plural, name);
    return object;
  }

  /** A merge patch of metadata, which is refused when its resource version is not the current one. */
  function merge(plural: Plural, name: string, { metadata }: Json): Json {
    const before = objects[plural].get(name);
    if (!before) throw refused(404, 'NotFound', `${plural} "${name}" not found`);
    if (metadata.resourceVersion !== before.metadata.resourceVersion)
      throw refused(
        409,
        'Conflict',
        `Operation cannot be fulfilled on ${plural} "${name}": the object has been modified`,
      );
    const annotations = { ...before.metadata.annotations, ...metadata.annotations };
    if (plural === 'sandboxclaims')
      starts[before.status.sandbox.name === name ? 'cold' : 'warm'].push(
        Date.now() - Date.parse(before.metadata.creationTimestamp),
      );
    return put(plural, { ...before, metadata: { ...before.metadata, annotations } });
  }

  function watch(plural: Plural, query: URLSearchParams, response: ServerResponse): void {
    const from = Number(query.get('resourceVersion') ?? version);
    const selector = query.get('labelSelector') ?? '';
    response.writeHead(200, { 'content-type': 'application/json' });
    if (from < rules.oldest) {
      const object = status(refused(410, 'Expired', `too old resource version: ${from} (${rules.oldest})`));
      return void response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
    }
    const one = { plural, selector, response };
    watches.add(one);
    response.on('close', () => watches.delete(one));
    for (const event of history)
      if (event.plural === plural && event.version > from && fits(event.object, selector))
        response.write(`${JSON.stringify({ type: event.type, object: event.object })}\n`);
    if (query.get('allowWatchBookmarks') === 'true') {
      const object = { ...kinds[plural], metadata: { resourceVersion: String(version) } };
      response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    }
  }

  const verbs: Record<string, string> = { PATCH: 'patch', DELETE: 'delete', POST: 'create' };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<Json> {
    const url = new URL(request.url!, 'http://cluster');
    if (request.headers.authorization !== `Bearer ${token}`) throw refused(401, 'Unauthorized', 'Unauthorized');
    const body = Buffer.concat(await request.toArray()).toString();
    const read = body ? JSON.parse(body) : null;
    if (url.pathname === '/api') return { kind: 'APIVersions', versions: ['v1'] };
    if (url.pathname === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: [groupOf('batch')] };
    if (rules.hasSandboxes && url.pathname === `/apis/${extensions}`)
      return discovery(
        extensions,
        plurals.filter((one) => kinds[one].apiVersion === extensions),
      );
    if (url.pathname === '/apis/batch/v1') return discovery('batch/v1', ['jobs']);
    if (url.pathname === '/api/v1') return discovery('v1', ['pods', 'events']);
    if (url.pathname === '/apis/authorization.k8s.io/v1')
      return {
        kind: 'APIResourceList',
        groupVersion: 'authorization.k8s.io/v1',
        resources: [
          { name: 'selfsubjectaccessreviews', kind: 'SelfSubjectAccessReview', namespaced: false, verbs: ['create'] },
        ],
      };
    if (url.pathname.endsWith('/selfsubjectaccessreviews')) {
      const { verb, resource } = read.spec.resourceAttributes;
      return { ...read, status: { allowed: !rules.lacking.has(`${verb} ${resource}`) } };
    }
    const [, plural, name] = /\/namespaces\/missions\/(\w+)(?:\/([\w.-]+))?$/.exec(url.pathname) ?? [];
    const isServed = plurals.includes(plural as Plural) && (rules.hasSandboxes || !isOfSandboxes(plural as Plural));
    if (!isServed) throw refused(404, 'NotFound', 'the server could not find the requested resource');
    const of = plural as Plural;
    const isWatch = url.searchParams.get('watch') === 'true';
    const verb = verbs[request.method!] ?? (isWatch ? 'watch' : name ? 'get' : 'list');
    used.add(`${verb} ${of}`);
    if (rules.lacking.has(`${verb} ${of}`))
      throw refused(
        403,
        'Forbidden',
        `${of} is forbidden: User "runner" cannot ${verb} resource "${of}" in the namespace "missions"`,
      );
    if (isWatch) return watch(of, url.searchParams, response);
    if (request.method === 'PATCH' && of !== 'pods') {
      if (request.headers['content-type'] === 'application/merge-patch+json') return merge(of, name!, read);
      if (request.headers['content-type'] !== 'application/apply-patch+yaml')
        throw refused(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format');
      return apply(of, name!, read, url.searchParams);
    }
    if (request.method === 'DELETE') {
      const only = read?.preconditions?.resourceVersion;
      if (only && objects[of].has(name!) && objects[of].get(name!).metadata.resourceVersion !== only)
        throw refused(409, 'Conflict', `the resource version of ${of} "${name}" is not ${only}`);
      const gone = remove(of, name!);
      if (!gone) throw refused(404, 'NotFound', `${of} "${name}" not found`);
      return { kind: 'Status', apiVersion: 'v1', status: 'Success' };
    }
    if (request.method !== 'GET') throw refused(405, 'MethodNotAllowed', 'the server does not allow this method');
    if (name) {
      const found = objects[of].get(name);
      if (!found) throw refused(404, 'NotFound', `${of} "${name}" not found`);
      return found;
    }
    const involved = /involvedObject\.name=(.+)/.exec(url.searchParams.get('fieldSelector') ?? '')?.[1];
    const items = [...objects[of].values()]
      .filter((one) => fits(one, url.searchParams.get('labelSelector') ?? ''))
      .filter((one) => !involved || one.involvedObject.name === involved);
    return {
      apiVersion: kinds[of].apiVersion,
      kind: `${kinds[of].kind}List`,
      metadata: { resourceVersion: String(version) },
      items,
    };
  }

  const certificate = makeCertificate();
  const server = createServer(certificate, (request, response) => {
    if (rules.isAway) return void request.socket.destroy();
    answer(request, response).then(
      (body) => {
        seen.push({ method: request.method!, path: request.url!, status: 200 });
        if (body === undefined) return;
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      },
      (error: Refusal) => {
        const refusal = error.code ? error : refused(500, 'InternalError', String(error));
        seen.push({ method: request.method!, path: request.url!, status: refusal.code });
        if (response.headersSent) return void response.end();
        response.writeHead(refusal.code, { 'content-type': 'application/json' }).end(JSON.stringify(status(refusal)));
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const nodes: PodProcesses = Array.isArray(pods) ? openNodes(path.join(folder, 'pods'), pods) : pods;
  const sandboxes = openSandboxControllers({ objects, put, remove, startPod, nextId: () => ++ids });
  const config = path.join(folder, 'kubeconfig');
  writeFileSync(config, kubeconfig(url, certificate.cert));

  return {
    url,
    config,
    rules,
    objects,
    seen,
    used,
    starts,
    nodes,
    /** Ends all watches and forgets all earlier resource versions: the next watch from an earlier version gets 410. */
    forget(): void {
      rules.oldest = ++version;
      for (const { response } of watches) response.end();
    },
    /** Makes the API server unreachable, or reachable again. */
    away(is: boolean): void {
      rules.isAway = is;
      if (is) server.closeAllConnections();
    },
    /** Simulates the loss of the node on which a pod runs: the processes of the pod end, and the pod is removed. */
    loseNode(podName: string): void {
      nodes.end(podName);
      remove('pods', podName);
      if (objects.sandboxes.has(podName)) sandboxes.changed('sandboxes', podName);
      failJobOf(podName);
    },
    /**
     * Drains the node on which a pod runs. As in Kubernetes before 1.31, the Job of the pod fails as soon as the deletion of the pod
     * begins.
     */
    drainNode(podName: string): void {
      terminate(podName);
      failJobOf(podName);
    },
    async close(): Promise<void> {
      await nodes.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const status = ({ code, reason, message }: Refusal) => ({
  ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
  ...{ code, reason, message },
});

const groupOf = (name: string) => {
  const version = { groupVersion: `${name}/v1`, version: 'v1' };
  return { name, versions: [version], preferredVersion: version };
};

const discovery = (groupVersion: string, plurals: Plural[]) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion,
  resources: plurals.map((name) => ({
    name,
    singularName: '',
    namespaced: true,
    kind: kinds[name].kind,
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'watch'],
  })),
});

const kubeconfig = (url: string, authority: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'stand-in',
        cluster: { server: url, 'certificate-authority-data': Buffer.from(authority).toString('base64') },
      },
    ],
    users: [{ name: 'runner', user: { token } }],
    contexts: [{ name: 'stand-in', context: { cluster: 'stand-in', user: 'runner', namespace: 'missions' } }],
    'current-context': 'stand-in',
  });
