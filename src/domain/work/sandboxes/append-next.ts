// Appends the next entries of a log or of an agent's fragments in one statement without a transaction, which is enough for most reports.
// Writes nothing when an entry is not the next one, or in any other unusual case: append.ts then finds the error, or finds that the report
// is already stored.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { savepoint, sql } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { report } from '#limits.ts';
import { type Fragment, type LogPiece, lockSandboxSql } from './append.ts';
import type { SessionKey } from './register.ts';

interface HeldSandbox {
  sandboxId: string;
  leaseId: string;
}

/**
 * Returns the number of entries that were inserted. A concurrent report, which the statement could not see, may have inserted an entry with
 * the same number: the statement then fails as a whole.
 */
async function insertNext(text: string, values: unknown[]): Promise<number> {
  try {
    return (await savepoint(() => sql(text, values))).length;
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return 0;
  }
}

const pieceSql = (isRunHeld: string) => `with locked as (${lockSandboxSql('id', isRunHeld)})
  insert into sandbox_log_parts (sandbox_id, role, session_id, part, seq, content, span_id, prompt_scope, appended_at)
  select e.sandbox_id, e.role, e.session_id, $6::text, $7::int, $8::text, $9::text, $10::text, $11::bigint
  from locked join sandbox_sessions e on e.sandbox_id = locked.id and e.role = $4 and e.session_id = $5
  where $7::int = (select coalesce(max(p.seq), -1) + 1 from sandbox_log_parts p
    where p.sandbox_id = $1 and p.role = $4 and p.session_id = $5 and p.part = $6::text)
  returning seq`;

/** Appends a piece if it is the next one. Returns whether it did. `isRunHeld` is an SQL condition on the sandbox `s`. */
export async function appendNextPiece(
  { orgId }: Caller,
  { sandboxId, leaseId, role, sessionId }: SessionKey & HeldSandbox,
  { part, seq, content, spanId = null, promptScope = null }: LogPiece,
  isRunHeld: string,
): Promise<boolean> {
  if (seq >= report.logPieces) return false;
  const key = [sandboxId, leaseId, orgId, role, sessionId, part];
  return (await insertNext(pieceSql(isRunHeld), [...key, seq, content, spanId, promptScope, now()])) === 1;
}

const fragmentsSql = (isRunHeld: string) => `with locked as (${lockSandboxSql('id', isRunHeld)})
  insert into sandbox_fragments (sandbox_id, seq, kind, at, body, action, parameter, result, tool_use_id, items, failed, exit_code)
  select locked.id, $4::int + f.n - 1, f.kind, f.at, f.body, f.action, f.parameter, f.result, f.tool_use_id, f.items::jsonb, f.failed, f.exit_code
  from locked, unnest($5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::boolean[], $14::int[])
    with ordinality f (kind, at, body, action, parameter, result, tool_use_id, items, failed, exit_code, n)
  where $4::int = (select coalesce(max(seq), -1) + 1 from sandbox_fragments where sandbox_id = $1)
  returning seq`;

/**
 * Whether the statement `fragmentsSql` can append the fragment. The statement cannot append a question, because a question must be
 * announced to more readers. Nor can it append a fragment that suggests answers, because each parameter of the statement is an array with
 * one value for each fragment, and one fragment may suggest several answers.
 */
const isPlain = ({ kind, choices = [] }: Fragment): boolean => kind !== 'elicitation' && choices.length === 0;

/** Appends fragments if they are the next ones. Returns whether it did. `isRunHeld` is an SQL condition on the sandbox `s`. */
export async function appendNextFragments(
  { orgId }: Caller,
  { sandboxId, leaseId, seq, fragments }: HeldSandbox & { seq: number; fragments: readonly Fragment[] },
  isRunHeld: string,
): Promise<boolean> {
  if (!fragments.every(isPlain) || seq + fragments.length > report.fragmentsPerSandbox) return false;
  const column = (name: 'body' | 'action' | 'parameter' | 'result' | 'toolUseId' | 'failed' | 'exitCode') =>
    fragments.map((one) => one[name] ?? null);
  const columns = [
    fragments.map(({ kind }) => kind),
    fragments.map(({ t }) => t),
    ...(['body', 'action', 'parameter', 'result', 'toolUseId'] as const).map(column),
    fragments.map(({ items }) => JSON.stringify(items)),
    ...(['failed', 'exitCode'] as const).map(column),
  ];
  const inserted = await insertNext(fragmentsSql(isRunHeld), [sandboxId, leaseId, orgId, seq, ...columns]);
  return fragments.length > 0 && inserted === fragments.length;
}
