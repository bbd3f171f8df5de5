// Stored hashes of a Merkle tree, in tiles of 256: level 0 contains the hashes of leaves, each higher level the hashes of the full tiles
// below it (C2SP tlog-tiles). The inner hashes of a tile are computed when they are needed.
import { completeHash, hashBytes, type ReadNode } from './tree.ts';

export const tileWidth = 256;
export const tileBytes = tileWidth * hashBytes;
const levelsPerTile = 8;

/** Reads the bytes of a tile, which may be partial; an empty buffer means that the tile is not stored. */
export type ReadTile = (level: number, index: number) => Promise<Buffer>;

/** Returns a function that reads hashes from tiles, and reads each tile only once. @throws for a tile that lacks a hash */
export function nodesOf(readTile: ReadTile): ReadNode {
  const known = new Map<string, Promise<Buffer>>();
  return async (level, index) => {
    const width = 2 ** (level % levelsPerTile);
    const [tileLevel, first] = [Math.floor(level / levelsPerTile), index * width];
    const tileIndex = Math.floor(first / tileWidth);
    const key = `${tileLevel}/${tileIndex}`;
    const tile = known.get(key) ?? readTile(tileLevel, tileIndex);
    known.set(key, tile);
    const begin = (first % tileWidth) * hashBytes;
    const hashes = (await tile).subarray(begin, begin + width * hashBytes);
    if (hashes.length < width * hashBytes) throw new Error(`tile ${key} lacks hashes`);
    return completeHash(hashes);
  };
}
