// Delivers audit logs as lines that `aep audit verify` reads: entries of the tree in the order of their numbers, and each checkpoint after
// the entries that it signs. The position is stored after the destination has accepted a batch, so each line arrives at least once.
import { hours, isoTime, minutes, now, seconds } from '#foundation/clock.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { unseal } from '#foundation/secrets/secrets.ts';
import type { AuditEvent } from '../model.ts';
import { openPersonal } from '../personal.ts';
import { publishedKeys } from '../tree/keys.ts';
import { checkpointLine } from '../tree/lines.ts';
import { readTreeEntries } from '../tree/proofs.ts';
import { type Batch, delayAfter, destinationOf, NotAccepted, sendBatch } from './destination.ts';

/** Limits of a batch; every batch has at least one line. */
const maxEntries = 500;
const maxCheckpoints = 100;
const maxCharacters = 1_048_576;
/**
 * `roundMs`: a job stops after this time, and the next job sends the rest of the log. `streamLeaseMs`: no other job for the same log begins
 * in this time.
 */
const roundMs = seconds(15);
export const streamLeaseMs = minutes(2);

export const sealPurpose = (orgId: string): string => `audit stream of ${orgId}`;

const dueSql = `update audit_streams set due_at = $2 where org_id in (
    select s.org_id from audit_streams s left join audit_counters c on c.org_id = s.org_id
    where s.due_at <= $1 and (c.tree_size > s.last_number or exists (
      select from audit_checkpoints p where p.org_id = s.org_id and p.hour > s.last_checkpoint_hour and p.size <= s.last_number))
    order by s.due_at limit 100 for update of s skip locked)
  returning org_id`;

/** Starts a delivery for each destination that does not have all lines; called periodically. */
export const startDeliveries = (): Promise<void> =>
  transaction(async (trx) => {
    const at = now();
    for (const job of await sql<AuditStreamJob>(dueSql, [at, at + streamLeaseMs], trx))
      await enqueue(trx, 'audit stream', job);
  });

export interface AuditStreamJob {
  orgId: string;
}

interface Position {
  address: string;
  sealedSecret: string;
  updatedAt: number;
  lastNumber: number;
  lastCheckpointHour: number;
  failures: number;
  treeSize: number;
}

const positionSql = `select s.address, s.sealed_secret, s.updated_at, s.last_number, s.last_checkpoint_hour, s.failures,
    coalesce(c.tree_size, 0) as tree_size
  from audit_streams s left join audit_counters c on c.org_id = s.org_id where s.org_id = $1`;
// Stores nothing if the destination was changed after the delivery began, or if another process has meanwhile delivered later entries.
const advanceSql = `update audit_streams set last_number = $3, last_checkpoint_hour = $4, delivered_at = $5, due_at = $6,
    failures = 0, failing_since = null, last_error = null
  where org_id = $1 and updated_at = $2 and last_number <= $3 and last_checkpoint_hour <= $4 returning org_id`;
const failSql = `update audit_streams set failures = failures + 1, failing_since = coalesce(failing_since, $3), last_error = $4, due_at = $5
  where org_id = $1 and updated_at = $2 and last_number = $6 and last_checkpoint_hour = $7`;
// The next delivery is due when this one ends, so that destinations that have waited longer are served first.
const releaseSql = 'update audit_streams set due_at = $3 where org_id = $1 and updated_at = $2 and failures = 0';

/** Sends missing lines to the organization's destination until none is missing, an attempt fails, or the job's time is over. */
export async function deliverAuditLog({ orgId }: AuditStreamJob): Promise<void> {
  const end = now() + roundMs;
  let position: Position | undefined;
  do {
    [position] = await sql<Position>(positionSql, [orgId]);
  } while (position && (await deliverNext(orgId, position)) && now() < end);
  if (position) await sql(releaseSql, [orgId, position.updatedAt, now()]);
}

/** Sends one batch. Returns true if the destination accepted it; the log may then have further lines to send. */
async function deliverNext(orgId: string, position: Position): Promise<boolean> {
  const batch = await readBatch(orgId, position);
  if (!batch) return false;
  const { address, sealedSecret, updatedAt, lastNumber, lastCheckpointHour, failures } = position;
  try {
    await sendBatch(destinationOf(address), JSON.parse(unseal(sealPurpose(orgId), sealedSecret)), batch);
  } catch (error) {
    if (!(error instanceof NotAccepted)) throw error;
    const at = now();
    const dueAt = at + Math.max(delayAfter(failures), error.retryAfterMs);
    await sql(failSql, [orgId, updatedAt, at, error.message, dueAt, lastNumber, lastCheckpointHour]);
    return false;
  }
  const at = now();
  const values = [orgId, updatedAt, batch.lastNumber, batch.lastCheckpointHour, at, at + streamLeaseMs];
  return (await sql(advanceSql, values)).length > 0;
}

interface ReadBatch extends Batch {
  lastNumber: number;
  lastCheckpointHour: number;
}

async function readBatch(orgId: string, position: Position): Promise<ReadBatch | null> {
  const { lastNumber: after, lastCheckpointHour, treeSize } = position;
  const entries = await readTreeEntries(orgId, after, Math.min(after + maxEntries, treeSize));
  let text = '';
  let lastNumber = after;
  const personal = await personalTexts(
    orgId,
    entries.flatMap(({ event }) => event ?? []),
  );
  for (const { number, leafHash, entry } of entries) {
    const line = `{"number":${number},"leafHash":"${leafHash}",${personal.get(number) ?? ''}"entry":${entry}}\n`;
    if (text && text.length + line.length > maxCharacters) break;
    text += line;
    lastNumber = number;
  }
  const checkpoints = await readCheckpoints(orgId, lastCheckpointHour, lastNumber);
  text += checkpoints.map(({ line }) => line).join('');
  if (!text) return null;
  const lastHour = checkpoints.at(-1)?.hour ?? lastCheckpointHour;
  return { text, key: keyOf(after, lastNumber, lastHour), lastNumber, lastCheckpointHour: lastHour };
}

/**
 * For each event number, the JSON text with the readable personal values of the event. This text is outside of `entry`, because the leaf
 * hash covers exactly the bytes of `entry`.
 */
async function personalTexts(orgId: string, events: readonly AuditEvent[]): Promise<Map<number, string>> {
  const opened = await openPersonal(orgId, events);
  return new Map(
    opened.flatMap(({ values }, i) => {
      const isEmpty = Object.keys(values).length === 0;
      return isEmpty ? [] : [[events[i]!.number, `"personal":${JSON.stringify(values)},`] as const];
    }),
  );
}

const checkpointsSql = `select hour, note, key_id from audit_checkpoints
  where org_id = $1 and hour > $2 and size <= $3 order by hour limit ${maxCheckpoints}`;

/**
 * The lines for the checkpoints after `hour`. A checkpoint that covers entries after `number` is left out, because the destination does not
 * have these entries yet.
 */
async function readCheckpoints(orgId: string, hour: number, number: number): Promise<{ hour: number; line: string }[]> {
  const found = await sql<{ hour: number; note: string; keyId: string }>(checkpointsSql, [orgId, hour, number]);
  if (found.length === 0) return [];
  const keys = new Map((await publishedKeys()).map(({ id, publicKey }) => [id, publicKey]));
  return found.map(({ hour, note, keyId }) => ({ hour, line: `${checkpointLine(note, keys.get(keyId)!)}\n` }));
}

/** The key of an object in a bucket, such as `2026/11/26/000000000001-000000000500.jsonl`: the date is that of the attempt. */
function keyOf(after: number, lastNumber: number, checkpointHour: number): string {
  const day = isoTime(now()).slice(0, 10).replaceAll('-', '/');
  const padded = (number: number) => String(number).padStart(12, '0');
  if (after === lastNumber)
    return `${day}/${padded(after)}-checkpoint-${isoTime(hours(checkpointHour)).slice(0, 13)}.jsonl`;
  return `${day}/${padded(after + 1)}-${padded(lastNumber)}.jsonl`;
}
