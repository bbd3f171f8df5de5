// Verifies an audit log: its events against the leaves of its tree, and the tree against every signed checkpoint.
import { days, hours, isoTime, now } from '#foundation/clock.ts';
import { checkpointsIn, type SignedCheckpoint, signerOf } from '#foundation/merkle/checkpoints.ts';
import { tileBytes, tileWidth } from '#foundation/merkle/tiles.ts';
import { completeHash, hashBytes, openGrowingTree } from '#foundation/merkle/tree.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { retentionDays } from '../bounds.ts';
import { hourlyMs } from './checkpoints.ts';
import { type Findings, openFindings } from './findings.ts';
import { readTree, type TreeState } from './growth.ts';
import { joinedKeysOf } from './joined-keys.ts';
import { ownKeys } from './keys.ts';
import { AuditCheckpoint } from './model.ts';
import { readTile } from './tiles.ts';
import { verifyEntries } from './verify-entries.ts';

export interface Verification {
  /** Number of leaves in the tree, including the leaves of events that were deleted because of their age. */
  size: number;
  /** Number of the oldest event that still exists. */
  firstNumber: number;
  /** Number of events that are not in the tree yet; they are added within seconds. */
  notInTree: number;
  checkpoints: number;
  lastCheckpoint: { size: number; time: string } | null;
  /** Periods of more than two hours in the last thirty days without a checkpoint: the service was stopped, or checkpoints were deleted. */
  gaps: { from: string; to: string }[];
  findings: string[];
}

interface Expected {
  checkpoint: SignedCheckpoint;
  /** Text with which findings refer to the checkpoint. */
  name: string;
}

/** Verifies the log in one snapshot of the database. @param given Checkpoints kept outside the service; checkpoints of other logs are ignored */
export const verifyLog = (orgId: string, given: readonly SignedCheckpoint[]): Promise<Verification> =>
  transaction(async (trx) => {
    await trx.raw('set transaction isolation level repeatable read, read only');
    return verifyLogIn(trx, orgId, given);
  });

/** Verifies the log as the transaction sees it. */
export async function verifyLogIn(
  trx: Transaction,
  orgId: string,
  given: readonly SignedCheckpoint[],
): Promise<Verification> {
  const state = await readTree(orgId, trx);
  const findings = openFindings();
  const stored = await AuditCheckpoint.findAll({ orgId: orgId as AuditCheckpoint['orgId'] }, trx);
  const expected = await expectedOf(trx, orgId, { stored, given, findings });
  const comparison = compareRoots(expected, findings);
  const leaves = collectTiles();
  const onLeaf = (number: number, leaf: Buffer) => {
    comparison.add(number, leaf);
    leaves.add(leaf);
  };
  await verifyEntries(trx, orgId, { state, findings, onLeaf });
  await verifyUpperTiles(trx, orgId, { hashes: leaves.hashes, findings });
  reportTruncation(expected, state, findings);
  reportEarlyDeletion(expected, state, findings);
  const last = expected.filter(({ name }) => name === '').at(-1)?.checkpoint;
  return {
    ...{ size: state.treeSize, firstNumber: state.firstNumber, notInTree: state.lastNumber - state.treeSize },
    ...{ checkpoints: stored.length, lastCheckpoint: last ? { size: last.size, time: isoTime(last.time) } : null },
    gaps: gapsOf(stored),
    findings: findings.list(),
  };
}

/** Checkpoints with valid signatures, ordered by size. Every other checkpoint causes a finding. */
async function expectedOf(
  trx: Transaction,
  orgId: string,
  { stored, given, findings }: { stored: AuditCheckpoint[]; given: readonly SignedCheckpoint[]; findings: Findings },
): Promise<Expected[]> {
  const [{ keys, foreign }, joined] = [await ownKeys(), await joinedKeysOf(orgId, trx)];
  for (const id of [...foreign, ...joined.foreign])
    findings.add(`The key ${id} is not one of this service: it has no private key that SECRET_KEY opens.`);
  const isOwn = ({ origin }: SignedCheckpoint) => origin.endsWith(`/audit/${orgId}`);
  const keysAt = (time: number) => [
    ...keys,
    ...joined.keys
      .filter(({ retiredAt }) => time <= retiredAt)
      .map(({ publicKey }) => ({ publicKey: Buffer.from(publicKey, 'base64') })),
  ];
  const signed = (checkpoint: SignedCheckpoint | undefined) =>
    checkpoint && isOwn(checkpoint) && signerOf(checkpoint, keysAt(checkpoint.time)) ? checkpoint : null;
  const expected: Expected[] = [];
  for (const row of stored) {
    const checkpoint = signed(checkpointsIn(row.note)[0]);
    if (checkpoint?.size === row.size && checkpoint.rootHash === row.rootHash && checkpoint.time === row.createdAt) {
      expected.push({ checkpoint, name: '' });
    } else
      findings.add(`The checkpoint ${row.id} was changed: its signature is invalid, or belongs to different values.`);
  }
  for (const checkpoint of given.filter(isOwn)) {
    if (signed(checkpoint)) expected.push({ checkpoint, name: 'given ' });
    else findings.add(`The given checkpoint of ${isoTime(checkpoint.time)} has no valid signature.`);
  }
  return expected.sort((a, b) => a.checkpoint.size - b.checkpoint.size || a.checkpoint.time - b.checkpoint.time);
}

/** Compares the root hash with each checkpoint. Only the first difference is reported, because all larger trees differ too. */
function compareRoots(expected: readonly Expected[], findings: Findings) {
  const tree = openGrowingTree();
  let [at, matched, differs] = [0, 0, false];
  const compare = (size: number) => {
    for (; expected[at]?.checkpoint.size === size; at++) {
      const { checkpoint, name } = expected[at]!;
      const isSame = tree.root().toString('base64') === checkpoint.rootHash;
      if (isSame) matched = size;
      else if (!differs) {
        differs = true;
        const range = size === matched + 1 ? `Entry ${size} differs` : `Entries ${matched + 1} to ${size} differ`;
        findings.add(`${range} from what the ${name}checkpoint of ${isoTime(checkpoint.time)} signed.`);
      }
    }
  };
  compare(0);
  return {
    add(number: number, leaf: Buffer): void {
      tree.add(leaf);
      compare(number);
    },
  };
}

/** Collects the hashes of full tiles on each level, from the leaves upwards. */
function collectTiles() {
  const hashes: Buffer[] = [];
  let tile: Buffer[] = [];
  return {
    hashes,
    add(leaf: Buffer): void {
      tile.push(leaf);
      if (tile.length < tileWidth) return;
      hashes.push(completeHash(Buffer.concat(tile)));
      tile = [];
    },
  };
}

/** Compares the stored hashes of the upper levels, which proofs use, with the hashes that are computed from the leaves. */
async function verifyUpperTiles(
  trx: Transaction,
  orgId: string,
  { hashes, findings }: { hashes: readonly Buffer[]; findings: Findings },
): Promise<void> {
  let below = hashes;
  for (let level = 1; below.length > 0; level++) {
    const above: Buffer[] = [];
    for (let first = 0; first < below.length; first += tileWidth) {
      const computed = Buffer.concat(below.slice(first, first + tileWidth));
      const stored = await readTile(orgId, level, first / tileWidth, trx);
      if (!stored.equals(computed)) {
        const differs = below
          .slice(first)
          .findIndex((hash, i) => !stored.subarray(i * hashBytes, (i + 1) * hashBytes).equals(hash));
        const leaves = tileWidth ** level;
        const from = (first + Math.max(differs, 0)) * leaves + 1;
        const to = (first + computed.length / hashBytes) * leaves;
        findings.add(`The hashes of the tree above entries ${from} to ${to} were changed.`);
      }
      if (computed.length === tileBytes) above.push(completeHash(computed));
    }
    below = above;
  }
}

function reportTruncation(expected: readonly Expected[], { treeSize }: TreeState, findings: Findings): void {
  const last = expected.at(-1);
  if (!last || last.checkpoint.size <= treeSize) return;
  const { size, time } = last.checkpoint;
  findings.add(
    `Entries ${treeSize + 1} to ${size} are missing: the ${last.name}checkpoint of ${isoTime(time)} has ${size} entries, the log ${treeSize}. ` +
      'It was truncated, or the database was restored to an earlier state.',
  );
}

/**
 * Reports missing events that are younger than the shortest allowed retention. Their age is estimated from the checkpoints, because each
 * day has at least one.
 */
function reportEarlyDeletion(expected: readonly Expected[], { firstNumber }: TreeState, findings: Findings): void {
  const first = expected.find(({ checkpoint }) => checkpoint.size >= firstNumber - 1);
  if (firstNumber === 1 || (first && first.checkpoint.time <= now() - days(retentionDays.min - 2))) return;
  findings.add(
    `Entries up to ${firstNumber - 1} are missing, although they are younger than ${retentionDays.min} days.`,
  );
}

function gapsOf(stored: readonly AuditCheckpoint[]): Verification['gaps'] {
  const begin = now() - hourlyMs;
  const times = [...stored.map(({ createdAt }) => createdAt), now()].sort((a, b) => a - b);
  return times
    .flatMap((to, i) => {
      const from = Math.max(times[i - 1] ?? to, begin);
      return to - from > hours(2) ? [{ from: isoTime(from), to: isoTime(to) }] : [];
    })
    .slice(0, 100);
}
