// Hashes of RFC 6962 section 2.1 and signed checkpoints (C2SP tlog-checkpoint), for a verifier that does not trust the service.
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';

const sha256 = (...parts: Uint8Array[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');

export const leafHash = (leaf: string): Buffer => sha256(Buffer.of(0), Buffer.from(leaf));

/** A tree that grows by leaf hashes and keeps the hashes of its maximal complete subtrees. */
export function openTree() {
  const subtrees: { leaves: number; hash: Buffer }[] = [];
  const node = (left: Buffer, right: Buffer) => sha256(Buffer.of(1), left, right);
  return {
    add(leaf: Buffer): void {
      let added = { leaves: 1, hash: leaf };
      while (subtrees.at(-1)?.leaves === added.leaves) {
        added = { leaves: added.leaves * 2, hash: node(subtrees.pop()!.hash, added.hash) };
      }
      subtrees.push(added);
    },
    root: (): string => {
      const hashes = subtrees.map((subtree) => subtree.hash);
      return (hashes.length === 0 ? sha256() : hashes.reduceRight((right, left) => node(left, right))).toString(
        'base64',
      );
    },
  };
}

export interface Checkpoint {
  origin: string;
  size: number;
  rootHash: string;
  time: string;
  body: string;
  signatures: string;
}

const notePattern =
  /^((\S+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\ntime (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\n)\n((?:— \S+ [A-Za-z0-9+/=]+\n)+)/gm;

/** The checkpoints in a text, one after the other. */
export const checkpointsIn = (text: string): Checkpoint[] =>
  [...`${text.replaceAll('\r\n', '\n')}\n`.matchAll(notePattern)].map(
    ([, body, origin, size, rootHash, time, signatures]) => ({
      ...{ body: body!, origin: origin!, size: Number(size), rootHash: rootHash!, time: time! },
      signatures: signatures!,
    }),
  );

/** The DER bytes that precede the 32 bytes of an Ed25519 public key (RFC 8410 section 4). */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** Public key, 32 bytes. */
export const ed25519Key = (publicKey: Buffer): KeyObject =>
  createPublicKey({ key: Buffer.concat([derPrefix, publicKey]), format: 'der', type: 'spki' });

/**
 * Whether the checkpoint has a signature that names the checkpoint's log as its signer and is valid for one of the keys.
 * @param publicKeys Ed25519 keys of 32 bytes
 */
export function isSigned({ origin, body, signatures }: Checkpoint, publicKeys: readonly Buffer[]): boolean {
  const own = signatures.split('\n').flatMap((line) => {
    const [, name, bytes] = line.split(' ');
    return name === origin ? [Buffer.from(bytes!, 'base64')] : [];
  });
  return publicKeys.some((publicKey) => {
    const id = sha256(Buffer.from(`${origin}\n`), Buffer.of(1), publicKey).subarray(0, 4);
    const key = ed25519Key(publicKey);
    return own.some(
      (bytes) => bytes.subarray(0, 4).equals(id) && verify(null, Buffer.from(body), key, bytes.subarray(4)),
    );
  });
}

/** Parses a public key in the notation of signed notes, `name+hash+key`. Returns null if the key is not for Ed25519. */
export function publicKeyOf(verifierKey: string): Buffer | null {
  const bytes = Buffer.from(verifierKey.split('+').slice(2).join('+'), 'base64');
  return bytes.length === 33 && bytes[0] === 1 ? bytes.subarray(1) : null;
}
