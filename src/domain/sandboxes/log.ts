// Which part of which session's log, and how much of it: the end, when all of it is too much for one answer (specification,
// Sandbox: log response).
import type { Caller } from '#access/principal.ts';
import { sql } from '#foundation/database.ts';
import { find } from '#foundation/record.ts';
import { bytes as limits } from '#limits.ts';
import type { AgentRole } from '../agents/model.ts';
import { type LogPart, SandboxSession } from './model.ts';
import { findSandbox } from './operations.ts';

export interface LogQuestion {
  sandboxId: string;
  role: AgentRole;
  sessionId: string;
  part: LogPart;
}

export interface PromptSpan {
  id: string;
  content: string;
}

export interface SandboxLog extends LogQuestion {
  /** The end of the log, and no more than `limits.logContent` bytes. */
  content: string;
  /** Of the whole log. */
  bytes: number;
  /** Whose words the prompt shows; null in the other parts. */
  promptScope: 'repo-contributed' | null;
  promptSpans: PromptSpan[];
}

interface Piece {
  content: string;
  spanId: string | null;
  total: number;
}

// Lengths are read for all, contents only for those that are shown.
const pieces = `select content, span_id, total from (
    select seq, content, span_id, bytes, sum(bytes) over (order by seq desc) as upto, sum(bytes) over () as total
    from sandbox_log_parts where sandbox_id = $1 and role = $2 and session_id = $3 and part = $4) p
  where upto - bytes < $5 order by seq`;

/** 404 for a sandbox or a session that the caller can't reach; a part that nothing was written to is empty. */
export async function readLog(caller: Caller, question: LogQuestion): Promise<SandboxLog> {
  const { sandboxId, role, sessionId, part } = question;
  await findSandbox(caller, sandboxId);
  await find<SandboxSession>(SandboxSession, 'session', { sandboxId, role, sessionId });
  const read = await sql<Piece>(pieces, [sandboxId, role, sessionId, part, limits.logContent]);
  const bytes = read[0]?.total ?? 0;
  const [first, ...rest] = read;
  const room = limits.logContent - rest.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const shown = first ? [{ ...first, content: endOf(first.content, room) }, ...rest] : [];
  return {
    ...question,
    content: shown.map(({ content }) => content).join(''),
    bytes,
    promptScope: part === 'prompt' ? 'repo-contributed' : null,
    promptSpans: shown.flatMap(({ spanId, content }) => (spanId === null ? [] : [{ id: spanId, content }])),
  };
}

/** The last so many bytes of a text, without the half of a character. */
function endOf(text: string, room: number): string {
  const whole = Buffer.from(text);
  if (whole.length <= room) return text;
  let start = whole.length - room;
  // Bytes that go on a character have the form 10xxxxxx.
  while (start < whole.length && (whole[start]! & 0xc0) === 0x80) start++;
  return whole.toString('utf8', start);
}
