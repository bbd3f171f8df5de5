// Merkle trees against the vectors of Certificate Transparency and a direct transcription of RFC 6962 section 2.1; checkpoints as signed
// notes.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { canonicalJson } from '#foundation/merkle/canonical-json.ts';
import { checkpointsIn, signCheckpoint, signerOf, verifierKey } from '#foundation/merkle/checkpoints.ts';
import { nodesOf, tileWidth } from '#foundation/merkle/tiles.ts';
import {
  completeHash,
  consistencyProof,
  emptyRoot,
  inclusionProof,
  leafHash,
  openGrowingTree,
  rootHash,
} from '#foundation/merkle/tree.ts';

const sha = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const one = Buffer.of(1);
const splitOf = (n: number) => 2 ** Math.ceil(Math.log2(n) - 1);

/** MTH, PATH and PROOF as the RFC writes them, over all leaf hashes. */
function mth(d: readonly Buffer[]): Buffer {
  if (d.length < 2) return d[0] ?? sha();
  const k = splitOf(d.length);
  return sha(one, mth(d.slice(0, k)), mth(d.slice(k)));
}
function path(m: number, d: readonly Buffer[]): Buffer[] {
  if (d.length === 1) return [];
  const k = splitOf(d.length);
  return m < k ? [...path(m, d.slice(0, k)), mth(d.slice(k))] : [...path(m - k, d.slice(k)), mth(d.slice(0, k))];
}
function subproof(m: number, d: readonly Buffer[], b: boolean): Buffer[] {
  if (m === d.length) return b ? [] : [mth(d)];
  const k = splitOf(d.length);
  return m <= k
    ? [...subproof(m, d.slice(0, k), b), mth(d.slice(k))]
    : [...subproof(m - k, d.slice(k), false), mth(d.slice(0, k))];
}

/** Tiles of all levels, in memory. */
function nodesOver(leaves: readonly Buffer[]) {
  const levels = [leaves];
  while (levels.at(-1)!.length >= tileWidth) {
    const below = levels.at(-1)!;
    const full = Array.from({ length: Math.floor(below.length / tileWidth) }, (_, i) =>
      completeHash(Buffer.concat(below.slice(i * tileWidth, (i + 1) * tileWidth))),
    );
    levels.push(full);
  }
  return nodesOf(async (level, index) =>
    Buffer.concat((levels[level] ?? []).slice(index * tileWidth, (index + 1) * tileWidth)),
  );
}

const leavesOf = (n: number) => Array.from({ length: n }, (_, i) => leafHash(`entry ${i}`));

describe('A Merkle tree', () => {
  // certificate-transparency-go, merkle tree tests: eight leaves given in hexadecimal.
  const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
  const roots = [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ];

  it('a Merkle tree has the root hashes of the published test vectors', async () => {
    const leaves = inputs.map((hex) => sha(Buffer.of(0), Buffer.from(hex, 'hex')));
    expect(leafHash('').equals(leaves[0]!)).toBe(true);
    expect(emptyRoot.toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    const tree = openGrowingTree();
    for (const [i, root] of roots.entries()) {
      tree.add(leaves[i]!);
      expect(tree.root().toString('hex')).toBe(root);
      expect((await rootHash(nodesOver(leaves.slice(0, i + 1)), i + 1)).toString('hex')).toBe(root);
    }
    expect(openGrowingTree().root().equals(emptyRoot)).toBe(true);
  });

  it('a Merkle tree has the roots and proofs of the RFC for all pairs of sizes up to 40', async () => {
    const leaves = leavesOf(40);
    const read = nodesOver(leaves);
    for (let size = 1; size <= 40; size++) {
      const here = leaves.slice(0, size);
      expect((await rootHash(read, size)).equals(mth(here))).toBe(true);
      for (let m = 0; m < size; m++) expect(await inclusionProof(read, m, size)).toEqual(path(m, here));
      for (let m = 1; m <= size; m++) expect(await consistencyProof(read, m, size)).toEqual(subproof(m, here, true));
      expect(await consistencyProof(read, 0, size)).toEqual([]);
    }
  });

  it('a Merkle tree over several tiles has the roots and proofs of the RFC', async () => {
    const leaves = leavesOf(tileWidth * 5 + 3);
    const read = nodesOver(leaves);
    for (const size of [255, 256, 257, 511, 512, 513, 1_024, 1_025, 1_280, 1_283]) {
      const here = leaves.slice(0, size);
      expect((await rootHash(read, size)).equals(mth(here))).toBe(true);
      for (const m of [0, 1, 254, size - 1]) {
        expect(await inclusionProof(read, m, size)).toEqual(path(m, here));
        expect(await consistencyProof(read, m + 1, size)).toEqual(subproof(m + 1, here, true));
      }
    }
  });

  it('a Merkle tree has no root when one of its tiles lacks hashes', async () => {
    await expect(rootHash(nodesOver(leavesOf(3)), 4)).rejects.toThrow('tile 0/0 lacks hashes');
  });
});

describe('A checkpoint', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = { publicKey: Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url'), privateKey };
  const checkpoint = {
    ...{ origin: 'example.com/audit/org_1', size: 3, rootHash: emptyRoot.toString('base64'), time: 1_795_424_400_000 },
  };
  const note = signCheckpoint(checkpoint, key);

  it('a checkpoint is a signed note with origin, size, root hash and time', () => {
    expect(note.split('\n').slice(0, 5)).toEqual([
      'example.com/audit/org_1',
      '3',
      checkpoint.rootHash,
      'time 2026-11-23T09:00:00.000Z',
      '',
    ]);
    const [read] = checkpointsIn(note);
    expect(read).toMatchObject(checkpoint);
    expect(signerOf(read!, [key])).toBe(key);
    const hash = read!.signatures[0]!.bytes.subarray(0, 4).toString('hex');
    expect(verifierKey(checkpoint.origin, key.publicKey)).toMatch(new RegExp(`^example.com/audit/org_1\\+${hash}\\+A`));
  });

  // The test vector of the C2SP specification of signed notes and of Go’s sumdb. The text of the verifier key contains the name
  // PeterNeumann and the hash.
  it('the key of a checkpoint has the key hash that other programs for signed notes compute', () => {
    const known = Buffer.from('ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW', 'base64').subarray(1);
    expect(verifierKey('PeterNeumann', known)).toBe(
      'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
    );
  });

  test.each([
    ['another size', note.replace('\n3\n', '\n4\n')],
    ['another time', note.replace('09:00', '10:00')],
    ['another origin', note.replaceAll('org_1', 'org_2')],
    ['a cut signature', note.replace(/.{8}\n$/, '\n')],
  ])('a checkpoint with %s has no valid signature', (_, changed) => {
    const [read] = checkpointsIn(changed);
    expect(read && signerOf(read, [key])).toBeUndefined();
  });

  it('a checkpoint is found in a file among other checkpoints and foreign signatures', () => {
    const cosigned = `${note}— witness.example AAAAAAAA\n`;
    const later = signCheckpoint({ ...checkpoint, size: 9 }, key);
    const found = checkpointsIn(`${cosigned}\n${later}`.replaceAll('\n', '\r\n'));
    expect(found.map(({ size }) => size)).toEqual([3, 9]);
    expect(found.map((one) => signerOf(one, [key]))).toEqual([key, key]);
  });
});

test('canonical JSON sorts names by code units and matches the examples of RFC 8785', () => {
  // RFC 8785 sections 3.2.2 and 3.2.3.
  const value = {
    numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
    literals: [null, true, false],
  };
  expect(canonicalJson(value)).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
  expect(canonicalJson({ '\u20ac': 1, '\r': 2, '1': 3, '\u{1f600}': 4, '\ufb33': 5, ö: 6 })).toBe(
    '{"\\r":2,"1":3,"ö":6,"€":1,"😀":4,"\ufb33":5}',
  );
});
