// Changes of memberships in all APIs: another role, and removal together with the credentials that act for the person.
import { z } from 'zod';
import { okAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { MembershipType, OrgRole } from '../../organization/memberships/schema.ts';
import * as operations from './membership-changes.ts';

const UpdateMembershipRequest = request(
  'UpdateMembershipRequest',
  z
    .object({ role: OrgRole.zod.describe('A role that is not above the caller’s own.') })
    .meta({ description: 'Another role for a member.', examples: [{ role: 'admin' }] }),
);
const DeleteMembershipResponse = okAnswer('DeleteMembershipResponse');

builder.mutationFields((t) => ({
  updateMembership: t.field({
    description:
      'Changes the role of a member, which also applies to their existing credentials. Only an owner adds or removes owners; the last owner stays.',
    scope: 'members:write',
    rest: { route: 'PATCH /organizations/{orgId}/memberships/{userId}', errors: [409] },
    tool: { name: 'update_membership', idempotent: true },
    type: MembershipType,
    args: {
      orgId: t.arg.string(pathId),
      userId: t.arg.string(pathId),
      input: t.arg({ type: UpdateMembershipRequest, required: true, description: 'The new role.' }),
    },
    resolve: (_, { orgId, userId, input }, { caller }) => operations.updateMembership(caller, orgId, userId, input),
  }),
  deleteMembership: t.field({
    description:
      'Removes a member. Their tokens, sign-ins and claimed agents in the organization end for good, and recurring missions that are billed to them are disabled. Only an owner removes an owner, and the last owner stays.',
    scope: 'members:write',
    rest: { route: 'DELETE /organizations/{orgId}/memberships/{userId}', errors: [409] },
    tool: { name: 'delete_membership', destructive: true, idempotent: true },
    type: DeleteMembershipResponse,
    args: { orgId: t.arg.string(pathId), userId: t.arg.string(pathId) },
    resolve: (_, { orgId, userId }, { caller }) => operations.deleteMembership(caller, orgId, userId),
  }),
}));
