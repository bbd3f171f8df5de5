// The change of one file: its head, and its rows in pieces that exist only near the view.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ChangeReviewFragment } from '../generated/documents.ts';
import { plural } from '../kit/words.tsx';
import { CommentForm, DraftNote, SavedComment } from './comments.tsx';
import { DiffCode } from './diff-code.tsx';
import type { DiffLine, FileChange } from './diff-parse.ts';
import { type DiffRow, rowsOf } from './diff-rows.ts';
import type { DraftComment, DraftOfReview, Place } from './draft.ts';
import type { Colours } from './highlight.ts';
import { Lazy } from './lazy.tsx';

export interface ViewSettings {
  isSplit: boolean;
  ignoresSpace: boolean;
  wraps: boolean;
}

export interface Thread {
  review: ChangeReviewFragment;
  comment: ChangeReviewFragment['comments'][number];
}

export interface FileProperties {
  file: FileChange;
  view: ViewSettings;
  /** Comments of submitted reviews on the file. */
  threads: readonly Thread[];
  draft: DraftOfReview;
  mayComment: boolean;
  isViewed: boolean;
  /** Whether the file has changed since the person marked it as viewed. */
  isChangedSinceViewed: boolean;
  onViewed(isViewed: boolean): void;
  onResolve(commentId: string, isResolved: boolean): void;
}

/** Rows of a piece, and the height of one in pixels. */
const [pieceRows, rowHeight] = [100, 20];
/** A file with more changed lines is folded at first. */
const mostUnfolded = 1_500;

const generated =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|go\.sum|poetry\.lock|Gemfile\.lock|composer\.lock|uv\.lock)$|\.min\.(js|css)$|(^|\/)(dist|vendor|node_modules|generated|__snapshots__)\//;

export const anchorOf = (path: string): string => `file-${encodeURIComponent(path)}`;

export function FileDiff(properties: FileProperties) {
  const { file, threads, isViewed, isChangedSinceViewed, onViewed } = properties;
  const isLarge = file.insertions + file.deletions > mostUnfolded;
  const isGenerated = generated.test(file.path);
  const [isOpen, setOpen] = useState(!isViewed && !isLarge && !isGenerated);
  useEffect(() => {
    if (isViewed) setOpen(false);
  }, [isViewed]);
  const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length + 1, 0);
  const unresolved = threads.filter(({ comment }) => comment.resolvedAt === null).length;
  return (
    <section class="file" id={anchorOf(file.path)} aria-label={file.path} data-file>
      <header class="file-head">
        <button
          type="button"
          class="quiet slim fold"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Fold' : 'Unfold'} ${file.path}`}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? '▾' : '▸'}
        </button>
        <h2 tabIndex={-1}>
          {file.oldPath !== null && <span class="muted">{file.oldPath} → </span>}
          <bdi>{visible(file.path)}</bdi>
        </h2>
        {file.status !== 'changed' && <span class="pill">{file.status}</span>}
        {file.note && <span class="muted small">{file.note}</span>}
        {isChangedSinceViewed && <span class="pill warn">changed since you viewed it</span>}
        <span class="counts">
          <span class="added">+{file.insertions}</span> <span class="removed">−{file.deletions}</span>
        </span>
        {unresolved > 0 && <span class="small">{plural(unresolved, 'comment')}</span>}
        <label class="viewed">
          <input type="checkbox" checked={isViewed} onChange={({ currentTarget }) => onViewed(currentTarget.checked)} />
          Viewed<span class="unseen"> {file.path}</span>
        </label>
      </header>
      {isOpen ? (
        <Lazy height={lines * rowHeight}>{() => <FileRows {...properties} />}</Lazy>
      ) : (
        (isLarge || isGenerated) &&
        !isViewed && (
          <p class="muted small file-note">
            {isGenerated ? 'A generated file' : `${lines} lines`}, folded.{' '}
            <button type="button" class="quiet slim" onClick={() => setOpen(true)}>
              Show<span class="unseen"> {file.path}</span>
            </button>
          </p>
        )
      )}
    </section>
  );
}

/** Line ends and direction marks of a file's name are shown as such. */
const visible = (path: string): string =>
  path.replace(/[\p{Cc}\p{Cf}]/gu, (mark) => `\\u{${mark.codePointAt(0)!.toString(16)}}`);

function FileRows(properties: FileProperties) {
  const { file, view, threads } = properties;
  const [colours, setColours] = useState<Colours | null>(null);
  useEffect(() => {
    let isGone = false;
    import('./highlight.ts')
      .then(({ coloursOf }) => coloursOf(file))
      .then((found) => isGone || setColours(found))
      // The colours are an ornament: a chunk that cannot be loaded leaves the text.
      .catch(() => {});
    return () => {
      isGone = true;
    };
  }, [file]);
  const hunks = useMemo(() => file.hunks.map((hunk) => rowsOf(hunk, view)), [file, view.isSplit, view.ignoresSpace]);
  const placed = useMemo(() => placeThreads(file, threads), [file, threads]);
  if (file.hunks.length === 0) return <p class="muted small file-note">No lines to show.</p>;
  return (
    <div class={`rows ${view.isSplit ? 'split' : 'unified'} ${view.wraps ? 'wraps' : ''}`}>
      {placed.outdated.length > 0 && (
        <div class="outdated">
          <p class="small muted">Comments on lines that have changed since</p>
          {placed.outdated.map((thread) => (
            <SavedComment key={thread.comment.id} {...thread} isOutdated onResolve={properties.onResolve} />
          ))}
        </div>
      )}
      {hunks.map((rows, i) => (
        <div key={i}>
          <div class="hunk-head">
            <span class="unseen">Section</span> {hunkWords(file.hunks[i]!.lines[0])} {file.hunks[i]!.section}
          </div>
          {piecesOf(rows).map((piece, k) => (
            <Lazy key={k} height={piece.length * rowHeight}>
              {() => <Piece rows={piece} colours={colours} byLine={placed.byLine} {...properties} />}
            </Lazy>
          ))}
        </div>
      ))}
    </div>
  );
}

const hunkWords = (line: DiffLine | undefined): string => `Line ${line?.new ?? line?.old ?? 0}`;

const piecesOf = (rows: DiffRow[]): DiffRow[][] =>
  Array.from({ length: Math.ceil(rows.length / pieceRows) }, (_, i) => rows.slice(i * pieceRows, (i + 1) * pieceRows));

const keyOf = (side: string, line: number): string => `${side} ${line}`;

/** Threads by their last line; outdated ones are on lines that are gone, or have another text. */
function placeThreads(file: FileChange, threads: readonly Thread[]) {
  const texts = new Map<string, string>();
  for (const { lines } of file.hunks) {
    for (const { old, new: now, text } of lines) {
      if (old !== null) texts.set(keyOf('old', old), text);
      if (now !== null) texts.set(keyOf('new', now), text);
    }
  }
  const byLine = new Map<string, Thread[]>();
  const outdated: Thread[] = [];
  for (const thread of threads) {
    const { side, line, quote } = thread.comment;
    const text = texts.get(keyOf(side, line));
    // The first character of a quoted line says whether it was added or removed.
    const isThere = text !== undefined && (quote === '' || quote.slice(quote.lastIndexOf('\n') + 2) === text);
    if (!isThere) outdated.push(thread);
    else byLine.set(keyOf(side, line), [...(byLine.get(keyOf(side, line)) ?? []), thread]);
  }
  return { byLine, outdated };
}

interface PieceProperties extends FileProperties {
  rows: readonly DiffRow[];
  colours: Colours | null;
  byLine: ReadonlyMap<string, Thread[]>;
}

/** The line at which the person began to choose: with the Shift key the next choice extends to a range. */
let begun: Place | null = null;

function Piece({ rows, colours, byLine, file, view, draft, mayComment, onResolve }: PieceProperties) {
  const choose = (line: DiffLine, side: 'old' | 'new', extend: boolean) => {
    const number = (side === 'old' ? line.old : line.new)!;
    const from = extend && begun?.path === file.path && begun.side === side ? begun.line : number;
    const place = { path: file.path, side, startLine: Math.min(from, number), line: Math.max(from, number) };
    begun = { ...place, line: number };
    draft.begin(place, quoteOf(file, place));
  };
  const drafts = draft.draft.comments.filter(({ path }) => path === file.path);
  return (
    <table class="code">
      <tbody>
        {rows.map((row, i) => {
          const sides = view.isSplit
            ? (['left', 'right'] as const)
            : row.left
              ? (['left'] as const)
              : (['right'] as const);
          return (
            <Row
              key={i}
              {...{ row, sides, colours, mayComment, choose, isSplit: view.isSplit, path: file.path }}
              threads={threadsAt(row, byLine)}
              drafts={drafts.filter((one) => isAt(row, one))}
              draft={draft}
              onResolve={onResolve}
            />
          );
        })}
      </tbody>
    </table>
  );
}

const threadsAt = ({ left, right }: DiffRow, byLine: ReadonlyMap<string, Thread[]>): Thread[] => [
  ...(left?.old != null ? (byLine.get(keyOf('old', left.old)) ?? []) : []),
  ...(right?.new != null ? (byLine.get(keyOf('new', right.new)) ?? []) : []),
];

const isAt = ({ left, right }: DiffRow, { side, line }: DraftComment): boolean =>
  side === 'old' ? left?.old === line : right?.new === line;

/** Characters of the lines that go to the agent with a comment. */
const mostQuoted = 2_000;

/** The lines as a diff shows them. */
function quoteOf(file: FileChange, { side, startLine, line }: Place): string {
  const chosen = file.hunks
    .flatMap(({ lines }) => lines)
    .filter((one) => {
      const number = side === 'old' ? one.old : one.new;
      return number !== null && number >= startLine && number <= line;
    })
    .map(({ kind, text }) => kind + text);
  // The last lines, because the comment stands below them.
  while (chosen.length > 1 && chosen.join('\n').length > mostQuoted) chosen.shift();
  const quote = chosen.join('\n');
  return quote.length > mostQuoted ? '' : quote;
}

interface RowProperties {
  row: DiffRow;
  sides: readonly ('left' | 'right')[];
  isSplit: boolean;
  path: string;
  colours: Colours | null;
  mayComment: boolean;
  choose(line: DiffLine, side: 'old' | 'new', extend: boolean): void;
  threads: readonly Thread[];
  drafts: readonly DraftComment[];
  draft: DraftOfReview;
  onResolve(commentId: string, isResolved: boolean): void;
}

const kindNames = { ' ': 'same', '+': 'plus', '-': 'minus' };
const kindWords = { ' ': '', '+': 'Added: ', '-': 'Removed: ' };

function Row({
  row,
  sides,
  isSplit,
  path,
  colours,
  mayComment,
  choose,
  threads,
  drafts,
  draft,
  onResolve,
}: RowProperties) {
  const partnerOf = (side: 'left' | 'right') => (isSplit ? row[side === 'left' ? 'right' : 'left'] : row.partner);
  const isSame = row.left === row.right;
  const number = (line: DiffLine | null, side: 'old' | 'new') => {
    const at = line?.[side] ?? null;
    return (
      <td class="line-number">
        {at !== null &&
          (mayComment ? (
            <button
              type="button"
              tabIndex={-1}
              data-line
              aria-label={`Comment on line ${at} of ${path}`}
              onClick={({ shiftKey }) => choose(line!, side, shiftKey)}
            >
              {at}
            </button>
          ) : (
            at
          ))}
      </td>
    );
  };
  return (
    <>
      <tr>
        {!isSplit && number(row.left, 'old')}
        {!isSplit && number(row.right, 'new')}
        {sides.map((side) => {
          const line = row[side];
          return (
            <>
              {isSplit && number(line, side === 'left' ? 'old' : 'new')}
              <td class={line ? kindNames[line.kind] : 'nothing'}>
                {line && (
                  <>
                    <span class="unseen">{kindWords[line.kind]}</span>
                    <DiffCode line={line} partner={isSame ? null : partnerOf(side)} colours={colours} />
                  </>
                )}
              </td>
            </>
          );
        })}
      </tr>
      {threads.length + drafts.length > 0 && (
        <tr class="notes">
          <td colSpan={isSplit ? 4 : 3}>
            {threads.map((thread) => (
              <SavedComment key={thread.comment.id} {...thread} onResolve={onResolve} />
            ))}
            {drafts.map((one) =>
              one.isOpen ? (
                <CommentForm key={one.id} comment={one} draft={draft} />
              ) : (
                <DraftNote key={one.id} comment={one} draft={draft} />
              ),
            )}
          </td>
        </tr>
      )}
    </>
  );
}
