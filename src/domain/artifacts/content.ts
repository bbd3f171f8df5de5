// Contents of artifacts in the storage: kept as they arrive, and removed when no artifact has them any more.
import type { Readable } from 'node:stream';
import type { Row } from '#foundation/base-model.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { conflict } from '#foundation/problem.ts';
import { find, missing } from '#foundation/record.ts';
import { type ByteRange, storage } from '#foundation/storage.ts';
import { artifactContent, artifactUpload, bytes } from '#limits.ts';
import { createUploadAddress } from './address.ts';
import { Artifact, StoredContent } from './model.ts';

async function insertContent(orgId: Id<'organization'> | null): Promise<Id<'content'>> {
  const key = newId('content');
  await StoredContent.query().insert({ key, orgId, createdAt: now() });
  return key;
}

export interface ReservedContent {
  contentKey: Id<'content'>;
  /** Where its bytes are sent with PUT; no credential is asked for. */
  uploadUrl: string;
  /** Until when that may begin, epoch milliseconds. */
  expiresAt: number;
}

/** A place for a content that a runtime of the organization is about to send. It waits a day for an artifact that has it. */
export async function reserveContent(orgId: Id<'organization'>): Promise<ReservedContent> {
  const contentKey = await insertContent(orgId);
  return { contentKey, ...createUploadAddress(contentKey) };
}

/** Keeps a content of the service's own. @throws 413 */
export async function storeContent(
  content: AsyncIterable<Uint8Array>,
): Promise<{ key: Id<'content'>; sizeBytes: number }> {
  const key = await insertContent(null);
  return { key, sizeBytes: await receiveContent(key, content) };
}

const takeHold = `update stored_contents set uploading_until = $2
  where key = $1 and size_bytes is null and coalesce(uploading_until, 0) <= $3 returning key`;
const keepHold =
  'update stored_contents set uploading_until = $2 where key = $1 and uploading_until = $3 returning key';
/** With a size it is complete, without one somebody may try again. */
const letGo = `update stored_contents set uploading_until = null, size_bytes = $2
  where key = $1 and uploading_until = $3 returning key`;

/** Who sends a content, known by the time until which he has it: whoever takes it from him has it for longer. */
interface Hold {
  key: string;
  until: number;
}

/**
 * Streams a content into its place and gives its size. What breaks off leaves nothing behind and can be sent again. Of several
 * senders at once one goes on; one who was silent for so long that another has begun finishes nothing.
 * @throws 404 when nobody waits for it any more, 409 when it is complete or somebody else is sending it, 413
 */
export async function receiveContent(key: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  const hold: Hold = { key, until: now() + artifactUpload.hold.lasts };
  if ((await sql(takeHold, [key, hold.until, now()])).length === 0) return refuse(key);
  let sizeBytes: number | null = null;
  try {
    sizeBytes = await storage().write(key, underHold(hold, content), bytes.artifact);
  } finally {
    const done = sql(letGo, [key, sizeBytes, hold.until]);
    // After a failure the caller hears of that one; where this fails too, the hold ends by itself.
    if (sizeBytes === null) await done.catch(() => {});
    else if ((await done).length === 0) lost();
  }
  return sizeBytes;
}

/** Whose content is being waited for. @throws 404 */
export const organizationOfContent = async (key: string): Promise<string> =>
  (await find(StoredContent, 'content', { key })).orgId ?? 'service';

async function refuse(key: string): Promise<never> {
  const { sizeBytes, uploadingUntil } = await find(StoredContent, 'content', { key });
  if (sizeBytes !== null) throw conflict('This content has been uploaded already: an address takes one.');
  const wait = Math.ceil(Math.max(1_000, (uploadingUntil ?? 0) - now()) / 1_000);
  throw conflict('This content is being uploaded at this moment.', { 'retry-after': String(wait) });
}

function lost(): never {
  throw conflict('This content is being uploaded by somebody else, because nothing was heard from you for too long.');
}

async function* underHold(hold: Hold, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { lasts, renewed } = artifactUpload.hold;
  for await (const chunk of content) {
    if (hold.until - now() <= lasts - renewed) await renew(hold);
    yield chunk;
  }
  // The last bytes may have been long in coming: who has lost it here must not put his own over what another has sent.
  await renew(hold);
}

async function renew(hold: Hold): Promise<void> {
  const until = now() + artifactUpload.hold.lasts;
  if ((await sql(keepHold, [hold.key, until, hold.until])).length === 0) lost();
  hold.until = until;
}

/**
 * The size of a content that a runtime of the organization has uploaded, held until `trx` ends.
 * @throws 404 when it is unknown or another organization's, 409 when it is not complete or an artifact has it already
 */
export async function claimContent(
  trx: Transaction,
  orgId: string,
  contentKey: string,
): Promise<{ sizeBytes: number }> {
  const content = await StoredContent.query(trx).findOne({ key: contentKey, orgId }).forUpdate();
  if (!content) return missing('content');
  const { sizeBytes } = content;
  if (sizeBytes === null) throw conflict('contentKey: this content is not uploaded yet.');
  // A statement of its own: it sees what another that held the row has registered meanwhile.
  const artifact = await Artifact.query(trx).select('id').findOne({ contentKey });
  if (artifact) throw conflict('contentKey: an artifact has this content already.');
  return { sizeBytes };
}

/** Null when the storage has lost it. */
export const readContent = ({ contentKey }: Row<Artifact>, range?: ByteRange): Promise<Readable | null> =>
  storage().read(contentKey, range);

/** Deletes what has expired, and from the storage what belongs to nobody. */
export async function sweepArtifacts(): Promise<void> {
  await sql('delete from artifacts where expires_at <= $1', [now()]);
  for (;;) {
    const { found, failures } = await sweepContents();
    if (failures.length > 0) throw failures[0];
    if (found < batch) return;
  }
}

const batch = 100;

/** Held while they are removed: an artifact that is just being registered waits, and then finds no content to have. */
const sweepContents = (): Promise<{ found: number; failures: unknown[] }> =>
  transaction(async (trx) => {
    const { rows } = await trx.raw(
      `select key from stored_contents c
       where created_at <= ? and not exists (select from artifacts a where a.content_key = c.key)
       order by created_at limit ${batch} for update skip locked`,
      [now() - artifactContent.unclaimed],
    );
    const keys = (rows as { key: string }[]).map(({ key }) => key);
    const outcomes = await Promise.allSettled(keys.map((key) => storage().remove(key)));
    const removed = keys.filter((_, i) => outcomes[i]!.status === 'fulfilled');
    await StoredContent.query(trx).delete().whereIn('key', removed);
    return { found: keys.length, failures: outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])) };
  });
