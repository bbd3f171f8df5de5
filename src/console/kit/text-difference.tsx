// The difference of two texts by lines.
import { diffLines } from 'diff';
import { ScrollBlock } from './scroll-block.tsx';

/** Maximum number of edits for a line-by-line comparison. */
const maxEdits = 500;

/** Removed and added lines with the context of each, or both texts if they differ too much. */
export function TextDifference({ before, after }: { before: string; after: string }) {
  const parts = diffLines(before, after, { maxEditLength: maxEdits });
  if (!parts)
    return (
      <ScrollBlock class="result diff">
        <del>{before}</del>
        <ins>{after}</ins>
      </ScrollBlock>
    );
  return (
    <ScrollBlock class="result diff">
      {parts.map(({ added, removed, value }, i) => {
        if (added) return <ins key={i}>{marked('+ ', value)}</ins>;
        return removed ? <del key={i}>{marked('- ', value)}</del> : contextOf(value);
      })}
    </ScrollBlock>
  );
}

const marked = (mark: string, value: string): string => value.replace(/^(?=.)/gm, mark);

/**
 * Formats a block of unchanged lines. If the block has more than five lines, an ellipsis replaces all of them except the first two and the
 * last two.
 */
function contextOf(value: string): string {
  const lines = value.split('\n').slice(0, -1);
  const kept = lines.length > 5 ? [...lines.slice(0, 2), '…', ...lines.slice(-2)] : lines;
  return kept.map((line) => `  ${line}\n`).join('');
}
