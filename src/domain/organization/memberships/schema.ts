// Memberships and organization roles in all APIs (docs/contract.md#members).
import { z } from 'zod';
import { orgRoles } from '#access/roles.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { belongsTo, epochMs, members, string, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { Membership } from './model.ts';
import * as operations from './operations.ts';

export const OrgRole = wordSet(
  'OrgRole',
  orgRoles,
  'Role of a person in an organization, from most to least powerful.',
  {
    owner: 'Everything, including changes of owners. An organization has at least one.',
    admin: 'Everything except changes of owners.',
    member: 'Works with projects, agents and missions; cannot manage members.',
    viewer: 'Reads only.',
  },
);

export const MembershipType = builder.modelType(Membership, 'Membership').implement({
  description: 'A person in an organization, with one role.',
  fields: (t) =>
    members(t, {
      orgId: string('The id of the organization; starts with `org_`.'),
      userId: string('The id of the person; starts with `usr_`.'),
      role: typed(
        OrgRole.type,
        'The role, which determines the scopes that the member and their credentials can have.',
      ),
      createdAt: epochMs('When the person joined.'),
      person: belongsTo('members:read', 'The account of the member.'),
    }),
});

const MembershipList = builder.objectRef<{ memberships: Membership[] }>('MembershipList').implement({
  description: 'The members of an organization.',
  fields: (t) =>
    members(t, {
      memberships: typed([MembershipType], 'The memberships, oldest first.'),
    }),
});

const CreateMembershipRequest = request(
  'CreateMembershipRequest',
  z
    .object({
      userId: boundedText(text.pathId).describe('The account of the person. A person without one is invited instead.'),
      role: OrgRole.zod.describe('A role that is not above the caller’s own.'),
    })
    .meta({
      description: 'A new member, who has an account already.',
      examples: [{ userId: 'usr_019f2c1e4a00d2b9c5e7f1a3b4c6', role: 'member' }],
    }),
);

builder.queryFields((t) => ({
  memberships: t.field({
    description: 'Everybody who belongs to the organization.',
    scope: 'members:read',
    rest: 'GET /organizations/{orgId}/memberships',
    tool: 'list_memberships',
    type: MembershipList,
    args: { orgId: t.arg.string(pathId) },
    resolve: async (_, { orgId }, { caller }) => ({ memberships: await operations.listMemberships(caller, orgId) }),
  }),
}));

builder.mutationFields((t) => ({
  createMembership: t.field({
    description: 'Adds a person who has an account, with a role not above the caller’s own.',
    scope: 'members:write',
    rest: { route: 'POST /organizations/{orgId}/memberships', status: 201, errors: [409] },
    tool: 'create_membership',
    type: MembershipType,
    args: {
      orgId: t.arg.string(pathId),
      input: t.arg({ type: CreateMembershipRequest, required: true, description: 'The new member.' }),
    },
    resolve: (_, { orgId, input }, { caller }) => operations.createMembership(caller, orgId, input),
  }),
}));
