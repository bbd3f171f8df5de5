// Comments of submitted reviews, grouped by their lines.
import type { ChangeReviewFragment } from '../generated/documents.ts';
import type { FileChange } from './diff-parse.ts';

export interface Thread {
  review: ChangeReviewFragment;
  comment: ChangeReviewFragment['comments'][number];
}

export function threadsByPath(reviews: readonly ChangeReviewFragment[]): ReadonlyMap<string, Thread[]> {
  const byPath = new Map<string, Thread[]>();
  for (const review of reviews)
    for (const comment of review.comments)
      byPath.set(comment.path, [...(byPath.get(comment.path) ?? []), { review, comment }]);
  return byPath;
}

export const lineKey = (side: string, line: number): string => `${side} ${line}`;

/** Threads by their last line; a thread is outdated when its lines no longer exist or have changed. */
export function placeThreads(file: FileChange, threads: readonly Thread[]) {
  const texts = new Map<string, string>();
  for (const { lines } of file.hunks) {
    for (const { old, new: now, text } of lines) {
      if (old !== null) texts.set(lineKey('old', old), text);
      if (now !== null) texts.set(lineKey('new', now), text);
    }
  }
  const byLine = new Map<string, Thread[]>();
  const outdated: Thread[] = [];
  for (const thread of threads) {
    const { side, line, quote } = thread.comment;
    const text = texts.get(lineKey(side, line));
    // The first character of a quoted line says whether it was added or removed.
    const isThere = text !== undefined && (quote === '' || quote.slice(quote.lastIndexOf('\n') + 2) === text);
    if (!isThere) outdated.push(thread);
    else byLine.set(lineKey(side, line), [...(byLine.get(lineKey(side, line)) ?? []), thread]);
  }
  return { byLine, outdated };
}
