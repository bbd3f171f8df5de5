// All archived rows of an organization, for its export, as JSON of their former database rows.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { selectionOf, snake } from '#foundation/postgres/reads.ts';
import { type ArchiveBlock, type FragmentBlock, isOfFragments, LogArchive, type LogBlock } from './archive-model.ts';
import { findBlocks, fragmentsIn, readStored } from './archives.ts';
import { SandboxFragment, SandboxLogPart } from './model.ts';

const pageSql = `${selectionOf(LogArchive)} where org_id = $1 and (run_id, number) > ($2, $3) order by run_id, number limit 100`;

async function* blocksOfOrganization<B extends LogBlock | FragmentBlock>(
  trx: Transaction,
  orgId: string,
  is: (block: ArchiveBlock) => block is B,
) {
  let [runId, number] = ['', -1];
  for (;;) {
    const page = await sql<LogArchive>(pageSql, [orgId, runId, number], trx);
    for (const archive of page) yield* readStored(await findBlocks([archive], is));
    const last = page.at(-1);
    if (!last) return;
    [runId, number] = [last.runId, last.number];
  }
}

/** A row as `row_to_json` writes it. */
const textOf = ({ columns }: { columns: readonly string[] }, row: object): string =>
  JSON.stringify(Object.fromEntries(columns.map((name) => [snake(name), (row as Record<string, unknown>)[name]])));

/** Rows of logs, as JSON. */
export async function* archivedLogParts(trx: Transaction, orgId: string): AsyncGenerator<string> {
  const isLog = (block: ArchiveBlock): block is LogBlock => !isOfFragments(block);
  for await (const { block, entries } of blocksOfOrganization(trx, orgId, isLog)) {
    const { sandboxId, role, sessionId, part } = block;
    for (const entry of entries) {
      const bytes = Buffer.byteLength(entry.content);
      yield textOf(SandboxLogPart, { sandboxId, role, sessionId, part, ...entry, bytes });
    }
  }
}

/** Rows of fragments, as JSON. */
export async function* archivedFragments(trx: Transaction, orgId: string): AsyncGenerator<string> {
  for await (const { block, entries } of blocksOfOrganization(trx, orgId, isOfFragments))
    for (const row of fragmentsIn(block, entries)) yield textOf(SandboxFragment, row);
}
