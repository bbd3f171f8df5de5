// The base of all records, and the reads that every noun shares: one by equality, many by keys, a page by keyset.
// They run as prepared statements and give plain rows; writing goes through Objection (`Project.query(trx)`).

import type { Knex } from 'knex';
import { Model } from 'objection';
import { database, sql } from './database.ts';
import { notFound } from './problem.ts';

export abstract class Stored extends Model {
  /** Where a query goes that names no transaction: into an enclosing one, where there is one. */
  static override knex(): Knex {
    return database();
  }

  /** Every column that leaves the table in a read, by its wire name. */
  static columns: readonly string[];
}

export type StoredClass<R> = { tableName: string; columns: readonly string[] } & (new () => R);
/** Column = value, column = null, or (absent) no condition. */
export type Equals = Readonly<Record<string, string | number | boolean | null | undefined>>;

export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The columns of a record as SQL lists them, of the table or alias `of` when several are joined. */
export const columnsOf = ({ columns }: { columns: readonly string[] }, of?: string): string =>
  columns.map((name) => `${of ? `${of}.` : ''}"${snake(name)}"`).join(', ');

const selections = new Map<string, string>();
export function selection(model: StoredClass<unknown>): string {
  let text = selections.get(model.tableName);
  if (!text) {
    text = `select ${columnsOf(model)} from "${model.tableName}"`;
    selections.set(model.tableName, text);
  }
  return text;
}

/** `where` text and its values; the text depends only on which conditions are there. */
export function conditions(equals: Equals): { where: string; values: unknown[] } {
  const parts: string[] = [];
  const values: unknown[] = [];
  for (const name in equals) {
    const value = equals[name];
    if (value === undefined) continue;
    if (value === null) parts.push(`"${snake(name)}" is null`);
    else parts.push(`"${snake(name)}" = $${values.push(value)}`);
  }
  return { where: parts.length > 0 ? ` where ${parts.join(' and ')}` : '', values };
}

export async function readOne<R>(model: StoredClass<R>, equals: Equals): Promise<R | undefined> {
  const { where, values } = conditions(equals);
  return (await sql<R>(`${selection(model)}${where} limit 1`, values))[0];
}

/** The record, or the 404 that does not tell unknown from foreign. */
export async function find<R>(model: StoredClass<R>, noun: string, equals: Equals): Promise<R> {
  return (await readOne(model, equals)) ?? missing(noun);
}

export function missing(noun: string): never {
  throw notFound(noun);
}

export async function readAll<R>(model: StoredClass<R>, equals: Equals, order: string): Promise<R[]> {
  const { where, values } = conditions(equals);
  return sql<R>(`${selection(model)}${where} order by ${order}`, values);
}

/** All rows whose column is one of the keys: what a DataLoader asks. */
export async function readByKeys<R>(
  model: StoredClass<R>,
  column: string,
  keys: readonly string[],
  equals: Equals = {},
  order = `"${snake(column)}"`,
): Promise<R[]> {
  const { where, values } = conditions(equals);
  const any = `"${snake(column)}" = any($${values.push(keys)})`;
  return sql<R>(`${selection(model)}${where ? `${where} and ` : ' where '}${any} order by ${order}`, values);
}

/** The newest few rows of each key, newest first: a relation to many that stays small however many there are. */
export async function readNewestByKeys<R>(
  model: StoredClass<R>,
  column: string,
  keys: readonly string[],
  equals: Equals,
  limit: number,
): Promise<R[]> {
  const { where, values } = conditions(equals);
  const own = `"${snake(column)}" = parent.id`;
  return sql<R>(
    `select ${columnsOf(model, 'r')} from unnest($${values.push(keys)}::text[]) parent (id) cross join lateral (
      ${selection(model)}${where ? `${where} and ` : ' where '}${own} order by "created_at" desc, "id" desc limit $${values.push(limit)}
    ) r order by r.created_at desc, r.id desc`,
    values,
  );
}
