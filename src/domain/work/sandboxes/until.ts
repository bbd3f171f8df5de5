// The transcript and the logs of a run as they were at a moment.
import { sql } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { SandboxFragment } from './model.ts';

const fragmentsSql = `select ${columnsOf(SandboxFragment, 'f')} from sandbox_fragments f join sandboxes s on s.id = f.sandbox_id
  where s.run_id = $1 and f.at <= $2 and ($4::text[] is null or f.kind = any($4)) order by f.at desc, f.sandbox_id desc, f.seq desc limit $3`;

/** The newest fragments of the run's agents up to `at`, oldest first. @param kinds Limits the kinds of fragments; absent means all */
export const fragmentsUntil = async (
  runId: string,
  at: number,
  limit: number,
  kinds: readonly SandboxFragment['kind'][] | null = null,
): Promise<SandboxFragment[]> => (await sql<SandboxFragment>(fragmentsSql, [runId, at, limit, kinds])).reverse();

// Log pieces without an arrival time were stored by an earlier release and count as older than any moment.
const logSql = `select p.content from sandbox_log_parts p join sandboxes s on s.id = p.sandbox_id
  where s.run_id = $1 and p.part = 'session' and coalesce(p.appended_at, 0) <= $2
  order by coalesce(p.appended_at, 0) desc, p.sandbox_id desc, p.seq desc limit 200`;

/** The end of the output of the run's programs up to `at`. */
export async function logUntil(runId: string, at: number, characters: number): Promise<string> {
  const pieces = await sql<{ content: string }>(logSql, [runId, at]);
  return pieces
    .reverse()
    .map(({ content }) => content)
    .join('')
    .slice(-characters)
    .toWellFormed();
}
