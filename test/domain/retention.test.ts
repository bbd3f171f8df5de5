// Retention of organizations: logs, artifacts and sandboxes of ended missions are deleted after their time, and nothing else is.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Checkpoint } from '#domain/execution/checkpoints/model.ts';
import { deleteAfterRetention } from '#domain/lifecycle/retention/delete.ts';
import { sweepArtifacts } from '#domain/work/artifacts/content.ts';
import { ChangeVersion } from '#domain/work/change-versions/model.ts';
import { archiveLogs, bindLogArchives } from '#domain/work/log-archives/archive.ts';
import { indexRunTexts } from '#domain/work/runs/search.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { type Account, type Callers, createCallers, createMember, createProject } from '../support/callers.ts';
import {
  leaveArtifact,
  type Place,
  showFragments,
  spend,
  startSandbox,
  startSession,
  writeLog,
  writeSteps,
} from '../support/runtime-records.ts';
import { openWorld, present, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const folder = mkdtempSync(path.join(tmpdir(), 'aep-retention-'));
let world: World;
let callers: Callers;
let shop: Place;
let other: Place;

beforeAll(async () => {
  world = await openWorld();
  openStorage(folderStorage(folder));
  callers = await createCallers(world);
  const { owner, stranger } = callers;
  shop = { orgId: owner.organization.id, projectId: await createProject(world, owner, 'Shop') };
  other = { orgId: stranger.organization.id, projectId: await createProject(world, stranger, 'Other') };
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

/** Tokens expire while the clock is turned, so each call has a new one. */
const tokenOf = async ({ person, organization }: Account) => ({ token: await world.token(person, organization) });
const ask = async (query: string, account = callers.owner): Promise<Json> => world.field(query, await tokenOf(account));
const set = async (values: string, account = callers.owner) =>
  world.graphql(
    `mutation { setRetentionSettings(${values}) { logDays artifactDays sandboxDays } }`,
    await tokenOf(account),
  );

interface Mission {
  runId: `run_${string}`;
  stepId: `stp_${string}`;
  sandboxId: string;
  sessionId: string;
  artifactId: string;
  checkpointId: string;
}

/** A mission with a log, a fragment, two artifacts, one of a checkpoint, a cost and an attestation; it ends now unless it stays open. */
async function writeMission(place: Place, { isOpen = false, ...more }: Json = {}): Promise<Mission> {
  const [runId, at, sha] = [newId('run'), present(), newId('content')];
  const described = { kind: 'manual', missionTitle: 'Grow', prompt: 'Go.', issueId: 'SHOP-1', missionCostUsd: 2 };
  const times = { scheduledFor: at, createdAt: at, updatedAt: at, startedAt: at };
  await world.knex('runs').insert({ id: runId, ...place, ...described, status: 'dispatching', ...times, ...more });
  const sandbox = await startSandbox(place, { runId });
  const session = await startSession(sandbox);
  await writeLog(session, 'session', ['tulips\n']);
  await showFragments(sandbox, [{ body: 'I plant tulips.' }]);
  await writeSteps(place, runId, [{ sandboxId: sandbox.id }]);
  const { id: stepId } = await world.knex('run_steps').where({ runId }).first();
  const artifact = await leaveArtifact(place, 'proof', { sandboxId: sandbox.id });
  // Commits of people have no sandbox.
  const saved = await leaveArtifact(place, 'bundle');
  const made = { commitSha: sha, sessionId: null, createdAt: at };
  await Checkpoint.query().insert({ stepId, runId, ...place, artifactId: saved.id, ...made });
  await ChangeVersion.query().insert({
    ...{ runId, ...place, headSha: sha, branch: 'grow', role: 'builder', artifactId: artifact.id, createdAt: at },
    ...{ commitsArtifactId: null, commits: 1, changedFiles: 1, insertions: 1, deletions: 0 },
  });
  await spend(place, 2, { runId } as Json);
  const signed = { reporterId: 'rt', position: 1, createdAt: at, envelope: '{}', keyId: 'key', signedAt: at };
  await world.knex('attestations').insert({ sha, treeSha: sha, ...place, runId, stepId, ...signed });
  if (!isOpen) await end(runId);
  const ids = { stepId, sandboxId: sandbox.id, sessionId: session.sessionId };
  return { runId, ...ids, artifactId: artifact.id, checkpointId: saved.id };
}

async function end(runId: string): Promise<void> {
  await world.knex('sandboxes').where({ runId }).update({ status: 'completed', destroyedAt: present() });
  await world.knex('runs').where({ id: runId }).update({ status: 'completed', finishedAt: present() });
}

/** Counts of what a mission has left behind. */
async function left({ runId, sandboxId, artifactId, checkpointId }: Mission): Promise<Json> {
  const count = async (table: string, where: object) =>
    Number((await world.knex(table).where(where).count().first())!.count);
  return {
    logs: (await count('sandbox_log_parts', { sandboxId })) + (await count('log_archives', { runId })),
    fragments: (await count('sandbox_fragments', { sandboxId })) + (await count('log_archives', { runId })),
    artifacts: await count('artifacts', { id: artifactId }),
    checkpoints: (await count('artifacts', { id: checkpointId })) * (await count('checkpoints', { runId })),
    sandboxes: await count('sandboxes', { runId }),
  };
}
const all = { logs: 1, fragments: 1, artifacts: 1, checkpoints: 1, sandboxes: 1 };
const withoutLogs = { ...all, logs: 0, fragments: 0 };
const nothing = { logs: 0, fragments: 0, artifacts: 0, checkpoints: 0, sandboxes: 0 };

/** Records of a run that are kept for ever. */
const kept = async ({ runId }: Mission): Promise<Json> => ({
  run: await world.knex('runs').where({ id: runId }).first(),
  steps: await world.knex('run_steps').where({ runId }),
  costs: await world.knex('mission_costs').where({ runId }),
  attestations: await world.knex('attestations').where({ runId }),
});

const logOf = async ({ sandboxId, sessionId }: Mission, account = callers.owner): Promise<Json> =>
  world.rest('GET', `/sandboxes/${sandboxId}/logs?role=builder&sessionId=${sessionId}`, await tokenOf(account));

async function archive(): Promise<void> {
  world.clock.turn(minutes(2));
  await indexRunTexts();
  bindLogArchives(minutes(1));
  await archiveLogs();
  bindLogArchives(0);
}

it('an owner sets the days of each kind, and nobody else does', async () => {
  const read = '{ retentionSettings { logDays artifactDays sandboxDays } }';
  expect(await ask(read)).toEqual({ logDays: null, artifactDays: null, sandboxDays: null });
  const admin = await createMember(world, callers.owner.organization, 'Bob', 'admin');
  expect((await set('logDays: 30', admin)).body.errors[0].extensions.code).toBe('forbidden');
  for (const [wrong, field] of [
    ['logDays: 13', 'logDays'],
    ['artifactDays: 91', 'artifactDays'],
    ['sandboxDays: 3651', 'sandboxDays'],
  ])
    expect(JSON.stringify((await set(wrong!)).body.errors)).toContain(field);
  expect(await ask(read)).toEqual({ logDays: null, artifactDays: null, sandboxDays: null });
  expect((await set('logDays: 20, artifactDays: 40, sandboxDays: 60')).body.data.setRetentionSettings).toEqual(
    await ask(read),
  );
  expect(await ask(read, callers.stranger)).toEqual({ logDays: null, artifactDays: null, sandboxDays: null });
});

it('each kind is deleted after its days, by two jobs at once; the run, its cost and its attestations stay', async () => {
  const mission = await writeMission(shop);
  const ended = present();
  const foreign = await writeMission(other);
  await archive();
  // The logs of this one are still in the database.
  const unarchived = await writeMission(shop);
  const before = await kept(mission);
  const missions = [mission, unarchived];
  const job = () => Promise.all([deleteAfterRetention(), deleteAfterRetention()]);
  const expectAll = async (expected: Json) => {
    for (const one of missions) expect(await left(one)).toEqual(expected);
    expect(await left(foreign)).toEqual(all);
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
  expect(await kept(mission)).toEqual(before);
  expect((await logOf(mission)).status).toBe(404);
  expect(before.costs).toHaveLength(1);
  expect(before.attestations).toHaveLength(1);

  // The contents of artifacts and archives are removed by the sweep; those of the other organization remain.
  await sweepArtifacts();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const archives = await world.knex('log_archives');
  const used = [...(await world.knex('artifacts')), ...archives].map(({ contentKey }) => contentKey);
  expect(files.map(({ name }) => name).sort()).toEqual(used.sort());
  expect(archives).toMatchObject([{ runId: foreign.runId }]);
});

it('missions that are open, wait for a choice or have an open pull request keep their sandboxes and artifacts', async () => {
  await set('logDays: 14, artifactDays: 14, sandboxDays: 14');
  const open = await writeMission(shop, { isOpen: true });
  const attempt = await writeMission(shop, { attemptState: 'open' });
  const proposed = await writeMission(shop, { prState: 'open', prNumber: 7 });
  const source = await writeMission(shop);
  const next = await writeMission(shop, { isOpen: true, continuesStepId: source.stepId });
  world.clock.turn(days(50));
  await deleteAfterRetention();
  expect(await left(open)).toEqual(all);
  expect(await left(next)).toEqual(all);
  expect(await left(attempt)).toEqual(withoutLogs);
  expect(await left(proposed)).toEqual(withoutLogs);
  expect(await left(source)).toEqual({ ...nothing, checkpoints: 1 });

  await world.knex('runs').where({ id: attempt.runId }).update({ attemptState: 'closed' });
  await world.knex('runs').where({ id: proposed.runId }).update({ prState: 'merged' });
  for (const { runId } of [open, next]) await end(runId);
  await deleteAfterRetention();
  for (const one of [attempt, proposed, source]) expect(await left(one)).toEqual(nothing);
  for (const one of [open, next]) expect(await left(one)).toEqual(all);
  await set('logDays: null');
  world.clock.turn(days(20));
  await deleteAfterRetention();
  expect(await left(open)).toEqual(all);
});
