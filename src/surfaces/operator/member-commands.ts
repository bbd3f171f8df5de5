// The operator's commands for people and organizations: lists, roles, removal, disabled accounts, sessions.
import { z } from 'zod';
import { orgRoles } from '#access/roles.ts';
import type { Membership } from '#domain/memberships/model.ts';
import { disablePerson, enablePerson } from '#domain/offboarding/disable.ts';
import { lockMember, removeMember, setRole } from '#domain/offboarding/operations.ts';
import { emailAddress } from '#domain/people/email.ts';
import type { Person } from '#domain/people/model.ts';
import { findPersonByAddress } from '#domain/people/operations.ts';
import { endSessionsOf } from '#domain/sessions/operations.ts';
import type { Row } from '#foundation/base-model.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { type Command, command } from './command.ts';
import { limit } from './credential-lists.ts';
import { organizationOf, slug } from './organization-option.ts';

const peopleSql = `select p.id, p.email, p.name, p.created_at, p.disabled_at, coalesce(
    (select json_agg(json_build_object('org', o.slug, 'role', m.role) order by o.slug)
      from memberships m join organizations o on o.id = m.org_id where m.user_id = p.id), '[]') as memberships
  from people p
  where $1::text is null or exists (
    select 1 from memberships m join organizations o on o.id = m.org_id where m.user_id = p.id and o.slug = $1)
  order by p.created_at desc, p.id desc limit $2`;

const organizationsSql = `select o.id, o.slug, o.name, o.created_at, count(m.user_id) as members,
    array_remove(array_agg(p.email order by p.email) filter (where m.role = 'owner'), null) as owners
  from organizations o left join memberships m on m.org_id = o.id left join people p on p.id = m.user_id
  group by o.id order by o.created_at desc, o.id desc limit $1`;

const sessionsSql = `select id, user_agent, address, created_at, last_used_at, expires_at from sessions
  where person_id = $1 and ended_at is null and expires_at > $2 order by last_used_at desc, id desc limit $3`;

export const memberCommands: Record<string, Command> = {
  'person:list': command({
    about: 'Lists accounts with their organizations and roles, newest first.',
    example: '--org acme',
    options: z.object({ org: slug.optional(), limit }),
    run: ({ org, limit }) => sql(peopleSql, [org ?? null, limit]),
  }),
  'person:disable': command({
    about:
      'Disables an account: its sessions, tokens, sign-ins and agents end for good in every organization, and recurring missions that the person set are disabled.',
    example: '--email ada@example.com',
    options: z.object({ email: emailAddress }),
    run: async ({ email }) => disablePerson(await accountOf(email)),
  }),
  'person:enable': command({
    about: 'Enables a disabled account, so that the person can sign in again. Ended credentials stay ended.',
    example: '--email ada@example.com',
    options: z.object({ email: emailAddress }),
    run: async ({ email }) => enablePerson(await accountOf(email)),
  }),
  'session:list': command({
    about: 'Lists the open console sessions of a person, last used first.',
    example: '--email ada@example.com',
    options: z.object({ email: emailAddress, limit }),
    run: async ({ email, limit }) => sql(sessionsSql, [(await accountOf(email)).id, now(), limit]),
  }),
  'session:revoke': command({
    about: 'Ends all console sessions of a person, or one of them.',
    example: '--email ada@example.com',
    options: z.object({
      email: emailAddress,
      session: boundedText(text.pathId).describe('An id of session:list; all sessions by default.').optional(),
    }),
    run: async ({ email, session }) => {
      const { id } = await accountOf(email);
      const ended = await transaction((trx) => endSessionsOf(trx, id, session));
      if (session && ended === 0) throw new Error(`--session: ${email} has no open session ${session}`);
      return { ended };
    },
  }),
  'org:list': command({
    about: 'Lists organizations with their owners and the number of their members, newest first.',
    example: '--limit 20',
    options: z.object({ limit }),
    run: ({ limit }) => sql(organizationsSql, [limit]),
  }),
  'member:role': command({
    about: 'Changes the role of a member. The last owner stays owner.',
    example: '--org acme --email ada@example.com --role admin',
    options: z.object({
      org: slug,
      email: emailAddress,
      role: z.enum(orgRoles).describe(`One of ${orgRoles.join(', ')}.`),
    }),
    run: ({ org, email, role }) => changeMember(org, email, (trx, member) => setRole(trx, member, role)),
  }),
  'member:remove': command({
    about:
      'Removes a member. Their tokens, sign-ins and agents in the organization end for good, and recurring missions that they set are disabled. The last owner stays.',
    example: '--org acme --email ada@example.com',
    options: z.object({ org: slug, email: emailAddress }),
    run: ({ org, email }) =>
      changeMember(org, email, async (trx, member) => {
        await removeMember(trx, member);
        return { ok: true };
      }),
  }),
};

type Change<T> = (trx: Transaction, member: Row<Membership>) => Promise<T>;

async function changeMember<T>(org: string, email: string, change: Change<T>): Promise<T> {
  const [{ id: orgId }, person] = [await organizationOf(org), await accountOf(email)];
  return transaction(async (trx) => change(trx, await lockMember(trx, orgId, person.id)));
}

async function accountOf(email: string): Promise<Row<Person>> {
  const person = await findPersonByAddress(email);
  if (!person) throw new Error(`--email: ${email} has no account`);
  return person;
}
