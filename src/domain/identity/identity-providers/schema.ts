// Identity providers of an organization, in GraphQL. Secrets are accepted but never returned.
import { z } from 'zod';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { epochMs, epochMsOrNull, members, string, stringOrNull, typed, typedOrNull } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { OrgRole } from '../../organization/memberships/schema.ts';
import { providerCounts, providerText, samlBounds } from './bounds.ts';
import { IdentityProvider, protocols } from './model.ts';
import * as operations from './operations.ts';
import * as saml from './saml-providers.ts';

const Protocol = wordSet('IdentityProtocol', protocols, 'The protocol of an identity provider.', {
  oidc: 'OpenID Connect.',
  saml: 'SAML 2.0.',
});
const ProviderType = builder.modelType(IdentityProvider, 'IdentityProvider').implement({
  description: 'An identity provider of the organization, which signs in people with addresses of its domains.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `idp_`.'),
      orgId: string('The organization of the provider.'),
      name: string(`The name on the sign-in page, ${range(providerText.name)} characters.`),
      protocol: typed(Protocol.type, 'The protocol.'),
      issuer: string('The issuer of an OpenID provider, or the entity id of a SAML provider.'),
      clientId: t.string({
        description: 'The client id at an OpenID provider; empty for SAML.',
        resolve: ({ clientId }) => clientId ?? '',
      }),
      signInUrl: stringOrNull('The sign-in URL of a SAML provider; null for OpenID Connect.'),
      metadataUrl: stringOrNull(
        'The URL from which the metadata of a SAML provider is read every day; null when there is none.',
      ),
      metadataReadAt: epochMsOrNull('When the metadata of a SAML provider was last read; null for OpenID Connect.'),
      metadataFailingSince: epochMsOrNull(
        'The time since which the metadata of a SAML provider cannot be read, or describes another provider or sign-in URL; null while it can be used.',
      ),
      returnAddress: t.string({
        description:
          'The URL to enter at the provider: the redirect URI, or for SAML the assertion consumer service URL.',
        resolve: (provider) =>
          provider.protocol === 'saml' ? operations.acsAddressOf(provider) : operations.returnAddressOf(provider),
      }),
      entityId: t.string({
        nullable: true,
        description:
          'The entity id of the service for a SAML provider, which is also the URL of the service’s metadata; null for OpenID Connect.',
        resolve: (provider) => (provider.protocol === 'saml' ? operations.entityIdOf(provider) : null),
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
const ProviderList = builder.objectRef<{ providers: IdentityProvider[] }>('IdentityProviderList').implement({
  description: 'The identity providers of an organization.',
  fields: (t) => members(t, { providers: typed([ProviderType], 'The providers, newest first.') }),
});
const DeleteProviderResponse = okIdAnswer('DeleteIdentityProviderResponse');

const name = nameText(providerText.name).describe(
  `The name on the sign-in page, ${range(providerText.name)} characters.`,
);
const issuer = boundedText(providerText.issuer).describe('The issuer, an https URL of a public host.');
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

const metadataXml = boundedText({ min: 1, max: samlBounds.metadataChars })
  .nullable()
  .optional()
  .describe('The metadata of the provider as XML.');
const metadataUrl = boundedText(samlBounds.metadataUrl)
  .nullable()
  .optional()
  .describe('The https URL of the metadata, which is read again every day for new keys.');
const CreateSamlProviderRequest = request(
  'CreateSamlProviderRequest',
  z.object({ name, metadataXml, metadataUrl, defaultRole }).meta({
    description: 'A new SAML provider, with either its metadata or the URL of the metadata.',
    examples: [{ name: 'Okta', metadataUrl: 'https://acme.okta.com/app/1/sso/saml/metadata', defaultRole: 'member' }],
  }),
);
const SamlMetadataRequest = request(
  'SamlMetadataRequest',
  z.object({ metadataXml, metadataUrl }).meta({
    description: 'The metadata of a SAML provider, or the URL of the metadata.',
    examples: [{ metadataUrl: 'https://acme.okta.com/app/1/sso/saml/metadata' }],
  }),
);

const providerId = { ...pathId, description: 'The id of the provider.' } as const;

builder.queryFields((t) => ({
  identityProviders: t.field({
    description: `Identity providers of the organization, at most ${providerCounts.providers}.`,
    scope: 'sign-in:read',
    type: ProviderList,
    resolve: async (_, _args, { caller }) => ({ providers: await operations.listProviders(caller) }),
  }),
}));

builder.mutationFields((t) => ({
  createIdentityProvider: t.field({
    description:
      'Connects an identity provider. It is offered to people once a test sign-in in the console has succeeded.',
    scope: 'sign-in:write',
    type: ProviderType,
    args: { input: t.arg({ type: CreateProviderRequest, required: true, description: 'The new provider.' }) },
    resolve: (_, { input }, { caller }) => operations.createProvider(caller, input),
  }),
  createSamlProvider: t.field({
    description:
      'Connects a SAML provider by its metadata. It is offered to people once a test sign-in in the console has succeeded.',
    scope: 'sign-in:write',
    type: ProviderType,
    args: { input: t.arg({ type: CreateSamlProviderRequest, required: true, description: 'The new provider.' }) },
    resolve: (_, { input }, { caller }) => saml.createSamlProvider(caller, input),
  }),
  replaceSamlMetadata: t.field({
    description:
      'Replaces the metadata of a SAML provider. A changed entity id or sign-in URL needs a new test; a changed entity id also forgets the users of the provider.',
    scope: 'sign-in:write',
    type: ProviderType,
    args: {
      samlProviderId: t.arg.string(providerId),
      input: t.arg({ type: SamlMetadataRequest, required: true, description: 'The metadata.' }),
    },
    resolve: (_, args, { caller }) => saml.replaceSamlMetadata(caller, args.samlProviderId, args.input),
  }),
  updateIdentityProvider: t.field({
    description:
      'Changes a provider. After the issuer or client is changed, the provider must be tested again. After the issuer is changed, the ' +
      'platform also no longer knows which accounts belong to the users of the provider.',
    scope: 'sign-in:write',
    type: ProviderType,
    args: {
      providerId: t.arg.string(providerId),
      input: t.arg({ type: UpdateProviderRequest, required: true, description: 'The changes.' }),
    },
    resolve: (_, args, { caller }) => operations.changeProvider(caller, args.providerId, args.input),
  }),
  deleteIdentityProvider: t.field({
    description: 'Deletes a provider that is not required. Its domains then have no provider.',
    scope: 'sign-in:write',
    type: DeleteProviderResponse,
    args: { providerId: t.arg.string(providerId) },
    resolve: (_, args, { caller }) => operations.deleteProvider(caller, args.providerId),
  }),
}));
