// Keys of other installations that signed the checkpoints of an organization before it was imported here. They are valid only for that
// organization, and only for checkpoints from before the import.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { seal, unseal } from '#foundation/secrets/secrets.ts';

export const joinedKeyPurpose = (orgId: string): string => `joined audit key of ${orgId}`;

export interface JoinedKey {
  id: string;
  algorithm: string;
  /** The 32 bytes of the public key in base64. */
  publicKey: string;
  createdAt: number;
  /** When the organization was imported. */
  retiredAt: number;
}

const insertSql = `insert into audit_joined_keys (org_id, id, algorithm, public_key, sealed_public_key, created_at, retired_at)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (org_id, id) do update set retired_at = greatest(audit_joined_keys.retired_at, excluded.retired_at)`;

/**
 * Stores a key of the installation from which the organization is imported. If an earlier import has already stored this key, only
 * `retiredAt` changes.
 */
export const insertJoinedKey = async (
  trx: Transaction,
  orgId: string,
  { id, algorithm, publicKey, createdAt, retiredAt }: JoinedKey,
): Promise<void> =>
  void (await sql(
    insertSql,
    [orgId, id, algorithm, publicKey, seal(joinedKeyPurpose(orgId), publicKey), createdAt, retiredAt],
    trx,
  ));

const columns = 'id, algorithm, public_key, created_at, retired_at';
const findSql = `select ${columns}, sealed_public_key from audit_joined_keys where org_id = $1 order by id`;

/**
 * The keys that an import has added, and separately the ids of all other keys, which somebody wrote to the database without the service
 * key.
 */
export async function joinedKeysOf(
  orgId: string,
  trx?: Transaction,
): Promise<{ keys: JoinedKey[]; foreign: string[] }> {
  const rows = await sql<JoinedKey & { sealedPublicKey: string }>(findSql, [orgId], trx);
  const isOwn = ({ publicKey, sealedPublicKey }: (typeof rows)[number]) => {
    try {
      return unseal(joinedKeyPurpose(orgId), sealedPublicKey) === publicKey;
    } catch {
      return false;
    }
  };
  return {
    keys: rows.filter(isOwn).map(({ sealedPublicKey: _, ...key }) => key),
    foreign: rows.filter((row) => !isOwn(row)).map(({ id }) => id),
  };
}

const allSql = `select distinct on (id) ${columns} from audit_joined_keys order by id, created_at`;

/** The keys of all organizations. */
export const allJoinedKeys = (): Promise<JoinedKey[]> => sql<JoinedKey>(allSql);
