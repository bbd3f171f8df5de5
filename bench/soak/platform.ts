// The platform of the soak: two database servers, one of which is the primary; a bucket; several processes of the service behind one
// address; three runners. All of them can be killed and restarted.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { setEnterprise } from '#domain/money/billing/operations.ts';
import { grantCredits } from '#domain/money/credits/grants.ts';
import { openDatabase, sql, transaction } from '#foundation/postgres/database.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { balance } from '../../test/support/balancer.ts';
import { openS3 } from '../../test/support/fake-s3.ts';
import { openReplicated, removeOrigin } from '../../test/support/replicated.ts';
import { idOf, secretOf } from '../database.ts';
import { type Server, start } from '../process.ts';
import { root, service } from '../the-service.ts';
import { verifyTree } from './tree.ts';

export const organization = idOf('org', 0);
export const shellAgent = idOf('agn', 0);
export const projects = Array.from({ length: 5 }, (_, n) => idOf('prj', n + 1));

const runnerCount = 3;

export type Platform = Awaited<ReturnType<typeof openPlatform>>;

export async function openPlatform(count: number) {
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-soak-'));
  // If the runner is root, scripts run as separate users.
  chmodSync(folder, 0o755);
  const secretKey = randomBytes(32);
  bindSecretKey(secretKey);
  const servers = await openReplicated();
  const bucket = await openS3();
  const knex = openDatabase({ connection: servers.url });
  await found();
  const { token: runnerToken } = await createServiceToken({ name: 'soak' });

  const services: (Server | null)[] = [];
  const balancer = await balance(services);
  const { url } = balancer;

  const startService = (n: number): Promise<Server> => {
    const launch = service(
      { databaseUrl: servers.url, folder, secretKey },
      {
        PUBLIC_URL: url,
        LOG_LEVEL: 'warn',
        STORAGE_URL: bucket.url,
        AWS_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
        LOG_ARCHIVE_HOURS: '1',
      },
    );
    return start({ ...launch, output: path.join(folder, `service-${n}-${Date.now()}.log`) });
  };
  services.push(...(await Promise.all(Array.from({ length: count }, (_, n) => startService(n)))));

  /** Output of programs that ended although nothing had stopped them. */
  const leavers: string[] = [];
  const runners = Array.from({ length: runnerCount }, (_, n) => startRunner(n));
  function startRunner(n: number): ChildProcess {
    const tmp = path.join(folder, `runner-${n}`);
    mkdirSync(tmp, { recursive: true });
    const env = { PATH: process.env.PATH, PLATFORM_URL: url, TMPDIR: tmp, POLL_MS: '250', RUNS_AT_ONCE: '4' };
    const child = spawn(process.execPath, [path.join(root, 'dist/runner/runner.js')], {
      env: { ...env, CONFINEMENT: 'none' },
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    child.stdin!.on('error', () => {}).write(`${runnerToken}\n`);
    let last = '';
    child.stderr!.on('data', (text) => (last = String(text)));
    child.once('exit', (code) => code !== null && code !== 0 && leavers.push(`A runner ended by itself: ${last}`));
    return child;
  }

  return {
    url,
    token: secretOf(0),
    servers,
    /** The first process of the service, which is never killed, because its memory is measured. */
    survivor: services[0]!,
    services,
    leavers,
    async killService(n: number) {
      const killed = services[n];
      services[n] = null;
      await killed?.kill();
      services[n] = await startService(n);
    },
    runnerCount,
    async killRunner(n: number) {
      await end(runners[n]!, 'SIGKILL');
      runners[n] = startRunner(n);
    },
    bucket,
    /** Keys of stored contents, without the prefix of the bucket. */
    storedKeys: () => [...bucket.objects.keys()].map((place) => path.basename(place)),
    tree: () => verifyTree({ databaseUrl: servers.url, folder, secretKey, url }),
    async close() {
      await Promise.all(runners.map((one) => end(one, 'SIGTERM')));
      await Promise.all(services.map((one) => one?.stop()));
      balancer.close();
      await knex.destroy();
      await servers.close();
      await bucket.close();
      removeOrigin();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** Creates an organization, its owner with a token, five projects and an agent for scripts. */
async function found(): Promise<void> {
  const owner = idOf('usr', 0);
  const scopes = `array['projects:read', 'projects:write', 'missions:read', 'missions:run', 'sandboxes:read', 'scheduled-tasks:read', 'scheduled-tasks:write']`;
  for (const statement of [
    `insert into people (id, email, name, created_at) values ('${owner}', 'person@example.com', 'Person', 0)`,
    `insert into organizations (id, name, slug, created_by_user_id, created_at)
     values ('${organization}', 'Acme', 'acme', '${owner}', 0)`,
    `insert into memberships (org_id, user_id, role, created_at) values ('${organization}', '${owner}', 'owner', 0)`,
    `insert into tokens (id, digest, org_id, user_id, name, scopes, created_at, expires_at)
     values ('${idOf('tok', 0)}', sha256('${secretOf(0)}'), '${organization}', '${owner}', 'soak', ${scopes}, 0, 99999999999999)`,
    ...projects.map(
      (
        id,
        n,
      ) => `insert into projects (id, org_id, slug, name, status, tracker, scm_owner, scm_repo, issue_code, created_at)
        values ('${id}', '${organization}', 'project-${n}', 'Project ${n}', 'active', 'builtin', 'acme', 'shop-${n}', 'P${n}', ${n})`,
    ),
    `insert into agents (id, org_id, name, role, harness, model, skill_repos, sandbox_template_id, created_at, updated_at)
     values ('${shellAgent}', '${organization}', 'Shell', 'builder', 'shell', 'none', '{}', 'standard', 0, 0)`,
  ]) {
    await sql(statement);
  }
  await transaction(async (trx) => {
    await setEnterprise(trx, organization, true);
    await grantCredits(trx, organization, { lot: { kind: 'grant' }, credits: 1_000_000 });
  });
}
