// The last use of a credential, to the minute. Written outside the request, which neither waits for the write nor fails with it.

import { minutes, now } from '#foundation/clock.ts';
import type { BaseModel } from '#foundation/postgres/base-model.ts';
import { sql } from '#foundation/postgres/database.ts';

/** Minimum interval between writes of a credential's last use. */
export const lastUsedIntervalMs = minutes(1);

/** The time at which this process last wrote, or began to write, the use of each credential. */
const writtenAt = new Map<string, number>();
const maxKept = 10_000;

/**
 * Records a use of the credential. Concurrent uses are written once: this process remembers its own writes, and the statement compares the
 * stored time for all processes.
 */
export function recordUse(
  { tableName }: Pick<typeof BaseModel, 'tableName'>,
  { id, lastUsedAt }: { id: string; lastUsedAt: number | null },
): void {
  const at = now();
  const dueBefore = at - lastUsedIntervalMs;
  if (Math.max(lastUsedAt ?? 0, writtenAt.get(id) ?? 0) > dueBefore) return;
  if (writtenAt.size >= maxKept) writtenAt.clear();
  writtenAt.set(id, at);
  const text = `update ${tableName} set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at <= $3)`;
  // A failed write is forgotten, so that the next use writes again.
  sql(text, [id, at, dueBefore]).catch(() => writtenAt.delete(id));
}
