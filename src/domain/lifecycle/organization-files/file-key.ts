// The key of a file. It is derived from a passphrase, or consists of 32 random bytes in base64, as `openssl rand -base64 32` prints them.
// It is never the service key.
import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { sealWith, unsealWith } from '#foundation/secrets/secrets.ts';
import { type Header, OrganizationFileError } from './format.ts';

type KeyHeader = Header['key'];
type Derive = (
  passphrase: string,
  salt: Buffer,
  size: number,
  cost: { N: number; r: number; p: number; maxmem: number },
) => Promise<Buffer>;
const derive = promisify(scrypt) as Derive;

const cost = { n: 2 ** 17, r: 8, p: 1 };
const minPassphrase = 12;
const keyText = /^[A-Za-z0-9+/]{43}=$/;
const purpose = 'organization file';

const passphraseKey = (passphrase: string, { n, r, p, salt }: NonNullable<KeyHeader['scrypt']>): Promise<Buffer> =>
  derive(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), 32, { N: n, r, p, maxmem: 256 * n * r });

/** A key for a new file. @param secret A passphrase of at least 12 characters, or a key */
export async function createFileKey(fileId: string, secret: string): Promise<{ key: Buffer; header: KeyHeader }> {
  if (secret.length < minPassphrase)
    throw new OrganizationFileError(`the passphrase must have at least ${minPassphrase} characters`);
  const scrypt = keyText.test(secret) ? null : { ...cost, salt: randomBytes(16).toString('base64') };
  const key = scrypt ? await passphraseKey(secret, scrypt) : Buffer.from(secret, 'base64');
  return { key, header: { scrypt, check: sealWith(key, purpose, fileId) } };
}

/** The key of a file. @throws OrganizationFileError unless the file was written with the secret */
export async function openFileKey({ id, key: { scrypt, check } }: Header, secret: string): Promise<Buffer> {
  if (!scrypt && !keyText.test(secret))
    throw new OrganizationFileError('the file was written with a key of 32 bytes in base64, not with a passphrase');
  const key = scrypt ? await passphraseKey(secret, scrypt) : Buffer.from(secret, 'base64');
  if (opened(key, check) !== id)
    throw new OrganizationFileError(`the ${scrypt ? 'passphrase' : 'key'} does not open this file`);
  return key;
}

function opened(key: Buffer, check: string): string | null {
  try {
    return unsealWith(key, purpose, check);
  } catch {
    return null;
  }
}
