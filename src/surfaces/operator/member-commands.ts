// The operator's commands for people and organizations: lists, roles, removal, disabled accounts, sessions.
import { z } from 'zod';
import { type OrgRole, orgRoles } from '#access/roles.ts';
import { liftRequirements } from '#domain/identity/identity-providers/domains.ts';
import { endSessionsOf, listSessionsOf } from '#domain/identity/sessions/operations.ts';
import { disablePerson, enablePerson } from '#domain/lifecycle/offboarding/disable.ts';
import { lockMember, removeMember, setRole } from '#domain/lifecycle/offboarding/membership-changes.ts';
import { Membership } from '#domain/organization/memberships/model.ts';
import { openNetworks } from '#domain/organization/organizations/allowed-networks.ts';
import { Organization } from '#domain/organization/organizations/model.ts';
import { listAllOrganizations, organizationsWithIds } from '#domain/organization/organizations/operations.ts';
import { emailAddress } from '#domain/organization/people/email.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { findPersonByAddress, listPeople } from '#domain/organization/people/operations.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { type Command, command } from './command.ts';
import { limit } from './credential-lists.ts';
import { organizationOf, slug } from './organization-option.ts';

export const memberCommands: Record<string, Command> = {
  'person:list': command({
    about: 'Lists accounts with their organizations and roles, newest first.',
    example: '--org acme',
    options: z.object({ org: slug.optional(), limit }),
    run: peopleWithRoles,
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
    run: async ({ email, limit }) => listSessionsOf((await accountOf(email)).id, limit),
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
    run: ({ limit }) => listAllOrganizations(limit),
  }),
  'sign-in:optional': command({
    about:
      'Ends the requirement to sign in through an identity provider for all domains of an organization, whose members can then sign in with a code again.',
    example: '--org acme',
    options: z.object({ org: slug }),
    run: async ({ org }) => ({ domains: await liftRequirements((await organizationOf(org)).id) }),
  }),
  'networks:open': command({
    about:
      'Removes the list of allowed networks of an organization, for owners who have locked themselves out. Credentials then work from everywhere.',
    example: '--org acme',
    options: z.object({ org: slug }),
    run: async ({ org }) => ({ networks: await openNetworks((await organizationOf(org)).id) }),
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

/** The newest accounts, of one organization or of all, with the role in each of their organizations. */
async function peopleWithRoles({ org, limit }: { org?: string | undefined; limit: number }): Promise<object[]> {
  const people = await listPeople(org === undefined ? null : await memberIdsOf(org), limit);
  const memberships = await Membership.findByKeys(
    'userId',
    people.map(({ id }) => id),
  );
  const organizations = await organizationsWithIds(memberships.map(({ orgId }) => orgId));
  const slugs = new Map(organizations.map(({ id, slug }) => [id, slug]));
  const roles = new Map(people.map(({ id }) => [id, [] as { org: string; role: OrgRole }[]]));
  for (const { userId, orgId, role } of memberships) {
    const org = slugs.get(orgId);
    // An entry has no organization when the organization was deleted.
    if (org) roles.get(userId)?.push({ org, role });
  }
  const bySlug = (a: { org: string }, b: { org: string }) => (a.org < b.org ? -1 : 1);
  return people.map((person) => ({ ...person, memberships: roles.get(person.id)!.sort(bySlug) }));
}

/** Ids of the members; empty for an unknown slug. */
async function memberIdsOf(slug: string): Promise<string[]> {
  const organization = await Organization.find({ slug });
  return organization ? (await Membership.findAll({ orgId: organization.id })).map(({ userId }) => userId) : [];
}

type Change<T> = (trx: Transaction, member: Membership) => Promise<T>;

async function changeMember<T>(org: string, email: string, change: Change<T>): Promise<T> {
  const [{ id: orgId }, person] = [await organizationOf(org), await accountOf(email)];
  return transaction(async (trx) => change(trx, await lockMember(trx, orgId, person.id)));
}

async function accountOf(email: string): Promise<Person> {
  const person = await findPersonByAddress(email);
  if (!person) throw new Error(`--email: ${email} has no account`);
  return person;
}
