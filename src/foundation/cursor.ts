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

export interface PageRequest {
  limit: number;
  cursor?: string | null | undefined;
}

const SIGNATURE_BYTES = 12;

function sign(binding: string, position: string): Buffer {
  return signature('cursor', `${binding}\n${position}`).subarray(0, SIGNATURE_BYTES);
}

function pack(binding: string, createdAt: number, id: string): string {
  const position = `${createdAt}:${id}`;
  return Buffer.concat([sign(binding, position), Buffer.from(position)]).toString('base64url');
}

function unpack(binding: string, cursor: string): [createdAt: number, id: string] {
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.subarray(SIGNATURE_BYTES).toString();
  const [, createdAt, id] = /^(\d{1,15}):([\w-]+)$/.exec(position) ?? [];
  if (!createdAt || !id || !sameBytes(bytes.subarray(0, SIGNATURE_BYTES), sign(binding, position))) {
    throw invalid('cursor: must be the nextCursor of this list with the same filter.');
  }
  return [Number(createdAt), id];
}

/** One page of a table, newest first. All equality conditions belong to the cursor's binding. */
export async function readPage<R extends { id: string; createdAt: number }>(
  model: StoredClass<R>,
  equals: Equals,
  { limit, cursor }: PageRequest,
): Promise<Page<R>> {
  const binding = `${model.tableName}\n${JSON.stringify(equals)}`;
  const { where, values } = conditions(equals);
  let text = selection(model) + where;
  if (cursor != null) {
    const [createdAt, id] = unpack(binding, cursor);
    const after = `("created_at", "id") < ($${values.push(createdAt)}, $${values.push(id)})`;
    text += where ? ` and ${after}` : ` where ${after}`;
  }
  text += ` order by "created_at" desc, "id" desc limit $${values.push(limit + 1)}`;
  const rows = await sql<R>(text, values);
  if (rows.length <= limit) return { data: rows, nextCursor: null };
  rows.pop();
  const last = rows[rows.length - 1]!;
  return { data: rows, nextCursor: pack(binding, last.createdAt, last.id) };
}
