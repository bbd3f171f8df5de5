// Lends a person's authority: computes the scopes of a new token, authorization code or claimed agent. The person's membership and the
// project stay locked until the credential is stored, so that no credential outlives the removal of either.
import { narrowed, requireFewScopes } from '#access/authority.ts';
import type { Id } from '#foundation/ids.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { requireMembership } from '../../organization/memberships/operations.ts';
import { lockProjectOf } from '../../projects/projects/operations.ts';
import type { LentAuthority } from './model.ts';

/** The person who lends authority, and the organization and project to which it is limited. */
export interface Lender {
  userId: Id<'person'>;
  orgId: string;
  /** The project that the credential reaches; null means the whole organization. */
  projectId: string | null;
  /** Whether the person's own session or credential reaches only this organization. */
  isOrgOnly: boolean | undefined;
}

/**
 * Lends the requested scopes, except those that the person's role lacks. @throws 404 for an organization or a project that the person
 * cannot access, 409 for a closed organization, 400 for more scopes than one credential may have
 */
export async function lend(trx: Transaction, lender: Lender, scopes: readonly string[]): Promise<LentAuthority> {
  const { userId, orgId, projectId, isOrgOnly = false } = lender;
  const membership = await requireMembership(trx, orgId, userId);
  const lent = {
    userId,
    orgId: membership.orgId,
    projectId: projectId === null ? null : await lockProjectOf(trx, membership.orgId, projectId),
    scopes: [...narrowed([...new Set(scopes)], membership.role)],
    orgOnly: isOrgOnly,
  };
  requireFewScopes(lent.scopes);
  return lent;
}

/** Lends the scopes that a person has chosen on a page. @throws as `lend`, and 400 when the role includes none of the scopes */
export async function lendChosen(trx: Transaction, lender: Lender, scopes: readonly string[]): Promise<LentAuthority> {
  const lent = await lend(trx, lender, scopes);
  if (lent.scopes.length > 0) return lent;
  throw invalid('Choose at least one kind of access that your role includes, or deny the request.');
}
