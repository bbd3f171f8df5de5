// Keyset paging. A list is sorted by creation time, newest first or oldest first, and records with the same time are sorted by id. One
// index serves both orders, because PostgreSQL reads it in either direction. A cursor is opaque and is signed together with the list and
// its filter, so that other lists reject the cursor. Later pages cost no more than the first page, because OFFSET is never used.

import { invalid } from '../problem.ts';
import { sameBytes, signature } from '../secrets/secrets.ts';
import { lookUp, sql } from './database.ts';

export interface Page<R> {
  data: R[];
  nextCursor: string | null;
}

/** An empty page. */
export const emptyPage: Page<never> = { data: [], nextCursor: null };

export interface PageRequest {
  limit: number;
  cursor?: string | null | undefined;
  /** Epoch milliseconds: the earliest creation time, inclusive, and the latest, exclusive. Both are part of the cursor. */
  createdFrom?: number | null | undefined;
  createdBefore?: number | null | undefined;
  /** Order of the list, newest first when absent; part of the cursor too. */
  order?: ListOrder | null | undefined;
}

export const pageOrders = ['oldest', 'newest'] as const;
export type ListOrder = (typeof pageOrders)[number];

const SIGNATURE_BYTES = 12;

function sign(binding: string, position: string): Buffer {
  return signature('cursor', `${binding}\n${position}`).subarray(0, SIGNATURE_BYTES);
}

/** A cursor that only the list (or log) identified by `binding` accepts. */
export function packCursor(binding: string, at: number, id: string): string {
  const position = `${at}:${id}`;
  return Buffer.concat([sign(binding, position), Buffer.from(position)]).toString('base64url');
}

/** The position that `packCursor` encoded. @throws 400 for any other text, and for the cursor of another list */
export function unpackCursor(binding: string, cursor: string): [at: number, id: string] {
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.subarray(SIGNATURE_BYTES).toString();
  const [, at, id] = /^(\d{1,15}):([\w-]+)$/.exec(position) ?? [];
  const isOurs = id && sameBytes(bytes.subarray(0, SIGNATURE_BYTES), sign(binding, position));
  // Cursors are compared as text, because several base64url texts decode to the same bytes, and only the issued text is accepted.
  if (!at || !isOurs || bytes.toString('base64url') !== cursor) {
    throw invalid.field('cursor', 'must be the nextCursor of this list with the same filter');
  }
  return [Number(at), id];
}

/** The statement for reading a page. */
export interface PageSource {
  /** Identifies the list and its filter; a cursor is valid only for these. */
  binding: string;
  /** The beginning of the statement, `select … from …`, with the columns `id` and `created_at`. */
  select: string;
  /** The conditions, ` where …`, or empty. */
  where: string;
  values: unknown[];
  /** Whether an index contains these rows in the order of the page. */
  indexed?: boolean;
}

/** Reads one page of rows. `select` and `where` must come from a bounded set of texts, like the first parameter of the function `sql`. */
export async function readPageOf<R extends { id: string; createdAt: number }>(
  { binding: list, select, where, values: sourceValues, indexed = false }: PageSource,
  { limit, cursor, createdFrom, createdBefore, order }: PageRequest,
): Promise<Page<R>> {
  const values = [...sourceValues];
  const conditions: string[] = [];
  let binding = list;
  if (createdFrom != null) conditions.push(`"created_at" >= $${values.push(createdFrom)}`);
  if (createdBefore != null) conditions.push(`"created_at" < $${values.push(createdBefore)}`);
  if (conditions.length > 0) binding += `\n${createdFrom ?? ''}-${createdBefore ?? ''}`;
  const isOldestFirst = order === 'oldest';
  if (isOldestFirst) binding += '\noldest';
  if (cursor != null) {
    const [createdAt, id] = unpackCursor(binding, cursor);
    conditions.push(
      `("created_at", "id") ${isOldestFirst ? '>' : '<'} ($${values.push(createdAt)}, $${values.push(id)})`,
    );
  }
  let text = select + where;
  if (conditions.length > 0) text += `${where ? ' and' : ' where'} ${conditions.join(' and ')}`;
  const direction = isOldestFirst ? 'asc' : 'desc';
  text += ` order by "created_at" ${direction}, "id" ${direction} limit $${values.push(limit + 1)}`;
  const rows = await (indexed ? lookUp<R>(text, values, undefined, limit + 1) : sql<R>(text, values));
  if (rows.length <= limit) return { data: rows, nextCursor: null };
  rows.pop();
  const last = rows[rows.length - 1]!;
  return { data: rows, nextCursor: packCursor(binding, last.createdAt, last.id) };
}
