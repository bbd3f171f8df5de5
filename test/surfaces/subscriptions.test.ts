// GraphQL subscriptions from the reader's view: events, even across processes; permission to read and its duration; and cleanup after
// a reader disconnects. Over real HTTP, with events parsed as any program parses them.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days, hours, minutes, seconds } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, transaction, watchStatements } from '#foundation/postgres/database.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { graphql, previewSizes, report, subscriptions } from '#limits.ts';
import { schema } from '#schema.ts';
import { maxCheckAgeMs } from '#surfaces/graphql/subscriptions.ts';
import { toolsOf } from '#surfaces/mcp/tools.ts';
import { createSlotLimiter, recheckIntervalMs } from '#surfaces/subscription-slots.ts';
import { openBrowser } from '../support/browser.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { freePort, type ServiceProcess, startService } from '../support/processes.ts';
import { createRuntime, type Held, type Runtime } from '../support/runtime-client.ts';
import { measure, showFragments } from '../support/runtime-records.ts';
import { type Event, eventsOf } from '../support/server-sent-events.ts';
import { type Ask, openWorld, present, type World } from '../support/world.ts';

let world: World;
let owner: Person;
let acme: Organization;
let alice: string;
let runtime: Runtime;
let projectId: string;
let task: string;
/** Open readers, closed after each test. */
const readers: AbortController[] = [];

beforeAll(async () => {
  world = await openWorld();
  const account = await createOwner(world, 'Alice', 'Acme');
  ({ person: owner, organization: acme, token: alice } = account);
  runtime = await createRuntime(world, acme);
  projectId = await createProject(world, account, 'Shop');
  const schedule = { interval: 'weekly', weekday: 'monday', time: '09:00', timezone: 'UTC' };
  const mission = { projectId, name: 'Check', prompt: 'echo checked', triggers: [{ kind: 'schedule', schedule }] };
  task = (await world.rest('POST', '/scheduled-tasks', { token: alice, body: mission })).body.id;
});
afterAll(() => world.close());
beforeEach(() => world.knex('runs').whereIn('status', ['dispatching', 'running']).update({ status: 'canceled' }));
afterEach(async () => {
  vi.useRealTimers();
  for (const reader of readers.splice(0)) reader.abort();
  await until(async () => (await openNow()) === 0);
});

/** Subscriptions that the process counts as open. */
async function openNow(): Promise<number> {
  const { body } = await world.request('GET', '/metrics');
  return Number(/^graphql_subscriptions_open (\d+)$/m.exec(body)![1]);
}

async function until(fulfilled: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await fulfilled()); tries++) {
    if (tries === 10_000) throw new Error(`never: ${fulfilled}`);
    await pause(10);
  }
}

interface Reading {
  status: number;
  headers: Headers;
  /** The next event; undefined after the last. One that repeats its predecessor is skipped: a change may be announced twice. */
  next(): Promise<Event | undefined>;
  /** Data of the next event. */
  news(): Promise<Event['data']>;
  leave(): void;
}

/** Data of the only subscribed field. */
const dataOf = ({ data }: Event): Event['data'] => Object.values(data.data)[0];

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function subscribe(
  query: string,
  variables: object = {},
  headers: object = bearer(alice),
  url = world.url,
): Promise<Reading> {
  const leaving = new AbortController();
  readers.push(leaving);
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
    signal: leaving.signal,
  });
  const events = eventsOf(response);
  let last: unknown;
  const next = async (): Promise<Event | undefined> => {
    const event = (await events.next()).value as Event | undefined;
    if (event?.name !== 'next' || event.data.errors) return event;
    const data = dataOf(event);
    const quiet = !data.fragments?.length && !data.metrics?.length;
    const state = data.fragments ? { ...data, fragments: [], metrics: [] } : data;
    const repeated = quiet && isDeepStrictEqual(state, last);
    last = state;
    return repeated ? next() : event;
  };
  const news = async (): Promise<Event['data']> => {
    const event = await next();
    expect(event?.name).toBe('next');
    return event!.data.errors ?? dataOf(event!);
  };
  return {
    status: response.status,
    headers: response.headers,
    next,
    news,
    leave: () => leaving.abort(),
  };
}

const complete: Event = { name: 'complete', data: null };
/** Expects that the events end with this problem. */
async function expectEnd(reading: Reading, code: string, description: unknown = expect.any(String)): Promise<void> {
  const [error, ...others] = await reading.news();
  expect([error.extensions.code, error.message, others]).toEqual([code, description, []]);
  expect(error.extensions.problem.code).toBe(code);
  expect([await reading.next(), await reading.next()]).toEqual([complete, undefined]);
}

const runNow = async (): Promise<string> =>
  (await world.rest('POST', `/scheduled-tasks/${task}/run`, { token: alice })).body.runId;
async function taken() {
  await runNow();
  return runtime.claim();
}
const progress = (held: Held, activity: string) => runtime.beat(held, { activity });
/** A run that the runtime holds, with a sandbox. */
async function working() {
  const held = await taken();
  const sandboxId = await runtime.register(held);
  return { held, sandboxId, place: { sandboxId, leaseId: held.leaseId } };
}
type Place = Awaited<ReturnType<typeof working>>['place'];
const thoughts = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `thought ${from + i}`);
const think = (place: Place, from: number, to: number) =>
  runtime.report(
    'appendFragments',
    {
      ...place,
      seq: from,
      fragments: thoughts(from, to).map((body) => ({ kind: 'thought', t: present(), body, items: [] })),
    },
    '{ nextSeq }',
  );

const onRun = 'subscription ($runId: String!) { runUpdated(runId: $runId) { status missionActivity } }';
const onSandbox = `subscription ($sandboxId: String!, $after: Int) {
  sandboxUpdated(sandboxId: $sandboxId, after: $after) {
    sandbox { status } fragments { body } nextFragment metrics { t cpuPct }
  } }`;

describe('a subscribed run', () => {
  it('is sent at once, then after each change, and is complete at its end', async () => {
    const runId = await runNow();
    const reading = await subscribe(onRun, { runId });
    expect(reading.status).toBe(200);
    expect(Object.fromEntries(reading.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    expect(reading.headers.has('content-encoding')).toBe(false);
    expect(await reading.next()).toEqual({
      name: 'next',
      data: {
        data: { runUpdated: { status: 'dispatching', missionActivity: null } },
        extensions: { cost: { requested: 3, maximum: graphql.cost } },
      },
    });
    const held = await runtime.claim();
    expect(await reading.news()).toEqual({ status: 'running', missionActivity: null });
    await progress(held, 'Reading');
    expect(await reading.news()).toEqual({ status: 'running', missionActivity: 'Reading' });
    await runtime.finish(held);
    expect(await reading.news()).toEqual({ status: 'completed', missionActivity: 'Reading' });
    expect([await reading.next(), await reading.next()]).toEqual([complete, undefined]);
  });

  it('is sent once when it has already ended', async () => {
    const held = await taken();
    await runtime.finish(held, { status: 'failed', error: 'no' });
    const reading = await subscribe(onRun, { runId: held.runId });
    expect(await reading.news()).toEqual({ status: 'failed', missionActivity: null });
    expect([await reading.next(), await reading.next()]).toEqual([complete, undefined]);
  });

  it('is read again for each event, with its related records', async () => {
    const held = await taken();
    const reading = await subscribe(
      'subscription ($runId: String!) { runUpdated(runId: $runId) { sandboxes { status } project { name } } }',
      held,
    );
    const project = { name: 'Shop' };
    expect(await reading.news()).toEqual({ sandboxes: [], project });
    const sandboxId = await runtime.register(held);
    expect(await reading.news()).toEqual({ sandboxes: [{ status: 'running' }], project });
    await world.rest('POST', `/sandboxes/${sandboxId}/kill`, { token: alice });
    expect(await reading.news()).toEqual({ sandboxes: [{ status: 'destroyed' }], project });
  });

  it('is sent as canceled when its mission is deleted', async () => {
    const schedule = { interval: 'weekly', weekday: 'monday', time: '09:00', timezone: 'UTC' };
    const body = { projectId, name: 'Gone', prompt: 'x', triggers: [{ kind: 'schedule', schedule }] };
    const { id } = (await world.rest('POST', '/scheduled-tasks', { token: alice, body })).body;
    const { runId } = (await world.rest('POST', `/scheduled-tasks/${id}/run`, { token: alice })).body;
    const reading = await subscribe(onRun, { runId });
    expect((await reading.news()).status).toBe('dispatching');
    await world.rest('DELETE', `/scheduled-tasks/${id}`, { token: alice });
    expect((await reading.news()).status).toBe('canceled');
    expect(await reading.next()).toEqual(complete);
  });

  it('is not sent after a change that was rolled back', async () => {
    const held = await taken();
    const reading = await subscribe(onRun, held);
    await reading.news();
    const undone = transaction(async (trx) => {
      await trx('runs').where({ id: held.runId }).update({ missionActivity: 'never' });
      await announce(trx, held.runId);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await progress(held, 'really');
    expect((await reading.news()).missionActivity).toBe('really');
  });

  it('loses no change when the connection that listens for changes is cut', async () => {
    const held = await taken();
    const reading = await subscribe(onRun, held);
    await reading.news();
    const listeners = `from pg_stat_activity where query = 'listen changes' and datname = current_database()`;
    expect(await sql(`select pg_terminate_backend(pid) ${listeners}`)).toHaveLength(1);
    await progress(held, 'unheard');
    // After the reconnection all readers read again, so an unchanged state is sent once more.
    expect((await reading.news()).missionActivity).toBe('unheard');
    await until(async () => (await sql(`select ${listeners}`)).length === 1);
    await progress(held, 'heard');
    expect((await reading.news()).missionActivity).toBe('heard');
  });
});

describe('a subscribed sandbox', () => {
  it('sends each fragment and each sample once, and is complete when it was killed', async () => {
    const { place, sandboxId } = await working();
    await think(place, 0, 2);
    const beat = (...t: number[]) => {
      const metrics = t.map((at) => ({ t: at, cpuPct: 50, memUsedMb: 1, memTotalMb: 2, diskUsedPct: 3 }));
      return runtime.report(
        'heartbeat',
        { runs: [], sandboxes: [{ ...place, metrics }], environments: [] },
        '{ sandboxes { desired } }',
      );
    };
    const start = present() - minutes(1);
    await beat(start, start + 1_000);
    const sandbox = { status: 'running' };
    const points = (...t: number[]) => t.map((at) => ({ t: at, cpuPct: 50 }));
    const reading = await subscribe(onSandbox, { sandboxId });
    expect(await reading.news()).toEqual({
      sandbox,
      fragments: [{ body: 'thought 0' }, { body: 'thought 1' }],
      nextFragment: 2,
      metrics: points(start, start + 1_000),
    });
    await think(place, 2, 3);
    expect(await reading.news()).toEqual({ sandbox, fragments: [{ body: 'thought 2' }], nextFragment: 3, metrics: [] });
    await beat(start + 1_000, start + 2_000, start + 3_000);
    expect(await reading.news()).toEqual({
      sandbox,
      fragments: [],
      nextFragment: 3,
      metrics: points(start + 2_000, start + 3_000),
    });
    await world.rest('POST', `/sandboxes/${sandboxId}/kill`, { token: alice });
    expect(await reading.news()).toEqual({
      sandbox: { status: 'destroyed' },
      fragments: [],
      nextFragment: 3,
      metrics: [],
    });
    expect([await reading.next(), await reading.next()]).toEqual([complete, undefined]);
  });

  it('sends a reader that resumes at the number of the next fragment each of the later fragments once', async () => {
    const { place, sandboxId } = await working();
    const heard: string[] = [];
    let after: number | null = null;
    for (let visit = 0; visit < 4; visit++) {
      const reading = await subscribe(onSandbox, { sandboxId, after });
      for (let event = 0; event < 2; event++) {
        if (event > 0) await think(place, after!, after! + 3);
        const { fragments, nextFragment } = await reading.news();
        heard.push(...fragments.map(({ body }: { body: string }) => body));
        after = nextFragment;
      }
      reading.leave();
      await think(place, after!, after! + 2);
    }
    expect(heard).toEqual(thoughts(0, 18));
  });

  it('sends the last 200 fragments first; with a sequence number, all fragments from it, 200 at a time', async () => {
    const { sandboxId } = await working();
    const many = 2 * previewSizes.fragments + 50;
    await showFragments(
      { id: sandboxId } as never,
      thoughts(0, many).map((body) => ({ body })),
    );
    await measure({ id: sandboxId as never }, present() - hours(1), 1_000, Array(2 * previewSizes.metrics).fill(10));
    const bodies = ({ fragments }: { fragments: { body: string }[] }) => fragments.map(({ body }) => body);

    const last = await (await subscribe(onSandbox, { sandboxId })).news();
    expect([bodies(last), last.nextFragment, last.metrics.length]).toEqual([
      thoughts(many - previewSizes.fragments, many),
      many,
      previewSizes.metrics,
    ]);
    const reading = await subscribe(onSandbox, { sandboxId, after: 0 });
    const all = [await reading.news(), await reading.news(), await reading.news()];
    expect(all.map(bodies)).toEqual([thoughts(0, 200), thoughts(200, 400), thoughts(400, many)]);
    expect(all.map(({ metrics }) => metrics.length)).toEqual([previewSizes.metrics, 0, 0]);
    const ahead = await (await subscribe(onSandbox, { sandboxId, after: many + 5 })).news();
    expect([ahead.fragments, ahead.nextFragment]).toEqual([[], many + 5]);
  });

  it('is sent completely when it ends before everything was read', async () => {
    const { place, sandboxId } = await working();
    await showFragments(
      { id: sandboxId } as never,
      thoughts(0, 450).map((body) => ({ body })),
    );
    await runtime.report('finishSandbox', { ...place, status: 'completed' });
    const reading = await subscribe(onSandbox, { sandboxId, after: 0 });
    const sizes = [await reading.news(), await reading.news(), await reading.news()].map(
      ({ fragments }) => fragments.length,
    );
    expect([sizes, await reading.next()]).toEqual([[200, 200, 50], complete]);
  });
});

describe('the permissions of a subscription', () => {
  it('404 · a record that is unknown, of another organization or of another project is refused before any event', async () => {
    const mallory = await world.person('Mallory');
    const theirs = await world.token(mallory, await world.found(mallory, 'Globex'));
    const otherId = await createProject(world, { token: alice }, 'Other');
    const bound = await world.token(owner, acme, { projectId: otherId });
    const { held, sandboxId } = await working();
    for (const [token, variables] of [
      [theirs, { runId: held.runId, sandboxId }],
      [bound, { runId: held.runId, sandboxId }],
      [alice, { runId: sandboxId, sandboxId: held.runId }],
    ] as const) {
      await expectEnd(await subscribe(onRun, { runId: variables.runId }, bearer(token)), 'not_found', 'No such run.');
      const on = await subscribe(onSandbox, { sandboxId: variables.sandboxId }, bearer(token));
      await expectEnd(on, 'not_found', 'No such sandbox.');
    }
  });

  it('401 and 403 · are answered as for every request', async () => {
    const { runId } = await taken();
    const nobody = await subscribe(onRun, { runId }, {});
    expect(nobody.status).toBe(401);
    const lesser = await world.token(owner, acme, { scopes: ['projects:read'] });
    await expectEnd(
      await subscribe(onRun, { runId }, bearer(lesser)),
      'missing_scope',
      expect.stringContaining('missing-scope:missions:read'),
    );
    const session = await world.session(owner, acme.id);
    const cookie = { cookie: `session=${session.secret}`, 'sec-fetch-site': 'same-origin' };
    expect((await subscribe(onRun, { runId }, cookie)).status).toBe(403);
    const admitted = await subscribe(onRun, { runId }, { ...cookie, 'x-csrf-token': session.csrf });
    expect((await admitted.news()).status).toBe('running');
  });

  /** Ways to lose the permission to read, each with the problem at the end. */
  const losses: Record<
    string,
    (runId: string) => Promise<[headers: object, lose: () => Promise<unknown>, code: string]>
  > = {
    'a token that is revoked': async () => {
      const session = await world.session(owner, acme.id);
      const body = { name: 'Reader', scopes: ['missions:read'] };
      const { token, id } = (await world.rest('POST', '/tokens', { session, body })).body;
      return [bearer(token), () => world.rest('DELETE', `/tokens/${id}`, { session }), 'unauthenticated'];
    },
    'a token that is over': async () => {
      const token = await world.token(owner, acme);
      return [bearer(token), () => change(token, { expiresAt: present() }), 'unauthenticated'];
    },
    'a token that has lost its scope': async () => {
      const token = await world.token(owner, acme, { scopes: ['missions:read', 'agents:read'] });
      return [bearer(token), () => change(token, { scopes: ['agents:read'] }), 'missing_scope'];
    },
    'the session of somebody who signs out': async () => {
      const session = await world.session(owner, acme.id);
      const headers = {
        cookie: `session=${session.secret}`,
        'sec-fetch-site': 'same-origin',
        'x-csrf-token': session.csrf,
      };
      const signOut = () => world.knex('sessions').update({ endedAt: present() });
      return [headers, signOut, 'unauthenticated'];
    },
    'the session of somebody who has left the organization': async () => {
      const bob = await world.person('Bob');
      await world.join(acme, bob, 'viewer');
      const session = await world.session(bob, acme.id);
      const headers = {
        cookie: `session=${session.secret}`,
        'sec-fetch-site': 'same-origin',
        'x-csrf-token': session.csrf,
      };
      return [headers, () => world.knex('memberships').where({ userId: bob.id }).delete(), 'missing_scope'];
    },
  };
  const change = (token: string, changes: object) =>
    world
      .knex('tokens')
      .where({ digest: digest(token) })
      .update(changes);
  const each = Object.entries(losses);

  it.each(each)('%s ends with its problem before the next change is sent', async (_, loss) => {
    const held = await taken();
    const [headers, lose, code] = await loss(held.runId);
    const reading = await subscribe(onRun, held, headers);
    await reading.news();
    await lose();
    world.clock.turn(maxCheckAgeMs);
    await progress(held, 'secret');
    await expectEnd(reading, code);
  });

  it.each(each)('%s ends with its problem when nothing changes at all', async (_, loss) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const held = await taken();
    const [headers, lose, code] = await loss(held.runId);
    const reading = await subscribe(onRun, held, headers);
    await reading.news();
    vi.advanceTimersByTime(seconds(10));
    await lose();
    vi.advanceTimersByTime(seconds(15));
    await expectEnd(reading, code);
  });

  it('an event shows what the caller may see at that time', async () => {
    const held = await taken();
    const token = await world.token(owner, acme, { scopes: ['missions:read', 'sandboxes:read'] });
    const query = 'subscription ($runId: String!) { runUpdated(runId: $runId) { missionActivity sandboxes { role } } }';
    const reading = await subscribe(query, held, bearer(token));
    expect(await reading.news()).toEqual({ missionActivity: null, sandboxes: [] });
    await change(token, { scopes: ['missions:read'] });
    world.clock.turn(maxCheckAgeMs);
    await progress(held, 'more');
    const [error] = await reading.news();
    expect([error.extensions.code, error.path]).toEqual(['missing_scope', ['runUpdated', 'sandboxes']]);
  });

  it('checking a session again neither renews it nor moves it to the person’s current organization', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const held = await taken();
    const session = await world.session(owner, acme.id);
    const headers = {
      cookie: `session=${session.secret}`,
      'sec-fetch-site': 'same-origin',
      'x-csrf-token': session.csrf,
    };
    const reading = await subscribe(onRun, held, headers);
    await reading.news();
    const elsewhere = await world.found(owner, 'Initech');
    await world.knex('sessions').where({ endedAt: null }).update({ orgId: elsewhere.id });
    const before = await world.knex('sessions').where({ endedAt: null });
    world.clock.turn(minutes(2));
    vi.advanceTimersByTime(recheckIntervalMs);
    await progress(held, 'still here');
    expect((await reading.news()).missionActivity).toBe('still here');
    expect(await world.knex('sessions').where({ endedAt: null })).toEqual(before);
  });
});

describe('the bounds of subscriptions', () => {
  it('429 · more than ten subscriptions of one credential are refused; one that ends makes room', async () => {
    const { runId } = await taken();
    const open = await Promise.all(
      Array.from({ length: subscriptions.perCredential }, () => subscribe(onRun, { runId })),
    );
    await Promise.all(open.map((reading) => reading.news()));
    expect(await openNow()).toBe(10);
    const refused = await subscribe(onRun, { runId });
    expect(refused.headers.get('retry-after')).toBe('10');
    await expectEnd(refused, 'rate_limited', 'A credential may have 10 subscriptions open at once. Try again in 10 s.');
    const another = await subscribe(onRun, { runId }, bearer(await world.token(owner, acme)));
    expect((await another.news()).status).toBe('running');
    open[0]!.leave();
    await until(async () => (await openNow()) === 10);
    expect((await (await subscribe(onRun, { runId })).news()).status).toBe('running');
  });

  it.each([
    ['credential', 'A credential may have 2 subscriptions open at once.', { credentialId: 'a' }],
    ['person', 'A person may have 3 subscriptions open at once.', { userId: 'usr_1' as const }],
    ['organization', 'An organization may have 4 subscriptions open at once.', { orgId: 'org_1' as const }],
    ['process', 'Too many subscriptions are open.', {}],
  ])('429 · refuse more subscriptions than the limit of a %s; another is served', (_title, words, same) => {
    const take = createSlotLimiter({ perCredential: 2, perPerson: 3, perOrganization: 4, perProcess: 5 });
    const other = (n: number) => ({ credentialId: `${n}`, userId: `usr_${n}0`, orgId: `org_${n}0` }) as const;
    const slots: (() => void)[] = [];
    for (;;) {
      try {
        slots.push(take({ ...other(slots.length + 1), ...same }));
      } catch (error) {
        expect(error).toMatchObject({ status: 429, message: `${words} Try again in 10 s.` });
        break;
      }
    }
    if (slots.length < 5) take(other(9))();
    slots.pop()!();
    take({ ...other(8), ...same })();
    for (const leave of slots) leave();
    const again = [1, 2, 3, 4, 5].map((n) => take(other(n)));
    expect(() => take(other(6))).toThrow('Too many subscriptions are open.');
    for (const leave of again) leave();
  });

  it('refused subscriptions leave nothing open', async () => {
    await (await subscribe(onRun, { runId: 'none' })).news();
    const { body } = await world.graphql('subscription { runUpdated(runId: "none") { id } }', {
      token: alice,
      headers: { accept: 'application/json' },
    });
    expect(body.errors[0].extensions.code).toBe('invalid_request');
    await until(async () => (await openNow()) === 0);
  });

  it('a subscription completes an hour after its start, and its reader reconnects', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const held = await taken();
    const reading = await subscribe(onRun, held);
    await reading.news();
    world.clock.turn(subscriptions.lifetimeMs - 1);
    vi.advanceTimersByTime(recheckIntervalMs);
    await progress(held, 'late');
    expect((await reading.news()).missionActivity).toBe('late');
    world.clock.turn(1);
    vi.advanceTimersByTime(recheckIntervalMs);
    expect([await reading.next(), await reading.next()]).toEqual([complete, undefined]);
  });

  it('a ping comes at least every 15 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { runId } = await taken();
    const body = JSON.stringify({ query: onRun, variables: { runId } });
    const leaving = new AbortController();
    readers.push(leaving);
    const headers = { ...bearer(alice), accept: 'text/event-stream', 'content-type': 'application/json' };
    const answer = await fetch(`${world.url}/graphql`, { method: 'POST', headers, body, signal: leaving.signal });
    const chunks = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const more = async (wanted: RegExp) => {
      while (!wanted.test(text)) text += (await chunks.read()).value;
    };
    await more(/^event: next\ndata: .+\n\n/m);
    text = '';
    vi.advanceTimersByTime(seconds(15));
    await more(/^:\n\n/);
  });

  it('a reader that does not read gets no more events: no memory grows, and after its hour the connection is closed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { held, place } = await working();
    for (let i = 0; i < previewSizes.sessions; i++) {
      await runtime.report('reportSession', { ...place, role: 'builder', sessionId: `${i}`.padEnd(200, 'x') });
    }
    // An event of half a megabyte.
    const sessions = Array.from({ length: 25 }, (_, i) => `s${i}: sessions { sessionId }`).join(' ');
    const query = `subscription ($runId: String!) { runUpdated(runId: $runId) { sandboxes { ${sessions} } } }`;
    const text = JSON.stringify({ query, variables: { runId: held.runId } });
    const head = [
      'POST /graphql HTTP/1.1',
      'host: localhost',
      `authorization: Bearer ${alice}`,
      'accept: text/event-stream',
    ];
    const type = ['content-type: application/json', `content-length: ${text.length}`];
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1').pause();
    socket.write(`${[...head, ...type].join('\r\n')}\r\n\r\n${text}`);
    await until(async () => (await openNow()) === 1);
    let reads = 0;
    const unwatch = watchStatements((statement) => {
      if (statement.includes('sandbox_sessions')) reads++;
    });
    /** Makes this many changes, and returns how many of them were read. */
    const changes = async (count: number): Promise<number> => {
      const before = reads;
      for (let i = 0; i < count; i++) {
        await transaction((trx) => announce(trx, held.runId));
        await pause(3);
      }
      return reads - before;
    };
    await until(async () => (await changes(10)) === 0);
    expect(reads).toBeLessThan(60);
    expect(await changes(30)).toBe(0);
    unwatch();
    world.clock.turn(subscriptions.lifetimeMs);
    vi.advanceTimersByTime(2 * recheckIntervalMs);
    await until(async () => (await openNow()) === 0);
    socket.destroy();
  });

  it.each([
    ['a number below 0', { after: -1 }, 'after: must be at least 0'],
    [
      'a number above the last one',
      { after: report.fragmentsPerSandbox + 1 },
      `after: must be at most ${report.fragmentsPerSandbox}`,
    ],
    ['a value that is not a number', { after: 'x' }, 'after: Int cannot represent'],
    ['an empty id', { sandboxId: '' }, 'sandboxId: must be at least 1 character'],
  ])('400 · a subscription is refused with %s', async (_, wrong, words) => {
    const { sandboxId } = await working();
    const reading = await subscribe(onSandbox, { sandboxId, ...wrong });
    await expectEnd(reading, 'invalid_request', expect.stringContaining(words));
  });

  const deep = (depth: number): string => (depth === 0 ? 'id' : `project { runs { ${deep(depth - 1)} } }`);
  it.each([
    ['no field at all', 'subscription { runUpdated(runId: "x") @include(if: false) { id } }', 'one field'],
    [
      'two fields',
      'subscription { runUpdated(runId: "x") { id } other: runUpdated(runId: "y") { id } }',
      'only one top level field',
    ],
    ['a document too deep', `subscription { runUpdated(runId: "x") { ${deep(6)} } }`, 'depth limit'],
    ['a document too costly', `subscription { runUpdated(runId: "x") { ${deep(4)} } }`, 'costs'],
    ['introspection', 'subscription { __typename }', 'must not select an introspection'],
  ])('400 · a subscription is refused with %s', async (_, query, words) => {
    await expectEnd(await subscribe(query), 'invalid_request', expect.stringContaining(words));
  });

  it('a subscription counts once against the rate, however many events it sends', async () => {
    const token = await world.token(owner, acme);
    const left = ({ headers }: { headers: Headers }) => Number(/r=(\d+)/.exec(headers.get('ratelimit')!)![1]);
    const held = await taken();
    const reading = await subscribe(onRun, held, bearer(token));
    await reading.news();
    for (const activity of ['one', 'two', 'three']) {
      await progress(held, activity);
      await reading.news();
    }
    const after = await world.rest('GET', '/me', { token });
    expect(left(reading) - left(after)).toBe(1);
  });
});

it('REST and MCP have no subscription', async () => {
  const document = JSON.stringify(world.contract.document);
  for (const name of ['runUpdated', 'sandboxUpdated', 'SandboxUpdate', '"/webhook"']) {
    expect([name, document.includes(name)]).toEqual([name, false]);
  }
  for (const path of ['/v1/webhook', '/v1/run-updated', '/v1/sandbox-updated', '/webhook']) {
    expect([path, (await world.request('POST', path, { token: alice, body: {} })).status]).toEqual([path, 404]);
  }
  expect([...toolsOf(schema).keys()].filter((name) => /updated/.test(name))).toEqual([]);
});

describe('the subscriptions of another process', () => {
  let service: ServiceProcess;
  let there: { url: string; request: (method: string, path: string, ask: Ask) => Promise<Response> };

  beforeAll(async () => {
    // The process uses the real clock, not the test's.
    await world.knex('tokens').update({ expiresAt: Date.now() + days(30) });
    service = startService(world.connection, await freePort());
    await service.ready;
    const { url } = service;
    there = {
      url,
      request: (method, path, { token }) => fetch(url + path, { method, headers: bearer(token!) }),
    };
  });
  afterAll(() => service.process.kill('SIGKILL'));

  it('receive changes of this process, and this process those of the other', async () => {
    const { held, place, sandboxId } = await working();
    const afar = await subscribe(onSandbox, { sandboxId }, bearer(alice), there.url);
    const here = await subscribe(onSandbox, { sandboxId });
    await Promise.all([afar.news(), here.news()]);
    await think(place, 0, 1);
    for (const reading of [afar, here]) expect((await reading.news()).fragments).toEqual([{ body: 'thought 0' }]);
    const query = 'subscription ($runId: String!) { runUpdated(runId: $runId) { sandboxes { status } } }';
    const run = await subscribe(query, held);
    expect(await run.news()).toEqual({ sandboxes: [{ status: 'running' }] });
    expect((await there.request('POST', `/v1/sandboxes/${sandboxId}/kill`, { token: alice })).status).toBe(200);
    for (const reading of [afar, here]) {
      expect((await reading.news()).sandbox.status).toBe('destroyed');
      expect(await reading.next()).toEqual(complete);
    }
    expect(await run.news()).toEqual({ sandboxes: [{ status: 'destroyed' }] });
  });

  it('are completed when their process stops, which exits at once', async () => {
    const reading = await subscribe(onRun, await taken(), bearer(alice), there.url);
    await reading.news();
    const began = performance.now();
    const gone = once(service.process, 'exit');
    service.process.kill('SIGTERM');
    expect([await reading.next(), await reading.next()]).toEqual([complete, undefined]);
    expect(await gone).toEqual([0, null]);
    // The shutdown does not wait for the ten seconds after which connections are cut.
    expect(performance.now() - began).toBeLessThan(seconds(9));
  });
});

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The test in a browser is skipped: ${launched}.`);

it.skipIf(typeof launched === 'string')(
  'the console’s pages read subscriptions by EventSource with the console’s cookie; pages of another site cannot',
  async () => {
    const context = await (launched as Browser).newContext();
    try {
      const held = await taken();
      const session = await world.session(owner, acme.id);
      await context.addCookies([{ name: 'session', value: session.secret, url: world.url }]);
      const page = await context.newPage();
      await page.goto(`${world.url}/livez`);
      const variables = JSON.stringify({ runId: held.runId });
      const address = `${world.url}/graphql?${new URLSearchParams({ query: onRun, variables })}`;
      const told: unknown[] = [];
      await page.exposeFunction('told', (one: unknown) => void told.push(one));
      await page.evaluate((from) => {
        const tell = (globalThis as never as { told(one: unknown): void }).told;
        const source = new EventSource(from);
        source.addEventListener('next', ({ data }) => tell(JSON.parse(data).data.runUpdated));
        source.addEventListener('complete', () => {
          source.close();
          tell('complete');
        });
        source.addEventListener('error', () => tell('error'));
      }, address);
      await until(() => told.length === 1);
      await progress(held, 'in a browser');
      await until(() => told.length === 2);
      await runtime.finish(held);
      await until(() => told.length === 4);
      const activity = { missionActivity: 'in a browser' };
      expect(told).toEqual([
        { status: 'running', missionActivity: null },
        { status: 'running', ...activity },
        { status: 'completed', ...activity },
        'complete',
      ]);
      const elsewhere = await fetch(address, {
        headers: { cookie: `session=${session.secret}`, accept: 'text/event-stream', 'sec-fetch-site': 'cross-site' },
      });
      expect(elsewhere.status).toBe(401);
    } finally {
      await context.close();
    }
  },
);
