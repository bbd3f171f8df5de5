// The data of an organization as a zip archive of JSON lines: a file per table, the audit log as `aep audit verify` reads it, and finally
// `manifest.json` with the count and SHA-256 of each file. The archive is streamed into the storage, so that neither it nor a table is ever
// in memory as a whole.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { isoTime, now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { storage } from '#foundation/storage/storage.ts';
import { numberChanges } from '../audit/numbers.ts';
import { growTree } from '../audit/tree/growth.ts';
import { linesOfLog } from '../audit/tree/lines.ts';
import { type ExportTable, exportTables } from './export-tables.ts';

/** Maximum size of an archive; a larger one fails. */
const maxBytes = 1024 ** 4;
/** Maximum number of rows that are in memory at once. */
const batch = 500;

interface FileEntry {
  file: string;
  records: number;
  /** Hexadecimal SHA-256 of the uncompressed file. */
  sha256: string;
}

/**
 * Writes the archive of the organization to the storage under `contentKey`, and returns its size in bytes. Reads one snapshot of the
 * database, and locks no rows.
 */
export async function writeArchive(contentKey: string, orgId: Id<'organization'>): Promise<number> {
  // All changes first get their numbers in the audit log, so that the Merkle tree in the archive contains every event that the closing of
  // the organization has caused.
  await numberChanges(orgId);
  await growTree(orgId);
  return transaction(async (trx) => {
    await trx.raw('set transaction isolation level repeatable read, read only');
    const zip = new ZipFile();
    const output = zip.outputStream as Readable;
    const failed = new AbortController();
    // A failure stops both the writing and the reading: the storage gets the error through the stream, and the signal stops the reading of
    // rows.
    output.on('error', () => {});
    const destroy = (error: Error) => void output.destroy(error);
    (zip as unknown as NodeJS.EventEmitter).on('error', destroy);
    const filled = fill(trx, zip, orgId, failed.signal).catch(destroy);
    const written = storage().write(contentKey, output, maxBytes);
    const size = written.catch((error: unknown) => failed.abort(error));
    await filled;
    const bytes = await size;
    failed.signal.throwIfAborted();
    return bytes as number;
  });
}

async function fill(trx: Transaction, zip: ZipFile, orgId: Id<'organization'>, signal: AbortSignal): Promise<void> {
  const files: FileEntry[] = [];
  for (const table of exportTables) files.push(await addFile(zip, table.name, rowsOf(trx, table, orgId), signal));
  files.push(await addFile(zip, 'audit-log', linesOfLog(trx, orgId), signal));
  const manifest = { format: 1, organization: orgId, createdAt: isoTime(now()), files };
  zip.addBuffer(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`), 'manifest.json');
  zip.end();
}

/** Resolves when the archive has accepted the last row; only then is the next table read. */
async function addFile(
  zip: ZipFile,
  name: string,
  texts: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<FileEntry> {
  const entry = { file: `${name}.jsonl`, records: 0, sha256: '' };
  const hash = createHash('sha256');
  async function* lines(): AsyncGenerator<string> {
    for await (const text of texts) {
      const line = `${text}\n`;
      hash.update(line);
      entry.records++;
      yield line;
    }
  }
  const rows = Readable.from(lines(), { objectMode: false });
  zip.addReadStream(rows, entry.file);
  try {
    await once(rows, 'end', { signal });
  } finally {
    rows.destroy();
  }
  return { ...entry, sha256: hash.digest('hex') };
}

async function* rowsOf(trx: Transaction, { query, map, more }: ExportTable, orgId: string): AsyncGenerator<string> {
  await trx.raw(`declare exported no scroll cursor for ${query}`, [orgId]);
  for (;;) {
    const { rows } = await trx.raw(`fetch ${batch} from exported`);
    const texts = rows.map(({ row }: { row: string }) => row);
    yield* map ? await map(trx, orgId, texts) : texts;
    if (rows.length < batch) break;
  }
  await trx.raw('close exported');
  if (more) yield* more(trx, orgId);
}
