// `aep` as a person in a terminal uses it, against a service: the bundled program as a separate process where a command waits, reads or is
// interrupted; other commands run in this process.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { stageEffect } from '#domain/projects/effects/staging.ts';
import { sealContext } from '#domain/projects/secrets/operations.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { unseal } from '#foundation/secrets/secrets.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { type Ended, openAep } from '../support/aep.ts';
import { locationOf, type OAuthWorld, openOAuthWorld, type Visit } from '../support/oauth-world.ts';
import { freePort, projectFolder } from '../support/processes.ts';
import { createRuntime, type Held, type Runtime } from '../support/runtime-client.ts';
import { leaveArtifact } from '../support/runtime-records.ts';
import { present } from '../support/world.ts';

let world: OAuthWorld;
let ada: Visit;
let runtime: Runtime;
let token: string;
let folder: string;
let program: string;
let runHere: Awaited<ReturnType<typeof openAep>>;
/** The person's configuration folder. */
let settings: string;

beforeAll(async () => {
  world = await openOAuthWorld();
  ada = await world.visitor('ada');
  runtime = await createRuntime(world);
  token = await world.personalToken(ada);
  runHere = await openAep();
  folder = mkdtempSync(path.join(tmpdir(), 'aep-cli-'));
  openStorage(folderStorage(path.join(folder, 'contents')));
  program = path.join(folder, 'aep.js');
  writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
  const { build } = await import('vite');
  const root = path.join(projectFolder, 'clients/cli');
  const configFile = path.join(root, 'vite.config.ts');
  await build({ root, configFile, configLoader: 'runner', build: { outDir: folder, emptyOutDir: false } });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.close();
});
beforeEach(() => {
  settings = mkdtempSync(path.join(folder, 'settings-'));
});

function start(args: string[], env: NodeJS.ProcessEnv = {}): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, XDG_CONFIG_HOME: settings, AEP_URL: world.url, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr, [code]]) => ({ code: code as number, stdout, stderr }),
  );
  return { child, ended };
}
/** The output so far. */
function collect(stream: NodeJS.ReadableStream): () => string {
  let said = '';
  stream.on('data', (chunk) => {
    said += chunk;
  });
  return () => said;
}
/** Runs a command in this process. */
const command = (args: string[], env: NodeJS.ProcessEnv, input?: string): Promise<Ended> =>
  runHere(args, { XDG_CONFIG_HOME: settings, AEP_URL: world.url, ...env }, input);
const aep = (...args: string[]): Promise<Ended> => command(args, { AEP_TOKEN: token });
const signedIn = (...args: string[]): Promise<Ended> => start(args).ended;
async function json(...args: string[]) {
  const { code, stdout, stderr } = await aep(...args, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}
const storeFile = () => path.join(settings, 'aep/credentials.json');
const store = () => JSON.parse(readFileSync(storeFile(), 'utf8'));

const claim = (harness = 'shell') =>
  vi.waitFor(async () => {
    const run = await runtime.claim({ harnesses: [harness] });
    expect(run).not.toBeNull();
    return run as Held;
  });

describe('aep login', () => {
  /** Signs in: `choice` is the person's answer on the page; `before` runs before the browser opens the callback. */
  async function signIn(choice: object = {}, before = async (_: URL) => {}): Promise<Ended & { page: string }> {
    const { child, ended } = start(['login', '--no-browser']);
    const said = collect(child.stderr!);
    const address = await vi.waitFor(() => {
      const [found] = said().match(/http:\S+\/oauth\/authorize\S+/) ?? expect.unreachable();
      return new URL(found);
    });
    await before(new URL(address.searchParams.get('redirect_uri')!));
    const answer = await world.authorize(ada, Object.fromEntries(address.searchParams), choice);
    const page = await (await fetch(locationOf(answer))).text();
    return { ...(await ended), page };
  }

  it('stores the sign-in in a file that only its owner can read, and refreshes its API token', async () => {
    const { code, stdout, page } = await signIn();
    expect(page).toContain('<h1>You are signed in</h1>');
    expect(code).toBe(0);
    expect(stdout).toBe(
      `You are signed in to ${world.url}/console/o/ada-and-company. The sign-in is kept in ${storeFile()}.\n`,
    );
    expect(statSync(storeFile()).mode & 0o777).toBe(0o600);

    const me = await signedIn('whoami', '--json');
    expect(JSON.parse(me.stdout)).toMatchObject({ userId: ada.person.id, orgId: ada.organization.id });
    expect(JSON.parse(me.stdout).scopes).toContain('missions:run');
    const { stdout: names } = await signedIn('whoami');
    expect(names).toContain(`<${ada.person.email}>`);
    expect(names).toContain(`${ada.organization.name}, ${ada.organization.id}`);

    // Two concurrent commands refresh the token once: a second refresh with the same token would end the sign-in.
    const before = store();
    before.signIns[world.url].expiresAt = 0;
    writeFileSync(storeFile(), JSON.stringify(before));
    const all = await Promise.all([signedIn('whoami'), signedIn('whoami')]);
    expect(all.map(({ code }) => code)).toEqual([0, 0]);
    const after = store().signIns[world.url];
    expect(after.refreshToken).not.toBe(before.signIns[world.url].refreshToken);
    expect(statSync(storeFile()).mode & 0o777).toBe(0o600);

    // A token that the service rejects is refreshed too.
    writeFileSync(
      storeFile(),
      JSON.stringify({ ...store(), signIns: { [world.url]: { ...after, accessToken: 'oat_x' } } }),
    );
    expect((await signedIn('whoami')).code).toBe(0);

    const { accessToken } = store().signIns[world.url];
    expect((await signedIn('logout')).stdout).toBe(`You are signed out of ${world.url}.\n`);
    expect(store().signIns).toEqual({});
    expect((await world.rest('GET', '/me', { token: accessToken })).status).toBe(401);
    expect(await signedIn('whoami')).toMatchObject({
      code: 1,
      stderr: `error: You are not signed in to ${world.url}. Run "aep login", or set AEP_TOKEN to a personal access token.\n`,
    });
  });

  it('reports that the person denied the sign-in', async () => {
    const { code, stderr, page } = await signIn({ decision: 'deny' });
    expect(page).toContain('The sign-in failed');
    expect(code).toBe(1);
    expect(stderr).toContain('error: The sign-in failed:');
  });

  it('keeps waiting after requests that are not the expected callback', async () => {
    const statuses: number[] = [];
    const { code, page } = await signIn({}, async (callback) => {
      for (const target of [
        '//',
        '/',
        '/callback',
        '/callback?code=x',
        '/callback?code=x&state=wrong&error=access_denied',
      ]) {
        const request = get({ port: callback.port, host: callback.hostname, path: target });
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        response.resume();
        statuses.push(response.statusCode!);
      }
    });
    expect(statuses).toEqual([404, 404, 404, 400, 400]);
    expect(page).toContain('<h1>You are signed in</h1>');
    expect(code).toBe(0);
  });

  it('requires https except on this machine', async () => {
    const { code, stderr } = await start(['login', '--url', 'http://platform.example']).ended;
    expect([code, stderr]).toEqual([1, 'error: http://platform.example: sign-in needs an https address.\n']);
  });
});

describe('commands for records', () => {
  it('projects are created, found by slug and name, and listed', async () => {
    const created = await json('projects', 'create', 'acme/shop', '--name', 'Web shop');
    expect(created).toMatchObject({ name: 'Web shop', slug: 'web-shop' });
    expect(await json('projects', 'show', 'Web shop')).toEqual(created);
    expect(await json('projects', 'list')).toEqual([created]);
    const { stdout } = await aep('projects', 'list');
    expect(stdout.split('\n')[0]).toMatch(/^ID +SLUG +NAME +REPOSITORY +STATUS$/);
    expect(stdout.split('\n')[1]).toMatch(/^prj_\w+ {2}web-shop {2}Web shop {2}acme\/shop {3}active$/);
  });

  it('scheduled tasks are created, listed and run', async () => {
    const options = ['--name', 'Check', '--every', 'weekly', '--weekday', 'friday', '--at', '07:30', '--zone', 'UTC'];
    const created = await json('tasks', 'create', 'web-shop', 'echo checked', ...options);
    expect(created.triggers[0].schedule).toEqual({
      interval: 'weekly',
      weekday: 'friday',
      time: '07:30',
      timezone: 'UTC',
    });
    expect(await json('tasks', 'list', '--project', 'web-shop')).toEqual([created]);
    const started = await json('tasks', 'run', 'Check');
    expect(started).toMatchObject({ ok: true, status: 'dispatching' });
    expect(await json('runs', '--status', 'dispatching')).toMatchObject([{ id: started.runId }]);
    expect(await json('runs', '--kind', 'manual', '--since', '2020-01-01', '--project', 'web-shop')).toHaveLength(1);
    expect(await json('cancel', started.runId)).toMatchObject({ status: 'canceled' });
  });

  it('secrets are set from standard input, replaced, listed by name and deleted', async () => {
    const scopes = ['secrets:read', 'secrets:write', 'projects:read'];
    const admin = await world.personalToken(ada, { scopes });
    const withInput = (input: string, ...args: string[]) => command(['secrets', ...args], { AEP_TOKEN: admin }, input);
    const unsaid = await withInput('npm_0123456789\n', 'set', 'NPM_TOKEN');
    expect([unsaid.code, unsaid.stderr]).toEqual([1, expect.stringContaining('NPM_TOKEN is new: add --setup')]);
    const set = await withInput('npm_0123456789\n', 'set', 'NPM_TOKEN', '--setup');
    expect([set.code, set.stdout]).toEqual([0, expect.stringContaining('Set NPM_TOKEN, a secret for the setup.')]);
    await withInput('npm_9876543210', 'set', 'NPM_TOKEN');
    await withInput('high', 'set', 'LEVEL', '--variable', '--project', 'web-shop');
    const hosts = ['--host', 'a.example.com', '--host', 'b.example.com'];
    expect((await withInput('sk-0123456789', 'set', 'API_KEY', ...hosts)).code).toBe(0);
    const all = JSON.parse((await withInput('', 'list', '--json')).stdout);
    expect(all.map(({ name }: { name: string }) => name).sort()).toEqual(['API_KEY', 'LEVEL', 'NPM_TOKEN']);
    const table = (await withInput('', 'list')).stdout;
    expect(table).toMatch(/API_KEY +secret for a\.example\.com b\.example\.com +organization +never/);
    const [npm] = await world.knex('secrets').where({ orgId: ada.organization.id, name: 'NPM_TOKEN' });
    expect(unseal(sealContext(npm.id), npm.sealedValue)).toBe('npm_9876543210');
    expect((await withInput('', 'delete', 'LEVEL')).stderr).toContain('There is no LEVEL here.');
    expect((await withInput('', 'delete', 'LEVEL', '--project', 'web-shop')).stdout).toBe('Deleted LEVEL.\n');
    expect(await json('projects', 'show', 'web-shop')).toMatchObject({ slug: 'web-shop' });
    expect((await aep('secrets', 'list')).stderr).toContain('secrets:read');
  });

  it('budgets are set, changed, listed and deleted', async () => {
    const admin = await world.personalToken(ada, {
      scopes: ['orchestrator:write', 'orchestrator:read', 'projects:read'],
    });
    const budgets = (...args: string[]) => command(['budgets', ...args], { AEP_TOKEN: admin });
    const set = await budgets('set', '50', '--project', 'web-shop');
    expect([set.stderr, set.stdout]).toEqual([
      '',
      'Missions of Web shop may cost 50.00 USD each month; 0.00 USD have been spent so far.\n',
    ]);
    await budgets('set', '60.5', '--project', 'web-shop', '--each', 'month');
    expect((await budgets('set', '5', '--person', 'me', '--each', 'day')).code).toBe(0);
    // The order of the two budgets is undefined, because they were set in the same millisecond of the test's clock.
    const rows: { id: string; subject: string }[] = JSON.parse((await budgets('list', '--json')).stdout);
    expect(rows.toSorted((a, b) => a.subject.localeCompare(b.subject))).toMatchObject([
      { subject: 'person', subjectName: expect.any(String), period: 'day', amountUsd: 5 },
      { subject: 'project', subjectName: 'Web shop', period: 'month', amountUsd: 60.5 },
    ]);
    expect((await budgets('list')).stdout).toMatch(/project +Web shop +month +60\.50 USD +0\.00 USD/);
    for (const { id } of rows) expect((await budgets('delete', id)).stdout).toBe(`Deleted ${id}.\n`);
    expect((await budgets('set', 'much')).code).toBe(2);
  });

  it('hooks are created with a secret, rotated, disabled and deleted; their events are listed and processed again', async () => {
    const scopes = ['integrations:read', 'integrations:write', 'missions:run'];
    const admin = await world.personalToken(ada, { scopes });
    const hooks = (...args: string[]) => command(['hooks', ...args], { AEP_TOKEN: admin });
    const created = await hooks('create', 'Errors', '--vendor', 'webhook', '--signature', 'github');
    expect(created.stderr).toMatch(/^hok_\w+ receives events at http:\S+\. The secret is shown only once:\n$/);
    const [hook] = JSON.parse((await hooks('list', '--json')).stdout);
    expect(hook).toMatchObject({ name: 'Errors', vendor: 'webhook', signature: 'github', enabled: true });
    const rotated = (await hooks('rotate', 'Errors')).stdout.trim();
    const post = async (secret: string) => {
      const body = '{"type":"error"}';
      const signed = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signed };
      return (await fetch(hook.address, { method: 'POST', body, headers })).status;
    };
    expect([await post(created.stdout.trim()), await post(rotated)]).toEqual([401, 202]);
    await world.delivered();
    const [delivery] = JSON.parse((await hooks('deliveries', 'Errors', '--status', 'ignored', '--json')).stdout);
    expect((await hooks('deliveries', hook.id)).stdout).toMatch(/error +ignored +No rule matched: /);
    expect((await hooks('redeliver', 'Errors', delivery.id)).stdout).toMatch(/^dlv_\w+ is processed again\.\n$/);
    expect((await hooks('approve', 'Errors', delivery.id)).stderr).toContain('is not waiting');
    expect((await hooks('disable', 'Errors')).stdout).toBe('Disabled Errors.\n');
    expect((await hooks('enable', 'Errors')).stdout).toBe('Enabled Errors.\n');
    expect((await hooks('rename', 'Errors', 'Faults')).stdout).toBe('Renamed to Faults.\n');
    expect((await hooks('delete', 'Errors')).stderr).toContain('There is no hook Errors.');
    expect((await hooks('delete', 'Faults')).stdout).toBe('Deleted Faults.\n');
    expect((await hooks('deliveries', 'x', '--status', 'lost')).code).toBe(2);
  });

  it('webhooks are created with a secret, rotated, disabled and deleted; their deliveries are listed and sent again', async () => {
    const admin = await world.personalToken(ada, { scopes: ['webhooks:read', 'webhooks:write', 'projects:read'] });
    const webhooks = (...args: string[]) => command(['webhooks', ...args], { AEP_TOKEN: admin });
    const listed = async (...args: string[]) => JSON.parse((await webhooks(...args, '--json')).stdout);
    const address = 'https://192.0.78.9/events';
    const chosen = ['--type', 'run.*', '--type', 'issue.created', '--project', 'web-shop', '--ordered'];
    const created = await webhooks('create', 'Dashboard', address, ...chosen);
    expect(created.stderr).toMatch(/^whk_\w+ sends events to https:\S+\. The secret is shown only once:\n$/);
    expect(created.stdout).toMatch(/^whsec_\S+\n$/);
    const [endpoint] = await listed('list');
    expect(endpoint).toMatchObject({
      name: 'Dashboard',
      url: address,
      types: ['run.*', 'issue.created'],
      ordered: true,
    });
    expect(endpoint.projectIds).toEqual([(await json('projects', 'show', 'web-shop')).id]);
    expect((await webhooks('rotate', 'Dashboard')).stdout).not.toBe(created.stdout);
    const [id, createdAt] = ['whd_sent', Date.parse('2026-11-22T09:00:00Z')];
    await world.knex('webhook_deliveries').insert({
      ...{ id, orgId: endpoint.orgId, endpointId: endpoint.id, number: 7, type: 'run.failed', body: '{}', createdAt },
      ...{ status: 'failed', attempts: 10, attemptedAt: createdAt, answerStatus: 503 },
    });
    const range = ['Dashboard', '--from', '2026-11-22', '--before', '2026-11-23', '--status', 'failed'];
    expect((await webhooks('deliveries', ...range)).stdout).toMatch(/whd_sent +run\.failed +7 +failed +10 +503 /);
    expect((await webhooks('resend', ...range)).stdout).toBe('1 event is sent again.\n');
    expect((await webhooks('resend', 'Dashboard', id)).stdout).toMatch(/^run\.failed is sent again as whd_\w+\.\n$/);
    expect((await webhooks('resend', 'Dashboard')).stderr).toContain('Name a delivery, or the time of several');
    expect((await webhooks('resend', 'Dashboard', id, '--status', 'failed')).stderr).toContain('not both');
    expect((await listed('deliveries', endpoint.id, '--status', 'pending')).length).toBe(2);
    expect((await webhooks('disable', 'Dashboard')).stdout).toBe('Disabled Dashboard.\n');
    expect((await webhooks('list')).stdout).toMatch(/Dashboard +disabled \(person\) +run\.\* issue\.created +https:/);
    expect((await webhooks('enable', 'Dashboard')).stdout).toBe('Enabled Dashboard.\n');
    expect((await webhooks('delete', 'Other')).stderr).toContain('There is no webhook Other.');
    expect((await webhooks('delete', 'Dashboard')).stdout).toBe('Deleted Dashboard.\n');
    expect((await webhooks('create', 'Inside', 'http://10.0.0.1/')).stderr).toContain('url: must be an https address');
  });

  it('rules of a task are added, listed and removed; each bound of the pull request loop is set separately', async () => {
    const scopes = ['projects:write', 'agents:read', 'missions:run', 'scheduled-tasks:write', 'scheduled-tasks:read'];
    const admin = await world.personalToken(ada, { scopes: [...scopes, 'projects:read', 'integrations:read'] });
    const call = (...args: string[]) => command(args, { AEP_TOKEN: admin });
    const [{ id }] = await json('tasks', 'list', '--project', 'web-shop');
    const rule = ['--on', 'issue', '--label', 'agent', '--from', 'anyone', '--outsider-template', 'standard'];
    const added = await call('rules', 'add', id, ...rule);
    expect([added.stderr, added.stdout]).toEqual([
      '',
      expect.stringMatching(/^RULE.*\n1 +issue +anyone +label: agent, outsiderTemplateId: standard\n$/),
    ]);
    expect((await call('rules', 'add', id, '--on', 'check', '--label', 'x')).stderr).toContain('eventTriggers.1.label');
    expect((await call('rules', 'remove', id, '2')).stderr).toContain('There is no rule 2');
    expect(JSON.parse((await call('rules', 'list', id, '--json')).stdout)).toMatchObject([{ kind: 'issue' }]);
    expect((await call('rules', 'remove', id, '1')).stdout).toContain('events no longer start its missions.');
    expect((await call('projects', 'loop', 'web-shop')).stdout).toMatch(/rounds +5\nhours +168\ncost.* no limit\n/);
    await call('projects', 'loop', 'web-shop', '--rounds', '0', '--cost', '20');
    const changed = await call('projects', 'loop', 'web-shop', '--hours', '24', '--json');
    expect(JSON.parse(changed.stdout)).toEqual({ rounds: 0, hours: 24, costUsd: 20 });
    await call('projects', 'loop', 'web-shop', '--cost', 'none');
    expect((await call('projects', 'loop', 'web-shop')).stdout).toMatch(/rounds +0\nhours +24\ncost.* no limit\n/);
    expect((await call('projects', 'loop', 'web-shop', '--rounds', '99')).stderr).toContain('rounds');
  });

  it('a blocked host is added to the hosts that the template of a project allows', async () => {
    await json('run', 'web-shop', 'echo it', '--script', '--detach');
    const held = await claim();
    const blocked = { host: 'api.example.com', port: 8443, phase: 'agent', verdict: 'blocked', count: 1 };
    await runtime.report('reportConnections', { ...held, reportId: 'one', connections: [blocked] });
    const { stdout } = await aep('templates', 'allow', held.runId, 'api.example.com:8443');
    expect(stdout).toBe('Web shop allows api.example.com:8443, from the next step of each mission on.\n');
    expect(await json('templates', 'show', 'Web shop')).toMatchObject({
      agentNetwork: { mode: 'packages', hosts: ['api.example.com:8443'] },
    });
    expect(await json('cancel', held.runId)).toMatchObject({ status: 'canceled' });
  });

  it('sandbox templates and missions get their limits, which can be raised', async () => {
    const services = path.join(settings, 'services.json');
    writeFileSync(services, '[{"name": "db", "image": "postgres:17"}]');
    const numbers = ['memory-mb', 'disk-mb', 'processes', 'step-minutes', 'step-model-calls', 'step-tokens'];
    const limits = [...numbers, 'max-minutes', 'max-model-calls', 'max-tokens'].flatMap((name) => [
      `--${name}`,
      '1000',
    ]);
    const words = ['--description', 'Small', '--image', 'node:22', '--services', services, '--variable', 'CI=true'];
    const networks = ['--network', 'none', '--setup-allow', 'api.example.com', '--instance-type', 'lite'];
    expect(await json('templates', 'create', 'Small', ...words, ...networks, ...limits)).toMatchObject({
      ...{ description: 'Small', base: 'image', image: 'node:22', instanceType: 'lite' },
      ...{
        memoryMb: 1_000,
        diskMb: 1_000,
        processes: 1_000,
        stepMinutes: 1_000,
        stepModelCalls: 1_000,
        stepTokens: 1_000,
      },
      ...{ maxMinutes: 1_000, maxModelCalls: 1_000, maxTokens: 1_000 },
      agentNetwork: { mode: 'none', hosts: [] },
      setupNetwork: { mode: 'packages', hosts: ['api.example.com'] },
      services: [{ name: 'db', image: 'postgres:17' }],
      variables: [{ name: 'CI', value: 'true' }],
    });
    expect((await aep('templates', 'show', 'Small')).stdout).toMatch(/of a mission +.*1000 minutes, 1000 model calls/);
    const back = ['--name', 'Plain', '--machine', '--max-minutes', 'none', '--instance-type', 'none'];
    expect(await json('templates', 'update', 'Small', ...back)).toMatchObject({
      ...{ name: 'Plain', base: 'machine', image: null, maxMinutes: null, instanceType: null, maxTokens: 1_000 },
    });
    expect((await aep('templates', 'delete', 'Plain')).stdout).toBe('Deleted Plain.\n');
    expect((await aep('templates', 'create', 'X', '--max-minutes', '0')).code).toBe(2);
    const start = ['run', 'web-shop', 'echo it', '--script', '--detach', '--max-minutes', '5', '--max-tokens', '2000'];
    const { id } = await json(...start);
    expect((await aep('limits', id, '--max-minutes', '7', '--max-model-calls', '9')).stdout).toBe(
      `The limits of ${id} are set.\n`,
    );
    expect((await aep('show', id)).stdout).toMatch(/minutes +0 of 7\nmodel calls +0 of 9\nmax tokens +2000\n/);
    expect((await aep('limits', id)).stderr).toContain('Set --max-minutes, --max-model-calls or --max-tokens.');
    await aep('cancel', id);
    const again = await json('rerun', id, '--detach');
    expect((await aep('show', again.id)).stdout).toMatch(/minutes +0 of 7\n/);
    await aep('cancel', again.id);
    const group = await json('run', 'web-shop', 'echo it', '--script', '--attempts', '2');
    expect(group.attempts.map(({ number, state }: { number: number; state: string }) => [number, state])).toEqual([
      [1, 'open'],
      [2, 'open'],
    ]);
    const second = group.attempts[1].run.id;
    expect((await aep('choose', second)).stdout).toBe('Attempt 2 is chosen; the others are closed.\n');
    expect((await aep('attempts', second)).stdout).toMatch(
      /1 +run_\w+ +canceled +closed[\s\S]*2 +run_\w+ +dispatching +chosen/,
    );
    expect((await aep('close-attempts', group.id)).stderr).toContain('has already chosen attempt 2');
    await aep('cancel', second);
  });

  it('an artifact is downloaded', async () => {
    const project = await json('projects', 'show', 'web-shop');
    const place = { orgId: ada.organization.id, projectId: project.id };
    const artifact = await leaveArtifact(place, 'the report');
    expect(await json('artifacts', 'list', '--project', 'web-shop')).toMatchObject([{ id: artifact.id }]);
    expect((await aep('artifacts', 'get', artifact.id)).stdout).toBe('the report');
    const file = path.join(settings, 'report.txt');
    expect((await aep('artifacts', 'get', artifact.id, '-o', file)).stderr).toBe(`Wrote ${file}.\n`);
    expect(readFileSync(file, 'utf8')).toBe('the report');
  });
});

describe('commands for missions', () => {
  it('follow a mission to its end, and exit with a code that tells its outcome', async () => {
    const { child, ended } = start(['run', 'web-shop', 'echo it works', '--script'], { AEP_TOKEN: token });
    const said = collect(child.stdout!);
    const { runId, leaseId } = await claim();
    const sandboxId = await runtime.register({ runId, leaseId }, { harness: 'shell' });
    const session = { leaseId, sandboxId, role: 'builder', sessionId: 'first' };
    await runtime.report('reportSession', session);
    await runtime.report('appendLog', { ...session, part: 'session', seq: 0, content: 'it ' }, '{ nextSeq }');
    await runtime.report('appendLog', { ...session, part: 'session', seq: 1, content: 'wörks\n' }, '{ nextSeq }');
    const fragments = [{ kind: 'thought', t: present(), body: 'Reading \u001b[2Jthe code.' }];
    await runtime.report('appendFragments', { leaseId, sandboxId, seq: 0, fragments }, '{ nextSeq }');
    await vi.waitFor(() => expect(said()).toContain('  Reading [2Jthe code.\n'));
    await runtime.report('finishSandbox', { leaseId, sandboxId, status: 'completed' });
    await runtime.finish({ runId, leaseId });
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 2)).toEqual([runId, `  ${world.url}/console/o/ada-and-company/runs/${runId}`]);
    expect(stdout).toContain('completed (0.00 US dollars)');
    expect(await aep('logs', runId)).toMatchObject({
      code: 0,
      stdout: 'it wörks\n',
      stderr: '── builder · first\n',
    });
    expect(await aep('logs', runId, '--follow')).toMatchObject({ code: 0, stdout: 'it wörks\n' });
    const { id: other } = await json('run', 'web-shop', 'echo later', '--script', '--detach');
    await aep('cancel', other);
    expect(await aep('logs', runId, other, runId, '--follow')).toMatchObject({
      code: 0,
      stdout: `${runId} it wörks\n`,
      stderr: expect.stringContaining(`${other} has no logs yet.`),
    });
    const many = Array.from({ length: 21 }, (_, n) => `run_${n}`);
    expect((await aep('logs', ...many)).stderr).toContain('Name at most 20 runs.');
  });

  it('print the output of agents without control sequences except colors', async () => {
    const { id: runId } = await json('run', 'web-shop', 'echo colors', '--script', '--detach');
    const { leaseId } = await claim();
    const sandboxId = await runtime.register({ runId, leaseId }, { harness: 'shell' });
    const session = { leaseId, sandboxId, role: 'builder', sessionId: 'first' };
    await runtime.report('reportSession', session);
    const hostile =
      '\u001b]52;c;cm0gLXJmIH4=\u0007\u001b]0;title\u001b\\\u001b[2J\u001b[1;1H\u009b2J\u001bPq\u001b\\\u001bc\rover\b\u001b[31mred\u001b[0m\tend\n';
    await runtime.report('appendLog', { ...session, part: 'session', seq: 0, content: hostile }, '{ nextSeq }');
    await runtime.report('finishSandbox', { leaseId, sandboxId, status: 'completed' });
    await runtime.finish({ runId, leaseId });
    const { projectId } = await json('show', runId);
    const artifact = await leaveArtifact({ orgId: ada.organization.id, projectId }, hostile);

    const onTerminal = { AEP_TOKEN: token, NODE_OPTIONS: '--import data:text/javascript,process.stdout.isTTY=true' };
    for (const args of [
      ['logs', runId],
      ['artifacts', 'get', artifact.id],
    ]) {
      expect((await aep(...args)).stdout).toBe(hostile);
      const { stdout } = await start(args, onTerminal).ended;
      expect(stdout.replace('\u001b[0m\n', '\n').replace('\n\u001b[0m', '\n')).toBe(
        '\nover\u001b[31mred\u001b[0m\tend\n',
      );
      expect((await start(args, { ...onTerminal, NO_COLOR: '1' }).ended).stdout).not.toContain('\u001b');
    }
    expect(JSON.parse((await aep('logs', runId, '--json')).stdout).content).toBe(hostile);
    expect((await aep('logs', runId, '--json')).stdout).not.toContain('\u009b');
  });

  it('exit with distinct codes when a mission fails or is canceled', async () => {
    const failing = start(['run', 'web-shop', '-', '--script'], { AEP_TOKEN: token });
    failing.child.stdin!.end('exit 1');
    const held = await claim();
    const { leaseId } = held;
    const sandboxId = await runtime.register(held, { harness: 'shell' });
    const session = { leaseId, sandboxId, role: 'builder', sessionId: 'first' };
    await runtime.report('reportSession', session);
    const numbered = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => `line ${from + i}`).join('\n');
    const content = `${numbered(0, 22)}\nsh: fix: not found\n`;
    await runtime.report('appendLog', { ...session, part: 'session', seq: 0, content }, '{ nextSeq }');
    await runtime.finish(held, { status: 'failed', error: 'It broke.' });
    const { code, stdout } = await failing.ended;
    expect([code, stdout]).toEqual([3, expect.stringContaining('failed: It broke.')]);
    expect(stdout.split(`has all\n`)[1]).toBe(`${numbered(3, 22)}\nsh: fix: not found\n`);

    const canceled = start(['run', 'web-shop', 'sleep 1', '--json'], { AEP_TOKEN: token });
    const [first] = (await once(canceled.child.stdout!, 'data')) as [Buffer];
    await aep('cancel', JSON.parse(String(first).split('\n', 1)[0]!).id);
    expect((await canceled.ended).code).toBe(4);
  });

  it('steer a mission, continue it and start it again', async () => {
    // A claim connects the runtime before the missions start.
    expect(await runtime.claim()).toBe(null);
    const agents = await json('agents', '--role', 'builder');
    const { id: agent } = agents.find(({ harness }: { harness: string }) => harness === 'claude-code');
    const { id: runId } = await json('run', 'web-shop', 'Fix the clock.', '--agent', agent, '--detach');
    const { leaseId } = await claim('claude-code');
    expect(await json('message', runId, 'Use the UTC helper.')).toMatchObject({ runId, text: 'Use the UTC helper.' });
    expect((await aep('interrupt', runId)).stdout).toBe(`The agent is interrupted. ${runId} is running.\n`);
    expect((await aep('resume', runId)).stdout).toBe(`The agent continues. ${runId} is running.\n`);
    expect((await aep('approve', runId)).stderr).toMatch(/^error: .+plan/);
    expect((await aep('answer', runId, 'Yes.')).stderr).toMatch(/^error: .+question/);
    expect((await aep('diff', runId)).stderr).toBe(`error: ${runId} has no changes.\n`);
    const sandboxId = await runtime.register({ runId, leaseId }, { harness: 'claude-code' });
    const change = '--- a/shop.ts\n+++ b/shop.ts\n@@ -1 +1 @@\n-local\n+utc\n';
    const { projectId, issueId } = await json('show', runId);
    const place = { orgId: ada.organization.id, projectId };
    const { id: changeArtifactId } = await leaveArtifact(place, change, { caption: 'change.diff', sandboxId, issueId });
    await world.knex('runs').where({ id: runId }).update({ changeArtifactId });
    expect((await aep('diff', runId)).stdout).toBe(change);
    expect((await aep('review', runId, 'approve')).stderr).toBe(`error: ${runId} has no changes.\n`);
    await world
      .knex('runs')
      .where({ id: runId })
      .update({ branch: 'mission', headSha: 'a'.repeat(40) });
    const reviewed = await aep('review', runId, 'request-changes', '-m', 'Nearly.', '--on', 'shop.ts:1=Which zone?');
    expect(reviewed.stdout).toBe(`The review of aaaaaaa is stored. ${runId} handles it.\n`);
    expect((await aep('review', runId, 'comment', '--on', 'shop.ts')).stderr).toMatch(
      /^error: .+src\/date\.ts:7=Use UTC/,
    );
    expect((await aep('merge', runId)).stderr).toMatch(/^error: Conflict: The run has no pull request\.\n/);
    expect((await aep('effects', runId)).stdout).toBe('The run has no outside effects that need or needed approval.\n');
    const [eff1, eff2] = await transaction(async (trx) => {
      const of = { id: runId, orgId: ada.organization.id, projectId };
      const close = (key: string) =>
        stageEffect(trx, of, { kind: 'tracker', key, payload: { ofRunId: runId, issueId: key } });
      const first = await close('ENG-1');
      world.clock.turn(1);
      return [first, await close('ENG-2')];
    });
    expect((await aep('effects', runId)).stdout).toContain(`${eff1}  staged  Close ENG-1\n`);
    expect((await aep('effects', runId, 'reject', '--only', eff1!)).stdout).toBe('Rejected: Close ENG-1\n');
    expect((await aep('effects', runId, 'approve')).stdout).toBe('Approved: Close ENG-2\n');
    expect(await json('effects', runId)).toMatchObject([
      { id: eff1, state: 'rejected' },
      { id: eff2, state: 'approved' },
    ]);
    const ask = (seq: number, more: object) =>
      runtime.report(
        'appendFragments',
        {
          leaseId,
          sandboxId,
          seq,
          fragments: [{ kind: 'elicitation', t: 4_000_000_000_000 + seq, toolUseId: `q${seq}`, ...more }],
        },
        '{ nextSeq }',
      );
    await ask(0, { body: 'Which one?', choices: ['A', 'B'] });
    const first = `${sandboxId}/0: Which one?\n  (A / B)\n`;
    expect((await aep('answer', runId)).stdout).toBe(first);
    await ask(1, { body: 'May I?', action: 'ci.deploy', parameter: '{"to":"live"}' });
    const second = `${sandboxId}/1: May I?\n  ci.deploy {"to":"live"}\n`;
    const several = `error: Several questions wait: name one with --question.\n${first}${second}`;
    expect((await aep('answer', runId, '--approve')).stderr).toBe(several);
    const one = await aep('answer', runId, '--approve', '--question', `${sandboxId}/1`);
    expect(one.stdout).toBe(`${second}Approved.\n`);
    expect((await aep('answer', runId, 'A')).stdout).toBe(`${first}Answered.\n`);
    expect((await aep('answer', runId)).stdout).toBe('No question is waiting.\n');
    await runtime.report('finishSandbox', { leaseId, sandboxId, status: 'completed' });
    await runtime.finish({ runId, leaseId });
    expect((await aep('continue', runId, 'Add a test.')).stderr).toMatch(/^error: .+checkpoint/);
    const again = await json('rerun', runId, '--detach');
    expect(again).toMatchObject({ prompt: 'Fix the clock.', agentId: agent, status: 'dispatching', projectId });
    expect(again.id).not.toBe(runId);
    await aep('cancel', again.id);
  });

  it('list the missions that wait for the person, hide them and show them again', async () => {
    await world
      .knex('runs')
      .where({ missionTitle: 'Fix the clock.' })
      .update({ status: 'failed', reason: 'It broke.' });
    await world.knex('runs').where({ missionTitle: 'Fix the clock.' }).update({ finishedAt: present() });
    const items: { id: string; title: string; runId: string }[] = await json('inbox');
    const item = items.find(({ title }) => title === 'Fix the clock.')!;
    expect(item).toMatchObject({ kind: 'failure', detail: 'It broke.' });
    expect((await aep('inbox')).stdout).toContain(`aep logs ${item.runId}`);
    expect((await aep('inbox', 'done', item.id)).stdout).toBe(`${item.id} is done.\n`);
    expect(await json('inbox', '--hidden')).toMatchObject([{ id: item.id, isDone: true }]);
    expect((await aep('inbox', 'undo', item.id)).stdout).toBe(`${item.id} is in the inbox again.\n`);
  });

  it('list agents and issues, try and restore versions of an agent, and print the page of a mission', async () => {
    expect((await aep('agents')).stdout).toMatch(/^ID +NAME +ROLE +HARNESS +MODEL +BUILT IN\n/);
    expect((await json('agents', '--role', 'builder')).map(({ role }: { role: string }) => role)).toContain('builder');
    const sandbox = { kind: 'existing', templateId: 'standard' };
    const made = { name: 'Cli builder', role: 'builder', harness: 'claude-code', model: 'claude-sonnet-4-5', sandbox };
    const { id } = (await world.rest('POST', '/agents', { token, body: made })).body;
    await world.rest('PATCH', `/agents/${id}`, { token, body: { model: 'claude-opus-4-5' } });
    expect(await json('agents', 'try', id, '1', '--percent', '20')).toMatchObject({ version: 2, trialVersion: 1 });
    expect((await aep('agents', 'versions', id)).stdout).toMatch(/^1 +20 % +claude-code +claude-sonnet-4-5/m);
    expect(await json('agents', 'end-trial', id)).toMatchObject({ version: 2, trialVersion: null });
    expect(await json('agents', 'restore', id, '1', '--note', 'Back')).toMatchObject({ version: 3 });
    const [issue] = await json('issues', '--project', 'web-shop', '--limit', '1');
    expect((await aep('issues')).stdout).toContain(issue.key);
    expect((await aep('open', issue.runId)).stdout).toBe(
      `${world.url}/console/o/ada-and-company/runs/${issue.runId}\n`,
    );
    expect((await aep('open')).stdout).toBe(`${world.url}/console/o/ada-and-company\n`);
    expect((await aep('open', 'lse_1')).code).toBe(1);
  });

  it('create, comment on, assign and close issues', async () => {
    const options = ['--body', 'It says 2019.', '--label', 'bug,footer'];
    const { id, key } = await json('issues', 'create', 'web-shop', 'Wrong year', ...options);
    const { userId } = await json('whoami');
    expect((await aep('issues', 'assign', id, userId)).stdout).toBe(`${id} (${key}) is open, assigned to ada.\n`);
    expect((await aep('issues', 'comment', id, 'It is 2026.')).stdout).toBe(
      'Added. No mission is working on the issue.\n',
    );
    expect((await aep('issues', 'assign', id, 'agn_builtin_shell')).stderr).toContain('assigneeId');
    expect((await aep('issues', 'close', id)).stdout).toBe(`${id} (${key}) is closed, assigned to ada.\n`);
    expect((await aep('issues', 'show', id)).stdout).toMatch(
      /TITLE +Wrong year\nSTATE +closed\nASSIGNEE +ada\nLABELS +bug, footer\n\nIt says 2019\.\n\nada, [^\n]+:\nIt is 2026\.\n$/i,
    );
    expect((await json('issues', '--state', 'closed'))[0]).toMatchObject({ id, body: 'It says 2019.' });
    expect((await json('issues', 'reopen', id)).state).toBe('open');
  });

  it('leave a mission running after Ctrl-C', async () => {
    const { child, ended } = start(['run', 'web-shop', 'sleep 1'], { AEP_TOKEN: token });
    const said = collect(child.stdout!);
    await vi.waitFor(() => expect(said()).toContain('dispatching'));
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    const [id] = said().split('\n');
    expect((await world.rest('GET', `/runs/${id}`, { token })).body.status).toBe('dispatching');
    expect(stderr).toContain(`${id} continues.`);
    expect(stderr).toContain(`aep cancel ${id}`);
    await world.rest('POST', `/runs/${id}/cancel`, { token });
  });
});

describe('errors of aep', () => {
  it('exit with 2 after a usage error, and with 1 and the request id after an error of the service', async () => {
    expect(await aep('projects', 'list', '--limit', 'many')).toMatchObject({ code: 2, stdout: '' });
    expect((await aep('--help')).code).toBe(0);
    const { version } = JSON.parse(readFileSync(path.join(projectFolder, 'clients/cli/package.json'), 'utf8'));
    expect(await aep('--version')).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect(await aep('run', 'web-shop', 'x', '--budget', '-5')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('It must be a number above 0.'),
    });
    const { code, stderr } = await aep('show', 'run_none');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: Not found: No such run\.\nRequest id: req_\w+\n$/);
    const { error } = JSON.parse((await aep('show', 'run_none', '--json')).stderr);
    expect(error).toMatchObject({ status: 404, code: 'not_found', requestId: expect.stringMatching(/^req_/) });
    expect((await aep('projects', 'show', 'nowhere')).stderr).toBe(
      'error: There is no project nowhere. "aep projects list" shows ids.\n',
    );
    const url = `http://127.0.0.1:${await freePort()}`;
    const away = await start(['logout'], { AEP_URL: url }).ended;
    expect([away.code, away.stdout]).toEqual([0, `You were not signed in to ${url}.\n`]);
  });

  it('lead from token commands to the console', async () => {
    expect((await aep('tokens', 'create')).stdout).toBe(
      `A token cannot manage tokens. Use the console: ${world.url}/console/o/ada-and-company/tokens\n`,
    );
  });
});

describe('shell completion', () => {
  it('fish gets a script with every command', async () => {
    const { stdout } = await aep('completion', 'fish');
    for (const word of ['login', 'projects', 'artifacts', 'follow', 'detach']) expect(stdout).toContain(word);
  });

  it.skipIf(spawnSync('bash', ['--version']).error)(
    'bash completes commands, subcommands and their options',
    async () => {
      const { stdout: script } = await aep('completion', 'bash');
      const complete = async (...words: string[]) => {
        const shell = spawn('bash', [
          '-c',
          `${script}\nCOMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _aep; echo "\${COMPREPLY[@]}"`,
          '-',
          ...words,
        ]);
        return (await text(shell.stdout)).trim();
      };
      expect(await complete('aep', 'pro')).toBe('projects');
      expect(await complete('aep', 'projects', '')).toContain('list show create');
      expect(await complete('aep', 'logs', 'run_1', '--f')).toBe('--follow');
    },
  );
});
