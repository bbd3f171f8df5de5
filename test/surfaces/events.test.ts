// The events feed as a page, by long polling, and as a stream: complete, in the order of commits, and only for callers who may read it.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { numberChanges } from '#domain/lifecycle/audit/numbers.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { now, seconds } from '#foundation/clock.ts';
import { openSubscriptions } from '#foundation/metrics.ts';
import { subscriptions } from '#limits.ts';
import { createClient } from '../../clients/typescript/src/exports.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { type Event, eventsOf } from '../support/server-sent-events.ts';
import { openWorld, type Session, type World } from '../support/world.ts';

let world: World;
let acme: Organization;
let alice: Person;
let session: Session;
let token: string;
beforeAll(async () => {
  world = await openWorld();
  ({ person: alice, organization: acme } = await createOwner(world, 'Alice', 'Acme'));
  session = await world.session(alice, acme.id);
  token = await world.token(alice, acme, { scopes: ['audit:read'] });
});
afterAll(() => world.close());

// biome-ignore lint/suspicious/noExplicitAny: bodies of answers
type Body = any;
const read = async (query = '', ask: object = { token }): Promise<Body> =>
  (await world.rest('GET', `/events${query}`, ask)).body;
const end = async (): Promise<number> => (await read()).lastNumber;
const invite = (name: string) =>
  world.rest('POST', '/invites', { session, body: { email: `${name}@example.com`, role: 'viewer' } });
/** Gives numbers to all new changes, as the scheduler's job does every two seconds. */
const announceChanges = () => numberChanges(acme.id);
/** Revokes Alice's token, makes the open event feeds look up their caller again, and creates a new token. */
async function revokeTokens(): Promise<void> {
  await world.knex('tokens').where({ userId: alice.id }).update({ revokedAt: now() });
  // Readers look up a caller again after a second.
  world.clock.turn(seconds(2));
  await announceChanges();
  token = await world.token(alice, acme, { scopes: ['audit:read'] });
}
const openReaders = async (): Promise<number> => (await openSubscriptions.get()).values[0]?.value ?? 0;
const numbersOf = (events: Body[]): number[] => events.map(({ number }) => number);
const count = (from: number, length: number) => Array.from({ length }, (_, i) => from + i);

const streams = new Set<AbortController>();
afterEach(async () => {
  for (const stream of streams) stream.abort();
  streams.clear();
  await vi.waitFor(async () => expect(await openReaders()).toBe(0));
});
async function stream(query = '', headers: Record<string, string> = {}) {
  const leaving = new AbortController();
  streams.add(leaving);
  const response = await fetch(`${world.url}/v1/events${query}`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${token}`, ...headers },
    signal: leaving.signal,
  });
  const events = eventsOf(response);
  return {
    response,
    next: async (): Promise<Event | undefined> => (await events.next()).value as Event | undefined,
    /** The next events with content. */
    async take(many: number): Promise<Body[]> {
      const found: Body[] = [];
      while (found.length < many) {
        const { value, done } = await events.next();
        if (done) break;
        if (value.data) found.push(value.data);
      }
      return found;
    },
    leave: () => leaving.abort(),
  };
}

describe('Pages of the event feed', () => {
  it('a page of events has short records in the order of the log, each with the URL of its whole event', async () => {
    const start = await end();
    const project = await createProject(world, { token: await world.token(alice, acme) }, 'Shop');
    const created = await read(`?after=${start}&types=project.created`);
    expect(created.data).toEqual([
      {
        ...{ version: 1, number: expect.any(Number), type: 'project.created', occurredAt: now(), projectId: project },
        ...{ runId: null, subject: { type: 'project', id: project } },
        url: expect.stringMatching(`^${world.url}/v1/audit-events\\?`),
      },
    ]);
    const whole = await world.request('GET', created.data[0].url.slice(world.url.length), { token });
    expect(whole.body.data).toMatchObject([{ number: created.data[0].number, actor: { id: alice.id } }]);
    const all = await read(`?after=${start}`);
    expect(numbersOf(all.data)).toEqual(count(start + 1, all.data.length));
    expect(created).toMatchObject({ lastNumber: all.lastNumber, hasMore: false });
    expect(await read(`?after=${start}&limit=1`)).toEqual({
      ...{ data: [all.data[0]], lastNumber: start + 1, hasMore: true },
    });
    expect((await read(`?after=${start}&projectId=${project}`)).data).toEqual(
      all.data.filter(({ projectId }: Body) => projectId === project),
    );
  });

  it('a request for events without a start number begins at the end of the log', async () => {
    const { data, lastNumber, hasMore } = await read();
    await invite('next');
    expect([data, hasMore]).toEqual([[], false]);
    const page = await read(`?after=${lastNumber}`);
    expect(page.data).toMatchObject([{ number: lastNumber + 1, type: 'invite.created' }]);
  });

  it('events are filtered by single types or by all types of a resource, in REST and in the typed client', async () => {
    const client = createClient({ url: world.url, token });
    const { data } = await client.events({ after: 0, types: ['organization.*', 'invite.created'] });
    expect([...new Set(data.map(({ type }) => type))].sort()).toEqual(['invite.created', 'organization.created']);
    expect((await read('?after=0&types=organization.*&types=invite.created')).data).toEqual(data);
    expect((await read('?after=0&types=invite.revoked')).data).toEqual([]);
  });

  it('events start with the oldest one that is kept, and one request reads a limited part of a long log', async () => {
    const { person: bob, organization: globex } = await createOwner(world, 'Bob', 'Globex');
    const ask = { session: await world.session(bob, globex.id) };
    const { lastNumber } = await read('?after=0', ask);
    const mine = () => world.knex('audit_events').where({ orgId: globex.id });
    await mine().where({ number: 1 }).del();
    expect((await read('?after=0', ask)).data[0].number).toBe(2);
    await mine().where({ number: lastNumber }).update({ number: 25_000, action: 'budget.created' });
    await world.knex('audit_counters').where({ orgId: globex.id }).update({ lastNumber: 25_000 });
    const seen: Body[] = [];
    for (let page: Body = { lastNumber: 0, hasMore: true }; page.hasMore; seen.push(page))
      page = await read(`?after=${page.lastNumber}&types=budget.created`, ask);
    expect(seen.map((page) => [page.lastNumber, page.data.length])).toEqual([
      [10_001, 0],
      [20_001, 0],
      [25_000, 1],
    ]);
    const waited = await read('?after=0&types=budget.created&wait=30', ask);
    expect(numbersOf(waited.data)).toEqual([25_000]);
  });
});

describe('Long-polling for events', () => {
  it('a long-polling request returns the next matching event, or no event after its waiting time', async () => {
    const start = await end();
    const [matching, expiring] = [read('?types=invite.revoked&wait=30'), read('?types=budget.created&wait=1')];
    await vi.waitFor(async () => expect(await openReaders()).toBeGreaterThan(0));
    const { body } = await invite('waited');
    await announceChanges();
    await world.rest('DELETE', `/invites/${body.id}`, { session });
    await announceChanges();
    expect(await matching).toEqual({
      ...{ data: [expect.objectContaining({ number: start + 2, type: 'invite.revoked' })], hasMore: false },
      lastNumber: start + 2,
    });
    expect(await expiring).toEqual({ data: [], lastNumber: expect.any(Number), hasMore: false });
  });

  it('401 · a long-polling request is refused if its credential was revoked during the wait', async () => {
    const answer = world.rest('GET', '/events?wait=30', { token });
    await vi.waitFor(async () => expect(await openReaders()).toBe(1));
    await revokeTokens();
    expect((await answer).status).toBe(401);
  });
});

describe('Streams of events', () => {
  it('a stream of events continues after the last event that its reader has received', async () => {
    const start = await end();
    const first = await stream(`?after=${start}`);
    expect(Object.fromEntries(first.response.headers)).toMatchObject({
      ...{ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
    });
    for (const name of ['a', 'b']) await invite(`stream-${name}`);
    await announceChanges();
    const [one] = await first.take(1);
    first.leave();
    expect(one).toEqual((await read(`?after=${start}&limit=1`)).data[0]);
    await invite('stream-c');
    // A browser that reconnects requests its first URL again, with the id of the last event.
    const second = await stream(`?after=${start}`, { 'last-event-id': String(one.number) });
    expect(numbersOf(await second.take(2))).toEqual([start + 2, start + 3]);
  });

  it('a stream of events also sends the sequence number of an event that its filter leaves out, so that a reader that reconnects continues after this event', async () => {
    const start = await end();
    const reading = await stream('?types=budget.created');
    expect(await reading.next()).toEqual({ name: 'message', id: String(start), data: null });
    await invite('left-out');
    await announceChanges();
    let event = await reading.next();
    while (event?.id === String(start)) event = await reading.next();
    expect(event).toEqual({ name: 'message', id: String(start + 1), data: null });
  });

  it('streams and long-polling readers get every event once and in order, while writers commit out of order', async () => {
    const invites = await Promise.all(['x', 'y', 'z'].map((name) => invite(`early-${name}`)));
    const start = await end();
    const open = await Promise.all(invites.map(() => world.knex.transaction()));
    const reading = await stream();
    const total = 23;
    const polled = (async () => {
      const found: Body[] = [];
      for (let after = start; found.length < total; ) {
        const page = await read(`?after=${after}&wait=30&limit=5`);
        found.push(...page.data);
        after = page.lastNumber;
      }
      return found;
    })();
    for (const [i, trx] of open.entries())
      await trx('invites').where({ id: invites[i]!.body.id }).update({ role: 'member' });
    const late = Array.from({ length: 20 }, (_, i) => invite(`late-${i}`).then(announceChanges));
    await Promise.all(late);
    for (const trx of open.reverse()) {
      await trx.commit();
      await announceChanges();
    }
    const [streamed, waited] = await Promise.all([reading.take(total), polled]);
    expect(numbersOf(streamed)).toEqual(count(start + 1, total));
    expect(waited).toEqual(streamed);
  });

  it('a stream of events ends when its credential is revoked', async () => {
    const reading = await stream();
    await reading.next();
    await revokeTokens();
    await expect(reading.take(1)).rejects.toThrow('terminated');
  });
});

describe('The event feed', () => {
  it.each([
    ['after=-1', 'after: must be an integer'],
    ['after=1&after=2', 'after: must not be repeated'],
    ['after=999999', /^after: must be at most \d+, the last number of the log\.$/],
    ['wait=31', 'wait: must be at most 30'],
    ['limit=201', 'limit: must be at most 200'],
    ['limit=0', 'limit: must be at least 1'],
    ['types=rnu.completed', 'types.0: must be a type such as `run.completed`, or a kind of record followed by `.*`'],
    ['types=', 'types.0: '],
    [`types=${'run.*,'.repeat(50)}run.*`, 'types: must be at most 50 entries'],
    [`projectId=${'x'.repeat(201)}`, 'projectId: must be at most 200 characters'],
  ])('400 · a request for events with %s is refused', async (query, description) => {
    for (const headers of [{}, { accept: 'text/event-stream' }] as Record<string, string>[]) {
      const { status, body } = await world.rest('GET', `/events?${query}`, { token, headers });
      expect([status, body.code]).toEqual([400, 'invalid_request']);
      if (description instanceof RegExp) expect(body.description).toMatch(description);
      else expect(body.description).toContain(description);
    }
  });

  it('400 · a Last-Event-ID that is not a number is refused; 405 · other methods are refused', async () => {
    const { body } = await world.rest('GET', '/events', { token, headers: { 'last-event-id': 'x' } });
    expect(body.description).toBe('Last-Event-ID: must be an integer.');
    expect((await world.request('POST', '/v1/events', { token, body: {} })).status).toBe(405);
  });

  it('events need the scope audit:read, and are limited to the organization and project of the credential', async () => {
    const all = await world.token(alice, acme);
    expect((await world.rest('GET', '/events')).status).toBe(401);
    for (const headers of [{}, { accept: 'text/event-stream' }] as Record<string, string>[]) {
      const { status, body } = await world.rest('GET', '/events', { token: all, headers });
      expect([status, body.code]).toEqual([403, 'missing_scope']);
    }
    const projects = await Promise.all(['One', 'Two'].map((name) => createProject(world, { token: all }, name)));
    const bound = await world.token(alice, acme, { scopes: ['audit:read'], projectId: projects[0] as string });
    const { data, lastNumber } = await read('?after=0', { token: bound });
    expect(new Set(data.map(({ projectId }: Body) => projectId))).toEqual(new Set([projects[0]]));
    expect(lastNumber).toBe(await end());
    expect((await read(`?after=0&projectId=${projects[1]}`, { token: bound })).data).toEqual([]);
    const { person: mallory, organization: theirs } = await createOwner(world, 'Mallory', 'Other');
    const other = await world.session(mallory, theirs.id);
    expect(JSON.stringify(await read('?after=0', { session: other }))).not.toContain(projects[0]);
  });

  it('429 · a credential cannot open more streams of events than its limit', async () => {
    await Promise.all(Array.from({ length: subscriptions.perCredential }, () => stream()));
    const refused = await stream();
    expect([refused.response.status, refused.response.headers.get('retry-after')]).toEqual([429, '10']);
    const { status, body } = await world.rest('GET', '/events?wait=1', { token });
    expect([status, body.code]).toEqual([429, 'rate_limited']);
    expect((await world.rest('GET', '/events', { token })).status).toBe(200);
  });
});
