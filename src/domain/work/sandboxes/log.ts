// Reads one log of a session in chunks: the newest, or an older one by cursor (docs/contract.md#sandboxes). A cursor is the byte
// offset at which a chunk ends; logs only grow, so it stays valid.
import type { Caller } from '#access/principal.ts';
import { seconds } from '#foundation/clock.ts';
import { packCursor, unpackCursor } from '#foundation/postgres/cursor.ts';
import { sql } from '#foundation/postgres/database.ts';
import { bytes as limits } from '#limits.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import { type LogPart, type PromptScope, SandboxSession } from './model.ts';
import { findSandbox } from './operations.ts';

export interface LogRequest {
  sandboxId: string;
  role: AgentRole;
  sessionId: string;
  part: LogPart;
}

export interface PromptSpan {
  id: string;
  content: string;
  scope: PromptScope;
}

/** Arrival time of a line, and of the following lines up to the next entry of the list. */
export interface LogTime {
  /** Number of the line, counted from 0. */
  line: number;
  at: number;
}

export interface SandboxLog extends LogRequest {
  /** Text of the chunk, at most `limits.logContent` bytes. */
  content: string;
  /** Length of the whole log in bytes. */
  bytes: number;
  /** Source of the text of the whole prompt; null in the other logs and while the log is empty. */
  promptScope: PromptScope | 'mixed' | null;
  /** The spans of `content`, one entry for each id. */
  promptSpans: PromptSpan[];
  /** Arrival times of the lines, computed only when requested. */
  times: () => LogTime[];
  /** Cursor of the preceding chunk; null at the start of the log. */
  nextCursor: string | null;
}

interface Row {
  content: string;
  spanId: string | null;
  scope: PromptScope;
  appendedAt: number | null;
  firstScope: PromptScope;
  lastScope: PromptScope;
  /** Offset of the row in the log, and length of the log, in bytes. */
  begin: number;
  total: number;
}

// The query reads the lengths of all rows, but contents only of the rows in the chunk.
const readChunkSql = `select content, span_id, scope, appended_at, first_scope, last_scope, upto - bytes as begin, total from (
    select seq, content, span_id, bytes, scope, appended_at, sum(bytes) over (order by seq) as upto, sum(bytes) over () as total,
      min(scope) over () as first_scope, max(scope) over () as last_scope
    from (select seq, content, span_id, bytes, appended_at, coalesce(prompt_scope, 'repo-contributed') as scope
      from sandbox_log_parts where sandbox_id = $1 and role = $2 and session_id = $3 and part = $4) one) p
  where upto > coalesce($5::bigint, total) - $6::bigint and upto - bytes < coalesce($5::bigint, total) order by seq`;

/**
 * Reads a chunk of a log; a log without entries is empty.
 * @throws 404 for a sandbox or session that the caller cannot reach, 400 for a cursor of another log
 */
export async function readLog(caller: Caller, request: LogRequest & { cursor?: string | null }): Promise<SandboxLog> {
  const { cursor, ...log } = request;
  const { sandboxId, role, sessionId, part } = log;
  await findSandbox(caller, sandboxId);
  await SandboxSession.get({ sandboxId, role, sessionId });
  const binding = `log\n${JSON.stringify([sandboxId, role, sessionId, part])}`;
  const end = cursor == null ? null : unpackCursor(binding, cursor)[0];
  const read = await sql<Row>(readChunkSql, [sandboxId, role, sessionId, part, end, limits.logContent]);
  const [first] = read;
  if (!first) return { ...log, ...empty };
  const until = end ?? first.total;
  const from = beginOf(first, Math.max(first.begin, until - limits.logContent));
  const rows = read.map((row) => ({ ...row, content: between(row, from, until) }));
  return {
    ...log,
    content: rows.map(({ content }) => content).join(''),
    bytes: first.total,
    promptScope: part !== 'prompt' ? null : first.firstScope === first.lastScope ? first.firstScope : 'mixed',
    promptSpans: spansOf(rows),
    times: () => timesOf(rows),
    nextCursor: from > 0 ? packCursor(binding, from, sandboxId) : null,
  };
}

const empty = { content: '', bytes: 0, promptScope: null, promptSpans: [], times: () => [], nextCursor: null };

/** The offset of the first character that begins at or after `from`: continuation bytes have the form 10xxxxxx. */
function beginOf({ content, begin }: Row, from: number): number {
  const bytes = Buffer.from(content);
  let at = from - begin;
  while (at < bytes.length && (bytes[at]! & 0xc0) === 0x80) at++;
  return begin + at;
}

function between({ content, begin }: Row, from: number, until: number): string {
  const bytes = Buffer.from(content);
  if (from <= begin && begin + bytes.length <= until) return content;
  return bytes.toString('utf8', Math.max(0, from - begin), Math.min(bytes.length, until - begin));
}

/** Collects the spans of the rows, joining spans that are stored in several rows. */
function spansOf(rows: readonly Row[]): PromptSpan[] {
  const spans = new Map<string, PromptSpan>();
  for (const { spanId: id, content, scope } of rows) {
    if (id === null) continue;
    const span = spans.get(id);
    if (span) span.content += content;
    else spans.set(id, { id, content, scope });
  }
  return [...spans.values()];
}

/** A line has the arrival time of the log part in which it begins. Times are rounded to the second, which bounds their number. */
function timesOf(rows: readonly Row[]): LogTime[] {
  const times: LogTime[] = [];
  let line = 0;
  let isAtLineStart = true;
  for (const { content, appendedAt } of rows) {
    const first = isAtLineStart ? line : line + 1;
    line += content.split('\n').length - 1;
    isAtLineStart = content === '' ? isAtLineStart : content.endsWith('\n');
    const last = isAtLineStart ? line - 1 : line;
    if (first > last || appendedAt === null) continue;
    const at = appendedAt - (appendedAt % seconds(1));
    if (at !== times.at(-1)?.at) times.push({ line: first, at });
  }
  return times;
}
