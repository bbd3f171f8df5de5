// Checkpoints of a Merkle tree (C2SP tlog-checkpoint): signed notes with the origin of the log, its size, its root hash and, as an
// extension line, the time. The time distinguishes the checkpoints of hours without new entries.
import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { isoTime } from '../clock.ts';

export interface TreeHead {
  origin: string;
  size: number;
  /** The root hash in base64. */
  rootHash: string;
  /** When the checkpoint was signed, in epoch milliseconds. */
  time: number;
}

export interface SignedCheckpoint extends TreeHead {
  /** The text that is signed. */
  body: string;
  /** Signatures by the name of their key; the first four bytes of each identify the key. */
  signatures: { name: string; bytes: Buffer }[];
}

/** The identifier of Ed25519 in C2SP signed-note. */
const ed25519Type = Buffer.of(1);

/** The first four bytes of a signature: a hash of the key's name and its 32 public bytes. */
const keyHash = (name: string, publicKey: Buffer): Buffer =>
  hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), ed25519Type, publicKey]), 'buffer').subarray(0, 4);

/** The public key in the text format of signed notes: `name+hash+key`. */
export const verifierKey = (name: string, publicKey: Buffer): string =>
  `${name}+${keyHash(name, publicKey).toString('hex')}+${Buffer.concat([ed25519Type, publicKey]).toString('base64')}`;

export function signCheckpoint(checkpoint: TreeHead, key: { publicKey: Buffer; privateKey: KeyObject }): string {
  const { origin, size, rootHash, time } = checkpoint;
  const body = `${origin}\n${size}\n${rootHash}\ntime ${isoTime(time)}\n`;
  const signature = Buffer.concat([keyHash(origin, key.publicKey), sign(null, Buffer.from(body), key.privateKey)]);
  return `${body}\n— ${origin} ${signature.toString('base64')}\n`;
}

const notePattern =
  /^((\S+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\ntime (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\n)\n((?:— \S+ [A-Za-z0-9+/=]+\n)+)/gm;

/** The checkpoints in a text that may contain several, one after the other. */
export const checkpointsIn = (text: string): SignedCheckpoint[] =>
  [...text.replaceAll('\r\n', '\n').replace(/\n*$/, '\n').matchAll(notePattern)].map(
    ([, body, origin, size, rootHash, time, lines]) => ({
      ...{ body: body!, origin: origin!, size: Number(size), rootHash: rootHash!, time: Date.parse(time!) },
      signatures: [...lines!.matchAll(/^— (\S+) (\S+)$/gm)].map(([, name, bytes]) => ({
        name: name!,
        bytes: Buffer.from(bytes!, 'base64'),
      })),
    }),
  );

/** The DER prefix that turns 32 bytes into an Ed25519 public key (RFC 8410, section 4). */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** The first key that has a valid signature under the name of the log's origin; undefined when no key has one. */
export function signerOf<Key extends { publicKey: Buffer }>(
  { origin, body, signatures }: SignedCheckpoint,
  keys: readonly Key[],
): Key | undefined {
  const own = signatures.filter(({ name }) => name === origin);
  return keys.find(({ publicKey }) => {
    const id = keyHash(origin, publicKey);
    const key = { key: Buffer.concat([derPrefix, publicKey]), format: 'der', type: 'spki' } as const;
    return own.some(
      ({ bytes }) =>
        bytes.subarray(0, 4).equals(id) && verify(null, Buffer.from(body), createPublicKey(key), bytes.subarray(4)),
    );
  });
}
