// Signing keys: the current key, created once by concurrent processes, and retired keys, which are accepted as long as necessary.
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publicKeys, rotateSigningKey, signJwt, sweepSigningKeys, verifyOwnJwt } from '#domain/identity/oauth/keys.ts';
import { days, minutes } from '#foundation/clock.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
const pools: ReturnType<typeof openDatabase>[] = [];
beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.destroy()));
  await world.close();
});

/** A separate pool acts as a separate process, as far as the cache of keys is concerned. */
const anotherProcess = () => pools.push(openDatabase({ connection: world.connection, poolMax: 2 }));

const typ = 'oauth-id-jag+jwt';
const seconds = () => Math.floor(present() / 1_000);
const claims = (more: object = {}) => ({
  iss: world.url,
  aud: world.url,
  sub: 'reg_1',
  iat: seconds(),
  exp: seconds() + 60,
  ...more,
});
const sign = (more: object = {}) => signJwt(claims(more), { typ });
const kids = async () => (await publicKeys()).keys.map(({ kid }) => kid!);

describe('signing keys', () => {
  it('the first signing key is created once by concurrent processes', async () => {
    for (let round = 0; round < 8; round++) {
      await world.knex('signingKeys').delete();
      const sets = await Promise.all(
        Array.from({ length: 4 }, () => {
          anotherProcess();
          return kids();
        }),
      );
      expect(new Set(sets.map(String)).size).toBe(1);
      expect(await world.knex('signingKeys').count().first()).toEqual({ count: 1 });
    }
  });

  it('after concurrent rotations by several processes exactly one key signs', async () => {
    for (let round = 0; round < 5; round++) {
      const before = (await kids()).length;
      await Promise.all(
        Array.from({ length: 3 }, () => {
          anotherProcess();
          return rotateSigningKey();
        }),
      );
      expect(await world.knex('signingKeys').whereNull('retiredAt').count().first()).toEqual({ count: 1 });
      const after = (await kids()).length;
      expect(after).toBeGreaterThan(before);
      expect(after).toBeLessThanOrEqual(before + 3);
    }
  });

  it('a signed token that another process signed after a rotation is accepted at once', async () => {
    anotherProcess();
    const [before] = await kids();
    await rotateSigningKey();
    const jwt = await sign();
    const [newest] = await world.knex('signingKeys').where({ retiredAt: null });
    // Restores the rows from before the rotation, so that the next process reads the old keys.
    await world.knex('signingKeys').where({ kid: newest.kid }).delete();
    await world.knex('signingKeys').where({ kid: before }).update({ retiredAt: null });
    anotherProcess();
    expect(await kids()).not.toContain(newest.kid);
    await world.knex('signingKeys').where({ kid: before }).update({ retiredAt: present() });
    await world.knex('signingKeys').insert({ ...newest, publicJwk: JSON.stringify(newest.publicJwk) });
    expect(await verifyOwnJwt(jwt, { typ })).toEqual(claims());
    expect((await kids())[0]).toBe(newest.kid);
  });

  it('a retired signing key is published and accepted until the longest-lived token has expired, and then deleted', async () => {
    await world.knex('signingKeys').delete();
    anotherProcess();
    const exp = seconds() + days(365) / 1_000;
    const jwt = await sign({ exp });
    const [old] = await kids();
    await rotateSigningKey();
    expect(await kids()).toEqual([expect.not.stringMatching(old!), old]);
    world.clock.turn(days(365) - 1_000);
    await sweepSigningKeys();
    expect(await kids()).toContain(old);
    expect(await verifyOwnJwt(jwt, { typ })).toMatchObject({ sub: 'reg_1', exp });
    world.clock.turn(minutes(2));
    await sweepSigningKeys();
    expect(await kids()).not.toContain(old);
    expect(await world.knex('signingKeys').count().first()).toEqual({ count: 1 });
  });

  it('a signing key that was sealed with a lost service key can be rotated', async () => {
    await world.knex('signingKeys').where({ retiredAt: null }).update({ sealedPrivateJwk: 'AAAA' });
    anotherProcess();
    const [lost] = await kids();
    await expect(sign()).rejects.toThrow();
    await rotateSigningKey();
    expect(await kids()).toContain(lost);
    expect(await verifyOwnJwt(await sign(), { typ })).toEqual(claims());
  });

  it('the private part of a signing key is stored encrypted', async () => {
    const [row] = await world.knex('signingKeys');
    expect(Object.keys(row.publicJwk).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    expect(row.sealedPrivateJwk).not.toMatch(/[{"]/);
  });
});

describe('reading signed tokens', () => {
  const forge = async (header: object, more: object, key: Parameters<SignJWT['sign']>[0]) =>
    new SignJWT(claims(more)).setProtectedHeader({ alg: 'ES256', typ, ...header }).sign(key);
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

  it('a valid signed token is accepted', async () => {
    expect(await verifyOwnJwt(await sign(), { typ })).toEqual(claims());
  });

  it.each([
    ['another audience', { aud: 'https://other.example' }],
    ['another issuer', { iss: 'https://other.example' }],
    ['an expiry in the past', { exp: 1 }],
    ['no expiry', { exp: undefined }],
    ['no subject', { sub: undefined }],
    ['no time of issue', { iat: undefined }],
  ])('a signed token with %s is refused', async (_, more) => {
    expect(await verifyOwnJwt(await sign(more), { typ })).toBeNull();
  });

  it('a signed token of another type or without a type is refused', async () => {
    expect(await verifyOwnJwt(await signJwt(claims(), { typ: 'secevent+jwt' }), { typ })).toBeNull();
    expect(await verifyOwnJwt(await signJwt(claims(), { typ: '' }), { typ })).toBeNull();
  });

  it('a signed token is refused when a byte of its content or signature differs', async () => {
    const jwt = await sign();
    const [header, payload, signature] = jwt.split('.') as [string, string, string];
    const other = signature[10] === 'A' ? 'B' : 'A';
    expect(
      await verifyOwnJwt(`${header}.${payload}.${signature.slice(0, 10)}${other}${signature.slice(11)}`, { typ }),
    ).toBeNull();
    expect(await verifyOwnJwt(`${header}.${encoded(claims({ sub: 'reg_2' }))}.${signature}`, { typ })).toBeNull();
    expect(await verifyOwnJwt(`${header}.${payload}.`, { typ })).toBeNull();
  });

  it('a token is refused when it has no signature, or was signed with the public key as a shared secret or with a forger’s key', async () => {
    const [jwk] = (await publicKeys()).keys;
    const kid = jwk!.kid!;
    expect(await verifyOwnJwt(`${encoded({ alg: 'none', typ })}.${encoded(claims())}.`, { typ })).toBeNull();
    const signed = `${encoded({ alg: 'HS256', typ, kid })}.${encoded(claims())}`;
    for (const secret of [JSON.stringify(jwk), jwk!.x!]) {
      const mac = createHmac('sha256', secret).update(signed).digest('base64url');
      expect(await verifyOwnJwt(`${signed}.${mac}`, { typ })).toBeNull();
    }
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const own = await exportJWK(publicKey);
    for (const header of [
      { kid },
      {},
      { kid: 'unknown' },
      { jwk: own },
      { kid: await calculateJwkThumbprint(own), jwk: own },
    ]) {
      expect(await verifyOwnJwt(await forge(header, {}, privateKey), { typ })).toBeNull();
    }
  });

  it.each(['', '.', '..', 'a.b.c', 'x'.repeat(16_384), '{"a":1}', '\0.\0.\0', 'oat_abc'])(
    'text that is not a token is refused: %j',
    async (text) => {
      expect(await verifyOwnJwt(text, { typ })).toBeNull();
    },
  );
});
