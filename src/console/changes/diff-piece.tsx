// A piece of the rows of a file, with the comments below their lines.
import { CommentForm, DraftNote, SavedComment } from './comments.tsx';
import { DiffCode } from './diff-code.tsx';
import type { DiffLine, FileChange } from './diff-parse.ts';
import type { DiffRow } from './diff-rows.ts';
import type { DraftComment, DraftOfReview, Place } from './draft.ts';
import type { FileProperties } from './file-properties.ts';
import type { Colors } from './highlight.ts';
import { lineKey, type Thread, type ThreadActions } from './threads.ts';

interface PieceProperties extends FileProperties {
  rows: readonly DiffRow[];
  colors: Colors | null;
  byLine: ReadonlyMap<string, Thread[]>;
}

/** The line that the person selected first; with the Shift key, the next selection extends to a range. */
let begun: Place | null = null;

export function Piece({ rows, colors, byLine, file, view, draft, mayComment, actions }: PieceProperties) {
  const choose = (line: DiffLine, side: 'old' | 'new', extend: boolean) => {
    const number = (side === 'old' ? line.old : line.new)!;
    const from = extend && begun?.path === file.path && begun.side === side ? begun.line : number;
    const place = { path: file.path, side, startLine: Math.min(from, number), line: Math.max(from, number) };
    begun = { ...place, line: number };
    draft.begin(place, quoteOf(file, place));
  };
  const drafts = mayComment ? draft.draft.comments.filter(({ path }) => path === file.path) : [];
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
              {...{ row, sides, colors, mayComment, choose, isSplit: view.isSplit, path: file.path }}
              threads={threadsAt(row, byLine)}
              drafts={drafts.filter((one) => isAt(row, one))}
              draft={draft}
              actions={actions}
            />
          );
        })}
      </tbody>
    </table>
  );
}

const threadsAt = ({ left, right }: DiffRow, byLine: ReadonlyMap<string, Thread[]>): Thread[] => [
  ...(left?.old != null ? (byLine.get(lineKey('old', left.old)) ?? []) : []),
  ...(right?.new != null ? (byLine.get(lineKey('new', right.new)) ?? []) : []),
];

const isAt = ({ left, right }: DiffRow, { side, line }: DraftComment): boolean =>
  side === 'old' ? left?.old === line : right?.new === line;

/** Maximum number of characters of the quoted lines that the agent gets with a comment. */
const maxQuoteCharacters = 2_000;

/** The lines in the format of a diff. */
function quoteOf(file: FileChange, { side, startLine, line }: Place): string {
  const chosen = file.hunks
    .flatMap(({ lines }) => lines)
    .filter((one) => {
      const number = side === 'old' ? one.old : one.new;
      return number !== null && number >= startLine && number <= line;
    })
    .map(({ kind, text }) => kind + text);
  // If the quote is too long, its first lines are dropped: the comment is placed below the last line.
  while (chosen.length > 1 && chosen.join('\n').length > maxQuoteCharacters) chosen.shift();
  const quote = chosen.join('\n');
  return quote.length > maxQuoteCharacters ? '' : quote;
}

interface RowProperties {
  row: DiffRow;
  sides: readonly ('left' | 'right')[];
  isSplit: boolean;
  path: string;
  colors: Colors | null;
  mayComment: boolean;
  choose(line: DiffLine, side: 'old' | 'new', extend: boolean): void;
  threads: readonly Thread[];
  drafts: readonly DraftComment[];
  draft: DraftOfReview;
  actions: ThreadActions;
}

const kindNames = { ' ': 'same', '+': 'plus', '-': 'minus' };
const kindWords = { ' ': '', '+': 'Added: ', '-': 'Removed: ' };

function Row({
  row,
  sides,
  isSplit,
  path,
  colors,
  mayComment,
  choose,
  threads,
  drafts,
  draft,
  actions,
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
                    <DiffCode line={line} partner={isSame ? null : partnerOf(side)} colors={colors} />
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
              <SavedComment key={thread.comment.id} thread={thread} actions={actions} />
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
