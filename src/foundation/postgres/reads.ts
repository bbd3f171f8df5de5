// Builds the SQL texts of reads: the selected columns of a model, and conditions on its columns.

export type Value = string | number | boolean | Buffer;
/**
 * A condition on a column that does more than compare the column with a value for equality. `how` selects the kind of condition. `~` and `*` compare
 * the column with `text` as the functions in `comparisons` do. `in` requires that the column has one of the values that an SQL query selects. `first`
 * requires that the column equals `text` or, if the column is null, that another column equals `text`.
 */
export interface Comparison {
  how: keyof typeof comparisons | 'in' | 'first';
  text: string;
  /**
   * The meaning depends on `how`. For `~` and `*`, this is the name of another column, and the condition also holds if the other column matches
   * `text`. For `first`, this is the name of the column that must equal `text` if the compared column is null. For `in`, this is the SQL query that
   * selects the allowed values; the query contains `?` in place of `text`.
   */
  or?: string | undefined;
  /**
   * Name of the compared column; absent means that the column has the same name as the condition. If `of` is set, two conditions with different
   * names can compare the same column.
   */
  of?: string;
}
const comparisons = {
  '~': (column: string, parameter: string) => `lower(${column}) = lower(${parameter})`,
  '*': (column: string, parameter: string) => `strpos(lower(${column}), lower(${parameter})) > 0`,
} as const;
const comparison = (how: keyof typeof comparisons) => (text: string | null | undefined, or?: string) =>
  text == null ? undefined : { how, text, or };

/** Case-insensitive equality, for a text column with a case-insensitive index. */
export const ignoringCase = comparison('~');
/** Condition that the column contains the text, ignoring case. It reads every row that satisfies the other conditions. */
export const containsWords = comparison('*');

/** Returns the condition that the column equals `text` or, if the column is null, that the column `other` equals `text`. */
export const firstOf = (text: string | null | undefined, other: string): Comparison | undefined =>
  text == null ? undefined : { how: 'first', text, or: other };

/**
 * Returns the condition that the column has one of the values that the SQL query `query` selects; `query` contains `?` in place of `text`. A cursor
 * is signed with the conditions of its list, and is valid only for these conditions. The signature covers `name` in place of `query` and `text`, so
 * that the cursor remains valid when `text` changes.
 */
export const foundBy = (text: string, query: string, name: string): Comparison & { toJSON(): string } => ({
  ...{ how: 'in', text, or: query },
  toJSON: () => name,
});

/**
 * An SQL condition that selects rows of a model. It is needed when comparisons of columns with values cannot select the rows. The SQL may
 * use the parameters of the model's `Source`. The `name` identifies the condition in the signatures of cursors.
 */
export interface NamedCondition {
  name: string;
  condition: string;
}

/**
 * Adds the default collation to the SQL expression `id`, which is then compared with a column that refers to this id. Primary keys have the
 * collation "C", but most columns in other tables that refer to them have the default collation. PostgreSQL uses the index of this column
 * only for comparisons in the default collation.
 */
export const reference = (id: string): string => `${id} collate "default"`;

/** The start of every read of a model: `select … from …`, conditions that always hold, and their values. */
export interface Source {
  select: string;
  conditions: readonly string[];
  values: readonly unknown[];
}

/** The static members that a model class must have, because the SQL texts of its reads are built from them. */
interface Readable {
  tableName: string;
  columns: readonly string[];
  source(): Source;
}

export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const quoted = (name: string): string => `"${snake(name)}"`;

/**
 * Columns that refer to the owner of a record: its organization or its project. If a model is read page by page, it has an index for each
 * of these columns, which is sorted in the order of the pages.
 */
export const owners: ReadonlySet<string> = new Set(['orgId', 'projectId']);

const selections = new Map<string, string>();

/** Returns the columns of a model as a list in SQL. For a join, `of` is the alias of the table, which is put before each column. */
export const columnsOf = ({ columns }: Pick<Readable, 'columns'>, of?: string): string =>
  columns.map((name) => `${of ? `${of}.` : ''}${quoted(name)}`).join(', ');

type Listed = Pick<Readable, 'tableName' | 'columns'>;

/** SQL for a list of the stored records of an organization ($1) and built-in ones ($2: `builtinRows`), so that a page may contain both. */
export const withBuiltinsSql = (model: Listed): string => `select ${columnsOf(model)}, is_builtin from (
  select ${columnsOf(model)}, false as is_builtin from ${model.tableName} where org_id = $1
  union all select ${columnsOf(model)}, true from jsonb_populate_recordset(null::${model.tableName}, $2::jsonb)) a`;

export const builtinRows = ({ columns }: Listed, records: readonly object[]): string =>
  JSON.stringify(
    records.map((record) => Object.fromEntries(columns.map((name) => [snake(name), record[name as keyof object]]))),
  );

/** The beginning of a read: `select <columns> from <table>`. */
export function selectionOf(model: Pick<Readable, 'tableName' | 'columns'>): string {
  let text = selections.get(model.tableName);
  if (!text) {
    text = `select ${columnsOf(model)} from "${model.tableName}"`;
    selections.set(model.tableName, text);
  }
  return text;
}

export type Conditions = Readonly<Record<string, Value | Comparison | null | undefined>>;

const isComparison = (value: Value | Comparison): value is Comparison =>
  typeof value === 'object' && !Buffer.isBuffer(value);

function compared(condition: string, { how, or, of: name = condition }: Comparison, parameter: string): string {
  if (how === 'in') return `${quoted(name)} in (${or!.replace('?', parameter)})`;
  if (how === 'first') return `coalesce(${quoted(name)}, ${quoted(or!)}) = ${parameter}`;
  return `(${[name, ...(or ? [or] : [])].map((one) => comparisons[how](quoted(one), parameter)).join(' or ')})`;
}

/** The text of the conditions does not contain values, so that few different statements are prepared. */
function conditionsOf(source: Source, where: Conditions): string[] {
  const conditions = [...source.conditions];
  let parameters = source.values.length;
  for (const [name, value] of Object.entries(where)) {
    if (value === undefined) continue;
    if (value === null) conditions.push(`${quoted(name)} is null`);
    else if (isComparison(value)) conditions.push(compared(name, value, `$${++parameters}`));
    else conditions.push(`${quoted(name)} = $${++parameters}`);
  }
  return conditions;
}

export function readParts(model: Readable, where: Conditions) {
  const source = model.source();
  return { select: source.select, conditions: conditionsOf(source, where), values: valuesOf(source, where) };
}

function valuesOf(source: Source, where: Conditions): unknown[] {
  const values = [...source.values];
  for (const name in where) {
    const value = where[name];
    if (value != null) values.push(isComparison(value) ? value.text : value);
  }
  return values;
}

/**
 * The SQL texts of the reads of each model. Two reads use the same text if they differ only in the values of their parameters. Both then
 * send the same string object, which the driver finds without hashing the text again. The texts are stored by model and not by table,
 * because models with the same table may have different sources.
 */
const textsOfModels = new WeakMap<Readable, Map<string, string>>();

/** Returns the SQL text and the values of a read. The text ends with `tail`, after the conditions. */
export function read(model: Readable, where: Conditions, tail: string) {
  const source = model.source();
  const texts = textsOfModels.get(model) ?? new Map<string, string>();
  textsOfModels.set(model, texts);
  let shape = tail;
  for (const name in where) {
    const value = where[name];
    if (value === undefined) continue;
    shape += value === null ? ` ${name} null` : ` ${name}${isComparison(value) ? value.how + (value.or ?? '') : ''}`;
  }
  let text = texts.get(shape);
  if (text === undefined) {
    const conditions = conditionsOf(source, where);
    text = `${source.select}${conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''}${tail}`;
    texts.set(shape, text);
  }
  return { text, values: valuesOf(source, where) };
}
