// The transcript and the logs of a run as they were at an earlier moment.
import { sql } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import {
  type ArchiveBlock,
  type FragmentBlock,
  isOfFragments,
  type LogArchive,
  type LogBlock,
} from './archive-model.ts';
import { archivesOfRun, findBlocks, fragmentsIn, readStored } from './archives.ts';
import { SandboxFragment } from './model.ts';

interface RunKey {
  id: string;
  orgId: string;
}

/** An entry with its time, and its position among those of the same time. */
interface Dated {
  sandboxId: string;
  seq: number;
  time: number;
}

const newestFirst = (a: Dated, b: Dated): number =>
  b.time - a.time || (a.sandboxId === b.sandboxId ? b.seq - a.seq : a.sandboxId < b.sandboxId ? 1 : -1);

/**
 * The newest entries up to a given time, from `rows` of the database and from `archives`. The rows must have been read before the archives
 * were looked up, so that no entry is missed. Blocks are read from the latest to the earliest, as long as they may contain one of the
 * newest entries.
 */
async function newest<B extends LogBlock | FragmentBlock, T extends Dated>(
  rows: readonly T[],
  archives: readonly LogArchive[],
  {
    is,
    entriesOf,
    at,
    limit,
  }: {
    is: (block: ArchiveBlock) => block is B;
    entriesOf: (block: B, entries: never[]) => T[];
    at: number;
    limit: number;
  },
): Promise<T[]> {
  const blocks = (await findBlocks(archives, is)).filter(({ block }) => block.from <= at);
  blocks.sort((a, b) => b.block.until - a.block.until);
  let found = [...rows];
  for (const stored of blocks) {
    if (found.length >= limit && found[limit - 1]!.time > stored.block.until) break;
    for await (const { block, entries } of readStored([stored])) {
      const known = new Set(found.map(({ sandboxId, seq }) => `${sandboxId} ${seq}`));
      const added = entriesOf(block as B, entries as never[]).filter(
        ({ sandboxId, seq, time }) => time <= at && !known.has(`${sandboxId} ${seq}`),
      );
      found = [...found, ...added].sort(newestFirst).slice(0, limit);
    }
  }
  return found;
}

const fragmentsSql = `select ${columnsOf(SandboxFragment, 'f')} from sandbox_fragments f join sandboxes s on s.id = f.sandbox_id
  where s.run_id = $1 and f.at <= $2 and ($4::text[] is null or f.kind = any($4)) order by f.at desc, f.sandbox_id desc, f.seq desc limit $3`;

/** The newest fragments of the run's agents up to `at`, oldest first. @param kinds Limits the kinds of fragments; absent means all */
export async function fragmentsUntil(
  { id, orgId }: RunKey,
  at: number,
  limit: number,
  kinds: readonly SandboxFragment['kind'][] | null = null,
): Promise<SandboxFragment[]> {
  const rows = await sql<SandboxFragment>(fragmentsSql, [id, at, limit, kinds]);
  const isWanted = (kind: SandboxFragment['kind']) => kinds === null || kinds.includes(kind);
  const dated = (fragment: SandboxFragment) => ({ ...fragment, time: fragment.at });
  const found = await newest(rows.map(dated), await archivesOfRun(orgId, id), {
    is: (block): block is FragmentBlock => isOfFragments(block) && block.kinds.some(isWanted),
    entriesOf: (block, entries) =>
      fragmentsIn(block, entries)
        .filter(({ kind }) => isWanted(kind))
        .map(dated),
    at,
    limit,
  });
  return found.reverse().map(({ time: _, ...fragment }) => fragment as SandboxFragment);
}

/** Maximum number of log pieces that are read and joined. */
const maxPieces = 200;

// Log pieces without an arrival time were stored by an earlier release and count as older than any moment.
const logSql = `select p.sandbox_id || ' ' || p.role || ' ' || p.session_id as sandbox_id, p.seq, p.content, coalesce(p.appended_at, 0) as time
  from sandbox_log_parts p join sandboxes s on s.id = p.sandbox_id
  where s.run_id = $1 and p.part = 'session' and coalesce(p.appended_at, 0) <= $2
  order by coalesce(p.appended_at, 0) desc, p.sandbox_id desc, p.seq desc limit ${maxPieces}`;

/** Returns the end of the output that the programs of the run had written up to the time `at`: at most `characters` characters. */
export async function logUntil({ id, orgId }: RunKey, at: number, characters: number): Promise<string> {
  const rows = await sql<Dated & { content: string }>(logSql, [id, at]);
  const pieces = await newest(rows, await archivesOfRun(orgId, id), {
    is: (block): block is LogBlock => block.part === 'session',
    entriesOf: (
      { sandboxId, role, sessionId },
      entries: { seq: number; content: string; appendedAt: number | null }[],
    ) =>
      entries.map(({ seq, content, appendedAt }) => ({
        ...{ sandboxId: `${sandboxId} ${role} ${sessionId}`, seq, content, time: appendedAt ?? 0 },
      })),
    at,
    limit: maxPieces,
  });
  return pieces
    .reverse()
    .map(({ content }) => content)
    .join('')
    .slice(-characters)
    .toWellFormed();
}
