// Adds numbered events to the Merkle tree of their organization. This usually happens in the transaction that assigns the numbers
// (../numbers.ts), and otherwise in the background.

import { leafHash } from '#foundation/merkle/tree.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { forEachOrganization } from '../each-organization.ts';
import { entryText, readEntries, type StoredEvent } from './entry.ts';
import { appendHashes } from './tiles.ts';

/** Maximum number of entries that one transaction adds. */
const batch = 1_000;

export interface TreeState {
  lastNumber: number;
  treeSize: number;
  firstNumber: number;
}

const treeSql = 'select last_number, tree_size, first_number from audit_counters where org_id = $1';

export const readTree = async (orgId: string, trx?: Transaction): Promise<TreeState> =>
  (await sql<TreeState>(treeSql, [orgId], trx))[0] ?? { lastNumber: 0, treeSize: 0, firstNumber: 1 };

export const lockTreeSql = `${treeSql} for update`;
const growSql = 'update audit_counters set tree_size = $2 where org_id = $1';

/** The leaf in place of an event that was too old, and therefore already deleted, when the tree was created. */
export const absentLeaf = leafHash('');

/** Adds all numbered events of the organization to its tree. @throws when the stored tree was changed by another program */
export async function growTree(orgId: string): Promise<void> {
  while ((await transaction((trx) => growByBatch(trx, orgId))) === batch);
}

/** Adds one batch of events. Returns the number of events added. */
async function growByBatch(trx: Transaction, orgId: string): Promise<number> {
  const [state] = await sql<TreeState>(lockTreeSql, [orgId], trx);
  if (!state || state.treeSize >= state.lastNumber) return 0;
  const size = state.treeSize;
  const end = Math.min(size + batch, state.lastNumber);
  await appendEvents(trx, orgId, { size, end, events: await readEntries(trx, orgId, size, end) });
  await sql(growSql, [orgId, end], trx);
  return end - size;
}

/**
 * Adds the leaves of the entries with numbers greater than `size` and at most `end`. The leaves are computed from the events as stored, not
 * from the values before they were stored, because a verification can read only the stored values.
 */
export async function appendEvents(
  trx: Transaction,
  orgId: string,
  { size, end, events }: { size: number; end: number; events: readonly StoredEvent[] },
): Promise<void> {
  const leaves = new Map<number, Buffer>();
  // If two events have the same number, the first one counts.
  for (const event of events) if (!leaves.has(event.number)) leaves.set(event.number, leafHash(entryText(event)));
  const hashes = Array.from({ length: end - size }, (_, i) => leaves.get(size + 1 + i) ?? absentLeaf);
  await appendHashes(trx, orgId, { level: 0, size, hashes });
}

const outsideSql = `select org_id from audit_counters where tree_size < last_number and org_id > $1 order by org_id limit 500`;

/** Adds the events of each organization to the tree of the organization; called periodically. */
export const growAllTrees = (): Promise<void> => forEachOrganization(outsideSql, [], ({ orgId }) => growTree(orgId));
