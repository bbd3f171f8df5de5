// Secrets: generated here, shown once, stored as a digest. Values that must be read back are sealed with the service's key.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  randomBytes,
  randomInt,
  timingSafeEqual,
} from 'node:crypto';

let key: Buffer | undefined;
/** Keys derived from the service key, by purpose. The map needs no bound, because there are few purposes. */
const signatureKeys = new Map<string, Buffer>();

/** Binds the 32-byte service key; called once at start. */
export function bindSecretKey(secretKey: Buffer): void {
  if (secretKey.length !== 32) throw new Error('the service key must be 32 bytes');
  key = secretKey;
  signatureKeys.clear();
}

function serviceKey(purpose: string): Buffer {
  if (!key) throw new Error('the service key is not set');
  return createHmac('sha256', key).update(purpose).digest();
}

/** The key that encrypts backups, which contain everything but the service key. */
export const keyOfBackups = (): Buffer => serviceKey('backups');

/** Identifies the key of backups without disclosing it. */
export const backupKeyId = (): string => serviceKey('backups id').toString('hex', 0, 4);

/** Creates a bearer secret such as `pat_…`: a prefix, then 256 random bits in base64url. */
export const newSecret = <P extends string>(prefix: P, size = 32): `${P}${string}` =>
  `${prefix}${randomBytes(size).toString('base64url')}`;

/** The stored form of a high-entropy secret. */
export const digest = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** A random code of six digits; leading zeros are kept. */
export const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

/** The stored form of a short code: a keyed digest, because a plain SHA-256 of six digits is reversed in a second. */
export const codeDigest = (purpose: string, code: string): Buffer =>
  createHmac('sha256', serviceKey(`code:${purpose}`))
    .update(code)
    .digest();

/** A keyed digest of public material, such as the state behind a cursor or a form token. */
export function signature(purpose: string, text: string): Buffer {
  const derived = signatureKeys.get(purpose) ?? serviceKey(`signature:${purpose}`);
  signatureKeys.set(purpose, derived);
  return createHmac('sha256', derived).update(text).digest();
}

/** Whether the bytes are equal, compared in constant time. */
export const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);

/** Encrypts a value that must be read back (AES-256-GCM); `purpose` binds it to its use. */
export const seal = (purpose: string, plain: string): string => sealWith(serviceKey(`seal:${purpose}`), '', plain);

/** Decrypts a text that `seal` has encrypted. @throws when the purpose or the key differs, or the text was altered */
export const unseal = (purpose: string, sealed: string): string =>
  unsealWith(serviceKey(`seal:${purpose}`), '', sealed);

/** Encrypts like `seal`, with a data key of 32 bytes. @param bound Identifies the use of the text; it is authenticated, not stored */
export function sealWith(dataKey: Buffer, bound: string, plain: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', dataKey, nonce).setAAD(Buffer.from(bound));
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
}

/** The plain text of `sealWith`. @throws when the key or `bound` differs, or the text was altered */
export function unsealWith(dataKey: Buffer, bound: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', dataKey, bytes.subarray(0, 12)).setAAD(Buffer.from(bound));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
}
