// GraphQL subscriptions from the reader’s view: the events of runs and sandboxes, even across processes, and in a browser.
import { once } from 'node:events';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { days, hours, minutes, seconds } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { graphql, previewSizes } from '#limits.ts';
import { schema } from '#schema.ts';
import { toolsOf } from '#surfaces/mcp/tools.ts';
import { openBrowser } from '../../support/browser.ts';
import { freePort, type ServiceProcess, startService } from '../../support/processes.ts';
import { measure, showFragments } from '../../support/runtime-records.ts';
import { bearer, complete, onRun, onSandbox, openSubscriptionWorld, until } from '../../support/subscription-world.ts';
import { type Ask, present } from '../../support/world.ts';

const {
  world,
  owner,
  acme,
  alice,
  runtime,
  projectId,
  subscribe,
  runNow,
  taken,
  progress,
  working,
  close,
  reset,
  check,
} = await openSubscriptionWorld();
afterAll(close);
beforeEach(reset);
afterEach(check);

type Place = Awaited<ReturnType<typeof working>>['place'];
const thoughts = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `thought ${from + i}`);
const think = (place: Place, from: number, to: number) =>
  runtime.report(
    'appendFragments',
    {
      ...place,
      seq: from,
      fragments: thoughts(from, to).map((body) => ({ kind: 'thought', t: present(), body, items: [] })),
    },
    '{ nextSeq }',
  );

describe('Subscriptions to a run', () => {
  it('a subscribed run is sent at once, then after each change, and the subscription completes when the run ends', async () => {
    const runId = await runNow();
    const reading = await subscribe(onRun, { runId });
    expect(reading.status).toBe(200);
    expect(Object.fromEntries(reading.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    expect(reading.headers.has('content-encoding')).toBe(false);
    expect(await reading.next()).toEqual({
      name: 'next',
      data: {
        data: { runUpdated: { status: 'dispatching', missionActivity: null } },
        extensions: { cost: { requested: 3, maximum: graphql.cost } },
      },
    });
    const held = await runtime.claim();
    expect(await reading.news()).toEqual({ status: 'running', missionActivity: null });
    await progress(held, 'Reading');
    expect(await reading.news()).toEqual({ status: 'running', missionActivity: 'Reading' });
    await runtime.finish(held);
    expect(await reading.news()).toEqual({ status: 'completed', missionActivity: 'Reading' });
    expect([await reading.next(), await reading.next()]).toEqual([complete, undefined]);
  });

  it('a subscription to a run that has ended sends the run once, and completes', async () => {
    const held = await taken();
    await runtime.finish(held, { status: 'failed', error: 'no' });
    const reading = await subscribe(onRun, { runId: held.runId });
    expect(await reading.news()).toEqual({ status: 'failed', missionActivity: null });
    expect([await reading.next(), await reading.next()]).toEqual([complete, undefined]);
  });

  it('each event of a subscribed run has its current state and that of its related records', async () => {
    const held = await taken();
    const reading = await subscribe(
      'subscription ($runId: String!) { runUpdated(runId: $runId) { sandboxes { status } project { name } } }',
      held,
    );
    const project = { name: 'Shop' };
    expect(await reading.news()).toEqual({ sandboxes: [], project });
    const sandboxId = await runtime.register(held);
    expect(await reading.news()).toEqual({ sandboxes: [{ status: 'running' }], project });
    await world.rest('POST', `/sandboxes/${sandboxId}/kill`, { token: alice });
    expect(await reading.news()).toEqual({ sandboxes: [{ status: 'destroyed' }], project });
  });

  it('a subscribed run is sent as canceled when its mission is deleted', async () => {
    const schedule = { interval: 'weekly', weekday: 'monday', time: '09:00', timezone: 'UTC' };
    const body = { projectId, name: 'Gone', prompt: 'x', triggers: [{ kind: 'schedule', schedule }] };
    const { id } = (await world.rest('POST', '/scheduled-tasks', { token: alice, body })).body;
    const { runId } = (await world.rest('POST', `/scheduled-tasks/${id}/run`, { token: alice })).body;
    const reading = await subscribe(onRun, { runId });
    expect((await reading.news()).status).toBe('dispatching');
    await world.rest('DELETE', `/scheduled-tasks/${id}`, { token: alice });
    expect((await reading.news()).status).toBe('canceled');
    expect(await reading.next()).toEqual(complete);
  });

  it('a subscribed run is not sent after a change that was rolled back', async () => {
    const held = await taken();
    const reading = await subscribe(onRun, held);
    await reading.news();
    const undone = transaction(async (trx) => {
      await trx('runs').where({ id: held.runId }).update({ missionActivity: 'never' });
      await announce(trx, held.runId);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await progress(held, 'really');
    expect((await reading.news()).missionActivity).toBe('really');
  });

  it('a subscription to a run loses no change when the database connection that listens for changes is cut', async () => {
    const held = await taken();
    const reading = await subscribe(onRun, held);
    await reading.news();
    const listeners = `from pg_stat_activity where query = 'listen changes' and datname = current_database()`;
    expect(await sql(`select pg_terminate_backend(pid) ${listeners}`)).toHaveLength(1);
    await progress(held, 'unheard');
    // After the reconnection all readers read again, so an unchanged state is sent once more.
    expect((await reading.news()).missionActivity).toBe('unheard');
    await until(async () => (await sql(`select ${listeners}`)).length === 1);
    await progress(held, 'heard');
    expect((await reading.news()).missionActivity).toBe('heard');
  });
});

describe('Subscriptions to a sandbox', () => {
  it('a subscription to a sandbox sends each fragment and each sample once, and completes when the sandbox is killed', async () => {
    const { place, sandboxId } = await working();
    await think(place, 0, 2);
    const beat = (...t: number[]) => {
      const metrics = t.map((at) => ({ t: at, cpuPct: 50, memUsedMb: 1, memTotalMb: 2, diskUsedPct: 3 }));
      return runtime.report(
        'heartbeat',
        { runs: [], sandboxes: [{ ...place, metrics }], environments: [] },
        '{ sandboxes { desired } }',
      );
    };
    const start = present() - minutes(1);
    await beat(start, start + 1_000);
    const sandbox = { status: 'running' };
    const points = (...t: number[]) => t.map((at) => ({ t: at, cpuPct: 50 }));
    const reading = await subscribe(onSandbox, { sandboxId });
    expect(await reading.news()).toEqual({
      sandbox,
      fragments: [{ body: 'thought 0' }, { body: 'thought 1' }],
      nextFragment: 2,
      metrics: points(start, start + 1_000),
    });
    await think(place, 2, 3);
    expect(await reading.news()).toEqual({ sandbox, fragments: [{ body: 'thought 2' }], nextFragment: 3, metrics: [] });
    await beat(start + 1_000, start + 2_000, start + 3_000);
    expect(await reading.news()).toEqual({
      sandbox,
      fragments: [],
      nextFragment: 3,
      metrics: points(start + 2_000, start + 3_000),
    });
    await world.rest('POST', `/sandboxes/${sandboxId}/kill`, { token: alice });
    expect(await reading.news()).toEqual({
      sandbox: { status: 'destroyed' },
      fragments: [],
      nextFragment: 3,
      metrics: [],
    });
    expect([await reading.next(), await reading.next()]).toEqual([complete, undefined]);
  });

  it('a subscriber that resumes at the next fragment number gets each later fragment once', async () => {
    const { place, sandboxId } = await working();
    const heard: string[] = [];
    let after: number | null = null;
    for (let visit = 0; visit < 4; visit++) {
      const reading = await subscribe(onSandbox, { sandboxId, after });
      for (let event = 0; event < 2; event++) {
        if (event > 0) await think(place, after!, after! + 3);
        const { fragments, nextFragment } = await reading.news();
        heard.push(...fragments.map(({ body }: { body: string }) => body));
        after = nextFragment;
      }
      reading.leave();
      await think(place, after!, after! + 2);
    }
    expect(heard).toEqual(thoughts(0, 18));
  });

  it('a subscription to a sandbox sends the last 200 fragments; a subscription with `after` sends all fragments from that number on, 200 at a time', async () => {
    const { sandboxId } = await working();
    const many = 2 * previewSizes.fragments + 50;
    await showFragments(
      { id: sandboxId } as never,
      thoughts(0, many).map((body) => ({ body })),
    );
    await measure({ id: sandboxId as never }, present() - hours(1), 1_000, Array(2 * previewSizes.metrics).fill(10));
    const bodies = ({ fragments }: { fragments: { body: string }[] }) => fragments.map(({ body }) => body);

    const last = await (await subscribe(onSandbox, { sandboxId })).news();
    expect([bodies(last), last.nextFragment, last.metrics.length]).toEqual([
      thoughts(many - previewSizes.fragments, many),
      many,
      previewSizes.metrics,
    ]);
    const reading = await subscribe(onSandbox, { sandboxId, after: 0 });
    const all = [await reading.news(), await reading.news(), await reading.news()];
    expect(all.map(bodies)).toEqual([thoughts(0, 200), thoughts(200, 400), thoughts(400, many)]);
    expect(all.map(({ metrics }) => metrics.length)).toEqual([previewSizes.metrics, 0, 0]);
    const ahead = await (await subscribe(onSandbox, { sandboxId, after: many + 5 })).news();
    expect([ahead.fragments, ahead.nextFragment]).toEqual([[], many + 5]);
  });

  it('a sandbox that ends before its subscriber has read everything is still sent completely', async () => {
    const { place, sandboxId } = await working();
    await showFragments(
      { id: sandboxId } as never,
      thoughts(0, 450).map((body) => ({ body })),
    );
    await runtime.report('finishSandbox', { ...place, status: 'completed' });
    const reading = await subscribe(onSandbox, { sandboxId, after: 0 });
    const sizes = [await reading.news(), await reading.news(), await reading.news()].map(
      ({ fragments }) => fragments.length,
    );
    expect([sizes, await reading.next()]).toEqual([[200, 200, 50], complete]);
  });
});

it('REST and MCP have no subscriptions', async () => {
  const document = JSON.stringify(world.contract.document);
  for (const name of ['runUpdated', 'sandboxUpdated', 'SandboxUpdate', '"/webhook"']) {
    expect([name, document.includes(name)]).toEqual([name, false]);
  }
  for (const path of ['/v1/webhook', '/v1/run-updated', '/v1/sandbox-updated', '/webhook']) {
    expect([path, (await world.request('POST', path, { token: alice, body: {} })).status]).toEqual([path, 404]);
  }
  expect([...toolsOf(schema).keys()].filter((name) => /updated/.test(name))).toEqual([]);
});

describe('Subscriptions over two processes', () => {
  let service: ServiceProcess;
  let there: { url: string; request: (method: string, path: string, ask: Ask) => Promise<Response> };

  beforeAll(async () => {
    // The process uses the real clock, not the test's.
    await world.knex('tokens').update({ expiresAt: Date.now() + days(30) });
    service = startService(world.connection, await freePort());
    await service.ready;
    const { url } = service;
    there = {
      url,
      request: (method, path, { token }) => fetch(url + path, { method, headers: bearer(token!) }),
    };
  });
  afterAll(() => service.process.kill('SIGKILL'));

  it('subscriptions in two processes both receive each change, whichever process made it', async () => {
    const { held, place, sandboxId } = await working();
    const afar = await subscribe(onSandbox, { sandboxId }, bearer(alice), there.url);
    const here = await subscribe(onSandbox, { sandboxId });
    await Promise.all([afar.news(), here.news()]);
    await think(place, 0, 1);
    for (const reading of [afar, here]) expect((await reading.news()).fragments).toEqual([{ body: 'thought 0' }]);
    const query = 'subscription ($runId: String!) { runUpdated(runId: $runId) { sandboxes { status } } }';
    const run = await subscribe(query, held);
    expect(await run.news()).toEqual({ sandboxes: [{ status: 'running' }] });
    expect((await there.request('POST', `/v1/sandboxes/${sandboxId}/kill`, { token: alice })).status).toBe(200);
    for (const reading of [afar, here]) {
      expect((await reading.news()).sandbox.status).toBe('destroyed');
      expect(await reading.next()).toEqual(complete);
    }
    expect(await run.news()).toEqual({ sandboxes: [{ status: 'destroyed' }] });
  });

  it('subscriptions complete when their process is stopped, and the process exits at once', async () => {
    const reading = await subscribe(onRun, await taken(), bearer(alice), there.url);
    await reading.news();
    const began = performance.now();
    const gone = once(service.process, 'exit');
    service.process.kill('SIGTERM');
    expect([await reading.next(), await reading.next()]).toEqual([complete, undefined]);
    expect(await gone).toEqual([0, null]);
    // The shutdown does not wait for the ten seconds after which connections are cut.
    expect(performance.now() - began).toBeLessThan(seconds(9));
  });
});

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The test in a browser is skipped: ${launched}.`);

it.skipIf(typeof launched === 'string')(
  'pages of the console subscribe by EventSource with the console’s cookie; pages of another site cannot',
  async () => {
    const context = await (launched as Browser).newContext();
    try {
      const held = await taken();
      const session = await world.session(owner, acme.id);
      await context.addCookies([{ name: 'session', value: session.secret, url: world.url }]);
      const page = await context.newPage();
      await page.goto(`${world.url}/livez`);
      const variables = JSON.stringify({ runId: held.runId });
      const address = `${world.url}/graphql?${new URLSearchParams({ query: onRun, variables })}`;
      const told: unknown[] = [];
      await page.exposeFunction('told', (one: unknown) => void told.push(one));
      await page.evaluate((from) => {
        const tell = (globalThis as never as { told(one: unknown): void }).told;
        const source = new EventSource(from);
        source.addEventListener('next', ({ data }) => tell(JSON.parse(data).data.runUpdated));
        source.addEventListener('complete', () => {
          source.close();
          tell('complete');
        });
        source.addEventListener('error', () => tell('error'));
      }, address);
      await until(() => told.length === 1);
      await progress(held, 'in a browser');
      await until(() => told.length === 2);
      await runtime.finish(held);
      await until(() => told.length === 4);
      const activity = { missionActivity: 'in a browser' };
      expect(told).toEqual([
        { status: 'running', missionActivity: null },
        { status: 'running', ...activity },
        { status: 'completed', ...activity },
        'complete',
      ]);
      const elsewhere = await fetch(address, {
        headers: { cookie: `session=${session.secret}`, accept: 'text/event-stream', 'sec-fetch-site': 'cross-site' },
      });
      expect(elsewhere.status).toBe(401);
    } finally {
      await context.close();
    }
  },
);
