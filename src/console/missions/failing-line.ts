// Finds the line of a log that reports a failure.
import { plain } from '../kit/ansi.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's red, as ECMA-48 has it
const red = /\u001b\[(?:\d+;)*(?:31|91)m/;
const words = /\b(?:not ok|error|errors|failed|failure|fatal|panic|exception|traceback|denied)\b|[✗✖✘]|^E\s{2,}|^FAIL/i;
/** Matches summaries without a failure, such as `0 errors`. */
const clean = /\b(?:0|no) (?:errors?|failed|failures?)\b|\b(?:errors?|failed|failures?):? 0\b/i;

/** The first line of the last group of red lines, or else of the last group of lines with a word such as `failed`; -1 if there is none. */
export function failingLine(lines: readonly string[]): number {
  const isRed = (line: string) => red.test(line) && plain(line).trim() !== '';
  const isFailure = (line: string) => words.test(plain(line)) && !clean.test(plain(line));
  for (const fails of [isRed, isFailure]) {
    let at = lines.findLastIndex(fails);
    while (at > 0 && fails(lines[at - 1]!)) at--;
    if (at >= 0) return at;
  }
  return -1;
}
