// The effects and the output of the operator’s commands. Some tests execute a command as a separate process while a server runs. The other
// tests call the command’s function in the process of the tests.
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalog, presetScopes, scopePresets, scopesOfRole } from '#access/scopes.ts';
import { missionName } from '#demo/recurring-missions.ts';
import { callerOfServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { costCapUsd, dayOf } from '#domain/work/mission-costs/cap.ts';
import { days } from '#foundation/clock.ts';
import { unseal } from '#foundation/secrets/secrets.ts';
import { metricRetentionMs } from '#limits.ts';
import { helpOfAll, readOptions } from '#surfaces/operator/command.ts';
import { commands } from '#surfaces/operator/commands.ts';
import { fillDemo } from '../../../bench/demo-volume/fill.ts';
import { createOwner, createProject } from '../../support/callers.ts';
import { admin } from '../../support/command-line.ts';
import { databaseUrl } from '../../support/processes.ts';
import { openWorld, present } from '../../support/world.ts';

const world = await openWorld();
const { organization: acme } = await createOwner(world, 'Alice', 'Acme');
afterAll(() => world.close());

const settings = () => ({
  DATABASE_URL: databaseUrl(world.connection),
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  PUBLIC_URL: world.url,
  STORAGE_URL: pathToFileURL(world.contents).href,
});

/** Output of a successful command. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
async function said(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await admin(args, settings());
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('Operator’s commands beside a running server', () => {
  it('the operator’s commands create a person with a working token in an empty database, and print only JSON', async () => {
    const bob = await said('person:create', '--email', 'Bob@Example.com', '--name', 'Bob');
    expect(bob).toEqual({
      id: expect.stringMatching(/^usr_/),
      email: 'bob@example.com',
      name: 'Bob',
      createdAt: expect.any(Number),
      disabledAt: null,
    });
    const builders = await ask('org:create', '--name', 'Builders', '--owner', 'bob@example.com', '--slug', 'builders');
    expect(builders).toEqual({
      id: expect.stringMatching(/^org_/),
      name: 'Builders',
      slug: 'builders',
      formerSlugs: [],
      createdByUserId: bob.id,
      createdAt: expect.any(Number),
      namePending: false,
      closedAt: null,
    });
    const made = await said(
      'token:create',
      '--email',
      'bob@example.com',
      '--org',
      'builders',
      '--scopes',
      'all',
      '--days',
      '365',
    );
    expect(made).toEqual({
      id: expect.stringMatching(/^tok_/),
      name: 'Created by the operator',
      token: expect.stringMatching(/^pat_[\w-]{43}$/),
      scopes: presetScopes('all', scopesOfRole('owner')),
      projectId: null,
      expiresAt: made.createdAt + days(365),
      createdAt: expect.any(Number),
    });
    const me = await world.rest('GET', '/me', { token: made.token });
    expect(me.body).toMatchObject({ principalType: 'user', userId: bob.id, orgId: builders.id, role: 'owner' });
  });

  it('demo:seed creates the demo once, even when two commands run concurrently', async () => {
    const sizes = ['--projects', '30'];
    const [one, two] = await Promise.all([said('demo:seed', ...sizes), said('demo:seed', ...sizes)]);
    expect(one.organization).toEqual(two.organization);
    expect(one.projects.created + two.projects.created).toBe(30);
    const integrations = await world.knex('integrations').where({ orgId: one.organization.id });
    expect(integrations.map(({ vendorKind }) => vendorKind).sort()).toEqual(['llm', 'scm', 'tracker']);
  });

  it('integration:create reads credentials from standard input, stores them sealed, and never prints them', async () => {
    const args = [
      'integration:create',
      '--org',
      'acme',
      '--vendor',
      'linear',
      '--name',
      'Linear',
      '--credentials-stdin',
    ];
    const { code, stdout } = await admin(args, settings(), '  lin_api_hunter2\n');
    expect(code).toBe(0);
    expect(stdout).not.toContain('hunter2');
    const integration = JSON.parse(stdout);
    expect(integration).toEqual({
      brokenSince: null,
      models: [],
      baseUrl: null,
      hasCredentials: true,
      checkedAt: null,
      checkFailure: null,
      pausedUntil: null,
      id: expect.stringMatching(/^int_/),
      orgId: acme.id,
      vendor: 'linear',
      vendorKind: 'tracker',
      externalOrgId: null,
      displayName: 'Linear',
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
    });
    const credentials = async () => {
      const row = await world.knex('integrations').where({ id: integration.id }).first();
      return unseal(`integration:${integration.id}`, row.sealedCredentials);
    };
    expect(await credentials()).toBe('lin_api_hunter2');
    const others = await askWith('lin_api_other', 'integration:credentials', '--id', integration.id);
    expect(others).toMatchObject({ id: integration.id, displayName: 'Linear' });
    expect(await credentials()).toBe('lin_api_other');
    expect(await ask('integration:revoke', '--id', integration.id)).toMatchObject({ hasCredentials: false });
    expect(await ask('integration:delete', '--id', integration.id)).toEqual({ ok: true, id: integration.id });
    const there = ['--org', 'acme', '--vendor', 'openai', '--name', 'Own', '--base-url', 'http://127.0.0.1:9/v1/'];
    const model = await said('integration:create', ...there);
    expect(model).toMatchObject({ vendorKind: 'llm', baseUrl: 'http://127.0.0.1:9/v1' });
    expect(await ask('integration:check', '--id', model.id)).toMatchObject({
      checkFailure: 'The connector has no credentials.',
    });
  });

  it('an operator’s command that fails exits with 1 and one clear message', async () => {
    const outcomes = await Promise.all([
      admin(['person:forget'], settings()),
      admin(['service-token:create', '--name', 'runtime', '--org', 'nobody'], settings()),
    ]);
    expect(outcomes).toEqual([
      { code: 1, stdout: '', stderr: 'There is no command person:forget; help lists the commands.\n' },
      { code: 1, stdout: '', stderr: '--org: no organization has the slug nobody\n' },
    ]);
  });

  it('an operator’s command exits with 1 for invalid settings, an unavailable database or an outdated schema', async () => {
    const seed = ['demo:seed'];
    const [wrong, away, bare] = await Promise.all([
      admin(seed, { ...settings(), PORT: 'x', DATABASE_URL: 'mysql://u:hunter2@db/app' }),
      admin(seed, { ...settings(), DATABASE_URL: 'postgres://u:hunter2@localhost:1/app' }),
      admin(seed, { ...settings(), DATABASE_URL: databaseUrl({ ...world.connection, database: 'postgres' }) }),
    ]);
    expect(wrong.stderr).toContain('PORT: must be an integer 1 to 65535');
    expect(away.stderr).toMatch(/ECONNREFUSED/);
    expect(bare.stderr).toMatch(/^The database lacks \d+ migrations: `node dist\/admin\.js migrate` applies them\.\n$/);
    for (const { code, stdout, stderr } of [wrong, away, bare]) {
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).not.toContain('hunter2');
    }
  });

  it('the help lists every operator’s command', () => {
    for (const name of Object.keys(commands)) expect(helpOfAll(commands)).toContain(`\n  ${name}`);
  });
});

/** A command in this process, with its standard input. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
async function askWith(input: string, name: string, ...args: string[]): Promise<any> {
  const one = commands[name]!;
  return one.run(readOptions(one, args), { readInput: async () => input } as never);
}
const ask = (name: string, ...args: string[]) => askWith('', name, ...args);

describe('Operator’s commands', () => {
  it('person:create · an existing account is shown unchanged', async () => {
    const [carol, again] = [
      await ask('person:create', '--email', 'carol@example.com'),
      await ask('person:create', '--email', 'Carol@example.com', '--name', 'Caroline'),
    ];
    expect(carol).toMatchObject({ email: 'carol@example.com', name: 'carol' });
    expect(again).toEqual(carol);
  });

  it('member:add · the added person gets an account if there is none', async () => {
    const membership = await ask('member:add', '--org', 'acme', '--email', 'dave@example.com', '--role', 'viewer');
    const dave = await ask('person:create', '--email', 'dave@example.com');
    expect(membership).toEqual({
      orgId: acme.id,
      userId: dave.id,
      role: 'viewer',
      createdAt: present(),
      closedAt: null,
    });
    expect(await world.knex('memberships').where({ userId: dave.id })).toEqual([membership]);
  });

  it('token:create · a token can be limited to some scopes, one project and some days', async () => {
    const person = await world.person('Alice');
    const id = await createProject(world, { token: await world.token(person, acme) }, 'Shop');
    const grant = ['--scopes', 'projects:read, mcp:read', '--project', id, '--days', '1', '--name', 'CI'];
    const made = await ask('token:create', '--email', 'alice@example.com', '--org', 'acme', ...grant);
    expect(made).toMatchObject({ name: 'CI', scopes: ['projects:read', 'mcp:read'], projectId: id });
    expect(made.expiresAt).toBe(present() + days(1));
  });

  it('token:create · --scopes accepts a preset, or a list of at most 25 scopes', async () => {
    await world.person('Alice');
    const create = (scopes: string) =>
      ask('token:create', '--email', 'alice@example.com', '--org', 'acme', '--scopes', scopes);
    for (const preset of scopePresets) {
      expect((await create(preset)).scopes).toEqual(presetScopes(preset, scopesOfRole('owner')));
    }
    const many = catalog.slice(0, 26).map(({ scope }) => scope);
    await expect(create(many.join())).rejects.toThrow('scopes: must be at most 25 entries.');
  });

  it('sign-in-link · the printed link is a page of this service', async () => {
    const { url } = await ask('sign-in-link', '--email', 'alice@example.com');
    expect(url).toMatch(new RegExp(`^${world.url}/sign-in/link\\?token=[\\w-]{43}$`));
  });

  it('sign-in-link · an email address without an account is refused, because its link could sign nobody in', async () => {
    await expect(ask('sign-in-link', '--email', 'nobody@example.com')).rejects.toThrow(
      /^--email: nobody has an account with the address nobody@example\.com; person:create creates one$/,
    );
  });

  it('service-token:create and service-token:revoke · a service token is created and revoked', async () => {
    const made = await ask('service-token:create', '--name', 'runtime', '--org', 'acme');
    expect(made).toEqual({
      id: expect.stringMatching(/^svc_/),
      name: 'runtime',
      orgId: acme.id,
      scopes: ['runtime:report'],
      createdAt: present(),
      token: expect.stringMatching(/^srv_/),
    });
    expect(await callerOfServiceToken(made.token)).toMatchObject({ principalType: 'service', orgId: acme.id });
    expect(await ask('service-token:revoke', '--id', made.id)).toEqual({ id: made.id, revokedAt: present() });
    expect(await callerOfServiceToken(made.token)).toBeNull();
  });

  it('migrate and migrate:status · a current database has no pending migrations', async () => {
    const status = await ask('migrate:status');
    expect(status.applied[0]).toBe('20261121_01_people.sql');
    expect(status.pending).toEqual([]);
    expect(await ask('migrate')).toEqual({ applied: [] });
  });

  it('demo:seed · only missing projects are added', async () => {
    const { organization, owner, projects } = await ask('demo:seed', '--projects', '40');
    expect(projects.total).toBe(40);
    expect(await ask('demo:seed', '--projects', '7')).toEqual({
      organization: { id: organization.id, slug: 'demo' },
      owner: { id: owner.id, email: 'demo@example.com' },
      projects: { total: 40, created: 0 },
    });
    const { token } = await ask('token:create', '--email', owner.email, '--org', 'demo', '--scopes', 'projects:read');
    const { body } = await world.rest('GET', '/projects?limit=40', { token });
    expect(body.data).toHaveLength(40);
    const names = body.data.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['Web shop', 'Mobile app', 'Project 40']));
    expect(body.data[0].missingConnectorKinds).toBeUndefined();
  });

  describe('Data for benchmarks', () => {
    let orgId: string;
    let token: string;
    beforeAll(async () => {
      const { organization, owner } = await ask('demo:seed', '--projects', '40');
      orgId = organization.id;
      await world.knex.raw('truncate artifacts, sandboxes, sandbox_metrics, mission_costs, runs cascade');
      const scopes = 'missions:read,sandboxes:read,artifacts:read,scheduled-tasks:read';
      token = (await ask('token:create', '--email', owner.email, '--org', 'demo', '--scopes', scopes)).token;
    });
    const get = async (route: string) => (await world.rest('GET', route, { token })).body;

    it('bench:demo adds only missing records, including ones that were deleted', async () => {
      const first = await fillDemo({ runs: 1_500, sandboxes: 40, artifacts: 60, metrics: 12 });
      expect([first.runs, first.sandboxes, first.artifacts]).toEqual([
        { total: 1_500, created: 1_500 },
        { total: 40, created: 40 },
        { total: 60, created: 60 },
      ]);
      await world.knex.raw('delete from runs where id in (select id from runs order by id limit 7)');
      await world.knex.raw('delete from artifacts where id in (select id from artifacts order by id limit 3)');
      world.clock.turn(days(1));
      const again = await fillDemo({ runs: 2_000, sandboxes: 30, artifacts: 60, metrics: 12 });
      expect([again.runs, again.sandboxes, again.artifacts]).toEqual([
        { total: 2_000, created: 507 },
        { total: 40, created: 0 },
        { total: 60, created: 3 },
      ]);
    });

    it('bench:demo creates only ended runs, and what they cost today stays below the cost cap', async () => {
      const runs = await world.knex('runs').where({ orgId });
      const share = (status: string) => runs.filter((run) => run.status === status).length / runs.length;
      expect(share('completed')).toBeCloseTo(0.9, 1);
      expect(['completed', 'failed', 'skipped', 'canceled'].reduce((sum, status) => sum + share(status), 0)).toBe(1);
      expect(new Set(runs.map(({ projectId }) => projectId)).size).toBe(40);
      for (const { status, createdAt, finishedAt, startedAt, reason, missionProgress } of runs) {
        expect(createdAt).toBeGreaterThan(present() - days(92));
        expect(reason !== null).toBe(status === 'skipped' || status === 'canceled');
        expect(missionProgress === 100).toBe(status === 'completed');
        if (status === 'skipped') expect([startedAt, finishedAt]).toEqual([null, null]);
        else
          expect([createdAt, startedAt, finishedAt, present()]).toEqual(
            [createdAt, startedAt, finishedAt, present()].sort(),
          );
      }
      const costs = await world.knex('mission_costs').where({ orgId });
      const cost = (rows: { usd: number }[]) => rows.reduce((sum, { usd }) => sum + usd, 0);
      const today = cost(costs.filter(({ at }) => at >= dayOf(present())));
      expect(today).toBeLessThan(costCapUsd.default / 2);
      expect(cost(costs)).toBeGreaterThan(cost(runs.map(({ missionCostUsd }) => ({ usd: missionCostUsd }))) - 1e-6);
      // These runs are in addition to the mission that the demo's own runtime executes.
      const tasks = await world
        .knex('recurring_missions')
        .where({ orgId, kind: 'scheduled_task' })
        .whereNot({ name: missionName });
      expect(tasks.map(({ enabled, nextRunAt }) => [enabled, nextRunAt])).toEqual(tasks.map(() => [false, null]));
      const newest = Math.max(
        ...runs.filter(({ recurringId }) => recurringId === tasks[0].id).map((run) => run.createdAt),
      );
      expect(tasks[0].lastRunAt).toBe(newest);
    });

    it('bench:demo creates sandboxes with a session and fragments; recent sandboxes also have samples', async () => {
      const { data } = await get('/sandboxes');
      expect(data).toHaveLength(40);
      for (const { sandboxId, destroyedAt, lastCpuPct, createdAt } of data) {
        const { metrics, sessions, liveFragments } = await get(`/sandboxes/${sandboxId}`);
        expect([sessions.length, liveFragments.length]).toEqual([1, 5]);
        const kept = createdAt > present() - metricRetentionMs;
        expect(metrics).toHaveLength(kept ? 12 : 0);
        if (kept) expect(metrics.at(-1)).toMatchObject({ t: destroyedAt, cpuPct: expect.closeTo(lastCpuPct, 2) });
      }
    });

    it('bench:demo creates artifacts that can be downloaded and match their type', async () => {
      const { data } = await get('/artifacts?limit=60');
      const kinds = new Map<string, Buffer>();
      for (const { kind, url, sizeBytes } of data) {
        const content = Buffer.from(await (await fetch(url)).arrayBuffer());
        expect(content).toHaveLength(sizeBytes);
        kinds.set(kind, content);
      }
      expect([...kinds.keys()].sort()).toEqual(['log', 'report', 'screenshot']);
      expect(kinds.get('screenshot')!.subarray(1, 4).toString()).toBe('PNG');
      expect(kinds.get('log')!.toString()).toContain('npm test');
      expect(data.some(({ sandboxId }: { sandboxId: string | null }) => sandboxId !== null)).toBe(true);
      expect(await world.knex('stored_contents').whereNull('sizeBytes')).toEqual([]);
    });

    it('bench:demo fails if the demo organization has no projects', async () => {
      await world.knex('organizations').where({ id: orgId }).update({ slug: 'demo-once' });
      await expect(fillDemo({ runs: 1, sandboxes: 0, artifacts: 0, metrics: 0 })).rejects.toThrow('has no projects');
      await world.knex('organizations').where({ slug: 'demo' }).delete();
      await world.knex('organizations').where({ id: orgId }).update({ slug: 'demo' });
    });
  });
});
