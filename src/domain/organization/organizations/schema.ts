// Organizations in all APIs (docs/contract.md#organizations).
import { z } from 'zod';
import { organizationPath } from '#foundation/http/addresses.ts';
import { addressOfCell, ownCell } from '#foundation/http/cells.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boolean, epochMs, hasMany, members, string, stringOrNull, typed } from '#graph/members.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { MembershipType } from '../memberships/schema.ts';
import { createOrganization } from './create.ts';
import { Organization } from './model.ts';
import * as operations from './operations.ts';
import { pageOfSlug } from './pages.ts';
import { slugPattern } from './slug.ts';

const name = nameText(text.organizationName).describe(`The name, ${range(text.organizationName)} characters.`);
const slug = boundedText(text.organizationSlug)
  .regex(slugPattern, 'must contain only lower-case letters, digits and hyphens')
  .describe(`The slug, ${range(text.organizationSlug)} lower-case letters, digits and hyphens; unique.`);

const cell = z
  .string()
  .min(1)
  .max(32)
  .regex(slugPattern, 'must contain only lower-case letters, digits and hyphens')
  .describe(
    'Name of the cell that stores the organization’s data, 1 to 32 characters; by default the cell of the request. In another ' +
      'cell, the person gets an account with the same email address.',
  );

export const OrganizationType = builder.modelType(Organization, 'Organization').implement({
  description: 'The owner of projects, credentials and credits.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `org_`.'),
      name: string(`The name, ${range(text.organizationName)} characters; not unique.`),
      slug: string('A unique name, which is part of console URLs.'),
      createdByUserId: string('The person who created the organization and became its first owner.'),
      createdAt: epochMs('When the organization was created.'),
      namePending: boolean('Not used yet: always false, since a person chooses every name.'),
      consoleUrl: t.string({
        beyondRest: true,
        description:
          'The URL of the organization’s pages in the console. A token reaches only its own organization: to reach this one with a ' +
          'token, a person creates the token on these pages, under Tokens. A console session sends the id of the organization in ' +
          '`X-Org-Id` instead.',
        resolve: ({ slug, cell }) => (cell ? addressOfCell(cell) + organizationPath(slug) : pageOfSlug(slug, '')),
      }),
      cell: t.string({
        nullable: true,
        beyondRest: true,
        description:
          'Name of the cell that stores the data of the organization; null when the platform has a single installation.',
        resolve: ({ cell }) => cell ?? ownCell(),
      }),
      memberships: hasMany('members:read', 'All members with their roles, oldest first.'),
    }),
});

builder.objectField(MembershipType, 'organization', (t) =>
  t.belongsTo('organization', { link: 'organizations:read', description: 'The organization of the membership.' }),
);

const OrganizationList = builder.objectRef<{ orgs: Organization[] }>('OrganizationList').implement({
  description: 'The organizations of the caller.',
  fields: (t) =>
    members(t, {
      orgs: typed([OrganizationType], 'The organizations, oldest first; a token sees only its own.'),
    }),
});
const SlugPreviewResponse = builder.objectRef<{ slug: string }>('SlugPreviewResponse').implement({
  description: 'A slug derived from a name; it is not reserved.',
  fields: (t) =>
    members(t, {
      slug: string(`The slug, ${range(text.organizationSlug)} lower-case letters, digits and hyphens.`),
    }),
});
const SlugAvailabilityResponse = builder.objectRef<operations.SlugAvailability>('SlugAvailabilityResponse').implement({
  description: 'Whether a slug is free at this moment; it is not reserved.',
  fields: (t) =>
    members(t, {
      slug: string('The slug that was checked.'),
      available: boolean('Whether no organization has the slug.'),
      suggestion: stringOrNull('The nearest free slug; null when the checked one is free.'),
    }),
});

const CreateOrganizationRequest = request(
  'CreateOrganizationRequest',
  z.object({ name, slug: slug.optional(), cell: cell.optional() }).meta({
    description: 'A new organization. Without a slug it gets one derived from its name.',
    examples: [{ name: 'Acme', slug: 'acme' }],
  }),
  { beyondRest: ['cell'] },
);
const UpdateOrganizationRequest = request(
  'UpdateOrganizationRequest',
  z
    .object({ name: name.optional(), slug: slug.optional() })
    .meta({ description: 'Omitted members stay unchanged.', examples: [{ name: 'Acme Works' }] }),
);

builder.queryFields((t) => ({
  organizations: t.field({
    description: 'The organizations that the caller belongs to.',
    scope: 'organizations:read',
    rest: 'GET /organizations',
    tool: 'list_organizations',
    type: OrganizationList,
    resolve: async (_, _args, { caller }) => ({ orgs: await operations.listOrganizations(caller) }),
  }),
  organization: t.field({
    description: 'An organization of the caller by its id.',
    scope: 'organizations:read',
    rest: 'GET /organizations/{orgId}',
    tool: 'get_organization',
    type: OrganizationType,
    args: { orgId: t.arg.string(pathId) },
    resolve: (_, { orgId }, { caller }) => operations.findOrganization(caller, orgId),
  }),
  slugPreview: t.field({
    description: 'The slug that an organization of this name would get now.',
    scope: 'organizations:read',
    rest: 'GET /organizations/slug-preview',
    type: SlugPreviewResponse,
    args: {
      name: t.arg.string({
        required: true,
        description: `A name, ${range(text.organizationName)} characters.`,
        validate: { schema: name },
      }),
    },
    resolve: async (_, args) => ({ slug: await operations.slugFor(args.name) }),
  }),
  slugAvailability: t.field({
    description: 'Whether a slug is free; if it is not, also the nearest free slug.',
    scope: 'organizations:read',
    rest: 'GET /organizations/slug-availability',
    type: SlugAvailabilityResponse,
    args: { slug: t.arg.string({ required: true, description: 'The slug to check.', validate: { schema: slug } }) },
    resolve: (_, args) => operations.slugAvailability(args.slug),
  }),
}));

const tokenPageLink = {
  description:
    'The page of the console where a person creates a token for the new organization: `<address>; rel="related"; title="…"` (RFC 8288).',
  of: ({ slug }: { slug: string }) =>
    `<${pageOfSlug(slug, '/tokens')}>; rel="related"; title="Create a token for this organization"`,
};

builder.mutationFields((t) => ({
  createOrganization: t.field({
    description:
      'Creates an organization. The person of the caller becomes its owner; any role in the current organization suffices. A token ' +
      'remains valid only for its own organization; the response says where a person can create a token for the new one.',
    scope: 'organizations:write',
    rest: { route: 'POST /organizations', status: 201, errors: [409], link: tokenPageLink },
    type: OrganizationType,
    args: { input: t.arg({ type: CreateOrganizationRequest, required: true, description: 'The new organization.' }) },
    resolve: (_, { input }, { caller }) => createOrganization(caller, input),
  }),
  updateOrganization: t.field({
    description: 'Renames an organization or changes its slug.',
    scope: 'organizations:write',
    rest: { route: 'PATCH /organizations/{orgId}', errors: [409] },
    tool: { name: 'update_organization', idempotent: true },
    type: OrganizationType,
    args: {
      orgId: t.arg.string(pathId),
      input: t.arg({ type: UpdateOrganizationRequest, required: true, description: 'The fields to change.' }),
    },
    resolve: (_, { orgId, input }, { caller }) => operations.updateOrganization(caller, orgId, input),
  }),
}));
