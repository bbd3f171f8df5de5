// Identity assertions of a provider (ID-JAG), check by check: accepted and refused ones, with the error code
// (docs/contract.md#agent-registration; docs/contract.md#id-jag). The provider is the test's own.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, importJWK, type JWK, UnsecuredJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hours, isoTime, minutes, seconds } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { type AgentWorld, idJagType, openAgentWorld } from '../support/agent-world.ts';
import { type Claims, openProvider, type Pen } from '../support/id-jag-issuer.ts';
import { present } from '../support/world.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await openAgentWorld();
});
afterAll(() => world.close());
afterEach(() => world.trust());

const now = () => Math.floor(present() / 1_000);
const fault = (error: string) => ({ error, error_description: expect.any(String) });
const repeated = Array.from({ length: 6 }, (_, i) => i + 1);
const show = (more?: Claims, pen?: Pen) => world.present(world.provider.idJag(more, pen));

/** Answer to a valid assertion of an unknown user: a person must confirm. */
const believed = [401, 'interaction_required'];
const outcome = async (more?: Claims, pen?: Pen) => {
  const { status, body } = await show(more, pen);
  return [status, body.error];
};

describe('the first assertion of a user', () => {
  it('401 · gets interaction_required, with a claim for the email address that the provider vouches for', async () => {
    const answer = await show({ email: 'Someone@Example.com' });
    const end = isoTime(present() + hours(24));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^AgentAuth error="interaction_required", error_description="[^"]+", Bearer resource_metadata="http[^"]+"$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      ...fault('interaction_required'),
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

  it('200 · once the person has confirmed, the poll returns tokens, and the next assertion is accepted at once, for an hour', async () => {
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
    const { claim: second } = (await show({ email: alice.person.email })).body;
    expect((await world.openPage(alice, second)).body).not.toContain('This would be your first');
  });

  it('401 · the email address of an account does not link another subject or another provider', async () => {
    const alice = await world.human();
    const { subject } = await world.linked(alice);
    const other = await openProvider();
    world.trust({}, { issuer: other.issuer, displayName: 'Other' });
    const { email } = alice.person;
    expect(await outcome({ email })).toEqual(believed);
    expect((await world.present(other.idJag({ email, sub: subject }))).body.error).toBe('interaction_required');
    expect(await outcome({ email: 'changed@example.com', sub: subject })).toEqual([200, undefined]);
    await other.close();
  });

  it('401 · a repeated request while the person is asked returns the same registration with a new claim token; the old token is unknown', async () => {
    const alice = await world.human();
    const claims = { sub: 'repeated', email: alice.person.email };
    const [first, second] = [(await show(claims)).body, (await show(claims)).body];
    expect(second.registration_id).toBe(first.registration_id);
    expect(second.claim_token).not.toBe(first.claim_token);
    expect((await world.poll(first.claim_token)).body).toEqual(fault('invalid_grant'));
    expect((await world.openPage(alice, first.claim)).status).toBe(404);
    expect((await world.startClaim({ claim_token: first.claim_token, email: claims.email })).status).toBe(401);
    expect((await world.decide(alice, second.claim)).status).toBe(200);
  });

  it.each(repeated)('concurrent presentations make one registration and one working claim (%i)', async (n) => {
    const claims = { sub: `at-once-${n}` };
    for (let round = 1; round <= 2; round++) {
      const both = await Promise.all([show(claims), show(claims)]);
      expect(both.map(({ status }) => status)).toEqual([401, 401]);
      expect(new Set(both.map(({ body }) => body.registration_id)).size).toBe(1);
      const polls = await Promise.all(both.map(({ body }) => world.poll(body.claim_token)));
      expect(polls.map(({ body }) => body.error).sort()).toEqual(['authorization_pending', 'invalid_grant']);
    }
  });

  it.each(repeated)(
    'a presentation during the confirmation takes effect before or after it, never in part (%i)',
    async () => {
      const alice = await world.human();
      const claims = { sub: `of-${alice.person.id}`, email: alice.person.email };
      const { claim } = (await show(claims)).body;
      const next = await world.provider.idJag(claims);
      const [decided, presented] = await Promise.all([world.decide(alice, claim), world.present(next)]);
      expect([
        [200, 200],
        [404, 401],
      ]).toContainEqual([decided.status, presented.status]);
    },
  );

  it('400 · gets email_mismatch when the claim is restarted for another address', async () => {
    const { body } = await show({ email: 'vera@example.com' });
    const other = await world.startClaim({ claim_token: body.claim_token, email: 'adam@example.com' });
    expect([other.status, other.body]).toEqual([400, fault('email_mismatch')]);
    expect((await world.startClaim({ claim_token: body.claim_token, email: 'VERA@example.com' })).status).toBe(200);
  });

  it('401 · after the delegation has ended the person is asked again, and earlier access stays revoked', async () => {
    const alice = await world.human();
    const { subject, registrationId, identity_assertion } = await world.linked(alice, {}, { days: 1 });
    world.clock.turn(hours(24));
    const { body } = await show({ sub: subject, email: alice.person.email });
    expect([body.error, body.registration_id]).toEqual(['interaction_required', registrationId]);
    expect((await world.exchange(identity_assertion)).body).toEqual(fault('invalid_grant'));
    await world.decide(alice, body.claim, { days: 30 });
    expect((await world.poll(body.claim_token)).status).toBe(200);
    expect((await world.exchange(identity_assertion)).body).toEqual(fault('invalid_grant'));
  });

  it('200 · the assertion’s hour is cut short by the end of the delegation; its scopes are those the role still holds', async () => {
    const alice = await world.human(undefined, 'member');
    const { subject } = await world.linked(alice, {}, { days: 1, scopes: ['missions:read', 'missions:run'] });
    world.clock.turn(hours(24) - minutes(10));
    await world.knex('memberships').where({ userId: alice.person.id }).update({ role: 'viewer' });
    const { body } = await show({ sub: subject, email: alice.person.email });
    expect([body.assertion_expires, body.scopes]).toEqual([isoTime(present() + minutes(10)), ['missions:read']]);
    await world.knex('memberships').where({ userId: alice.person.id }).delete();
    expect(await outcome({ sub: subject, email: alice.person.email })).toEqual(believed);
  });
});

describe('the jti of an assertion', () => {
  it('400 · is refused with replay_detected the second time', async () => {
    const jwt = await world.provider.idJag();
    expect((await world.present(jwt)).status).toBe(401);
    const again = await world.present(jwt);
    expect([again.status, again.body]).toEqual([400, fault('replay_detected')]);
  });

  it.each(repeated)('two identical concurrent assertions: exactly one is accepted (%i)', async () => {
    const jwt = await world.provider.idJag();
    const all = await Promise.all(Array.from({ length: 4 }, () => world.present(jwt)));
    expect(all.map(({ body }) => body.error).sort()).toEqual([
      'interaction_required',
      'replay_detected',
      'replay_detected',
      'replay_detected',
    ]);
  });

  it('400 · is used up by an assertion that fails a later check, but not by one with an invalid signature', async () => {
    const wrong = world.provider.claimsOf({ email_verified: false });
    expect((await world.present(world.provider.sign(wrong))).body.error).toBe('missing_verified_email');
    expect(await outcome({ jti: wrong.jti })).toEqual([400, 'replay_detected']);
    const { privateKey } = await generateKeyPair('ES256');
    const forged = world.provider.claimsOf();
    expect((await world.present(world.provider.sign(forged, { key: privateKey }))).body.error).toBe(
      'invalid_signature',
    );
    expect((await world.present(world.provider.sign(forged))).body.error).toBe('interaction_required');
  });

  it('is used up for its own provider only: another provider’s assertion with it is accepted (401 · interaction_required)', async () => {
    const other = await openProvider();
    world.trust({}, { issuer: other.issuer, displayName: 'Other' });
    const jti = 'the-same-at-both';
    expect(await outcome({ jti })).toEqual(believed);
    expect((await world.present(other.idJag({ jti }))).body.error).toBe('interaction_required');
    await other.close();
  });
});

describe('the time of the login at the provider', () => {
  it('401 · is refused with login_required when it is older than an hour; the answer names the maximum age', async () => {
    const answer = await show({ auth_time: now() - 3_700 });
    expect([answer.status, answer.body]).toEqual([401, { ...fault('login_required'), max_age: 3600 }]);
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^AgentAuth error="login_required", max_age="3600", error_description="[^"]+", Bearer resource_metadata=/,
    );
  });

  it.each([
    ['3600 seconds old: accepted', () => now() - 3_600, believed],
    ['3601 seconds old', () => now() - 3_601, [401, 'login_required']],
    ['absent', () => undefined, [401, 'login_required']],
    ['ten minutes ahead', () => now() + 600, [401, 'login_required']],
    ['a text', () => String(now()), [401, 'login_required']],
    ['null', () => null, [401, 'login_required']],
  ])('auth_time %s', async (_what, auth_time, expected) => {
    expect(await outcome({ auth_time: auth_time() })).toEqual(expected);
  });

  it('401 · is refused with login_required for a linked user, too', async () => {
    const alice = await world.human();
    const { subject } = await world.linked(alice);
    const answer = await show({ sub: subject, email: alice.person.email, auth_time: now() - 3_700 });
    expect([answer.status, answer.body.error, answer.body.max_age]).toEqual([401, 'login_required', 3600]);
  });
});

describe('the issuer of an assertion', () => {
  it('400 · is refused with issuer_not_enabled when it is not trusted, and nothing is fetched from it', async () => {
    const stranger = await openProvider();
    const answer = await world.present(stranger.idJag());
    expect([answer.status, answer.body]).toEqual([400, fault('issuer_not_enabled')]);
    expect(stranger.asked).toEqual([]);
    for (const iss of [`${world.provider.issuer}/`, world.provider.issuer.toUpperCase(), '', null, 7, undefined]) {
      expect([iss, ...(await outcome({ iss }))]).toEqual([iss, 400, 'issuer_not_enabled']);
    }
    await stranger.close();
  });
});

describe('the audience of an assertion', () => {
  it.each([
    ['the issuer', () => addresses().issuer],
    ['the issuer with a slash', () => `${addresses().issuer}/`],
    ['the API', () => addresses().baseHost],
    ['a list with one entry', () => [addresses().issuer]],
  ])('is accepted as %s (401 · interaction_required)', async (_what, aud) => {
    expect(await outcome({ aud: aud() })).toEqual(believed);
  });

  it.each([
    ['another', () => 'https://elsewhere.example'],
    ['two', () => [addresses().issuer, 'https://elsewhere.example']],
    ['the issuer twice', () => [addresses().issuer, addresses().issuer]],
    ['the issuer and a path', () => `${addresses().issuer}/claim`],
    ['none', () => undefined],
    ['an empty list', () => []],
    ['an object', () => ({})],
  ])('400 · invalid_audience for %s', async (_what, aud) => {
    expect(await outcome({ aud: aud() })).toEqual([400, 'invalid_audience']);
  });
});

describe('the times of an assertion', () => {
  it.each([
    ['exp two minutes ago', () => ({ iat: now() - 300, exp: now() - 120 }), [400, 'expired']],
    ['exp half a minute ago, which a clock skew explains', () => ({ iat: now() - 300, exp: now() - 30 }), believed],
    ['no exp', () => ({ exp: undefined }), [400, 'invalid_request']],
    ['exp as a text', () => ({ exp: String(now() + 300) }), [400, 'invalid_request']],
    ['no iat', () => ({ iat: undefined }), [400, 'invalid_request']],
    ['iat ten minutes ahead', () => ({ iat: now() + 600, exp: now() + 900 }), [400, 'invalid_request']],
    ['iat half a minute ahead', () => ({ iat: now() + 30 }), believed],
    ['nbf ten minutes ahead', () => ({ nbf: now() + 600 }), [400, 'invalid_request']],
    ['nbf as a text', () => ({ nbf: 'soon' }), [400, 'invalid_request']],
    ['nbf in the past', () => ({ nbf: now() - 1 }), believed],
    ['valid for longer than an hour', () => ({ exp: now() + 3_601 }), [400, 'invalid_request']],
    ['valid for an hour', () => ({ exp: now() + 3_600 }), believed],
  ])('%s', async (_what, claims, expected) => {
    expect(await outcome(claims())).toEqual(expected);
  });
});

describe('the signature of an assertion', () => {
  const refused = [400, 'invalid_signature'];

  it('400 · an unsigned assertion and one that another key signed are refused', async () => {
    const unsecured = new UnsecuredJWT(world.provider.claimsOf()).encode();
    const [, body] = unsecured.split('.');
    const head = Buffer.from(JSON.stringify({ alg: 'none', typ: 'oauth-id-jag+jwt' })).toString('base64url');
    for (const jwt of [`${head}.${body}.`, `${head}.${body}.AAAA`]) {
      expect((await world.present(jwt)).body).toEqual(fault('invalid_signature'));
    }
    const { privateKey } = await generateKeyPair('ES256');
    expect(await outcome({}, { key: privateKey })).toEqual(refused);
    const good = await world.provider.idJag();
    const at = good.length - 10;
    const flipped = good.slice(0, at) + (good[at] === 'A' ? 'B' : 'A') + good.slice(at + 1);
    expect((await world.present(flipped)).body).toEqual(fault('invalid_signature'));
  });

  it('400 · is refused with HS256 when keyed with public data of the provider: its JWK, its PEM', async () => {
    const jwk = world.provider.keys[0]!;
    const pem = await exportSPKI((await importJWK(jwk, 'ES256')) as CryptoKey);
    for (const secret of [JSON.stringify(jwk), pem, jwk.x!]) {
      expect(await outcome({}, { header: { alg: 'HS256' }, key: Buffer.from(secret) })).toEqual(refused);
    }
  });

  it('400 · a valid RS256 signature by a key of 1024 bits is refused', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const header = { alg: 'RS256', kid: 'short', typ: 'oauth-id-jag+jwt' };
    world.provider.keys.push({ ...publicKey.export({ format: 'jwk' }), kid: 'short' } as JWK);
    world.trust();
    const signed = [header, world.provider.claimsOf()]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url');
    expect((await world.present(`${signed}.${signature}`)).body).toEqual(fault('invalid_signature'));
    world.provider.keys.pop();
  });

  it('is accepted with RS256, PS256, ES384 and EdDSA (401 · interaction_required)', async () => {
    for (const alg of ['RS256', 'PS256', 'ES384', 'EdDSA']) {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
      world.provider.keys.push({ ...(await exportJWK(publicKey)), kid: alg });
      world.trust();
      expect([alg, ...(await outcome({}, { header: { alg, kid: alg }, key: privateKey }))]).toEqual([alg, ...believed]);
      world.provider.keys.pop();
    }
  });

  it('400 · is refused with RS256 over a key for ES256, with a malformed key and with a key for encryption', async () => {
    const rsa = await generateKeyPair('RS256');
    expect(await outcome({}, { header: { alg: 'RS256' }, key: rsa.privateKey })).toEqual(refused);
    const jwk = await world.provider.rotate();
    for (const change of [{ use: 'enc' }, { alg: 'ES384' }, { kty: 'RSA' }, { x: 'AAAA' }, { key_ops: ['sign'] }]) {
      world.trust();
      Object.assign(jwk, change);
      expect([change, ...(await outcome())]).toEqual([change, ...refused]);
      Object.assign(jwk, { use: 'sig', alg: 'ES256' });
    }
    world.provider.keys.pop();
    await world.provider.rotate();
    world.trust();
    expect(await outcome()).toEqual(believed);
  });

  it('400 · an unknown kid is refused; a key in the header, or its address, is not used', async () => {
    const trap = await openProvider();
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: 'mine' };
    trap.keys.push({ ...jwk, alg: 'ES256' });
    const jku = `${trap.issuer}/.well-known/jwks.json`;
    const headers = [{ kid: 'mine' }, { kid: 'mine', jwk }, { kid: 'mine', jku }, { kid: 'mine', x5u: jku }, { jwk }];
    for (const header of headers) {
      expect([header, ...(await outcome({}, { header, key: privateKey }))]).toEqual([header, ...refused]);
    }
    expect(trap.asked).toEqual([]);
    await trap.close();
  });

  it.each([
    ['JWT', { typ: 'JWT' }],
    ['none', { typ: undefined }],
    ['of an event', { typ: 'secevent+jwt' }],
    ['in other letters', { typ: 'OAUTH-ID-JAG+JWT' }],
  ])('400 · is refused with the typ %s', async (_what, header) => {
    expect(await outcome({}, { header })).toEqual([400, 'invalid_request']);
  });

  it('400 · is refused with the header crit, whatever its value', async () => {
    const [, body, signature] = (await world.provider.idJag()).split('.');
    const header = { alg: 'ES256', typ: 'oauth-id-jag+jwt', crit: ['b64'], b64: true };
    const head = Buffer.from(JSON.stringify(header)).toString('base64url');
    expect((await world.present(`${head}.${body}.${signature}`)).body).toEqual(fault('invalid_request'));
  });
});

describe('the user and the client in an assertion', () => {
  it.each([
    ['email_verified false', { email_verified: false }],
    ['email_verified as a text', { email_verified: 'true' }],
    ['email_verified absent', { email_verified: undefined }],
    ['email absent', { email: undefined }],
    ['email that is not an email address', { email: 'nobody' }],
    ['email with a NUL', { email: 'a\0@example.com' }],
    [
      'only the telephone verified',
      { email: undefined, email_verified: undefined, phone_number: '+1', phone_number_verified: true },
    ],
  ])('400 · missing_verified_email: %s', async (_what, claims) => {
    expect(await outcome(claims)).toEqual([400, 'missing_verified_email']);
  });

  it.each([
    ['no client_id', { client_id: undefined }, 'invalid_client_id'],
    ['an empty client_id', { client_id: '' }, 'invalid_client_id'],
    ['the client_id of another host', { client_id: 'https://elsewhere.example/agent.json' }, 'invalid_client_id'],
    ['a client_id that is not an address', { client_id: 'client-7' }, 'invalid_client_id'],
    ['a number', { client_id: 7 }, 'invalid_client_id'],
    ['no jti', { jti: undefined }, 'invalid_request'],
    ['an empty jti', { jti: '' }, 'invalid_request'],
    ['a jti of 256 characters', { jti: 'j'.repeat(256) }, 'invalid_request'],
    ['a jti with a NUL', { jti: 'j\0' }, 'invalid_request'],
    ['a jti with a lone surrogate', { jti: 'j\uD800' }, 'invalid_request'],
    ['no sub', { sub: undefined }, 'invalid_request'],
    ['a sub of 256 characters', { sub: 's'.repeat(256) }, 'invalid_request'],
    ['a sub with a NUL', { sub: 's\0' }, 'invalid_request'],
    ['a sub that is a number', { sub: 7 }, 'invalid_request'],
  ])('400 · is refused: %s', async (_what, claims, error) => {
    expect(await outcome(claims)).toEqual([400, error]);
  });

  it('are accepted only for pinned clients when the trust list names some', async () => {
    world.trust({ clientIds: ['client-7'] });
    expect(await outcome({ client_id: 'client-7' })).toEqual(believed);
    expect(await outcome()).toEqual([400, 'invalid_client_id']);
  });

  it.each([
    ['the API', () => world.url, believed],
    ['MCP among others', () => ['https://elsewhere.example', `${world.url}/mcp`], believed],
    ['another', () => 'https://elsewhere.example', [400, 'invalid_request']],
    ['the agent-to-agent endpoint', () => `${world.url}/a2a`, [400, 'invalid_request']],
    ['an empty list', () => [], [400, 'invalid_request']],
    ['a number', () => 7, [400, 'invalid_request']],
  ])('resource: %s', async (_what, resource, expected) => {
    expect(await outcome({ resource: resource() })).toEqual(expected);
  });
});

describe('the request body with an assertion', () => {
  const body = { type: 'identity_assertion', assertion_type: idJagType };
  it.each([
    ['16385 characters', { ...body, assertion: 'a'.repeat(16_385) }, 'assertion: must be at most 16384 characters.'],
    ['nothing', { ...body, assertion: '' }, 'assertion: must be at least 1 character.'],
    ['no assertion', body, 'assertion: is required.'],
    [
      'another type',
      { ...body, assertion_type: 'urn:ietf:params:oauth:token-type:jwt', assertion: 'a.b.c' },
      `assertion_type: must be one of "${idJagType}", "verified_email".`,
    ],
    ['a text that is not a JWT', { ...body, assertion: 'a.b.c' }, 'It is not a signed JWT in compact form.'],
    ['a list as claims', { ...body, assertion: 'e30.W10.' }, 'It is not a signed JWT in compact form.'],
  ])('400 · is refused: %s', async (_what, given, description) => {
    const answer = await world.identity(given);
    expect([answer.status, answer.body]).toEqual([400, { error: 'invalid_request', error_description: description }]);
  });

  it('400 · 16 KB of random bytes are rejected without a fetch', async () => {
    const before = world.provider.asked.length;
    const noise = () => randomBytes(4_000).toString('base64url');
    for (const assertion of [`${noise()}.${noise()}.${noise()}`, 'A'.repeat(16_384), '.'.repeat(16_384)]) {
      expect((await world.identity({ ...body, assertion })).status).toBe(400);
    }
    expect(world.provider.asked.length).toBe(before);
  });
});

describe('the keys of a provider', () => {
  it('are fetched once and cached for ten minutes, regardless of the provider’s headers', async () => {
    world.trust();
    world.provider.settings.headers = { 'cache-control': 'no-store' };
    const before = world.provider.asked.length;
    for (let n = 0; n < 3; n++) expect(await outcome()).toEqual(believed);
    expect(world.provider.asked.slice(before)).toEqual(['/.well-known/jwks.json']);
    world.clock.turn(minutes(10));
    expect(await outcome()).toEqual(believed);
    expect(world.provider.asked.length - before).toBe(2);
    world.provider.settings.headers = { 'cache-control': 'public, max-age=9999999' };
    world.clock.turn(minutes(10));
    await outcome();
    world.clock.turn(hours(24) - seconds(1));
    await outcome();
    expect(world.provider.asked.length - before).toBe(3);
    world.clock.turn(seconds(1));
    await outcome();
    expect(world.provider.asked.length - before).toBe(4);
    world.provider.settings.headers = {};
  });

  it('are fetched once for concurrent requests', async () => {
    world.trust();
    const before = world.provider.asked.length;
    const all = await Promise.all(Array.from({ length: 8 }, () => outcome()));
    expect(all).toEqual(Array(8).fill(believed));
    expect(world.provider.asked.length - before).toBe(1);
  });

  it('a new key of the provider is found with one more fetch (401 · interaction_required)', async () => {
    await outcome();
    const before = world.provider.asked.length;
    await world.provider.rotate();
    const all = await Promise.all([outcome(), outcome(), outcome()]);
    expect(all).toEqual([believed, believed, believed]);
    expect(world.provider.asked.length - before).toBe(1);
  });

  it('400 · unknown kids cause at most one fetch in thirty seconds', async () => {
    await outcome();
    world.clock.turn(seconds(30));
    const before = world.provider.asked.length;
    const flood = Array.from({ length: 20 }, (_, n) => outcome({}, { header: { kid: `made-up-${n}` } }));
    expect(await Promise.all(flood)).toEqual(Array(20).fill([400, 'invalid_signature']));
    for (let n = 0; n < 5; n++) await outcome({}, { header: { kid: `later-${n}` } });
    expect(world.provider.asked.length - before).toBe(1);
    world.clock.turn(seconds(30));
    await outcome({}, { header: { kid: 'much-later' } });
    expect(world.provider.asked.length - before).toBe(2);
  });

  it('400 · the keys of an unavailable provider are requested again after thirty seconds', async () => {
    world.trust();
    world.provider.settings.status = 503;
    const before = world.provider.asked.length;
    expect(await outcome()).toEqual([400, 'invalid_signature']);
    expect(await outcome()).toEqual([400, 'invalid_signature']);
    expect(world.provider.asked.length - before).toBe(1);
    world.provider.settings.status = 200;
    world.clock.turn(seconds(30));
    expect(await outcome()).toEqual(believed);
  });

  it('known keys stay valid for a day while the provider is unavailable (401 · interaction_required)', async () => {
    world.trust();
    expect(await outcome()).toEqual(believed);
    world.provider.settings.status = 503;
    world.clock.turn(hours(24) - seconds(1));
    expect(await outcome()).toEqual(believed);
    world.clock.turn(seconds(1));
    expect(await outcome()).toEqual([400, 'invalid_signature']);
    world.provider.settings.status = 200;
    world.clock.turn(seconds(30));
  });

  it('come from the address in the trust list; redirects are not followed', async () => {
    const trap = await openProvider();
    world.trust({ jwksUri: `${world.provider.issuer}/keys` });
    expect(await outcome()).toEqual(believed);
    expect(world.provider.asked.at(-1)).toBe('/keys');
    world.trust();
    Object.assign(world.provider.settings, { status: 302, headers: { location: `${trap.issuer}/` } });
    expect(await outcome()).toEqual([400, 'invalid_signature']);
    expect(trap.asked).toEqual([]);
    Object.assign(world.provider.settings, { status: 200, headers: {} });
    await trap.close();
  });
});
