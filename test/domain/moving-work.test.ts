// The service's own work while Acme moves to another cell: nothing of Acme is changed, and Globex does not wait for it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { settleMissions } from '#domain/lifecycle/billing-summary/settle.ts';
import { guardTables, unguardTables } from '#domain/organization/cells/guard.ts';
import { sweepArtifacts } from '#domain/work/artifacts/content.ts';
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { dispatching } from '#domain/work/runs/dispatch.ts';
import { releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { days, now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { asService } from '#foundation/postgres/origin.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage, storage } from '#foundation/storage/storage.ts';
import { type Account, createCallers, createProject } from '../support/callers.ts';
import { keepRows } from '../support/database-rows.ts';
import { readTree } from '../support/layering-rules.ts';
import { createRuntime } from '../support/runtime-client.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let acme: Place;
let globex: Place;
let restore: () => Promise<void>;
const folder = mkdtempSync(path.join(tmpdir(), 'aep-moving-'));

interface Place {
  account: Account;
  orgId: string;
  projectId: string;
  taskId: string;
}

beforeAll(async () => {
  world = await openWorld();
  const { owner, stranger } = await createCallers(world);
  acme = await place(owner, 'Shop');
  globex = await place(stranger, 'Till');
  openStorage(folderStorage(folder));
  restore = await keepRows(world.knex);
  await guardTables();
});
beforeEach(() => restore());
afterAll(async () => {
  await unguardTables(async () => false);
  await world.close();
  rmSync(folder, { recursive: true });
});

async function place(account: Account, name: string): Promise<Place> {
  const projectId = await createProject(world, account, name);
  const triggers = [{ kind: 'schedule', schedule: { interval: 'daily', time: '12:00', timezone: 'UTC' } }];
  const body = { projectId, name: 'Check', prompt: 'Check.', triggers };
  const task = await world.rest('POST', '/scheduled-tasks', { token: account.token, body });
  return { account, orgId: account.organization.id, projectId, taskId: task.body.id };
}

const freeze = () =>
  world.knex('cell_organizations').insert({
    ...{ orgId: acme.orgId, slug: 'acme', state: 'frozen', otherCell: 'us', moveId: 'cnt_1', changedAt: now() },
  });
const scheduled = (work: () => Promise<unknown>) => asService('system', 'scheduler', 'test', work);
const runsOf = ({ orgId }: Place) => world.knex('runs').where({ orgId }).orderBy('id');

/** Inserts runs that have ended, or whose runtime has stopped sending heartbeats. */
async function insertRuns({ orgId, projectId }: Place, ids: string[], more: object): Promise<void> {
  const times = { scheduledFor: 1, createdAt: 1, updatedAt: 1, startedAt: 1 };
  const row = { orgId, projectId, kind: 'manual', missionTitle: 'Check', ...times, ...more };
  await world
    .knex('runs')
    .insert(ids.map((id) => ({ id, ...row, leaseId: 'leaseUntil' in more ? id : null, issueId: 'ACME-1' })));
}

it('due missions of other organizations start, however many missions are due in an organization that is moving', async () => {
  await world.knex.raw(
    `insert into recurring_missions select (jsonb_populate_record(m, jsonb_build_object('id', 'sch_' || md5(n::text)))).*
     from recurring_missions m, generate_series(1, ?) n where m.id = ?`,
    [dispatching.batchSize, acme.taskId],
  );
  await world.knex('recurring_missions').update({ nextRunAt: 2 });
  await world.knex('recurring_missions').where({ orgId: acme.orgId }).update({ nextRunAt: 1 });
  await freeze();
  await scheduled(dispatchDue);
  expect([(await runsOf(acme)).length, (await runsOf(globex)).length]).toEqual([0, 1]);
});

it('silent runs of other organizations are released, however many silent runs a moving organization has', async () => {
  const ids = Array.from({ length: 100 }, () => newId('run'));
  await insertRuns(acme, ids, { status: 'running', leaseUntil: 1 });
  const own = newId('run');
  await insertRuns(globex, [own], { status: 'running', leaseUntil: 2 });
  await freeze();
  await scheduled(releaseSilentRuns);
  expect((await runsOf(acme)).every(({ leaseUntil }) => leaseUntil === 1)).toBe(true);
  expect((await runsOf(globex)).map(({ leaseUntil }) => leaseUntil)).toEqual([null]);
});

it('missions of other organizations are settled while one organization is moving', async () => {
  await insertRuns(acme, [`run_${'0'.repeat(32)}`], { status: 'completed', finishedAt: 1 });
  await insertRuns(globex, [`run_${'f'.repeat(32)}`], { status: 'completed', finishedAt: 1 });
  const review = (runId: string, { orgId }: Place) => ({ runId, orgId, isOver: true });
  await world
    .knex('credit_reviews')
    .insert([review(`run_${'0'.repeat(32)}`, acme), review(`run_${'f'.repeat(32)}`, globex)])
    .onConflict()
    .ignore();
  await freeze();
  await scheduled(settleMissions);
  expect(await world.knex('credit_reviews').select('orgId')).toEqual([{ orgId: acme.orgId }]);
});

it('a shared runtime gets no mission of an organization that is moving', async () => {
  const start = ({ account: { token }, taskId }: Place) =>
    world.rest('POST', `/scheduled-tasks/${taskId}/run`, { token });
  await start(acme);
  const { runId } = (await start(globex)).body;
  const runtime = await createRuntime(world);
  await freeze();
  expect(await runtime.claim()).toMatchObject({ runId });
  expect(await runtime.claim()).toBe(null);
});

it('the sweep deletes the unused stored contents of organizations, except those of an organization that is moving', async () => {
  const keys = Array.from({ length: 100 }, () => newId('content'));
  const createdAt = now() - days(2);
  await storage().write(
    keys[0]!,
    (async function* () {
      yield Buffer.from('kept');
    })(),
    4,
  );
  await world.knex('stored_contents').insert(keys.map((key) => ({ key, orgId: acme.orgId, createdAt, sizeBytes: 4 })));
  await world.knex('stored_contents').insert({ key: newId('content'), orgId: globex.orgId, createdAt: createdAt + 1 });
  await freeze();
  await scheduled(sweepArtifacts);
  expect(await world.knex('stored_contents').distinct('orgId')).toEqual([{ orgId: acme.orgId }]);
  expect(await storage().read(keys[0]!)).not.toBe(null);
});

it('periodic work leaves out rows of an organization that is moving; background jobs about them fail and are repeated', async () => {
  await freeze();
  const rename = (surface: string) =>
    asService('system', surface, 'test', () =>
      transaction((trx) => trx('organizations').where({ id: acme.orgId }).update({ name: 'Renamed' })),
    );
  expect(await rename('scheduler')).toBe(0);
  await expect(rename('background')).rejects.toThrow('the organization is moving');
});

/**
 * Files whose statements may claim a limited number of rows without skipping organizations that are moving. Each of these statements claims
 * only rows of one organization, only rows without an organization, or a fair share of the rows of each organization.
 */
const ofOneOrganization = [
  'src/domain/lifecycle/audit/stream/delivery.ts',
  'src/domain/lifecycle/webhooks/deliver.ts',
  'src/domain/work/artifacts/retention.ts',
  'src/domain/work/runs/branch.ts',
  'src/domain/work/sandboxes/retention.ts',
];

it('statements that claim a limited number of rows skip organizations that are moving', () => {
  const tree = readTree(new URL('../..', import.meta.url).pathname, ['src/domain', 'src/foundation']);
  const taking = Object.entries(tree).flatMap(([file, text]) =>
    [...text.matchAll(/`(?:\$\{[^}]*\}|[^`])*`/g)]
      .map(([statement]) => statement)
      .filter((statement) => /skip locked/.test(statement) && /\blimit\b/.test(statement))
      .filter((statement) => !/isWritable|isStaying|claimable/.test(statement))
      .map(() => file),
  );
  expect(taking.sort()).toEqual(ofOneOrganization);
});
