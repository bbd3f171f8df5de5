// Changes an organization file as a person who knows its key could: the hashes, the row counts and the authentication code remain valid.
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { openCount } from '#domain/lifecycle/organization-files/copied-rows.ts';
import { pieceName, readAll } from '#domain/lifecycle/organization-files/entries.ts';
import {
  type Header,
  headerName,
  type Manifest,
  manifestName,
  manifestText,
  tableFolder,
} from '#domain/lifecycle/organization-files/format.ts';
import { endOfArchive, readArchive, writeEntry } from '#foundation/archive/tar.ts';

async function* once(...chunks: Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

interface Changes {
  header?: (header: Header) => void;
  /** New rows of tables, computed from the current rows. */
  tables?: Readonly<Record<string, (rows: string) => string>>;
  manifest?: (manifest: Manifest) => void;
}

/** @param key The key of the file, which was not derived from a passphrase */
export async function craftFile(file: Buffer, key: Buffer, { header: edit, tables = {}, manifest: amend }: Changes) {
  const out: Buffer[] = [];
  const emit = async (name: string, content: Buffer) => {
    for await (const chunk of writeEntry(name, content.length, [content])) out.push(chunk);
  };
  let header: Header;
  let headerHash = '';
  const rows: Record<string, string> = {};
  const counts: Manifest['tables'] = {};
  const write = async (table: string) => {
    const text = Buffer.from(tables[table]?.(rows[table] ?? '') ?? rows[table] ?? '');
    const count = openCount();
    for await (const piece of count.through(once(...(text.length > 0 ? [text] : []))))
      await emit(pieceName(table, 1), gzipSync(piece));
    counts[table] = count.result();
  };
  for await (const { name, content } of readArchive(once(file))) {
    const bytes = await readAll(content);
    if (name === headerName) {
      header = JSON.parse(bytes.toString());
      edit?.(header);
      const text = Buffer.from(`${JSON.stringify(header)}\n`);
      headerHash = createHash('sha256').update(text).digest('hex');
      await emit(name, text);
    } else if (name.startsWith(tableFolder)) {
      const table = name.split('/')[1]!;
      rows[table] = (rows[table] ?? '') + gunzipSync(bytes).toString();
    } else if (name === manifestName) {
      for (const { name: table } of header!.tables) await write(table);
      const manifest = JSON.parse(bytes.toString().split('\n')[0]!) as Manifest;
      Object.assign(manifest, { header: headerHash, tables: counts });
      amend?.(manifest);
      await emit(name, Buffer.from(manifestText(manifest, key)));
    } else await emit(name, bytes);
  }
  return Buffer.concat([...out, endOfArchive()]);
}
