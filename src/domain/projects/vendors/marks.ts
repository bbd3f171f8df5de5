// Texts of runs at vendors without idempotency keys: an invisible mark shows whether an issue or comment exists already, and that a mission
// has written it; concurrent calls wait for each other.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { minutes, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { unavailable } from '#foundation/problem.ts';

export const markOf = (runId: string): string => `<!-- run: ${runId} -->`;
export const marked = (text: string, runId: string): string => `${text}\n\n${markOf(runId)}`;
/** Whether a mission wrote the text; such a text starts no other mission. */
export const isOfMission = (text: string | null | undefined): boolean => /<!-- run: run_\w+ -->/.test(text ?? '');

const sharing = new Map<string, Promise<unknown>>();

/** Concurrent calls with the same key share one result. The lease on the run excludes other processes. */
export function shareCall<T>(key: string, work: () => Promise<T>): Promise<T> {
  const running = sharing.get(key) as Promise<T> | undefined;
  if (running) return running;
  const begun = work().finally(() => sharing.delete(key));
  sharing.set(key, begun);
  return begun;
}

const waiting = new Map<string, Promise<void>>();

/** Calls with the same key run one after the other, in all processes, so that a later call finds the comment of the earlier one. */
export function queueCall(key: string, work: () => Promise<void>): Promise<void> {
  const before = waiting.get(key)?.catch(() => {}) ?? Promise.resolve();
  const begun = before
    .then(() => takeTurn(key, work))
    .finally(() => {
      if (waiting.get(key) === begun) waiting.delete(key);
    });
  waiting.set(key, begun);
  return begun;
}

/** A turn that a lost process has left is free after `leaseMs`, longer than an operation takes. */
const turns = { leaseMs: minutes(1), askAgainMs: 200, asks: 50 } as const;
const takeTurnSql = `insert into vendor_turns (key, holder, expires_at) values ($1, $2, $3)
  on conflict (key) do update set holder = $2, expires_at = $3 where vendor_turns.expires_at <= $4 returning key`;

/** @throws a retryable Problem when another process keeps its turn for too long */
async function takeTurn(key: string, work: () => Promise<void>): Promise<void> {
  const holder = randomUUID();
  const isTaken = async () => (await sql(takeTurnSql, [key, holder, now() + turns.leaseMs, now()])).length === 1;
  for (let asked = 1; !(await isTaken()); asked++) {
    if (asked === turns.asks) throw unavailable();
    await setTimeout(turns.askAgainMs);
  }
  try {
    await work();
  } finally {
    await sql('delete from vendor_turns where key = $1 and holder = $2', [key, holder]);
  }
}
