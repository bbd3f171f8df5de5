// Agents that present identity assertions (ID-JAG) of a provider's user: first and repeated assertions, logins, and the keys of the
// provider (docs/contract.md#agent-registration; docs/contract.md#id-jag). The provider is the test’s own.
import { generateKeyPair } from 'jose';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { hours, isoTime, minutes, seconds } from '#foundation/clock.ts';
import { believed, openAgentWorld } from '../support/agent-world.ts';
import { openProvider } from '../support/id-jag-issuer.ts';
import { oauthError } from '../support/oauth-world.ts';
import { present } from '../support/world.ts';

const world = await openAgentWorld();
afterAll(() => world.close());
afterEach(() => world.trust());

const now = () => Math.floor(present() / 1_000);
const repeated = Array.from({ length: 6 }, (_, i) => i + 1);

describe('the first assertion of a provider’s user', () => {
  it('401 · the response has the error interaction_required and a claim that the owner of the asserted email address can accept', async () => {
    const answer = await world.show({ email: 'Someone@Example.com' });
    const end = isoTime(present() + hours(24));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^AgentAuth error="interaction_required", error_description="[^"]+", Bearer resource_metadata="http[^"]+"$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      ...oauthError('interaction_required'),
      registration_id: expect.stringMatching(/^reg_/),
      registration_type: 'identity_assertion',
      claim_url: `${world.url}/v1/agent/identity/claim`,
      claim_token: expect.stringMatching(/^clm_/),
      claim_token_expires: end,
      post_claim_scopes: expect.arrayContaining(['missions:run']),
      claim: {
        user_code: expect.stringMatching(/^\d{6}$/),
        verification_uri: expect.stringContaining('/claim?claim_attempt_token=cvt_'),
        expires_in: 600,
        expires_at: isoTime(present() + minutes(10)),
        interval: 5,
      },
    });
  });

  it('200 · after the person has confirmed, the poll returns tokens, and the next assertion is accepted for an hour', async () => {
    const alice = await world.human();
    const claims = world.provider.claimsOf({ email: alice.person.email.toUpperCase() });
    const { body: first } = await world.present(world.provider.sign(claims));
    const page = await world.openPage(alice, first.claim);
    expect(page.body).toContain('<strong>Acme Identity</strong>');
    expect(page.body).toContain('This is your first link with Acme Identity.');
    expect((await world.decide(alice, first.claim)).status).toBe(200);
    expect((await world.poll(first.claim_token)).status).toBe(200);
    const next = await world.present(world.provider.idJag({ sub: claims.sub, email: claims.email }));
    expect([next.status, next.body]).toEqual([
      200,
      {
        registration_id: first.registration_id,
        registration_type: 'identity_assertion',
        identity_assertion: expect.any(String),
        assertion_expires: isoTime(present() + hours(1)),
        scopes: ['missions:read', 'projects:read'],
      },
    ]);
    const { body } = await world.exchange(next.body.identity_assertion);
    expect((await world.me(body.access_token)).body.userId).toBe(alice.person.id);
    const { claim: second } = (await world.show({ email: alice.person.email })).body;
    expect((await world.openPage(alice, second)).body).not.toContain('This would be your first');
  });

  it('401 · an assertion with the same email address, but of another subject or provider, is not linked to the account', async () => {
    const alice = await world.human();
    const { subject } = await world.linked(alice);
    const other = await openProvider();
    world.trust({}, { issuer: other.issuer, displayName: 'Other' });
    const { email } = alice.person;
    expect(await world.outcome({ email })).toEqual(believed);
    expect((await world.present(other.idJag({ email, sub: subject }))).body.error).toBe('interaction_required');
    expect(await world.outcome({ email: 'changed@example.com', sub: subject })).toEqual([200, undefined]);
    await other.close();
  });

  it('401 · a repeated request before the confirmation returns the same registration with a new claim token; the old one is invalid', async () => {
    const alice = await world.human();
    const claims = { sub: 'repeated', email: alice.person.email };
    const [first, second] = [(await world.show(claims)).body, (await world.show(claims)).body];
    expect(second.registration_id).toBe(first.registration_id);
    expect(second.claim_token).not.toBe(first.claim_token);
    expect((await world.poll(first.claim_token)).body).toEqual(oauthError('invalid_grant'));
    expect((await world.openPage(alice, first.claim)).status).toBe(404);
    expect((await world.startClaim({ claim_token: first.claim_token, email: claims.email })).status).toBe(401);
    expect((await world.decide(alice, second.claim)).status).toBe(200);
  });

  it.each(repeated)(
    'concurrent assertions of one user create one registration with one valid claim (%i)',
    async (n) => {
      const claims = { sub: `at-once-${n}` };
      for (let round = 1; round <= 2; round++) {
        const both = await Promise.all([world.show(claims), world.show(claims)]);
        expect(both.map(({ status }) => status)).toEqual([401, 401]);
        expect(new Set(both.map(({ body }) => body.registration_id)).size).toBe(1);
        const polls = await Promise.all(both.map(({ body }) => world.poll(body.claim_token)));
        expect(polls.map(({ body }) => body.error).sort()).toEqual(['authorization_pending', 'invalid_grant']);
      }
    },
  );

  it.each(repeated)('an assertion during the confirmation is handled either before or after it (%i)', async () => {
    const alice = await world.human();
    const claims = { sub: `of-${alice.person.id}`, email: alice.person.email };
    const { claim } = (await world.show(claims)).body;
    const next = await world.provider.idJag(claims);
    const [decided, presented] = await Promise.all([world.decide(alice, claim), world.present(next)]);
    expect([
      [200, 200],
      [404, 401],
    ]).toContainEqual([decided.status, presented.status]);
  });

  it('400 · a claim restarted with another email address gets email_mismatch', async () => {
    const { body } = await world.show({ email: 'vera@example.com' });
    const other = await world.startClaim({ claim_token: body.claim_token, email: 'adam@example.com' });
    expect([other.status, other.body]).toEqual([400, oauthError('email_mismatch')]);
    expect((await world.startClaim({ claim_token: body.claim_token, email: 'VERA@example.com' })).status).toBe(200);
  });

  it('401 · after the delegation has expired, the person is asked again, and earlier access stays revoked', async () => {
    const alice = await world.human();
    const { subject, registrationId, identity_assertion } = await world.linked(alice, {}, { days: 1 });
    world.clock.turn(hours(24));
    const { body } = await world.show({ sub: subject, email: alice.person.email });
    expect([body.error, body.registration_id]).toEqual(['interaction_required', registrationId]);
    expect((await world.exchange(identity_assertion)).body).toEqual(oauthError('invalid_grant'));
    await world.decide(alice, body.claim, { days: 30 });
    expect((await world.poll(body.claim_token)).status).toBe(200);
    expect((await world.exchange(identity_assertion)).body).toEqual(oauthError('invalid_grant'));
  });

  it('200 · an assertion expires no later than its delegation, and has only scopes that the current role includes', async () => {
    const alice = await world.human(undefined, 'member');
    const { subject } = await world.linked(alice, {}, { days: 1, scopes: ['missions:read', 'missions:run'] });
    world.clock.turn(hours(24) - minutes(10));
    await world.knex('memberships').where({ userId: alice.person.id }).update({ role: 'viewer' });
    const { body } = await world.show({ sub: subject, email: alice.person.email });
    expect([body.assertion_expires, body.scopes]).toEqual([isoTime(present() + minutes(10)), ['missions:read']]);
    await world.knex('memberships').where({ userId: alice.person.id }).delete();
    expect(await world.outcome({ sub: subject, email: alice.person.email })).toEqual(believed);
  });
});

describe('the jti of an assertion', () => {
  it('400 · a repeated assertion is refused with replay_detected', async () => {
    const jwt = await world.provider.idJag();
    expect((await world.present(jwt)).status).toBe(401);
    const again = await world.present(jwt);
    expect([again.status, again.body]).toEqual([400, oauthError('replay_detected')]);
  });

  it.each(repeated)('only one of four identical concurrent assertions is accepted (%i)', async () => {
    const jwt = await world.provider.idJag();
    const all = await Promise.all(Array.from({ length: 4 }, () => world.present(jwt)));
    expect(all.map(({ body }) => body.error).sort()).toEqual([
      'interaction_required',
      'replay_detected',
      'replay_detected',
      'replay_detected',
    ]);
  });

  it('400 · a jti is used up by an assertion that fails a later check, but not by one with an invalid signature', async () => {
    const wrong = world.provider.claimsOf({ email_verified: false });
    expect((await world.present(world.provider.sign(wrong))).body.error).toBe('missing_verified_email');
    expect(await world.outcome({ jti: wrong.jti })).toEqual([400, 'replay_detected']);
    const { privateKey } = await generateKeyPair('ES256');
    const forged = world.provider.claimsOf();
    expect((await world.present(world.provider.sign(forged, { key: privateKey }))).body.error).toBe(
      'invalid_signature',
    );
    expect((await world.present(world.provider.sign(forged))).body.error).toBe('interaction_required');
  });

  it('401 · the same jti in an assertion of another provider is not a replay', async () => {
    const other = await openProvider();
    world.trust({}, { issuer: other.issuer, displayName: 'Other' });
    const jti = 'the-same-at-both';
    expect(await world.outcome({ jti })).toEqual(believed);
    expect((await world.present(other.idJag({ jti }))).body.error).toBe('interaction_required');
    await other.close();
  });
});

describe('the time of the sign-in at the provider', () => {
  it('401 · an assertion is refused with login_required when the sign-in is older than an hour; the response names the maximum age', async () => {
    const answer = await world.show({ auth_time: now() - 3_700 });
    expect([answer.status, answer.body]).toEqual([401, { ...oauthError('login_required'), max_age: 3600 }]);
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^AgentAuth error="login_required", max_age="3600", error_description="[^"]+", Bearer resource_metadata=/,
    );
  });

  it.each([
    ['3600 seconds ago is accepted', () => now() - 3_600, believed],
    ['3601 seconds ago is refused', () => now() - 3_601, [401, 'login_required']],
    ['without auth_time is refused', () => undefined, [401, 'login_required']],
    ['ten minutes in the future is refused', () => now() + 600, [401, 'login_required']],
    ['with auth_time as a string is refused', () => String(now()), [401, 'login_required']],
    ['with auth_time null is refused', () => null, [401, 'login_required']],
  ])('a sign-in at the provider %s', async (_what, auth_time, expected) => {
    expect(await world.outcome({ auth_time: auth_time() })).toEqual(expected);
  });

  it('401 · a linked user whose sign-in is too old gets login_required too', async () => {
    const alice = await world.human();
    const { subject } = await world.linked(alice);
    const answer = await world.show({ sub: subject, email: alice.person.email, auth_time: now() - 3_700 });
    expect([answer.status, answer.body.error, answer.body.max_age]).toEqual([401, 'login_required', 3600]);
  });
});

describe('provider keys', () => {
  it('the keys of a provider are fetched once, and cached for ten minutes or longer if its max-age says so, at most for a day', async () => {
    world.trust();
    world.provider.settings.headers = { 'cache-control': 'no-store' };
    const before = world.provider.asked.length;
    for (let n = 0; n < 3; n++) expect(await world.outcome()).toEqual(believed);
    expect(world.provider.asked.slice(before)).toEqual(['/.well-known/jwks.json']);
    world.clock.turn(minutes(10));
    expect(await world.outcome()).toEqual(believed);
    expect(world.provider.asked.length - before).toBe(2);
    world.provider.settings.headers = { 'cache-control': 'public, max-age=9999999' };
    world.clock.turn(minutes(10));
    await world.outcome();
    world.clock.turn(hours(24) - seconds(1));
    await world.outcome();
    expect(world.provider.asked.length - before).toBe(3);
    world.clock.turn(seconds(1));
    await world.outcome();
    expect(world.provider.asked.length - before).toBe(4);
    world.provider.settings.headers = {};
  });

  it('the keys of a provider are fetched once for concurrent requests', async () => {
    world.trust();
    const before = world.provider.asked.length;
    const all = await Promise.all(Array.from({ length: 8 }, () => world.outcome()));
    expect(all).toEqual(Array(8).fill(believed));
    expect(world.provider.asked.length - before).toBe(1);
  });

  it('401 · a new key of the provider is found with one more fetch', async () => {
    await world.outcome();
    const before = world.provider.asked.length;
    await world.provider.rotate();
    const all = await Promise.all([world.outcome(), world.outcome(), world.outcome()]);
    expect(all).toEqual([believed, believed, believed]);
    expect(world.provider.asked.length - before).toBe(1);
  });

  it('400 · assertions that name unknown keys cause at most one fetch of the provider’s keys in thirty seconds', async () => {
    await world.outcome();
    world.clock.turn(seconds(30));
    const before = world.provider.asked.length;
    const flood = Array.from({ length: 20 }, (_, n) => world.outcome({}, { header: { kid: `made-up-${n}` } }));
    expect(await Promise.all(flood)).toEqual(Array(20).fill([400, 'invalid_signature']));
    for (let n = 0; n < 5; n++) await world.outcome({}, { header: { kid: `later-${n}` } });
    expect(world.provider.asked.length - before).toBe(1);
    world.clock.turn(seconds(30));
    await world.outcome({}, { header: { kid: 'much-later' } });
    expect(world.provider.asked.length - before).toBe(2);
  });

  it('400 · an unavailable provider is asked for its keys again after thirty seconds', async () => {
    world.trust();
    world.provider.settings.status = 503;
    const before = world.provider.asked.length;
    expect(await world.outcome()).toEqual([400, 'invalid_signature']);
    expect(await world.outcome()).toEqual([400, 'invalid_signature']);
    expect(world.provider.asked.length - before).toBe(1);
    world.provider.settings.status = 200;
    world.clock.turn(seconds(30));
    expect(await world.outcome()).toEqual(believed);
  });

  it('401 · known keys stay valid for a day while the provider is unavailable', async () => {
    world.trust();
    expect(await world.outcome()).toEqual(believed);
    world.provider.settings.status = 503;
    world.clock.turn(hours(24) - seconds(1));
    expect(await world.outcome()).toEqual(believed);
    world.clock.turn(seconds(1));
    expect(await world.outcome()).toEqual([400, 'invalid_signature']);
    world.provider.settings.status = 200;
    world.clock.turn(seconds(30));
  });

  it('the keys of a provider are fetched from the URL in the trust list; redirects are not followed', async () => {
    const trap = await openProvider();
    world.trust({ jwksUri: `${world.provider.issuer}/keys` });
    expect(await world.outcome()).toEqual(believed);
    expect(world.provider.asked.at(-1)).toBe('/keys');
    world.trust();
    Object.assign(world.provider.settings, { status: 302, headers: { location: `${trap.issuer}/` } });
    expect(await world.outcome()).toEqual([400, 'invalid_signature']);
    expect(trap.asked).toEqual([]);
    Object.assign(world.provider.settings, { status: 200, headers: {} });
    await trap.close();
  });
});
