// A scrolling box that renders only the lines in view. Usual libraries give every line a position in pixels, but a million wrapped lines are
// higher than what browsers can lay out. Here, the scrollable height has a maximum, and the scroll position counts only as a share of the
// whole way: when the box is scrolled halfway, the middle row of the text is in the middle of the view. The number of rows of a line is
// computed from its length. The line of that row is placed first, and its neighbors are rendered above and below it.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { partsOf } from './ansi.ts';

/** Maximum height in pixels: Firefox lays out 17.8 million. */
const maxHeight = 16_000_000;
/** Texts of up to `few` lines are rendered whole. Of longer texts, `beyond` lines above and below the visible ones are rendered too. */
const [few, beyond] = [300, 10];
/** Maximum number of characters of a line that are shown. */
const maxLineLength = 5_000;
const tabWidth = 8;

interface Properties {
  count: number;
  lineAt(index: number): string;
  /** The number of characters in each line. */
  lengths(): Uint32Array;
  /** Current index of the line that was first when the lines were initially shown. */
  origin: number;
  wraps: boolean;
  /** When this value changes, the view scrolls to the end. */
  toEnd: number;
  label: string;
  /** Called when the person scrolls near the first line. */
  onStart?: (() => void) | undefined;
}

interface Box {
  top: number;
  width: number;
  height: number;
}

/** Sizes of the box and of a character, measured again when the box changes. */
function useSizes() {
  const box = useRef<HTMLElement>(null);
  const probe = useRef<HTMLSpanElement>(null);
  const [size, setBox] = useState<Box>({ top: 0, width: 0, height: 0 });
  const [glyph, setGlyph] = useState({ width: 8, height: 18 });
  useLayoutEffect(() => {
    const measure = () => {
      const { clientWidth, clientHeight, scrollTop } = box.current!;
      const { width: wide, height: high } = probe.current!.getBoundingClientRect();
      setGlyph({ width: wide / 10, height: high });
      setBox({ top: scrollTop, width: clientWidth, height: clientHeight });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const scroll = () => {
    const it = box.current!;
    setBox((before) => ({ ...before, top: it.scrollTop }));
  };
  return { box, probe, ...size, glyph, scroll };
}

/**
 * Computes which lines are in view. The scroll position selects one row. If the box is scrolled by a quarter of the distance that it can be
 * scrolled, for example, a quarter of all rows are above the selected row, and a quarter of the view's height is above it. `line` is the line
 * that contains the selected row.
 */
function viewOf(count: number, rows: Uint32Array | null, { top, height }: Box, glyphHeight: number) {
  const isWhole = count <= few;
  const total = rows ? rows[count]! : count;
  const space = Math.min(total * glyphHeight, maxHeight);
  const share = isWhole || space <= height ? 0 : Math.min(1, top / (space - height));
  const at = share * total;
  const line = Math.max(0, Math.min(count - 1, rows ? lineOf(rows, at) : Math.floor(at)));
  const rowBefore = rows ? rows[line]! : line;
  const within = Math.min(1, (at - rowBefore) / (rows ? rows[line + 1]! - rowBefore : 1));
  const first = isWhole ? 0 : Math.max(0, line - Math.ceil((share * height) / glyphHeight) - beyond);
  const last = isWhole ? count : Math.min(count, line + Math.ceil(((1 - share) * height) / glyphHeight) + beyond);
  return { isWhole, total, space, share, line, within, first, last };
}

/**
 * After any change, such as new lines or another width, scrolls the box so that the line that was in view stays where it was. @returns the
 * reference to set on the element that contains the rendered lines
 */
function useSteadyView(
  { count, origin, toEnd, onStart }: Properties,
  rows: Uint32Array | null,
  { box, top, height, glyph, scroll }: ReturnType<typeof useSizes>,
  { isWhole, total, space, share, line, within, first }: ReturnType<typeof viewOf>,
) {
  const lines = useRef<HTMLDivElement>(null);
  /**
   * The line that must not move: its index, the share of its height that is above `y`, and `y` in pixels from the top of the view. Null
   * means that the end of the text stays in view.
   */
  const seen = useRef<{ line: number; within: number; y: number } | null>(null);
  useLayoutEffect(() => {
    seen.current = null;
  }, [toEnd]);
  useLayoutEffect(() => {
    const it = box.current!;
    const kept = seen.current;
    if (!kept) it.scrollTop = it.scrollHeight;
    else if (!isWhole) {
      const index = Math.min(count - 1, kept.line + origin);
      const row = rows ? rows[index]! + kept.within * (rows[index + 1]! - rows[index]!) : index + kept.within;
      const above = (row * glyph.height - kept.y) / (total * glyph.height - height);
      it.scrollTop = above * (space - height);
    }
    scroll();
  }, [toEnd, count, origin, rows, glyph, height]);
  useLayoutEffect(() => {
    const it = box.current!;
    const isAtEnd = it.scrollTop >= it.scrollHeight - it.clientHeight - 4;
    seen.current = isAtEnd ? null : { line: line - origin, within, y: share * height };
    if (height > 0 && first === 0 && (it.scrollTop < 10 * height || isWhole)) onStart?.();
    if (isWhole) lines.current!.style.transform = '';
    else {
      const anchor = lines.current!.children[line - first] as HTMLElement;
      const y = anchor.offsetTop + within * anchor.offsetHeight;
      lines.current!.style.transform = `translateY(${top + share * height - y}px)`;
    }
  });
  return lines;
}

export function VirtualLines(properties: Properties) {
  const { count, lineAt, lengths, origin, wraps, label } = properties;
  const sizes = useSizes();
  const { box, probe, width, height, glyph, scroll } = sizes;
  const columns = wraps ? Math.max(10, Math.floor(width / glyph.width)) : 0;
  const rows = useMemo(() => (columns > 0 && count > few ? rowsOf(lengths(), columns) : null), [lengths, columns]);
  const view = viewOf(count, rows, sizes, glyph.height);
  const { isWhole, total, space, first, last } = view;
  const lines = useSteadyView(properties, rows, sizes, view);

  // Page keys move by one page of lines, even if one page of the scroll box represents more lines.
  const onKeyDown = (event: KeyboardEvent) => {
    const pages = { PageDown: 1, PageUp: -1 }[event.key];
    if (!pages || isWhole) return;
    event.preventDefault();
    box.current!.scrollTop += (pages * (height - glyph.height) * (space - height)) / (total * glyph.height - height);
  };

  return (
    <section
      class={`log ${wraps ? '' : 'no-wrap'}`}
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.2, 2.1.1)
      tabIndex={0}
      aria-label={label}
      onScroll={scroll}
      onKeyDown={onKeyDown}
    >
      <span class="log-probe" ref={probe} aria-hidden="true">
        0000000000
      </span>
      <div class={isWhole ? '' : 'log-space'} style={isWhole ? {} : { height: `${space}px` }}>
        <div class="log-lines" ref={lines}>
          {Array.from({ length: last - first }, (_, i) => (
            <Line key={first + i - origin} text={lineAt(first + i)} />
          ))}
        </div>
      </div>
    </section>
  );
}

/** The number of rows above each line; the last entry is the total number of rows. */
function rowsOf(lengths: Uint32Array, columns: number): Uint32Array {
  const rows = new Uint32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) {
    rows[i + 1] = rows[i]! + Math.max(1, Math.ceil(Math.min(lengths[i]!, maxLineLength) / columns));
  }
  return rows;
}

/** The line that contains the row. */
function lineOf(rows: Uint32Array, row: number): number {
  let [low, high] = [0, rows.length - 1];
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]! <= row) low = middle;
    else high = middle;
  }
  return low;
}

function Line({ text }: { text: string }) {
  const parts = partsOf(text.slice(0, maxLineLength).replace(/\r$/, ''));
  return (
    <div class="log-line" style={{ tabSize: tabWidth }}>
      {parts.map(({ text: part, name }, i) =>
        name ? (
          <span key={i} class={name}>
            {part}
          </span>
        ) : (
          part
        ),
      )}
      {text.length > maxLineLength && <span class="muted"> … {text.length - maxLineLength} more characters</span>}
      {text === '' && '\n'}
    </div>
  );
}
