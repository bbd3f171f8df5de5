// Stored contents of an organization that moves here from another installation. They are reserved during the import of the organization,
// and belong to it once the import has committed.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { storage } from '#foundation/storage/storage.ts';
import { isUsedSql } from './content.ts';

const reserveSql = () => `insert into stored_contents as c (key, created_at) values ($1, $2)
  on conflict (key) do update set created_at = excluded.created_at, size_bytes = null, uploading_until = null
    where c.org_id is null and (c.size_bytes is null or not ${isUsedSql()}) returning key`;

/**
 * Reserves the key of stored content, which is removed after a day unless the organization is imported by then. A key can be reserved again
 * after an interrupted import, or when the organization moved away and returns before the sweep. Returns false for a key in use.
 */
export const reserveJoiningContent = async (key: string): Promise<boolean> =>
  (await sql(reserveSql(), [key, now()])).length > 0;

/** Whether the database has a row for the content. */
export const isReserved = async (key: string): Promise<boolean> =>
  (await sql('select key from stored_contents where key = $1', [key])).length > 0;

const batch = 100;
const lockSql = `select key from stored_contents
  where key = any($1) and org_id is null and size_bytes is null for update skip locked`;
const deleteSql =
  'delete from stored_contents where key = any($1) and org_id is null and size_bytes is null returning key';

/**
 * Ends the reservation of the contents of log archives by deleting their rows in `stored_contents`. The sweep then no longer removes a
 * content, and the archive that refers to the content owns it. Returns the keys for which there was no reservation, because the import has
 * not received their contents.
 */
export async function adoptJoinedContents(trx: Transaction, keys: readonly string[]): Promise<string[]> {
  const adopted = new Set((await sql<{ key: string }>(deleteSql, [keys], trx)).map(({ key }) => key));
  return keys.filter((key) => !adopted.has(key));
}

/** Removes contents that were reserved but that nothing uses: their bytes and their rows. */
export async function removeReservedContents(keys: readonly string[]): Promise<void> {
  for (let first = 0; first < keys.length; first += batch) {
    await transaction(async (trx) => {
      const found = await sql<{ key: string }>(lockSql, [keys.slice(first, first + batch)], trx);
      for (const { key } of found) await storage().remove(key);
      await sql(deleteSql, [found.map(({ key }) => key)], trx);
    });
  }
}
