// Moves archived logs back into the database, for a previous release that does not read archives.
import { sql, transaction } from '#foundation/postgres/database.ts';
import { readBlocks, readDirectory } from '../sandboxes/archive-content.ts';
import type { LogArchive } from '../sandboxes/archive-model.ts';
import { insertRows } from '../sandboxes/archive-rows.ts';
import { deleteArchive, lastArchiveSql } from '../sandboxes/archives.ts';

const requeueSql = 'insert into unarchived_runs (org_id, run_id, ended_at) values ($1, $2, $3) on conflict do nothing';

/**
 * Restores all archives, the newest runs first, each archive in its own transaction, so that a repeated call continues after an
 * interruption. Returns the number of restored archives. @throws 502 for a damaged archive
 */
export async function restoreLogs(): Promise<{ archives: number }> {
  for (let archives = 0; ; archives++) {
    // The archives of a run contain the earlier entries of a log, and the database contains the later entries. The last archive of the run
    // is restored first, so that this stays true while earlier archives remain.
    const [archive] = await sql<LogArchive>(lastArchiveSql);
    if (!archive) return { archives };
    const blocks = await readDirectory(archive);
    await transaction(async (trx) => {
      if (!(await deleteArchive(trx, archive))) return;
      for await (const { block, entries } of readBlocks(archive, blocks)) await insertRows(trx, block, entries);
      await sql(requeueSql, [archive.orgId, archive.runId, archive.endedAt], trx);
    });
  }
}
