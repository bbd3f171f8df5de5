// Domains and identity providers of an organization, in the graph. Secrets are taken, and never returned.
import { z } from 'zod';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boolean, epochMs, epochMsOrNull, members, string, stringOrNull, typed, typedOrNull } from '#graph/members.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { OrgRole } from '../../organization/memberships/schema.ts';
import { providerCounts, providerText } from './bounds.ts';
import { SignInDomain } from './domain-model.ts';
import * as domains from './domains.ts';
import { IdentityProvider } from './model.ts';
import * as operations from './operations.ts';

const DomainType = builder.modelType(SignInDomain, 'SignInDomain').implement({
  description:
    'A domain of email addresses. Its provider counts once the organization has proved it with a TXT record.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `dom_`.'),
      orgId: string('The organization of the domain.'),
      domain: string('The domain in lower case; internationalized ones in Punycode.'),
      recordName: t.string({
        description: 'The name at which the TXT record is read.',
        resolve: ({ domain }) => domains.recordNameOf(domain),
      }),
      recordValue: t.string({ description: 'The value of the TXT record.', resolve: ({ token }) => token }),
      providerId: stringOrNull('The provider that signs in its addresses; null when none does.'),
      required: boolean(
        'Whether members with an address of the domain reach the organization in the console only after a sign-in through a provider of it.',
      ),
      verifiedAt: epochMsOrNull('When the domain was proved; null until then, and after a week without its record.'),
      checkedAt: epochMsOrNull('When the record was last looked for; null before the first check.'),
      missingSince: epochMsOrNull('Since when the record of a proved domain is missing; null while it is there.'),
      createdAt: epochMs('When the domain was added.'),
    }),
});
const ProviderType = builder.modelType(IdentityProvider, 'IdentityProvider').implement({
  description: 'An OpenID provider of the organization, which signs in people with addresses of its domains.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `idp_`.'),
      orgId: string('The organization of the provider.'),
      name: string(`The name on the sign-in page, ${range(providerText.name)} characters.`),
      issuer: string('The issuer, as in the metadata of the provider.'),
      clientId: string('The client id at the provider.'),
      returnAddress: t.string({
        description: 'The redirect address to enter at the provider.',
        resolve: operations.returnAddressOf,
      }),
      defaultRole: typedOrNull(
        OrgRole.type,
        'The role of people whose first sign-in makes them members; null when only members and invited people may sign in.',
      ),
      testedAt: epochMsOrNull('When a test sign-in last succeeded; null for a provider that is not offered yet.'),
      createdByUserId: stringOrNull('The person who connected the provider; null once the account is deleted.'),
      createdAt: epochMs('When the provider was connected.'),
      updatedAt: epochMs('When the provider was last changed.'),
    }),
});
const DomainList = builder.objectRef<{ domains: SignInDomain[] }>('SignInDomainList').implement({
  description: 'The domains of an organization.',
  fields: (t) => members(t, { domains: typed([DomainType], 'The domains by name.') }),
});
const ProviderList = builder.objectRef<{ providers: IdentityProvider[] }>('IdentityProviderList').implement({
  description: 'The identity providers of an organization.',
  fields: (t) => members(t, { providers: typed([ProviderType], 'The providers, newest first.') }),
});
const DeleteDomainResponse = okIdAnswer('DeleteSignInDomainResponse');
const DeleteProviderResponse = okIdAnswer('DeleteIdentityProviderResponse');

const CreateDomainRequest = request(
  'CreateSignInDomainRequest',
  z
    .object({
      domain: boundedText(providerText.domain).describe(
        'The part of the addresses after the `@`, such as `example.com`.',
      ),
    })
    .meta({ description: 'A new domain.', examples: [{ domain: 'example.com' }] }),
);
const UpdateDomainRequest = request(
  'UpdateSignInDomainRequest',
  z
    .object({
      providerId: boundedText(text.pathId).nullable().optional().describe('The provider of the domain; null for none.'),
      required: z.boolean().optional().describe('Whether members with an address of the domain must use the provider.'),
    })
    .meta({ description: 'Omitted fields keep their value.', examples: [{ required: true }] }),
);

const name = nameText(providerText.name).describe(
  `The name on the sign-in page, ${range(providerText.name)} characters.`,
);
const issuer = boundedText(providerText.issuer).describe('The issuer, an https address of a public host.');
const clientId = boundedText(providerText.clientId).describe('The client id at the provider.');
const clientSecret = boundedText(providerText.clientSecret).describe('The client secret, which is stored encrypted.');
const defaultRole = OrgRole.zod
  .nullable()
  .optional()
  .describe(
    'The role of people whose first sign-in makes them members: admin, member or viewer. Null admits only members and invited people.',
  );
const example = {
  name: 'Okta',
  issuer: 'https://acme.okta.com',
  clientId: '0oa1',
  clientSecret: 'secret',
  defaultRole: 'member',
};
const CreateProviderRequest = request(
  'CreateIdentityProviderRequest',
  z
    .object({ name, issuer, clientId, clientSecret, defaultRole })
    .meta({ description: 'A new provider.', examples: [example] }),
);
const UpdateProviderRequest = request(
  'UpdateIdentityProviderRequest',
  z
    .object({
      ...{ name: name.optional(), issuer: issuer.optional(), clientId: clientId.optional() },
      ...{ clientSecret: clientSecret.optional(), defaultRole },
    })
    .meta({ description: 'Omitted fields keep their value.', examples: [{ defaultRole: null }] }),
);

const domainId = { ...pathId, description: 'The id of the domain.' } as const;
const providerId = { ...pathId, description: 'The id of the provider.' } as const;

builder.queryFields((t) => ({
  signInDomains: t.field({
    description: `Domains of email addresses of the organization, at most ${providerCounts.domains}.`,
    scope: 'sign-in:read',
    type: DomainList,
    resolve: async (_, _args, { caller }) => ({ domains: await domains.listDomains(caller) }),
  }),
  identityProviders: t.field({
    description: `Identity providers of the organization, at most ${providerCounts.providers}.`,
    scope: 'sign-in:read',
    type: ProviderList,
    resolve: async (_, _args, { caller }) => ({ providers: await operations.listProviders(caller) }),
  }),
}));

builder.mutationFields((t) => ({
  createSignInDomain: t.field({
    description: 'Adds a domain of email addresses, which counts once its TXT record is found.',
    scope: 'sign-in:write',
    type: DomainType,
    args: { input: t.arg({ type: CreateDomainRequest, required: true, description: 'The new domain.' }) },
    resolve: (_, { input }, { caller }) => domains.createDomain(caller, input),
  }),
  verifySignInDomain: t.field({
    description: 'Looks for the TXT record of a domain. One organization at a time can have proved a domain.',
    scope: 'sign-in:write',
    type: DomainType,
    args: { domainId: t.arg.string(domainId) },
    resolve: (_, args, { caller }) => domains.verifyDomain(caller, args.domainId),
  }),
  updateSignInDomain: t.field({
    description:
      'Chooses the provider of a domain, and whether it is required. It can be required once an owner has signed in through it.',
    scope: 'sign-in:write',
    type: DomainType,
    args: {
      domainId: t.arg.string(domainId),
      input: t.arg({ type: UpdateDomainRequest, required: true, description: 'The changes.' }),
    },
    resolve: (_, args, { caller }) => domains.changeDomain(caller, args.domainId, args.input),
  }),
  deleteSignInDomain: t.field({
    description: 'Deletes a domain whose provider is not required.',
    scope: 'sign-in:write',
    type: DeleteDomainResponse,
    args: { domainId: t.arg.string(domainId) },
    resolve: (_, args, { caller }) => domains.deleteDomain(caller, args.domainId),
  }),
  createIdentityProvider: t.field({
    description:
      'Connects an identity provider. It is offered to people once a test sign-in in the console has succeeded.',
    scope: 'sign-in:write',
    type: ProviderType,
    args: { input: t.arg({ type: CreateProviderRequest, required: true, description: 'The new provider.' }) },
    resolve: (_, { input }, { caller }) => operations.createProvider(caller, input),
  }),
  updateIdentityProvider: t.field({
    description: 'Changes a provider. Another issuer or client needs another test; another issuer forgets its users.',
    scope: 'sign-in:write',
    type: ProviderType,
    args: {
      providerId: t.arg.string(providerId),
      input: t.arg({ type: UpdateProviderRequest, required: true, description: 'The changes.' }),
    },
    resolve: (_, args, { caller }) => operations.changeProvider(caller, args.providerId, args.input),
  }),
  deleteIdentityProvider: t.field({
    description: 'Deletes a provider that is not required. Its domains have none afterwards.',
    scope: 'sign-in:write',
    type: DeleteProviderResponse,
    args: { providerId: t.arg.string(providerId) },
    resolve: (_, args, { caller }) => operations.deleteProvider(caller, args.providerId),
  }),
}));
