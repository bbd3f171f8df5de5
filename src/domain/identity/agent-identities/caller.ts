// Finds the caller to whom an agent's access token belongs (docs/contract.md#me-and-scopes). Before a person claims the agent, the caller
// is only the agent. Afterwards it is the person who claimed the agent, with those scopes that the person lent and that the person's role
// still includes.
import { atAllowedAddress } from '#access/allowed-addresses.ts';
import { narrowedText } from '#access/authority.ts';
import type { Caller } from '#access/principal.ts';
import type { OrgRole } from '#access/roles.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { findCredential } from '#foundation/postgres/database.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { joinMembershipSql } from '../../organization/memberships/join.ts';
import { allowsAddressSql } from '../../organization/organizations/join.ts';
import { recordUse } from '../credentials/last-used.ts';
import { presentedTokenSql } from '../oauth/access-tokens.ts';
import type { Resource } from '../oauth/resources.ts';
import { Registration } from './model.ts';

interface Bearer {
  id: Id<'registration'>;
  lastUsedAt: number | null;
  userId: Id<'person'> | null;
  orgId: Id<'organization'> | null;
  projectId: Id<'project'> | null;
  granted: string;
  role: OrgRole | null;
  orgOnly: boolean;
  isAllowed: boolean;
}

const findCallerSql = `select r.id, r.last_used_at, r.user_id, r.org_id, r.project_id, r.org_only, array_to_string(a.scopes, ' ') as granted, m.role,
    ${allowsAddressSql('r.org_id', '$4')} as is_allowed
  from ${presentedTokenSql} a
  join agent_registrations r on r.id = a.registration_id
  left ${joinMembershipSql('r')}
  where r.revoked_at is null and (r.claimed_at is null or (r.grant_expires_at > $3 and m.role is not null))`;

/**
 * The caller who presents an `agt_` secret at this resource; read by one statement for each request and never cached. Null in these cases:
 * the secret is unknown, expired, revoked or issued for another resource; the agent was revoked; the grant has ended; the person has left
 * the organization. The caller's credential is the registration, not the token, so an agent cannot reset its rate limit with a new token.
 * @param address The address of the request (`plainAddress`)
 */
export async function callerOfAgentToken(
  secret: string,
  resource: Resource,
  address: string | null = null,
): Promise<Caller | null> {
  const row = await findCredential<Bearer>(findCallerSql, [digest(secret), resource, now(), address]);
  if (!row) return null;
  const { id, userId, orgId, projectId, granted, role, orgOnly, bookmark } = row;
  recordUse(Registration, row);
  const principalType = userId === null ? 'agent' : 'user';
  const scopes = role === null ? nothing : narrowedText(granted, role);
  const reach = { userId, orgId, role, scopes, projectId, isOrgOnly: orgOnly };
  return atAllowedAddress({ principalType, credentialId: id, ...reach, bookmark }, row.isAllowed);
}

const nothing: Caller['scopes'] = new Set();
