// The caller of an agent's access token (docs/contract.md#me-and-scopes): before the claim only the agent, afterwards the person who
// claimed it, with the scopes that the person lent and the person's role still includes.
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
 * The caller of an `agt_` secret at this resource, in one statement; null when the secret is unknown, expired, revoked or issued for
 * another resource, the agent was revoked, the grant has ended, or its person has left the organization. Looked up on every request and
 * never cached. The registration is the credential, so new tokens do not reset an agent's rate limit.
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
