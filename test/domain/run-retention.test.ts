// The details of a run are deleted some days after the run has ended. Its result, cost and attestations are kept. The deletion waits while
// other work needs the details.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { deleteAfterRetention } from '#domain/lifecycle/retention/delete.ts';
import { detailTables, otherTables } from '#domain/lifecycle/retention/run-tables.ts';
import { archiveLogs, bindLogArchives } from '#domain/work/log-archives/archive.ts';
import { indexRunTexts } from '#domain/work/runs/search.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import type { Callers } from '../support/callers.ts';
import { rowsOf, written } from '../support/database-rows.ts';
import { all, type EndedMission, endMission, left, nothing, writeMission } from '../support/ended-missions.ts';
import { openRetentionWorld, type RetentionWorld } from '../support/retention-world.ts';
import { leaveArtifact, type Place, writeMessages } from '../support/runtime-records.ts';
import { present, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const retentionDays = 30;
let world: World;
let callers: Callers;
let shop: Place;
let other: Place;
let ask: RetentionWorld['ask'];
let tokenOf: RetentionWorld['tokenOf'];

beforeAll(async () => {
  ({ world, callers, shop, other, ask, tokenOf } = await openRetentionWorld());
});
beforeEach(async () => {
  await world.knex('retention_settings').delete();
  await world.knex('runs').delete();
  await world.knex('run_calls').delete();
  await setDays(shop);
});
afterAll(() => world.close());

const setDays = ({ orgId }: Place, more: Json = { runDays: retentionDays }): Promise<unknown> =>
  world.knex('retention_settings').insert({ orgId, ...more });
const runOf = ({ runId }: Pick<EndedMission, 'runId'>): Promise<Json> =>
  world.knex('runs').where({ id: runId }).first();
const isCondensed = async (mission: Pick<EndedMission, 'runId'>): Promise<boolean> =>
  (await runOf(mission)).kept !== null;

async function condense(): Promise<void> {
  world.clock.turn(days(retentionDays) + 1);
  await deleteAfterRetention();
}

/**
 * Executes `work` and compares all tables before and after it. `gone` lists the tables in which rows were deleted or changed, `come` the
 * tables in which rows were added or changed.
 */
async function tablesOf(work: () => Promise<unknown>) {
  const before = await rowsOf(world.knex);
  await work();
  const { gone, come } = written(before, await rowsOf(world.knex));
  const names = (rows: string[]) => [...new Set(rows.map((row) => row.slice(0, row.indexOf(' '))))].sort();
  return { gone: names(gone), come: names(come) };
}

it('each table with run ids is listed: its rows are deleted with the details of a run, or kept for a stated reason', async () => {
  const { rows } =
    await world.knex.raw(`select distinct c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attname ~ '(^|_)run_id$' and not a.attisdropped`);
  const found = rows.map(({ name }: Json) => name).filter((name: string) => !/^(audit_|cell_)/.test(name));
  expect(found.sort()).toEqual([...detailTables, ...Object.keys(otherTables)].sort());
});

/** Inserts a mission of several agents that has details of every kind, such as messages, a review, tool calls and the origin of a fork. */
async function writeFullMission(place: Place, more: Json = {}): Promise<EndedMission> {
  const team = ['planner', 'builder', 'reviewer', 'qa'].map((role) => ({
    role,
    name: role,
    userPrompt: 'Be kind.',
    version: 3,
  }));
  const mission = await writeMission(world, place, { team: JSON.stringify(team), branch: newId('content'), ...more });
  const { runId } = mission;
  const tokens = { inputTokens: 100, cachedInputTokens: 10, cacheWriteTokens: 5, outputTokens: 7 };
  const verdict = JSON.stringify({ verdict: 'approve', comments: [] });
  for (const [i, step] of [
    { role: 'reviewer', output: verdict, ...tokens },
    { role: 'qa', output: JSON.stringify({ passed: true, findings: [] }), ...tokens },
  ].entries())
    await world.knex('run_steps').insert({
      ...{
        id: newId('runStep'),
        runId,
        ...place,
        seq: i + 1,
        round: 1,
        status: 'completed',
        agent: '{}',
        harness: 'claude-code',
      },
      ...{ model: 'm', prompt: 'Judge.', createdAt: present(), ...step },
    });
  const authorUserId = callers.owner.person.id;
  await writeMessages(place, runId, [
    { text: 'Use marigolds', authorUserId },
    { text: 'Yes', kind: 'answer', authorUserId },
  ]);
  const at = { createdAt: present(), updatedAt: present() };
  const reviewId = newId('review');
  const { branch } = await runOf(mission);
  const said = { verdict: 'comment', body: 'Good.', author: 'Alice', createdAt: present() };
  await world.knex('reviews').insert({ id: reviewId, ...place, runId, branch, headSha: 'a', ...said });
  const lines = { path: 'a.ts', side: 'new', startLine: 1, line: 1, quote: 'code', body: 'Why?', createdAt: present() };
  await world.knex('review_comments').insert({ id: newId('reviewComment'), reviewId, ...place, seq: 0, ...lines });
  const call = { serverName: 's', tool: 't', outcome: 'ok', durationMs: 1, createdAt: present() };
  await world.knex('mcp_calls').insert({ id: newId('mcpCall'), ...place, runId, ...call });
  const host = {
    templateId: 'standard',
    host: 'a.example',
    port: 443,
    phase: 'agent',
    verdict: 'allowed',
    reportId: 'r',
  };
  await world.knex('connections').insert({ runId, ...place, ...host, count: 1, sentBytes: 1, receivedBytes: 1, ...at });
  await world.knex('run_calls').insert({ runId, ...place, number: 1, key: 'k', kind: 'model', entry: '{}' });
  return mission;
}

it('two concurrent jobs delete the details of a run after the retention period, and change nothing else', async () => {
  const mission = await writeFullMission(shop, {
    changedPaths: ['a.ts'],
    pullRequestDraft: '{"title":"t","body":"b"}',
  });
  const unattested = await writeFullMission(shop);
  await world.knex('attestations').where({ runId: unattested.runId }).delete();
  const foreign = await writeFullMission(other);
  const before = await runOf(mission);
  await setDays(other, { logDays: 3_650 });
  const job = () => Promise.all([deleteAfterRetention(), deleteAfterRetention()]);
  world.clock.turn(days(retentionDays) - minutes(1));
  expect(await tablesOf(job)).toEqual({ gone: [], come: [] });

  world.clock.turn(hours(1));
  expect(await tablesOf(job)).toEqual({
    gone: [
      ...[
        'artifacts',
        'change_versions',
        'checkpoints',
        'connections',
        'mcp_calls',
        'review_comments',
        'reviews',
        'run_calls',
      ],
      ...[
        'run_messages',
        'run_steps',
        'run_texts',
        'runs',
        'sandbox_fragments',
        'sandbox_log_parts',
        'sandbox_sessions',
      ],
      ...['sandboxes', 'unarchived_runs'],
    ],
    come: ['reviews', 'run_call_archives', 'run_texts', 'runs'],
  });
  for (const one of [mission, unattested]) expect(await left(world, one)).toEqual(nothing);
  expect(await left(world, foreign)).toEqual(all);
  const { team, ...after } = await runOf(mission);
  expect(after).toEqual({
    ...{ ...before, team: undefined, changedPaths: null, pullRequestDraft: null },
    kept: {
      ...{ deletedAt: present(), retentionDays, steps: 3, messages: 2, review: 'approve', isTestPassed: true },
      ...{ inputTokens: 200, cachedInputTokens: 20, cacheWriteTokens: 10, outputTokens: 14 },
    },
  });
  expect(team).toEqual(before.team.map((agent: Json) => ({ ...agent, userPrompt: null, skillRepos: [] })));
  expect(await world.knex('reviews').where({ runId: mission.runId })).toMatchObject([{ verdict: 'comment', body: '' }]);
  expect(await world.knex('run_calls')).toMatchObject([{ runId: foreign.runId }]);
  expect(await world.knex('run_call_archives')).toMatchObject([{ runId: mission.runId }]);
  expect(await tablesOf(job)).toEqual({ gone: [], come: [] });
});

it('archived logs are deleted with the details of their run; a run whose logs are being archived keeps its details until the archiving ends', async () => {
  const archived = await writeMission(world, shop);
  world.clock.turn(minutes(2));
  await indexRunTexts();
  bindLogArchives(minutes(1));
  await archiveLogs();
  bindLogArchives(0);
  const busy = await writeMission(world, shop);
  world.clock.turn(days(retentionDays));
  await world
    .knex('unarchived_runs')
    .where({ runId: busy.runId })
    .update({ claimedUntil: present() + minutes(10) });
  world.clock.turn(1);
  await deleteAfterRetention();
  expect(await left(world, archived)).toEqual(nothing);
  expect(await left(world, busy)).toEqual(all);
  world.clock.turn(minutes(11));
  await deleteAfterRetention();
  expect(await left(world, busy)).toEqual(nothing);
});

it('quality figures, the comparison of attempts, costs and the search by title still work after the details of runs are deleted', async () => {
  const groupId = newId('attemptGroup');
  const at = { createdAt: present(), updatedAt: present() };
  await world.knex('attempt_groups').insert({ id: groupId, ...shop, title: 'T', prompt: 'P', state: 'chosen', ...at });
  const attempt = { attemptGroupId: groupId, attemptNumber: 1, attemptState: 'chosen' };
  await writeFullMission(shop, { missionTitle: 'Grow tulips', ...attempt });
  world.clock.turn(minutes(2));
  await indexRunTexts();
  const query = `{
    qualityFigures(days: 60) { data { missions completed costUsd messagesPerMission runsPerMission agentName agentVersion } }
    attemptGroup(attemptGroupId: "${groupId}") { costUsd attempts { agentName review isTestPassed } }
    runs { data { id status missionTitle missionCostUsd startedAt finishedAt } }
    found: runs(search: "tulips") { data { id } }
    billingSummary { usage { creditsSpent missions } }
  }`;
  const found = async (word: string) => (await ask(`{ runs(search: "${word}") { data { id } } }`)).data.length;
  world.clock.turn(days(retentionDays));
  const { person, organization } = callers.owner;
  const read = async () => world.graphql(query, { session: await world.session(person, organization.id) });
  const before = await read();
  expect(before.body.errors).toBe(undefined);
  expect(before.body.data.qualityFigures.data).toMatchObject([{ missions: 1, messagesPerMission: 2 }]);
  expect(before.body.data.attemptGroup.attempts).toMatchObject([{ review: 'approve', isTestPassed: true }]);
  expect(await found('marigolds')).toBe(1);
  await deleteAfterRetention();
  expect((await read()).body).toEqual(before.body);
  expect(await found('marigolds')).toBe(0);
});

const waits: [string, Json, (mission: EndedMission) => Promise<() => Promise<unknown>>][] = [
  [
    'a pull request is open',
    { prState: 'open', prNumber: 7 },
    async ({ runId }) =>
      () =>
        change(runId, { prState: 'merged' }),
  ],
  [
    'nobody has chosen among attempts',
    { attemptState: 'open' },
    async ({ runId }) =>
      () =>
        change(runId, { attemptState: 'closed' }),
  ],
  [
    'it has a lease',
    {},
    async ({ runId }) => {
      await change(runId, { leaseUntil: present() + days(90) });
      return () => change(runId, { leaseUntil: null });
    },
  ],
  [
    'a later run on its branch is not as old',
    { branch: 'grow' },
    async () => {
      world.clock.turn(days(5));
      const later = await writeMission(world, shop, { branch: 'grow' });
      return async () => {
        expect(await isCondensed(later)).toBe(false);
        world.clock.turn(days(5));
      };
    },
  ],
  [
    'an open run continues from it',
    {},
    async ({ stepId }) => {
      const next = await writeMission(world, shop, { isOpen: true, continuesStepId: stepId });
      return () => endMission(world, next.runId);
    },
  ],
  [
    'a fork of it is open',
    {},
    async ({ runId, stepId }) => {
      const fork = await writeMission(world, shop, { isOpen: true });
      const source = { sourceRunId: runId, sourceStepId: stepId, sourceSeq: 0, call: 1, calls: 0, model: 'm' };
      await world
        .knex('run_forks')
        .insert({ ...shop, runId: fork.runId, ...source, agent: '{}', createdAt: present() });
      return () => endMission(world, fork.runId);
    },
  ],
  [
    'an effect of it waits',
    {},
    async ({ runId }) => {
      const effect = { kind: 'tracker', state: 'staged', position: 3, key: 'ENG-1', payload: '{}', digest: 'd' };
      const at = { createdAt: present(), updatedAt: present() };
      await world.knex('outside_effects').insert({ id: newId('outsideEffect'), ...shop, runId, ...effect, ...at });
      return () => world.knex('outside_effects').update({ state: 'rejected' });
    },
  ],
  [
    'a commit of it has no signed statement',
    {},
    async ({ runId }) => {
      await world.knex('attestations').where({ runId }).update({ envelope: null });
      return () => world.knex('attestations').where({ runId }).update({ envelope: '{}' });
    },
  ],
  [
    'the inbox may have its change for review',
    { branch: 'b', headSha: 'c', changedFiles: 2 },
    async ({ runId }) => {
      await world.knex('retention_settings').update({ runDays: 14 });
      await change(runId, { finishedAt: present() + days(10) });
      return () => change(runId, { finishedAt: present() - days(retentionDays) });
    },
  ],
];
const change = (id: string, changes: Json): Promise<unknown> => world.knex('runs').where({ id }).update(changes);

it.each(waits)('a run keeps its details while %s', async (_, columns, prepare) => {
  const [mission, unrelated] = [await writeMission(world, shop, columns), await writeMission(world, shop)];
  const release = await prepare(mission);
  world.clock.turn(days(retentionDays) + 1 - (present() - (await runOf(mission)).createdAt));
  await deleteAfterRetention();
  expect([await isCondensed(mission), await isCondensed(unrelated)]).toEqual([false, true]);
  expect(await left(world, mission)).toEqual(all);
  await release();
  await deleteAfterRetention();
  expect(await isCondensed(mission)).toBe(true);
  expect(await left(world, mission)).toEqual(nothing);
});

it('a run without details cannot be continued, forked, reviewed or shared', async () => {
  const { runId, stepId } = await writeFullMission(shop, { headSha: 'a'.repeat(40) });
  await condense();
  const token = await tokenOf(callers.owner);
  const day = new Date(present()).toISOString().slice(0, 10);
  const refused = async (mutation: string) => {
    const { errors } = (await world.graphql(`mutation { ${mutation} }`, token)).body;
    expect(errors?.[0].extensions.code).toBe('conflict');
    expect(errors[0].message).toContain(`The details of the run were deleted on ${day}`);
  };
  await refused(`continueRun(runId: "${runId}", prompt: "Go on.") { id }`);
  await refused(`forkMission(runId: "${runId}", stepId: "${stepId}", call: 1) { id }`);
  await refused(`createRunShare(runId: "${runId}") { address }`);
  await refused(
    `submitReview(input: { runId: "${runId}", headSha: "${'a'.repeat(40)}", verdict: comment, body: "Good." }) { id }`,
  );
});

it('an interrupted deletion of details changes nothing, and the next call repeats it', async () => {
  const missions = [await writeFullMission(shop), await writeFullMission(shop)];
  await world.knex.raw(
    `create function fail() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$`,
  );
  await world.knex.raw('create trigger fail before delete on terminals execute function fail()');
  try {
    expect(
      await tablesOf(async () => {
        await expect(condense()).rejects.toThrow('killed');
      }),
    ).toEqual({ gone: [], come: [] });
  } finally {
    await world.knex.raw('drop function fail cascade');
  }
  await deleteAfterRetention();
  for (const mission of missions) expect(await left(world, mission)).toEqual(nothing);
});

it('organizations take turns when details are deleted, so that none waits for the backlog or failure of another one', async () => {
  const [first, second] = [shop, other].sort((a, b) => (a.orgId < b.orgId ? -1 : 1)) as [Place, Place];
  await setDays(other);
  const ended = (place: Place, count: number) =>
    Array.from({ length: count }, () => ({
      ...{ id: newId('run'), ...place, kind: 'manual', status: 'completed' },
      ...{ scheduledFor: present(), createdAt: present(), updatedAt: present(), finishedAt: present() },
    }));
  await world.knex('runs').insert([...ended(first, 90), ...ended(second, 1)]);
  await condense();
  // Returns one organization per transaction that deleted details, in the order of the transactions.
  const written = `select distinct org_id, xmin::text::bigint as id from runs where kept is not null order by 2`;
  const batches = async () => (await world.knex.raw(written)).rows.map(({ org_id: orgId }: Json) => orgId);
  expect(await batches()).toEqual([first.orgId, second.orgId, ...Array(4).fill(first.orgId)]);

  await world.knex('runs').delete();
  await world.knex('runs').insert([...ended(first, 1), ...ended(second, 30)]);
  await world.knex.raw(
    `create function fail() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`,
  );
  await world.knex.raw(
    `create trigger fail before update on runs for each row when (old.org_id = '${first.orgId}') execute function fail()`,
  );
  try {
    await expect(condense()).rejects.toThrow('broken');
  } finally {
    await world.knex.raw('drop function fail cascade');
  }
  expect(await batches()).toEqual([second.orgId, second.orgId]);
});

it('no details are deleted in an organization that is moving to another cell', async () => {
  const mission = await writeMission(world, shop);
  const moving = {
    orgId: shop.orgId,
    slug: 'acme',
    state: 'frozen',
    otherCell: 'us',
    moveId: 'm',
    changedAt: present(),
  };
  await world.knex('cell_organizations').insert(moving);
  expect(await tablesOf(condense)).toEqual({ gone: [], come: [] });
  await world.knex('cell_organizations').delete();
  await deleteAfterRetention();
  expect(await left(world, mission)).toEqual(nothing);
});

it('artifacts that people have attached to the issue survive the deletion of a run’s details', async () => {
  const mission = await writeMission(world, shop);
  const { id } = await leaveArtifact(shop, 'picture', { issueId: 'SHOP-1', expiresAt: present() + days(90) });
  await condense();
  expect(await left(world, mission)).toEqual(nothing);
  expect(await world.knex('artifacts').where({ id })).toHaveLength(1);
});
