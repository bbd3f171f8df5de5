// Idempotency-Key on POST (IETF draft-ietf-httpapi-idempotency-key-header): 24 hours; the same key with another body is 422,
// one still in flight 409. Only a success is kept, sealed, since it may hold a secret that is shown once; after a problem
// nothing was written, so the same key runs again.
import { createHash } from 'node:crypto';
import { lifetimes, text } from '#limits.ts';
import { minutes, now } from './clock.ts';
import { sql } from './database.ts';
import { conflict, invalid, unprocessable } from './problem.ts';
import { seal, unseal } from './secrets.ts';

export interface Answered {
  status: number;
  body: string;
}

/** After this a call that never ended (its process died) no longer blocks its key. Longer than any statement may run. */
const abandonedAfter = minutes(1);

interface Row {
  fingerprint: Buffer;
  startedAt: number;
  status: number | null;
  sealedBody: string | null;
}

/**
 * Runs `work` once per key and `owner` (the credential in its organization), or gives what it answered before.
 * @throws 400 for a malformed key, 409 while the first call runs, 422 for another body.
 */
export async function once(
  owner: string,
  key: string,
  request: { route: string; path: string; input: unknown },
  work: () => Promise<Answered>,
): Promise<Answered & { replayed: boolean }> {
  if (key.length < text.idempotencyKey.min || key.length > text.idempotencyKey.max || !/^[\x20-\x7e]+$/.test(key)) {
    throw invalid(
      `Idempotency-Key: must be ${text.idempotencyKey.min} to ${text.idempotencyKey.max} printable ASCII characters.`,
    );
  }
  const id = hash(owner, key);
  const fingerprint = hash(request.route, request.path, JSON.stringify(request.input ?? null));
  const earlier = await begin(id, fingerprint);
  if (earlier) {
    if (!earlier.fingerprint.equals(fingerprint)) throw unprocessable('Idempotency-Key: was used for another request.');
    if (earlier.status === null)
      throw conflict('Idempotency-Key: the first request is still running.', { 'retry-after': '1' });
    return { status: earlier.status, body: unseal(sealedFor(id), earlier.sealedBody!), replayed: true };
  }
  try {
    const answered = await work();
    await sql('update idempotency_keys set status = $2, sealed_body = $3 where id = $1', [
      id,
      answered.status,
      seal(sealedFor(id), answered.body),
    ]);
    return { ...answered, replayed: false };
  } catch (error) {
    if (!isUnknownOutcome(error)) await sql('delete from idempotency_keys where id = $1', [id]);
    throw error;
  }
}

/** A 5xx may have done its work all the same: the key stays taken until it counts as abandoned. */
const isUnknownOutcome = (error: unknown): boolean => ((error as { status?: number }).status ?? 500) >= 500;

/** Takes the key, unless an earlier call holds it: then its row. */
async function begin(id: Buffer, fingerprint: Buffer): Promise<Row | undefined> {
  const at = now();
  const [taken] = await sql<{ id: Buffer }>(
    `insert into idempotency_keys (id, fingerprint, started_at, expires_at) values ($1, $2, $3, $4)
     on conflict (id) do update set fingerprint = excluded.fingerprint, started_at = excluded.started_at,
       expires_at = excluded.expires_at, status = null, sealed_body = null
     where idempotency_keys.expires_at <= $3 or (idempotency_keys.status is null and idempotency_keys.started_at <= $5)
     returning id`,
    [id, fingerprint, at, at + lifetimes.idempotencyKey, at - abandonedAfter],
  );
  if (taken) return undefined;
  const [row] = await sql<Row>(
    'select fingerprint, started_at, status, sealed_body from idempotency_keys where id = $1',
    [id],
  );
  // Given up by a failing first call between the two statements: as if that call were still running.
  return row ?? { fingerprint, startedAt: at, status: null, sealedBody: null };
}

const hash = (...parts: string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest();
const sealedFor = (id: Buffer): string => `idempotency:${id.toString('base64url')}`;

/** Removes what has expired; asked now and then. */
export const sweepIdempotencyKeys = (): Promise<unknown> =>
  sql('delete from idempotency_keys where expires_at <= $1', [now()]);
