// Keys of recordings. Each organization has a random data key, and one more random data key for each person who has started a recorded
// mission. The service key seals all data keys. The key of a part of a recording is derived from the organization's own data key and the data
// keys of the people in the field `personIds` of the part. If one of these data keys is destroyed, the part can no longer be read.
import { createHmac, randomBytes } from 'node:crypto';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { seal, unseal } from '#foundation/secrets/secrets.ts';
import type { RecordingPart } from './model.ts';

export const recordingsPurpose = (orgId: string) => `recordings of ${orgId}`;
const newKey = (orgId: string): string => seal(recordingsPurpose(orgId), randomBytes(32).toString('base64'));
const makeSql = 'insert into recording_keys (org_id, sealed_key) values ($1, $2) on conflict (org_id) do nothing';
const makePersonSql = `insert into recording_person_keys (org_id, user_id, sealed_key)
  select $1, n.user_id, n.sealed_key from unnest($2::text[], $3::text[]) n (user_id, sealed_key)
  on conflict (org_id, user_id) do nothing`;

/** Creates the data key of the organization, unless it has one. */
export const makeKey = async (trx: Transaction, orgId: string): Promise<void> =>
  void (await sql(makeSql, [orgId, newKey(orgId)], trx));

/** Creates the keys of those people who have none. */
export const makePersonKeys = async (trx: Transaction, orgId: string, people: readonly string[]): Promise<void> =>
  void (await sql(makePersonSql, [orgId, people, people.map(() => newKey(orgId))], trx));

/** Destroys all keys of the organization. */
export async function destroyRecordingKeys(trx: Transaction, orgId: string): Promise<void> {
  await sql('delete from recording_keys where org_id = $1', [orgId], trx);
  await sql('delete from recording_person_keys where org_id = $1', [orgId], trx);
}

export const destroyPersonKey = async (trx: Transaction, orgId: string, personId: string): Promise<void> =>
  void (await sql('delete from recording_person_keys where org_id = $1 and user_id = $2', [orgId, personId], trx));

interface PartKey {
  /** The key of the part: 32 bytes. */
  key: Buffer;
  /**
   * Name of the set of keys from which the part's key is derived. The name reveals no key, and is different after one of these keys was
   * destroyed and created again.
   */
  keyId: string;
}

const findSql = `select sealed_key, '' as user_id from recording_keys where org_id = $1
  union all select sealed_key, user_id from recording_person_keys where org_id = $1 and user_id = any($2) order by user_id`;

/** The key of a part; null when a key from which it is derived was destroyed. */
export async function keyOfPart(
  { id, orgId, personIds }: Pick<RecordingPart, 'id' | 'orgId' | 'personIds'>,
  trx?: Transaction,
): Promise<PartKey | null> {
  const found = await sql<{ sealedKey: string }>(findSql, [orgId, personIds], trx);
  if (found.length !== 1 + personIds.length) return null;
  const keys = found.map(({ sealedKey }) => Buffer.from(unseal(recordingsPurpose(orgId), sealedKey), 'base64'));
  const derive = (name: string) =>
    keys.reduce<Buffer>((value, key) => createHmac('sha256', key).update(value).digest(), Buffer.from(name));
  return { key: derive(id), keyId: derive('id').toString('base64url') };
}
