// The verification of an exported audit log without the service. Each line of the file is an entry with its leaf hash, in the order of the
// entries' numbers, or a checkpoint with its key. The bytes of an entry are hashed as they stand in the line.
import { type Checkpoint, checkpointsIn, isSigned, leafHash, openTree, publicKeyOf } from './audit-notes.ts';

export interface FileReport {
  /** Number of entries whose text is in the file. */
  entries: number;
  /** The number of the first entry that the log still has. Earlier entries were deleted after their retention period. */
  firstNumber: number;
  /** The number of entries that a checkpoint has signed. */
  signed: number;
  checkpoints: number;
  /** Findings as sentences; empty for a log that was not changed. */
  findings: string[];
}

interface Line {
  number: number;
  leafHash: Buffer;
  /** The text of the entry; null for one that was deleted. */
  text: string | null;
}

// A line of an audit stream has personal values in plain text before the entry. The unescaped quotes of `},"entry":`
// cannot occur inside a JSON string.
const entryPattern =
  /^\{"number":([1-9]\d{0,8}),"leafHash":"([A-Za-z0-9+/]{43}=)",(?:"personal":\{.*?\},)?"entry":(.*)\}$/;

/** The line of an entry in the file. */
export const entryLine = (number: number, leafHash: string, entry: string | null): string =>
  `{"number":${number},"leafHash":"${leafHash}","entry":${entry}}`;

function readEntry(line: string): Line | null {
  const [, number, hash, text] = entryPattern.exec(line) ?? [];
  if (!number) return null;
  return { number: Number(number), leafHash: Buffer.from(hash!, 'base64'), text: text === 'null' ? null : text! };
}

/**
 * The service deletes no entry that is younger than this. If the first entries of the log are missing, a checkpoint that covers them must
 * therefore be at least this much older than the newest checkpoint; otherwise the missing entries are reported. The value is less than the
 * shortest retention of an audit log, because a checkpoint may be signed some time after the entries that it covers.
 */
const minKeptMs = 28 * 86_400_000;

/**
 * Verifies the lines of an exported audit log. @param trusted Public keys; absent means the keys in the file. @param
 * kept Checkpoints that were kept elsewhere
 */
export async function verifyFile(
  lines: AsyncIterable<string>,
  { trusted, kept }: { trusted?: readonly Buffer[] | undefined; kept: readonly Checkpoint[] },
): Promise<FileReport> {
  const read = await readLines(lines);
  const { findings } = read;
  const keys = trusted ?? read.keys;
  const isOfLog = (checkpoint: Checkpoint) => read.orgId === null || checkpoint.origin.endsWith(`/audit/${read.orgId}`);
  const all = [...read.checkpoints, ...kept.filter(isOfLog)];
  const valid = all.filter((checkpoint) => isOfLog(checkpoint) && isSigned(checkpoint, keys));
  for (const checkpoint of all.filter((one) => !valid.includes(one))) {
    findings.push(`The checkpoint of ${checkpoint.time} has no valid signature.`);
  }
  if (all.length === 0) findings.push('The file has no checkpoint.');
  valid.sort((a, b) => a.size - b.size || (a.time < b.time ? -1 : 1));
  const signed = compareRoots(read.leaves, valid, findings);
  reportEarlyDeletion(read.firstNumber, valid, findings);
  return { entries: read.entries, firstNumber: read.firstNumber, signed, checkpoints: valid.length, findings };
}

async function readLines(lines: AsyncIterable<string>) {
  const leaves: (Buffer | undefined)[] = [];
  const places = new Map<number, number>();
  const ranges = openRanges();
  const findings: string[] = [];
  const checkpoints: Checkpoint[] = [];
  const keys: Buffer[] = [];
  let [entries, firstNumber, place, at] = [0, 1, 0, 0];
  let orgId: string | null = null;
  for await (const line of lines) {
    at++;
    const entry = readEntry(line);
    if (!entry) {
      const found = readCheckpoint(line);
      if (found) {
        checkpoints.push(found.checkpoint);
        if (found.key) keys.push(found.key);
      } else if (line !== '') findings.push(`Line ${at} is neither an entry nor a checkpoint.`);
      continue;
    }
    place++;
    const { number, text } = entry;
    if (leaves[number - 1]) ranges.add('added', number);
    leaves[number - 1] ??= entry.leafHash;
    if (number !== place) places.set(place, number);
    if (text === null && entries === 0) firstNumber = number + 1;
    else if (text === null) ranges.add('missing', number);
    else {
      entries++;
      const values = valuesOf(text);
      orgId ??= values?.orgId ?? null;
      if (!leafHash(text).equals(entry.leafHash) || values?.number !== number) ranges.add('edited', number);
    }
  }
  for (let i = 0; i < leaves.length; i++) if (!leaves[i]) ranges.add('missing', i + 1);
  if (leaves.length === place) reportPlaces(places, findings);
  findings.unshift(...ranges.list());
  return { leaves, entries, firstNumber, orgId, checkpoints, keys, findings };
}

function valuesOf(text: string): { number?: number; orgId?: string } | null {
  try {
    return JSON.parse(text) as { number?: number; orgId?: string };
  } catch {
    return null;
  }
}

function readCheckpoint(line: string): { checkpoint: Checkpoint; key: Buffer | null } | null {
  const { checkpoint: note, key } = (valuesOf(line) ?? {}) as { checkpoint?: unknown; key?: unknown };
  const [checkpoint] = typeof note === 'string' ? checkpointsIn(note) : [];
  return checkpoint ? { checkpoint, key: typeof key === 'string' ? publicKeyOf(key) : null } : null;
}

/** Lines of the file that are not in their expected order. */
function reportPlaces(places: ReadonlyMap<number, number>, findings: string[]): void {
  for (const [place, number] of places) {
    const isSwapped = places.get(number) === place;
    if (!isSwapped) findings.push(`Entry ${number} is not in its place.`);
    else if (place < number) findings.push(`Entries ${place} and ${number} were swapped.`);
  }
}

/**
 * Compares the Merkle root in each checkpoint with the root of the entries in the file. Adds a finding for the first checkpoint that differs,
 * and then stops, because all later checkpoints differ too. Returns how many entries the matching checkpoints cover.
 */
function compareRoots(
  leaves: readonly (Buffer | undefined)[],
  checkpoints: readonly Checkpoint[],
  findings: string[],
): number {
  const tree = openTree();
  let [added, matched] = [0, 0];
  for (const { size, rootHash, time } of checkpoints) {
    if (size > leaves.length) {
      findings.push(
        `Entries ${leaves.length + 1} to ${size} are missing: the checkpoint of ${time} has ${size} entries, the file ${leaves.length}.`,
      );
      break;
    }
    for (; added < size; added++) {
      const leaf = leaves[added];
      // A missing hash leaves no root to compare; the missing entry is named instead.
      if (!leaf) return matched;
      tree.add(leaf);
    }
    if (tree.root() !== rootHash) {
      findings.push(`Entries ${matched + 1} to ${size} differ from what the checkpoint of ${time} signed.`);
      break;
    }
    matched = size;
  }
  return matched;
}

function reportEarlyDeletion(firstNumber: number, checkpoints: readonly Checkpoint[], findings: string[]): void {
  if (firstNumber === 1) return;
  const times = checkpoints.map(({ time }) => Date.parse(time));
  const first = checkpoints.find(({ size }) => size >= firstNumber - 1);
  if (first && Date.parse(first.time) <= Math.max(...times) - minKeptMs) return;
  findings.push(
    `Entries up to ${firstNumber - 1} are missing, although no checkpoint shows that they were old enough to be deleted.`,
  );
}

const words = {
  edited: ['was', 'edited'],
  missing: ['is', 'missing'],
  added: ['is', 'in the file more than once'],
} as const;

/** Adjacent entries with the same finding, as one sentence. */
function openRanges() {
  const ranges: { kind: keyof typeof words; first: number; last: number }[] = [];
  return {
    add(kind: keyof typeof words, number: number): void {
      const open = ranges.findLast((range) => range.kind === kind);
      if (open?.last === number - 1) open.last = number;
      else ranges.push({ kind, first: number, last: number });
    },
    list: (): string[] =>
      ranges.map(({ kind, first, last }) => {
        const [verb, rest] = words[kind];
        if (first === last) return `Entry ${first} ${verb} ${rest}.`;
        return `Entries ${first} to ${last} ${verb === 'is' ? 'are' : 'were'} ${rest}.`;
      }),
  };
}
