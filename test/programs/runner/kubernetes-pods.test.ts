// The pod of a mission: its containers, and the programs that are started in them. The pod runs on a stand-in for the nodes of a cluster.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer as listen } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { unprivilegedOptions } from '../../../src/runner/isolation/bubblewrap.ts';
import { commonPaths, ports } from '../../../src/runner/isolation/cell.ts';
import {
  holdContainers,
  openPod,
  type PodContainer,
  podContainers,
  sendSignal,
  starterSocket,
} from '../../../src/runner/isolation/pod.ts';
import { starterProgram } from '../../../src/runner/isolation/pod-programs.ts';
import { isOffered } from '../../../src/runner/isolation/script-isolation.ts';
import { podSpecOf } from '../../../src/runner/kubernetes/pod-spec.ts';
import { clusterSettings } from '../../../src/runner/kubernetes/settings.ts';
import { openNodes } from '../../support/kubernetes-nodes.ts';
import { compiled } from '../../support/processes.ts';

const hasBubblewrap = await isOffered('cell');
const env = { RUNTIME: 'kubernetes', KUBERNETES_RELAY_URL: 'http://10.0.0.1', KUBERNETES_RUNNER_IMAGE: 'runner:1' };
const limits = { cpus: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3, processes: 100 };
const spec = podSpecOf(clusterSettings(env)!, { image: 'mission:1', limits, args: ['600'], env: {}, programs: [] });
const folder = mkdtempSync(path.join(tmpdir(), 'pod-'));
const before = { ports: { ...ports }, paths: { ...commonPaths } };
afterAll(() => {
  Object.assign(ports, before.ports);
  Object.assign(commonPaths, before.paths);
  rmSync(folder, { recursive: true, force: true });
});

it('a pod pulls the image of its mission before its runner starts', () => {
  const { initContainers } = spec as { initContainers: { image: string }[] };
  expect(initContainers.map(({ image }) => image)).toEqual(['runner:1', 'mission:1']);
});

it('a pod that waits for its mission asks again at once when its first connection is closed, as by a load balancer whose relay is down', async () => {
  const waiting = mkdtempSync(path.join(folder, 'waiting-'));
  const starters = podContainers.map((name) => {
    mkdirSync(path.join(waiting, `start-${name}`), { recursive: true });
    return listen((runner) => runner.once('data', () => runner.write('held'))).listen(starterSocket(waiting, name));
  });
  let connections = 0;
  const relay = listen((pod) => {
    pod.on('error', () => {});
    if (++connections === 1) pod.end();
    else pod.end('HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n');
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const relayUrl = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
  const variables = {
    PATH: process.env.PATH,
    POD_TOKEN: 'token',
    WAITING: JSON.stringify({ relayUrl, folder: waiting }),
  };
  // If the pod did not notice the closed connection, it would wait for the time limit of the request, a minute.
  const options = { env: variables, timeout: 50_000 };
  const pod = promisify(execFile)(process.execPath, [compiled('runner/runner'), 'mission'], options);
  await expect(pod).rejects.toThrow('the relay has no mission for this pod: 410');
  for (const one of [...starters, relay]) one.close();
});

describe.skipIf(!hasBubblewrap)('a container of a pod', () => {
  const nodes = openNodes(folder, ['sleep']);
  const mission = path.join(folder, '1/mission');
  beforeAll(async () => {
    nodes.start({ metadata: { name: 'pod' }, spec }, { changed() {} });
    await holdContainers(mission, 20_000);
  });
  afterAll(() => nodes.close());

  async function run(name: PodContainer, script: string, variables: Record<string, string> = {}): Promise<string> {
    const home = name.endsWith('servers') ? '/mission/tmp' : `${mission}/home`;
    const place = { work: '/mission/work', home, isReadOnly: name.startsWith('reader') };
    const container = openPod(mission, [1, 2, 3]).open(place, limits);
    const [file, args, passed] = container.wrap('sh', ['-c', script], variables);
    return (await promisify(execFile)(file, args, { env: passed })).stdout;
  }

  it('a container of a pod has only those folders of the mission that are meant for it', async () => {
    const seen = async (name: PodContainer) => (await run(name, 'ls /mission')).trim().split('\n');
    expect(await seen('agent')).toEqual(['artifacts', 'home', 'root', 'skills', 'start-agent', 'work']);
    expect(await seen('reader')).toEqual(['artifacts', 'home', 'skills', 'start-reader', 'work']);
    expect(await seen('servers')).toEqual(['skills', 'start-servers', 'tmp', 'work']);
    expect(await seen('reader-servers')).toEqual(['skills', 'start-reader-servers', 'tmp', 'work']);
  });

  it('a container of a pod hides from agents the variables and files of the MCP servers that it runs, and cannot write to the checkout of an agent that only reads', async () => {
    const waits = 'echo package > /mission/tmp/package; : > ready; until [ -e done ]; do sleep 0.05; done';
    const server = run('servers', waits, { TOKEN: 'secret-of-a-server' });
    const look = 'until [ -e ready ]; do sleep 0.05; done; cat /proc/[0-9]*/environ /mission/tmp/package 2>&1; :';
    for (const name of ['agent', 'reader'] as const)
      expect(await run(name, look)).not.toMatch(/secret-of-a-server|package\n/);
    for (const name of ['reader', 'reader-servers'] as const)
      expect(await run(name, '(: > changed) 2> /dev/null || echo refused')).toBe('refused\n');
    await run('agent', ': > done');
    await server;
  });

  it('a container of a pod continues when its pod is shut down, so that the runner can save the work', async () => {
    const working = run('agent', ': > working; until [ -e saved ]; do sleep 0.05; done; echo saved');
    await run('agent', 'until [ -e working ]; do sleep 0.05; done');
    nodes.ask('pod');
    await run('servers', ': > saved');
    expect(await working).toBe('saved\n');
  });
});

describe('programs of a container', () => {
  const socket = starterSocket(folder, 'agent');
  for (const one of ['start-agent', 'work', 'home', 'start-reader']) mkdirSync(path.join(folder, one));

  it('programs of a container cannot stop the runner by taking the place of the program that starts them and sending false responses', async () => {
    let answer = 'no JSON';
    const at = starterSocket(folder, 'reader');
    const starter = listen((from) => from.on('error', () => {}).end(answer)).listen(at);
    expect(await sendSignal(at, 'one', 'SIGTERM')).toBe(false);
    answer = JSON.stringify({ isOverMemory: true });
    expect(await sendSignal(at, 'one', 'SIGTERM')).toBe(true);
    answer += ' '.repeat(10_000_000);
    expect(await sendSignal(at, 'one', 'SIGTERM')).toBe(false);
    starter.close();
  });

  it('programs of a container end when no runner connects to the container', async () => {
    const started = JSON.stringify({ socket: `${socket}-alone`, ports: [], server: null, holdMs: 1 });
    const options = { env: { MISSION_PORTS: '1' }, stdio: 'ignore' } as const;
    const starter = spawn(process.execPath, ['--eval', starterProgram, started], options);
    expect(await once(starter, 'exit')).toEqual([1, null]);
  });

  it.skipIf(!hasBubblewrap)(
    'programs of a container leave no process behind, even a hidden one, and other programs continue',
    async () => {
      const started = JSON.stringify({ socket, ports: [], server: null, holdMs: 600_000 });
      const root = ['--ro-bind', '/', '/', '--bind', folder, folder, '--proc', '/proc', '--dev', '/dev', '--as-pid-1'];
      const shell = ['sh', '-c', 'node --eval "$0" "$1" & wait $!', starterProgram, started];
      const env = { PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`, MISSION_PORTS: '1' };
      const container = spawn('bwrap', [...unprivilegedOptions(), ...root, ...shell], { env, stdio: 'ignore' });
      const run = (script: string) => {
        const place = { work: path.join(folder, 'work'), home: path.join(folder, 'home') };
        const [file, args, variables] = openPod(folder, [1, 2, 3]).open(place, limits).wrap('sh', ['-c', script], {});
        return promisify(execFile)(file, args, { env: variables });
      };
      const listed = async () =>
        (await run('cat /proc/[0-9]*/cmdline | tr "\\0" "\\n" | grep "^71" | sort -u; :')).stdout.split('\n');
      await vi.waitFor(() => run(':'));
      const long = run('(sleep 7101 &); touch ready; until [ -e done ]; do sleep 0.05; done');
      const hidden = `env -i setsid sh -c ': > hidden; exec sleep 7102' > /dev/null 2>&1 &`;
      await run(`(${hidden}); until [ -e ready ] && [ -e hidden ]; do sleep 0.05; done`);
      await vi.waitFor(async () => expect(await listed()).toEqual(['7101', '']));
      await run('touch done');
      await long;
      expect(await listed()).toEqual(['']);
      container.kill('SIGKILL');
    },
  );
});
