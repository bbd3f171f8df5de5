// Stores the contents of a file in the storage of this installation. A row is written before the bytes arrive, as for every upload, so that
// the sweep removes the contents of an import that was killed.
import { createHash } from 'node:crypto';
import { sendUnhurried } from '#foundation/postgres/copy.ts';
import { storage } from '#foundation/storage/storage.ts';
import { isReserved, removeReservedContents, reserveJoiningContent } from '../../work/artifacts/joining.ts';
import { hashing } from './copied-rows.ts';
import type { EntryCursor } from './entries.ts';
import { contentFolder, OrganizationFileError } from './format.ts';
import { type Loading, loadTemporary } from './joining-rows.ts';
import { type PackedTable, quotedName } from './tables.ts';

export interface ReceivedContents {
  files: number;
  bytes: number;
  sha256: string;
}

/** Stores the contents that come next in the file. @param received Collects the key of each content before the content is stored */
export async function receiveContents(entries: EntryCursor, received: string[]): Promise<ReceivedContents> {
  const sha256 = createHash('sha256');
  let [files, bytes] = [0, 0];
  while ((await entries.peek())?.name.startsWith(contentFolder)) {
    const { name, size, content } = (await entries.take())!;
    const key = name.slice(contentFolder.length);
    await reserve(key);
    received.push(key);
    sha256.update(`${key} ${size}\n`);
    await storage().write(key, hashing(content, sha256), size);
    files++;
    bytes += size;
  }
  return { files, bytes, sha256: sha256.digest('hex') };
}

async function reserve(key: string): Promise<void> {
  if (!/^cnt_\w{5,60}$/.test(key))
    throw new OrganizationFileError(`the file is damaged: ${key} is not a valid content key`);
  // The storage is checked before the key is reserved. Bytes that are already stored under the key may belong to another installation, and once the
  // key is reserved, the sweep may remove these bytes.
  if (!(await isReserved(key)) && (await isStored(key)))
    throw new OrganizationFileError(
      'the storage of this installation already contains content from this file: each installation needs its own bucket or prefix',
    );
  if (!(await reserveJoiningContent(key)))
    throw new OrganizationFileError(`the content ${key} is already in this installation`);
}

async function isStored(key: string): Promise<boolean> {
  const content = await storage().read(key, { first: 0, last: 0 });
  content?.destroy();
  return content !== null;
}

/**
 * When a content is received, a row is stored that has only the key. This function fills in the other columns of these rows from the rows
 * in the file. Returns the keys of the contents that the file lists but does not contain.
 */
export async function adoptContents(loading: Loading, table: PackedTable): Promise<string[]> {
  const { trx } = loading;
  const joining = await loadTemporary(loading, table);
  const absent = `select key from ${joining} r where not exists (select from ${table.name} t where t.key = r.key) order by key`;
  const missing = (await sendUnhurried<{ key: string }>(trx, absent)).map(({ key }) => key);
  const list = table.columns.map(quotedName).join(', ');
  const changes = table.columns.map((column) => `${quotedName(column)} = excluded.${quotedName(column)}`).join(', ');
  const adopted = await sendUnhurried(
    trx,
    `insert into ${table.name} as t (${list}) select ${list} from ${joining} on conflict (key) do update set ${changes}
     where t.org_id is null and t.size_bytes is null returning 1 as adopted`,
  );
  if (adopted.length !== loading.counts[table.name]!.rows)
    throw new OrganizationFileError('this installation already has some of the contents in the file');
  return missing;
}

/**
 * Removes the contents of a failed import. If the import was in fact committed and only the database's answer was lost, the contents are
 * kept.
 */
export const removeUnused = (received: readonly string[]): Promise<void> => removeReservedContents(received);
