// Reads the archives of runs: the archived entries of one log, or the archived fragments of a sandbox. The archives contain the entries with the
// lowest numbers, and the database contains all later entries.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { columnsOf, selectionOf } from '#foundation/postgres/reads.ts';
import { readBlocks, readDirectory } from './archive-content.ts';
import {
  type FragmentBlock,
  isOfFragments,
  isOfLog,
  LogArchive,
  type LogBlock,
  type LogEntry,
  type LogName,
} from './archive-model.ts';
import type { Sandbox, SandboxFragment } from './model.ts';

const ofRunSql = `${selectionOf(LogArchive)} where org_id = $1 and run_id = $2 order by number`;
const ofSandboxesSql = `select distinct ${columnsOf(LogArchive, 'a')} from sandboxes s
  join log_archives a on a.org_id = s.org_id and a.run_id = s.run_id
  where s.id = any($1) and s.status <> 'running' order by run_id, number`;

export const archivesOfRun = (orgId: string, runId: string): Promise<LogArchive[]> =>
  sql<LogArchive>(ofRunSql, [orgId, runId]);

const lastSql = 'select max(number) as last from log_archives where org_id = $1 and run_id = $2';

/** The number of the next archive of a run. */
export async function nextArchiveNumber(
  trx: Transaction,
  { orgId, id }: { orgId: string; id: string },
): Promise<number> {
  const [found] = await sql<{ last: number | null }>(lastSql, [orgId, id], trx);
  return (found?.last ?? -1) + 1;
}

/** The contents of the archives of an organization. */
export const archiveContentsOf = async (trx: Transaction, orgId: string): Promise<string[]> =>
  (await sql<{ key: string }>('select content_key as key from log_archives where org_id = $1', [orgId], trx)).map(
    ({ key }) => key,
  );

/** SQL query for the last archive of the run that ended last. */
export const lastArchiveSql = `${selectionOf(LogArchive)} order by ended_at desc, run_id desc, number desc limit 1`;

/** Deletes the record of an archive; a sweep removes the content later. Returns false when the record no longer exists. */
export const deleteArchive = async (trx: Transaction, { orgId, runId, number }: LogArchive): Promise<boolean> =>
  (await LogArchive.query(trx).delete().where({ orgId, runId, number })) > 0;

/** A block and the archive that contains it. */
export interface Stored<B> {
  archive: LogArchive;
  block: B;
}

/** The blocks for which `is` returns true, in the order of the archives. @throws 502, 503 */
export async function findBlocks<B extends LogBlock | FragmentBlock>(
  archives: readonly LogArchive[],
  is: (block: LogBlock | FragmentBlock) => block is B,
): Promise<Stored<B>[]> {
  const found: Stored<B>[] = [];
  for (const archive of archives)
    for (const block of await readDirectory(archive)) if (is(block)) found.push({ archive, block });
  return found;
}

/** Reads the blocks in the given order. @throws 502, 503 */
export async function* readStored<B extends LogBlock | FragmentBlock>(stored: readonly Stored<B>[]) {
  for (let i = 0; i < stored.length; ) {
    const { archive } = stored[i]!;
    const others = stored.slice(i).findIndex((one) => one.archive.contentKey !== archive.contentKey);
    const end = others < 0 ? stored.length : i + others;
    yield* readBlocks(
      archive,
      stored.slice(i, end).map(({ block }) => block),
    );
    i = end;
  }
}

/** A block of a log, with the position of its text in the log. */
export interface LogSection extends Stored<LogBlock> {
  begin: number;
}

export interface ArchivedLog {
  sections: LogSection[];
  bytes: number;
  /** Number of the first entry that is in the database. */
  next: number;
}

/** The part of a log that the archives contain. */
export async function archivedLog(
  archives: readonly LogArchive[],
  sandboxId: string,
  name: LogName,
): Promise<ArchivedLog> {
  const log: ArchivedLog = { sections: [], bytes: 0, next: 0 };
  for (const stored of await findBlocks(archives, isOfLog(sandboxId, name))) {
    const { seq, count, bytes } = stored.block;
    log.sections.push({ ...stored, begin: log.bytes });
    log.bytes += bytes;
    log.next = seq + count;
  }
  return log;
}

/** Entries of a log with the offsets of their texts. */
export async function readSections(sections: readonly LogSection[]): Promise<(LogEntry & { begin: number })[]> {
  const found: (LogEntry & { begin: number })[] = [];
  let [i, begin] = [0, 0];
  for await (const { entries } of readStored(sections)) {
    begin = sections[i++]!.begin;
    for (const entry of entries) {
      found.push({ ...entry, begin });
      begin += Buffer.byteLength(entry.content);
    }
  }
  return found;
}

/** Archived fragments of one sandbox: all below the number `next`. */
export interface ArchivedFragments {
  next: number;
  /** Number of the last plan, -1 without one. */
  lastPlan: number;
  /** The fragments from one number up to, but not including, another. */
  read(from: number, before: number): Promise<SandboxFragment[]>;
}

const none: ArchivedFragments = { next: 0, lastPlan: -1, read: async () => [] };

/**
 * The archived fragments of ended sandboxes. The caller must have read the rows from the database before this call, so that a fragment that is moved
 * in the meantime is not missed. A row with a number below `next` repeats an archived fragment.
 */
export async function archivedFragmentsOf(
  sandboxIds: readonly string[],
): Promise<(sandboxId: string) => ArchivedFragments> {
  const archives = await sql<LogArchive>(ofSandboxesSql, [sandboxIds]);
  if (archives.length === 0) return () => none;
  const bySandbox = new Map<string, Stored<FragmentBlock>[]>(sandboxIds.map((id) => [id, []]));
  for (const stored of await findBlocks(archives, isOfFragments)) bySandbox.get(stored.block.sandboxId)?.push(stored);
  return (sandboxId) => {
    const blocks = bySandbox.get(sandboxId)!;
    const last = blocks.at(-1)?.block;
    return {
      next: last ? last.seq + last.count : 0,
      lastPlan: Math.max(-1, ...blocks.map(({ block }) => block.lastPlan)),
      async read(from, before) {
        const found: SandboxFragment[] = [];
        const overlapping = blocks.filter(({ block: { seq, count } }) => seq < before && seq + count > from);
        for await (const { block, entries } of readStored(overlapping)) found.push(...fragmentsIn(block, entries));
        return found.filter(({ seq }) => seq >= from && seq < before);
      },
    };
  };
}

export const fragmentsIn = (
  { sandboxId }: { sandboxId: Sandbox['id'] },
  entries: readonly Omit<SandboxFragment, 'sandboxId'>[],
): SandboxFragment[] => entries.map((entry) => ({ sandboxId, ...entry }) as SandboxFragment);
