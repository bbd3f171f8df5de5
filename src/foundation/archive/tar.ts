// Tar archives (POSIX ustar) as streams: entries of known size, one after the other. Reading is strict: each byte of an archive is either
// content of an entry or exactly what `writeEntry` writes, so that no changed byte goes unnoticed.
import { ByteReader } from './byte-reader.ts';

const blockBytes = 512;
const end = Buffer.alloc(2 * blockBytes);

/** The library for archives, loaded at the first archive. */
const tar = () => import('tar');

export class ArchiveError extends Error {}

/** The header for a name and a size. Owner, time and mode do not vary. */
async function headerOf(path: string, size: number): Promise<Buffer> {
  const { Header } = await tar();
  const block = Buffer.alloc(blockBytes);
  const fields = { path, size, type: 'File' as const, mode: 0o600, uid: 0, gid: 0, mtime: new Date(0) };
  if (new Header(fields).encode(block)) throw new Error(`${path} with ${size} bytes does not fit into a tar header`);
  return block;
}

const paddingOf = (size: number): Buffer => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);

/** The bytes of one entry. @throws when the content has another size */
export async function* writeEntry(
  name: string,
  size: number,
  content: AsyncIterable<Buffer> | readonly Buffer[],
): AsyncGenerator<Buffer> {
  yield await headerOf(name, size);
  let written = 0;
  for await (const chunk of content) {
    written += chunk.length;
    if (written > size) break;
    yield chunk;
  }
  if (written !== size) throw new Error(`the size of ${name} differs from the announced ${size} bytes`);
  yield paddingOf(size);
}

/** The last bytes of an archive. */
export const endOfArchive = (): Buffer => end;

export interface ArchiveEntry {
  name: string;
  size: number;
  /** Must be read completely before the next entry. */
  content: AsyncIterable<Buffer>;
}

/**
 * The entries of an archive in their order.
 * @throws ArchiveError for an archive that is truncated or was not written by `writeEntry`
 */
export async function* readArchive(source: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveEntry> {
  const reader = new ByteReader(source, () => new ArchiveError('the file is truncated'));
  const { Header } = await tar();
  for (;;) {
    const block = await reader.read(blockBytes);
    if (block.equals(end.subarray(0, blockBytes))) break;
    const { path, size } = new Header(block, 0);
    if (path === undefined || size === undefined || !(await headerOf(path, size)).equals(block))
      throw new ArchiveError('the file is damaged: the header of an entry is invalid');
    const before = reader.position;
    yield { name: path, size, content: reader.stream(size) };
    if (reader.position !== before + size) throw new Error(`${path} was not read completely`);
    const padding = paddingOf(size);
    if (!(await reader.read(padding.length)).equals(padding))
      throw new ArchiveError(`the file is damaged after ${path}`);
  }
  if (!(await reader.read(blockBytes)).equals(end.subarray(0, blockBytes)) || !(await reader.isAtEnd()))
    throw new ArchiveError('the file is damaged: it continues after its end mark');
}
