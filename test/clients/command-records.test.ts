// Commands of `aep` that create, list, change and delete records.
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { sealContext } from '#domain/projects/secrets/operations.ts';
import { minutes } from '#foundation/clock.ts';
import { unseal } from '#foundation/secrets/secrets.ts';
import { openAepWorld } from '../support/aep-world.ts';
import { createRuntime } from '../support/runtime-client.ts';
import { leaveArtifact } from '../support/runtime-records.ts';

const { world, ada, runtime, settings, command, aep, json, claim, close, reset } = await openAepWorld();
afterAll(close);
beforeEach(reset);

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

  it('runtimes are listed with their slots and waiting missions, and can be drained and resumed', async () => {
    const admin = await world.personalToken(ada, { scopes: ['agents:read', 'integrations:write'] });
    const asAdmin = (...args: string[]) => command(['runtimes', ...args], { AEP_TOKEN: admin });
    const own = await createRuntime(world, ada.organization);
    await own.claim({ runtime: 'Rack', labels: ['gpu'], places: 2 });
    await json('run', 'web-shop', 'echo it', '--script', '--detach');
    expect((await asAdmin('drain', 'Rack')).stdout).toBe(
      'Rack takes no new missions, and shuts down once it has none.\n',
    );
    const rack = { name: 'Rack', labels: ['gpu'], places: 2, usedPlaces: 0, isDraining: true };
    const { data, waiting } = JSON.parse((await asAdmin('list', '--json')).stdout);
    expect([data, waiting]).toMatchObject([
      expect.arrayContaining([expect.objectContaining(rack)]),
      [{ labels: [], runs: 1 }],
    ]);
    expect((await asAdmin()).stdout).toMatch(/^Rack +draining +claude-code +gpu +0\/2 +0 /m);
    expect((await asAdmin('resume', 'Rack')).stdout).toBe('Rack takes missions again.\n');
    world.clock.turn(minutes(3));
    expect((await asAdmin()).stdout).toMatch(/^Rack +disconnected /m);
    expect((await asAdmin('drain', 'Nobody')).stderr).toContain('There is no runtime Nobody.');
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
    expect((await webhooks('resend', 'Dashboard')).stderr).toContain(
      'Give the id of a delivery, or the beginning of a period',
    );
    expect((await webhooks('resend', 'Dashboard', id, '--status', 'failed')).stderr).toContain('not both');
    expect((await listed('deliveries', endpoint.id, '--status', 'pending')).length).toBe(2);
    await world.knex('webhook_endpoints').update({ url: 'http://127.0.0.1:9/' });
    const tested = await webhooks('test', 'Dashboard');
    // The reason depends on whether the service may reach this machine.
    expect([tested.code, tested.stdout]).toEqual([1, expect.stringMatching(/^The (address is not|connection failed)/)]);
    await world.knex('webhook_endpoints').update({ url: address });
    expect((await webhooks('disable', 'Dashboard')).stdout).toBe('Disabled Dashboard.\n');
    expect((await webhooks('list')).stdout).toMatch(/Dashboard +disabled \(person\) +run\.\* issue\.created +https:/);
    expect((await webhooks('enable', 'Dashboard')).stdout).toBe('Enabled Dashboard.\n');
    expect((await webhooks('delete', 'Other')).stderr).toContain('There is no webhook Other.');
    expect((await webhooks('delete', 'Dashboard')).stdout).toBe('Deleted Dashboard.\n');
    expect((await webhooks('create', 'Inside', 'http://10.0.0.1/')).stderr).toContain('url: must be an https URL');
  });

  it('rules of a task are added, listed and removed; each limit of the pull request loop is set separately', async () => {
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

  it('limits are set on sandbox templates and on missions, and can be raised', async () => {
    const services = path.join(settings(), 'services.json');
    writeFileSync(services, '[{"name": "db", "image": "postgres:17"}]');
    const numbers = ['memory-mb', 'disk-mb', 'processes', 'step-minutes', 'step-model-calls', 'step-tokens'];
    const limits = [...numbers, 'max-minutes', 'max-model-calls', 'max-tokens'].flatMap((name) => [
      `--${name}`,
      '1000',
    ]);
    const words = ['--description', 'Small', '--image', 'node:22', '--services', services, '--variable', 'CI=true'];
    const networks = [
      '--network',
      'none',
      '--setup-allow',
      'api.example.com',
      '--instance-type',
      'lite',
      '--label',
      'gpu',
      '--label',
      'arm64',
    ];
    expect(await json('templates', 'create', 'Small', ...words, ...networks, ...limits)).toMatchObject({
      ...{ description: 'Small', base: 'image', image: 'node:22', instanceType: 'lite', labels: ['gpu', 'arm64'] },
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
    const back = ['--name', 'Plain', '--machine', '--max-minutes', 'none', '--instance-type', 'none', '--label', ''];
    expect(await json('templates', 'update', 'Small', ...back)).toMatchObject({
      ...{
        name: 'Plain',
        base: 'machine',
        image: null,
        maxMinutes: null,
        instanceType: null,
        maxTokens: 1_000,
        labels: [],
      },
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
    expect((await aep('choose', second)).stdout).toBe('Attempt 2 is chosen; the other attempts are closed.\n');
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
    const file = path.join(settings(), 'report.txt');
    expect((await aep('artifacts', 'get', artifact.id, '-o', file)).stderr).toBe(`Wrote ${file}.\n`);
    expect(readFileSync(file, 'utf8')).toBe('the report');
  });
});
