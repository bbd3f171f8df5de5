// GraphQL subscriptions: the permission to read them, their duration and limits, and the cleanup after a reader disconnects.
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { minutes, seconds } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { transaction, watchStatements } from '#foundation/postgres/database.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { previewSizes, report, subscriptions } from '#limits.ts';
import { maxCheckAgeMs } from '#surfaces/graphql/subscriptions.ts';
import { createSlotLimiter, recheckIntervalMs } from '#surfaces/subscription-slots.ts';
import { createMember, createOwner, createProject } from '../support/callers.ts';
import {
  bearer,
  complete,
  onRun,
  onSandbox,
  openSubscriptionWorld,
  type Reading,
  until,
} from '../support/subscription-world.ts';
import { present } from '../support/world.ts';

const {
  world,
  owner,
  acme,
  alice,
  runtime,
  readers,
  openNow,
  subscribe,
  taken,
  progress,
  working,
  close,
  reset,
  check,
} = await openSubscriptionWorld();
afterAll(close);
beforeEach(reset);
afterEach(check);

/** Expects that the events end with this problem. */
async function expectEnd(reading: Reading, code: string, description: unknown = expect.any(String)): Promise<void> {
  const [error, ...others] = await reading.news();
  expect([error.extensions.code, error.message, others]).toEqual([code, description, []]);
  expect(error.extensions.problem.code).toBe(code);
  expect([await reading.next(), await reading.next()]).toEqual([complete, undefined]);
}

describe('Permissions of subscriptions', () => {
  it('404 · a subscription to an unknown record, or one of another organization or project, is refused before any event', async () => {
    const { token: theirs } = await createOwner(world, 'Mallory', 'Globex');
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

  it('401, 403 · a subscription needs the same credentials, scopes and CSRF token as any request', async () => {
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

  /**
   * Ways in which a subscriber loses the permission to read. Each way returns the headers of the subscriber, a function that takes the
   * permission away, and the code of the error with which the subscription then ends.
   */
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
    'a token that has expired': async () => {
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
      const { person: bob } = await createMember(world, acme, 'Bob', 'viewer');
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

  it.each(each)('a subscription by %s ends with an error before the next change is sent', async (_, loss) => {
    const held = await taken();
    const [headers, lose, code] = await loss(held.runId);
    const reading = await subscribe(onRun, held, headers);
    await reading.news();
    await lose();
    world.clock.turn(maxCheckAgeMs);
    await progress(held, 'secret');
    await expectEnd(reading, code);
  });

  it.each(each)('a subscription by %s ends with an error even when nothing changes', async (_, loss) => {
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

  it('an event of a subscription shows only what its caller may see when the event is sent', async () => {
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

  it('checking the session of a subscription neither renews it nor moves it to the person’s current organization', async () => {
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
    const { organization: elsewhere } = await createOwner(world, owner, 'Initech');
    await world.knex('sessions').where({ endedAt: null }).update({ orgId: elsewhere.id });
    const before = await world.knex('sessions').where({ endedAt: null });
    world.clock.turn(minutes(2));
    vi.advanceTimersByTime(recheckIntervalMs);
    await progress(held, 'still here');
    expect((await reading.news()).missionActivity).toBe('still here');
    expect(await world.knex('sessions').where({ endedAt: null })).toEqual(before);
  });
});

describe('Limits of subscriptions', () => {
  it('429 · a credential can have ten subscriptions; one that ends makes room for another', async () => {
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
  ])(
    '429 · subscriptions beyond the limit per %s are refused, and other subscriptions are accepted',
    (_title, words, same) => {
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
    },
  );

  it('refused subscriptions leave nothing open', async () => {
    await (await subscribe(onRun, { runId: 'none' })).news();
    const { body } = await world.graphql('subscription { runUpdated(runId: "none") { id } }', {
      token: alice,
      headers: { accept: 'application/json' },
    });
    expect(body.errors[0].extensions.code).toBe('invalid_request');
    await until(async () => (await openNow()) === 0);
  });

  it('a subscription completes an hour after its start', async () => {
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

  it('a subscription sends a ping at least every 15 seconds', async () => {
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

  it('a subscriber that does not read gets no more events, uses no more memory, and is disconnected after an hour', async () => {
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
  ])('400 · a sandbox subscription is refused with %s', async (_, wrong, words) => {
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
    ['too much depth', `subscription { runUpdated(runId: "x") { ${deep(6)} } }`, 'depth limit'],
    ['too high a cost', `subscription { runUpdated(runId: "x") { ${deep(4)} } }`, 'costs'],
    ['introspection', 'subscription { __typename }', 'must not select an introspection'],
  ])('400 · a subscription document is refused with %s', async (_, query, words) => {
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
