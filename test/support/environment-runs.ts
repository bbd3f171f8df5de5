// Runs with an environment, as a runner carries them out: in a cell and in a real engine, if the machine has them. A stand-in for the
// platform records what the runner reports; all host names resolve to loopback, where a registry listens.
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Claimed, Step } from '../../src/runner/contract.ts';
import { cappedByContainers, chooseCaps } from '../../src/runner/isolation/caps.ts';
import { findContainers } from '../../src/runner/isolation/container.ts';
import { openImageStore } from '../../src/runner/isolation/image-store.ts';
import { chooseIsolation, isolationOfScripts } from '../../src/runner/isolation/isolation.ts';
import type { RouteSettings } from '../../src/runner/network/dialer.ts';
import { masked } from '../../src/runner/protocol/masked.ts';
import { type Platform, RequestRejected } from '../../src/runner/protocol/platform.ts';
import { directly } from '../../src/runner/protocol/via.ts';
import { openRunWorkspace } from '../../src/runner/run-workspace.ts';
import type { RunnerCapabilities } from '../../src/runner/step-context.ts';
import { openPrepared } from '../../src/runner/workspace/prepared.ts';
import { makeCertificate } from './certificate.ts';
import { realEngine } from './real-engine.ts';

type Environment = Step['environment'];
// biome-ignore lint/suspicious/noExplicitAny: reports are looked into
type Report = Record<string, any> & { operation: string };

const engine = realEngine();

const pace = { heartbeat: 1_000, sample: 1_000, flush: 100, grace: 200, timeout: 60_000, checkpoint: 60_000 };

export const look =
  'node -p "require(\'answer\')"; echo $COLOR [$TOKEN]; ls ~/tool; [ -e /mission/work/node_modules ] && echo same';

export async function openEnvironmentRuns() {
  const folder = mkdtempSync(path.join(tmpdir(), 'environments-'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd: folder, encoding: 'utf8' });
  const asked: string[] = [];
  const registry = createServer((request, response) => {
    asked.push(request.url!);
    response.setHeader('x-host', request.headers.host!);
    response.end('module.exports = 42;\n');
  });
  const certificate = makeCertificate(['api.test']);
  const api = createSecureServer(certificate, ({ headers }, response) => {
    asked.push(headers.authorization!);
    response.end();
  });
  let leaked = 0;
  const leaks = createSocket('udp4').on('message', () => leaked++);
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => leaks.bind(0, '0.0.0.0', resolve));
  const registryHost = `registry.test:${(registry.address() as AddressInfo).port}`;
  const apiHost = `api.test:${(api.address() as AddressInfo).port}`;
  git('init', '-q', '-b', 'main', 'site');
  writeFileSync(path.join(folder, 'site/.gitignore'), 'node_modules\n');
  writeFileSync(path.join(folder, 'site/package-lock.json'), '{}');
  git('-C', 'site', 'add', '.');
  git('-C', 'site', 'commit', '-qm', 'first');

  /** A download like that of a package manager: through the proxy that the environment names. */
  const download = (what: string, to: string) =>
    `node -e "const p = new URL(process.env.HTTP_PROXY);
require('http').get({host: p.hostname, port: p.port, path: 'http://${registryHost}/${what}'}, async (r) => {
  let t = ''; for await (const b of r) t += b; if (r.statusCode !== 200) { console.error(r.statusCode + ' ' + t); process.exit(1); }
  require('fs').writeFileSync('${to}', t); })"`;

  const environmentOf = (more: Partial<Environment> = {}): Environment => ({
    templateId: 'sbt_1',
    templateName: 'Node',
    base: 'machine',
    image: null,
    dockerfile: null,
    setupScript: `set -e; echo setting up with $TOKEN; mkdir -p node_modules/answer; ${download('answer', 'node_modules/answer/index.js')}; mkdir -p ~/.npm/_cacache; echo x > ~/.npm/_cacache/index; touch ~/tool`,
    variables: [{ name: 'COLOR', value: 'blue' }],
    secrets: [{ name: 'TOKEN', value: 'top-secret-token', hosts: [], setupOnly: true }],
    services: [],
    setupNetwork: { mode: 'custom', hosts: [registryHost] },
    agentNetwork: { mode: 'none', hosts: [] },
    instanceType: 'standard-1',
    cpus: null,
    memoryMb: 1_024,
    diskMb: null,
    processes: null,
    stepMinutes: null,
    stepModelCalls: null,
    stepTokens: null,
    ...more,
  });
  /** The engine is checked once for all tests, because the check starts a container. */
  let containers: ReturnType<typeof findContainers> | undefined;

  async function capabilitiesFor(level: string, store = level): Promise<RunnerCapabilities | null> {
    const find = () => (containers ??= findContainers(engine ? { ...engine } : { PATH: '' }));
    const isolation = await chooseIsolation(level, 'http://localhost:1', undefined, find).catch(() => null);
    if (!isolation && level !== 'unshare') return null;
    const scripts = await isolationOfScripts(level === 'unshare' ? 'unshare' : undefined, isolation).catch(() => null);
    if (!scripts) return null;
    const caps = scripts.containers ? cappedByContainers : await chooseCaps(scripts.level, async () => null);
    const mirrors = path.join(folder, 'mirrors');
    mkdirSync(mirrors, { recursive: true });
    // The runner resolves these names to private addresses, although a first look-up may have returned public ones.
    const addresses: Record<string, string> = { 'private.test': '10.0.0.1', 'rebind.test': '169.254.169.254' };
    const resolve = ((name: string, __: object, done: (...found: unknown[]) => void) =>
      done(null, [{ address: addresses[name] ?? '127.0.0.1', family: 4 }])) as unknown as NonNullable<
      RouteSettings['resolve']
    >;
    return {
      scripts,
      isolation,
      caps: { scripts: caps, agents: caps },
      limits: { cpus: null, memoryBytes: 2 ** 30, processes: 512, diskBytes: 2 ** 30 },
      found: [],
      models: { anthropic: null, openai: null },
      mirrors,
      hasNotes: true,
      retention: null,
      waiting: new Set(),
      routes: { privateHosts: new Set([registryHost, apiHost]), upstream: null, roots: certificate.cert, resolve },
      trust: null,
      prepared: openPrepared({ folder: path.join(folder, 'prepared', store), keepMs: 1e9, maxBytes: 2 ** 30 }),
      images: openImageStore({ folder: path.join(folder, 'images'), keepMs: 1e9, maxBytes: 2 ** 30 }),
      setupTimeoutMs: 60_000,
      buildNetwork: 'none',
    };
  }
  let count = 0;
  /** Executes a run that has one script, as a runner does. */
  async function run(
    capabilities: RunnerCapabilities,
    environment: Environment,
    script: string,
    orgId = 'org_1',
    signal = new AbortController().signal,
  ) {
    const reports: Report[] = [];
    const mutate = async ({ text }: { text: string }, input: object) => {
      const operation = /mutation (\w+)/.exec(text)![1]!;
      reports.push({ operation, ...input });
      if (operation !== 'OpenRepository') return { ok: true };
      if (!environment.templateId) throw new RequestRejected('conflict', 'none');
      return {
        url: path.join(folder, 'site'),
        username: null,
        password: null,
        defaultBranch: 'main',
        branch: `m/${++count}`,
      };
    };
    const unmasked = { url: 'http://localhost:1', via: directly, mutate } as unknown as Platform;
    const platform = masked(unmasked);
    platform.conceal(environment.secrets.map(({ value }) => value));
    const lease = { runId: `run_${count}`, leaseId: 'lease' };
    const workspace = openRunWorkspace(platform, capabilities, lease, { orgId } as Claimed, pace);
    const agent = {
      name: 'Bob',
      role: 'builder',
      harness: 'shell',
      model: '',
      effort: null,
      userPrompt: null,
      skillRepos: [],
    };
    const step = {
      stepId: `stp_${count}`,
      prompt: script,
      outputSchema: null,
      resumeSessionId: null,
      checkpoint: null,
      agent,
    };
    const log: string[] = [];
    const printed: string[] = [];
    try {
      const context = await workspace.prepare({ ...step, environment } as unknown as Step, 10);
      const failure = await context.setUp({ log: (text) => log.push(text), signal });
      const begun = Date.now();
      if (!failure) {
        const harness = context.start((event) => void ('log' in event && printed.push(event.log)));
        await harness.ended;
        await harness.end();
      }
      const connections = context.connections.take();
      await context.clear();
      const preparations = reports.filter(({ operation }) => operation === 'ReportPreparation');
      return {
        failure,
        log: log.join(''),
        printed: printed.join(''),
        preparations,
        connections,
        ms: Date.now() - begun,
      };
    } finally {
      await workspace.close();
    }
  }

  /** A request of Node.js to a host over TLS, through the proxy. The shell expands the token. */
  const call = (token: string) =>
    `TOKEN="${token}" node -e "const p = new URL(process.env.HTTPS_PROXY);
require('http').request({host: p.hostname, port: p.port, method: 'CONNECT', path: '${apiHost}'}).on('connect', (_, socket) =>
  require('https').get({createConnection: () => require('tls').connect({socket, servername: 'api.test'}), host: 'api.test', port: ${apiHost.split(':')[1]},
    headers: {authorization: 'Bearer ' + process.env.TOKEN}}, (r) => r.resume().on('end', () => process.exit(r.statusCode === 200 ? 0 : 1)))).end()"`;

  /**
   * Returns a shell script that an attacker runs inside the environment. The script tries to reach other programs and hosts in many ways, and
   * prints the successful ways as JSON.
   */
  const attack = (addresses: string[], neighbour: string, names: string[]) => `cat > attack.cjs <<'END'
const { connect } = require('node:net'), { request } = require('node:http'), tls = require('node:tls');
const { hostname: host, port } = new URL(process.env.HTTP_PROXY);
const found = [];
const direct = (to) => new Promise((done) => {
  const socket = connect({ ...to, timeout: 1_000 }, () => { found.push('direct ' + JSON.stringify(to)); socket.destroy(); });
  socket.on('error', () => {}).on('timeout', () => socket.destroy()).on('close', done);
});
const tunnel = (path, to = { host, port }) => new Promise((done) => {
  const asked = request({ ...to, method: 'CONNECT', path }).on('error', () => done(null));
  asked.on('connect', ({ statusCode }, socket) => {
    if (statusCode === 200) found.push('CONNECT ' + path);
    socket.on('error', () => {});
    done(statusCode === 200 ? socket : socket.destroy() && null);
  }).end();
});
(async () => {
  for (const host of ${JSON.stringify(addresses)}) for (const port of [80, ${registryHost.split(':')[1]}]) await direct({ host, port });
  await direct({ path: '${neighbour}' });
  const udp = require('node:dgram').createSocket('udp4').on('error', () => {});
  for (const host of ['127.0.0.1', '169.254.169.254']) await new Promise((done) => udp.send('leak', ${leaks.address().port}, host, done));
  udp.close();
  await require('node:dns').promises.lookup('registry.test').then(() => found.push('DNS'), () => {});
  for (const name of ${JSON.stringify(names)}) (await tunnel(name))?.destroy();
  const socket = await tunnel('${apiHost}');
  await new Promise((done) => {
    const inside = tls.connect({ socket, servername: 'other.test', rejectUnauthorized: false }, () => found.push('other SNI') && inside.destroy());
    inside.on('error', done).on('close', done);
  });
  await new Promise((done) => request({ host, port, path: 'http://${registryHost}/', headers: { host: 'other.test' } }, (answer) => {
    found.push('Host ' + answer.headers['x-host']);
    answer.resume().on('end', done);
  }).end());
  console.log(JSON.stringify(found));
})();
END
node attack.cjs`;
  return {
    folder,
    git,
    asked,
    registryHost,
    apiHost,
    /** The number of packets that have reached this machine from an environment. */
    leaked: () => leaked,
    download,
    environmentOf,
    capabilitiesFor,
    run,
    call,
    attack,
    check(): void {
      asked.length = 0;
    },
    close(): void {
      registry.close();
      api.close();
      leaks.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
