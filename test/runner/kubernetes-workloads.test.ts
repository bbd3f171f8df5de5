// How the runner of a cluster tracks missions. The tests cover what the runner knows about the cluster while the API server is slow or unavailable,
// and how much it reads when there are many missions.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Api, openApi, type Watching } from '../../src/runner/kubernetes/api.ts';
import { openCluster } from '../../src/runner/kubernetes/cluster.ts';
import { openInformer, pods as podKind } from '../../src/runner/kubernetes/informer.ts';
import type { KubernetesObject } from '../../src/runner/kubernetes/objects.ts';
import { openPools } from '../../src/runner/kubernetes/pools.ts';
import { clusterSettings } from '../../src/runner/kubernetes/settings.ts';
import { openTokens } from '../../src/runner/kubernetes/tokens.ts';
import { openWorkloads } from '../../src/runner/kubernetes/workloads.ts';

let ending: AbortController;
beforeEach(() => {
  ending = new AbortController();
});
afterEach(() => {
  ending.abort();
  vi.useRealTimers();
});

/** An API server whose lists and watches the test controls. */
function openFakeApi(lists: Record<string, object[]> = {}) {
  const watches = new Map<string, { on: Watching; end(error?: Error): void }>();
  const api = {
    namespace: 'missions',
    list: async (_: string, kind: string) => ({ items: lists[kind] ?? [], metadata: { resourceVersion: '1' } }),
    watch: (at: string, _: object, on: Watching) =>
      new Promise<void>((resolve, reject) => {
        watches.set(path.basename(at), { on, end: (error) => (error ? reject(error) : resolve()) });
      }),
    remove: vi.fn(async () => {}),
  };
  const tell = (plural: string, type: string, object: object) => watches.get(plural)!.on.each({ type, object });
  return { api, opened: api as never as Api, watches, tell };
}

const podOf = (job: string, state: object = { running: {} }) => ({
  metadata: { name: `${job}-pod`, uid: 'uid-1', labels: { 'batch.kubernetes.io/job-name': job } },
  status: { containerStatuses: [{ name: 'runner', state }] },
});

it('objects count as current again only when the API server has accepted another watch', async () => {
  const { opened, watches } = openFakeApi();
  const informer = openInformer(opened, podKind, () => {}, ending.signal);
  const first = await vi.waitFor(() => watches.get('pods') ?? expect.unreachable());
  expect(informer.isSynced()).toBe(true);
  first.end(new Error('the API server is away'));
  const second = await vi.waitFor(() => {
    expect(watches.get('pods')).not.toBe(first);
    return watches.get('pods')!;
  });
  expect(informer.isSynced()).toBe(false);
  second.on.opened();
  expect(informer.isSynced()).toBe(true);
});

describe('a watch ends when the API server', () => {
  let folder: string;
  let server: Server;
  afterEach(async () => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  it('a watch ends when the API server does not respond, or accepts the watch and sends nothing more', async () => {
    let isSilent = true;
    server = createServer((_, response) => void (isSilent || response.writeHead(200).flushHeaders()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    folder = mkdtempSync(path.join(tmpdir(), 'kubeconfig-'));
    const config = path.join(folder, 'config');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const named = {
      clusters: [{ name: 'a', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'a', user: {} }],
    };
    const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }];
    writeFileSync(config, JSON.stringify({ ...named, contexts, 'current-context': 'a' }));
    vi.stubEnv('KUBECONFIG', config);
    const api = await openApi('missions');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const watch = (opened = () => {}) => {
      const watching = api.watch('/pods', { timeoutSeconds: 240 }, { opened, each() {} }, ending.signal);
      return expect(watching).rejects.toThrow('the API server does not respond');
    };
    const unanswered = watch();
    await vi.advanceTimersByTimeAsync(30_000);
    await unanswered;
    isSilent = false;
    let silent: Promise<void> | undefined;
    await new Promise<void>((resolve) => {
      silent = watch(resolve);
    });
    await vi.advanceTimersByTimeAsync(270_000);
    await silent;
  });
});

describe('the end of a mission', () => {
  /** The end of `mission-1`; undefined while it has not ended. */
  async function follow(opened: Api, hasClaims: boolean) {
    let end: unknown;
    const workloads = openWorkloads(opened, hasClaims, ending.signal);
    void workloads.ended('mission-1', ending.signal).then((value) => {
      end = value;
    });
    await vi.waitFor(() => expect(workloads.isSynced()).toBe(true));
    return async () => {
      for (let turns = 0; turns < 5; turns++) await turn();
      return end;
    };
  }

  it('the end of a mission is known once the runner in its pod has saved its work, even if its Job has already failed', async () => {
    const job = { metadata: { name: 'mission-1' } };
    const { opened, tell } = openFakeApi({ Job: [job], Pod: [podOf('mission-1')] });
    const end = await follow(opened, false);
    expect(await end()).toBeUndefined();
    tell('jobs', 'MODIFIED', {
      ...job,
      status: { conditions: [{ type: 'Failed', status: 'True', reason: 'Deadline' }] },
    });
    expect(await end()).toBeUndefined();
    tell('pods', 'MODIFIED', podOf('mission-1', { terminated: { exitCode: 0 } }));
    expect(await end()).toEqual({ isComplete: false, why: 'Deadline' });
  });

  it('the end of a mission is known when the pod of a removed SandboxClaim is gone', async () => {
    const pod = podOf('none');
    const claim = {
      metadata: { name: 'mission-1', annotations: { 'agent-runner/pod': 'uid-1' } },
      status: { sandbox: { name: pod.metadata.name } },
    };
    const { opened, tell } = openFakeApi({ SandboxClaim: [claim], Pod: [pod] });
    const end = await follow(opened, true);
    expect(await end()).toBeUndefined();
    tell('sandboxclaims', 'DELETED', claim);
    expect(await end()).toBeUndefined();
    tell('pods', 'DELETED', pod);
    expect(await end()).toEqual({ isComplete: false, why: 'its object in the cluster was removed' });
  });
});

it('the cost of a change is proportional to the number of pods, whatever the number of missions', async () => {
  let reads = 0;
  const names = Array.from({ length: 200 }, (_, n) => `mission-${n}`);
  const pods = names.map((name) => {
    const { metadata, status } = podOf(name);
    const { labels, ...rest } = metadata;
    const counted = {
      ...rest,
      get labels() {
        reads++;
        return labels;
      },
    };
    return { metadata: counted, status };
  });
  const { opened, tell } = openFakeApi({ Job: names.map((name) => ({ metadata: { name } })), Pod: pods });
  const workloads = openWorkloads(opened, false, ending.signal);
  await vi.waitFor(() => expect(workloads.isSynced()).toBe(true));
  for (const name of names) void workloads.ended(name, ending.signal);
  await turn();
  reads = 0;
  tell('pods', 'MODIFIED', pods[0]!);
  for (let turns = 0; turns < 5; turns++) await turn();
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThanOrEqual(2 * names.length);
});

describe('the Kubernetes object of a mission', () => {
  const tokens = openTokens('srv_secret');
  const env = { RUNTIME: 'kubernetes', KUBERNETES_RELAY_URL: 'http://10.0.0.1', KUBERNETES_RUNNER_IMAGE: 'runner:1' };
  const limits = { cpus: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3, processes: 100 };
  const run = { runId: 'run_1', leaseId: 'lease_1', step: { agent: { harness: 'shell' }, environment: {} } };

  function start(workloads: object, mutate: () => Promise<unknown>) {
    const settings = clusterSettings(env)!;
    const own = { platform: { url: 'http://platform', mutate }, settings, tokens, pools: null, found: [], limits };
    const missions = { ...own, variables: {}, heartbeatMs: 10, maxMs: 3_600_000 };
    const known = { isSynced: () => true, open: () => [], isStarted: () => false, next: () => turn(), ...workloads };
    const cluster = openCluster(known as never, missions as never, ending.signal);
    return { cluster, done: cluster.start(run as never, { claimId: 'claim_1' } as never) };
  }

  it('the Kubernetes object of a mission occupies a slot of the runner even before the API server has created it', () => {
    const { cluster } = start({ isStarted: () => true, create: () => new Promise(() => {}) }, async () => null);
    expect([cluster.hasRoom(1), cluster.hasRoom(2)]).toEqual([false, true]);
  });

  it('the Kubernetes object of a mission has a longer time limit than any step, so a step is ended by its own time limit', async () => {
    const create = vi.fn(async (_: KubernetesObject & { spec: { activeDeadlineSeconds: number } }) => {});
    const { done } = start({ create, ended: async () => ({ isComplete: true }) }, async () => ({ runs: [] }));
    await done;
    expect(create.mock.calls[0]![0].spec.activeDeadlineSeconds).toBe(3_600 + 600);
  });

  it('the Kubernetes object of a mission is removed after its creation if its mission was stopped before the API server had created it', async () => {
    let created = () => {};
    const create = () =>
      new Promise<void>((resolve) => {
        created = resolve;
      });
    const remove = vi.fn(async () => {});
    const stop = async () => ({ runs: [{ desired: 'stop' }] });
    await expect(start({ create, ended: async () => null, remove }, stop).done).rejects.toThrow('stopped');
    expect(remove).not.toHaveBeenCalled();
    created();
    await vi.waitFor(() => expect(remove).toHaveBeenCalledOnce());
  });

  it('the Kubernetes object of a mission is removed as soon as the API server can be reached', async () => {
    const { api, opened } = openFakeApi();
    api.remove.mockRejectedValueOnce(new Error('the API server is away'));
    await openWorkloads(opened, false, ending.signal).remove('mission-1');
    expect(api.remove).toHaveBeenCalledTimes(2);
  });

  it('a template gets no warm pods when 20 other templates have warm pods, even when the template is used again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const create = vi.fn(async (_: KubernetesObject & { spec: { replicas?: number } }) => {});
    const settings = { ...clusterSettings(env)!, warmPods: 3 };
    const pools = openPools({} as never, { create } as never, settings, tokens);
    const ensure = (n: number) =>
      pools.ensure({ image: `image:${n}`, limits, args: [], env: {}, programs: [] }, ending.signal);
    for (let n = 0; n < 20; n++) await ensure(n);
    for (let times = 0; times < 2; times++) {
      create.mockClear();
      await ensure(20);
      expect(create.mock.calls.flatMap(([{ spec }]) => spec.replicas ?? [])).toEqual([0]);
      vi.setSystemTime(Date.now() + 61_000);
    }
    create.mockClear();
    await ensure(0);
    expect(create.mock.calls.flatMap(([{ spec }]) => spec.replicas ?? [])).toEqual([3]);
  });
});
