// The caller of a console session: the person who signed in, with all scopes of that person's role in one organization.
import { atAllowedAddress } from '#access/allowed-addresses.ts';
import type { Caller } from '#access/principal.ts';
import type { OrgRole } from '#access/roles.ts';
import { type Scope, scopesOfRole } from '#access/scopes.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { findCredential, sql } from '#foundation/postgres/database.ts';
import type { Bookmark } from '#foundation/postgres/replica.ts';
import { notFound } from '#foundation/problem.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { lifetimesMs } from '#limits.ts';
import { joinOneMembershipSql, unreachedOrgIdsSql } from '../../organization/memberships/join.ts';
import { allowsAddressSql } from '../../organization/organizations/join.ts';
import { joinEnabledPersonSql } from '../../organization/people/join.ts';
import { lastUsedIntervalMs } from '../credentials/last-used.ts';
import { isReachedSql } from '../identity-providers/reach.ts';

export interface SessionInUse {
  id: Id<'session'>;
  person: { id: Id<'person'>; email: string; name: string };
  /** Whether the expiry was just extended. If so, the browser's cookie must be renewed too. */
  renewed: boolean;
}

interface FoundSession {
  id: Id<'session'>;
  personId: Id<'person'>;
  email: string;
  name: string;
  lastUsedAt: number;
  orgId: Id<'organization'> | null;
  role: OrgRole | null;
  closedAt: number | null;
  orgOnly: boolean;
  hiddenOrgIds: string[];
  /** Whether the organization allows the address of the request. */
  isAllowed: boolean;
  bookmark?: Bookmark | undefined;
}

const findSessionSql = `select s.id, s.person_id, p.email, p.name, s.last_used_at, m.org_id, m.role, m.closed_at, s.org_only,
    ${allowsAddressSql('m.org_id', '$4')} as is_allowed,
    ${unreachedOrgIdsSql('s.person_id', `${isReachedSql('$2')} and ${allowsAddressSql('memberships.org_id', '$4')}`)} as hidden_org_ids
  from sessions s
  ${joinEnabledPersonSql('s.person_id')}
  ${joinOneMembershipSql('s.person_id', { requested: '$3', preferred: 's.org_id', reached: isReachedSql('$2') })}
  where s.digest = $1 and s.ended_at is null and s.expires_at > $2`;

/** A person without an organization may create one, and list their organizations. */
const withoutOrganization: ReadonlySet<Scope> = new Set(['organizations:read', 'organizations:write']);
const none: ReadonlySet<Scope> = new Set();

/**
 * The caller of a session cookie, in one statement; null when the session is unknown or has ended. The organization is the requested one
 * (404 unless the person belongs to it); otherwise the last chosen one, else the first one joined, else none.
 * @param address The address of the request (`plainAddress`)
 */
export async function callerOfSession(
  secret: string,
  requestedOrgId: string | null,
  address: string | null = null,
): Promise<{ caller: Caller; session: SessionInUse } | null> {
  const at = now();
  const row = await findCredential<FoundSession>(findSessionSql, [digest(secret), at, requestedOrgId, address]);
  if (!row) return null;
  if (requestedOrgId !== null && row.orgId === null) throw notFound('organization');
  // The membership has ended, and the session reaches no other organization.
  if (row.orgOnly && row.orgId === null) return null;
  const renewed = row.lastUsedAt <= at - lastUsedIntervalMs;
  if (renewed) await renew(row.id, at);
  return {
    caller: callerBehind(row),
    session: { id: row.id, person: { id: row.personId, email: row.email, name: row.name }, renewed },
  };
}

/**
 * The current caller of a session in one organization, read without renewing the session or changing its organization. Null when the
 * session has ended.
 */
export async function recheckSession(
  secret: string,
  orgId: Id<'organization'> | null,
  address: string | null = null,
): Promise<Caller | null> {
  const row = await findCredential<FoundSession>(findSessionSql, [digest(secret), now(), orgId, address]);
  return row ? callerBehind(row) : null;
}

function callerBehind(row: FoundSession): Caller {
  const { id, personId, orgId, role, closedAt, orgOnly, hiddenOrgIds, isAllowed, bookmark } = row;
  const caller: Caller = {
    principalType: 'cookie',
    credentialId: id,
    userId: personId,
    orgId,
    role,
    isOrgClosed: closedAt !== null,
    scopes: role ? scopesOfRole(role) : orgOnly ? none : withoutOrganization,
    projectId: null,
    hiddenOrgIds,
    isOrgOnly: orgOnly,
    bookmark,
  };
  return atAllowedAddress(caller, isAllowed);
}

/**
 * Removes the organization from a caller whose organization does not allow the address of the request. The person can then still open the
 * pages that belong to no organization.
 */
export const outsideOrganization = (caller: Caller): Caller => ({
  ...caller,
  orgId: null,
  scopes: caller.isOrgOnly ? none : withoutOrganization,
});

const renewSessionSql = `update sessions set last_used_at = $2, expires_at = case when org_only then expires_at else $3 end
  where id = $1 and ended_at is null and last_used_at <= $4`;

/** Extends the session. Only one of several concurrent requests changes the row. */
const renew = (id: Id<'session'>, at: number) =>
  sql(renewSessionSql, [id, at, at + lifetimesMs.consoleSession, at - lastUsedIntervalMs]);
