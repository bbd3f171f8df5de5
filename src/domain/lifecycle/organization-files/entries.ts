// Reads the entries of a file one after the other; the next entry can be inspected before it is read.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { ArchiveEntry } from '#foundation/archive/tar.ts';
import { maxTextBytes, OrganizationFileError, tableFolder } from './format.ts';

const decompress = promisify(gunzip);
/** Maximum size of a piece of a table: the longest row of PostgreSQL. */
const maxPieceBytes = 1024 ** 3;

export interface EntryCursor {
  /** The next entry; null at the end. */
  peek(): Promise<ArchiveEntry | null>;
  /** Returns the next entry, whose content must be read before the next call. */
  take(): Promise<ArchiveEntry | null>;
}

export function openCursor(entries: AsyncGenerator<ArchiveEntry>): EntryCursor {
  let next: ArchiveEntry | null | undefined;
  const peek = async () => {
    if (next === undefined) {
      const { done, value } = await entries.next();
      next = done ? null : value;
    }
    return next;
  };
  return {
    peek,
    async take() {
      const entry = await peek();
      if (entry) next = undefined;
      return entry;
    },
  };
}

export async function readAll(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The whole content of the next entry, which must have this name. */
export async function readNamed(entries: EntryCursor, name: string): Promise<Buffer> {
  const entry = await entries.take();
  if (entry?.name !== name || entry.size > maxTextBytes)
    throw new OrganizationFileError(
      `the file is damaged or is not an organization file: ${name} is missing or in the wrong place`,
    );
  return readAll(entry.content);
}

/** The rows of a table, from the pieces that come next in the file. */
export async function* rowsIn(entries: EntryCursor, table: string): AsyncGenerator<Buffer> {
  const folder = `${tableFolder}${table}/`;
  for (let number = 1; (await entries.peek())?.name.startsWith(folder); number++) {
    const { name, size, content } = (await entries.take())!;
    if (name !== pieceName(table, number) || size > maxPieceBytes)
      throw new OrganizationFileError(`the file is damaged: ${name} is in the wrong place`);
    yield await decompress(await readAll(content), { maxOutputLength: maxPieceBytes });
  }
}

export const pieceName = (table: string, number: number): string =>
  `${tableFolder}${table}/${String(number).padStart(6, '0')}.gz`;
