// Retention of organizations: logs, artifacts and sandboxes of ended missions are deleted after their retention period, and nothing else is.
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deleteAfterRetention } from '#domain/lifecycle/retention/delete.ts';
import { sweepArtifacts } from '#domain/work/artifacts/content.ts';
import { archiveLogs, bindLogArchives } from '#domain/work/log-archives/archive.ts';
import { indexRunTexts } from '#domain/work/runs/search.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { type Callers, createMember } from '../support/callers.ts';
import {
  all,
  type EndedMission,
  endMission,
  keptRecords,
  left,
  nothing,
  withoutLogs,
  writeMission,
} from '../support/ended-missions.ts';
import { openRetentionWorld, type RetentionWorld } from '../support/retention-world.ts';
import type { Place } from '../support/runtime-records.ts';
import { present, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

let world: World;
let callers: Callers;
let shop: Place;
let other: Place;
let ask: RetentionWorld['ask'];
let tokenOf: RetentionWorld['tokenOf'];

beforeAll(async () => {
  ({ world, callers, shop, other, ask, tokenOf } = await openRetentionWorld());
});
afterAll(() => world.close());

const set = async (values: string, account = callers.owner) =>
  world.graphql(
    `mutation { setRetentionSettings(${values}) { runDays logDays artifactDays sandboxDays } }`,
    await tokenOf(account),
  );

const logOf = async ({ sandboxId, sessionId }: EndedMission, account = callers.owner): Promise<Json> =>
  world.rest('GET', `/sandboxes/${sandboxId}/logs?role=builder&sessionId=${sessionId}`, await tokenOf(account));

async function archive(): Promise<void> {
  world.clock.turn(minutes(2));
  await indexRunTexts();
  bindLogArchives(minutes(1));
  await archiveLogs();
  bindLogArchives(0);
}

it('only an owner can set the retention period of each kind of record, in days', async () => {
  const read = '{ retentionSettings { runDays logDays artifactDays sandboxDays } }';
  expect(await ask(read)).toEqual({ runDays: null, logDays: null, artifactDays: null, sandboxDays: null });
  const admin = await createMember(world, callers.owner.organization, 'Bob', 'admin');
  expect((await set('logDays: 30', admin)).body.errors[0].extensions.code).toBe('forbidden');
  for (const [wrong, field] of [
    ['runDays: 13', 'runDays'],
    ['logDays: 13', 'logDays'],
    ['artifactDays: 91', 'artifactDays'],
    ['sandboxDays: 3651', 'sandboxDays'],
  ])
    expect(JSON.stringify((await set(wrong!)).body.errors)).toContain(field);
  expect(await ask(read)).toEqual({ runDays: null, logDays: null, artifactDays: null, sandboxDays: null });
  expect((await set('logDays: 20, artifactDays: 40, sandboxDays: 60')).body.data.setRetentionSettings).toEqual(
    await ask(read),
  );
  expect(await ask(read, callers.stranger)).toEqual({
    runDays: null,
    logDays: null,
    artifactDays: null,
    sandboxDays: null,
  });
});

it('two concurrent jobs delete each kind of record after its retention period; the run, its cost and its attestations stay', async () => {
  const mission = await writeMission(world, shop);
  const ended = present();
  const foreign = await writeMission(world, other);
  await archive();
  // The logs of this mission are still in the database.
  const unarchived = await writeMission(world, shop);
  const before = await keptRecords(world, mission);
  const missions = [mission, unarchived];
  const job = () => Promise.all([deleteAfterRetention(), deleteAfterRetention()]);
  const expectAll = async (expected: Json) => {
    for (const one of missions) expect(await left(world, one)).toEqual(expected);
    expect(await left(world, foreign)).toEqual(all);
  };

  world.clock.turn(days(20) - minutes(3));
  await job();
  await expectAll(all);
  expect((await logOf(mission)).body).toMatchObject({ content: 'tulips\n', deletedAt: null });
  world.clock.turn(hours(1));
  await job();
  await expectAll(withoutLogs);
  const deletedAt = present();
  for (const one of missions) {
    expect((await logOf(one)).body).toMatchObject({ content: '', bytes: 0, deletedAt });
    const query = `{ sandbox(sandboxId: "${one.sandboxId}") { sandbox { logsDeletedAt } liveFragments { body } } }`;
    expect(await ask(query)).toEqual({ sandbox: { logsDeletedAt: deletedAt }, liveFragments: [] });
  }
  expect((await logOf(foreign, callers.stranger)).body).toMatchObject({ content: 'tulips\n', deletedAt: null });
  expect(await world.knex('unarchived_runs').where({ orgId: shop.orgId })).toEqual([]);

  world.clock.turn(ended + days(40) - 1 - present());
  await job();
  await expectAll(withoutLogs);
  world.clock.turn(hours(1));
  await job();
  await expectAll({ ...withoutLogs, artifacts: 0, checkpoints: 0 });

  world.clock.turn(ended + days(60) - 1 - present());
  await job();
  await expectAll({ ...withoutLogs, artifacts: 0, checkpoints: 0 });
  world.clock.turn(hours(1));
  await job();
  await expectAll(nothing);
  expect(await keptRecords(world, mission)).toEqual(before);
  expect((await logOf(mission)).status).toBe(404);
  expect(before.costs).toHaveLength(1);
  expect(before.attestations).toHaveLength(1);

  // The contents of artifacts and archives are removed by the sweep; those of the other organization remain.
  await sweepArtifacts();
  const files = readdirSync(world.contents, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const archives = await world.knex('log_archives');
  const used = [...(await world.knex('artifacts')), ...archives].map(({ contentKey }) => contentKey);
  expect(files.map(({ name }) => name).sort()).toEqual(used.sort());
  expect(archives).toMatchObject([{ runId: foreign.runId }]);
});

it('missions that are open, wait for a choice or have an open pull request keep their sandboxes and artifacts', async () => {
  await set('logDays: 14, artifactDays: 14, sandboxDays: 14');
  const open = await writeMission(world, shop, { isOpen: true });
  const attempt = await writeMission(world, shop, { attemptState: 'open' });
  const proposed = await writeMission(world, shop, { prState: 'open', prNumber: 7 });
  const source = await writeMission(world, shop);
  const next = await writeMission(world, shop, { isOpen: true, continuesStepId: source.stepId });
  world.clock.turn(days(50));
  await deleteAfterRetention();
  expect(await left(world, open)).toEqual(all);
  expect(await left(world, next)).toEqual(all);
  expect(await left(world, attempt)).toEqual(withoutLogs);
  expect(await left(world, proposed)).toEqual(withoutLogs);
  expect(await left(world, source)).toEqual({ ...nothing, checkpoints: 1 });

  await world.knex('runs').where({ id: attempt.runId }).update({ attemptState: 'closed' });
  await world.knex('runs').where({ id: proposed.runId }).update({ prState: 'merged' });
  for (const { runId } of [open, next]) await endMission(world, runId);
  await deleteAfterRetention();
  for (const one of [attempt, proposed, source]) expect(await left(world, one)).toEqual(nothing);
  for (const one of [open, next]) expect(await left(world, one)).toEqual(all);
  await set('logDays: null');
  world.clock.turn(days(20));
  await deleteAfterRetention();
  expect(await left(world, open)).toEqual(all);
});
