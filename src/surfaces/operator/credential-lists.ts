// The operator's lists of credentials, without secrets, of which only digests are stored.
import { z } from 'zod';
import { emailAddress } from '#domain/people/email.ts';
import { sql } from '#foundation/database.ts';
import { type Command, command, wholeNumber } from './command.ts';
import { slug } from './organization-option.ts';

/** The option --limit of a list. */
export const limit = wholeNumber(1, 10_000)
  .default(100)
  .describe('The maximum number of rows, 1 to 10000; 100 by default.');

const ofSql = '($1::text is null or o.slug = $1) and ($2::text is null or p.email = $2)';

const tokensSql = `select t.id, o.slug as org, p.email, t.name, t.scopes, t.project_id, t.created_at, t.expires_at,
    t.last_used_at, t.revoked_at
  from tokens t join organizations o on o.id = t.org_id join people p on p.id = t.user_id
  where ${ofSql} order by t.created_at desc, t.id desc limit $3`;

const agentsSql = `select r.id, r.kind, r.agent_name, r.issuer, o.slug as org, p.email, r.scopes, r.created_at, r.claimed_at,
    r.grant_expires_at as expires_at, r.last_used_at, r.revoked_at
  from agent_registrations r left join organizations o on o.id = r.org_id left join people p on p.id = r.user_id
  where ${ofSql} order by r.created_at desc, r.id desc limit $3`;

const serviceTokensSql = `select s.id, o.slug as org, s.name, s.scopes, s.created_at, s.last_used_at, s.revoked_at
  from service_tokens s left join organizations o on o.id = s.org_id
  where $1::text is null or o.slug = $1 order by s.created_at desc, s.id desc limit $2`;

const filters = z.object({ org: slug.optional(), email: emailAddress.optional(), limit });

export const credentialLists: Record<string, Command> = {
  'token:list': command({
    about: 'Lists personal access tokens, also ended ones, newest first.',
    example: '--org acme --email ada@example.com',
    options: filters,
    run: ({ org, email, limit }) => sql(tokensSql, [org ?? null, email?.toLowerCase() ?? null, limit]),
  }),
  'agent:list': command({
    about: 'Lists registered agents, claimed or not, also ended ones, newest first.',
    example: '--org acme',
    options: filters,
    run: ({ org, email, limit }) => sql(agentsSql, [org ?? null, email?.toLowerCase() ?? null, limit]),
  }),
  'service-token:list': command({
    about: 'Lists service tokens, also ended ones, newest first.',
    example: '--org acme',
    options: z.object({ org: slug.optional(), limit }),
    run: ({ org, limit }) => sql(serviceTokensSql, [org ?? null, limit]),
  }),
};
