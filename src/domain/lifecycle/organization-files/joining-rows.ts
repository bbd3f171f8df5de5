// Inserts the rows of a file. Sealed values are sealed again with the service key, and ids of people who already have an account here are
// replaced.
import { copyIn, sendUnhurried } from '#foundation/postgres/copy.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { type ChangeFields, changeRows, openCount, type RowCount } from './copied-rows.ts';
import { type EntryCursor, rowsIn } from './entries.ts';
import { OrganizationFileError } from './format.ts';
import { fieldsSealedBy, sealForService } from './sealed-columns.ts';
import { type PackedTable, quotedName } from './tables.ts';

export interface Loading {
  trx: Transaction;
  entries: EntryCursor;
  key: Buffer;
  /** Ids in the file, with the ids that replace them here. */
  replaced: Map<string, string>;
  /** Number of rows read, by table. */
  counts: Record<string, RowCount>;
}

/** The ids in audit events are not replaced, because the events are leaves of their Merkle tree. */
const unchanged: ReadonlySet<string> = new Set(['audit_events']);

/**
 * Reads the rows of `table`, which are the next rows in the file, and inserts them into `target`.
 * @param target The table itself, or a table with the same columns
 */
export async function loadRows(loading: Loading, table: PackedTable, target = table.name): Promise<void> {
  const { trx, entries, key, replaced, counts } = loading;
  const count = openCount();
  const reseal = fieldsSealedBy(table, (purpose, sealed) => sealForService(key, purpose, sealed));
  const rename = replaced.size > 0 && !unchanged.has(table.name) ? fieldsReplacedBy(table, replaced) : null;
  let rows: AsyncIterable<Buffer> = count.through(rowsIn(entries, table.name));
  if (reseal) rows = changeRows(rows, reseal);
  if (rename) rows = changeRows(rows, rename);
  const columns = table.columns.map(quotedName).join(', ');
  const inserted = await copyIn(trx, { table: target, columns, rows }).catch((error: unknown) => {
    throw refusedBy(table.name, error);
  });
  const result = count.result();
  // The counts can differ, because COPY also accepts other line endings and an end-of-data marker before the last line.
  if (inserted !== result.rows)
    throw new OrganizationFileError(
      `the file is damaged: ${table.name}: it has ${result.rows} lines for ${inserted} rows`,
    );
  counts[table.name] = result;
}

/** Loads the rows of the file into a temporary copy of the table, to compare them with the rows that are here. Returns the name of the copy. */
export async function loadTemporary(loading: Loading, table: PackedTable): Promise<string> {
  const name = `joining_${table.name}`;
  await sendUnhurried(loading.trx, `create temporary table ${name} (like ${table.name}) on commit drop`);
  await loadRows(loading, table, name);
  return name;
}

const idPattern = /\b(usr_[0-9a-f]{32}|adr_[\w-]{43})(?![\w-])/g;

function fieldsReplacedBy({ columns, nested }: PackedTable, replaced: ReadonlyMap<string, string>): ChangeFields {
  const inside = nested.map((column) => columns.indexOf(column)).filter((at) => at !== -1);
  return (fields) => {
    for (const [at, field] of fields.entries()) fields[at] = replaced.get(field) ?? field;
    for (const at of inside) fields[at] = fields[at]!.replace(idPattern, (id) => replaced.get(id) ?? id);
  };
}

/** The error for a row that the database refuses; it names the table and the value. */
function refusedBy(table: string, error: unknown): unknown {
  const { code, detail, message } = error as { code?: string; detail?: string; message: string };
  if (code === '23505')
    return new OrganizationFileError(
      `${table}: ${detail ?? message} Another organization of this installation has this value.`,
      {
        cause: error,
      },
    );
  if (code && /^(22|23)/.test(code))
    return new OrganizationFileError(`the file is damaged: ${table}: ${message}`, { cause: error });
  return error;
}
