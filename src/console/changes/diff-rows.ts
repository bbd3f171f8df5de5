// Rows of a hunk: one version below the other, or side by side, with or without changes of white space, and the words that changed within
// lines.
import { diffArrays, diffWordsWithSpace } from 'diff';
import type { DiffLine, Hunk } from './diff-parse.ts';

/** A row of a diff. In a unified view it has only one side, unless the line is unchanged. */
export interface DiffRow {
  left: DiffLine | null;
  right: DiffLine | null;
  /** The line that the row replaces or is replaced by, in a unified view. */
  partner: DiffLine | null;
}

interface RowSettings {
  isSplit: boolean;
  ignoresSpace: boolean;
}

/** White space is ignored only in changes of at most this many lines, because comparing more would take too long. */
const maxComparedLines = 2_000;

export function rowsOf({ lines }: Hunk, { isSplit, ignoresSpace }: RowSettings): DiffRow[] {
  const rows: DiffRow[] = [];
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, '-');
    const added = runOf(lines, at + removed.length, '+');
    at += removed.length + added.length;
    if (removed.length + added.length > 0) rows.push(...changed(removed, added, isSplit, ignoresSpace));
    else {
      const line = lines[at++]!;
      rows.push({ left: line, right: line, partner: null });
    }
  }
  return rows;
}

function runOf(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): DiffLine[] {
  let end = from;
  while (lines[end]?.kind === kind) end++;
  return lines.slice(from, end);
}

function changed(removed: DiffLine[], added: DiffLine[], isSplit: boolean, ignoresSpace: boolean): DiffRow[] {
  if (!ignoresSpace || removed.length + added.length > maxComparedLines) return paired(removed, added, isSplit);
  const rows: DiffRow[] = [];
  const bare = (all: DiffLine[]) => all.map(({ text }) => text.replace(/\s+/g, ''));
  let [old, now] = [0, 0];
  let [before, after]: [DiffLine[], DiffLine[]] = [[], []];
  for (const { added: isNew, removed: isOld, count = 0 } of diffArrays(bare(removed), bare(added))) {
    if (isOld) {
      before = removed.slice(old, old + count);
      old += count;
    } else if (isNew) {
      after = added.slice(now, now + count);
      now += count;
    } else {
      rows.push(...paired(before, after, isSplit));
      [before, after] = [[], []];
      for (let i = 0; i < count; i++) {
        const [left, right] = [removed[old++]!, added[now++]!];
        const line: DiffLine = { kind: ' ', text: right.text, old: left.old, new: right.new };
        rows.push({ left: line, right: line, partner: null });
      }
    }
  }
  return [...rows, ...paired(before, after, isSplit)];
}

function paired(removed: DiffLine[], added: DiffLine[], isSplit: boolean): DiffRow[] {
  if (isSplit) {
    return Array.from({ length: Math.max(removed.length, added.length) }, (_, i) => ({
      ...{ left: removed[i] ?? null, right: added[i] ?? null, partner: null },
    }));
  }
  return [
    ...removed.map((left, i) => ({ left, right: null, partner: added[i] ?? null })),
    ...added.map((right, i) => ({ left: null, right, partner: removed[i] ?? null })),
  ];
}

export type Range = [from: number, to: number];

/**
 * The old and the new version of a line are compared word by word only if both have at most `longest` characters. If a version is longer, or
 * if the versions have less than `minSharedRatio` of their text in common, the whole line is marked as changed.
 */
const [longest, minSharedRatio] = [500, 0.4];

/** Ranges of characters that changed, in the old and in the new line; none when the lines have little in common. */
export function changedWords(old: string, now: string): { old: Range[]; new: Range[] } {
  const none = { old: [], new: [] };
  if (old.length > longest || now.length > longest) return none;
  const ranges: { old: Range[]; new: Range[] } = { old: [], new: [] };
  let [a, b, shared] = [0, 0, 0];
  for (const { value, added, removed } of diffWordsWithSpace(old, now)) {
    if (removed) ranges.old.push([a, a + value.length]);
    if (added) ranges.new.push([b, b + value.length]);
    if (!added) a += value.length;
    if (!removed) b += value.length;
    if (!added && !removed) shared += value.trim().length;
  }
  return shared < minSharedRatio * Math.max(old.trim().length, now.trim().length) ? none : ranges;
}
