// The database guarantees that the rows that start a mission are consistent, although they are written with as few keys, indexes and
// triggers as suffice (migrations 20261215_24_batched_starts.sql to 20261215_27_keys_of_starts.sql).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { grantCredits } from '#domain/money/credits/grants.ts';
import { explainWaits } from '#domain/work/runs/waiting.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { type Account, createOwner, createProject } from '../support/callers.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let ada: Account;
let eve: Account;
let projectId: Id<'project'>;
let lotId: string;

beforeAll(async () => {
  world = await openWorld();
  ada = await createOwner(world, 'Ada', 'Acme');
  eve = await createOwner(world, 'Eve', 'Globex');
  projectId = await createProject(world, ada, 'Shop');
  await transaction((trx) => grantCredits(trx, ada.organization.id, { lot: { kind: 'grant' }, credits: 10 }));
  lotId = (await world.knex('credit_lots').where({ orgId: ada.organization.id }).first()).id;
});
afterAll(() => world.close());

const newRun = (changes: object = {}) => ({
  id: newId('run'),
  orgId: ada.organization.id,
  projectId,
  kind: 'manual',
  status: 'dispatching',
  missionTitle: 'Tidy',
  prompt: 'Tidy up.',
  issueId: 'iss_1',
  scheduledFor: 1,
  createdAt: present(),
  updatedAt: present(),
  ...changes,
});
const newIssue = (number: number, changes: object = {}) => ({
  id: newId('issue'),
  orgId: ada.organization.id,
  projectId,
  number,
  key: `SHOP-${number}`,
  title: 'Tidy',
  body: 'Tidy up.',
  labels: [],
  state: 'open',
  createdAt: 1,
  updatedAt: 1,
  ...changes,
});
const codeOf = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => 'written',
    (error) => error.code,
  );

it('a run and an issue belong to the organization of their project, and are deleted with the project', async () => {
  for (const changes of [{ orgId: eve.organization.id }, { projectId: newId('project') }]) {
    expect(await codeOf(world.knex('runs').insert(newRun(changes)))).toBe('23503');
    expect(await codeOf(world.knex('issues').insert(newIssue(100, changes)))).toBe('23503');
  }
  const other = await createProject(world, ada, 'Other');
  const run = newRun({ projectId: other });
  await world.knex('runs').insert(run);
  await world.knex('issues').insert(newIssue(1, { projectId: other, runId: run.id }));
  await world.knex('projects').where({ id: other }).delete();
  expect(await world.knex('runs').where({ projectId: other })).toEqual([]);
  expect(await world.knex('issues').where({ projectId: other })).toEqual([]);
});

it('when one statement inserts several runs and issues, each of them gets its audit event, its search words and its announcement', async () => {
  const runs = [newRun(), newRun({ missionTitle: 'Sweep', issueText: 'Brooms' }), newRun()];
  const issues = runs.map(({ id }, n) => newIssue(n + 200, { runId: id }));
  const before = await world.knex('audit_changes').max('id as id').first();
  await world.knex('runs').insert(runs);
  await world.knex('issues').insert(issues);
  const changes = await world
    .knex('audit_changes')
    .where('id', '>', before?.id ?? 0)
    .orderBy('id');
  expect(changes.map(({ source, before, after }) => [source, before, after.id])).toEqual([
    ...runs.map(({ id }) => ['runs', null, id]),
    ...issues.map(({ id }) => ['issues', null, id]),
  ]);
  expect(changes[0].after).toMatchObject({ status: 'dispatching', mission_title: 'Tidy', project_id: projectId });
  expect(changes[3].after).toMatchObject({ title: 'Tidy', body: 'Tidy up.', key: 'SHOP-200' });
  const texts = await world
    .knex('run_texts')
    .whereIn(
      'runId',
      runs.map(({ id }) => id),
    )
    .orderBy('runId');
  expect(texts.map(({ runId, words, allWords }) => [runId, words.includes("'brooms'"), allWords])).toEqual(
    runs
      .map(({ id }) => id)
      .sort()
      .map((id) => [id, id === runs[1]!.id, null]),
  );
  await explainWaits();
  const reasons = await world
    .knex('runs')
    .whereIn(
      'id',
      runs.map(({ id }) => id),
    )
    .distinct('reason');
  expect(reasons).toEqual([{ reason: expect.stringMatching(/model|harness/) }]);
});

it('the first entry of a ledger account is accepted only once, only if its balance equals its amount, and only if its credit lot belongs to the organization', async () => {
  const write = (entries: object[]) =>
    world.knex.transaction(async (trx) => {
      const id = newId('creditTransfer');
      const ofTransfer = { id, orgId: ada.organization.id, kind: 'reserve', amount: 0, createdAt: 1 };
      await trx('credit_transfers').insert(ofTransfer);
      await trx('credit_entries').insert(entries.map((entry) => ({ transferId: id, ...entry })));
    });
  const taken = { lotId, account: 'available', runId: '', amount: -5 };
  const reserved = { lotId, account: 'reserved', runId: 'run_1', amount: 5, seq: 1, balanceAfter: 5 };
  expect(await codeOf(write([taken, { ...reserved, balanceAfter: 6 }]))).toBe('23514');
  expect(
    await codeOf(
      write([
        { ...taken, lotId: 'lot_1' },
        { ...reserved, lotId: 'lot_1' },
      ]),
    ),
  ).toBe('23514');
  expect(await codeOf(write([taken, reserved]))).toBe('written');
  expect(await codeOf(write([taken, reserved]))).toBe('23505');
  const { seq, balanceAfter, ...computed } = reserved;
  expect(await codeOf(write([taken, { ...computed, seq: 7, balanceAfter: 100 }]))).toBe('written');
  const entries = await world
    .knex('credit_entries')
    .where({ runId: 'run_1' })
    .orderBy('seq')
    .select('seq', 'balanceAfter');
  expect(entries).toEqual([
    { seq, balanceAfter },
    { seq: 2, balanceAfter: 10 },
  ]);
});
