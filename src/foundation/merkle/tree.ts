// Merkle trees of RFC 6962 section 2.1: root hashes, inclusion proofs and consistency proofs from the hashes of complete subtrees.
import { hash } from 'node:crypto';

export const hashBytes = 32;

const sha256 = (...parts: Uint8Array[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');
const [leafPrefix, nodePrefix] = [Buffer.of(0), Buffer.of(1)];

export const emptyRoot = sha256();
export const leafHash = (leaf: string): Buffer => sha256(leafPrefix, Buffer.from(leaf, 'utf8'));
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(nodePrefix, left, right);

/** Computes the hash of the complete subtree above these hashes, whose number is a power of two. */
export function completeHash(hashes: Buffer): Buffer {
  if (hashes.length === hashBytes) return hashes;
  const half = hashes.length / 2;
  return nodeHash(completeHash(hashes.subarray(0, half)), completeHash(hashes.subarray(half)));
}

/** Reads the hash of the complete subtree with the leaves from `index * 2 ** level` to `(index + 1) * 2 ** level - 1`. */
export type ReadNode = (level: number, index: number) => Promise<Buffer>;

/** Splits a tree: the number of leaves in its left subtree (the largest power of two below the size), and the exponent of that number. */
function split(size: number): { left: number; level: number } {
  let [left, level] = [1, 0];
  for (; left * 2 < size; level++) left *= 2;
  return { left, level };
}

/**
 * Computes the root hash of the `end - begin` leaves from `begin` to `end - 1`. `begin` must be a multiple of the largest power of two that
 * does not exceed `end - begin`.
 */
async function rangeHash(read: ReadNode, begin: number, end: number): Promise<Buffer> {
  const size = end - begin;
  if (size === 1) return read(0, begin);
  const { left, level } = split(size);
  if (left * 2 === size) return read(level + 1, begin / size);
  return nodeHash(await rangeHash(read, begin, begin + left), await rangeHash(read, begin + left, end));
}

/** The root hash of a tree of `size` leaves, MTH(D[n]) in RFC 6962. */
export const rootHash = async (read: ReadNode, size: number): Promise<Buffer> =>
  size === 0 ? emptyRoot : rangeHash(read, 0, size);

/** The inclusion proof of a leaf, counted from 0: PATH(m, D[n]) in RFC 6962. */
export async function inclusionProof(read: ReadNode, leaf: number, size: number): Promise<Buffer[]> {
  const path: Promise<Buffer>[] = [];
  for (let [begin, end] = [0, size]; end - begin > 1; ) {
    const middle = begin + split(end - begin).left;
    const isLeft = leaf < middle;
    path.unshift(isLeft ? rangeHash(read, middle, end) : rangeHash(read, begin, middle));
    if (isLeft) end = middle;
    else begin = middle;
  }
  return Promise.all(path);
}

/**
 * The proof that the tree of `second` leaves begins with the tree of `first` leaves: PROOF(m, D[n]) in RFC 6962. Empty when `first` is 0.
 */
export async function consistencyProof(read: ReadNode, first: number, second: number): Promise<Buffer[]> {
  const proof: Promise<Buffer>[] = [];
  let [begin, end] = [0, second];
  while (first > 0 && end > first) {
    const middle = begin + split(end - begin).left;
    const isLeft = first <= middle;
    proof.unshift(isLeft ? rangeHash(read, middle, end) : rangeHash(read, begin, middle));
    if (isLeft) end = middle;
    else begin = middle;
  }
  // The proof omits the hash of the whole first tree, because the verifier already has that hash.
  if (begin > 0) proof.unshift(rangeHash(read, begin, end));
  return Promise.all(proof);
}

/** A tree to which leaf hashes are added one by one. It keeps only the hashes of its maximal complete subtrees. */
export function openGrowingTree() {
  const subtrees: { leaves: number; hash: Buffer }[] = [];
  return {
    add(hash: Buffer): void {
      let added = { leaves: 1, hash };
      while (subtrees.at(-1)?.leaves === added.leaves) {
        added = { leaves: added.leaves * 2, hash: nodeHash(subtrees.pop()!.hash, added.hash) };
      }
      subtrees.push(added);
    },
    root: (): Buffer =>
      subtrees.length === 0
        ? emptyRoot
        : subtrees.map((one) => one.hash).reduceRight((right, left) => nodeHash(left, right)),
  };
}
