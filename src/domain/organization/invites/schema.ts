// Invites in all APIs (docs/contract.md#invites).
import { z } from 'zod';
import { okAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { belongsTo, epochMs, members, string, stringOrNull, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { OrgRole } from '../memberships/schema.ts';
import { emailAddress } from '../people/email.ts';
import { Invite, inviteStatuses, statusOfInvite } from './model.ts';
import * as operations from './operations.ts';

const InviteStatus = wordSet('InviteStatus', inviteStatuses, 'Status of an invite.', {
  pending: 'The invite can be accepted until `expiresAt`.',
  accepted: 'The person has joined.',
  revoked: 'A member withdrew the invite.',
  expired: 'Nobody accepted the invite within 7 days.',
});

export const InviteType = builder.modelType(Invite, 'Invite').implement({
  description: 'An invitation to join the organization, sent to an email address.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `inv_`.'),
      email: string('The email address. Only the account with this address can accept the invite.'),
      role: typed(OrgRole.type, 'The role of the person after accepting.'),
      orgId: string('The organization that the person is invited to.'),
      status: t.field({
        type: InviteStatus.type,
        resolve: statusOfInvite,
        description: 'Status of the invite: only a pending one can be accepted or revoked.',
      }),
      invitedByUserId: stringOrNull(
        'The person who created the invite; null when no person did, or the account was deleted.',
      ),
      expiresAtSec: t.field({
        type: 'EpochSec',
        description:
          'When the invite expires, in epoch seconds: seven days after its creation. An expired invite cannot be accepted.',
        resolve: ({ expiresAt }) => Math.floor(expiresAt / 1_000),
      }),
      createdAt: epochMs('When the invite was created.'),
      invitedBy: belongsTo('members:read', 'The account of the person who created the invite.'),
      organization: belongsTo('organizations:read', 'The organization that the person is invited to.'),
    }),
});

const InviteList = builder.objectRef<{ invites: Invite[] }>('InviteList').implement({
  description: 'All invites of the organization, with any status.',
  fields: (t) => members(t, { invites: typed([InviteType], 'The invites, newest first.') }),
});
const RevokeInviteResponse = okAnswer('RevokeInviteResponse');

const CreateInviteRequest = request(
  'CreateInviteRequest',
  z.object({ email: emailAddress, role: OrgRole.zod.describe('A role that is not above the caller’s own.') }).meta({
    description: 'A new invite, which is mailed to the address.',
    examples: [{ email: 'bob@example.com', role: 'member' }],
  }),
);

builder.queryFields((t) => ({
  invites: t.field({
    description: 'All invites of the organization, newest first.',
    scope: 'members:read',
    rest: 'GET /invites',
    tool: 'list_invites',
    type: InviteList,
    resolve: async (_, _args, { caller }) => ({ invites: await operations.listInvites(caller) }),
  }),
}));

builder.mutationFields((t) => ({
  createInvite: t.field({
    description: 'Invites an email address with a role not above the caller’s own, and sends an email to it.',
    scope: 'members:write',
    rest: { route: 'POST /invites', status: 201, errors: [409] },
    tool: { name: 'create_invite', openWorld: true },
    type: InviteType,
    args: { input: t.arg({ type: CreateInviteRequest, required: true, description: 'The new invite.' }) },
    resolve: (_, { input }, { caller }) => operations.createInvite(caller, input),
  }),
  revokeInvite: t.field({
    description: 'Revokes an invite.',
    scope: 'members:write',
    rest: { route: 'DELETE /invites/{inviteId}', errors: [409] },
    tool: { name: 'revoke_invite', destructive: true, idempotent: true },
    type: RevokeInviteResponse,
    args: { inviteId: t.arg.string(pathId) },
    resolve: (_, { inviteId }, { caller }) => operations.revokeInvite(caller, inviteId),
  }),
}));
