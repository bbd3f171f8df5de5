// When the details of a run are deleted, the rows of its calls are deleted too. If an attestation counts these calls, this module first
// compresses them into one row for the run, from which they can still be read.
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { selectionOf } from '#foundation/postgres/reads.ts';
import { RunCall } from './model.ts';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const readSql = `${selectionOf(RunCall)} where org_id = $1 and run_id = $2 order by number`;
const insertSql = `insert into run_call_archives (org_id, run_id, project_id, content) values ($1, $2, $3, $4)`;
const deleteSql = 'delete from run_calls where org_id = $1 and run_id = any($2)';

/** Compresses the calls of attested runs, and deletes those of the other runs. */
export async function archiveCalls(
  trx: Transaction,
  orgId: string,
  runIds: readonly string[],
  attested: readonly string[],
): Promise<void> {
  for (const runId of attested) {
    const calls = await sql<RunCall>(readSql, [orgId, runId], trx);
    if (calls.length === 0) continue;
    const content = await compress(JSON.stringify(calls.map(({ kind, entry }) => [kind, entry])), options);
    await sql(insertSql, [orgId, runId, calls[0]!.projectId, content], trx);
  }
  await sql(deleteSql, [orgId, runIds], trx);
}

type Archived = Pick<RunCall, 'orgId' | 'runId' | 'projectId'> & { content: Buffer };

async function callsIn({ content, ...of }: Archived): Promise<RunCall[]> {
  const calls = JSON.parse((await decompress(content)).toString()) as [RunCall['kind'], string][];
  return calls.map(([kind, entry], i) => ({ ...of, number: i + 1, kind, entry }) as RunCall);
}

const columns = 'org_id, run_id, project_id, content';
const ofRunSql = `select ${columns} from run_call_archives where org_id = $1 and run_id = $2`;

/** The archived calls of a run, in order. */
export async function archivedCallsOf(orgId: string, runId: string): Promise<RunCall[]> {
  const [archived] = await sql<Archived>(ofRunSql, [orgId, runId]);
  return archived ? callsIn(archived) : [];
}

const pageSql = `select ${columns} from run_call_archives where org_id = $1 and run_id > $2 order by run_id limit 20`;

/**
 * The archived calls of an organization, for the export of the organization. Each call is JSON with the same fields as the database row that the call
 * had before it was archived.
 */
export async function* archivedCalls(trx: Transaction, orgId: string): AsyncGenerator<string> {
  for (let last = ''; ; ) {
    const page = await sql<Archived>(pageSql, [orgId, last], trx);
    for (const archived of page) for (const call of await callsIn(archived)) yield JSON.stringify(call);
    if (page.length === 0) return;
    last = page.at(-1)!.runId;
  }
}
