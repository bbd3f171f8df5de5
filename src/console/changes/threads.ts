// Groups the comments of submitted reviews and the threads of the source host by the lines to which they belong.
import type { ChangeReviewFragment, RunChangeQuery } from '../generated/documents.ts';
import type { FileChange } from './diff-parse.ts';

type HostThread = RunChangeQuery['run']['hostThreads'][number];
type HostComment = HostThread['comments'][number];

export interface Thread {
  author: string;
  createdAt: number;
  comment: Pick<
    ChangeReviewFragment['comments'][number],
    'id' | 'path' | 'side' | 'startLine' | 'line' | 'quote' | 'body' | 'resolvedBy'
  > & { isResolved: boolean };
  /** Later comments of the thread at the source host. */
  replies: readonly HostComment[];
  /** The URL of the thread at the source host, and its id there; both are null for a comment that exists only on the platform. */
  url: string | null;
  key: string | null;
  /** Whether the thread was started at the source host, not in the console. */
  isOfHost: boolean;
}

export interface ThreadActions {
  resolve(thread: Thread, isResolved: boolean): Promise<void>;
  /** Posts an answer at the source host. Requests with the same idempotency key take effect once. */
  answer(thread: Thread, body: string, idempotencyKey: string): Promise<void>;
}

export function threadsByPath(
  reviews: readonly ChangeReviewFragment[],
  hostThreads: readonly HostThread[],
): ReadonlyMap<string, Thread[]> {
  const byPath = new Map<string, Thread[]>();
  const add = (thread: Thread) => byPath.set(thread.comment.path, [...(byPath.get(thread.comment.path) ?? []), thread]);
  const atHost = new Map(hostThreads.map((one) => [one.commentId, one]));
  for (const { author, createdAt, comments } of reviews)
    for (const comment of comments) {
      const thread = atHost.get(comment.id);
      add({
        ...{ author, createdAt, isOfHost: false, url: thread?.url ?? null, key: thread?.key ?? null },
        replies: thread?.comments.slice(1) ?? [],
        comment: { ...comment, isResolved: comment.resolvedAt !== null },
      });
    }
  for (const { key, url, line, startLine, comments, ...thread } of hostThreads) {
    if (thread.commentId !== null) continue;
    const [first, ...replies] = comments as [HostComment, ...HostComment[]];
    const { author, body, createdAt } = first;
    // A thread on line 0 belongs to no line, and is shown above the file.
    const place = { startLine: startLine ?? line ?? 0, line: line ?? 0, quote: '' };
    add({ author, createdAt, replies, url, key, isOfHost: true, comment: { ...thread, ...place, id: key, body } });
  }
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
