// Who stands behind an agent's access token (specification, Me): before the claim the agent alone, afterwards the person who
// claimed it, within what they lent and their role still holds.
import { narrowedText } from '#access/authority.ts';
import type { Caller } from '#access/principal.ts';
import type { OrgRole } from '#access/roles.ts';
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/database.ts';
import type { Id } from '#foundation/ids.ts';
import { digest } from '#foundation/secrets.ts';
import type { Resource } from '../oauth/resources.ts';
import { noteUse } from '../tokens/last-used.ts';

interface Bearer {
  id: Id<'registration'>;
  lastUsedAt: number | null;
  userId: Id<'person'> | null;
  orgId: Id<'organization'> | null;
  projectId: Id<'project'> | null;
  granted: string;
  role: OrgRole | null;
}

const lookUp = `select r.id, r.last_used_at, r.user_id, r.org_id, r.project_id, array_to_string(a.scopes, ' ') as granted, m.role
  from access_tokens a
  join agent_registrations r on r.id = a.registration_id
  left join memberships m on m.org_id = r.org_id and m.user_id = r.user_id
  where a.digest = $1 and a.resource = $2 and a.expires_at > $3 and a.revoked_at is null and r.revoked_at is null
    and (r.claimed_at is null or (r.grant_expires_at > $3 and m.role is not null))`;

/**
 * The caller behind an `agt_` secret at this resource, in one statement; null when it is unknown, expired, revoked or made for
 * another resource, the agent was revoked, what was lent has ended, or its person has left the organization. Asked on every
 * request and never kept. The registration is the credential: fresh tokens don't give an agent a fresh rate.
 */
export async function callerOfAgentToken(secret: string, resource: Resource): Promise<Caller | null> {
  const [row] = await sql<Bearer>(lookUp, [digest(secret), resource, now()]);
  if (!row) return null;
  const { id, lastUsedAt, userId, orgId, projectId, granted, role } = row;
  noteUse('agent_registrations', id, lastUsedAt);
  const principalType = userId === null ? 'agent' : 'user';
  const scopes = role === null ? nothing : narrowedText(granted, role);
  return { principalType, credentialId: id, userId, orgId, role, scopes, projectId };
}

const nothing: Caller['scopes'] = new Set();
