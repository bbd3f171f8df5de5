// The platform of the cluster soak: an embedded database, two processes of the service behind one address, the stand-in cluster with
// lightweight nodes, and a runner for it. All but the database can be killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { verifyLog } from '#domain/lifecycle/audit/tree/verify.ts';
import { sql } from '#foundation/postgres/database.ts';
import { balance } from '../../test/support/balancer.ts';
import { startKubernetes } from '../../test/support/fake-kubernetes.ts';
import { openLightNodes } from '../../test/support/light-nodes.ts';
import { freePort } from '../../test/support/processes.ts';
import { auditSettled, idOf } from '../database.ts';
import { openDispatchDatabase } from '../dispatch-database.ts';
import { type Server, start } from '../process.ts';
import { organization } from '../soak/platform.ts';
import { root, service } from '../the-service.ts';

const nodeCount = 4;

export async function openClusterPlatform({
  atOnce,
  warm,
  hasSandboxes,
}: {
  atOnce: number;
  warm: number;
  hasSandboxes: boolean;
}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-cluster-'));
  const secretKey = randomBytes(32);
  const database = await openDispatchDatabase(secretKey);
  const nodes = openLightNodes(nodeCount);
  const cluster = await startKubernetes(folder, nodes);
  cluster.rules.hasSandboxes = hasSandboxes;

  const services: (Server | null)[] = [null, null];
  const balancer = await balance(services);
  const { url } = balancer;
  const settings = { databaseUrl: database.url, folder, secretKey };
  async function startService(n: number): Promise<void> {
    const launch = service(settings, { PUBLIC_URL: url, LOG_LEVEL: 'warn' });
    services[n] = await start({ ...launch, output: path.join(folder, `service-${n}-${Date.now()}.log`) });
  }
  for (const n of services.keys()) await startService(n);

  const port = String(await freePort());
  /** Output of runners that ended although nothing had stopped them. */
  const leavers: string[] = [];
  let runner = startRunner();
  function startRunner(): ChildProcess {
    const env = {
      PATH: process.env.PATH,
      TMPDIR: folder,
      PLATFORM_URL: url,
      POLL_MS: '100',
      HEARTBEAT_MS: '1000',
      RUNS_AT_ONCE: String(atOnce),
      HARNESS_INSTALL: 'off',
      HARNESS_TEST: 'off',
      HARNESSES_DIR: path.join(folder, 'harnesses'),
      DATA_DIR: path.join(folder, 'runner'),
      RUNTIME: 'kubernetes',
      KUBECONFIG: cluster.config,
      KUBERNETES_RELAY_URL: `http://127.0.0.1:${port}`,
      KUBERNETES_RELAY_PORT: port,
      KUBERNETES_RUNNER_IMAGE: 'registry.example.com/runner:1',
      KUBERNETES_NETWORK_POLICY: 'ignored',
      KUBERNETES_KEEP_SECONDS: '1',
      KUBERNETES_WARM_PODS: String(warm),
    };
    const child = spawn(process.execPath, [path.join(root, 'dist/runner/runner.js')], {
      env,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    child.stdin!.on('error', () => {}).write(`${database.runtime}\n`);
    let last = '';
    child.stderr!.on('data', (text) => (last = String(text)));
    child.once('exit', (code) => code !== null && code !== 0 && leavers.push(`A runner ended by itself: ${last}`));
    return child;
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (runner.exitCode !== null) return;
    runner.kill(signal);
    await once(runner, 'exit');
  }

  const headers = { authorization: `Bearer ${database.person}`, 'content-type': 'application/json' };
  const mutation = `mutation ($p: String!, $prompt: String!, $a: String!) { startMission(projectId: $p, prompt: $prompt, agentId: $a) { id } }`;
  let killed = 0;
  return {
    ...{ cluster, nodes, leavers },
    /** Starts a mission; the call is repeated until it is answered. */
    async startMission(n: number, prompt: string): Promise<string> {
      const body = JSON.stringify({
        query: mutation,
        variables: { p: `prj_${1 + (n % 20)}`, prompt, a: idOf('agn', 0) },
      });
      for (;;) {
        const request = { method: 'POST', headers: { ...headers, 'idempotency-key': `mission-${n}` }, body };
        const answer = await fetch(`${url}/graphql`, request).then(
          (response) => response.json(),
          () => null,
        );
        if (answer?.data?.startMission) return answer.data.startMission.id;
        const problem = answer?.errors?.[0]?.extensions?.problem;
        if (problem && !problem.retryable && problem.code !== 'conflict') throw new Error(JSON.stringify(answer));
        await wait(200);
      }
    },
    async killRunner(): Promise<void> {
      await end('SIGKILL');
      runner = startRunner();
    },
    async killService(): Promise<void> {
      const n = killed++ % services.length;
      const server = services[n];
      services[n] = null;
      await server?.kill();
      await startService(n);
    },
    async counts(): Promise<{ open: number; ended: number }> {
      const [row] = await sql<{ open: number; ended: number }>(
        `select count(*) filter (where status in ('dispatching', 'running'))::int as open,
          count(*) filter (where status not in ('dispatching', 'running'))::int as ended from runs`,
      );
      return row!;
    },
    /** Returns one sentence for each mission that was not completed exactly once. */
    async endings(runIds: ReadonlySet<string>): Promise<string[]> {
      await numberAllChanges();
      const rows = await sql<{ id: string; status: string; lastError: string | null; ends: number }>(
        `select r.id, r.status, r.last_error, (select count(*) from audit_events e where e.org_id = r.org_id and e.target_id = r.id
          and e.action in ('run.completed', 'run.failed', 'run.canceled'))::int as ends from runs r`,
      );
      const wrong = rows.filter(({ status, ends }) => status !== 'completed' || ends !== 1);
      const others = rows.filter(({ id }) => !runIds.has(id));
      return [...wrong, ...others].map((row) => `a mission has not ended once, as completed: ${JSON.stringify(row)}`);
    },
    /**
     * Verifies the audit log of the organization against its Merkle tree. Returns one sentence for each difference; an empty list means that
     * the log and the tree agree. The bench verifies with the source code that it loaded when it started. It runs no command of the built
     * service, because somebody may have built another version while the bench was running.
     */
    async tree(): Promise<string[]> {
      await auditSettled();
      const { size, notInTree, findings } = await verifyLog(organization, []);
      console.log(`The log and its tree: ${size} events, ${findings.length} findings.`);
      if (size === 0 || notInTree > 0) findings.push(`${size} events are in the tree, and ${notInTree} are not`);
      return findings.map((finding) => `the tree of the log: ${finding}`);
    },
    async figures(): Promise<{ claims: number; again: number }> {
      const [row] = await sql<{ claims: number; again: number }>(
        `select count(*)::int as claims, count(distinct run_id)::int as again from sandboxes`,
      );
      return { claims: row!.claims, again: row!.claims - row!.again };
    },
    /** Milliseconds from the creation of a claim until a pod has its mission, separately for warm and cold pods. */
    startTimes: () => cluster.starts,
    async close(): Promise<void> {
      await end('SIGTERM');
      await Promise.all(services.map((one) => one?.stop()));
      balancer.close();
      await cluster.close();
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
