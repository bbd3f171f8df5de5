// Checkpoints of the audit log: once an hour, the size and root hash of each organization's tree are signed.
import { days, hourOf, now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { newId } from '#foundation/ids.ts';
import { signCheckpoint } from '#foundation/merkle/checkpoints.ts';
import { rootHash } from '#foundation/merkle/tree.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { forEachOrganization } from '../each-organization.ts';
import { numberChanges } from '../numbers.ts';
import { growTree, lockTreeSql, type TreeState } from './growth.ts';
import { type SigningKey, signingKey } from './keys.ts';
import { readNodes } from './tiles.ts';

/** Age up to which the checkpoint of every hour is kept; afterwards one per day is kept. */
export const hourlyMs = days(30);

/** The name of an organization's log in checkpoints: the host of the service and the id of the organization. */
export const logNameOf = (orgId: string): string => `${addresses().issuer.replace(/^https?:\/\//, '')}/audit/${orgId}`;

const dueSql = `select c.org_id from audit_counters c where c.org_id > $1
  and not exists (select 1 from audit_checkpoints p where p.org_id = c.org_id and p.hour >= $2) order by c.org_id limit 500`;

/** Signs a checkpoint for each organization without one in this hour; called periodically. */
export async function signCheckpoints(): Promise<void> {
  const at = now();
  let key: SigningKey | undefined;
  await forEachOrganization(dueSql, [hourOf(at)], async ({ orgId }) => {
    key ??= await signingKey();
    await signCheckpointOf(orgId, at, key);
  });
}

async function signCheckpointOf(orgId: string, at: number, key: SigningKey): Promise<void> {
  await numberChanges(orgId);
  await growTree(orgId);
  await transaction((trx) => insertCheckpoint(trx, orgId, at, key));
}

const lastSql = 'select size, root_hash, hour from audit_checkpoints where org_id = $1 order by hour desc limit 1';
const insertSql = `insert into audit_checkpoints (id, org_id, created_at, hour, size, root_hash, algorithm, key_id, note)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`;

/**
 * Signs and stores a checkpoint, if this hour has none. @throws when the tree does not begin with the tree of the last checkpoint; nothing
 * is signed then
 */
async function insertCheckpoint(trx: Transaction, orgId: string, at: number, key: SigningKey): Promise<void> {
  const [state] = await sql<TreeState>(lockTreeSql, [orgId], trx);
  if (!state) return;
  const [last] = await sql<{ size: number; rootHash: string; hour: number }>(lastSql, [orgId], trx);
  if (last && last.hour >= hourOf(at)) return;
  const root = async (size: number) => (await rootHash(readNodes(orgId, trx), size)).toString('base64');
  if (last && (last.size > state.treeSize || (await root(last.size)) !== last.rootHash)) {
    throw new Error(`the audit log of ${orgId} was changed: run audit:verify to find the changed entries`);
  }
  const { treeSize: size } = state;
  const checkpoint = { origin: logNameOf(orgId), size, rootHash: await root(size), time: at };
  const signed = [checkpoint.rootHash, key.algorithm, key.id, signCheckpoint(checkpoint, key)];
  await sql(insertSql, [newId('auditCheckpoint'), orgId, at, hourOf(at), size, ...signed], trx);
}

// Keeps the first checkpoint of each day.
const thinSql = `delete from audit_checkpoints c where c.hour < $1 and exists (
  select 1 from audit_checkpoints b where b.org_id = c.org_id and b.hour / 24 = c.hour / 24 and b.hour < c.hour)`;

/** For days more than thirty days ago, deletes all checkpoints but the first of each day; called periodically. */
export async function deleteHourlyCheckpoints(): Promise<void> {
  await sql(thinSql, [hourOf(now() - hourlyMs)]);
}
