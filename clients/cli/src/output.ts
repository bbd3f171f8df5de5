// Output of commands: tables and lines for people, JSON for programs, and exit codes.
import { styleText } from 'node:util';
import { ApiError } from '../../typescript/src/exports.ts';

export const exitCodes = { ok: 0, error: 1, usage: 2, failed: 3, canceled: 4, interrupted: 130 };

type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/** Colors on a terminal only, and never with NO_COLOR (no-color.org). */
export const paint = (style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string =>
  stream.isTTY && !process.env.NO_COLOR ? styleText(style, text) : text;

/** Control characters of a record must not reach the terminal. */
export const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes control characters
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');

/** Whole control sequences (ECMA-48): CSI, strings up to their end, other escapes, and single control characters. */
const controls = new RegExp(
  [
    String.raw`(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]`,
    String.raw`\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)`,
    String.raw`\u001b[ -/]*[0-~]`,
    String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f]`,
  ].join('|'),
  'g',
);
const isColor = (sequence: string): boolean => sequence.startsWith('\u001b[') && /^[\d;:]*m$/.test(sequence.slice(2));

/** Text of an agent for a terminal, with colors as the only control sequences. Programs that read the output get it unchanged. */
export function forTerminal(text: string): string {
  if (!process.stdout.isTTY) return text;
  const lines = text.replace(/\r\n?/g, '\n');
  const shown = lines.replace(controls, (found) => (isColor(found) && !process.env.NO_COLOR ? found : ''));
  return shown.includes('\u001b') ? `${shown}\u001b[0m` : shown;
}

export const printLine = (line: string): void => void process.stdout.write(`${line}\n`);
export const printError = (line: string): void => void process.stderr.write(`${line}\n`);

/** Escapes control characters that `JSON.stringify` leaves unchanged. */
export const toJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(/[\u007f-\u009f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
export const printJson = (value: unknown): void => printLine(toJson(value, 2));

/** Prints one line per record, in columns. */
export function printTable<Row>(rows: readonly Row[], columns: Record<string, (row: Row) => unknown>): void {
  if (rows.length === 0) {
    printError('None found.');
    return;
  }
  const cells = rows.map((row) =>
    Object.values(columns).map((read) => plain(String(read(row) ?? '')).replace(/\s+/g, ' ')),
  );
  const names = Object.keys(columns).map((name) => name.toUpperCase());
  const widths = names.map((name, i) => Math.max(name.length, ...cells.map((line) => line[i]!.length)));
  const inColumns = (line: string[]) =>
    line
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  printLine(paint('dim', inColumns(names)));
  for (const line of cells) printLine(inColumns(line));
}

/** Prints one line per member. */
export function printRecord(members: Record<string, unknown>): void {
  const width = Math.max(...Object.keys(members).map((name) => name.length));
  for (const [name, value] of Object.entries(members)) {
    if (value !== null && value !== undefined)
      printLine(`${paint('dim', name.padEnd(width))}  ${plain(String(value))}`);
  }
}

export const timeOf = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');

const statusStyles: Record<string, Style> = {
  completed: 'green',
  failed: 'red',
  running: 'cyan',
  skipped: 'dim',
  canceled: 'dim',
};
export const paintStatus = (status: string): string => paint(statusStyles[status] ?? 'yellow', status);

/** Prints the error and sets the exit code. */
export function endWithError(error: unknown, asJson: boolean): void {
  process.exitCode = exitCodes.error;
  const { message } = error as Error;
  if (asJson) {
    const { status, code, requestId, retryable, fields, missingScopes } = error as Partial<ApiError>;
    printError(toJson({ error: { message, status, code, requestId, retryable, fields, missingScopes } }));
    return;
  }
  printError(`${paint('red', 'error', process.stderr)}: ${plain(message)}`);
  if (error instanceof ApiError && error.requestId) printError(`Request id: ${error.requestId}`);
}
