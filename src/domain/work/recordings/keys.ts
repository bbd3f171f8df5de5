// Keys of recordings: an organization has a random data key, sealed with the service key; the key of a part is derived from it. Nothing
// can be read once the data key is destroyed.
import { createHmac, randomBytes } from 'node:crypto';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { seal, unseal } from '#foundation/secrets/secrets.ts';

const purpose = (orgId: string) => `recordings of ${orgId}`;
const makeSql = 'insert into recording_keys (org_id, sealed_key) values ($1, $2) on conflict (org_id) do nothing';

/** Creates the data key of the organization, unless it has one. */
export const makeKey = async (trx: Transaction, orgId: string): Promise<void> =>
  void (await sql(makeSql, [orgId, seal(purpose(orgId), randomBytes(32).toString('base64'))], trx));

export const destroyKey = async (trx: Transaction, orgId: string): Promise<void> =>
  void (await sql('delete from recording_keys where org_id = $1', [orgId], trx));

interface PartKey {
  /** The key of the part: 32 bytes. */
  key: Buffer;
  /** Name of the data key. It does not reveal the key, and differs after recordings were switched off and on again. */
  keyId: string;
}

/** The key of a part; null when the data key is destroyed. */
export async function keyOfPart(orgId: string, partId: string, trx?: Transaction): Promise<PartKey | null> {
  const [found] = await sql<{ sealedKey: string }>(
    'select sealed_key from recording_keys where org_id = $1',
    [orgId],
    trx,
  );
  if (!found) return null;
  const dataKey = Buffer.from(unseal(purpose(orgId), found.sealedKey), 'base64');
  const derive = (name: string) => createHmac('sha256', dataKey).update(name).digest();
  return { key: derive(partId), keyId: derive('id').toString('base64url') };
}
