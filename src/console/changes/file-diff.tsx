// The change of one file: its header, and its rows in pieces that are rendered only near the viewport.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { plural, visible } from '../kit/words.tsx';
import { SavedComment } from './comments.tsx';
import type { DiffLine, FileChange } from './diff-parse.ts';
import { Piece } from './diff-piece.tsx';
import { type DiffRow, rowsOf } from './diff-rows.ts';
import type { FileProperties } from './file-properties.ts';
import type { Colors } from './highlight.ts';
import { Images, isImage } from './images.tsx';
import { Lazy, useOnceNear } from './lazy.tsx';
import { placeThreads } from './threads.ts';

/** A long diff is rendered in pieces of this many rows. The heights of a row and of a file's header are in pixels. */
const [pieceRows, rowHeight, headerHeight] = [100, 20, 40];
/** Maximum number of changed lines; a file with more changed lines is folded at first. */
const maxUnfoldedLines = 1_500;

const generated =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|go\.sum|poetry\.lock|Gemfile\.lock|composer\.lock|uv\.lock)$|\.min\.(js|css)$|(^|\/)(dist|vendor|node_modules|generated|__snapshots__)\//;

const isLarge = ({ insertions, deletions }: FileChange): boolean => insertions + deletions > maxUnfoldedLines;
const isGenerated = ({ path }: FileChange): boolean => generated.test(path);
const linesOf = ({ hunks }: FileChange): number => hunks.reduce((sum, { lines }) => sum + lines.length + 1, 0);

export const anchorOf = (path: string): string => `file-${encodeURIComponent(path)}`;

/**
 * Number of files that are rendered before their distance from the viewport is known, because one of them may be at the
 * beginning of the page.
 */
const first = 6;

/**
 * A file, of which only the name is rendered until it is near the viewport. It is rendered again only when its own properties change, not
 * while a comment on another file is typed.
 */
export function FileDiff({ index, ...properties }: FileProperties & { index: number }) {
  const { file, view, threads, draft, mayComment, isViewed, isChangedSinceViewed } = properties;
  const place = useRef<HTMLElement>(null);
  const wasNear = useOnceNear(place, index < first);
  const drafts = JSON.stringify(draft.draft.comments.filter(({ path }) => path === file.path));
  return useMemo(() => {
    const isFolded = isViewed || isLarge(file) || isGenerated(file);
    const height = headerHeight + (isFolded ? 0 : linesOf(file) * rowHeight);
    return (
      <section
        class="file"
        id={anchorOf(file.path)}
        aria-label={file.path}
        tabIndex={-1}
        ref={place}
        style={wasNear ? {} : { height: `${height}px` }}
      >
        {wasNear ? <File {...properties} /> : <h2>{visible(file.path)}</h2>}
      </section>
    );
  }, [wasNear, file, view, threads, drafts, mayComment, isViewed, isChangedSinceViewed]);
}

function File(properties: FileProperties) {
  const { file, threads, isOfCommit, isViewed, isChangedSinceViewed, onViewed } = properties;
  const isFoldedAtFirst = isLarge(file) || isGenerated(file);
  const [isOpen, setOpen] = useState(!isViewed && !isFoldedAtFirst);
  useEffect(() => {
    if (isViewed) setOpen(false);
  }, [isViewed]);
  const lines = linesOf(file);
  const unresolved = threads.filter(({ comment }) => !comment.isResolved).length;
  return (
    <>
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
        <h2>
          {file.oldPath !== null && <span class="muted">{visible(file.oldPath)} → </span>}
          <bdi>{visible(file.path)}</bdi>
        </h2>
        {file.status !== 'changed' && <span class="pill">{file.status}</span>}
        {file.note && <span class="muted small">{file.note}</span>}
        {isChangedSinceViewed && <span class="pill warn">changed since you viewed it</span>}
        <span class="counts">
          <span class="added">+{file.insertions}</span> <span class="removed">−{file.deletions}</span>
        </span>
        {unresolved > 0 && <span class="small">{plural(unresolved, 'comment')}</span>}
        {!isOfCommit && (
          <label class="viewed">
            <input
              type="checkbox"
              checked={isViewed}
              onChange={({ currentTarget }) => onViewed(currentTarget.checked)}
            />
            Viewed<span class="unseen"> {file.path}</span>
          </label>
        )}
      </header>
      {isOpen ? (
        <Lazy height={lines * rowHeight}>{() => <FileRows {...properties} />}</Lazy>
      ) : (
        isFoldedAtFirst &&
        !isViewed && (
          <p class="muted small file-note">
            {isGenerated(file) ? 'A generated file' : `${lines} lines`}, folded.{' '}
            <button type="button" class="quiet slim" onClick={() => setOpen(true)}>
              Show<span class="unseen"> {file.path}</span>
            </button>
          </p>
        )
      )}
    </>
  );
}

function FileRows(properties: FileProperties) {
  const { file, view, threads } = properties;
  const [colors, setColors] = useState<Colors | null>(null);
  useEffect(() => {
    let isGone = false;
    import('./highlight.ts')
      .then(({ colorsOf }) => colorsOf(file))
      .then((found) => isGone || setColors(found))
      // If the chunk with the colors cannot be loaded, the text is shown without them.
      .catch(() => {});
    return () => {
      isGone = true;
    };
  }, [file]);
  const hunks = useMemo(() => file.hunks.map((hunk) => rowsOf(hunk, view)), [file, view.isSplit, view.ignoresSpace]);
  const placed = useMemo(() => placeThreads(file, threads), [file, threads]);
  if (isImage(file) && !properties.isOfCommit) return <Images runId={properties.runId} file={file} />;
  if (file.hunks.length === 0) return <p class="muted small file-note">No lines to show.</p>;
  return (
    <div class={`file-rows ${view.isSplit ? 'split' : 'unified'} ${view.wraps ? 'wraps' : ''}`}>
      {placed.outdated.length > 0 && (
        <div class="outdated">
          <p class="small muted">Comments on lines that have changed since</p>
          {placed.outdated.map((thread) => (
            <SavedComment key={thread.comment.id} thread={thread} isOutdated actions={properties.actions} />
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
              {() => <Piece rows={piece} colors={colors} byLine={placed.byLine} {...properties} />}
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
