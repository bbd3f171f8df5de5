// Keyset paging: newest first, the id as tie-breaker. A cursor is opaque and signed together with the list and the filter
// that made it, so it can't be carried to another one. Page cost does not depend on depth: never OFFSET.
import { sql } from './database.ts';
import { invalid } from './problem.ts';
import { conditions, type Equals, type StoredClass, selection } from './record.ts';
import { sameBytes, signature } from './secrets.ts';

export interface Page<R> {
  data: R[];
  nextCursor: string | null;
}

/** What there is to find where nothing can be. */
export const emptyPage: Page<never> = { data: [], nextCursor: null };

export interface PageRequest {
  limit: number;
  cursor?: string | null | undefined;
}

const SIGNATURE_BYTES = 12;

function sign(binding: string, position: string): Buffer {
  return signature('cursor', `${binding}\n${position}`).subarray(0, SIGNATURE_BYTES);
}

/** A cursor that only the list (or log) named by `binding` accepts. */
export function packCursor(binding: string, at: number, id: string): string {
  const position = `${at}:${id}`;
  return Buffer.concat([sign(binding, position), Buffer.from(position)]).toString('base64url');
}

/** What `packCursor` put in. @throws 400 for any other text, and for the cursor of another list */
export function unpackCursor(binding: string, cursor: string): [at: number, id: string] {
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.subarray(SIGNATURE_BYTES).toString();
  const [, at, id] = /^(\d{1,15}):([\w-]+)$/.exec(position) ?? [];
  const isOurs = id && sameBytes(bytes.subarray(0, SIGNATURE_BYTES), sign(binding, position));
  // Letter by letter: base64url has other spellings of the same bytes.
  if (!at || !isOurs || bytes.toString('base64url') !== cursor) {
    throw invalid('cursor: must be the nextCursor of this list with the same filter.');
  }
  return [Number(at), id];
}

/** One page of a table, newest first. All equality conditions belong to the cursor's binding. */
export function readPage<R extends { id: string; createdAt: number }>(
  model: StoredClass<R>,
  equals: Equals,
  page: PageRequest,
): Promise<Page<R>> {
  const binding = `${model.tableName}\n${JSON.stringify(equals)}`;
  return readPageOf<R>({ binding, select: selection(model), ...conditions(equals) }, page);
}

/** What a page is read from, where equality alone does not say it. */
export interface PageSource {
  /** The list and its filter: a cursor belongs to them. */
  binding: string;
  /** `select … from …`, with the columns `id` and `created_at`. */
  select: string;
  /** ` where …`, or empty. */
  where: string;
  values: unknown[];
}

/** One page of any rows, newest first. The texts must come from a bounded set, as for `sql`. */
export async function readPageOf<R extends { id: string; createdAt: number }>(
  { binding, select, where, values: given }: PageSource,
  { limit, cursor }: PageRequest,
): Promise<Page<R>> {
  const values = [...given];
  let text = select + where;
  if (cursor != null) {
    const [createdAt, id] = unpackCursor(binding, cursor);
    const after = `("created_at", "id") < ($${values.push(createdAt)}, $${values.push(id)})`;
    text += where ? ` and ${after}` : ` where ${after}`;
  }
  text += ` order by "created_at" desc, "id" desc limit $${values.push(limit + 1)}`;
  const rows = await sql<R>(text, values);
  if (rows.length <= limit) return { data: rows, nextCursor: null };
  rows.pop();
  const last = rows[rows.length - 1]!;
  return { data: rows, nextCursor: packCursor(binding, last.createdAt, last.id) };
}
