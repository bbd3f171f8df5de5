// Appends to the logs of sessions and to the fragments of an agent. Entries are numbered from 0 without a gap; an equal entry that is
// already stored is skipped.
import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { conflict } from '#foundation/problem.ts';
import { report } from '#limits.ts';
import { type LogPart, type PromptScope, Sandbox, SandboxFragment, SandboxLogPart, SandboxSession } from './model.ts';
import type { SessionKey } from './register.ts';

/**
 * SQL that locks the sandbox of a lease; $1 to $3 are its id, the lease, and the caller's organization. `isRunHeld` is an SQL condition on
 * the sandbox `s`.
 */
export const lockSandboxSql = (columns: string, isRunHeld: string) => `select ${columns} from sandboxes s
  where id = $1 and lease_id = $2 and ($3::text is null or org_id = $3) and ${isRunHeld} for no key update`;

/** Locks a sandbox of the lease. `isRunHeld` is an SQL condition on the sandbox `s`. */
export async function lockSandbox(
  trx: Transaction,
  { orgId }: Caller,
  { sandboxId, leaseId }: { sandboxId: string; leaseId: string },
  isRunHeld: string,
): Promise<Sandbox | undefined> {
  return (await sql<Sandbox>(lockSandboxSql(columnsOf(Sandbox), isRunHeld), [sandboxId, leaseId, orgId], trx))[0];
}

export interface LogPiece {
  part: LogPart;
  seq: number;
  content: string;
  /** Id of the span of the prompt; only for the part `prompt`. */
  spanId?: string | null | undefined;
  promptScope?: PromptScope | null | undefined;
}

/**
 * Appends a piece and returns the next sequence number.
 * @param locked The sandbox that is being locked; the lock is sent to the database together with the first reads.
 * @throws 404 for an unknown session, 409 for a gap or for different content under that number
 */
export async function appendLogPiece(
  trx: Transaction,
  locked: Promise<Sandbox>,
  { sandboxId, role, sessionId }: SessionKey,
  { part, seq, content, spanId = null, promptScope = null }: LogPiece,
): Promise<number> {
  const [, session, next] = await Promise.all([
    locked,
    SandboxSession.find({ sandboxId: sandboxId as SandboxSession['sandboxId'], role, sessionId }, trx),
    nextSequence(trx, lastPieceSql, [sandboxId, role, sessionId, part]),
  ]);
  if (!session) SandboxSession.refuse();
  const log = { sandboxId: session.sandboxId, role, sessionId, part };
  if (countNew(seq, 1, next, report.logPieces) === 0) {
    const stored = (await SandboxLogPart.query(trx).findById([sandboxId, role, sessionId, part, seq]))!;
    if (stored.content !== content || stored.spanId !== spanId || stored.promptScope !== promptScope) {
      throw sequenceConflict(seq);
    }
  } else await SandboxLogPart.insert(trx, { ...log, seq, content, spanId, promptScope, appendedAt: now() });
  return Math.max(next, seq + 1);
}

export type Fragment = { kind: SandboxFragment['kind']; t: number; items: SandboxFragment['items'] } & {
  [K in 'body' | 'action' | 'parameter' | 'result' | 'toolUseId']?: string | null | undefined;
} & {
  failed?: boolean | null | undefined;
  exitCode?: number | null | undefined;
  choices?: string[] | undefined;
};

/**
 * Inserts fragments that have consecutive sequence numbers, beginning with `first`. Returns the sequence number of the next fragment, and how
 * many of the fragments are new.
 * @param locked The sandbox that is being locked; the lock is sent to the database together with the first read.
 * @throws 404 for an unknown sandbox. 409 if `first` would leave a gap, or if a different fragment is already stored under one of the numbers.
 */
export async function insertFragments(
  trx: Transaction,
  locked: Promise<Sandbox>,
  sandboxId: SandboxFragment['sandboxId'],
  first: number,
  fragments: readonly Fragment[],
): Promise<{ nextSeq: number; added: number }> {
  const [, next] = await Promise.all([locked, nextSequence(trx, lastFragmentSql, [sandboxId])]);
  const added = countNew(first, fragments.length, next, report.fragmentsPerSandbox);
  const entries = fragments.map(({ t, kind, items, ...fields }, i) => {
    const { body = null, action = null, parameter = null, result = null, toolUseId = null } = fields;
    const { failed = null, exitCode = null, choices = [] } = fields;
    return {
      ...{ sandboxId, seq: first + i, kind, at: t, body, action, parameter, result, toolUseId, items },
      ...{ failed, exitCode, choices: choices.length > 0 ? choices : null },
    };
  });
  const known = entries.slice(0, entries.length - added);
  const stored = known.length === 0 ? [] : await readStored(trx, sandboxId, first, known.length);
  const different = known.find((entry, i) => !isDeepStrictEqual({ ...entry }, { ...stored[i] }));
  if (different) throw sequenceConflict(different.seq);
  if (added > 0) await SandboxFragment.insertMany(trx, entries.slice(-added));
  return { nextSeq: Math.max(next, first + entries.length), added };
}

const readStored = (trx: Transaction, sandboxId: SandboxFragment['sandboxId'], first: number, count: number) =>
  SandboxFragment.query(trx)
    .where({ sandboxId })
    .whereBetween('seq', [first, first + count - 1])
    .orderBy('seq');

const lastPieceSql = `select max(seq) as seq from sandbox_log_parts
  where sandbox_id = $1 and role = $2 and session_id = $3 and part = $4`;
const lastFragmentSql = 'select max(seq) as seq from sandbox_fragments where sandbox_id = $1';

/** The sequence number of the next entry. `lastSql` selects the number of the last entry. */
async function nextSequence(trx: Transaction, lastSql: string, values: unknown[]): Promise<number> {
  const [last] = await sql<{ seq: number | null }>(lastSql, values, trx);
  return (last!.seq ?? -1) + 1;
}

/** The number of entries that are new, among `count` entries that begin with number `seq`. @throws 409 for a gap */
function countNew(seq: number, count: number, next: number, most: number): number {
  if (seq > next) throw conflict.field('seq', `must be ${next}, the next number: ${seq} would leave a gap`);
  if (seq + count > most) throw conflict.field('seq', `must be below ${most}, the maximum number of entries`);
  return Math.min(count, Math.max(0, seq + count - next));
}

const sequenceConflict = (seq: number) => conflict.field('seq', `${seq} already exists with different content`);
