// Signing keys of the service (ES256) and the published key set (RFC 7517). They are stored in the database with the private part sealed,
// so that all processes sign with the same key. A retired key stays published until everything that it signed has expired.
import {
  type CryptoKey,
  calculateJwkThumbprint,
  createLocalJWKSet,
  errors,
  exportJWK,
  FlattenedSign,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose';
import { days, minutes, now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { database, sql, transaction } from '#foundation/postgres/database.ts';
import { seal, unseal } from '#foundation/secrets/secrets.ts';
import { tokens } from '#limits.ts';

/** How long a process caches the keys: every process sees a rotation within this time. */
const cacheMs = minutes(1);

const algorithm = 'ES256';
const purpose = 'signing-key';

interface SigningKey {
  kid: string;
  publicJwk: JWK;
  sealedPrivateJwk: string;
  retiredAt: number | null;
}

interface Ring {
  /** All keys; the first one is the signing key. */
  keys: SigningKey[];
  /**
   * The private key. It is decrypted at the first signature, so that keys can be published and rotated even if this process cannot decrypt
   * them.
   */
  signer?: Promise<CryptoKey>;
}

/** Cached keys, for each database that this process has used. */
const rings = new WeakMap<object, { readAt: number; ring: Promise<Ring> }>();

/** The keys, read again once the cache is a minute old. */
function ring(): Promise<Ring> {
  const known = rings.get(database());
  return known && known.readAt > now() - cacheMs ? known.ring : readAgain();
}

function readAgain(): Promise<Ring> {
  const here = database();
  const read = readRing();
  rings.set(here, { readAt: now(), ring: read });
  // After a failure, the next caller reads the keys again.
  read.catch(() => rings.delete(here));
  return read;
}

const selectKeysSql = `select kid, public_jwk, sealed_private_jwk, retired_at from signing_keys
  where expires_at is null or expires_at > $1 order by retired_at desc nulls first`;

/** Reads the keys, and creates the first key if there is none. */
async function readRing(): Promise<Ring> {
  const keys = await sql<SigningKey>(selectKeysSql, [now()]);
  const active = keys[0];
  if (active?.retiredAt === null) return { keys };
  await addKey();
  return readRing();
}

const importSigner = async ({ sealedPrivateJwk }: SigningKey): Promise<CryptoKey> =>
  (await importJWK(JSON.parse(unseal(purpose, sealedPrivateJwk)), algorithm)) as CryptoKey;

const insertFirstKeySql = `insert into signing_keys (kid, public_jwk, sealed_private_jwk, created_at)
  values ($1, $2, $3, $4) on conflict do nothing`;

/** Inserts a key, unless another process has inserted one first: only one key can be active (index signing_keys_active). */
async function addKey(): Promise<void> {
  await sql(insertFirstKeySql, await createKey());
}

async function createKey(): Promise<[kid: string, publicJwk: JWK, sealedPrivateJwk: string, createdAt: number]> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const { kty, crv, x, y } = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint({ kty, crv, x, y } as JWK);
  const publicJwk = { kty, crv, x, y, alg: algorithm, use: 'sig', kid } as JWK;
  return [kid, publicJwk, seal(purpose, JSON.stringify(await exportJWK(privateKey))), now()];
}

/**
 * Makes a new key the signing key. The old key stays published until every assertion that a process may still sign with it has expired.
 * Only one of several concurrent rotations takes effect.
 */
export async function rotateSigningKey(): Promise<void> {
  const { keys } = await readAgain();
  const active = keys[0]!.kid;
  const [kid, publicJwk, sealedPrivateJwk, createdAt] = await createKey();
  await transaction(async (trx) => {
    const retired = await trx('signing_keys')
      .where({ kid: active, retiredAt: null })
      .update({
        retiredAt: createdAt,
        expiresAt: createdAt + days(tokens.lifetimeDays.max) + cacheMs,
      });
    if (retired === 0) return;
    await trx('signing_keys').insert({ kid, publicJwk: JSON.stringify(publicJwk), sealedPrivateJwk, createdAt });
  });
  rings.delete(database());
}

/** Deletes each retired key once everything that it signed has expired. */
export async function sweepSigningKeys(): Promise<void> {
  await sql('delete from signing_keys where expires_at <= $1', [now()]);
}

/** The JWK set: public members only, the signing key first. */
export async function publicKeys(): Promise<{ keys: JWK[] }> {
  const { keys } = await ring();
  return { keys: keys.map(({ publicJwk }) => publicJwk) };
}

/** The protected header and the signature of a flattened JWS (RFC 7515 §7.2.2) over this text. */
export async function signText(
  text: string,
  { typ }: { typ: string },
): Promise<{ protected: string; signature: string }> {
  const jku = `${addresses().issuer}/.well-known/jwks.json`;
  const known = await ring();
  const active = known.keys[0]!;
  known.signer ??= importSigner(active);
  const header = { alg: algorithm, kid: active.kid, typ, jku };
  const signed = await new FlattenedSign(new TextEncoder().encode(text))
    .setProtectedHeader(header)
    .sign(await known.signer);
  return { protected: signed.protected!, signature: signed.signature };
}

/** A compact JWS. `payload` must be complete, with times in epoch seconds. */
export async function signJwt(payload: JWTPayload, { typ }: { typ: string }): Promise<string> {
  const known = await ring();
  const active = known.keys[0]!;
  known.signer ??= importSigner(active);
  return new SignJWT(payload).setProtectedHeader({ alg: algorithm, kid: active.kid, typ }).sign(await known.signer);
}

/**
 * The payload of an unexpired JWT of this type that this service signed for itself (the issuer is also the audience); null for any other
 * JWT.
 */
export async function verifyOwnJwt(jwt: string, { typ }: { typ: string }): Promise<JWTPayload | null> {
  const { issuer } = addresses();
  const options = {
    algorithms: [algorithm],
    typ,
    issuer,
    audience: issuer,
    requiredClaims: ['sub', 'iat', 'exp'],
    currentDate: new Date(now()),
  };
  const verify = async (keys: JWK[]) => (await jwtVerify(jwt, createLocalJWKSet({ keys }), options)).payload;
  try {
    return await verify((await publicKeys()).keys).catch(async (error) => {
      // Another process may have rotated the key since this process last read the keys.
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const { keys } = await readAgain();
      return verify(keys.map(({ publicJwk }) => publicJwk));
    });
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}
