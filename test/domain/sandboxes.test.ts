// Sandboxes: runtimes report about them, and people of the organization read, filter and end them.
import { afterAll, describe, expect, it } from 'vitest';
import { desiredOf, type Sandbox } from '#domain/work/sandboxes/model.ts';
import { hours, minutes, seconds } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { watchStatements } from '#foundation/postgres/database.ts';
import { previewSizes } from '#limits.ts';
import { createCallersWithProjects, createOwner, createProject } from '../support/callers.ts';
import {
  measure,
  type Place,
  showFragments,
  startSandbox,
  startSession,
  writeLog,
} from '../support/runtime-records.ts';
import { openWorld, present } from '../support/world.ts';

const world = await openWorld();
const { owner, viewer, stranger, shop, other, foreign, projectToken } = await createCallersWithProjects(world);
afterAll(() => world.close());

const get = (path: string, token = owner.token) => world.rest('GET', `/sandboxes${path}`, { token });
const ids = async (query = '', token = owner.token): Promise<string[]> =>
  (await get(query, token)).body.data.map(({ sandboxId }: { sandboxId: string }) => sandboxId);
const kill = ({ id }: Pick<Sandbox, 'id'>, token = owner.token) =>
  world.rest('POST', `/sandboxes/${id}/kill`, { token });
const record = async ({ id }: Sandbox) => (await get(`/${id}`)).body.sandbox;

describe('GET /sandboxes', () => {
  it('200 · sandboxes are listed newest first, with every field', async () => {
    const older = await startSandbox(shop);
    world.clock.turn(1);
    const runId = newId('run');
    const times = { scheduledFor: present(), createdAt: present(), updatedAt: present() };
    await world.knex('runs').insert({ id: runId, ...shop, kind: 'manual', status: 'completed', ...times });
    const more = {
      issueId: 'WEB-12',
      runId,
      harnessVersion: '2.0.1',
      timeoutAt: present() + hours(1),
      lastCpuPct: 12.5,
      lastMemUsedMb: 512,
      lastMemTotalMb: 4_096,
      lastDiskUsedPct: 30.25,
      lastMetricAt: present(),
    };
    const newer = await startSandbox(shop, more);
    const { status, body } = await get('?limit=2');
    expect(status).toBe(200);
    expect(body.data[1].sandboxId).toBe(older.id);
    expect(body.data[0]).toEqual({
      sandboxId: newer.id,
      projectId: shop.projectId,
      role: 'builder',
      harness: 'claude-code',
      status: 'running',
      terminationReason: null,
      instanceType: 'standard-1',
      createdAt: present(),
      lastHeartbeatAt: present(),
      destroyedAt: null,
      ...more,
    });
  });

  it('200 · sandboxes are listed page by page, each once, with null as the last cursor', async () => {
    const made = new Set<string>();
    for (let i = 0; i < 5; i++) made.add((await startSandbox(other)).id); // all have the same creation time: their ids decide the order
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = `?projectId=${other.projectId}&limit=2${cursor && `&cursor=${cursor}`}`;
      const { body }: Awaited<ReturnType<typeof get>> = await get(query);
      seen.push(...body.data.map(({ sandboxId }: { sandboxId: string }) => sandboxId));
      cursor = body.nextCursor;
    }
    expect(seen).toEqual([...made].sort().reverse());
    const { nextCursor } = (await get(`?projectId=${other.projectId}&limit=2`)).body;
    for (const query of ['', `?projectId=${shop.projectId}`, `?projectId=${other.projectId}&status=running`]) {
      expect((await get(`${query || '?'}&cursor=${nextCursor}`)).status).toBe(400);
    }
  });

  it('200 · the filter by status finds a sandbox by the status in its record, even at the exact millisecond at which the sandbox becomes stale', async () => {
    const place = { orgId: shop.orgId, projectId: other.projectId };
    const status = async (sandbox: Sandbox) => {
      const found = [];
      for (const word of ['running', 'stale', 'destroyed', 'completed', 'failed']) {
        if ((await ids(`?status=${word}&projectId=${other.projectId}`)).includes(sandbox.id)) found.push(word);
      }
      return [(await record(sandbox)).status, ...found];
    };
    const silent = await startSandbox(place);
    world.clock.turn(minutes(2) - 1);
    expect(await status(silent)).toEqual(['running', 'running']);
    world.clock.turn(1);
    expect(await status(silent)).toEqual(['stale', 'stale']);
    await world.knex('sandboxes').where({ id: silent.id }).update({ lastHeartbeatAt: present() });
    expect(await status(silent)).toEqual(['running', 'running']);
    for (const word of ['completed', 'failed'] as const) {
      expect(await status(await startSandbox(place, { status: word, lastHeartbeatAt: 0 }))).toEqual([word, word]);
    }
    const gone = { status: 'destroyed' as const, destroyedAt: present(), lastHeartbeatAt: 0 };
    expect(await status(await startSandbox(place, gone))).toEqual(['destroyed', 'destroyed']);
  });

  it('200 · a project-bound token lists only sandboxes of its project; a filter by a project that the caller cannot access finds nothing', async () => {
    const [ours, theirs] = [await startSandbox(shop), await startSandbox(other)];
    const mine = await ids('', projectToken);
    expect([mine.includes(ours.id), mine.includes(theirs.id)]).toEqual([true, false]);
    expect(await ids(`?projectId=${shop.projectId}`, projectToken)).toEqual(mine);
    for (const [projectId, token] of [
      [other.projectId, projectToken],
      [foreign.projectId, owner.token],
      ['prj_none', owner.token],
    ]) {
      expect((await get(`?projectId=${projectId}`, token)).body).toEqual({ data: [], nextCursor: null });
    }
    expect(await ids('', stranger.token)).toEqual([]);
  });

  it.each([
    ['limit=0', 'limit: must be at least 1.'],
    ['limit=501', 'limit: must be at most 500.'],
    ['status=asleep', 'status: must be one of running, stale, destroyed, completed, failed.'],
    [`projectId=${'p'.repeat(201)}`, 'projectId: must be at most 200 characters.'],
  ])('400 · a list of sandboxes is refused for the query %s', async (query, words) => {
    const { status, body } = await get(`?${query}`);
    expect([status, body.description]).toEqual([400, words]);
  });

  it('200 · a page has 1 to 500 sandboxes', async () => {
    expect((await get('?limit=1')).body.data.length).toBe(1);
    expect((await get('?limit=500')).status).toBe(200);
  });
});

describe('GET /sandboxes/{sandboxId}', () => {
  it('200 · a sandbox has its metrics, sessions and live fragments, and each of these lists is in order', async () => {
    const sandbox = await startSandbox(shop);
    const start = present();
    await measure(sandbox, start, seconds(10), [1, 2.5, 3]);
    const [first, second] = [
      await startSession(sandbox, { role: 'planner', outcome: 'completed', totalCostUsd: 0.1234 }),
      await startSession(sandbox, { startedAt: start + 1 }),
    ];
    await writeLog(first, 'session', ['Hello']);
    await writeLog(first, 'system', ['Booted']);
    await showFragments(sandbox, [
      { body: 'Where is it?' },
      { kind: 'action', action: 'grep', parameter: 'TODO', result: '3 lines', toolUseId: 'toolu_1' },
      { kind: 'plan', items: [{ content: 'Fix it', status: 'pending' }] },
    ]);
    const nothing = { body: null, action: null, parameter: null, result: null, toolUseId: null, items: [] };
    const memory = { memTotalMb: 4_096, diskUsedPct: 12.5 };
    const { status, body } = await get(`/${sandbox.id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      sandbox: expect.objectContaining({ sandboxId: sandbox.id, status: 'running' }),
      metrics: [
        { t: start, cpuPct: 1, memUsedMb: 1_024, ...memory },
        { t: start + 10_000, cpuPct: 2.5, memUsedMb: 1_025, ...memory },
        { t: start + 20_000, cpuPct: 3, memUsedMb: 1_026, ...memory },
      ],
      sessions: [
        {
          role: 'planner',
          sessionId: first.sessionId,
          ts: new Date(start).toISOString(),
          outcome: 'completed',
          logKey: `${sandbox.id}/planner/${first.sessionId}/session`,
          systemKey: `${sandbox.id}/planner/${first.sessionId}/system`,
          totalCostUsd: 0.1234,
        },
        {
          role: 'builder',
          sessionId: second.sessionId,
          ts: new Date(start + 1).toISOString(),
          outcome: null,
          logKey: null,
          systemKey: null,
          totalCostUsd: 0,
        },
      ],
      liveFragments: [
        { ...nothing, kind: 'thought', t: start, body: 'Where is it?' },
        {
          ...nothing,
          kind: 'action',
          t: start,
          action: 'grep',
          parameter: 'TODO',
          result: '3 lines',
          toolUseId: 'toolu_1',
        },
        { ...nothing, kind: 'plan', t: start, items: [{ content: 'Fix it', status: 'pending' }] },
      ],
    });
  });

  it('200 · a sandbox for which nothing was reported has empty lists', async () => {
    const { body } = await get(`/${(await startSandbox(shop)).id}`);
    expect(body).toMatchObject({ metrics: [], sessions: [], liveFragments: [] });
  });

  it('200 · metrics of a sandbox are averaged into a limited number of points, in order', async () => {
    const sandbox = await startSandbox(shop);
    const start = present();
    const cpu = Array.from({ length: 3_000 }, (_, i) => (i % 2 === 0 ? 20 : 40));
    await measure(sandbox, start, seconds(5), cpu);
    const { metrics } = (await get(`/${sandbox.id}`)).body;
    expect(metrics.length).toBe(previewSizes.metrics);
    const times = metrics.map(({ t }: { t: number }) => t);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.at(-1)).toBe(start + 2_999 * 5_000);
    for (const { cpuPct } of metrics) expect(Math.abs(cpuPct - 30)).toBeLessThan(1);
  });

  it('200 · a sandbox with very many fragments and sessions shows only the newest', async () => {
    const sandbox = await startSandbox(shop);
    await showFragments(
      sandbox,
      Array.from({ length: previewSizes.fragments + 5 }, (_, i) => ({ body: `${i}` })),
    );
    for (let i = 0; i < previewSizes.sessions + 2; i++) {
      await startSession(sandbox, { startedAt: present() + i, sessionId: `n-${i}` });
    }
    const { liveFragments, sessions } = (await get(`/${sandbox.id}`)).body;
    expect([liveFragments.length, liveFragments[0].body, liveFragments.at(-1).body]).toEqual([200, '5', '204']);
    expect([sessions.length, sessions[0].sessionId, sessions.at(-1).sessionId]).toEqual([100, 'n-2', 'n-101']);
  });

  it('404 · a sandbox of another organization, or outside the token’s project, gets the same answer as an unknown one', async () => {
    const [theirs, beside] = [await startSandbox(foreign), await startSandbox(other)];
    const unknown = await get('/sbx_none');
    expect(unknown.status).toBe(404);
    for (const [id, token] of [
      [theirs.id, owner.token],
      [beside.id, projectToken],
    ] as const) {
      const answer = await get(`/${id}`, token);
      expect([answer.status, answer.body]).toEqual([404, unknown.body]);
    }
  });
});

it('GraphQL returns the recorded fragments of an agent’s work in pages, back to the first fragment', async () => {
  const sandbox = await startSandbox(shop);
  await showFragments(
    sandbox,
    Array.from({ length: 450 }, (_, i) => ({ body: `${i}` })),
  );
  const read = async (args: string) => {
    const query = `{ sandbox(sandboxId: "${sandbox.id}") { fragments${args} { data { body } nextCursor } } }`;
    const { body } = await world.graphql(query, { token: owner.token });
    return body.data?.sandbox.fragments ?? body.errors[0].message;
  };
  const all: string[] = [];
  let [pages, args] = [0, ''];
  for (; ; pages++) {
    const { data, nextCursor } = await read(args);
    all.unshift(...data.map(({ body }: { body: string }) => body));
    if (!nextCursor) break;
    args = `(cursor: "${nextCursor}")`;
  }
  expect([pages, all]).toEqual([2, Array.from({ length: 450 }, (_, i) => `${i}`)]);
  expect(await read('(limit: 0)')).toContain('limit: must be at least 1');
  expect(await read('(limit: 201)')).toContain('limit: must be at most 200');
  expect(await read('(cursor: "x")')).toContain('cursor: must be');
});

describe('POST /sandboxes/{sandboxId}/kill', () => {
  it('200 · killing a sandbox ends it, tells its runtime to stop, and can be repeated', async () => {
    const sandbox = await startSandbox(shop);
    const { status, body } = await kill(sandbox);
    expect([status, body]).toEqual([200, { ok: true, sandboxId: sandbox.id }]);
    const killed = await record(sandbox);
    expect(killed).toMatchObject({ status: 'destroyed', terminationReason: 'killed', destroyedAt: present() });
    world.clock.turn(1_000);
    expect((await kill(sandbox)).body).toEqual(body);
    expect(await record(sandbox)).toEqual(killed);
    expect([desiredOf(sandbox.status), desiredOf(killed.status)]).toEqual(['run', 'stop']);
  });

  it('200 · a stale sandbox can be killed; one that has already ended keeps its reason', async () => {
    const silent = await startSandbox(shop, { lastHeartbeatAt: 0 });
    expect((await kill(silent)).status).toBe(200);
    expect((await record(silent)).terminationReason).toBe('killed');
    const late = await startSandbox(shop, { status: 'destroyed', terminationReason: 'timeout', destroyedAt: 5 });
    expect((await kill(late)).status).toBe(200);
    expect(await record(late)).toMatchObject({ terminationReason: 'timeout', destroyedAt: 5 });
  });

  it.each(['completed', 'failed'] as const)(
    '409 · a sandbox that has %s cannot be killed, and keeps its status',
    async (status) => {
      const sandbox = await startSandbox(shop, { status });
      const answer = await kill(sandbox);
      expect([answer.status, answer.body.description]).toEqual([409, `The sandbox has already ended (${status}).`]);
      expect((await record(sandbox)).status).toBe(status);
    },
  );

  it('a sandbox that is killed and completed at the same time ends either as killed or as completed', async () => {
    const sandbox = await startSandbox(shop);
    const complete = () =>
      world.knex('sandboxes').where({ id: sandbox.id, status: 'running' }).update({ status: 'completed' });
    const [answer, completed] = await Promise.all([kill(sandbox), complete()]);
    expect([answer.status, completed, (await record(sandbox)).status]).toEqual(
      answer.status === 200 ? [200, 0, 'destroyed'] : [409, 1, 'completed'],
    );
  });

  it('403, 404 · a sandbox is not killed without the scope, or from outside its project or organization', async () => {
    const [ours, beside, theirs] = [await startSandbox(shop), await startSandbox(other), await startSandbox(foreign)];
    expect((await kill(ours, viewer.token)).body.description).toContain('missing-scope:sandboxes:write');
    expect((await kill(beside, projectToken)).status).toBe(404);
    expect((await kill(theirs)).status).toBe(404);
    expect((await kill({ id: 'sbx_none' })).status).toBe(404);
    const rows = await world.knex('sandboxes').whereIn('id', [ours.id, beside.id, theirs.id]);
    expect(rows.map(({ status }) => status)).toEqual(Array(3).fill('running'));
    expect((await kill(ours, projectToken)).status).toBe(200);
  });
});

it('a sandbox is deleted with its project, and so is everything stored for it', async () => {
  const projectId = await createProject(world, owner, 'Short');
  const sandbox = await startSandbox({ orgId: shop.orgId, projectId });
  await writeLog(await startSession(sandbox), 'session', ['x']);
  await showFragments(sandbox, [{ body: 'x' }]);
  await world.rest('DELETE', `/projects/${projectId}`, { token: owner.token });
  expect((await get(`/${sandbox.id}`)).status).toBe(404);
  for (const table of ['sandbox_sessions', 'sandbox_log_parts', 'sandbox_fragments']) {
    expect(await world.knex(table).where({ sandboxId: sandbox.id })).toEqual([]);
  }
});

it('a GraphQL query reads projects with their sandboxes in the same number of SQL statements, however many sandboxes exist', async () => {
  const { organization: gadgets, token } = await createOwner(world, 'Gina', 'Gadgets');
  const projects: string[] = [];
  for (const name of ['one', 'two']) {
    projects.push(await createProject(world, { token }, name));
    world.clock.turn(1);
  }
  const fill = async (count: number) => {
    for (const projectId of projects as Place['projectId'][]) {
      for (let i = 0; i < count; i++) {
        const sandbox = await startSandbox({ orgId: gadgets.id, projectId });
        await startSession(sandbox);
        await measure(sandbox, present(), 1_000, Array(previewSizes.sparkline * 2).fill(5));
      }
    }
  };
  const query = `{ projects(limit: 5) { data { name sandboxes {
    status project { name } sessions { outcome } sparkline { cpuPct } } } } }`;
  const ask = async () => {
    let statements = 0;
    const stop = watchStatements(() => statements++);
    const { body } = await world.graphql(query, { token });
    stop();
    expect(body.errors).toBe(undefined);
    return { statements, data: body.data.projects.data };
  };
  await fill(1);
  const few = await ask();
  await fill(11);
  const many = await ask();
  expect(few.data[0].sandboxes[0]).toEqual({
    status: 'running',
    project: { name: 'two' },
    sessions: [{ outcome: null }],
    sparkline: Array(previewSizes.sparkline).fill({ cpuPct: 5 }),
  });
  expect(many.data.map((project: { sandboxes: [] }) => project.sandboxes.length)).toEqual([12, 12]);
  expect(many.statements).toBe(few.statements);
  await fill(10);
  expect((await ask()).data[0].sandboxes.length).toBe(previewSizes.perParent);
  const page = `{ sandboxes(limit: 1, projectId: "${projects[0]}", status: running) { data { sandboxId } nextCursor } }`;
  expect((await world.graphql(page, { token })).body.data.sandboxes.data.length).toBe(1);
});
