// Keys that sign checkpoints. One is active; retired ones stay published, because the checkpoints that they signed remain valid. The
// private part is stored encrypted.
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { now } from '#foundation/clock.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { seal, unseal } from '#foundation/secrets/secrets.ts';
import { allJoinedKeys } from './joined-keys.ts';

/** The algorithm of new keys. A second algorithm needs a branch in `signCheckpoint`. */
export const algorithm = 'ed25519';
const purpose = 'audit-key';

interface AuditKey {
  id: string;
  algorithm: string;
  publicKey: string;
  sealedPrivateKey: string;
  createdAt: number;
  retiredAt: number | null;
}

export type SigningKey = Pick<AuditKey, 'id' | 'algorithm'> & { publicKey: Buffer; privateKey: KeyObject };

const columns = 'id, algorithm, public_key, sealed_private_key, created_at, retired_at';
const findSql = `select ${columns} from audit_keys order by created_at desc, id`;
const findActiveSql = `select ${columns} from audit_keys where retired_at is null`;
const insertSql = `insert into audit_keys (id, algorithm, public_key, sealed_private_key, created_at)
  values ($1, $2, $3, $4, $5) on conflict do nothing`;

/** Returns the active key, and creates it if there is none. */
export async function signingKey(): Promise<SigningKey> {
  const [key] = await sql<AuditKey>(findActiveSql);
  if (key) return opened(key);
  // A unique index allows only one active key, even when concurrent processes insert one.
  await sql(insertSql, newKey());
  return signingKey();
}

function newKey(): unknown[] {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = rawKey(publicKey);
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  return [hash('sha256', raw).slice(0, 16), algorithm, raw.toString('base64'), seal(purpose, pem), now()];
}

/** The 32 bytes of an Ed25519 public key. */
const rawKey = (key: KeyObject): Buffer => Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url');

/** Decrypts the private key. @throws when it cannot be decrypted, or does not belong to the stored public key */
function opened({ id, algorithm, publicKey, sealedPrivateKey }: AuditKey): SigningKey {
  const privateKey = createPrivateKey(unseal(purpose, sealedPrivateKey));
  const raw = rawKey(createPublicKey(privateKey));
  if (raw.toString('base64') !== publicKey) throw new Error(`the public key of audit key ${id} was changed`);
  return { id, algorithm, publicKey: raw, privateKey };
}

/** Makes a new key the signing key. Only one of several concurrent rotations takes effect. */
export async function rotateAuditKey(): Promise<{ id: string }> {
  const [active] = await sql<AuditKey>(findActiveSql);
  await transaction(async (trx) => {
    const retireSql = 'update audit_keys set retired_at = $2 where id = $1 and retired_at is null returning id';
    if (active && (await sql(retireSql, [active.id, now()], trx)).length === 0) return;
    await sql(insertSql, newKey(), trx);
  });
  return { id: (await sql<AuditKey>(findActiveSql))[0]!.id };
}

export interface PublishedKey {
  id: string;
  algorithm: string;
  /** The 32 bytes of the public key in base64. */
  publicKey: string;
  createdAt: number;
  retiredAt: number | null;
}

/** The keys of this installation, newest first. */
export const installationKeys = async (): Promise<PublishedKey[]> =>
  (await sql<AuditKey>(findSql)).map(({ sealedPrivateKey: _, ...key }) => key);

/**
 * All keys: the keys of this installation, and keys of other installations that have signed checkpoints of organizations that were
 * imported into it.
 */
export async function publishedKeys(): Promise<PublishedKey[]> {
  const own = await installationKeys();
  const joined = (await allJoinedKeys()).filter(({ id }) => own.every((key) => key.id !== id));
  return [...own, ...joined];
}

/**
 * The keys whose private part this service can decrypt. All other keys are `foreign`: somebody wrote them to the database without the
 * service key.
 */
export async function ownKeys(): Promise<{ keys: SigningKey[]; foreign: string[] }> {
  const keys: SigningKey[] = [];
  const foreign: string[] = [];
  for (const key of await sql<AuditKey>(findSql)) {
    try {
      keys.push(opened(key));
    } catch {
      foreign.push(key.id);
    }
  }
  return { keys, foreign };
}
