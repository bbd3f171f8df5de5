// Writes an organization with all of its data into one file. The file is streamed, so that no table or content is ever in memory as a
// whole.
import { createHash, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { endOfArchive, writeEntry } from '#foundation/archive/tar.ts';
import { now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import type { Id } from '#foundation/ids.ts';
import { copyOut, sendUnhurried, streamingTransaction } from '#foundation/postgres/copy.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { migrationStatus } from '#foundation/postgres/migrations.ts';
import { notFound } from '#foundation/problem.ts';
import { sealWith } from '#foundation/secrets/secrets.ts';
import { storage } from '#foundation/storage/storage.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { LogArchive } from '../../work/sandboxes/archive-model.ts';
import { numberChanges } from '../audit/numbers.ts';
import { growTree } from '../audit/tree/growth.ts';
import { installationKeys } from '../audit/tree/keys.ts';
import { addressesInFile } from './addresses.ts';
import { changeRows, hashing, openCount, pieces } from './copied-rows.ts';
import { pieceName } from './entries.ts';
import { createFileKey } from './file-key.ts';
import {
  contentFolder,
  format,
  type Header,
  headerName,
  type Manifest,
  manifestName,
  manifestText,
  pieceBytes,
} from './format.ts';
import { fieldsSealedBy, sealForFile } from './sealed-columns.ts';
import { type PackedTable, packedTables, rowsOf } from './tables.ts';

const compress = promisify(gzip);

export interface Packed {
  header: Header;
  manifest: Manifest;
}

interface Packing {
  trx: Transaction;
  orgId: Id<'organization'>;
  key: Buffer;
  tables: readonly PackedTable[];
}

type Emit = (chunk: Buffer) => Promise<void>;

/**
 * Writes the file of an organization, from one snapshot of the database that locks no rows. @param secret A passphrase of at least 12
 * characters, or 32 bytes in base64 @param write Writes a chunk; resolves when the chunk was accepted
 */
export async function packOrganization(orgId: Id<'organization'>, secret: string, write: Emit): Promise<Packed> {
  const id = randomBytes(16).toString('hex');
  const { key, header: keyHeader } = await createFileKey(id, secret);
  // Changes are numbered before the snapshot, so that the log in the file lacks only changes of requests that are still running.
  await numberChanges(orgId);
  await growTree(orgId);
  return streamingTransaction('isolation level repeatable read, read only', async (trx) => {
    const packing = { trx, orgId, key, tables: await packedTables(trx) };
    const header = await headerOf(packing, { id, key: keyHeader });
    const headerText = Buffer.from(`${JSON.stringify(header)}\n`);
    await emitEntry(write, headerName, [headerText]);
    const contents = await packContents(packing, write);
    const tables: Manifest['tables'] = {};
    for (const table of packing.tables) tables[table.name] = await packTable(packing, table, write);
    const manifest = { id, header: createHash('sha256').update(headerText).digest('hex'), tables, contents };
    await emitEntry(write, manifestName, [Buffer.from(manifestText(manifest, key))]);
    await write(endOfArchive());
    return { header, manifest };
  });
}

async function emitEntry(write: Emit, name: string, content: readonly Buffer[]): Promise<void> {
  const size = content.reduce((sum, { length }) => sum + length, 0);
  for await (const chunk of writeEntry(name, size, content)) await write(chunk);
}

async function headerOf(
  { trx, orgId, key, tables }: Packing,
  { id, key: keyHeader }: Pick<Header, 'id' | 'key'>,
): Promise<Header> {
  const organization = await Organization.find({ id: orgId }, trx);
  if (!organization) throw notFound('organization');
  const { slug, name, closedAt } = organization;
  const { applied } = await migrationStatus(trx);
  return {
    ...{ format, id, organization: { id: orgId, slug, name }, from: addresses().issuer },
    ...{ schema: applied.at(-1)!, createdAt: now(), closedAt, key: keyHeader },
    tables: tables.map(({ name, columns }) => ({ name, columns })),
    auditKeys: (await installationKeys()).map(({ id, algorithm, publicKey, createdAt }) => ({
      ...{ id, algorithm, publicKey, createdAt },
    })),
    addresses: sealWith(key, 'addresses', JSON.stringify(await addressesInFile(trx, orgId, tables))),
  };
}

async function packTable({ trx, orgId, key, tables }: Packing, table: PackedTable, write: Emit) {
  const count = openCount();
  const rows = copyOut(trx, rowsOf(table, orgId, tables));
  const reseal = fieldsSealedBy(table, (purpose, sealed) => sealForFile(key, purpose, sealed));
  let number = 0;
  for await (const piece of pieces(count.through(reseal ? changeRows(rows, reseal) : rows), pieceBytes)) {
    await emitEntry(write, pieceName(table.name, ++number), [await compress(piece)]);
  }
  return count.result();
}

const batch = 500;

async function packContents({ trx, orgId, tables }: Packing, write: Emit): Promise<Manifest['contents']> {
  const stored = tables.find(({ name }) => name === 'stored_contents')!;
  const sha256 = createHash('sha256');
  const result = { files: 0, bytes: 0, missing: [] as string[] };
  const archives = tables.find(({ name }) => name === LogArchive.tableName)!;
  const query = [
    rowsOf({ ...stored, columns: ['key', 'size_bytes'] }, orgId, tables),
    rowsOf({ ...archives, columns: ['content_key', 'size_bytes'] }, orgId, tables),
  ].join(' union all ');
  await sendUnhurried(trx, `declare contents no scroll cursor for ${query} order by key`);
  for (;;) {
    const found = await sendUnhurried<{ key: string; size_bytes: number }>(trx, `fetch ${batch} from contents`);
    for (const { key, size_bytes: size } of found) {
      const content = await storage().read(key);
      // The content was lost in the storage, or removed since the snapshot.
      if (!content) {
        result.missing.push(key);
        continue;
      }
      sha256.update(`${key} ${size}\n`);
      for await (const chunk of writeEntry(contentFolder + key, size, hashing(content, sha256))) await write(chunk);
      result.files++;
      result.bytes += size;
    }
    if (found.length < batch) break;
  }
  await sendUnhurried(trx, 'close contents');
  return { ...result, sha256: sha256.digest('hex') };
}
