// Artifact content in the storage: written during the upload, removed when no artifact uses it.
import type { Readable } from 'node:stream';
import { days, minutes, now, seconds } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { type ByteRange, storage } from '#foundation/storage/storage.ts';
import { bytes } from '#limits.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { createUploadAddress } from './address.ts';
import { Artifact, StoredContent } from './model.ts';

async function insertContent(orgId: Id<'organization'> | null): Promise<Id<'content'>> {
  const key = newId('content');
  await StoredContent.query().insert({ key, orgId, createdAt: now() });
  return key;
}

export interface ReservedContent {
  contentKey: Id<'content'>;
  /** URL for a PUT of the bytes; it needs no credential. */
  uploadUrl: string;
  /** The upload must begin before this time, epoch milliseconds. */
  expiresAt: number;
}

/**
 * Reserves a content key, for an upload by a runtime of the organization. The content is removed after a day unless an artifact uses it.
 */
export async function reserveContent(orgId: Id<'organization'>): Promise<ReservedContent> {
  const contentKey = await insertContent(orgId);
  return { contentKey, ...createUploadAddress(contentKey) };
}

/** Stores content that the service itself has created. @throws 413 */
export async function storeContent(
  content: AsyncIterable<Uint8Array>,
): Promise<{ key: Id<'content'>; sizeBytes: number }> {
  const key = await insertContent(null);
  return { key, sizeBytes: await receiveContent(key, content) };
}

const takeHoldSql = `update stored_contents set uploading_until = $2
  where key = $1 and size_bytes is null and coalesce(uploading_until, 0) <= $3 returning key`;
const renewHoldSql =
  'update stored_contents set uploading_until = $2 where key = $1 and uploading_until = $3 returning key';
/** SQL that ends an upload: with a size, the content is complete; with null, the upload can be repeated. */
const releaseHoldSql = `update stored_contents set uploading_until = null, size_bytes = $2
  where key = $1 and uploading_until = $3 returning key`;

/**
 * How long an upload holds its content without renewing the hold. This time is longer than a client may pause. When the hold has ended, another
 * upload of the content may begin.
 */
const holdMs = minutes(2);
const holdRenewalMs = seconds(30);
/** Retention of content that no artifact and no recording uses. */
const unclaimedMs = days(1);

/**
 * The exclusive hold of one upload on its content. `until` also identifies the hold, because a later hold on the same content ends
 * later.
 */
interface Hold {
  key: string;
  until: number;
}

/**
 * Streams content into the storage and returns its size. An interrupted upload leaves nothing behind and can be repeated. Only one of
 * several concurrent uploads proceeds. If an upload stalls and another one begins, the stalled upload fails. @throws 404 when the content
 * is unknown, 409 when it is complete or another upload is in progress, 413
 */
export async function receiveContent(key: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  const hold: Hold = { key, until: now() + holdMs };
  if ((await sql(takeHoldSql, [key, hold.until, now()])).length === 0) return refuse(key);
  let sizeBytes: number | null = null;
  try {
    sizeBytes = await storage().write(key, underHold(hold, content), bytes.artifact);
  } finally {
    const done = sql(releaseHoldSql, [key, sizeBytes, hold.until]);
    // After a failed upload, the caller gets the error of the upload. If `releaseHoldSql` fails too, its error is ignored, because the hold
    // on the content expires by itself.
    if (sizeBytes === null) await done.catch(() => {});
    else if ((await done).length === 0) lost();
  }
  return sizeBytes;
}

/** The organization that reserved the content, or `service`. @throws 404 */
export const organizationOfContent = async (key: string): Promise<string> =>
  (await StoredContent.get({ key })).orgId ?? 'service';

async function refuse(key: string): Promise<never> {
  const { sizeBytes, uploadingUntil } = await StoredContent.get({ key });
  if (sizeBytes !== null) throw conflict('This content has already been uploaded: an upload URL works only once.');
  const wait = Math.ceil(Math.max(1_000, (uploadingUntil ?? 0) - now()) / 1_000);
  throw conflict('This content is being uploaded right now.', { retryAfterSeconds: wait });
}

function lost(): never {
  throw conflict('This upload sent nothing for too long, and another upload of the content has started.');
}

async function* underHold(hold: Hold, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    if (hold.until - now() <= holdMs - holdRenewalMs) await renew(hold);
    yield chunk;
  }
  // The last bytes may have arrived so slowly that the hold has ended since its last renewal. An upload that has lost its hold must not overwrite the
  // content of a later upload, so the hold is renewed once more.
  await renew(hold);
}

async function renew(hold: Hold): Promise<void> {
  const until = now() + holdMs;
  if ((await sql(renewHoldSql, [hold.key, until, hold.until])).length === 0) lost();
  hold.until = until;
}

/**
 * Returns the size of content that a runtime of the organization has uploaded. The content stays locked until `trx` ends.
 * @throws 404 when the content is unknown or of another organization, 409 when it is incomplete or used by another artifact
 */
export async function claimContent(
  trx: Transaction,
  orgId: string,
  contentKey: string,
): Promise<{ sizeBytes: number }> {
  const content = await StoredContent.lock(trx, { key: contentKey, orgId });
  if (!content) return StoredContent.refuse();
  const { sizeBytes } = content;
  if (sizeBytes === null) throw conflict.field('contentKey', 'this content has not been uploaded yet');
  // The read is a separate statement, so that it sees an artifact that the previous holder of the lock has registered.
  const artifact = await Artifact.query(trx).select('id').findOne({ contentKey });
  if (artifact) throw conflict.field('contentKey', 'another artifact already uses this content');
  return { sizeBytes };
}

/** The content of an artifact; null when it is missing from the storage. */
export const readContent = ({ contentKey }: Artifact, range?: ByteRange): Promise<Readable | null> =>
  storage().read(contentKey, range);

/** Opens the content of an artifact; null when the artifact or its content does not exist. */
export async function openArtifact(id: Artifact['id']): Promise<{ content: Readable; sizeBytes: number } | null> {
  const artifact = await Artifact.find({ id });
  const content = artifact && (await readContent(artifact));
  return content ? { content, sizeBytes: artifact.sizeBytes } : null;
}

/** Transfers stored content to the caller, who deletes it later. Returns false when the sweep has already deleted it. */
export const adoptContent = async (trx: Transaction, key: string): Promise<boolean> =>
  (await StoredContent.query(trx).delete().where({ key })) > 0;

/** Deletes expired artifacts, and content that no artifact and no recording uses. */
export async function sweepArtifacts(): Promise<void> {
  await sql('delete from artifacts where expires_at <= $1', [now()]);
  for (;;) {
    const { found, failures } = await sweepContents();
    if (failures.length > 0) throw failures[0];
    if (found < batch) return;
  }
}

const batch = 100;

const useBy = (table: string): string => `exists (select from ${table} u where u.content_key = c.key)`;
/** SQL conditions on a row `c` of `stored_contents`. The content is in use if one of them holds. */
const uses = [useBy('artifacts')];
/** Registers a table whose column `content_key` refers to content in use. */
export const addUseOfContents = (table: string): unknown => uses.push(useBy(table));
/** SQL condition: a record uses the content in the row `c`. */
export const isUsedSql = (): string => `(${uses.join(' or ')})`;

/** Content is locked while it is removed. A concurrent registration waits, then finds no content. */
const sweepContents = (): Promise<{ found: number; failures: unknown[] }> =>
  transaction(async (trx) => {
    const { rows } = await trx.raw(
      `select key from stored_contents c
       where created_at <= ? and not ${isUsedSql()} and ${isWritableSql('c.org_id')}
       order by created_at limit ${batch} for update skip locked`,
      [now() - unclaimedMs],
    );
    const keys = (rows as { key: string }[]).map(({ key }) => key);
    const outcomes = await Promise.allSettled(keys.map((key) => storage().remove(key)));
    const removed = keys.filter((_, i) => outcomes[i]!.status === 'fulfilled');
    await StoredContent.query(trx).delete().whereIn('key', removed);
    return { found: keys.length, failures: outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])) };
  });
