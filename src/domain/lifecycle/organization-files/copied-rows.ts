// Counts, hashes and changes rows in the text format of COPY.
import { createHash, type Hash } from 'node:crypto';

export interface RowCount {
  rows: number;
  bytes: number;
  sha256: string;
}

const lineFeed = 0x0a;

/** Passes chunks through, and counts their rows and bytes. */
export function openCount() {
  const sha256 = createHash('sha256');
  let [rows, bytes] = [0, 0];
  return {
    async *through(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) rows++;
        bytes += chunk.length;
        sha256.update(chunk);
        yield chunk;
      }
    },
    result: (): RowCount => ({ rows, bytes, sha256: sha256.digest('hex') }),
  };
}

/** A null field. */
export const nullField = '\\N';
/** Changes the fields of a row. */
export type ChangeFields = (fields: string[]) => void;

/** Changes every row. Rows end with a line feed; line feeds within values are escaped. */
export async function* changeRows(chunks: AsyncIterable<Buffer>, change: ChangeFields): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (end === 0) {
      held.push(chunk);
      continue;
    }
    yield changed(Buffer.concat([...held, chunk.subarray(0, end)]), change);
    held = end < chunk.length ? [chunk.subarray(end)] : [];
  }
  if (held.length > 0) throw new Error('rows are incomplete');
}

function changed(lines: Buffer, change: ChangeFields): Buffer {
  const rows = lines.toString('utf8').split('\n').slice(0, -1);
  const texts = rows.map((row) => {
    const fields = row.split('\t');
    change(fields);
    return `${fields.join('\t')}\n`;
  });
  return Buffer.from(texts.join(''));
}

/** Joins the input into chunks of at least `size` bytes, except for the last one. */
export async function* pieces(chunks: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < size) continue;
    yield Buffer.concat(held, bytes);
    [held, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(held, bytes);
}

/** Passes chunks through, and adds them to a hash. */
export async function* hashing(chunks: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}
