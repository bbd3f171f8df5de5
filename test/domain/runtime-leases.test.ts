// Runs that a runtime holds: heartbeats, the ends of runs, and runtimes that are silent, are late, or repeat a report.
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { releaseSilentRuns } from '#domain/work/runs/waiting.ts';
import { endOverdueSandboxes } from '#domain/work/sandboxes/end.ts';
import { days, minutes, seconds } from '#foundation/clock.ts';
import { watchStatements } from '#foundation/postgres/database.ts';
import { heartbeat } from '../../src/runner/generated/operations.ts';
import { rowsOf, written } from '../support/database-rows.ts';
import { beat, openRuntimeWorld } from '../support/runtime-world.ts';
import { present } from '../support/world.ts';

const { world, alice, mallory, runtime, foreign, runNow, run, taken, close, reset } = await openRuntimeWorld();
afterAll(close);
beforeEach(reset);

/** Starts a sandbox with an open session. Returns the arguments with which the runtime reports about the sandbox and about the session. */
async function sitting() {
  const held = await taken();
  const place = { sandboxId: await runtime.register(held), leaseId: held.leaseId };
  const session = { ...place, role: 'builder', sessionId: 'one' };
  await runtime.ask('reportSession', session);
  return { held, place, session };
}

it('a terminal is opened with the nearest allowed size, and refuses input while its shell has not read earlier input', async () => {
  const { runId } = await taken();
  const field = (text: string) => world.field(`mutation { ${text} }`, { token: alice });
  const { id, ...size } = await field(`openTerminal(runId: "${runId}", width: 9000, height: 0) { id width height }`);
  expect(size).toEqual({ width: 500, height: 5 });
  const unread = Array.from({ length: 64 }, (_, seq) => ({ terminalId: id, isInput: true, seq, content: 'x' }));
  await world.knex('terminal_pieces').insert(unread);
  const write = (seq: number) => field(`writeTerminal(terminalId: "${id}", seq: ${seq}, text: "x") { status }`);
  expect(await write(64)).toEqual({ status: 'requested' });
  expect(await write(65)).toMatchObject({
    code: 'conflict',
    description: 'The shell has not read its earlier input yet.',
    retryAfterSeconds: 1,
  });
  await world.knex('terminal_pieces').where({ terminalId: id }).del();
  expect(await write(0)).toEqual({ status: 'requested' });
});

describe('heartbeats of a runtime', () => {
  it('a heartbeat renews the lease, reports progress, and stores samples', async () => {
    const { held, place } = await sitting();
    world.clock.turn(seconds(10));
    const metrics = [8, 4].map((age, i) => ({
      t: present() - seconds(age),
      cpuPct: 50 + i,
      memUsedMb: 100,
      memTotalMb: 256,
      diskUsedPct: 3,
    }));
    const input = {
      runs: [{ ...held, progress: 40, activity: 'Reading' }],
      sandboxes: [{ ...place, metrics }],
    };
    const data = await runtime.ask('heartbeat', input, beat);
    expect(data).toEqual({
      runs: [{ runId: held.runId, desired: 'run', leaseUntil: present() + seconds(60) }],
      sandboxes: [{ sandboxId: place.sandboxId, desired: 'run' }],
      environments: [],
    });
    // The report is repeated, as after a lost response.
    await runtime.ask('heartbeat', input, beat);
    expect(await run(held.runId)).toMatchObject({ missionProgress: 40, missionActivity: 'Reading' });
    // When a sample is reported again with other values, the values of the first report are kept.
    const other = metrics.map((sample) => ({ ...sample, cpuPct: 99 }));
    await runtime.ask('heartbeat', { ...input, sandboxes: [{ ...place, metrics: other }] }, beat);
    // Progress never goes back.
    await runtime.ask('heartbeat', { runs: [{ ...held, progress: 10, activity: 'Writing' }] }, beat);
    expect(await run(held.runId)).toMatchObject({ missionProgress: 40, missionActivity: 'Writing' });
    const { body } = await world.rest('GET', `/sandboxes/${place.sandboxId}`, { token: alice });
    expect(body.metrics.map(({ cpuPct }: { cpuPct: number }) => cpuPct)).toEqual([50, 51]);
    expect(body.sandbox).toMatchObject({
      lastCpuPct: 51,
      lastMetricAt: present() - seconds(4),
      lastHeartbeatAt: present(),
    });
  });

  it('a heartbeat that renews a lease changes no indexed column, so that PostgreSQL updates no index', async () => {
    const { held, place } = await sitting();
    const rows = async () => [
      await world.knex('runs').where({ id: held.runId }).first(),
      await world.knex('sandboxes').where({ id: place.sandboxId }).first(),
    ];
    const before = await rows();
    world.clock.turn(seconds(10));
    const sample = { t: present() - 1, cpuPct: 50, memUsedMb: 100, memTotalMb: 256, diskUsedPct: 3 };
    const runs = [{ ...held, progress: 40, activity: 'Reading' }];
    await runtime.ask('heartbeat', { runs, sandboxes: [{ ...place, metrics: [sample] }] }, beat);
    const changed = (await rows()).map((row, n) => Object.keys(row).filter((name) => row[name] !== before[n][name]));
    expect(changed).toMatchObject([
      expect.arrayContaining(['leaseUntil', 'missionProgress', 'updatedAt']),
      expect.arrayContaining(['lastHeartbeatAt', 'lastMetricAt']),
    ]);
    // The query finds the columns in index keys and in the conditions of partial indexes.
    const indexed = (await world.knex.raw(`select distinct attname as name from pg_index
      join pg_attribute on attrelid = indrelid and (attnum = any(indkey::int2[]) or exists (select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = indexrelid and d.refobjid = indrelid and d.refobjsubid = attnum))
      where indrelid in ('runs'::regclass, 'sandboxes'::regclass)`)) as { rows: { name: string }[] };
    const names = new Set(indexed.rows.map(({ name }) => name));
    // The query finds a column of an index key (created_at), a column in the condition of an index (finished_at) and a column of a primary
    // key (id).
    for (const name of ['created_at', 'finished_at', 'id']) expect(names).toContain(name);
    const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    expect(
      changed
        .flat()
        .map(snakeCase)
        .filter((name) => names.has(name)),
    ).toEqual([]);
  });

  it('a heartbeat with eight missions costs less than one point of the rate limit', async () => {
    const runs = Array.from({ length: 8 }, (_, n) => ({ runId: `run_${n}`, leaseId: 'lease' }));
    const beatOf = async (count: number) => {
      const variables = { input: { runs: runs.slice(0, count) } };
      return (await world.graphql(heartbeat.text, { token: runtime.token, variables })).body.extensions.cost.requested;
    };
    const [one, all] = [await beatOf(1), await beatOf(8)];
    expect([one > 0, all - 1, all < 1_000]).toEqual([true, 8 * (one - 1), true]);
  });

  it('a heartbeat writes nothing and opens no transaction while nothing has changed since a recent one', async () => {
    const { held, place } = await sitting();
    const runs = [{ ...held, progress: 40, activity: 'Reading' }];
    const input = { runs, sandboxes: [{ ...place, metrics: [] }] };
    const seen = async (more: object = {}) => {
      const statements: string[] = [];
      const stop = watchStatements((text) => statements.push(text));
      const answer = await runtime.ask('heartbeat', { ...input, ...more }, beat).finally(stop);
      return { answer, writes: statements.some((text) => /^(begin|insert|update|with)/i.test(text)) };
    };
    const first = await seen();
    expect(first).toMatchObject({ writes: true, answer: { runs: [{ desired: 'run' }] } });
    expect(await seen()).toEqual({ answer: first.answer, writes: false });
    world.clock.turn(seconds(4));
    expect(await seen({ runs: [held] })).toEqual({ answer: first.answer, writes: false });
    world.clock.turn(seconds(1));
    const renewed = { desired: 'run', leaseUntil: present() + seconds(60) };
    expect(await seen()).toMatchObject({ answer: { runs: [renewed] }, writes: true });
    const changes = [{ runs: [{ ...held, progress: 41 }] }, { runs: [{ ...held, activity: 'Writing' }] }];
    for (const change of changes) expect((await seen(change)).writes).toBe(true);
    // The lease is recent, but the sandbox was not part of the latest report.
    world.clock.turn(seconds(4));
    await seen({ sandboxes: [], runs: [{ ...held, progress: 42 }] });
    world.clock.turn(seconds(2));
    expect(await seen({ runs: [held], sandboxes: [] })).toMatchObject({ writes: false });
    expect(await seen({ runs: [held] })).toMatchObject({ writes: true });
    expect(await seen({ runs: [held] })).toMatchObject({ writes: false });
    expect(await run(held.runId)).toMatchObject({ missionProgress: 42, missionActivity: 'Writing' });
  });

  it('the answer to a heartbeat tells the runtime to stop runs, sandboxes and environments that are canceled, killed or unknown', async () => {
    const { held, place } = await sitting();
    const others = { runId: 'run_unknown', leaseId: held.leaseId };
    await world.rest('POST', `/sandboxes/${place.sandboxId}/kill`, { token: alice });
    const input = { runs: [held, others], sandboxes: [{ ...place, metrics: [] }], environments: ['env_unknown'] };
    const stopped = await runtime.ask('heartbeat', input, beat);
    expect(stopped).toMatchObject({
      runs: [{ desired: 'run' }, { desired: 'stop', leaseUntil: null }],
      sandboxes: [{ desired: 'stop' }],
      environments: [{ desired: 'stop' }],
    });
    const cancel = 'mutation ($runId: String!) { cancelRun(runId: $runId) { status reason finishedAt } }';
    const canceled = await world.graphql(cancel, { token: alice, variables: { runId: held.runId } });
    expect(canceled.body.data.cancelRun).toEqual({
      status: 'canceled',
      reason: 'Canceled by a person.',
      finishedAt: present(),
    });
    expect(await runtime.ask('heartbeat', input, beat)).toMatchObject({
      runs: [{ desired: 'stop' }, { desired: 'stop' }],
    });
    // The last reports of the run are still accepted, and the run stays canceled.
    expect(
      await runtime.ask('reportSession', { ...place, role: 'builder', sessionId: 'one', outcome: 'stopped' }),
    ).toEqual({
      ok: true,
    });
    expect(await runtime.ask('finishRun', { ...held, status: 'failed' })).toEqual({ ok: true });
    expect((await run(held.runId)).status).toBe('canceled');
  });

  it('a heartbeat does not renew a run of another runtime', async () => {
    const { held, place } = await sitting();
    const input = { runs: [{ ...held, progress: 99 }], sandboxes: [{ ...place, metrics: [] }] };
    const data = await foreign.ask('heartbeat', input, beat);
    expect(data).toMatchObject({ runs: [{ desired: 'stop' }], sandboxes: [{ desired: 'stop' }] });
    expect((await run(held.runId)).missionProgress).toBeNull();
  });

  it('400 · a heartbeat with a sample from the future, or one that is too old, is refused as a whole', async () => {
    const { held, place } = await sitting();
    const sample = (t: number) => ({ t, cpuPct: 1, memUsedMb: 1, memTotalMb: 1, diskUsedPct: 1 });
    for (const t of [present() + minutes(2), present() - days(28)]) {
      const input = {
        runs: [{ ...held, progress: 77 }],
        sandboxes: [{ ...place, metrics: [sample(present()), sample(t)] }],
      };
      expect((await runtime.ask('heartbeat', input, beat)).description).toContain(
        'sandboxes.0.metrics.1.t: must be a time of the last 28 days',
      );
    }
    expect((await run(held.runId)).missionProgress).toBeNull();
    expect(await world.knex('sandbox_metrics').where({ sandboxId: place.sandboxId })).toEqual([]);
  });

  it('when its heartbeats stop, a run returns to the queue and its sandbox ends; after three claims, no runtime gets the run again', async () => {
    const { held, place, session } = await sitting();
    const sandboxes = async () => (await run(held.runId)).sandboxes;
    for (let i = 2; i <= 3; i++) {
      world.clock.turn(seconds(59));
      await releaseSilentRuns();
      expect((await run(held.runId)).status).toBe('running');
      world.clock.turn(seconds(1));
      await releaseSilentRuns();
      expect(await run(held.runId)).toMatchObject({
        status: 'dispatching',
        reason: 'The runtime Runtime stopped sending heartbeats: the run waits for this runtime, or for another one.',
        lastError: 'The runtime Runtime stopped sending heartbeats.',
        missionProgress: null,
      });
      const lost = { status: 'failed', terminationReason: 'the runtime was lost' };
      const here = i === 2 ? { status: 'running', terminationReason: null } : lost;
      expect(await sandboxes()).toEqual([{ sandboxId: place.sandboxId, ...here }]);
      expect(await runtime.claim()).toMatchObject({ runId: held.runId });
      expect(await sandboxes()).toEqual([{ sandboxId: place.sandboxId, ...lost }]);
      expect((await run(held.runId)).reason).toBeNull();
    }
    // The first runtime resumes: none of its reports counts any longer.
    const before = await rowsOf(world.knex);
    const lost = [
      await runtime.ask('reportCost', { ...held, costId: 'late', usd: 1 }),
      await runtime.ask(
        'registerSandbox',
        { ...held, key: 'b', role: 'builder', harness: 'codex', instanceType: 'lite' },
        '{ sandboxId }',
      ),
      await runtime.ask('appendLog', { ...session, part: 'session', seq: 0, content: 'late' }, '{ nextSeq }'),
      await runtime.ask(
        'appendFragments',
        { ...place, seq: 0, fragments: [{ kind: 'thought', t: present() }] },
        '{ nextSeq }',
      ),
      await runtime.ask('finishSandbox', { ...place, status: 'completed' }),
      await runtime.ask('createArtifactUpload', held, '{ contentKey }'),
      await runtime.ask('registerEnvironment', { ...held, key: 'preview' }, '{ environmentId }'),
      await runtime.ask('finishRun', { ...held, status: 'completed' }),
      await runtime.ask('handBackRun', { ...held, reason: 'late' }),
    ];
    expect(lost.map(({ code }) => code)).toEqual(lost.map(() => 'lease_lost'));
    expect(await runtime.ask('heartbeat', { runs: [held] }, beat)).toMatchObject({ runs: [{ desired: 'stop' }] });
    expect(written(before, await rowsOf(world.knex))).toEqual({ gone: [], come: [] });
    // The first runtime is told to stop not only the run, but also the sandbox of the run.
    expect(await runtime.ask('heartbeat', { sandboxes: [{ ...place, metrics: [] }] }, beat)).toMatchObject({
      sandboxes: [{ desired: 'stop' }],
    });
    const killed = await world.rest('POST', `/sandboxes/${place.sandboxId}/kill`, { token: alice });
    expect([killed.status, (await sandboxes())[0].status]).toEqual([409, 'failed']);
    world.clock.turn(seconds(60));
    await releaseSilentRuns();
    expect((await run(held.runId)).status).toBe('dispatching');
    expect(await runtime.claim()).toBeNull();
  });

  it('a run whose heartbeats stop for ten minutes fails, and so does its sandbox', async () => {
    const { held, place } = await sitting();
    world.clock.turn(minutes(10) - 1);
    await releaseSilentRuns();
    await endOverdueSandboxes();
    expect(await run(held.runId)).toMatchObject({ status: 'dispatching', sandboxes: [{ status: 'stale' }] });
    world.clock.turn(1);
    await releaseSilentRuns();
    await endOverdueSandboxes();
    expect(await run(held.runId)).toMatchObject({
      status: 'failed',
      finishedAt: present(),
      reason: 'The runtime Runtime did not reconnect within 10 minutes, and no other runtime claimed the run.',
      sandboxes: [{ sandboxId: place.sandboxId, status: 'failed', terminationReason: 'the runtime was lost' }],
    });
    expect(await runtime.ask('heartbeat', { runs: [held] }, beat)).toMatchObject({ runs: [{ desired: 'stop' }] });
    expect(await runtime.claim()).toBeNull();
  });

  it('a runtime whose heartbeats resume in time keeps its run, and finishes it', async () => {
    const { held, place, session } = await sitting();
    world.clock.turn(minutes(9));
    await releaseSilentRuns();
    expect(await run(held.runId)).toMatchObject({ status: 'dispatching', sandboxes: [{ status: 'stale' }] });
    // A report before the heartbeat counts as well.
    const piece = { ...session, part: 'session', seq: 0, content: 'still here' };
    expect(await runtime.ask('appendLog', piece, '{ nextSeq }')).toEqual({ nextSeq: 1 });
    const kept = await world.knex('sandbox_log_parts').where({ sandboxId: place.sandboxId });
    expect(kept).toMatchObject([{ appendedAt: present() }]);
    const both = { runs: [{ ...held, progress: 50 }], sandboxes: [{ ...place, metrics: [] }] };
    expect(await runtime.ask('heartbeat', both, beat)).toMatchObject({
      runs: [{ desired: 'run', leaseUntil: present() + seconds(60) }],
      sandboxes: [{ desired: 'run' }],
    });
    expect(await run(held.runId)).toMatchObject({
      status: 'running',
      reason: null,
      lastError: null,
      missionProgress: 50,
      sandboxes: [{ status: 'running' }],
    });
    expect(await runtime.claim()).toBeNull();
    world.clock.turn(minutes(2));
    await releaseSilentRuns();
    expect(await runtime.ask('finishRun', { ...held, status: 'completed' })).toEqual({ ok: true });
    expect(await run(held.runId)).toMatchObject({ status: 'completed', sandboxes: [{ status: 'completed' }] });
  });

  it('a sandbox ends when its time limit has passed', async () => {
    const held = await taken();
    const input = {
      ...held,
      key: 'short',
      role: 'builder',
      harness: 'codex',
      instanceType: 'lite',
      timeoutAt: present() + 1,
    };
    const { sandboxId } = await runtime.ask('registerSandbox', input, '{ sandboxId }');
    await endOverdueSandboxes();
    const state = async () => (await run(held.runId)).sandboxes;
    expect(await state()).toEqual([{ sandboxId, status: 'running', terminationReason: null }]);
    world.clock.turn(1);
    await endOverdueSandboxes();
    expect(await state()).toEqual([{ sandboxId, status: 'destroyed', terminationReason: 'timeout' }]);
  });
});

describe('ends of runs', () => {
  it('the end of a run ends its sandboxes, and a repeated report changes nothing', async () => {
    const { held, place } = await sitting();
    world.clock.turn(seconds(5));
    expect(await runtime.ask('finishRun', { ...held, status: 'completed' })).toEqual({ ok: true });
    const ended = await run(held.runId);
    expect(ended).toMatchObject({
      status: 'completed',
      missionProgress: 100,
      finishedAt: present(),
      scheduledTask: { name: 'Check' },
      sandboxes: [{ sandboxId: place.sandboxId, status: 'completed', terminationReason: 'the run has ended' }],
    });
    world.clock.turn(seconds(5));
    expect(await runtime.ask('finishRun', { ...held, status: 'completed' })).toEqual({ ok: true });
    expect((await runtime.ask('finishRun', { ...held, status: 'failed' }))?.code).toBe('lease_lost');
    expect(await run(held.runId)).toEqual(ended);
    await releaseSilentRuns();
    expect(await run(held.runId)).toEqual(ended);
  });

  it('after a runtime has handed back a run, the run waits ten seconds before a runtime can claim it with a new lease', async () => {
    const { held, place } = await sitting();
    expect(await runtime.ask('handBackRun', { ...held, reason: 'shutting down' })).toEqual({ ok: true });
    expect(await run(held.runId)).toMatchObject({
      status: 'dispatching',
      missionActivity: 'Handed back: shutting down',
    });
    expect(await runtime.claim()).toBeNull();
    world.clock.turn(seconds(10));
    const next = await runtime.claim();
    expect(next).toMatchObject({ runId: held.runId });
    expect(next.leaseId).not.toBe(held.leaseId);
    expect((await run(held.runId)).sandboxes).toEqual([
      { sandboxId: place.sandboxId, status: 'failed', terminationReason: 'handed back' },
    ]);
  });

  it('a person can cancel a waiting run repeatedly, but not an ended one; another organization gets 404', async () => {
    const runId = await runNow();
    const cancel = (id: string, token = alice) =>
      world.graphql('mutation ($id: String!) { cancelRun(runId: $id) { status } }', { token, variables: { id } });
    expect((await cancel(runId, mallory)).body.errors[0].extensions.code).toBe('not_found');
    for (const _ of [1, 2]) expect((await cancel(runId)).body.data).toEqual({ cancelRun: { status: 'canceled' } });
    expect(await runtime.claim()).toBeNull();
    const held = await taken();
    await runtime.ask('finishRun', { ...held, status: 'failed', error: 'exit code 1' });
    expect(await run(held.runId)).toMatchObject({ status: 'failed', lastError: 'exit code 1' });
    expect((await cancel(held.runId)).body.errors[0].message).toContain('has ended (failed)');
  });
});

describe('runs over GraphQL', () => {
  it('runs are listed page by page, of one project or in one status', async () => {
    const list = async (args: string, token = alice) =>
      (await world.graphql(`{ runs(${args}) { data { id status projectId } nextCursor } }`, { token })).body.data.runs;
    const { data, nextCursor } = await list('limit: 2');
    expect(data).toHaveLength(2);
    const more = await list(`limit: 2, cursor: "${nextCursor}"`);
    expect(more.data[0].id).not.toBe(data[1].id);
    expect((await list('status: failed')).data.every(({ status }: { status: string }) => status === 'failed')).toBe(
      true,
    );
    expect(await list('projectId: "prj_none"')).toEqual({ data: [], nextCursor: null });
    expect(await list('limit: 5', mallory)).toEqual({ data: [], nextCursor: null });
  });
});
