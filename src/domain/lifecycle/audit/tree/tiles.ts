// Reads and writes the stored tiles of an organization's tree.

import { nodesOf, tileBytes, tileWidth } from '#foundation/merkle/tiles.ts';
import { completeHash, hashBytes, type ReadNode } from '#foundation/merkle/tree.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';

const findSql = 'select hashes from audit_tiles where org_id = $1 and level = $2 and index = $3';

export async function readTile(orgId: string, level: number, index: number, trx?: Transaction): Promise<Buffer> {
  const [tile] = await sql<{ hashes: Buffer }>(findSql, [orgId, level, index], trx);
  return tile?.hashes ?? Buffer.alloc(0);
}

export const readNodes = (orgId: string, trx?: Transaction): ReadNode =>
  nodesOf((level, index) => readTile(orgId, level, index, trx));

/** Another program has changed the stored tree: the size of this tile does not match the size of the tree. */
export class TreeChangedError extends Error {
  constructor(orgId: string, tile: string) {
    super(`the tree of ${orgId} was changed: tile ${tile}`);
  }
}

// The condition on the length prevents an append to a tile of unexpected size.
const appendSql = `insert into audit_tiles (org_id, level, index, hashes) values ($1, $2, $3, $4)
  on conflict (org_id, level, index) do update set hashes = audit_tiles.hashes || excluded.hashes
    where octet_length(audit_tiles.hashes) = $5 returning octet_length(hashes) as length,
      case when octet_length(hashes) = ${tileBytes} then hashes end as full`;

/** Appends hashes to a level that has `size` hashes. The hash of each tile that becomes full is appended to the level above. */
export async function appendHashes(
  trx: Transaction,
  orgId: string,
  { level, size, hashes }: { level: number; size: number; hashes: readonly Buffer[] },
): Promise<void> {
  const full: Buffer[] = [];
  for (let done = 0; done < hashes.length; ) {
    const index = Math.floor((size + done) / tileWidth);
    const present = (size + done) % tileWidth;
    const added = hashes.slice(done, done + tileWidth - present);
    const values = [orgId, level, index, Buffer.concat(added), present * hashBytes];
    const [tile] = await sql<{ length: number; full: Buffer | null }>(appendSql, values, trx);
    if (tile?.length !== (present + added.length) * hashBytes) throw new TreeChangedError(orgId, `${level}/${index}`);
    if (tile.full) full.push(completeHash(tile.full));
    done += added.length;
  }
  if (full.length > 0) {
    await appendHashes(trx, orgId, { level: level + 1, size: Math.floor(size / tileWidth), hashes: full });
  }
}
