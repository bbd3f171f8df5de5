// Idempotency-Key on POST (IETF draft-ietf-httpapi-idempotency-key-header), valid for 24 hours: the same key with another body gets 422, a
// concurrent call with it 409. The response is recorded in the transaction of the work, so that a crash leaves both or neither. Only a
// success is recorded, sealed, because it may contain a secret that is shown once; after a problem nothing was written, so a call with the
// same key runs again.
import { createHash } from 'node:crypto';
import { lifetimesMs, text } from '#limits.ts';
import { minutes, now, seconds } from '../clock.ts';
import { createCapacity, type Hold } from '../http/capacity.ts';
import { conflict, invalid, unprocessable } from '../problem.ts';
import { seal, unseal } from '../secrets/secrets.ts';
import { commit, enclosingTransaction, sql, type Transaction } from './database.ts';
import { isCommitted, outermostOfCaller } from './enclosing.ts';

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

/** A call with an Idempotency-Key while it runs. */
interface Call {
  id: Buffer;
  /**
   * The progress of an earlier call with this key that ended without storing a response. If the earlier call recorded a first step, this is
   * the JSON result of that step. If the earlier call recorded no first step but committed its transaction early, this is an empty string.
   * Null if there was no such earlier call.
   */
  firstStep: string | null;
  isAlone: boolean;
  connection: Hold;
}
const calls = new WeakMap<Transaction, Call>();

/**
 * Limits how many connections the calls with a key occupy in this process. Together they get a part of the pool, and each organization gets
 * a share of this part.
 */
const connections = createCapacity({
  name: 'keyed_calls',
  all: 12,
  perKey: 4,
  queue: { perKey: 200, all: 2_000, waitMs: seconds(6) },
  description: 'Too many calls with an Idempotency-Key of this organization are being executed.',
});

export interface KeyedRequest {
  credentialId: string;
  orgId: string | null;
  key: string;
  route: string;
  path: string;
  input: unknown;
  /**
   * Whether the request contains a single operation. If it contains several operations, one of them cannot be committed separately from the
   * others.
   */
  isAlone: boolean;
}

/**
 * Runs `work` once per key and credential in its organization, or returns the recorded response. All writes of `work` and its response are
 * one transaction; work that needs several transactions begins with `firstStep`.
 * @throws 400 for a malformed key, 409 while the first call runs, 422 for another body, 503 while the organization has too many open calls
 */
export async function once(
  { credentialId, orgId, key, route, path, input, isAlone }: KeyedRequest,
  work: () => Promise<Answered>,
): Promise<Answered & { replayed: boolean }> {
  if (key.length < text.idempotencyKey.min || key.length > text.idempotencyKey.max || !/^[\x20-\x7e]+$/.test(key)) {
    throw invalid.field(
      'Idempotency-Key',
      `must be ${text.idempotencyKey.min} to ${text.idempotencyKey.max} printable ASCII characters`,
    );
  }
  const id = hash(`${credentialId} ${orgId}`, key);
  const fingerprint = hash(route, path, JSON.stringify(input ?? null));
  const connection = await connections.take(orgId ?? credentialId);
  try {
    return await enclosingTransaction(async (trx) => {
      const earlier = await claim(id, fingerprint, orgId);
      if (earlier && earlier.status !== null) return replay(id, earlier);
      calls.set(trx, { id, firstStep: earlier?.firstStep ?? null, isAlone, connection });
      const { status, body } = await work();
      const values = [id, status, seal(keyedAnswerPurpose(id), body)];
      const [completed] = await sql(completeCallSql, values);
      // If this call has committed its transaction early, a repeated call may have stored its response in the meantime. Both calls then
      // return that response.
      return completed ? { status, body, replayed: false } : replay(id, (await read(id))!);
    });
  } finally {
    connection.release();
  }
}

/**
 * The first step of an operation that continues outside the database. In a call with a key, its work is committed together with its
 * result; a repetition of a call that did not complete gets that result, and the step does not run again. Later steps must tolerate being
 * skipped or repeated. No transaction is open afterwards.
 */
export async function firstStep(step: () => Promise<string>): Promise<string> {
  const { trx, call } = thisCall();
  if (!call) return step();
  if (call.firstStep || isCommitted(trx)) {
    await releaseTransaction();
    return enclosingTransaction(() => firstOf(call, step));
  }
  const result = await step();
  await sql(recordStepSql, [call.id, result]);
  await end(trx, call);
  return result;
}

/** A concurrent repetition of the call may have completed the step in the meantime. */
async function firstOf({ id }: Call, step: () => Promise<string>): Promise<string> {
  const [row] = await sql<Pick<Row, 'firstStep'>>(lockStepSql, [id]);
  if (row?.firstStep) return row.firstStep;
  const result = await step();
  await sql(recordStepSql, [id, result]);
  return result;
}

/**
 * Commits and ends the transaction of the current call, if the call has an Idempotency-Key. Code calls this function before it sends a request to
 * an external server, because the open transaction would occupy a database connection until the server responds. A repetition of the call runs
 * from the beginning, so the operation must tolerate that its earlier writes were already made.
 */
export async function releaseTransaction(): Promise<void> {
  const { trx, call } = thisCall();
  if (!call || isCommitted(trx)) return;
  if (call.firstStep === null) await sql(recordStepSql, [call.id, '']);
  await end(trx, call);
}

const recordStepSql = 'update idempotency_keys set first_step = $2 where id = $1';
const lockStepSql = 'select first_step from idempotency_keys where id = $1 for update';

/**
 * If the current code runs within a call with an Idempotency-Key, returns this call and its transaction. Otherwise, returns an empty object.
 * @throws 400 when the request contains other operations, because an early commit would also commit the other operations, and a repeated
 * request would execute them a second time
 */
function thisCall(): { trx: Transaction; call: Call } | { trx?: undefined; call?: undefined } {
  const trx = outermostOfCaller();
  const call = trx && calls.get(trx);
  if (!call) return {};
  if (!call.isAlone)
    throw invalid.field(
      'Idempotency-Key',
      'a mutation with this field must have no other field, because it is committed in steps',
    );
  return { trx, call };
}

async function end(trx: Transaction, { connection }: Call): Promise<void> {
  await commit(trx);
  connection.release();
}

/** Age after which the previous release treats an unfinished key as abandoned. */
const abandonedAfterMs = minutes(1);

// The process that executes a call holds the lock until the transaction of the call ends. A row without a response has one of two origins.
// Either its call has ended after its first step; or a process of the previous release wrote it, because that release commits the row
// before it executes the call. In the second case, `started_at` shows whether the call can still be running.
const claimKeySql = `insert into idempotency_keys (id, fingerprint, started_at, expires_at, org_id)
    select $1, $2, $4, $4, $7 where pg_try_advisory_xact_lock($6)
  on conflict (id) do update set fingerprint = excluded.fingerprint, started_at = excluded.started_at,
    expires_at = excluded.expires_at, first_step = null, status = null, sealed_body = null
  where idempotency_keys.expires_at <= $3
    or (idempotency_keys.status is null and idempotency_keys.first_step is null and idempotency_keys.started_at <= $5)
  returning id`;
const completeCallSql = `update idempotency_keys set status = $2, sealed_body = $3 where id = $1 and status is null returning id`;

/** Claims the key for this transaction. Returns the row of an earlier call with its response or first step. */
async function claim(id: Buffer, fingerprint: Buffer, orgId: string | null): Promise<Row | undefined> {
  const [at, lock] = [now(), id.readBigInt64BE()];
  const [claimed] = await sql(claimKeySql, [
    id,
    fingerprint,
    at,
    at + lifetimesMs.idempotencyKey,
    at - abandonedAfterMs,
    lock,
    orgId,
  ]);
  if (claimed) return undefined;
  const row = await read(id);
  if (row && !row.fingerprint.equals(fingerprint))
    throw unprocessable.field('Idempotency-Key', 'was used for another request');
  const isOurs = async () =>
    (await sql<{ ours: boolean }>('select pg_try_advisory_xact_lock($1) as ours', [lock]))[0]!.ours;
  if (row && (row.status !== null || (row.firstStep !== null && (await isOurs())))) return row;
  throw conflict.field('Idempotency-Key', 'the first request is still running', { retryAfterSeconds: 1 });
}

async function read(id: Buffer): Promise<Row | undefined> {
  const text = 'select fingerprint, first_step, status, sealed_body from idempotency_keys where id = $1';
  return (await sql<Row>(text, [id]))[0];
}

const replay = (id: Buffer, { status, sealedBody }: Row) => ({
  status: status!,
  body: unseal(keyedAnswerPurpose(id), sealedBody!),
  replayed: true,
});

const hash = (...parts: string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest();
/** The purpose for which secrets.ts derives the key that encrypts the stored response of a call. */
export const keyedAnswerPurpose = (id: Buffer): string => `idempotency:${id.toString('base64url')}`;

/** Deletes expired keys; called periodically. */
export const sweepIdempotencyKeys = (): Promise<unknown> =>
  sql('delete from idempotency_keys where expires_at <= $1', [now()]);

/** Deletes the idempotency keys of an organization here, after the organization and these keys were moved to another installation. */
export const forgetKeysOf = (orgId: string): Promise<unknown> =>
  sql('delete from idempotency_keys where org_id = $1', [orgId]);
