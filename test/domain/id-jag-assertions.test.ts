// Identity assertions of a provider (ID-JAG), check by check: accepted and refused assertions, with the error code (docs/contract.md#id-jag).
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, importJWK, type JWK, UnsecuredJWT } from 'jose';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { addresses } from '#foundation/http/addresses.ts';
import { believed, idJagType, openAgentWorld } from '../support/agent-world.ts';
import { openProvider } from '../support/id-jag-issuer.ts';
import { oauthError } from '../support/oauth-world.ts';
import { present } from '../support/world.ts';

const world = await openAgentWorld();
afterAll(() => world.close());
afterEach(() => world.trust());

const now = () => Math.floor(present() / 1_000);

describe('the issuer of an assertion', () => {
  it('400 · an assertion of an untrusted issuer is refused with issuer_not_enabled, and nothing is fetched from that issuer', async () => {
    const stranger = await openProvider();
    const answer = await world.present(stranger.idJag());
    expect([answer.status, answer.body]).toEqual([400, oauthError('issuer_not_enabled')]);
    expect(stranger.asked).toEqual([]);
    for (const iss of [`${world.provider.issuer}/`, world.provider.issuer.toUpperCase(), '', null, 7, undefined]) {
      expect([iss, ...(await world.outcome({ iss }))]).toEqual([iss, 400, 'issuer_not_enabled']);
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
  ])(
    '401 · an assertion whose audience is %s is valid, and the error interaction_required asks for confirmation by a person',
    async (_what, aud) => {
      expect(await world.outcome({ aud: aud() })).toEqual(believed);
    },
  );

  it.each([
    ['another URL', () => 'https://elsewhere.example'],
    ['two URLs', () => [addresses().issuer, 'https://elsewhere.example']],
    ['the issuer twice', () => [addresses().issuer, addresses().issuer]],
    ['the issuer and a path', () => `${addresses().issuer}/claim`],
    ['no audience', () => undefined],
    ['an empty list', () => []],
    ['an object', () => ({})],
  ])('400 · an assertion is refused with invalid_audience for %s', async (_what, aud) => {
    expect(await world.outcome({ aud: aud() })).toEqual([400, 'invalid_audience']);
  });
});

describe('exp, iat and nbf', () => {
  it.each([
    ['that expired two minutes ago is refused', () => ({ iat: now() - 300, exp: now() - 120 }), [400, 'expired']],
    [
      'that expired half a minute ago is accepted, because clocks differ',
      () => ({ iat: now() - 300, exp: now() - 30 }),
      believed,
    ],
    ['without exp is refused', () => ({ exp: undefined }), [400, 'invalid_request']],
    ['with exp as a string is refused', () => ({ exp: String(now() + 300) }), [400, 'invalid_request']],
    ['without iat is refused', () => ({ iat: undefined }), [400, 'invalid_request']],
    ['issued ten minutes ahead is refused', () => ({ iat: now() + 600, exp: now() + 900 }), [400, 'invalid_request']],
    ['issued half a minute ahead is accepted', () => ({ iat: now() + 30 }), believed],
    ['with nbf ten minutes ahead is refused', () => ({ nbf: now() + 600 }), [400, 'invalid_request']],
    ['with nbf as a string is refused', () => ({ nbf: 'soon' }), [400, 'invalid_request']],
    ['with nbf in the past is accepted', () => ({ nbf: now() - 1 }), believed],
    ['that is valid for longer than an hour is refused', () => ({ exp: now() + 3_601 }), [400, 'invalid_request']],
    ['that is valid for an hour is accepted', () => ({ exp: now() + 3_600 }), believed],
  ])('an assertion %s', async (_what, claims, expected) => {
    expect(await world.outcome(claims())).toEqual(expected);
  });
});

describe('the signature of an assertion', () => {
  const refused = [400, 'invalid_signature'];

  it('400 · an unsigned assertion, one signed with another key, and one with an altered signature are refused', async () => {
    const unsecured = new UnsecuredJWT(world.provider.claimsOf()).encode();
    const [, body] = unsecured.split('.');
    const head = Buffer.from(JSON.stringify({ alg: 'none', typ: 'oauth-id-jag+jwt' })).toString('base64url');
    for (const jwt of [`${head}.${body}.`, `${head}.${body}.AAAA`]) {
      expect((await world.present(jwt)).body).toEqual(oauthError('invalid_signature'));
    }
    const { privateKey } = await generateKeyPair('ES256');
    expect(await world.outcome({}, { key: privateKey })).toEqual(refused);
    const good = await world.provider.idJag();
    const at = good.length - 10;
    const flipped = good.slice(0, at) + (good[at] === 'A' ? 'B' : 'A') + good.slice(at + 1);
    expect((await world.present(flipped)).body).toEqual(oauthError('invalid_signature'));
  });

  it('400 · an assertion signed with HS256 and public data of the provider is refused', async () => {
    const jwk = world.provider.keys[0]!;
    const pem = await exportSPKI((await importJWK(jwk, 'ES256')) as CryptoKey);
    for (const secret of [JSON.stringify(jwk), pem, jwk.x!]) {
      expect(await world.outcome({}, { header: { alg: 'HS256' }, key: Buffer.from(secret) })).toEqual(refused);
    }
  });

  it('400 · an assertion signed with RS256 and a key of 1024 bits is refused', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const header = { alg: 'RS256', kid: 'short', typ: 'oauth-id-jag+jwt' };
    world.provider.keys.push({ ...publicKey.export({ format: 'jwk' }), kid: 'short' } as JWK);
    world.trust();
    const signed = [header, world.provider.claimsOf()]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url');
    expect((await world.present(`${signed}.${signature}`)).body).toEqual(oauthError('invalid_signature'));
    world.provider.keys.pop();
  });

  it('401 · assertions signed with RS256, PS256, ES384 and EdDSA are valid, and are answered with interaction_required', async () => {
    for (const alg of ['RS256', 'PS256', 'ES384', 'EdDSA']) {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
      world.provider.keys.push({ ...(await exportJWK(publicKey)), kid: alg });
      world.trust();
      expect([alg, ...(await world.outcome({}, { header: { alg, kid: alg }, key: privateKey }))]).toEqual([
        alg,
        ...believed,
      ]);
      world.provider.keys.pop();
    }
  });

  it('400 · an assertion is refused when its key is for another algorithm, malformed, or not for signatures', async () => {
    const rsa = await generateKeyPair('RS256');
    expect(await world.outcome({}, { header: { alg: 'RS256' }, key: rsa.privateKey })).toEqual(refused);
    const jwk = await world.provider.rotate();
    for (const change of [{ use: 'enc' }, { alg: 'ES384' }, { kty: 'RSA' }, { x: 'AAAA' }, { key_ops: ['sign'] }]) {
      world.trust();
      Object.assign(jwk, change);
      expect([change, ...(await world.outcome())]).toEqual([change, ...refused]);
      Object.assign(jwk, { use: 'sig', alg: 'ES256' });
    }
    world.provider.keys.pop();
    await world.provider.rotate();
    world.trust();
    expect(await world.outcome()).toEqual(believed);
  });

  it('400 · an unknown kid is refused; a key in the header, or one at a URL in the header, is not used', async () => {
    const trap = await openProvider();
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: 'mine' };
    trap.keys.push({ ...jwk, alg: 'ES256' });
    const jku = `${trap.issuer}/.well-known/jwks.json`;
    const headers = [{ kid: 'mine' }, { kid: 'mine', jwk }, { kid: 'mine', jku }, { kid: 'mine', x5u: jku }, { jwk }];
    for (const header of headers) {
      expect([header, ...(await world.outcome({}, { header, key: privateKey }))]).toEqual([header, ...refused]);
    }
    expect(trap.asked).toEqual([]);
    await trap.close();
  });

  it.each([
    ['JWT', { typ: 'JWT' }],
    ['absent', { typ: undefined }],
    ['secevent+jwt', { typ: 'secevent+jwt' }],
    ['in capital letters', { typ: 'OAUTH-ID-JAG+JWT' }],
  ])('400 · an assertion is refused when its typ is %s', async (_what, header) => {
    expect(await world.outcome({}, { header })).toEqual([400, 'invalid_request']);
  });

  it('400 · an assertion with the header crit is refused', async () => {
    const [, body, signature] = (await world.provider.idJag()).split('.');
    const header = { alg: 'ES256', typ: 'oauth-id-jag+jwt', crit: ['b64'], b64: true };
    const head = Buffer.from(JSON.stringify(header)).toString('base64url');
    expect((await world.present(`${head}.${body}.${signature}`)).body).toEqual(oauthError('invalid_request'));
  });
});

describe('the user and the client in an assertion', () => {
  it.each([
    ['email_verified false', { email_verified: false }],
    ['email_verified as a string', { email_verified: 'true' }],
    ['email_verified absent', { email_verified: undefined }],
    ['email absent', { email: undefined }],
    ['email that is not an email address', { email: 'nobody' }],
    ['email with a NUL', { email: 'a\0@example.com' }],
    [
      'only the telephone verified',
      { email: undefined, email_verified: undefined, phone_number: '+1', phone_number_verified: true },
    ],
  ])('400 · an assertion is refused with missing_verified_email: %s', async (_what, claims) => {
    expect(await world.outcome(claims)).toEqual([400, 'missing_verified_email']);
  });

  it.each([
    ['no client_id', { client_id: undefined }, 'invalid_client_id'],
    ['an empty client_id', { client_id: '' }, 'invalid_client_id'],
    ['the client_id of another host', { client_id: 'https://elsewhere.example/agent.json' }, 'invalid_client_id'],
    ['a client_id that is not a URL', { client_id: 'client-7' }, 'invalid_client_id'],
    ['a client_id that is a number', { client_id: 7 }, 'invalid_client_id'],
    ['no jti', { jti: undefined }, 'invalid_request'],
    ['an empty jti', { jti: '' }, 'invalid_request'],
    ['a jti of 256 characters', { jti: 'j'.repeat(256) }, 'invalid_request'],
    ['a jti with a NUL', { jti: 'j\0' }, 'invalid_request'],
    ['a jti with a lone surrogate', { jti: 'j\uD800' }, 'invalid_request'],
    ['no sub', { sub: undefined }, 'invalid_request'],
    ['a sub of 256 characters', { sub: 's'.repeat(256) }, 'invalid_request'],
    ['a sub with a NUL', { sub: 's\0' }, 'invalid_request'],
    ['a sub that is a number', { sub: 7 }, 'invalid_request'],
  ])('400 · an assertion is refused for %s', async (_what, claims, error) => {
    expect(await world.outcome(claims)).toEqual([400, error]);
  });

  it('assertions are accepted only for the clients that the trust list names for the provider, if it names any', async () => {
    world.trust({ clientIds: ['client-7'] });
    expect(await world.outcome({ client_id: 'client-7' })).toEqual(believed);
    expect(await world.outcome()).toEqual([400, 'invalid_client_id']);
  });

  it.each([
    ['the API is accepted', () => world.url, believed],
    ['MCP among others is accepted', () => ['https://elsewhere.example', `${world.url}/mcp`], believed],
    ['another host is refused', () => 'https://elsewhere.example', [400, 'invalid_request']],
    ['the agent-to-agent endpoint is refused', () => `${world.url}/a2a`, [400, 'invalid_request']],
    ['an empty list is refused', () => [], [400, 'invalid_request']],
    ['a number is refused', () => 7, [400, 'invalid_request']],
  ])(
    'the resource that an assertion names decides whether the assertion is accepted: %s',
    async (_what, resource, expected) => {
      expect(await world.outcome({ resource: resource() })).toEqual(expected);
    },
  );
});

describe('the request body with an assertion', () => {
  const body = { type: 'identity_assertion', assertion_type: idJagType };
  it.each([
    ['16385 characters', { ...body, assertion: 'a'.repeat(16_385) }, 'assertion: must be at most 16384 characters.'],
    ['an empty assertion', { ...body, assertion: '' }, 'assertion: must be at least 1 character.'],
    ['no assertion', body, 'assertion: is required.'],
    [
      'another assertion_type',
      { ...body, assertion_type: 'urn:ietf:params:oauth:token-type:jwt', assertion: 'a.b.c' },
      `assertion_type: must be one of "${idJagType}", "verified_email".`,
    ],
    ['text that is not a JWT', { ...body, assertion: 'a.b.c' }, 'It is not a signed JWT in compact form.'],
    ['a list as claims', { ...body, assertion: 'e30.W10.' }, 'It is not a signed JWT in compact form.'],
  ])('400 · the request with an assertion is refused: %s', async (_what, given, description) => {
    const answer = await world.identity(given);
    expect([answer.status, answer.body]).toEqual([400, { error: 'invalid_request', error_description: description }]);
  });

  it('400 · 16 KB of random bytes instead of an assertion are refused, and the keys are not fetched', async () => {
    const before = world.provider.asked.length;
    const noise = () => randomBytes(4_000).toString('base64url');
    for (const assertion of [`${noise()}.${noise()}.${noise()}`, 'A'.repeat(16_384), '.'.repeat(16_384)]) {
      expect((await world.identity({ ...body, assertion })).status).toBe(400);
    }
    expect(world.provider.asked.length).toBe(before);
  });
});
