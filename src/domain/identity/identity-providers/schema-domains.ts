// An organization's domains in GraphQL: verified with a TXT record, and assigned to a provider.
import { z } from 'zod';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boolean, epochMs, epochMsOrNull, members, string, stringOrNull, typed } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { providerCounts, providerText } from './bounds.ts';
import { SignInDomain } from './domain-model.ts';
import * as domains from './domains.ts';

const DomainType = builder.modelType(SignInDomain, 'SignInDomain').implement({
  description:
    'A domain of email addresses. Its provider signs people in once the organization has verified the domain with a TXT record.',
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
      providerId: stringOrNull('The provider that signs in people with addresses of the domain; null without one.'),
      required: boolean(
        'Whether members with an address of the domain reach the organization in the console only after they sign in through one of its providers.',
      ),
      verifiedAt: epochMsOrNull(
        'When the domain was verified; null before that, and after its TXT record was missing for a week.',
      ),
      checkedAt: epochMsOrNull('When the record was last looked for; null before the first check.'),
      missingSince: epochMsOrNull(
        'When the record of a verified domain was first found missing; null while the record exists.',
      ),
      createdAt: epochMs('When the domain was added.'),
    }),
});
const DomainList = builder.objectRef<{ domains: SignInDomain[] }>('SignInDomainList').implement({
  description: 'The domains of an organization.',
  fields: (t) => members(t, { domains: typed([DomainType], 'The domains by name.') }),
});
const DeleteDomainResponse = okIdAnswer('DeleteSignInDomainResponse');

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

const domainId = { ...pathId, description: 'The id of the domain.' } as const;

builder.queryFields((t) => ({
  signInDomains: t.field({
    description: `The email domains, such as example.com, that the organization has added. There are at most ${providerCounts.domains} of them.`,
    scope: 'sign-in:read',
    type: DomainList,
    resolve: async (_, _args, { caller }) => ({ domains: await domains.listDomains(caller) }),
  }),
}));

builder.mutationFields((t) => ({
  createSignInDomain: t.field({
    description: 'Adds a domain of email addresses, which takes effect once its TXT record is found.',
    scope: 'sign-in:write',
    type: DomainType,
    args: { input: t.arg({ type: CreateDomainRequest, required: true, description: 'The new domain.' }) },
    resolve: (_, { input }, { caller }) => domains.createDomain(caller, input),
  }),
  verifySignInDomain: t.field({
    description:
      'Verifies a domain if its TXT record is found. A domain can be verified for only one organization at a time.',
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
}));
