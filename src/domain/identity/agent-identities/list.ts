// The operator's list of agents, claimed or not.
import { sql } from '#foundation/postgres/database.ts';
import { type OwnerFilter, ofOwnerSql, ownerValues } from '../credentials/owner.ts';

const listSql = `select r.id, r.kind, r.agent_name, r.issuer, o.slug as org, p.email, r.scopes, r.created_at, r.claimed_at,
    r.grant_expires_at as expires_at, r.last_used_at, r.revoked_at
  from agent_registrations r ${ofOwnerSql('r')} order by r.created_at desc, r.id desc limit $3`;

/** All registrations of the service, including those that have ended, newest first. */
export const listRegistrations = (filter: OwnerFilter): Promise<object[]> => sql(listSql, ownerValues(filter));
