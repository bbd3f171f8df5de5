// What the operator can ask for on the command line, beside a running server (design decisions, section 11).
import { z } from 'zod';
import type { Caller } from '#access/principal.ts';
import { orgRoles } from '#access/roles.ts';
import { presetScopes, scopePresets, scopesOfRole } from '#access/scopes.ts';
import { revokeRegistration } from '#domain/agent-identities/revoke.ts';
import {
  Integration,
  type Vendor,
  type VendorKind,
  vendorKinds,
  vendorNames,
  vendors,
} from '#domain/integrations/model.ts';
import { replaceCredentials } from '#domain/integrations/operations.ts';
import { addMember, findMembership } from '#domain/memberships/operations.ts';
import { rotateSigningKey } from '#domain/oauth/keys.ts';
import { Organization } from '#domain/organizations/model.ts';
import { foundOrganization } from '#domain/organizations/operations.ts';
import { slugPattern } from '#domain/organizations/slug.ts';
import { mailAddress } from '#domain/people/mail-address.ts';
import { findOrCreatePerson, findPersonByAddress } from '#domain/people/operations.ts';
import { createSignInLink } from '#domain/people/sign-in-links.ts';
import { connectIntegration } from '#domain/projects/connectors.ts';
import { createToken } from '#domain/tokens/operations.ts';
import { createServiceToken, revokeServiceToken } from '#domain/tokens/service-tokens.ts';
import { transaction } from '#foundation/database.ts';
import { readOne } from '#foundation/record.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { text, tokens } from '#limits.ts';
import { type Command, command, flag, wholeNumber } from './command.ts';
import { databaseCommands } from './database-commands.ts';
import { demoProjects, seedDemo } from './demo.ts';

const slug = boundedText(text.organizationSlug).regex(slugPattern, 'must be lower-case letters, digits and hyphens');
const { min, max, default: usual } = tokens.lifetimeDays;

export const commands: Record<string, Command> = {
  'person:create': command({
    about: 'Makes an account, or shows the one that has this mail address.',
    options: z.object({ email: mailAddress, name: nameText(text.personName).optional() }),
    run: ({ email, name }) => findOrCreatePerson(email, name),
  }),
  'org:create': command({
    about: 'Founds an organization. Its owner gets an account if there is none.',
    options: z.object({ name: nameText(text.organizationName), owner: mailAddress, slug: slug.optional() }),
    run: async ({ name, owner, slug }) => foundOrganization((await findOrCreatePerson(owner)).id, { name, slug }),
  }),
  'member:add': command({
    about: 'Makes somebody a member of an organization; they get an account if there is none.',
    options: z.object({ org: slug, email: mailAddress, role: z.enum(orgRoles) }),
    run: async ({ org, email, role }) => {
      const [{ id: orgId }, person] = [await organizationOf(org), await findOrCreatePerson(email)];
      const membership = await transaction((trx) => addMember(trx, orgId, person.id, role));
      if (!membership) throw new Error(`${person.email} is a member of ${org} already`);
      return membership;
    },
  }),
  'token:create': command({
    about: `Creates a personal access token for a member. SCOPES: ${scopePresets.join(', ')}, or up to ${tokens.scopesPerToken} scopes with commas between. Expires in ${usual} days unless said otherwise.`,
    options: z.object({
      email: mailAddress,
      org: slug,
      scopes: z.string().transform((list) => list.split(',').map((scope) => scope.trim())),
      project: boundedText(text.pathId).optional(),
      days: wholeNumber(min, max).default(usual),
      name: nameText(text.tokenName).default('Made by the operator'),
    }),
    run: async ({ email, org, scopes: wanted, project, days, name }) => {
      const caller = await memberOf(org, email);
      const preset = scopePresets.find((name) => name === wanted.join());
      const scopes = preset ? presetScopes(preset, caller.scopes) : wanted;
      const made = await createToken(caller, { name, scopes, expiresInDays: days, projectId: project });
      const { id, token, projectId, expiresAt, createdAt } = made;
      return { id, name, token, scopes: made.scopes, projectId, expiresAt, createdAt };
    },
  }),
  'sign-in-link': command({
    about: 'Makes an address that signs its visitor in to the console: one use, ten minutes.',
    options: z.object({ email: mailAddress }),
    run: async ({ email }) => {
      if (!(await findPersonByAddress(email)))
        throw new Error(`--email: nobody has an account with the address ${email}; person:create creates one`);
      return { url: await createSignInLink(email) };
    },
  }),
  'service-token:create': command({
    about:
      'Makes a token for an internal service such as the runtime; it may report missions, of one organization or of all.',
    options: z.object({ name: nameText(text.tokenName), org: slug.optional() }),
    run: async ({ name, org }) => createServiceToken({ name, orgId: org ? (await organizationOf(org)).id : undefined }),
  }),
  'service-token:revoke': command({
    about: 'Ends a service token at once.',
    options: z.object({ id: boundedText(text.pathId) }),
    run: ({ id }) => revokeServiceToken(id),
  }),
  'agent:revoke': command({
    about: 'Ends an agent at once, claimed or not, with every token it holds.',
    options: z.object({ registration: boundedText(text.pathId) }),
    run: ({ registration }) => revokeRegistration(registration),
  }),
  'signing-key:rotate': command({
    about: 'From now on a new key signs assertions; the old one stays published until the last of its own has expired.',
    options: z.object({}),
    run: async () => {
      await rotateSigningKey();
      return { ok: true };
    },
  }),
  'integration:create': command({
    about: 'Connects a tracker, a source host or a language model; what the vendor asks for is piped in and sealed.',
    options: z.object({
      org: slug,
      vendor: z.enum(vendorNames),
      kind: z.enum(vendorKinds).optional(),
      name: nameText(text.integrationName),
      'external-org': boundedText(text.externalOrgId).optional(),
      'credentials-stdin': flag,
    }),
    run: async (
      { org, vendor, kind, name, 'external-org': externalOrgId, 'credentials-stdin': piped },
      { readInput },
    ) => {
      const vendorKind = kind ?? onlyKind(vendor);
      const { id: orgId } = await organizationOf(org);
      const credentials = piped ? await readInput() : undefined;
      if (credentials === '') throw new Error('--credentials-stdin: nothing was piped in');
      const made = await connectIntegration({
        orgId,
        vendor,
        vendorKind,
        displayName: name,
        externalOrgId,
        credentials,
      });
      return readOne<Integration>(Integration, { id: made.id });
    },
  }),
  'integration:credentials': command({
    about: 'Gives a connector other credentials, which are piped in and sealed.',
    options: z.object({ id: boundedText(text.pathId) }),
    run: async ({ id }, { readInput }) => {
      const credentials = await readInput();
      if (!credentials) throw new Error('nothing was piped in');
      return replaceCredentials(id, credentials);
    },
  }),
  'demo:seed': command({
    about: 'Fills the demo organization; a second time adds only what is missing.',
    options: z.object({
      projects: wholeNumber(0, 1_000_000).default(demoProjects),
      runs: wholeNumber(0, 1_000_000).default(0),
      sandboxes: wholeNumber(0, 100_000).default(0),
      // Each is a file in the storage.
      artifacts: wholeNumber(0, 100_000).default(0),
      metrics: wholeNumber(0, 10_000).default(30),
    }),
    run: seedDemo,
  }),
  ...databaseCommands,
};

async function organizationOf(slug: string): Promise<Organization> {
  const organization = await readOne<Organization>(Organization, { slug });
  if (!organization) throw new Error(`--org: no organization has the slug ${slug}`);
  return organization;
}

/** The caller that this person would be in the console. */
async function memberOf(org: string, email: string): Promise<Caller> {
  const [{ id: orgId }, person] = [await organizationOf(org), await findPersonByAddress(email)];
  const membership = person && (await findMembership(orgId, person.id));
  if (!membership) throw new Error(`--email: ${email} is not a member of ${org}; member:add makes one`);
  const { userId, role } = membership;
  const scopes = scopesOfRole(role);
  return { principalType: 'cookie', credentialId: 'operator', userId, orgId, role, scopes, projectId: null };
}

function onlyKind(vendor: Vendor): VendorKind {
  const kinds = vendorKinds.filter((kind) => (vendors[kind] as readonly string[]).includes(vendor));
  if (kinds.length > 1) throw new Error(`--kind: is required for ${vendor}: one of ${kinds.join(', ')}`);
  return kinds[0]!;
}
