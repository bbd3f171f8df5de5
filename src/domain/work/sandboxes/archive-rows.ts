// The rows of a run that are moved to an archive, in blocks, and their deletion.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import type { NewBlock } from './archive-content.ts';
import type { BlockHead, FragmentEntry, LogBlockHead, LogEntry } from './archive-model.ts';
import { SandboxFragment, SandboxLogPart } from './model.ts';

/** Maximum size of one archive. */
const max = { rows: 5_000, bytes: 8 * 1024 * 1024 } as const;
/** Maximum size of one block, which is always read as a whole. */
const maxOfBlock = { rows: 500, bytes: 128 * 1024 } as const;

const logRowsSql = `select ${columnsOf(SandboxLogPart, 'p')} from (
    select ${columnsOf(SandboxLogPart, 'l')}, sum(bytes) over (order by l.sandbox_id, l.role, l.session_id, l.part, l.seq) as upto
    from sandboxes s join sandbox_log_parts l on l.sandbox_id = s.id where s.run_id = $1) p
  where upto - bytes < ${max.bytes} order by sandbox_id, role, session_id, part, seq limit ${max.rows}`;
const sizeOfFragment = ['body', 'parameter', 'result'].map((name) => `coalesce(octet_length(${name}), 0)`).join(' + ');
const fragmentRowsSql = `select ${columnsOf(SandboxFragment, 'f')}, bytes from (
    select ${columnsOf(SandboxFragment, 'l')}, ${sizeOfFragment} as bytes, sum(${sizeOfFragment}) over (order by l.sandbox_id, l.seq) as upto
    from sandboxes s join sandbox_fragments l on l.sandbox_id = s.id where s.run_id = $1) f
  where upto - bytes < ${max.bytes} order by sandbox_id, seq limit ${max.rows}`;

/**
 * Returns the rows of the run that are moved to an archive next, grouped into blocks. If only some rows of a log, or only some fragments of a
 * sandbox, fit into the archive, the earliest of them are returned. Returns an empty array when all rows have been moved.
 */
export async function readRows(runId: string): Promise<NewBlock[]> {
  const parts = await sql<SandboxLogPart>(logRowsSql, [runId]);
  const logs = blocksOf(parts, ({ sandboxId, role, sessionId, part }) => [sandboxId, role, sessionId, part], logBlock);
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (parts.length === max.rows || bytes >= max.bytes) return logs;
  const fragments = await sql<SandboxFragment & { bytes: number }>(fragmentRowsSql, [runId]);
  return [...logs, ...blocksOf(fragments, ({ sandboxId }) => [sandboxId], fragmentBlock)];
}

/**
 * Divides rows into blocks. The numbers of the rows in a block are consecutive; if a number is missing, which should not happen, a new block begins.
 */
function blocksOf<T extends { seq: number; bytes: number }>(
  rows: readonly T[],
  keyOf: (row: T) => string[],
  make: (rows: T[]) => NewBlock,
) {
  const blocks: NewBlock[] = [];
  let [block, key, bytes] = [[] as T[], '', 0];
  for (const row of rows) {
    const itsKey = JSON.stringify(keyOf(row));
    const isFull = block.length === maxOfBlock.rows || bytes + row.bytes > maxOfBlock.bytes;
    const follows = itsKey === key && row.seq === block.at(-1)!.seq + 1;
    if (block.length > 0 && (!follows || isFull)) {
      blocks.push(make(block));
      [block, bytes] = [[], 0];
    }
    block.push(row);
    key = itsKey;
    bytes += row.bytes;
  }
  return block.length > 0 ? [...blocks, make(block)] : blocks;
}

const timesOf = (times: readonly number[]) => ({ from: Math.min(...times), until: Math.max(...times) });

function logBlock(rows: SandboxLogPart[]): NewBlock {
  const { sandboxId, role, sessionId, part, seq } = rows[0]!;
  const scopes = rows.map(({ promptScope }) => promptScope ?? 'repo-contributed').sort();
  const head: LogBlockHead = {
    ...{ sandboxId, role, sessionId, part, seq, count: rows.length },
    ...timesOf(rows.map(({ appendedAt }) => appendedAt ?? 0)),
    bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
    scopes: [scopes[0]!, scopes.at(-1)!],
  };
  const entries = rows.map(({ seq, content, spanId, promptScope, appendedAt }) => ({
    ...{ seq, content, spanId, promptScope, appendedAt },
  }));
  return { head, entries };
}

function fragmentBlock(rows: (SandboxFragment & { bytes: number })[]): NewBlock {
  const { sandboxId, seq } = rows[0]!;
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  const head: BlockHead = {
    ...{ sandboxId, part: 'fragments', seq, count: rows.length, kinds },
    lastPlan: rows.findLast(({ kind }) => kind === 'plan')?.seq ?? -1,
    ...timesOf(rows.map(({ at }) => at)),
  };
  return { head, entries: rows.map(({ sandboxId: _, bytes: __, ...entry }) => entry) };
}

const deletePartsSql = `delete from sandbox_log_parts p
  using unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[]) b (sandbox_id, role, session_id, part, first, last)
  where p.sandbox_id = b.sandbox_id and p.role = b.role and p.session_id = b.session_id and p.part = b.part
    and p.seq between b.first and b.last returning 1 as deleted`;
const deleteFragmentsSql = `delete from sandbox_fragments f using unnest($1::text[], $2::int[], $3::int[]) b (sandbox_id, first, last)
  where f.sandbox_id = b.sandbox_id and f.seq between b.first and b.last returning 1 as deleted`;
const noteSql = `update sandbox_sessions s
  set archived_parts = array(select distinct part from unnest(s.archived_parts || b.parts) u (part) order by part)
  from (select sandbox_id, role, session_id, array_agg(part) as parts
    from unnest($1::text[], $2::text[], $3::text[], $4::text[]) u (sandbox_id, role, session_id, part) group by 1, 2, 3) b
  where s.sandbox_id = b.sandbox_id and s.role = b.role and s.session_id = b.session_id`;

/** Deletes the rows of the blocks. Returns whether all of them were there: otherwise another process has moved them. */
export async function deleteRows(trx: Transaction, blocks: readonly NewBlock[]): Promise<boolean> {
  const heads = blocks.map(({ head }) => head);
  const logs = heads.filter((head): head is LogBlockHead => head.part !== 'fragments');
  const fragments = heads.filter(({ part }) => part === 'fragments');
  const positions = (of: readonly BlockHead[]) => [
    of.map(({ seq }) => seq),
    of.map(({ seq, count }) => seq + count - 1),
  ];
  const names = (['sandboxId', 'role', 'sessionId', 'part'] as const).map((name) => logs.map((one) => one[name]));
  const parts = await sql(deletePartsSql, [...names, ...positions(logs)], trx);
  const others = await sql(deleteFragmentsSql, [fragments.map((one) => one.sandboxId), ...positions(fragments)], trx);
  await sql(noteSql, names, trx);
  return parts.length + others.length === heads.reduce((sum, { count }) => sum + count, 0);
}

/** Inserts the rows of a block again. */
export async function insertRows(
  trx: Transaction,
  head: BlockHead,
  entries: readonly (LogEntry | FragmentEntry)[],
): Promise<void> {
  const { sandboxId } = head;
  if (head.part === 'fragments')
    return SandboxFragment.insertMany(
      trx,
      entries.map((entry) => ({ sandboxId, ...(entry as FragmentEntry) })),
    );
  const { role, sessionId, part } = head;
  const rows = (entries as readonly LogEntry[]).map((entry) => ({ sandboxId, role, sessionId, part, ...entry }));
  return SandboxLogPart.insertMany(trx, rows);
}
