// The log as lines that `aep audit verify` reads: each entry with the hash of its leaf, then the checkpoints with their keys.
import { verifierKey } from '#foundation/merkle/checkpoints.ts';
import { tileWidth } from '#foundation/merkle/tiles.ts';
import { hashBytes } from '#foundation/merkle/tree.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { entryText, readEntries } from './entry.ts';
import { readTree } from './growth.ts';
import { publishedKeys } from './keys.ts';
import { AuditCheckpoint } from './model.ts';
import { readTile } from './tiles.ts';

/** The log as the transaction sees it, as lines without line feeds. */
export async function* linesOfLog(trx: Transaction, orgId: AuditCheckpoint['orgId']): AsyncGenerator<string> {
  const { treeSize } = await readTree(orgId, trx);
  for (let size = 0; size < treeSize; size += tileWidth) {
    const end = Math.min(size + tileWidth, treeSize);
    const tile = await readTile(orgId, 0, size / tileWidth, trx);
    const events = new Map((await readEntries(trx, orgId, size, end)).map((event) => [event.number, event]));
    for (let number = size + 1; number <= end; number++) {
      const leaf = tile.subarray((number - size - 1) * hashBytes, (number - size) * hashBytes);
      const event = events.get(number);
      const entry = event ? entryText(event) : null;
      yield `{"number":${number},"leafHash":"${leaf.toString('base64')}","entry":${entry}}`;
    }
  }
  const keys = new Map((await publishedKeys()).map(({ id, publicKey }) => [id, publicKey]));
  const checkpoints = await AuditCheckpoint.findAll({ orgId }, trx);
  for (const { note, keyId } of checkpoints.sort((a, b) => a.createdAt - b.createdAt))
    yield checkpointLine(note, keys.get(keyId)!);
}

/** @param publicKey The 32 bytes of the key that has signed the checkpoint, in base64 */
export function checkpointLine(note: string, publicKey: string): string {
  const name = note.slice(0, note.indexOf('\n'));
  return JSON.stringify({ checkpoint: note, key: verifierKey(name, Buffer.from(publicKey, 'base64')) });
}
