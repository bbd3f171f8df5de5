// Contents of artifacts in the storage: kept as they arrive, and removed when no artifact has them any more.
import type { Readable } from 'node:stream';
import { now } from '#foundation/clock.ts';
import { sql, transaction } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { type ByteRange, storage } from '#foundation/storage.ts';
import { artifactContent, bytes } from '#limits.ts';
import { type Artifact, StoredContent } from './model.ts';

/** Streams a content into the storage. It waits a day for an artifact that has it. @throws 413 */
export async function storeContent(
  content: AsyncIterable<Uint8Array>,
): Promise<{ key: Id<'content'>; sizeBytes: number }> {
  const key = newId('content');
  await StoredContent.query().insert({ key, createdAt: now() });
  const sizeBytes = await storage().write(key, content, bytes.artifact);
  await StoredContent.query().where({ key }).patch({ sizeBytes });
  return { key, sizeBytes };
}

/** Null when the storage has lost it. */
export const readContent = ({ contentKey }: Artifact, range?: ByteRange): Promise<Readable | null> =>
  storage().read(contentKey, range);

/** Deletes what has expired, and from the storage what belongs to nobody. */
export async function sweepArtifacts(): Promise<void> {
  await sql('delete from artifacts where expires_at <= $1', [now()]);
  while ((await sweepContents()) === batch);
}

const batch = 100;

/** Held while they are removed: an artifact that is just being registered waits, and then finds no content to have. */
const sweepContents = (): Promise<number> =>
  transaction(async (trx) => {
    const { rows } = await trx.raw(
      `select key from stored_contents c
       where created_at <= ? and not exists (select from artifacts a where a.content_key = c.key)
       order by created_at limit ${batch} for update skip locked`,
      [now() - artifactContent.unclaimed],
    );
    const keys = (rows as { key: string }[]).map(({ key }) => key);
    await Promise.all(keys.map((key) => storage().remove(key)));
    await StoredContent.query(trx).delete().whereIn('key', keys);
    return keys.length;
  });
