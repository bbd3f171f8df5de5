// Delegations, for a person who is signed in to the console (docs/contract.md#delegations). Tokens can neither list nor revoke delegations,
// so there is no MCP tool.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { epochMs, epochMsOrNull, int, members, string, stringOrNull, strings, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { ProjectType } from '../../projects/projects/schema.ts';
import { RevocationKind } from '../tokens/schema.ts';
import * as operations from './operations.ts';

const DelegationKind = wordSet(
  'DelegationKind',
  operations.delegationKinds,
  'How a program came to act for a person: as an agent of one of the registration types that the person claimed, or by an ' +
    'authorization code.',
  {
    anonymous: 'An agent that registered without naming a person.',
    identity_assertion: 'An agent whose provider vouched for it with an identity assertion.',
    service_auth: 'An agent that named the person by email address.',
    authorization_code: 'An OAuth client that the person gave consent to.',
  },
);
const DelegationStatus = wordSet(
  'DelegationStatus',
  operations.delegationStatuses,
  'Whether the delegation is in effect.',
  {
    active: 'The program can act for the person.',
    revoked: 'The person, or an administrator, ended the delegation.',
    expired: 'The delegation has expired.',
  },
);

const AgentDelegation = builder.objectRef<operations.Delegation>('AgentDelegation').implement({
  description: 'Authority that a person has lent to an agent or an OAuth client.',
  fields: (t) =>
    members(t, {
      id: string('The id of the agent’s registration or of the client’s sign-in.'),
      agentName: stringOrNull(
        'The name that the agent gave itself, unverified; null for a client and for an agent without a name.',
      ),
      registrationType: typed(DelegationKind.type, 'Origin of the program’s authority.'),
      provider: stringOrNull('The issuer that vouches for the agent; null without one.'),
      clientName: stringOrNull('The client’s own name when the person consented, unverified; null for an agent.'),
      scopes: strings(
        'The scopes that the person lent. Each use is limited to those that the person’s role still includes.',
      ),
      projectId: stringOrNull('The only project that the program reaches; null means the whole organization.'),
      resource: string('The resource identifier (RFC 8707) for which the program’s tokens are valid.'),
      createdAt: epochMs('When the person consented.'),
      expiresAt: epochMs('When the delegation ends, or ended, unless revoked.'),
      lastUsedAt: epochMsOrNull(
        'The last use of one of the program’s tokens, accurate to the minute; null before the first.',
      ),
      status: typed(DelegationStatus.type, 'Whether the delegation is in effect.'),
      project: t.byId(ProjectType, 'projectId', { link: 'projects:read', description: 'The project of `projectId`.' }),
    }),
});

const AgentDelegationList = builder.objectRef<{ data: operations.Delegation[] }>('AgentDelegationList').implement({
  description: 'The delegations of one person in one organization.',
  fields: (t) =>
    members(t, {
      data: typed([AgentDelegation], 'All delegations, including ended ones; newest first.'),
    }),
});
const RevokeAgentDelegationResult = builder
  .objectRef<operations.RevokedDelegation>('RevokeAgentDelegationResult')
  .implement({
    description: 'The outcome of revoking a delegation.',
    fields: (t) =>
      members(t, {
        kind: typed(RevocationKind.type, 'Whether this call revoked the delegation.'),
        delegationId: string('The `id` of the delegation.'),
        revokedAt: epochMs('When the delegation was revoked, by this call or before.'),
        revokedTokens: int('Number of active access tokens that this call revoked.'),
      }),
  });

builder.queryField('agentDelegations', (t) =>
  t.field({
    description:
      'The delegations of the signed-in person to agents and clients in this organization, newest first, including ended ones.',
    scope: 'person',
    rest: 'GET /agent-delegations',
    type: AgentDelegationList,
    resolve: async (_, _args, { caller }) => ({ data: await operations.listDelegations(caller) }),
  }),
);

builder.mutationField('revokeAgentDelegation', (t) =>
  t.field({
    description:
      'Revokes a delegation of the signed-in person: the next request with any token issued for it is refused.',
    scope: 'person',
    rest: 'DELETE /agent-delegations/{delegationId}',
    type: RevokeAgentDelegationResult,
    args: { delegationId: t.arg.string({ ...pathId, description: 'The `id` of the delegation.' }) },
    resolve: (_, { delegationId }, { caller }) => operations.revokeDelegation(caller, delegationId),
  }),
);
