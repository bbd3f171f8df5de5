// The files that a change concerns, read from its diff (git-diff, "Generating patch text with -p").
import { createInterface } from 'node:readline';
import { readContent } from '../artifacts/content.ts';
import type { Artifact } from '../artifacts/model.ts';
import { attemptBounds } from './bounds.ts';

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' };

/** The name without git's quotation marks and escapes, in which octal numbers are bytes of UTF-8. */
function unquoted(name: string): string {
  if (!name.startsWith('"')) return name.replace(/\t$/, '');
  const bytes = name
    .slice(1, -1)
    .replaceAll(/\\([0-7]{3}|.)/g, (_, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (escapes[code] ?? code),
    );
  return /[\x80-\xff]/.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

/** The name in `diff --git a/NAME b/NAME` if both names are equal, as in changes without further headers; null otherwise. */
function nameOfBoth(line: string): string | null {
  const names = line.slice('diff --git '.length);
  const half = (names.length - 1) / 2;
  const [first, second] = [unquoted(names.slice(0, half)), unquoted(names.slice(half + 1))];
  return first.slice(2) === second.slice(2) ? second.slice(2) : null;
}

const headers: readonly [start: string, skipped: number][] = [
  ['+++ ', 2],
  ['rename to ', 0],
  ['copy to ', 0],
  ['--- ', 2],
];

/** The paths in a diff, sorted, at most 1,000. */
export async function pathsIn(lines: AsyncIterable<string>): Promise<string[]> {
  const paths = new Set<string>();
  let present: { fallback: string | null; found: string | null; rank: number } | null = null;
  const end = () => {
    const path = present?.found ?? present?.fallback;
    if (path) paths.add(path);
  };
  for await (const line of lines) {
    if (paths.size >= attemptBounds.paths) break;
    if (line.startsWith('diff --git ')) {
      end();
      present = { fallback: nameOfBoth(line), found: null, rank: headers.length };
    } else if (line.startsWith('@@')) {
      // Lines of a hunk may look like headers, so they are skipped.
      if (present) present.rank = -1;
    } else if (present) {
      const rank = headers.findIndex(([start]) => line.startsWith(start));
      const name = rank < 0 ? '' : unquoted(line.slice(headers[rank]![0].length));
      if (rank >= 0 && rank < present.rank && name !== '/dev/null') {
        Object.assign(present, { found: name.slice(headers[rank]![1]), rank });
      }
    }
  }
  end();
  return [...paths]
    .filter((path) => path.isWellFormed() && !path.includes('\0'))
    .slice(0, attemptBounds.paths)
    .sort();
}

/** Cache of the paths in the most recently read diffs, because a page with images requests them twice per image. */
const recent = new Map<string, Promise<string[] | null>>();
const maxRecent = 50;

/**
 * The paths of the changed files in an artifact that contains a diff; null when the diff cannot be read. The paths are cached, because an artifact
 * never changes.
 */
export function changedPaths(artifact: Artifact): Promise<string[] | null> {
  const known = recent.get(artifact.id);
  if (known) return known;
  const reading = readPaths(artifact);
  recent.set(artifact.id, reading);
  reading.catch(() => null).then((paths) => paths ?? recent.delete(artifact.id));
  if (recent.size > maxRecent) recent.delete(recent.keys().next().value!);
  return reading;
}

async function readPaths(artifact: Artifact): Promise<string[] | null> {
  const content = await readContent(artifact);
  return content && pathsIn(createInterface({ input: content, crlfDelay: Number.POSITIVE_INFINITY }));
}
