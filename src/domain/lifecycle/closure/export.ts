// The export of a closed organization's data: an owner requests it, it is written in the background, and it can be downloaded until the
// erasure.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { enqueue } from '#foundation/jobs/background.ts';
import { queues } from '#foundation/jobs/queues.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, forbidden, notFound } from '#foundation/problem.ts';
import { storage } from '#foundation/storage/storage.ts';
import { ownOrganizationOnly } from '../../organization/memberships/operations.ts';
import { findOrganization } from '../../organization/organizations/operations.ts';
import { writeArchive } from './archive.ts';
import { closedRetentionMs, OrgClosure, OrgExport } from './model.ts';

/**
 * Requests the export. A repeated request returns the same export, unless the export has failed. @throws 403 unless the caller is an owner, 404, 409
 * for an organization that is not closed
 */
export async function exportOrganization(caller: Caller, orgId: string): Promise<OrgExport> {
  const ownOrgId = ownOrganizationOnly(caller, orgId);
  if (caller.role !== 'owner') throw forbidden('Only an owner can export an organization.');
  return requestExport(ownOrgId);
}

/** Requests the export like `exportOrganization`, but without checking the caller. */
export const requestExport = (orgId: Id<'organization'>): Promise<OrgExport> =>
  transaction(async (trx) => {
    const closure = await OrgClosure.query(trx).select('closedAt', 'settledAt').findById(orgId).forUpdate();
    if (!closure) throw conflict('The organization is open. Its data can be exported only after it is closed.');
    if (closure.closedAt <= now() - closedRetentionMs) throw conflict('The organization is being erased.');
    const earlier = await ownRow(trx, orgId);
    if (earlier && !isRepeatable(earlier)) return earlier;
    const request = { orgId, status: 'preparing' as const, requestedAt: now(), failure: null };
    if (earlier) await OrgExport.patch(trx, { orgId }, request);
    else await OrgExport.insert(trx, request);
    if (closure.settledAt !== null) await enqueueExport(trx, orgId);
    return (await ownRow(trx, orgId))!;
  });

const ownRow = async (trx: Transaction, orgId: string): Promise<OrgExport | undefined> =>
  OrgExport.query(trx)
    .select(...OrgExport.columns)
    .findById(orgId)
    .forUpdate();

/** Whether the export may be started again: it failed, its worker was lost, or the previous release has left it unfinished. */
const isRepeatable = ({ status, requestedAt }: OrgExport): boolean =>
  status === 'failed' || (status === 'preparing' && requestedAt <= now() - queues['export organization'].timeoutMs);

const enqueueExport = (trx: Transaction, orgId: string): Promise<void> =>
  enqueue(trx, 'export organization', { orgId });

/** Starts the requested export once the closure is settled, so that the archive contains the final ledger. */
export async function startRequestedExport(trx: Transaction, orgId: string): Promise<void> {
  if (await ownRow(trx, orgId)) await enqueueExport(trx, orgId);
}

/** The export of a closed organization. @throws 404 for the organization of another owner, and when no export was requested */
export async function findExport(caller: Caller, orgId: string): Promise<OrgExport> {
  const { id } = await findOrganization(caller, orgId);
  // Only owners in the console may read the export: tokens and other members lose access when the organization is closed.
  if (caller.principalType !== 'cookie' || (orgId === caller.orgId && caller.role !== 'owner')) OrgExport.refuse();
  return OrgExport.get({ orgId: id });
}

/** The export of a closed organization; null when none was requested. */
export const exportOf = async (orgId: Id<'organization'>): Promise<OrgExport | null> =>
  (await OrgExport.find({ orgId })) ?? null;

/** The archive in the storage, for a caller who presents its secret URL. @throws 404 */
export async function findArchive(orgId: string): Promise<{ key: string; size: number }> {
  const found = await exportOf(orgId as Id<'organization'>);
  if (found?.status !== 'ready') throw notFound('export');
  return { key: found.contentKey!, size: found.sizeBytes! };
}

/**
 * The background job. Each attempt first stores a new content key in the row and then writes the content under this key. So a lost attempt
 * leaves no unknown content behind, and of several concurrent attempts the latest is kept.
 */
export async function writeExport({ orgId }: Pick<OrgExport, 'orgId'>): Promise<void> {
  const contentKey = newId('content');
  if (!(await beginTry(orgId, contentKey))) return;
  const ended = (changes: Partial<OrgExport>) => OrgExport.patch(undefined, { orgId, contentKey }, changes);
  try {
    const sizeBytes = await writeArchive(contentKey, orgId);
    const written = await ended({ status: 'ready', sizeBytes, finishedAt: now() });
    if (written === 0) await storage().remove(contentKey);
  } catch (error) {
    await ended({ status: 'failed', failure: String(error).slice(0, 500) });
    throw error;
  }
}

async function beginTry(orgId: OrgExport['orgId'], contentKey: string): Promise<boolean> {
  const earlier = await transaction(async (trx) => {
    const row = await ownRow(trx, orgId);
    if (!row || row.status === 'ready') return undefined;
    await OrgExport.patch(trx, { orgId }, { status: 'preparing', contentKey });
    return row;
  });
  if (earlier?.contentKey) await storage().remove(earlier.contentKey);
  return earlier !== undefined;
}

/** Removes the archive and the export. */
export async function removeExport(orgId: Id<'organization'>): Promise<void> {
  const found = await exportOf(orgId);
  if (found?.contentKey) await storage().remove(found.contentKey);
  await OrgExport.query().deleteById(orgId);
}
