// Idempotency-Key on POST (IETF draft-ietf-httpapi-idempotency-key-header): 24 hours; the same key with another body is 422,
// one still in flight 409. The answer is recorded in the transaction of the work, so that a crash leaves both or neither. Only a
// success is recorded, sealed, since it may hold a secret that is shown once; after a problem nothing was written, so the same
// key runs again.
import { createHash } from 'node:crypto';
import { lifetimesMs, text } from '#limits.ts';
import { minutes, now } from '../clock.ts';
import { conflict, invalid, unprocessable } from '../problem.ts';
import { seal, unseal } from '../secrets/secrets.ts';
import { commit, enclosedBy, enclosingTransaction, sql, type Transaction } from './database.ts';

export interface Answered {
  status: number;
  body: string;
}

interface Row {
  fingerprint: Buffer;
  firstStep: string | null;
  status: number | null;
  sealedBody: string | null;
}

/** A call with a key, while it runs. */
interface Call {
  id: Buffer;
  /** What its first step returned when the call ran before, and did not come to its end. */
  firstStep: string | null;
}
const calls = new WeakMap<Transaction, Call>();

/**
 * Runs `work` once per key and `owner` (the credential in its organization), or returns what it answered before. All that `work`
 * writes and its answer are one transaction; in work that needs more than one, `firstStep` is the first.
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
  return enclosingTransaction(async (trx) => {
    const earlier = await claim(id, fingerprint);
    if (earlier && earlier.status !== null) return replay(id, earlier);
    calls.set(trx, { id, firstStep: earlier?.firstStep ?? null });
    const { status, body } = await work();
    const values = [id, status, seal(sealedFor(id), body)];
    const [completed] = await sql(completeCallSql, values);
    // After an early commit a repeated call may have completed.
    return completed ? { status, body, replayed: false } : replay(id, (await read(id))!);
  });
}

/**
 * The first step of an operation that continues outside the database. In a call with a key its work is committed with what
 * it returned; who repeats a call that did not come to its end gets that, and the step is not done again. What follows it must
 * bear being left out or repeated.
 */
export async function firstStep(step: () => Promise<string>): Promise<string> {
  const trx = enclosedBy();
  const call = trx && calls.get(trx);
  if (!call) return step();
  if (call.firstStep !== null) return call.firstStep;
  const result = await step();
  await sql('update idempotency_keys set first_step = $2 where id = $1', [call.id, result]);
  await commit(trx);
  return result;
}

/** The release before this one takes a key that was begun so long ago for abandoned. */
const abandonedAfterMs = minutes(1);

// The process that executes a call holds the lock until its transaction ends. A row without an answer is of a call that has
// ended after its first step, or of the release before this one, which commits it first: `started_at` says whether it still runs.
const claimKeySql = `insert into idempotency_keys (id, fingerprint, started_at, expires_at)
    select $1, $2, $4, $4 where pg_try_advisory_xact_lock($6)
  on conflict (id) do update set fingerprint = excluded.fingerprint, started_at = excluded.started_at,
    expires_at = excluded.expires_at, first_step = null, status = null, sealed_body = null
  where idempotency_keys.expires_at <= $3
    or (idempotency_keys.status is null and idempotency_keys.first_step is null and idempotency_keys.started_at <= $5)
  returning id`;
const completeCallSql = `update idempotency_keys set status = $2, sealed_body = $3 where id = $1 and status is null returning id`;

/** Claims the key for this transaction. Returns the row of an earlier call with its answer or first step. */
async function claim(id: Buffer, fingerprint: Buffer): Promise<Row | undefined> {
  const [at, lock] = [now(), id.readBigInt64BE()];
  const [claimed] = await sql(claimKeySql, [
    id,
    fingerprint,
    at,
    at + lifetimesMs.idempotencyKey,
    at - abandonedAfterMs,
    lock,
  ]);
  if (claimed) return undefined;
  const row = await read(id);
  if (row && !row.fingerprint.equals(fingerprint))
    throw unprocessable('Idempotency-Key: was used for another request.');
  const isOurs = async () =>
    (await sql<{ ours: boolean }>('select pg_try_advisory_xact_lock($1) as ours', [lock]))[0]!.ours;
  if (row && (row.status !== null || (row.firstStep !== null && (await isOurs())))) return row;
  throw conflict('Idempotency-Key: the first request is still running.', { 'retry-after': '1' });
}

async function read(id: Buffer): Promise<Row | undefined> {
  const text = 'select fingerprint, first_step, status, sealed_body from idempotency_keys where id = $1';
  return (await sql<Row>(text, [id]))[0];
}

const replay = (id: Buffer, { status, sealedBody }: Row) => ({
  status: status!,
  body: unseal(sealedFor(id), sealedBody!),
  replayed: true,
});

const hash = (...parts: string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest();
const sealedFor = (id: Buffer): string => `idempotency:${id.toString('base64url')}`;

/** Removes what has expired; asked now and then. */
export const sweepIdempotencyKeys = (): Promise<unknown> =>
  sql('delete from idempotency_keys where expires_at <= $1', [now()]);
