// The files of migrations: `-- why`, `-- up` and `-- down`; the suffix of the name selects how the up part is run (migrations.ts).
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageFolder } from '../package-folder.ts';

const fileName = /^\d{8}_\d{2}_[a-z0-9_-]+(?:\.(batches|concurrently))?\.sql$/;

export interface MigrationFile {
  name: string;
  text: string;
  digest: string;
  /** How the `-- up` part of the file is run; undefined means in a transaction together with the record of the migration. */
  way: 'batches' | 'concurrently' | undefined;
}

/** SQL text, and the number of its first line in the file. */
export interface Part {
  sql: string;
  line: number;
}

/** The folder of this program's migrations, whose files do not change while it runs. */
export const ownFolder = path.join(packageFolder, 'migrations');
let ownNames: string[] | undefined;

/**
 * The names of all files of a folder, oldest first. Names in the program's own folder are cached for readiness probes, which must work even
 * when no file can be opened.
 */
export async function namesOfMigrations(folder: string): Promise<string[]> {
  if (folder !== ownFolder) return readNames(folder);
  ownNames ??= await readNames(folder);
  return ownNames;
}

const readNames = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();

/** All files of a folder, oldest first. A file in another format is rejected before anything runs. */
export async function readMigrations(folder: string): Promise<MigrationFile[]> {
  const names = await namesOfMigrations(folder);
  return Promise.all(
    names.map(async (name) => {
      // A file with the line endings of Windows has the same digest.
      const text = (await readFile(path.join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
      const way = fileName.exec(name)?.[1] as MigrationFile['way'];
      const file = { name, text, digest: createHash('sha256').update(text).digest('hex'), way };
      const { up } = parts(file);
      if (way === 'concurrently') for (const part of statements(up)) indexOf(file, part);
      return file;
    }),
  );
}

/** The `-- up` and the `-- down` part of a file. */
export function parts({ name, text }: Pick<MigrationFile, 'name' | 'text'>): { up: Part; down: Part } {
  const lines = text.split('\n');
  const places = (mark: string) => lines.flatMap((line, i) => (line.trim() === mark ? [i] : []));
  const [[up = -1, ...moreUp], [down = -1, ...moreDown]] = [places('-- up'), places('-- down')];
  if (!fileName.test(name))
    throw new Error(`migration ${name}: its name must be <yyyymmdd>_<nn>_<words>.sql, so that names sort by age`);
  if (!/^-- \S/.test(lines[0] ?? '') || up < 1 || down < up || moreUp.length + moreDown.length > 0) {
    throw new Error(`migration ${name}: it must have a line "-- why", then one line "-- up", then one line "-- down"`);
  }
  return {
    up: { sql: lines.slice(up + 1, down).join('\n'), line: up + 2 },
    down: { sql: lines.slice(down + 1).join('\n'), line: down + 2 },
  };
}

/** Splits the SQL into statements; each ends with a semicolon at the end of a line. */
export function statements({ sql, line }: Part): Part[] {
  let next = line;
  return sql.split(/(?<=;)[ \t]*\n/).map((statement) => {
    const part = { sql: statement, line: next };
    next += statement.split('\n').length;
    return part;
  });
}

/** The index that a statement creates. A statement that could not be repeated after a kill is rejected. */
export function indexOf(file: MigrationFile, { sql, line }: Part): string | undefined {
  if (!/^\s*create\s+(unique\s+)?index\b/im.test(sql)) return undefined;
  const index = /\bindex\s+concurrently\s+if\s+not\s+exists\s+(\w+)/i.exec(sql)?.[1];
  if (!index) throw new Error(`migration ${file.name}, line ${line}: write "create index concurrently if not exists"`);
  return index;
}

/** A migration that was applied, as recorded in the database. */
export interface Applied {
  name: string;
  digest: string | null;
}

/**
 * The applied migrations of a later release: their names sort after those of this release, which are all applied. Empty when one of this
 * release is pending, because diverging releases cannot be ordered.
 */
export function newerThan(files: MigrationFile[], applied: Applied[]): string[] {
  const last = files.at(-1)?.name ?? '';
  const names = applied.map(({ name }) => name);
  return files.every(({ name }) => names.includes(name)) ? names.filter((name) => name > last) : [];
}

export const missing = (name: string, folder: string): Error =>
  new Error(
    `migration ${name} was applied to this database but is not in ${folder}: the database is newer than this program, or the file was removed`,
  );

/**
 * Digests of files that were changed between releases 0.1.0 and 0.2.0; release 0.1.0 has applied the older text. Both texts lead to the
 * same schema: the index that the second file created is now created later, while requests are served, if it does not exist.
 */
const digestsOf010: Readonly<Record<string, string>> = {
  '20261121_24_disabled_people.sql': '3e68bcf0062c6b9086c88baa1e8a9fbf211bcb73add3d8e72e606f42db27f9d6',
  '20261121_27_waiting.sql': '50da91678e5455c8fce8fdc429ef5058ac5a4872c094d483cc626d50476e5b3b',
};

/** Compares the applied migrations with the files. @throws for a missing file, unless it belongs to a later release, and for a changed file */
export function compare(applied: Applied[], files: MigrationFile[], folder: string): void {
  const newer = newerThan(files, applied);
  for (const { name, digest } of applied) {
    if (newer.includes(name)) continue;
    const file = files.find((candidate) => candidate.name === name);
    if (!file) throw missing(name, folder);
    if (digest && digest !== file.digest && digest !== digestsOf010[name]) {
      throw new Error(
        `migration ${name} was changed after it was applied: restore the file and write the change as a new migration`,
      );
    }
  }
}
