// The base class of all models. Its read methods run prepared statements and return plain rows. Writes and locks use Objection, either
// through the methods of this class or, for conditions other than equality, through a query (`Project.query(trx)`). Each relation is
// declared once, in the model that refers to the other.
import type { Knex } from 'knex';
import { Model, type QueryBuilder, type RawBuilder, type RelationMappings } from 'objection';
import { notFound } from '../problem.ts';
import { type Page, type PageRequest, readPageOf } from './cursor.ts';
import { database, lookUp, sql, type Transaction } from './database.ts';
import {
  type Comparison,
  type Conditions,
  columnsOf,
  type NamedCondition,
  owners,
  quoted,
  read,
  readParts,
  type Source,
  selectionOf,
  type Value,
} from './reads.ts';

/** Column values that select the rows to write. */
export type Key<M> = { readonly [Column in keyof M]?: Value | null | undefined };

/** New values of columns, as constants or as SQL expressions. */
export type Patch<M> = { readonly [Column in keyof M]?: M[Column] | RawBuilder | undefined };

/** Conditions on columns: a value means equality, null means `is null`, undefined means no condition. */
export type Where<M> = {
  readonly [Column in keyof M]?: Value | Comparison | null | undefined;
};

type ClassOf<M> = Statics & (new () => M);

const relations = new Map<object, RelationMappings>();
function declare(model: object, name: string, mapping: RelationMappings[string]): void {
  relations.set(model, { ...relations.get(model), [name]: mapping });
}

export class BaseModel extends Model {
  /** The target of a query without an explicit transaction: the enclosing transaction if there is one, otherwise the pool. */
  static override knex(): Knex {
    return database();
  }

  /** The name of the record type in the message of a 404. */
  static noun: string;
  /** Cursors of the model's lists are signed together with this name, so that other models reject them. Absent means the table's name. */
  static listName?: string;
  /** The columns that every read returns, in this order. */
  static columns: readonly string[];
  /** The order of `findAll` and of a to-many relation without a limit. */
  static order = '"id"';
  /** Objection's own declaration; filled by `belongsTo` and `hasMany`. */
  static override relationMappings = function (this: typeof BaseModel): RelationMappings {
    return relations.get(this) ?? {};
  };

  /**
   * Declares that each record refers to one `parent` by its column `by`. With `inverse`, the parent gets the to-many relation under that
   * name, so that no parent's file imports its children.
   */
  static belongsTo(this: Statics, name: string, parent: Statics, by: string, inverse?: string): void {
    const join = { from: `${this.tableName}.${by}`, to: `${parent.tableName}.id` };
    declare(this, name, { relation: Model.BelongsToOneRelation, modelClass: parent as typeof BaseModel, join });
    if (inverse) parent.hasMany(inverse, this, by);
  }

  /**
   * Declares that many records of `child` may refer to one record of this model by their column `by`.
   * @param column The column of this model that they refer to
   */
  static hasMany(this: Statics, name: string, child: Statics, by: string, column = 'id'): void {
    const join = { from: `${this.tableName}.${column}`, to: `${child.tableName}.${by}` };
    declare(this, name, { relation: Model.HasManyRelation, modelClass: child as typeof BaseModel, join });
  }

  /** The beginning of every read of this model. A model overrides this method to compute a column, or to hide expired rows. */
  static source(): Source {
    return { select: selectionOf(this), conditions: [], values: [] };
  }

  /** The only record that matches. @throws 404, the same for an unknown record and for a record of another organization */
  static async get<M extends object>(this: ClassOf<M>, where: Where<M>): Promise<M> {
    return (await this.find(where)) ?? this.refuse();
  }

  static refuse(): never {
    throw notFound(this.noun);
  }

  static async find<M extends object>(this: ClassOf<M>, where: Where<M>, trx?: Transaction) {
    const { values, text } = read(this, where, ' limit 1');
    const send = typeof (where as Conditions).id === 'string' ? lookUp : sql;
    return (await send<M>(text, values, trx))[0];
  }

  static findAll<M extends object>(this: ClassOf<M>, where: Where<M>, trx?: Transaction): Promise<M[]> {
    const { values, text } = read(this, where, ` order by ${this.order}`);
    return sql<M>(text, values, trx);
  }

  /** All rows whose column equals one of the keys, in the default order of the model. */
  static findByKeys<M extends object>(
    this: ClassOf<M>,
    column: keyof M & string,
    keys: readonly string[],
    where: Where<M> = {},
    trx?: Transaction,
  ): Promise<M[]> {
    const { select, conditions, values } = readParts(this, where);
    conditions.push(`${quoted(column)} = any($${values.push(keys)})`);
    return sql<M>(`${select} where ${conditions.join(' and ')} order by ${this.order}`, values, trx);
  }

  /** The newest `limit` rows of each key, newest first. @param order SQL columns to sort by, newest row first */
  static findNewestByKeys<M extends object>(
    this: ClassOf<M>,
    column: keyof M & string,
    keys: readonly string[],
    where: Where<M>,
    limit: number,
    order = '"created_at" desc, "id" desc',
  ): Promise<M[]> {
    const { select, conditions, values } = readParts(this, where);
    conditions.push(`${quoted(column)} = parent.key_of_row`);
    return sql<M>(
      `select ${columnsOf(this, 'r')} from unnest($${values.push(keys)}::text[]) parent (key_of_row) cross join lateral (
        ${select} where ${conditions.join(' and ')} order by ${order} limit $${values.push(limit)}
      ) r order by ${order}`,
      values,
    );
  }

  /** One page, newest first unless the request specifies otherwise. Cursors of earlier releases contain the conditions in this order. */
  static page<M extends object>(
    this: ClassOf<M>,
    where: Where<M>,
    request: PageRequest,
    scope?: NamedCondition,
  ): Promise<Page<M>> {
    const { select, conditions, values } = readParts(this, where);
    if (scope) conditions.push(scope.condition);
    return readPageOf(
      {
        binding: `${this.listName ?? this.tableName}\n${JSON.stringify([where, scope?.name])}`,
        select,
        where: conditions.length > 0 ? ` where ${conditions.join(' and ')}` : '',
        values,
        indexed: !scope && Object.keys(where).every((name) => where[name as keyof M] === undefined || owners.has(name)),
      },
      request,
    ) as unknown as Promise<Page<M>>;
  }

  /** Locks one row until the transaction ends. */
  static async lock<M extends object>(this: ClassOf<M>, trx: Transaction, where: Key<M>): Promise<M | undefined> {
    return (await this.query(trx).findOne(where).forUpdate()) as M | undefined;
  }

  static async insert<M extends object>(this: ClassOf<M>, trx: Transaction, row: Partial<M>): Promise<void> {
    await this.query(trx).insert(row as object);
  }

  /** Inserts a row; if a row with its id exists, changes that row. */
  static async upsert<M extends object>(this: ClassOf<M>, trx: Transaction, row: Partial<M>): Promise<void> {
    await this.query(trx)
      .insert(row as object)
      .onConflict(this.idColumn)
      .merge();
  }

  static async insertMany<M extends object>(
    this: ClassOf<M>,
    trx: Transaction,
    rows: readonly Partial<M>[],
  ): Promise<void> {
    if (rows.length > 0) await this.query(trx).insert(rows as object[]);
  }

  /**
   * Inserts a row unless a row with the same key exists; false when nothing was inserted. `key`: the columns of the violated unique
   * constraint; absent means any. Objection is not used here, because on a conflict it returns its input instead of no row.
   */
  static async insertNew<M extends object>(
    this: ClassOf<M>,
    trx: Transaction,
    row: Partial<M>,
    key?: readonly (keyof M & string)[],
  ): Promise<boolean> {
    const insert = trx(this.tableName).insert(row);
    const conflict = key ? insert.onConflict([...key]) : insert.onConflict();
    const inserted = await conflict.ignore().returning([this.idColumn].flat());
    return inserted.length > 0;
  }

  /** Writes `changes` into the rows that match `where`, and returns the number of these rows. */
  static async patch<M extends object>(
    this: ClassOf<M>,
    trx: Transaction | undefined,
    where: Key<M>,
    changes: Patch<M>,
  ): Promise<number> {
    return await this.query(trx)
      .where(where)
      .patch(changes as object);
  }

  /** Writes the values of `changes` to all rows that match `where`, and returns these rows with their new values. */
  static async patchReturning<M extends object>(
    this: ClassOf<M>,
    trx: Transaction | undefined,
    where: Key<M>,
    changes: Patch<M>,
  ): Promise<M[]> {
    const changed = this.query(trx)
      .where(where)
      .patch(changes as object)
      .returning([...this.columns]);
    return changed as unknown as Promise<M[]>;
  }
}

/** Declares the TypeScript type of a column. The object stays empty, because types do not exist at run time. */
interface Column<T> {
  readonly type?: T;
}
const untyped = {};
export const column = <T>(): Column<T> => untyped;

type Columns = Readonly<Record<string, Column<unknown>>>;
export type Typed<C extends Columns> = { [Name in keyof C]: C[Name] extends Column<infer T> ? T : never };
/**
 * The static members of a model class. An instance of the class is typed with its columns only, because reads return plain
 * rows. The rows that a `query` returns also have Objection's methods.
 */
export type Statics = Omit<Pick<typeof BaseModel, keyof typeof BaseModel>, 'query' | 'prototype'> & {
  query<M extends object>(this: new () => M, trx?: Transaction): QueryBuilder<Model & M>;
};

/** Returns the base class for the model of a table. Each row that a read returns has exactly these columns, in this order. */
export function table<C extends Columns>(name: string, columns: C): Statics & (new () => Typed<C>) {
  class Table extends BaseModel {
    static override tableName = name;
    static override columns = Object.keys(columns);
  }
  return Table as unknown as Statics & (new () => Typed<C>);
}
