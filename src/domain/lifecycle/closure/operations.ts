// Closes an organization: from then on only its owners can read it, and after thirty days it is erased.
import type { Caller } from '#access/principal.ts';
import { ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { forbidden, invalid, notFound } from '#foundation/problem.ts';
import { leaveClosedOrganization } from '../../identity/sessions/operations.ts';
import { ownOrganizationOnly } from '../../organization/memberships/operations.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { findOrganization, lockOrganization } from '../../organization/organizations/operations.ts';
import { type ClosureBasis, OrgClosure } from './model.ts';
import { settleClosure } from './steps.ts';

/** The closure of an organization. @throws 404 for an organization that is not closed, and for an organization of another owner */
export async function findClosure(caller: Caller, orgId: string): Promise<OrgClosure> {
  const { id } = await findOrganization(caller, orgId);
  return OrgClosure.get({ orgId: id });
}

export interface ClosureRequest {
  confirmSlug: string;
}

/**
 * Closes an organization; a repeated call returns the existing closure. @throws 400 when `confirmSlug` is another slug, 403 unless the
 * caller is an owner, 404
 */
export async function closeOrganization(
  caller: Caller,
  orgId: string,
  { confirmSlug }: ClosureRequest,
): Promise<OrgClosure> {
  const ownOrgId = ownOrganizationOnly(caller, orgId);
  if (caller.role !== 'owner') throw forbidden('Only an owner can close an organization.');
  const by = { basis: 'owner' as const, closedByUserId: ownPerson(caller), sessionId: caller.credentialId };
  return close(ownOrgId, confirmSlug, by);
}

interface ClosedBy {
  basis: ClosureBasis;
  closedByUserId: Id<'person'> | null;
  /** The console session of the caller, which stays in the closed organization; all other sessions are switched away from it. */
  sessionId: string;
}

/**
 * Closes an organization like `closeOrganization`, but without checking the caller. The steps of the closure run at once; the sweep retries
 * those that fail.
 */
export async function close(orgId: Id<'organization'>, confirmSlug: string, by: ClosedBy): Promise<OrgClosure> {
  await transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    const organization = await Organization.query(trx).select('slug', 'closedAt').findById(orgId);
    if (!organization) throw notFound('organization');
    if (confirmSlug !== organization.slug) throw invalid.field('confirmSlug', 'must be the slug of the organization');
    if (organization.closedAt !== null) return;
    const closedAt = now();
    const { basis, closedByUserId, sessionId } = by;
    await Organization.patch(trx, { id: orgId }, { closedAt });
    await OrgClosure.insert(trx, { orgId, basis, closedAt, closedByUserId, stepsDone: 0, settlements: [] });
    await leaveClosedOrganization(trx, orgId, sessionId);
  });
  await releaseTransaction();
  // The organization is closed even when a later step fails.
  await settleClosure(orgId).catch(() => {});
  return OrgClosure.get({ orgId });
}
