// The operator's commands (docs/decisions/0033-settings-fail-together.md).
import { z } from 'zod';
import type { Caller } from '#access/principal.ts';
import { orgRoles } from '#access/roles.ts';
import { presetScopes, scopePresets, scopesOfRole } from '#access/scopes.ts';
import { demoProjects, seedDemo } from '#demo/seed.ts';
import { revokeRegistration } from '#domain/identity/agent-identities/revoke.ts';
import { rotateSigningKey } from '#domain/identity/oauth/keys.ts';
import { createToken } from '#domain/identity/tokens/operations.ts';
import { createServiceToken, revokeServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { requestExport } from '#domain/lifecycle/closure/export.ts';
import { close } from '#domain/lifecycle/closure/operations.ts';
import { addMember, findMembership } from '#domain/organization/memberships/operations.ts';
import { foundOrganization } from '#domain/organization/organizations/operations.ts';
import { emailAddress } from '#domain/organization/people/email.ts';
import { findOrCreatePerson, findPersonByAddress } from '#domain/organization/people/operations.ts';
import { createSignInLink } from '#domain/organization/people/sign-in-links.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { text, tokens } from '#limits.ts';
import { auditCommands } from './audit-commands.ts';
import { billingCommands } from './billing-commands.ts';
import { cellCommands } from './cell-commands.ts';
import { type Command, command, flag, wholeNumber } from './command.ts';
import { credentialLists } from './credential-lists.ts';
import { databaseCommands } from './database-commands.ts';
import { integrationCommands } from './integration-commands.ts';
import { memberCommands } from './member-commands.ts';
import { organizationFileCommands } from './organization-file-commands.ts';
import { organizationOf, slug } from './organization-option.ts';

const { min, max, default: defaultDays } = tokens.lifetimeDays;

export const commands: Record<string, Command> = {
  'person:create': command({
    example: "--email ada@example.com --name 'Ada Lovelace'",
    about: 'Creates an account, or shows the one that has this email address.',
    options: z.object({
      email: emailAddress,
      name: nameText(text.personName).describe('The name; by default the part of the address before the @.').optional(),
    }),
    run: ({ email, name }) => findOrCreatePerson(email, name),
  }),
  'org:create': command({
    example: '--name Acme --owner ada@example.com',
    about: 'Creates an organization. Its owner gets an account if there is none.',
    options: z.object({
      name: nameText(text.organizationName).describe(`${range(text.organizationName)} characters.`),
      owner: emailAddress,
      slug: slug.describe('Its slug; derived from the name by default.').optional(),
    }),
    run: async ({ name, owner, slug }) => foundOrganization((await findOrCreatePerson(owner)).id, { name, slug }),
  }),
  'org:close': command({
    example: '--org acme',
    about: 'Closes an organization for good: see docs/close-an-organization.md.',
    options: z.object({ org: slug, export: flag }),
    run: async ({ org, export: wantsExport }) => {
      const { id } = await organizationOf(org);
      const closure = await close(id, org, { basis: 'service', closedByUserId: null, sessionId: '' });
      if (wantsExport) await requestExport(id);
      return closure;
    },
  }),
  'member:add': command({
    example: '--org acme --email bob@example.com --role member',
    about: 'Adds a member to an organization; they get an account if there is none.',
    options: z.object({
      org: slug,
      email: emailAddress,
      role: z.enum(orgRoles).describe(`One of ${orgRoles.join(', ')}.`),
    }),
    run: async ({ org, email, role }) => {
      const [{ id: orgId }, person] = [await organizationOf(org), await findOrCreatePerson(email)];
      const membership = await transaction((trx) => addMember(trx, orgId, person.id, role));
      if (!membership) throw new Error(`${person.email} is already a member of ${org}`);
      return membership;
    },
  }),
  'token:create': command({
    example: '--email ada@example.com --org acme --scopes projects:read,missions:run --days 30',
    about: `Creates a personal access token for a member. SCOPES: ${scopePresets.join(', ')}, or up to ${tokens.scopesPerToken} scopes separated by commas. Expires in ${defaultDays} days by default.`,
    options: z.object({
      email: emailAddress,
      org: slug,
      scopes: z
        .string()
        .transform((list) => list.split(',').map((scope) => scope.trim()))
        .describe('A preset, or scopes separated by commas.'),
      project: boundedText(text.pathId).describe('Binds the token to one project.').optional(),
      days: wholeNumber(min, max)
        .describe(`Days until it expires, ${min} to ${max}; ${defaultDays} by default.`)
        .default(defaultDays),
      name: nameText(text.tokenName)
        .describe(`A label, ${range(text.tokenName)} characters.`)
        .default('Created by the operator'),
    }),
    run: async ({ email, org, scopes: wanted, project, days, name }) => {
      const caller = await memberOf(org, email);
      const preset = scopePresets.find((name) => name === wanted.join());
      const scopes = preset ? presetScopes(preset, caller.scopes) : wanted;
      const created = await createToken(caller, { name, scopes, expiresInDays: days, projectId: project });
      const { id, token, projectId, expiresAt, createdAt } = created;
      return { id, name, token, scopes: created.scopes, projectId, expiresAt, createdAt };
    },
  }),
  'sign-in-link': command({
    example: '--email ada@example.com',
    about: 'Creates a link that signs its visitor in to the console once, within ten minutes.',
    options: z.object({ email: emailAddress }),
    run: async ({ email }) => {
      if (!(await findPersonByAddress(email)))
        throw new Error(`--email: nobody has an account with the address ${email}; person:create creates one`);
      return { url: await createSignInLink(email) };
    },
  }),
  'service-token:create': command({
    example: '--name Runtime --org acme',
    about:
      'Creates a token for an internal service such as a runtime, which may report on missions of one organization or of all.',
    options: z.object({
      name: nameText(text.tokenName).describe(`A label, ${range(text.tokenName)} characters.`),
      org: slug.describe('The slug of the organization that it serves; all of them by default.').optional(),
    }),
    run: async ({ name, org }) => createServiceToken({ name, orgId: org ? (await organizationOf(org)).id : undefined }),
  }),
  'service-token:revoke': command({
    example: '--id svc_01a207a232804b897f93a2a46f8445e3',
    about: 'Revokes a service token at once.',
    options: z.object({ id: boundedText(text.pathId).describe('An id of service-token:list.') }),
    run: ({ id }) => revokeServiceToken(id),
  }),
  'agent:revoke': command({
    example: '--registration reg_01a207a232804b897f93a2a46f8445e3',
    about: 'Revokes an agent at once, claimed or not, with all its tokens.',
    options: z.object({ registration: boundedText(text.pathId).describe('An id from the output of agent:list.') }),
    run: ({ registration }) => revokeRegistration(registration),
  }),
  'signing-key:rotate': command({
    about:
      'Creates the key that signs assertions from now on; the old one stays published until its last assertion has expired.',
    options: z.object({}),
    run: async () => {
      await rotateSigningKey();
      return { ok: true };
    },
  }),
  'demo:seed': command({
    example: '--projects 30',
    about: 'Seeds the demo organization; repeated calls add only what is missing.',
    options: z.object({
      projects: wholeNumber(0, 1_000_000).describe('Number of projects.').default(demoProjects),
    }),
    run: seedDemo,
  }),
  ...integrationCommands,
  ...memberCommands,
  ...auditCommands,
  ...billingCommands,
  ...cellCommands,
  ...credentialLists,
  ...databaseCommands,
  ...organizationFileCommands,
};

/** Returns a caller with the rights that the person has in the console, so that a command can act for this person. */
async function memberOf(org: string, email: string): Promise<Caller> {
  const [{ id: orgId }, person] = [await organizationOf(org), await findPersonByAddress(email)];
  const membership = person && (await findMembership(orgId, person.id));
  if (person?.disabledAt) throw new Error(`--email: the account of ${email} is disabled; person:enable enables it`);
  if (!membership) throw new Error(`--email: ${email} is not a member of ${org}; member:add adds them`);
  const { userId, role } = membership;
  const scopes = scopesOfRole(role);
  return { principalType: 'cookie', credentialId: 'operator', userId, orgId, role, scopes, projectId: null };
}
