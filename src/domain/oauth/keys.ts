// Signing keys of the service (ES256) and the published set (RFC 7517): in the database, the private part sealed, so that all
// processes sign alike. A rotated key stays published until nothing that it signed can be good any more.
import {
  type CryptoKey,
  calculateJwkThumbprint,
  createLocalJWKSet,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose';
import { addresses } from '#foundation/addresses.ts';
import { days, now } from '#foundation/clock.ts';
import { database, sql, transaction } from '#foundation/database.ts';
import { seal, unseal } from '#foundation/secrets.ts';
import { lifetimes, tokens } from '#limits.ts';

const algorithm = 'ES256';
const purpose = 'signing-key';

interface SigningKey {
  kid: string;
  publicJwk: JWK;
  sealedPrivateJwk: string;
  retiredAt: number | null;
}

interface Ring {
  /** The one that signs comes first. */
  keys: SigningKey[];
  /** Opened when something is signed: keys that this process can't open can still be read, and rotated. */
  signer?: Promise<CryptoKey>;
}

/** What this process has read of the database that is open. */
const rings = new WeakMap<object, { readAt: number; ring: Promise<Ring> }>();

/** The keys, read again once they are a minute old. */
function ring(): Promise<Ring> {
  const known = rings.get(database());
  return known && known.readAt > now() - lifetimes.signingKeysRead ? known.ring : readAgain();
}

function readAgain(): Promise<Ring> {
  const here = database();
  const read = readRing();
  rings.set(here, { readAt: now(), ring: read });
  // What could not be read is asked for again by whoever comes next.
  read.catch(() => rings.delete(here));
  return read;
}

const selectKeys = `select kid, public_jwk, sealed_private_jwk, retired_at from signing_keys
  where expires_at is null or expires_at > $1 order by retired_at desc nulls first`;

/** Makes the first key where there is none. */
async function readRing(): Promise<Ring> {
  const keys = await sql<SigningKey>(selectKeys, [now()]);
  const active = keys[0];
  if (active?.retiredAt === null) return { keys };
  await addKey();
  return readRing();
}

const importSigner = async ({ sealedPrivateJwk }: SigningKey): Promise<CryptoKey> =>
  (await importJWK(JSON.parse(unseal(purpose, sealedPrivateJwk)), algorithm)) as CryptoKey;

/** Does nothing when another process was first: there is one active key (signing_keys_active). */
async function addKey(): Promise<void> {
  const row = await makeKey();
  await sql(
    `insert into signing_keys (kid, public_jwk, sealed_private_jwk, created_at) values ($1, $2, $3, $4)
      on conflict do nothing`,
    row,
  );
}

async function makeKey(): Promise<[kid: string, publicJwk: JWK, sealedPrivateJwk: string, createdAt: number]> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const { kty, crv, x, y } = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint({ kty, crv, x, y } as JWK);
  const publicJwk = { kty, crv, x, y, alg: algorithm, use: 'sig', kid } as JWK;
  return [kid, publicJwk, seal(purpose, JSON.stringify(await exportJWK(privateKey))), now()];
}

/**
 * From now on a new key signs. The old one stays published as long as the longest-lived assertion can, and as other processes
 * may still sign with it. Of several rotations at once one happens.
 */
export async function rotateSigningKey(): Promise<void> {
  const { keys } = await readAgain();
  const active = keys[0]!.kid;
  const [kid, publicJwk, sealedPrivateJwk, createdAt] = await makeKey();
  await transaction(async (trx) => {
    const retired = await trx('signing_keys')
      .where({ kid: active, retiredAt: null })
      .update({
        retiredAt: createdAt,
        expiresAt: createdAt + days(tokens.lifetimeDays.max) + lifetimes.signingKeysRead,
      });
    if (retired === 0) return;
    await trx('signing_keys').insert({ kid, publicJwk: JSON.stringify(publicJwk), sealedPrivateJwk, createdAt });
  });
  rings.delete(database());
}

/** Deletes the keys that nothing good can be signed with. */
export async function sweepSigningKeys(): Promise<void> {
  await sql('delete from signing_keys where expires_at <= $1', [now()]);
}

/** The JWK set: public members only, the one that signs first. */
export async function publicKeys(): Promise<{ keys: JWK[] }> {
  const { keys } = await ring();
  return { keys: keys.map(({ publicJwk }) => publicJwk) };
}

/** A compact JWS. `payload` is complete: times are epoch seconds. */
export async function signJwt(payload: JWTPayload, { typ }: { typ: string }): Promise<string> {
  const known = await ring();
  const active = known.keys[0]!;
  known.signer ??= importSigner(active);
  return new SignJWT(payload).setProtectedHeader({ alg: algorithm, kid: active.kid, typ }).sign(await known.signer);
}

/**
 * The payload of a JWT that this service made for itself (issuer and audience are the issuer), that is of this type and has not
 * expired; null for anything else, without a word why.
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
      // Perhaps another process has rotated since we read.
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const { keys } = await readAgain();
      return verify(keys.map(({ publicJwk }) => publicJwk));
    });
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}
