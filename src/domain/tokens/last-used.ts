// When a credential was last used, to the minute: written beside the request, which neither waits for it nor fails with it.
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/database.ts';
import { lifetimes } from '#limits.ts';

/** What this process has written, or is writing: requests that looked before it was written don't write it again. */
const noted = new Map<string, number>();
const notedKept = 10_000;

/** Many uses at once write once: here per process, in the database over all of them. */
export function noteUse(
  table: 'tokens' | 'service_tokens' | 'access_tokens' | 'agent_registrations',
  id: string,
  lastUsedAt: number | null,
): void {
  const at = now();
  const stale = at - lifetimes.lastUsedStep;
  if (Math.max(lastUsedAt ?? 0, noted.get(id) ?? 0) > stale) return;
  if (noted.size >= notedKept) noted.clear();
  noted.set(id, at);
  const text = `update ${table} set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at <= $3)`;
  // After a failure the next use tries again.
  sql(text, [id, at, stale]).catch(() => noted.delete(id));
}
