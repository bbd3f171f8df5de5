// Reads one log of a session in chunks (docs/contract.md#sandboxes). A request without a cursor returns the newest chunk of the log, and a
// request with a cursor returns an older chunk. A cursor contains the byte offset at which this older chunk ends. The cursor stays valid,
// because logs only grow.
import type { Caller } from '#access/principal.ts';
import { seconds } from '#foundation/clock.ts';
import { packCursor, unpackCursor } from '#foundation/postgres/cursor.ts';
import { sql } from '#foundation/postgres/database.ts';
import { bytes as limits } from '#limits.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import type { LogArchive } from './archive-model.ts';
import { archivedLog, archivesOfRun, readSections } from './archives.ts';
import { desiredOf, type LogPart, type PromptScope, type Sandbox, SandboxSession } from './model.ts';
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
  /** When the text of this log was deleted after the organization's retention period. The log is empty from then on. Null while the text is kept. */
  deletedAt: number | null;
  /** Where the text of the prompt comes from, if this is a log of a prompt. Null in any other log, and while the log is empty. */
  promptScope: PromptScope | 'mixed' | null;
  /** The spans of `content`, one entry for each id. */
  promptSpans: PromptSpan[];
  /** Arrival times of the lines, computed only when requested. */
  times: () => LogTime[];
  /** Cursor of the preceding chunk; null when this chunk begins at the start of the log, or at the requested offset `after`. */
  nextCursor: string | null;
}

interface Row {
  content: string;
  spanId: string | null;
  scope: PromptScope;
  appendedAt: number | null;
  /** Offset of the row in the log. */
  begin: number;
}

const scopeOf = "coalesce(prompt_scope, 'repo-contributed')";
const ofLog =
  'from sandbox_log_parts where sandbox_id = $1 and role = $2 and session_id = $3 and part = $4 and seq >= $5';
const wholeSql = `select coalesce(sum(bytes), 0)::bigint as bytes, min(${scopeOf}) as first, max(${scopeOf}) as last ${ofLog}`;
// Reads the lengths of all rows, but only the contents of rows that overlap the bytes from $7 to $8 of the log. The first row begins after the first
// $6 bytes of the log, because the archives contain those.
const readChunkSql = `select content, span_id, scope, appended_at, upto - bytes as begin from (
    select seq, content, span_id, bytes, scope, appended_at, $6::bigint + sum(bytes) over (order by seq) as upto
    from (select seq, content, span_id, bytes, appended_at, ${scopeOf} as scope ${ofLog}) one) p
  where upto > $7::bigint and upto - bytes < $8::bigint order by seq`;

interface Whole {
  bytes: number;
  first: PromptScope | null;
  last: PromptScope | null;
}

interface Chunk {
  bytes: number;
  /** Sources of the whole prompt. */
  scopes: PromptScope[];
  /** Offsets at which the chunk begins and ends, which may be within a character. */
  from: number;
  until: number;
  rows: Row[];
}

/** Reads a chunk of the log: its beginning from the archives, and the rest from the database. */
async function readChunk(
  archives: readonly LogArchive[],
  request: LogRequest,
  { after, end }: { after: number; end: number | null },
): Promise<Chunk> {
  const { sandboxId, role, sessionId, part } = request;
  const archived = await archivedLog(archives, sandboxId, request);
  const key = [sandboxId, role, sessionId, part, archived.next];
  const [whole] = await sql<Whole>(wholeSql, key);
  const bytes = archived.bytes + whole!.bytes;
  const until = end ?? bytes;
  const from = Math.max(after, until - limits.logContent);
  const isWithin = (begin: number, length: number) => begin + length > from && begin < until;
  const earlier = await readSections(archived.sections.filter(({ begin, block }) => isWithin(begin, block.bytes)));
  const rows: Row[] = earlier
    .filter(({ begin, content }) => isWithin(begin, Buffer.byteLength(content)))
    .map((entry) => ({ ...entry, scope: entry.promptScope ?? 'repo-contributed' }));
  if (until > archived.bytes) rows.push(...(await sql<Row>(readChunkSql, [...key, archived.bytes, from, until])));
  const scopes = [...archived.sections.flatMap(({ block }) => block.scopes), whole!.first, whole!.last];
  return { bytes, from, until, rows, scopes: [...new Set(scopes.filter((scope) => scope !== null))] };
}

/** Reads a consistent state: an entry that is being moved could otherwise be missing from both the archives and the database. */
async function readWhole<T>(
  { orgId, runId, status }: Sandbox,
  read: (archives: LogArchive[]) => Promise<T>,
): Promise<T> {
  if (runId === null || desiredOf(status) === 'run') return read([]);
  for (let archives = await archivesOfRun(orgId, runId); ; ) {
    const result = await read(archives);
    const now = await archivesOfRun(orgId, runId);
    if (now.length === archives.length) return result;
    archives = now;
  }
}

/**
 * Reads a chunk of a log; a log without entries is empty.
 * @throws 404 for a sandbox or session that the caller cannot reach, 400 for a cursor of another log, 502 for a damaged archive
 */
export async function readLog(
  caller: Caller,
  request: LogRequest & { cursor?: string | null; after?: number | null },
): Promise<SandboxLog> {
  const { cursor, after, ...log } = request;
  const { sandboxId, role, sessionId, part } = log;
  const sandbox = await findSandbox(caller, sandboxId);
  await SandboxSession.get({ sandboxId, role, sessionId });
  const binding = `log\n${JSON.stringify([sandboxId, role, sessionId, part])}`;
  const end = cursor == null ? null : unpackCursor(binding, cursor)[0];
  const read = await readWhole(sandbox, (archives) => readChunk(archives, log, { after: after ?? 0, end }));
  const [first] = read.rows;
  const deletedAt = sandbox.logsDeletedAt;
  if (!first && read.bytes === 0) return { ...log, ...empty, deletedAt };
  const from = first ? beginOf(first, Math.max(first.begin, read.from)) : read.until;
  const rows = read.rows.map((row) => ({ ...row, content: between(row, from, read.until) }));
  return {
    ...log,
    content: rows.map(({ content }) => content).join(''),
    bytes: read.bytes,
    deletedAt,
    promptScope: part !== 'prompt' ? null : read.scopes.length === 1 ? read.scopes[0]! : 'mixed',
    promptSpans: spansOf(rows),
    times: () => timesOf(rows),
    nextCursor: read.from > (after ?? 0) ? packCursor(binding, from, sandboxId) : null,
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

/** A line has the arrival time of the log part in which it begins. Times are rounded to the second, so that one entry can cover many lines. */
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
