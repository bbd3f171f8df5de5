// Proofs for readers of the audit log: that an entry is in the tree, and that a later tree begins with an earlier one.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, wholeOrganization } from '#access/reach.ts';
import { consistencyProof, inclusionProof, rootHash } from '#foundation/merkle/tree.ts';
import { type Page, type PageRequest, packCursor, unpackCursor } from '#foundation/postgres/cursor.ts';
import { sql } from '#foundation/postgres/database.ts';
import { selectionOf } from '#foundation/postgres/reads.ts';
import { invalid, notFound } from '#foundation/problem.ts';
import { AuditEvent } from '../model.ts';
import { numberChanges } from '../numbers.ts';
import { entryText } from './entry.ts';
import { growTree, readTree, type TreeState } from './growth.ts';
import { AuditCheckpoint } from './model.ts';
import { readNodes } from './tiles.ts';

/**
 * Lists the checkpoints of the organization. @throws 403 for a project-bound credential, because a checkpoint reveals the number of entries
 * in all projects
 */
export function listCheckpoints(caller: Caller, request: PageRequest): Promise<Page<AuditCheckpoint>> {
  return AuditCheckpoint.page({ orgId: wholeOrganization(caller) }, request);
}

/** The tree, after adding every change that was committed before the call. */
async function currentTree(caller: Caller): Promise<TreeState & { orgId: string }> {
  const orgId = wholeOrganization(caller);
  await numberChanges(orgId);
  await growTree(orgId);
  return { orgId, ...(await readTree(orgId)) };
}

const base64 = (hash: Buffer): string => hash.toString('base64');

export interface EventProof {
  number: number;
  size: number;
  entry: string | null;
  leafHash: string;
  rootHash: string;
  hashes: string[];
}

/**
 * The proof that the event is in the tree of the first `size` events; without `size`, in the tree of all events. @throws 404 for a number
 * without an entry, 400 for a size that excludes the entry
 */
export async function proveEvent(
  caller: Caller,
  { number, size: wanted }: { number: number; size?: number | null | undefined },
): Promise<EventProof> {
  const { orgId, treeSize } = await currentTree(caller);
  if (number < 1 || number > treeSize) throw notFound('event');
  const size = wanted ?? treeSize;
  if (size < number || size > treeSize) throw invalid.field('size', `must be ${number} to ${treeSize}`);
  const read = readNodes(orgId);
  const [leaf, root, hashes] = await Promise.all([
    read(0, number - 1),
    rootHash(read, size),
    inclusionProof(read, number - 1, size),
  ]);
  const event = await AuditEvent.find({ orgId: orgId as AuditEvent['orgId'], number });
  const text = event ? entryText(event) : null;
  return { number, size, entry: text, leafHash: base64(leaf), rootHash: base64(root), hashes: hashes.map(base64) };
}

export interface Consistency {
  first: number;
  second: number;
  firstRootHash: string;
  secondRootHash: string;
  hashes: string[];
}

/** The proof that the second tree begins with the first. @throws 400 for a size beyond the tree, or for a second tree smaller than the first */
export async function proveConsistency(
  caller: Caller,
  { first, second }: { first: number; second: number },
): Promise<Consistency> {
  const { orgId, treeSize } = await currentTree(caller);
  if (second > treeSize) throw invalid.field('second', `must be at most ${treeSize}`);
  if (first > second) throw invalid.field('first', `must be at most ${second}`);
  const read = readNodes(orgId);
  const [firstRoot, secondRoot, hashes] = await Promise.all([
    rootHash(read, first),
    rootHash(read, second),
    consistencyProof(read, first, second),
  ]);
  return {
    ...{ first, second, firstRootHash: base64(firstRoot), secondRootHash: base64(secondRoot) },
    hashes: hashes.map(base64),
  };
}

export interface TreeEntry {
  number: number;
  entry: string | null;
  leafHash: string;
}

const eventsSql = `${selectionOf(AuditEvent)} where org_id = $1 and number > $2 and number <= $3 order by number, created_at`;

/** Entries of the tree, oldest first, for a copy that another program verifies. */
export async function listEntries(caller: Caller, { limit, cursor }: PageRequest): Promise<Page<TreeEntry>> {
  const binding = `audit_entries\n${ownOrganization(caller)}`;
  const after = cursor == null ? 0 : unpackCursor(binding, cursor)[0];
  const { orgId, treeSize } = await currentTree(caller);
  const end = Math.min(after + limit, treeSize);
  const data = await readTreeEntries(orgId, after, end);
  return { data, nextCursor: end < treeSize ? packCursor(binding, end, 'n') : null };
}

/** Entries of the tree with numbers above `after` and at most `end`, with the events as stored. */
export async function readTreeEntries(
  orgId: string,
  after: number,
  end: number,
): Promise<(TreeEntry & { event: AuditEvent | undefined })[]> {
  const stored = await sql<AuditEvent>(eventsSql, [orgId, after, end]);
  const events = new Map(stored.reverse().map((event) => [event.number, event]));
  const read = readNodes(orgId);
  return Promise.all(
    Array.from({ length: Math.max(end - after, 0) }, async (_, i) => {
      const event = events.get(after + 1 + i);
      const entry = event ? entryText(event) : null;
      return { number: after + 1 + i, entry, leafHash: base64(await read(0, after + i)), event };
    }),
  );
}
