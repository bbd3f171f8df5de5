// The state of the installation. The people who run the installation can read it on a page of the console, at /status, and with a command. Nobody
// else can read it.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import type { InstallationStatus } from '#domain/lifecycle/installation/status.ts';
import { bindOperators } from '#domain/organization/people/operators.ts';
import { minutes, seconds } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { commands } from '#surfaces/operator/commands.ts';
import { openBrowser } from '../../support/browser.ts';
import { type Callers, createCallers, createProject } from '../../support/callers.ts';
import { createPageInspector } from '../../support/page-inspector.ts';
import { openWorld, type Session, type World } from '../../support/world.ts';

const address = '/console/operations';
let world: World;
let callers: Callers;
let service: string;
let operator: Session;
let runId: string;

beforeAll(async () => {
  world = await openWorld();
  callers = await createCallers(world);
  service = await world.service();
  bindOperators(['ada@example.com']);
  operator = await world.session(await world.person('Ada'));
});
afterAll(async () => {
  bindOperators([]);
  await world.close();
});

async function status(): Promise<InstallationStatus & { version: string }> {
  // The state is cached for three seconds.
  world.clock.turn(seconds(4));
  const { status, body } = await world.request('GET', '/status', { token: service });
  expect(status).toBe(200);
  return body;
}

describe('Access to the state of the installation', () => {
  it('404 · the operations page does not exist for the owner of an organization', async () => {
    const session = await world.session(callers.owner.person, callers.owner.organization.id);
    const page = await world.request('GET', address, { session, headers: { accept: 'text/html' } });
    expect(page.status).toBe(404);
    expect(page.body).not.toContain('Operations');
    const signedOut = await world.request('GET', address);
    expect([signedOut.status, signedOut.headers.get('location')]).toEqual([
      303,
      `/sign-in?return_to=${encodeURIComponent(address)}`,
    ]);
  });

  it('401, 403 · /status needs a service token for all organizations, even from the machine itself', async () => {
    const session = await world.session(callers.owner.person, callers.owner.organization.id);
    const { token: runtime } = await createServiceToken({ name: 'Own', orgId: callers.owner.organization.id });
    expect((await world.request('GET', '/status')).status).toBe(401);
    for (const ask of [{ token: callers.owner.token }, { session }, { session: operator }, { token: runtime }]) {
      const { status, body } = await world.request('GET', '/status', ask);
      expect([status, body.description]).toEqual([
        403,
        'Reading the state of the installation requires a service token for all organizations.',
      ]);
    }
  });
});

describe('State of the installation', () => {
  it('200 · an idle installation needs no attention', async () => {
    const quiet = await status();
    expect(quiet).toMatchObject({ version: '0.0.0', findings: [], unread: {}, waitingRuns: [], failedJobs: [] });
    expect(quiet.queues!.find(({ queue }) => queue === 'mail')).toEqual({
      queue: 'mail',
      waiting: 0,
      due: 0,
      running: 0,
      failed: 0,
      failedLastDay: 0,
      oldestDueSeconds: null,
    });
  });

  it('200 · the state names overdue and failed jobs, missions that wait and why, and open transactions', async () => {
    const { owner } = callers;
    const projectId = await createProject(world, owner, 'Shop');
    const body = { projectId, prompt: 'Say hello.' };
    ({ id: runId } = (await world.rest('POST', '/runs', { token: owner.token, body })).body);
    for (const queue of ['mail', 'a2a push'] as const)
      await transaction((trx) => enqueue(trx, queue, { secret: 'no' }));
    await world.knex.raw(
      `update background.job set start_after = now() - interval '700 seconds' where name = 'a2a push'`,
    );
    await world.knex.raw(
      `update background.job set state = 'failed', completed_on = now(), retry_count = 12 where name = 'mail'`,
    );
    await world.knex('runs').where({ id: runId }).update({ reason: 'No runtime with the harness codex is connected.' });
    world.clock.turn(minutes(12));
    const client = new pg.Client({ ...(world.connection as object), application_name: 'aep/9.9.9 42@host-1' });
    await client.connect();
    await client.query('begin');
    await client.query(`select 'pat_${'s'.repeat(43)}'`);
    await client.query(`set local idle_in_transaction_session_timeout = 0`);
    try {
      const found = await status();
      expect(found.findings).toEqual([
        'Jobs of the queue "a2a push" are not started: the oldest has been due for 11 min.',
        '1 job of the queue "mail" failed permanently within the last day.',
        '1 mission waits for a runtime, the oldest for 12 min; none is connected.',
      ]);
      expect(found.waitingRuns).toEqual([
        {
          waitsFor: 'a runtime',
          reason: 'No runtime with the harness codex is connected.',
          runs: 1,
          organizations: 1,
          since: expect.any(Number),
          oldestRunId: runId,
          organization: 'acme',
        },
      ]);
      expect(found.failedJobs).toEqual([
        { queue: 'mail', id: expect.any(String), tries: 13, failedSecondsAgo: expect.any(Number) },
      ]);
      expect(found.runtimes).toMatchObject([{ name: 'known runtime', organization: null, isConnected: false }]);
      expect(found.clients).toContainEqual(
        expect.objectContaining({ version: '9.9.9', process: '42@host-1', connections: 1, active: 1 }),
      );
      expect(found.migrations).toMatchObject({ pending: [], applied: expect.any(Number) });
      expect(found.tables!.tables).toHaveLength(20);
      expect(found.tables!.tables[0]).toMatchObject({ bytes: expect.any(Number), rows: expect.any(Number) });
      expect(found.replicas).toEqual([]);
      expect(JSON.stringify(found)).not.toContain('"no"');
    } finally {
      await client.end();
    }
  });

  it('200 · a part of the state that cannot be read within a second is left out, and all others are present', async () => {
    const lock = await world.knex.transaction();
    await lock.raw('lock table runs in access exclusive mode');
    try {
      const found = await status();
      expect(found.waitingRuns).toBeNull();
      expect(Object.keys(found.unread)).toEqual(['waitingRuns', 'tables']);
      expect(found.runtimes).toHaveLength(1);
    } finally {
      await lock.rollback();
    }
  });

  it('the state of the installation is also printed by the operator’s command', async () => {
    const { version: _, ...told } = await status();
    expect(await commands.status!.run({} as never, {} as never)).toEqual(told);
  });
});

const launched = await openBrowser();
describe.skipIf(typeof launched === 'string')('Operations in a browser', () => {
  it('the operations page shows what needs attention, on a desktop and on a phone', async () => {
    if (typeof launched === 'string') return;
    const pages = createPageInspector(launched, world.url);
    const page = await pages.open(operator);
    await page.goto('/console/account');
    await page.getByRole('link', { name: 'Operations' }).click();
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
    await page.getByRole('row', { name: /a2a push/ }).waitFor();
    await page.getByRole('cell', { name: runId }).waitFor();
    await pages.inspect(page, 'operations');
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
});
