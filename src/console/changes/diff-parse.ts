// Parses the output of `git diff` (git-diff, "Generating patch text with -p"). The lines of a hunk are read by its line counts, so that no
// content is mistaken for a header.

export interface DiffLine {
  kind: ' ' | '+' | '-';
  text: string;
  /** Numbers of the line in both versions; null for a version without the line. */
  old: number | null;
  new: number | null;
  /** Whether the line is the last one of the file and has no line end. */
  endsFile?: boolean;
}

export interface Hunk {
  /** The text after the second `@@`: git's guess at the enclosing function. */
  section: string;
  lines: DiffLine[];
}

export type FileStatus = 'added' | 'deleted' | 'renamed' | 'changed';

export interface FileChange {
  path: string;
  /** The path before a rename; null without one. */
  oldPath: string | null;
  status: FileStatus;
  /** A change that lines do not show: `binary`, a mode, a submodule; null for a text. */
  note: string | null;
  insertions: number;
  deletions: number;
  hunks: Hunk[];
  /** Identifies the content of the change. */
  digest: string;
}

const escapes: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };

/** Decodes a path that git has quoted like a C string. Returns the path, and the text after it. */
function unquote(text: string): [path: string, rest: string] {
  const bytes: number[] = [];
  let i = 1;
  for (; i < text.length && text[i] !== '"'; i++) {
    if (text[i] !== '\\') bytes.push(...new TextEncoder().encode(text[i]));
    else if (/[0-7]/.test(text[i + 1] ?? '')) {
      bytes.push(Number.parseInt(text.slice(i + 1, i + 4), 8));
      i += 3;
    } else bytes.push(escapes[text[++i]!] ?? 63);
  }
  return [new TextDecoder().decode(new Uint8Array(bytes)), text.slice(i + 1)];
}

/** A path of a header line, without the prefix `a/` or `b/`; null for /dev/null. */
function pathOf(text: string, prefix = true): string | null {
  const path = text.startsWith('"') ? unquote(text)[0] : text.replace(/\t$/, '');
  if (path === '/dev/null') return null;
  return prefix ? path.slice(2) : path;
}

/** The path of `diff --git a/x b/x`: used only when no other line has the path. Both paths are then equal. */
function pathOfHeader(rest: string): string {
  if (rest.startsWith('"')) return unquote(rest)[0].slice(2);
  return rest.slice(2, (rest.length - 1) / 2);
}

const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** Reads lines of a text by position, without copying a large text. */
function lineReader(text: string) {
  let at = 0;
  return {
    /** The next line; null at the end. */
    peek(): string | null {
      if (at >= text.length) return null;
      const end = text.indexOf('\n', at);
      return text.slice(at, end < 0 ? text.length : end);
    },
    skip(): void {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end + 1;
    },
    position: () => at,
  };
}
type Lines = ReturnType<typeof lineReader>;

export function parseDiff(text: string): FileChange[] {
  const lines = lineReader(text);
  const files: FileChange[] = [];
  for (let line = lines.peek(); line !== null; line = lines.peek()) {
    if (line.startsWith('diff --git ')) files.push(parseFile(lines, text));
    else lines.skip();
  }
  return files;
}

function parseFile(lines: Lines, text: string): FileChange {
  const start = lines.position();
  const path = pathOfHeader(lines.peek()!.slice('diff --git '.length));
  const file: FileChange = {
    ...{ path, oldPath: null, status: 'changed', note: null, insertions: 0, deletions: 0, hunks: [], digest: '' },
  };
  lines.skip();
  for (let line = lines.peek(); line !== null && !line.startsWith('diff --git '); line = lines.peek()) {
    lines.skip();
    const hunk = hunkHeader.exec(line);
    if (hunk) file.hunks.push(parseHunk(lines, hunk, file));
    else readHeader(file, line);
  }
  if (file.hunks.some(({ lines: [first] }) => first?.text.startsWith('Subproject commit '))) file.note = 'submodule';
  file.digest = digestOf(text.slice(start, lines.position()));
  return file;
}

/**
 * Each key is the prefix of a kind of header line. Its function gets the rest of the line, and returns the properties of the file that the
 * line sets.
 */
const headers: Record<string, (rest: string) => Partial<FileChange>> = {
  '--- ': named,
  '+++ ': named,
  'rename from ': (rest) => ({ oldPath: pathOf(rest, false), status: 'renamed' }),
  'rename to ': (rest) => ({ path: pathOf(rest, false)! }),
  'copy to ': (rest) => ({ path: pathOf(rest, false)!, status: 'added' }),
  'new file mode ': () => ({ status: 'added' }),
  'deleted file mode ': () => ({ status: 'deleted' }),
  'new mode ': (rest) => ({ note: rest === '100755' ? 'now executable' : `mode ${rest}` }),
  'Binary files ': () => ({ note: 'binary' }),
  'GIT binary patch': () => ({ note: 'binary' }),
};

function named(rest: string): Partial<FileChange> {
  const path = pathOf(rest);
  return path === null ? {} : { path };
}

function readHeader(file: FileChange, line: string): void {
  const beginning = Object.keys(headers).find((one) => line.startsWith(one));
  if (beginning) Object.assign(file, headers[beginning]!(line.slice(beginning.length)));
}

function parseHunk(
  lines: Lines,
  [, oldStart, oldCount = '1', newStart, newCount = '1', section]: RegExpExecArray,
  file: FileChange,
): Hunk {
  const hunk: Hunk = { section: section!, lines: [] };
  let [old, now, oldLeft, newLeft] = [Number(oldStart), Number(newStart), Number(oldCount), Number(newCount)];
  for (let line = lines.peek(); line !== null; line = lines.peek()) {
    if (line.startsWith('\\')) hunk.lines.at(-1)!.endsFile = true;
    else if (oldLeft + newLeft <= 0) break;
    else {
      const kind = line[0] === '+' || line[0] === '-' ? line[0] : ' ';
      const text = line.slice(1);
      hunk.lines.push({ kind, text, old: kind === '+' ? null : old++, new: kind === '-' ? null : now++ });
      if (kind !== '+') oldLeft--;
      if (kind !== '-') newLeft--;
      if (kind === '+') file.insertions++;
      if (kind === '-') file.deletions++;
    }
    lines.skip();
  }
  return hunk;
}

/** A hash of 53 bits as text (cyrb53), which only has to detect differences. */
function digestOf(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
}
