// Holds the part of a log that was read. The page first reads a piece at the end of the log. Older pieces are then inserted above it, and
// new output is appended below it. For each line, only its offset in the text of its piece and its arrival time are stored, so that a million
// lines take little more memory than their text.
import { hasColors, plain } from '../kit/ansi.ts';

interface Piece {
  /** Whole lines, with line breaks between them. */
  text: string;
  /** Offset of the beginning of each line. */
  starts: Uint32Array;
  /** When each line arrived, in milliseconds; 0 means unknown. */
  times: Float64Array;
}

/** Arrival time of the lines from `line` up to the next entry. */
export interface LogTime {
  line: number;
  at: number;
}

/** New lines are not appended to a piece that is longer than this, in characters. */
const maxPieceLength = 1024 * 1024;

export class LogText {
  #pieces: Piece[] = [];
  /**
   * The text of the oldest line that was read. The beginning of this line may be missing, because it may be in an older piece that was not
   * read yet. Null means that nothing was read yet, or that the pieces that were read begin with the first line of the log.
   */
  #head: string | null = null;
  /** Arrival time of the line whose end is in `#head`. */
  #headAt = 0;
  #endsLine = true;
  /** Number of lines. */
  length = 0;
  /** Number of older lines that were inserted above the lines that were read first. */
  prepended = 0;
  /** Number of characters. */
  size = 0;

  /** Puts the piece before all other pieces. `isFirst`: the log begins with it. */
  prepend(text: string, isFirst: boolean, times: readonly LogTime[] = []): void {
    this.size += text.length;
    const isEmpty = this.#head === null;
    if (isEmpty) this.#endsLine = text.endsWith('\n');
    const all = (isEmpty ? text.replace(/\n$/, '') : text) + (this.#head ?? '');
    const begin = isFirst ? 0 : all.indexOf('\n') + 1;
    // If the older piece `text` ends with a line break, `#head` is a whole line. This line arrived at `#headAt`, so an entry for the line is
    // added to the arrival times of the piece.
    const known = !isEmpty && text.endsWith('\n') ? [...times, { line: breaksIn(text), at: this.#headAt }] : times;
    this.#headAt = times[0]?.line === 0 ? times[0].at : 0;
    this.#head = isFirst ? null : begin === 0 ? all : all.slice(0, begin - 1);
    if (!isFirst && begin === 0) return;
    const piece = pieceOf(all.slice(begin), isFirst ? known : linesFrom(1, known));
    if (this.length > 0) this.prepended += piece.starts.length;
    this.#pieces.unshift(piece);
    this.length += piece.starts.length;
  }

  /**
   * Appends a piece of the log. The first line of `text` may continue the last line that was read. @param times Arrival times, whose line
   * numbers count from the first line of `text`
   */
  append(text: string, times: readonly LogTime[] = []): void {
    if (text === '') return;
    this.size += text.length;
    const last = this.#pieces.pop();
    const between = this.#endsLine ? '\n' : '';
    this.#endsLine = text.endsWith('\n');
    const more = text.replace(/\n$/, '');
    if (!last) {
      this.#head += between + more;
      return;
    }
    this.length -= last.starts.length;
    const isFull = between && last.text.length > maxPieceLength;
    const added = isFull
      ? [last, pieceOf(more, times)]
      : [pieceOf(last.text + between + more, between ? times : linesFrom(1, times), last.times)];
    this.#pieces.push(...added);
    for (const { starts } of added) this.length += starts.length;
  }

  #find(line: number): [piece: Piece, at: number] {
    let at = line;
    for (const piece of this.#pieces) {
      if (at < piece.starts.length) return [piece, at];
      at -= piece.starts.length;
    }
    throw new RangeError(`no line ${line}`);
  }

  line(line: number): string {
    const [piece, at] = this.#find(line);
    return piece.text.slice(piece.starts[at]!, endOf(piece, at));
  }

  lengthOf(line: number): number {
    const [piece, at] = this.#find(line);
    return endOf(piece, at) - piece.starts[at]!;
  }

  /** When the line arrived; 0 means unknown. */
  timeOf(line: number): number {
    const [piece, at] = this.#find(line);
    return piece.times[at]!;
  }

  /** The number of characters in each line, including control sequences. */
  lengths(): Uint32Array {
    const lengths = new Uint32Array(this.length);
    let line = 0;
    for (const piece of this.#pieces) {
      for (let at = 0; at < piece.starts.length; at++) lengths[line++] = endOf(piece, at) - piece.starts[at]!;
    }
    return lengths;
  }

  /** Lines that contain the words, ignoring case. */
  linesWith(words: string): number[] {
    const wanted = words.toLowerCase();
    const found: number[] = [];
    let first = 0;
    for (const piece of this.#pieces) {
      const { text, starts } = piece;
      const lower = text.toLowerCase();
      if (hasColors(text) || lower.length !== text.length) {
        for (let at = 0; at < starts.length; at++) {
          const line = plain(text.slice(starts[at]!, endOf(piece, at)));
          if (line.toLowerCase().includes(wanted)) found.push(first + at);
        }
      } else {
        let at = 0;
        for (let hit = lower.indexOf(wanted); hit >= 0; hit = lower.indexOf(wanted, endOf(piece, at))) {
          while (at + 1 < starts.length && starts[at + 1]! <= hit) at++;
          found.push(first + at);
        }
      }
      first += starts.length;
    }
    return found;
  }

  /** All text that was read, in parts. */
  parts(): string[] {
    const lines = this.#pieces.map(({ text }, i) =>
      i < this.#pieces.length - 1 || this.#endsLine ? `${text}\n` : text,
    );
    return this.#head === null ? lines : [this.#head + (lines.length > 0 || this.#endsLine ? '\n' : ''), ...lines];
  }
}

const breaksIn = (text: string): number => text.split('\n').length - 1;

const endOf = ({ text, starts }: Piece, at: number): number => (starts[at + 1] ?? text.length + 1) - 1;

/**
 * Creates a piece with the text. @param known Arrival times of the lines that follow the first `earlier.length` lines @param earlier Arrival
 * times of the first lines
 */
function pieceOf(text: string, known: readonly LogTime[], earlier: ArrayLike<number> = []): Piece {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const times = new Float64Array(starts.length);
  times.set(earlier);
  const lines = times.subarray(earlier.length);
  for (const [i, { line, at }] of known.entries()) lines.fill(at, line, known[i + 1]?.line);
  return { text, starts: Uint32Array.from(starts), times };
}

/** Times of the lines from `first` on, with line numbers relative to `first`. */
const linesFrom = (first: number, times: readonly LogTime[]): LogTime[] =>
  times
    .filter((_, i) => (times[i + 1]?.line ?? Number.POSITIVE_INFINITY) > first)
    .map(({ line, at }) => ({ line: Math.max(0, line - first), at }));
