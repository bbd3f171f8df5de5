// Some vendors have no idempotency keys. The texts that runs write there contain an invisible mark. By the mark, a later call recognizes that an
// issue or comment already exists, and that a mission has written it. Concurrent calls wait for each other.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { minutes, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { unavailable } from '#foundation/problem.ts';
import type { WrittenReview } from './source-host.ts';

export const markOf = (runId: string): string => `<!-- run: ${runId} -->`;
export const marked = (text: string, runId: string): string => `${text}\n\n${markOf(runId)}`;
/** Whether this service wrote the text, for a mission or for a review. Such a text starts no mission. */
export const isOfMission = (text: string | null | undefined): boolean =>
  /<!-- (?:run: run|review: rvw|comment: cmt)_\w+ -->/.test(text ?? '');

/** Marks that identify reviews and their comments. */
export const reviewMark = (reviewId: string): string => `<!-- review: ${reviewId} -->`;
export const commentMark = (commentId: string): string => `<!-- comment: ${commentId} -->`;
export const markedComment = (text: string, commentId: string): string => `${text}\n\n${commentMark(commentId)}`;
/** The id of the comment that the mark in the text contains; null without a mark. */
export const commentIn = (text: string): string | null => /<!-- comment: (cmt_\w+) -->/.exec(text)?.[1] ?? null;

/** The text without the marks at its end, which only programs read. */
export const withoutMarks = (text: string): string =>
  text.replace(/(?:\s*<!-- (?:run|review|comment): \w+ -->)+\s*$/, '');

/** Text of one review comment, with its file and lines, as a part of the review's whole text. */
export const placed = ({ path, startLine, line, body }: WrittenReview['comments'][number]): string =>
  `\`${path.replaceAll('`', "'")}\`, ${startLine === line ? `line ${line}` : `lines ${startLine} to ${line}`}:\n\n${body}`;

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

/**
 * Runs calls with the same key one after the other, across all processes, so that a later call finds the comment that an earlier call has
 * written.
 */
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

/**
 * A process reserves a key for `leaseMs`, which is longer than an operation takes. The reservation of a process that has died expires after
 * that time.
 */
const turns = { leaseMs: minutes(1), askAgainMs: 200, asks: 50 } as const;
const takeTurnSql = `insert into vendor_turns (key, holder, expires_at) values ($1, $2, $3)
  on conflict (key) do update set holder = $2, expires_at = $3 where vendor_turns.expires_at <= $4 returning key`;

/** Reserves the key and does the work. @throws a retryable Problem when another process keeps its reservation for too long */
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
