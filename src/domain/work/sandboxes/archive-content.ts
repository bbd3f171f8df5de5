// The content of an archive: written once, read in ranges. Each block and the directory is compressed with Brotli, and is checked against
// its SHA-256 when it is read.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { badGateway } from '#foundation/problem.ts';
import { storage } from '#foundation/storage/storage.ts';
import type {
  ArchiveBlock,
  BlockHead,
  FragmentBlock,
  FragmentEntry,
  LogArchive,
  LogBlock,
  LogEntry,
} from './archive-model.ts';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
/** Level 5 of Brotli (the maximum is 11) is fast enough for background work, and compresses logs better than gzip's highest level. */
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64url');

type Place = Pick<LogArchive, 'contentKey' | 'sizeBytes' | 'directoryBytes' | 'directorySha256'>;

export interface NewBlock {
  head: BlockHead;
  entries: readonly (LogEntry | FragmentEntry)[];
}

/** The content of a new archive. */
export async function encodeArchive(blocks: readonly NewBlock[]) {
  const chunks: Buffer[] = [];
  const directory: ArchiveBlock[] = [];
  let offset = 0;
  for (const { head, entries } of blocks) {
    const raw = Buffer.from(JSON.stringify(entries));
    const packed = await compress(raw, options);
    chunks.push(packed);
    directory.push({ ...head, offset, length: packed.length, rawBytes: raw.length, sha256: digestOf(packed) });
    offset += packed.length;
  }
  const packed = await compress(Buffer.from(JSON.stringify(directory)), options);
  chunks.push(packed);
  return { chunks, directoryBytes: packed.length, directorySha256: digestOf(packed) };
}

/** Maximum compressed bytes that are read at once, unless a single block is longer. */
const maxReadBytes = 1024 * 1024;
/** Maximum decompressed bytes of a directory. */
const maxDirectoryBytes = 64 * 1024 * 1024;

async function readRange(contentKey: string, first: number, length: number): Promise<Buffer> {
  const content = await storage().read(contentKey, { first, last: first + length - 1 });
  if (!content) throw damaged(contentKey, 'is missing from the storage');
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const damaged = (contentKey: string, how: string) => badGateway(`The archive ${contentKey} of the logs ${how}.`);

/** @throws 502 when the bytes are not those that were written */
async function unpack(
  contentKey: string,
  at: number,
  packed: Buffer,
  sha256: string,
  maxBytes: number,
): Promise<unknown> {
  if (digestOf(packed) !== sha256) {
    throw damaged(
      contentKey,
      `was altered in the storage: bytes ${at} to ${at + packed.length} do not match their checksum`,
    );
  }
  return JSON.parse((await decompress(packed, { maxOutputLength: maxBytes })).toString());
}

/** Cache of the most recently read directories, by the key of their content, which never changes. */
const directories = new Map<string, ArchiveBlock[]>();
const maxDirectories = 50;
/** Larger directories are not cached. */
const maxKeptBlocks = 2_000;

/** The blocks of an archive in their order. @throws 502, 503 */
export async function readDirectory({
  contentKey,
  sizeBytes,
  directoryBytes,
  directorySha256,
}: Place): Promise<ArchiveBlock[]> {
  const kept = directories.get(contentKey);
  if (kept) return kept;
  const at = sizeBytes - directoryBytes;
  const packed = await readRange(contentKey, at, directoryBytes);
  const blocks = (await unpack(contentKey, at, packed, directorySha256, maxDirectoryBytes)) as ArchiveBlock[];
  if (blocks.length > maxKeptBlocks) return blocks;
  if (directories.size >= maxDirectories) directories.delete(directories.keys().next().value!);
  directories.set(contentKey, blocks);
  return blocks;
}

export interface ReadBlock<B> {
  block: B;
  entries: B extends FragmentBlock ? FragmentEntry[] : LogEntry[];
}

/** Reads blocks of one archive in their order; adjacent ones in one request. @throws 502, 503 */
export async function* readBlocks<B extends LogBlock | FragmentBlock>(
  { contentKey }: Pick<LogArchive, 'contentKey'>,
  blocks: readonly B[],
): AsyncGenerator<ReadBlock<B>> {
  for (let i = 0; i < blocks.length; ) {
    const group = adjacentFrom(blocks, i);
    const [first, last] = [group[0]!, group.at(-1)!];
    const bytes = await readRange(contentKey, first.offset, last.offset + last.length - first.offset);
    for (const block of group) {
      const packed = bytes.subarray(block.offset - first.offset, block.offset - first.offset + block.length);
      const entries = await unpack(contentKey, block.offset, packed, block.sha256, block.rawBytes);
      yield { block, entries: entries as ReadBlock<B>['entries'] };
    }
    i += group.length;
  }
}

function adjacentFrom<B extends ArchiveBlock>(blocks: readonly B[], from: number): B[] {
  const group = [blocks[from]!];
  for (const block of blocks.slice(from + 1)) {
    const last = group.at(-1)!;
    if (block.offset !== last.offset + last.length) break;
    if (block.offset + block.length - group[0]!.offset > maxReadBytes) break;
    group.push(block);
  }
  return group;
}
