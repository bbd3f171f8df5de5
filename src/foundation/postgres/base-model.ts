// The base of all models. Reads are finders of the model that run as prepared statements and return plain rows; writes and
// locks go through Objection (`Project.query(trx)`). Relations are declared once, in the child's model.
import type { Knex } from 'knex';
import { Model, type RelationMappings } from 'objection';
import { notFound } from '../problem.ts';
import { type Page, type PageRequest, readPageOf } from './cursor.ts';
import { database, lookUp, sql, type Transaction } from './database.ts';

/** The data of a model, which is what a read returns: Objection's methods are not on it, so a call of one does not compile. */
export type Row<M extends Model> = Omit<M, keyof Model>;

type Value = string | number | boolean | Buffer;
/** A comparison other than equality: how, by its key in `comparisons`. `or` is another column that may hold the text. */
interface Comparison {
  how: keyof typeof comparisons;
  text: string;
  or?: string | undefined;
}
const comparisons = {
  '~': (column: string, parameter: string) => `lower(${column}) = lower(${parameter})`,
  '*': (column: string, parameter: string) => `strpos(lower(${column}), lower(${parameter})) > 0`,
} as const;
const comparison = (how: Comparison['how']) => (text: string | null | undefined, or?: string) =>
  text == null ? undefined : { how, text, or };

/** Equality whatever the case of the letters, for a text column that has such an index. */
export const ignoringCase = comparison('~');
/** Words that the text contains, whatever the case of the letters. Every row that the other conditions leave is read. */
export const containing = comparison('*');

/** Conditions on columns: equal to the value, null, or (undefined) any. */
export type Where<M extends Model> = {
  readonly [Column in keyof Row<M>]?: Value | Comparison | null | undefined;
};

/** A named scope of a model: a condition that equality does not express. It may use the values of the model's source. */
export interface NamedCondition {
  name: string;
  condition: string;
}

/** What every read of a model starts from: `select … from …`, conditions that always hold, and their values. */
export interface Source {
  select: string;
  conditions: readonly string[];
  values: readonly unknown[];
}

type ClassOf<M extends BaseModel> = typeof BaseModel & (new () => M);

export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const quoted = (name: string): string => `"${snake(name)}"`;

const relations = new Map<typeof BaseModel, RelationMappings>();
function declare(model: typeof BaseModel, name: string, mapping: RelationMappings[string]): void {
  relations.set(model, { ...relations.get(model), [name]: mapping });
}

export class BaseModel extends Model {
  /** Where a query goes that names no transaction: into an enclosing one, where there is one. */
  static override knex(): Knex {
    return database();
  }

  /** The noun in the message of a 404. */
  static noun: string;
  /** Identifies the lists of the model in their cursors; the table when absent. */
  static listName?: string;
  /** Every column that a read returns, in wire order. */
  static columns: readonly string[];
  /** The order of `findAll` and of a relation to many without a limit. */
  static order = '"id"';
  /** Objection's own declaration; filled by `belongsTo` and `hasMany`. */
  static override relationMappings = function (this: typeof BaseModel): RelationMappings {
    return relations.get(this) ?? {};
  };

  /**
   * Declares that each of these names one `parent` in its column `by`. With `inverse` the parent gets the relation to many under
   * that name, so that no parent's file imports its children.
   */
  static belongsTo(name: string, parent: typeof BaseModel, by: string, inverse?: string): void {
    const join = { from: `${this.tableName}.${by}`, to: `${parent.tableName}.id` };
    declare(this, name, { relation: Model.BelongsToOneRelation, modelClass: parent, join });
    if (inverse) parent.hasMany(inverse, this, by);
  }

  /** Declares that many of `child` name one of these by a column; `column` is ours when it is not the id. */
  static hasMany(name: string, child: typeof BaseModel, by: string, column = 'id'): void {
    const join = { from: `${this.tableName}.${column}`, to: `${child.tableName}.${by}` };
    declare(this, name, { relation: Model.HasManyRelation, modelClass: child, join });
  }

  /** A model overrides it to compute a column, or to hide rows that are over. */
  static source(): Source {
    return { select: selectionOf(this), conditions: [], values: [] };
  }

  /** @throws 404, the same for an unknown record and for one of another organization */
  static async get<M extends BaseModel>(this: ClassOf<M>, where: Where<M>): Promise<Row<M>> {
    return (await this.find(where)) ?? this.refuse();
  }

  static refuse(): never {
    throw notFound(this.noun);
  }

  static async find<M extends BaseModel>(this: ClassOf<M>, where: Where<M>, trx?: Transaction) {
    const { values, text } = read(this, where, ' limit 1');
    const send = typeof (where as Conditions).id === 'string' ? lookUp : sql;
    return (await send<Row<M>>(text, values, trx))[0];
  }

  static findAll<M extends BaseModel>(this: ClassOf<M>, where: Where<M>, trx?: Transaction): Promise<Row<M>[]> {
    const { values, text } = read(this, where, ` order by ${this.order}`);
    return sql<Row<M>>(text, values, trx);
  }

  /** All rows whose column is one of the keys, in the model's order. */
  static findByKeys<M extends BaseModel>(
    this: ClassOf<M>,
    column: keyof Row<M> & string,
    keys: readonly string[],
    where: Where<M> = {},
  ): Promise<Row<M>[]> {
    const { select, conditions, values } = readParts(this, where);
    conditions.push(`${quoted(column)} = any($${values.push(keys)})`);
    return sql<Row<M>>(`${select} where ${conditions.join(' and ')} order by ${this.order}`, values);
  }

  /** The newest `limit` rows of each key, newest first. */
  static findNewestByKeys<M extends BaseModel>(
    this: ClassOf<M>,
    column: keyof Row<M> & string,
    keys: readonly string[],
    where: Where<M>,
    limit: number,
  ): Promise<Row<M>[]> {
    const { select, conditions, values } = readParts(this, where);
    conditions.push(`${quoted(column)} = parent.id`);
    return sql<Row<M>>(
      `select ${columnsOf(this, 'r')} from unnest($${values.push(keys)}::text[]) parent (id) cross join lateral (
        ${select} where ${conditions.join(' and ')} order by "created_at" desc, "id" desc limit $${values.push(limit)}
      ) r order by r."created_at" desc, r."id" desc`,
      values,
    );
  }

  /** One page, newest first unless the request says otherwise. The conditions belong to the cursor. */
  static page<M extends BaseModel>(
    this: ClassOf<M>,
    where: Where<M>,
    request: PageRequest,
    scope?: NamedCondition,
  ): Promise<Page<Row<M>>> {
    const { select, conditions, values } = readParts(this, where);
    if (scope) conditions.push(scope.condition);
    return readPageOf(
      {
        binding: `${this.listName ?? this.tableName}\n${JSON.stringify([where, scope?.name])}`,
        select,
        where: conditions.length > 0 ? ` where ${conditions.join(' and ')}` : '',
        values,
        indexed:
          !scope && Object.keys(where).every((name) => where[name as keyof Row<M>] === undefined || owners.has(name)),
      },
      request,
    ) as unknown as Promise<Page<Row<M>>>;
  }
}

/** What says whose a record is. Of each model that has pages, an index by each of them holds the rows in the order of pages. */
export const owners: ReadonlySet<string> = new Set(['orgId', 'projectId']);

const selections = new Map<string, string>();

/** The columns of a model as SQL lists them, of the alias `of` where several tables are joined. */
export const columnsOf = ({ columns }: Pick<typeof BaseModel, 'columns'>, of?: string): string =>
  columns.map((name) => `${of ? `${of}.` : ''}${quoted(name)}`).join(', ');

/** `select <columns> from <table>`. */
export function selectionOf(model: Pick<typeof BaseModel, 'tableName' | 'columns'>): string {
  let text = selections.get(model.tableName);
  if (!text) {
    text = `select ${columnsOf(model)} from "${model.tableName}"`;
    selections.set(model.tableName, text);
  }
  return text;
}

type Conditions = Readonly<Record<string, Value | Comparison | null | undefined>>;

const isComparison = (value: Value | Comparison): value is Comparison =>
  typeof value === 'object' && !Buffer.isBuffer(value);

const compared = (name: string, { how, or }: Comparison, parameter: string): string =>
  `(${[name, ...(or ? [or] : [])].map((one) => comparisons[how](quoted(one), parameter)).join(' or ')})`;

/** The text depends only on which conditions are given, so that there are few of them to prepare. */
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

function readParts(model: typeof BaseModel, where: Conditions) {
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
 * The texts of reads by model and shape: a repeated read sends the same string, which the driver finds without hashing it anew.
 * Models may share a table and differ in their source, so the table does not identify them.
 */
const textsOfModels = new WeakMap<typeof BaseModel, Map<string, string>>();

/** A read with `tail` after its conditions. */
function read(model: typeof BaseModel, where: Conditions, tail: string) {
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
