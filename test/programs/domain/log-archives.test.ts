// Logs and fragments of ended runs in archives: read as before, whatever happens while they are moved.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { planOfSession } from '#domain/lifecycle/agent-sessions/progress.ts';
import { exportTables } from '#domain/lifecycle/closure/export-tables.ts';
import { guardTables, unguardTables } from '#domain/organization/cells/guard.ts';
import { sweepArtifacts } from '#domain/work/artifacts/content.ts';
import { archiveLogs, bindLogArchives } from '#domain/work/log-archives/archive.ts';
import { restoreLogs } from '#domain/work/log-archives/restore.ts';
import { Run } from '#domain/work/runs/model.ts';
import { indexRunTexts } from '#domain/work/runs/search.ts';
import { readDirectory } from '#domain/work/sandboxes/archive-content.ts';
import { isOfLog } from '#domain/work/sandboxes/archive-model.ts';
import type { Sandbox, SandboxSession } from '#domain/work/sandboxes/model.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { asService } from '#foundation/postgres/origin.ts';
import { unavailable } from '#foundation/problem.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { type ByteRange, openStorage } from '#foundation/storage/storage.ts';
import { type Callers, createCallers, createProject } from '../../support/callers.ts';
import { programArguments } from '../../support/processes.ts';
import { type Place, showFragments, startSandbox, startSession, writeLog } from '../../support/runtime-records.ts';
import { openWorld, present, type World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

let world: World;
let callers: Callers;
let shop: Place;
let runId: `run_${string}`;
let sandboxes: Sandbox[];
let sessions: SandboxSession[];

const secret = 'ghp_0123456789abcdefghij0123456789';
/**
 * 75 pieces of a log, about 20 KB each, which fill several blocks of an archive. Each piece contains a random id, so the blocks do not become tiny
 * when they are compressed.
 */
const pieces = Array.from({ length: 75 }, (_, i) => `${`${i}: größer ${newId('content')}\n`.repeat(400)}`);
const line = `TOKEN=${secret} tulips\n`;

beforeAll(async () => {
  world = await openWorld();
  callers = await createCallers(world);
  shop = { orgId: callers.owner.organization.id, projectId: await createProject(world, callers.owner, 'Shop') };
});
beforeEach(async () => {
  openStorage(folderStorage(world.contents));
  bindLogArchives(hours(24));
  await writeRun();
});
afterEach(async () => {
  await world.knex('cell_organizations').delete();
  await world.knex('runs').delete();
  await world.knex('sandboxes').delete();
  await world.knex('unarchived_runs').delete();
  await world.knex('log_archives').delete();
});
afterAll(() => world.close());

/** A run that ends now, with two sandboxes. */
async function writeRun(): Promise<void> {
  runId = newId('run');
  const at = present();
  const times = { scheduledFor: at, createdAt: at, updatedAt: at, startedAt: at };
  const described = { kind: 'manual', missionTitle: 'Grow', prompt: 'Go.', issueId: 'SHOP-1' };
  await world.knex('runs').insert({ id: runId, ...shop, ...described, status: 'dispatching', ...times });
  sandboxes = [await startSandbox(shop, { runId }), await startSandbox(shop, { runId })];
  sessions = [await startSession(sandboxes[0]!), await startSession(sandboxes[1]!)];
  await writeLog(sessions[0]!, 'session', pieces);
  await writeLog(sessions[1]!, 'session', [line, 'last']);
  await writeLog(sessions[1]!, 'system', ['boot']);
  await writeLog(sessions[1]!, 'prompt', ['You work on a shop.', 'Use tabs.']);
  await world.knex('sandbox_log_parts').update({ appendedAt: at });
  await world
    .knex('sandbox_log_parts')
    .where({ sandboxId: sandboxes[1]!.id })
    .update({ appendedAt: at + 1_000 });
  const items = ['in_progress', 'pending'].map((status) => ({ content: 'Step', status }));
  const thoughts = Array.from({ length: 1_100 }, (_, i) => ({ body: `thought ${i}`, at: at + i }));
  await showFragments(sandboxes[0]!, [
    { kind: 'plan', at, items },
    ...thoughts,
    { kind: 'plan', at: at + 2_000, items },
  ]);
  await showFragments(sandboxes[1]!, [{ kind: 'error', body: 'It broke.', at: at + 3_000 }]);
  await world.knex('sandboxes').update({ status: 'completed' });
  await world
    .knex('runs')
    .where({ id: runId })
    .update({ status: 'completed', finishedAt: at + 5_000 });
  world.clock.turn(minutes(2));
  await indexRunTexts();
}

const ask = (query: string): Promise<Json> => world.field(query, { token: callers.owner.token });
const rest = async (where: string, token = callers.owner.token): Promise<Json> => {
  const { status, body, headers } = await world.rest('GET', `/sandboxes/${where}`, { token });
  return { status, body, link: headers.get('link') };
};
const logPath = (i: number, more = '') =>
  `${sandboxes[i]!.id}/logs?role=builder&sessionId=${sessions[i]!.sessionId}${more}`;

async function wholeLog(i: number, more = ''): Promise<Json[]> {
  const chunks: Json[] = [];
  let cursor = '';
  do {
    const { status, body, link } = await rest(logPath(i, more + cursor));
    expect(status).toBe(200);
    chunks.unshift(body);
    cursor = link ? `&cursor=${new URL(link.slice(1).split('>')[0]).searchParams.get('cursor')}` : '';
  } while (cursor !== '');
  return chunks;
}

async function allFragments(i: number): Promise<Json[]> {
  const found: Json[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? '' : `, cursor: "${cursor}"`;
    const { fragments } = await ask(
      `{ sandbox(sandboxId: "${sandboxes[i]!.id}") { fragments(limit: 150${after}) { data { kind body t items { status } } nextCursor } } }`,
    );
    found.unshift(...fragments.data);
    cursor = fragments.nextCursor;
  } while (cursor !== null);
  return found;
}

const moment = (at: number) =>
  ask(`{ runMoment(runId: "${runId}", at: ${at}) { plan { content status } fragments { kind body t } log } }`);

/** Everything that the API returns about the run. */
async function readAll(): Promise<Json> {
  const { finishedAt } = await world.knex('runs').where({ id: runId }).first();
  return {
    logs: [await wholeLog(0), await wholeLog(1), await wholeLog(1, '&part=system'), await wholeLog(1, '&part=prompt')],
    times: await ask(
      `{ sandboxLog(sandboxId: "${sandboxes[0]!.id}", role: builder, sessionId: "${sessions[0]!.sessionId}") { times { line at } } }`,
    ),
    details: [(await rest(sandboxes[0]!.id)).body, (await rest(sandboxes[1]!.id)).body],
    fragments: [await allFragments(0), await allFragments(1)],
    moments: [await moment(finishedAt), await moment(finishedAt - 4_000), await moment(finishedAt - 2_100)],
    events: await ask(`{ runEvents(runId: "${runId}") { at kind text } }`),
    found: await ask('{ runs(search: "tulips") { data { id } } }'),
    plan: await planOfSession(await Run.get({ id: runId })),
  };
}

const rows = async () => [
  await world.knex('sandbox_log_parts').count().first(),
  await world.knex('sandbox_fragments').count().first(),
];
/** Returns three lists of exported rows: the logs of the organization, its fragments, and the logs of another organization. */
const exportedRows = (): Promise<Json[][]> =>
  transaction(async (trx) => {
    const read = async (table: string, orgId: string) => {
      const { query, more } = exportTables.find(({ name }) => name === table)!;
      const texts = (await trx.raw(query, [orgId])).rows.map(({ row }: { row: string }) => row);
      for await (const text of more!(trx, orgId)) texts.push(text);
      const found: Json[] = texts.map((text: string) => JSON.parse(text));
      return found.sort((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1));
    };
    const positionOf = (row: Json) => [row.sandbox_id, row.part, String(row.seq).padStart(9)].join();
    return [
      await read('sandbox_log_parts', shop.orgId),
      await read('sandbox_fragments', shop.orgId),
      await read('sandbox_log_parts', callers.stranger.organization.id),
    ];
  });
const files = () => readdirSync(world.contents, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
const archives = () => world.knex('log_archives').where({ runId }).orderBy('number');
const fileOf = (key: string) => path.join(world.contents, key.slice(-2), key);

it('logs, fragments, replays and search results are the same after the rows are archived, and after they are restored', async () => {
  await archiveLogs();
  expect(await archives()).toEqual([]);
  const before = await readAll();
  expect(before.fragments[0]).toHaveLength(1_102);
  expect(before.logs[0].length).toBeGreaterThan(1);
  const exported = {
    parts: await world.knex('sandbox_log_parts').orderBy(['sandboxId', 'part', 'seq']),
    fragments: await world.knex('sandbox_fragments').orderBy(['sandboxId', 'seq']),
  };
  const inExport = await exportedRows();
  expect(inExport.map((found) => found.length)).toEqual([exported.parts.length, exported.fragments.length, 0]);
  world.clock.turn(hours(24));
  await archiveLogs();
  expect(await rows()).toEqual([{ count: 0 }, { count: 0 }]);
  const [archive] = await archives();
  expect(archive).toMatchObject({ ...shop, number: 0 });
  expect(statSync(fileOf(archive.contentKey)).size).toBe(Number(archive.sizeBytes));
  expect(await world.knex('unarchived_runs')).toEqual([]);
  expect(await readAll()).toEqual(before);
  // The content of the archive belongs to no artifact. Nevertheless, neither this release nor the previous one deletes the content as unused.
  world.clock.turn(days(2));
  await sweepArtifacts();
  expect(await readAll()).toEqual(before);

  expect(await exportedRows()).toEqual(inExport);
  expect((await rest(logPath(0), callers.stranger.token)).status).toBe(404);

  expect(await restoreLogs()).toEqual({ archives: 1 });
  expect(await world.knex('sandbox_log_parts').orderBy(['sandboxId', 'part', 'seq'])).toEqual(exported.parts);
  expect(await world.knex('sandbox_fragments').orderBy(['sandboxId', 'seq'])).toEqual(exported.fragments);
  expect(await readAll()).toEqual(before);
  await archiveLogs();
  expect(await archives()).toHaveLength(1);
});

it('a shared replay masks secrets in archived texts', async () => {
  const { address } = await ask(`mutation { createRunShare(runId: "${runId}") { address } }`);
  const page = async () => (await (await fetch(address)).text()).replace(/\d+ (hours?|days?|minutes?)/g, '');
  const before = await page();
  expect(before).toContain('tulips');
  world.clock.turn(hours(24));
  await archiveLogs();
  expect(await rows()).toEqual([{ count: 0 }, { count: 0 }]);
  const after = await page();
  expect(after).toContain('tulips');
  expect(after).not.toContain(secret);
});

it('two processes that archive one run at the same time move each row once, and readers see the same throughout', async () => {
  const before = await readAll();
  world.clock.turn(hours(24));
  let isMoving = true;
  const reads = (async () => {
    let count = 0;
    for (; isMoving || count < 2; count++) {
      expect(await wholeLog(0)).toEqual(before.logs[0]);
      expect(await allFragments(0)).toEqual(before.fragments[0]);
    }
  })();
  // The second claim is due at once, as if the first process were lost.
  const first = archiveLogs();
  await vi.waitFor(async () =>
    expect(await world.knex('unarchived_runs').whereNotNull('claimedUntil')).toHaveLength(1),
  );
  await world.knex('unarchived_runs').update({ claimedUntil: null });
  await Promise.all([first, archiveLogs()]);
  isMoving = false;
  await reads;
  expect(await archives()).toHaveLength(1);
  expect(await rows()).toEqual([{ count: 0 }, { count: 0 }]);
  expect(await readAll()).toEqual(before);
});

it('a process killed before it deletes the archived rows loses nothing; another process continues, and the content is swept', async () => {
  const before = await readAll();
  const known = files().length;
  world.clock.turn(hours(24));
  const { connection, contents: folder } = world;
  const holding = new pg.Client(connection as pg.ClientConfig);
  await holding.connect();
  await holding.query('begin');
  // This transaction locks the fragments, so the process that archives them waits inside its own transaction. The test kills it there.
  await holding.query('select 1 from sandbox_fragments for update');
  const settings = JSON.stringify({ connection, folder, at: present() });
  const child: ChildProcess = spawn(process.execPath, [...programArguments('test/archive-process'), settings], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  const waiting =
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'delete from sandbox_fragments%'";
  // Queries run outside of a transaction, because within one the view `pg_stat_activity` would not change.
  await vi.waitFor(async () => expect((await world.knex.raw(waiting)).rows).toHaveLength(1));
  expect(files()).toHaveLength(known + 1);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await holding.query('rollback');
  await holding.end();
  await vi.waitFor(async () => expect(await readAll()).toEqual(before));
  expect(await archives()).toEqual([]);
  await archiveLogs();
  expect(await archives()).toEqual([]);
  world.clock.turn(minutes(10));
  await archiveLogs();
  expect(await archives()).toHaveLength(1);
  expect(await readAll()).toEqual(before);
  world.clock.turn(days(1));
  await sweepArtifacts();
  expect(files().map(({ name }) => name)).toEqual([(await archives())[0].contentKey]);
});

it('502, 503 · an altered log archive is named in the error; while storage is unavailable, nothing is archived and no archive can be read', async () => {
  const before = await readAll();
  world.clock.turn(hours(24));
  openStorage({ ...folderStorage(world.contents), write: () => Promise.reject(unavailable()) });
  await expect(archiveLogs()).rejects.toThrow();
  expect(await readAll()).toEqual(before);
  openStorage(folderStorage(world.contents));
  world.clock.turn(minutes(10));
  await archiveLogs();
  const [archive] = await archives();
  const { contentKey } = archive;
  const { offset } = (await readDirectory(archive)).find(
    isOfLog(sandboxes[0]!.id, { ...sessions[0]!, part: 'session' }),
  )!;
  const bytes = readFileSync(fileOf(contentKey));
  bytes[offset + 10]! ^= 1;
  writeFileSync(fileOf(contentKey), bytes);
  const read: (ByteRange | undefined)[] = [];
  openStorage({
    ...folderStorage(world.contents),
    read: (key, range) => {
      read.push(range);
      return folderStorage(world.contents).read(key, range);
    },
  });
  const damaged = await rest(logPath(0, `&cursor=${await cursorOfStart()}`));
  expect(damaged.status).toBe(502);
  expect(JSON.stringify(damaged.body)).toContain(
    `The archive ${contentKey} of the logs was altered in the storage: bytes ${offset} to`,
  );
  // A request reads only the blocks of the archive that it needs, so a log in blocks that were not altered can still be read.
  const last = await rest(logPath(1));
  expect(last.body.content).toBe(`${line}last`);
  const range = read.at(-1)!;
  expect(range.last - range.first).toBeLessThan(1_000);
  openStorage({ ...folderStorage(world.contents), read: () => Promise.reject(unavailable()) });
  expect((await rest(logPath(1))).status).toBe(503);
});

/** Cursor of the oldest chunk of the long log. */
async function cursorOfStart(): Promise<string> {
  const newest = await rest(logPath(0));
  expect(newest.status).toBe(200);
  return new URL(newest.link.slice(1).split('>')[0]).searchParams.get('cursor')!;
}

it('nothing is archived while a process of another release is connected to the database, a sandbox runs, the run is being indexed, or archiving is off', async () => {
  world.clock.turn(hours(24));
  const archived = async () => {
    world.clock.turn(minutes(11));
    await archiveLogs();
    return (await archives()).length;
  };
  const previous = new pg.Client({ ...(world.connection as pg.ClientConfig), application_name: 'aep/0.1.0 1@host' });
  await previous.connect();
  expect(await archived()).toBe(0);
  await previous.end();
  await vi.waitFor(async () =>
    expect(await world.knex('pg_stat_activity').where({ application_name: 'aep/0.1.0 1@host' })).toEqual([]),
  );
  await world.knex('sandboxes').where({ id: sandboxes[0]!.id }).update({ status: 'running' });
  expect(await archived()).toBe(0);
  await world.knex('sandboxes').update({ status: 'completed' });
  await world.knex('run_texts').update({ dueAt: present() });
  expect(await archived()).toBe(0);
  await world.knex('run_texts').update({ dueAt: null });
  bindLogArchives(0);
  expect(await archived()).toBe(0);
  bindLogArchives(hours(24));
  expect(await archived()).toBe(1);
});

it('logs of an organization that is moving to another cell are not archived; logs of other organizations are', async () => {
  const other = await createCallers(world);
  const place = { orgId: other.owner.organization.id, projectId: await createProject(world, other.owner, 'Other') };
  world.clock.turn(hours(24));
  const move = { slug: 'acme', state: 'frozen', otherCell: 'eu', moveId: 'move', changedAt: present() };
  let written = 0;
  openStorage({
    ...folderStorage(world.contents),
    // The move begins while the run is being archived.
    async write(...content) {
      if (++written > 3) throw new Error('The content is written again and again.');
      await world
        .knex('cell_organizations')
        .insert({ orgId: shop.orgId, ...move })
        .onConflict()
        .ignore();
      return folderStorage(world.contents).write(...content);
    },
  });
  await guardTables();
  await asService('system', 'scheduler', 'archive logs', () => archiveLogs());
  const archived = async () => (await world.knex('log_archives').orderBy('endedAt')).map(({ runId }) => runId);
  expect([written, await archived()]).toEqual([1, []]);
  openStorage(folderStorage(world.contents));
  const ended = { kind: 'manual', missionTitle: 'Later', status: 'completed', finishedAt: present() - hours(24) };
  const times = { scheduledFor: 1, createdAt: 1, updatedAt: 1, startedAt: 1 };
  const laterRun = newId('run');
  await world.knex('runs').insert({ id: laterRun, ...place, ...ended, ...times });
  const session = await startSession(await startSandbox(place, { runId: laterRun }));
  await writeLog(session, 'session', ['other']);
  await world.knex('sandboxes').where({ runId: laterRun }).update({ status: 'completed' });
  await world.knex('run_texts').where({ runId: laterRun }).update({ dueAt: null });
  world.clock.turn(minutes(11));
  await asService('system', 'scheduler', 'archive logs', () => archiveLogs());
  expect(await archived()).toEqual([laterRun]);
  await world.knex('cell_organizations').delete();
  await unguardTables(async () => false);
  world.clock.turn(minutes(11));
  await archiveLogs();
  expect(await archived()).toEqual([runId, laterRun]);
});

it('log archives are deleted with their project, and their contents by the next sweep', async () => {
  world.clock.turn(hours(24));
  await archiveLogs();
  const [{ contentKey }] = await archives();
  await world.knex('projects').where({ id: shop.projectId }).delete();
  expect(await archives()).toEqual([]);
  await sweepArtifacts();
  expect(files().map(({ name }) => name)).not.toContain(contentKey);
});
