// Reports of a runtime on its runs: costs, logs, thoughts and plans of a sandbox, artifacts, and environments.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expireEnvironments } from '#domain/work/environments/operations.ts';
import { releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { minutes, seconds } from '#foundation/clock.ts';
import { announce, watch } from '#foundation/postgres/changes.ts';
import { transaction, watchStatements } from '#foundation/postgres/database.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { rowsOf, written } from '../support/database-rows.ts';
import { createRuntime, type Held, type Runtime } from '../support/runtime-client.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let alice: string;
let runtime: Runtime;
let foreign: Runtime;
let projectId: string;

beforeAll(async () => {
  world = await openWorld();
  const owner = await createOwner(world, 'Alice', 'Acme');
  const stranger = await createOwner(world, 'Mallory', 'Globex');
  alice = owner.token;
  runtime = await createRuntime(world, owner.organization);
  foreign = await createRuntime(world, stranger.organization);
  projectId = await createProject(world, owner, 'Shop');
});
afterAll(() => world.close());
// Each test begins without open runs.
beforeEach(() => world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' }));

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

const refused = ({ code, description }: Json) => [code, description];
const run = (runId: string): Promise<Json> =>
  world.field(
    `query ($runId: String!) { run(runId: $runId) { missionCostUsd missionCostIncomplete
      sandboxes { sandboxId status terminationReason } artifacts { id kind caption } } }`,
    { token: alice, variables: { runId } },
  );

/** A run on which this runtime has a lease. */
async function taken(): Promise<Held> {
  const start = `mutation { startMission(projectId: "${projectId}", prompt: "Check it.") { id } }`;
  await world.field(start, { token: alice });
  return runtime.claim();
}
/** Starts a sandbox with an open session. Returns the arguments with which the runtime reports about the sandbox and about the session. */
async function sitting() {
  const held = await taken();
  const place = { sandboxId: await runtime.register(held), leaseId: held.leaseId };
  const session = { ...place, role: 'builder', sessionId: 'one' };
  await runtime.report('reportSession', session);
  return { held, place, session };
}

describe('reports of a runtime', () => {
  it('the reported costs of a script are shown in full, but charged only up to a limit', async () => {
    const spent = async () => (await world.rest('GET', '/orchestrator', { token: alice })).body.dailySpendUsd;
    const before = await spent();
    const query = `mutation ($projectId: String!) {
      startMission(projectId: $projectId, agentId: "agn_builtin_shell", prompt: "echo ::cost 1e3") { id } }`;
    await world.graphql(query, { token: alice, variables: { projectId } });
    const { runId, leaseId } = await runtime.claim({ harnesses: ['shell'] });
    await runtime.ask('reportCost', { runId, leaseId, costId: 'one', usd: 0.25 });
    for (const costId of ['two', 'three']) await runtime.ask('reportCost', { runId, leaseId, costId, usd: 1_000 });
    expect((await run(runId)).missionCostUsd).toBe(2_000.25);
    expect((await spent()) - before).toBeCloseTo(10, 6);
    await runtime.finish({ runId, leaseId });
  });

  it('a reported cost counts once, for the run, the session and the day', async () => {
    const { held, place, session } = await sitting();
    const spent = async () => (await world.rest('GET', '/orchestrator', { token: alice })).body.dailySpendUsd;
    const before = await spent();
    const cost = {
      ...held,
      costId: 'call-1',
      usd: 0.000125,
      sandboxId: place.sandboxId,
      role: 'builder',
      sessionId: 'one',
    };
    await Promise.all([1, 2, 3].map(() => runtime.ask('reportCost', cost)));
    await runtime.ask('reportCost', { ...held, costId: 'call-2', usd: 1.5, incomplete: true });
    expect(await run(held.runId)).toMatchObject({ missionCostUsd: 1.500125, missionCostIncomplete: true });
    expect((await spent()) - before).toBeCloseTo(1.500125, 6);
    const { body } = await world.rest('GET', `/sandboxes/${session.sandboxId}`, { token: alice });
    expect(body.sessions).toMatchObject([{ sessionId: 'one', totalCostUsd: 0.000125 }]);
    const other = await sitting();
    expect(
      refused(await runtime.ask('reportCost', { ...held, costId: 'x', usd: 1, sandboxId: other.place.sandboxId })),
    ).toEqual(['not_found', 'No such sandbox.']);
    for (const usd of [-1, 10_001])
      expect(refused(await runtime.ask('reportCost', { ...held, costId: 'x', usd }))[1]).toMatch(/^usd: must/);
  });

  it('a sandbox is created once per key, however often it is registered', async () => {
    const held = await taken();
    const ids = await Promise.all([1, 2, 3].map(() => runtime.register(held, { key: 'same' })));
    expect(new Set(ids).size).toBe(1);
    expect(await runtime.register(held, { key: 'another' })).not.toBe(ids[0]);
  });

  it('pieces of a log are appended in order and once; gaps, and other content under an existing number, are refused', async () => {
    const { session } = await sitting();
    const append = (seq: number, content: string, more: object = {}) =>
      runtime.ask('appendLog', { ...session, part: 'session', seq, content, ...more }, '{ nextSeq }');
    expect(await append(0, 'one ')).toEqual({ nextSeq: 1 });
    expect(refused(await append(2, 'three'))).toEqual([
      'conflict',
      'seq: must be 1, the next number: 2 would leave a gap.',
    ]);
    const twice = await Promise.all([append(1, 'two'), append(1, 'two')]);
    expect(twice).toEqual([{ nextSeq: 2 }, { nextSeq: 2 }]);
    expect(await append(0, 'one ')).toEqual({ nextSeq: 2 });
    expect(refused(await append(0, 'other'))).toEqual(['conflict', 'seq: 0 already exists with different content.']);
    expect(refused(await append(2, 'x', { part: 'prompt' }))[1]).toBe('spanId: is required when part is prompt.');
    expect(refused(await append(2, 'x', { spanId: 'a' }))[1]).toBe('spanId: is allowed only with the part prompt.');
    expect(refused(await append(2, 'x', { sessionId: 'unknown' }))[0]).toBe('not_found');
    expect(refused(await append(2, 'x'.repeat(65_537)))[1]).toBe('content: must be at most 65536 characters.');
    await append(0, 'Be kind.', { part: 'prompt', spanId: 'AGENTS.md' });
    const log = async (part: string) =>
      (
        await world.rest('GET', `/sandboxes/${session.sandboxId}/logs?role=builder&sessionId=one&part=${part}`, {
          token: alice,
        })
      ).body;
    expect(await log('session')).toMatchObject({ content: 'one two', bytes: 7 });
    expect(await log('prompt')).toMatchObject({ promptSpans: [{ id: 'AGENTS.md', content: 'Be kind.' }] });
  });

  it('thoughts of an agent are shown in order and once', async () => {
    const { place } = await sitting();
    const t = present();
    const append = (seq: number, ...bodies: string[]) =>
      runtime.ask(
        'appendFragments',
        { ...place, seq, fragments: bodies.map((body) => ({ kind: 'thought', t, body })) },
        '{ nextSeq }',
      );
    expect(await append(0, 'a', 'b')).toEqual({ nextSeq: 2 });
    expect(await append(1, 'b', 'c')).toEqual({ nextSeq: 3 });
    expect(await append(0, 'a')).toEqual({ nextSeq: 3 });
    expect(refused(await append(1, 'x', 'c', 'd'))[1]).toBe('seq: 1 already exists with different content.');
    expect(refused(await append(4, 'e'))[1]).toBe('seq: must be 3, the next number: 4 would leave a gap.');
    const { body } = await world.rest('GET', `/sandboxes/${place.sandboxId}`, { token: alice });
    expect(body.liveFragments.map(({ body }: { body: string }) => body)).toEqual(['a', 'b', 'c']);
  });

  it('the next entries are appended in one statement without a transaction; of two conflicting reports of the same entries, one is stored', async () => {
    const { place, session } = await sitting();
    const thoughts = (...bodies: string[]) => bodies.map((body) => ({ kind: 'thought', t: present(), body }));
    const append = (seq: number, ...bodies: string[]) =>
      runtime.ask('appendFragments', { ...place, seq, fragments: thoughts(...bodies) }, '{ nextSeq }');
    const statements: string[] = [];
    const stop = watchStatements((text) => statements.push(text));
    await append(0, 'a', 'b');
    await runtime
      .ask('appendLog', { ...session, part: 'session', seq: 0, content: 'one' }, '{ nextSeq }')
      .finally(stop);
    const sent = (start: RegExp) => statements.filter((text) => start.test(text)).length;
    expect([sent(/^begin/i), sent(/^(with|insert|update)/), sent(/from "?sandbox/)]).toEqual([0, 2, 2]);
    const answers = await Promise.all([append(2, 'c', 'd'), append(2, 'C', 'D', 'E')]);
    expect(answers.map((one) => one.nextSeq ?? refused(one)[1])).toContain(
      'seq: 2 already exists with different content.',
    );
    const { body } = await world.rest('GET', `/sandboxes/${place.sandboxId}`, { token: alice });
    const bodies = body.liveFragments.map(({ body }: { body: string }) => body).join('');
    expect(['abcd', 'abCDE']).toContain(bodies);
  });

  it('a later fragment with the same id shows how a tool call ended; REST does not return the exit code', async () => {
    const { place } = await sitting();
    const call = { kind: 'action', action: 'Bash', toolUseId: 'toolu_1', t: present() };
    const end = { ...call, result: '1 failed', failed: true, exitCode: 1 };
    const fragments = [{ ...call, parameter: 'npm test' }, end];
    expect(await runtime.ask('appendFragments', { ...place, seq: 0, fragments }, '{ nextSeq }')).toEqual({
      nextSeq: 2,
    });
    expect(await runtime.ask('appendFragments', { ...place, seq: 1, fragments: [end] }, '{ nextSeq }')).toEqual({
      nextSeq: 2,
    });
    const query = `{ sandbox(sandboxId: "${place.sandboxId}") { liveFragments { toolUseId result failed exitCode } } }`;
    expect((await world.graphql(query, { token: alice })).body.data.sandbox.liveFragments).toEqual([
      { toolUseId: 'toolu_1', result: null, failed: null, exitCode: null },
      { toolUseId: 'toolu_1', result: '1 failed', failed: true, exitCode: 1 },
    ]);
    const { body } = await world.rest('GET', `/sandboxes/${place.sandboxId}`, { token: alice });
    expect(Object.keys(body.liveFragments[1])).not.toContain('exitCode');
  });

  it.each([
    ['completed', ['completed', 'completed', 'skipped', 'waits for Bob']],
    ['failed', ['completed', 'failed', 'skipped', 'waits for Bob']],
    ['killed', ['completed', 'canceled', 'skipped', 'waits for Bob']],
  ])('when a sandbox ends as %s, the unfinished steps of its last plan end too', async (how, statuses) => {
    const { held, place } = await sitting();
    const planOf = (...all: string[]) => ({
      kind: 'plan',
      t: present(),
      items: all.map((status, i) => ({ content: `Step ${i}`, status })),
    });
    const fragments = [
      planOf('in_progress', 'pending'),
      planOf('completed', 'in_progress', 'pending', 'waits for Bob'),
      { kind: 'thought', t: present(), body: 'Hm' },
    ];
    await runtime.ask('appendFragments', { ...place, seq: 0, fragments }, '{ nextSeq }');
    const shown = async (): Promise<string[][]> => {
      const query = `{ sandbox(sandboxId: "${place.sandboxId}") {
        liveFragments { items { status } } first: fragments { data { items { status } } }
        newest: fragments(limit: 1) { nextCursor } } }`;
      const { liveFragments, first, newest } = (await world.graphql(query, { token: alice })).body.data.sandbox;
      expect(first.data).toEqual(liveFragments);
      const older = `{ sandbox(sandboxId: "${place.sandboxId}") {
        fragments(limit: 1, cursor: "${newest.nextCursor}") { data { items { status } } } } }`;
      const page = (await world.graphql(older, { token: alice })).body.data.sandbox.fragments.data;
      expect(page).toEqual([liveFragments[1]]);
      return liveFragments.map(({ items }: { items: { status: string }[] }) => items.map(({ status }) => status));
    };
    const first = ['in_progress', 'pending'];
    expect(await shown()).toEqual([first, ['completed', 'in_progress', 'pending', 'waits for Bob'], []]);
    if (how === 'killed') await world.rest('POST', `/sandboxes/${place.sandboxId}/kill`, { token: alice });
    else await runtime.ask('finishRun', { ...held, status: how });
    expect(await shown()).toEqual([first, statuses, []]);
  });

  it('a killed sandbox stays destroyed when its runtime reports its end', async () => {
    const { held, place } = await sitting();
    await world.rest('POST', `/sandboxes/${place.sandboxId}/kill`, { token: alice });
    expect(await runtime.ask('finishSandbox', { ...place, status: 'failed' })).toEqual({ ok: true });
    expect((await run(held.runId)).sandboxes).toEqual([
      { sandboxId: place.sandboxId, status: 'destroyed', terminationReason: 'killed' },
    ]);
  });

  it('404 · reports of another organization’s runtime are refused, and change nothing', async () => {
    const { held, place, session } = await sitting();
    const before = await rowsOf(world.knex);
    const foreigners = [
      await foreign.ask('reportCost', { ...held, costId: 'c', usd: 1 }),
      await foreign.ask('reportSession', session),
      await foreign.ask('finishSandbox', { ...place, status: 'failed' }),
      await foreign.ask('finishRun', { ...held, status: 'failed' }),
      await foreign.ask('handBackRun', { ...held, reason: 'r' }),
    ];
    expect(foreigners.map(({ code }) => code)).toEqual(foreigners.map(() => 'not_found'));
    expect((await runtime.ask('finishRun', { ...held, status: 'failed' }, '{ ok }', alice)).code).toBe('missing_scope');
    expect(written(before, await rowsOf(world.knex))).toEqual({ gone: [], come: [] });
  });
});

it('a piece of a log is announced to readers of its sandbox', async () => {
  const { session } = await sitting();
  const { signal } = new AbortController();
  // Announcements arrive in order, so those of the session have arrived once a later one has.
  const marker = watch(['marker'], signal);
  await marker.next();
  await transaction((trx) => announce(trx, 'marker'));
  await marker.next();
  const reader = watch([session.sandboxId], signal);
  await reader.next();
  const told = reader.next();
  await runtime.report('appendLog', { ...session, part: 'session', seq: 0, content: 'line\n' }, '{ nextSeq }');
  expect(await told).toEqual({ done: false, value: undefined });
  await Promise.all([marker.return(undefined), reader.return(undefined)]);
});

describe('artifacts of a runtime', () => {
  const register = (held: object, contentKey: string, more: object = {}, { ask } = runtime) =>
    ask(
      'registerArtifact',
      {
        ...held,
        contentKey,
        role: 'qa',
        kind: 'report',
        contentType: 'text/markdown',
        caption: 'What was seen',
        ...more,
      },
      '{ artifactId }',
    );
  const reserve = (held: object): Promise<{ contentKey: string; uploadUrl: string }> =>
    runtime.ask('createArtifactUpload', held, '{ contentKey uploadUrl expiresAt }');

  it('artifacts of a script are deleted when another runtime restarts it', async () => {
    const shell = { harnesses: ['shell'] };
    const query = `mutation { startMission(projectId: "${projectId}", prompt: "true", agentId: "agn_builtin_shell") { id } }`;
    const runId = (await world.graphql(query, { token: alice })).body.data.startMission.id;
    const attempt = async () => {
      const { leaseId } = await runtime.claim(shell);
      const held = { runId, leaseId };
      const input = { ...held, key: 'step', role: 'builder', harness: 'shell', instanceType: 'lite' };
      const { sandboxId } = await runtime.ask('registerSandbox', input, '{ sandboxId }');
      const { contentKey, uploadUrl } = await reserve(held);
      await fetch(uploadUrl, { method: 'PUT', body: '# Fine' });
      return (await register(held, contentKey, { sandboxId })).artifactId;
    };
    const first = await attempt();
    expect((await run(runId)).artifacts).toMatchObject([{ id: first }]);
    world.clock.turn(seconds(61));
    await releaseSilentRuns();
    const second = await attempt();
    expect((await run(runId)).artifacts).toMatchObject([{ id: second }]);
    expect((await world.rest('GET', `/artifacts/${first}`, { token: alice })).status).toBe(404);
  });

  it('an artifact is uploaded, registered once, and downloaded unchanged', async () => {
    const { held, place } = await sitting();
    const { contentKey, uploadUrl } = await reserve(held);
    expect(refused(await register(held, contentKey))[0]).toBe('conflict');
    expect((await fetch(uploadUrl, { method: 'PUT', body: '# Fine' })).status).toBe(201);
    const more = { sandboxId: place.sandboxId, sessionId: 'one', criterion: 'It is fine', criterionPassed: true };
    const made = await Promise.all([1, 2, 3].map(() => register(held, contentKey, more)));
    expect(new Set(made.map(({ artifactId }) => artifactId)).size).toBe(1);
    const { body } = await world.rest('GET', `/artifacts/${made[0].artifactId}`, { token: alice });
    expect(body).toMatchObject({ ...more, sizeBytes: 6, caption: 'What was seen', role: 'qa', projectId });
    expect(await (await fetch(body.url)).text()).toBe('# Fine');
    expect((await run(held.runId)).artifacts).toEqual([{ id: body.id, kind: 'report', caption: 'What was seen' }]);
  });

  it('404 · an artifact is refused when its content is unknown, its sandbox belongs to another run, or its sender to another organization', async () => {
    const [mine, other] = [await sitting(), await sitting()];
    const { contentKey } = await reserve(mine.held);
    expect(refused(await register(mine.held, 'cnt_unknown'))[0]).toBe('not_found');
    expect(refused(await register(mine.held, contentKey, { sandboxId: other.place.sandboxId }))[0]).toBe('not_found');
    expect(refused(await register(mine.held, contentKey, {}, foreign))[0]).toBe('not_found');
    expect(refused(await register(mine.held, contentKey, { contentType: 'png' }))[1]).toContain(
      'contentType: must be a media type',
    );
  });
});

describe('environments of a runtime', () => {
  it('an environment is reported by its runtime, which is told to stop it, and reports its removal', async () => {
    const held = await taken();
    const make = () =>
      runtime.ask(
        'registerEnvironment',
        { ...held, key: 'preview', prNumber: 7, workerName: 'w' },
        '{ environmentId }',
      );
    const [made, again] = await Promise.all([make(), make()]);
    expect(again).toEqual(made);
    const environmentId = made.environmentId;
    const move = (status: string) => runtime.ask('moveEnvironment', { environmentId, status });
    expect(await move('active')).toEqual({ ok: true });
    expect(await move('active')).toEqual({ ok: true });
    const wanted = async () =>
      (await runtime.ask('heartbeat', { environments: [environmentId] }, '{ environments { environmentId desired } }'))
        .environments;
    expect(await wanted()).toEqual([{ environmentId, desired: 'run' }]);
    await world.rest('DELETE', `/environments/${environmentId}`, { token: alice });
    expect(await wanted()).toEqual([{ environmentId, desired: 'stop' }]);
    // The run may have ended long before its environment ends.
    await runtime.finish(held);
    expect(await move('destroyed')).toEqual({ ok: true });
    expect(refused(await move('active'))).toEqual([
      'conflict',
      'status: the environment is destroyed; allowed next: none.',
    ]);
    const { body } = await world.rest('GET', `/environments/${environmentId}`, { token: alice });
    expect(body.environment).toMatchObject({ status: 'destroyed', destroyedAt: present(), prNumber: 7 });
  });
});

describe('expired environments', () => {
  it('an expired environment gets the status destroying, and fails when its runtime does not remove it', async () => {
    const held = await taken();
    const input = { ...held, key: 'short', expiresAt: present() + seconds(1) };
    const { environmentId } = await runtime.ask('registerEnvironment', input, '{ environmentId }');
    await runtime.ask('moveEnvironment', { environmentId, status: 'active' });
    const status = async () =>
      (await world.rest('GET', `/environments/${environmentId}`, { token: alice })).body.environment.status;
    await expireEnvironments();
    expect(await status()).toBe('active');
    world.clock.turn(seconds(1));
    await expireEnvironments();
    expect(await status()).toBe('destroying');
    world.clock.turn(minutes(10));
    await expireEnvironments();
    expect(await status()).toBe('failed');
  });
});
