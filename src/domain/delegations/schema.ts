// Delegations on the surfaces that a signed-in person uses (specification, AgentDelegationList and RevokeAgentDelegationResult).
// A token neither lists nor ends them, so there is no MCP tool.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { wordSet } from '#graph/scalars.ts';
import { ProjectType } from '../projects/schema.ts';
import { RevocationKind } from '../tokens/schema.ts';
import * as operations from './operations.ts';

const DelegationKind = wordSet('DelegationKind', operations.delegationKinds, 'How a program came to act for a person.');
const DelegationStatus = wordSet('DelegationStatus', operations.delegationStatuses, 'Whether it still counts.');

const AgentDelegation = builder.objectRef<operations.Delegation>('AgentDelegation').implement({
  description: 'What a person has lent to an agent or a client.',
  fields: (t) => ({
    id: t.exposeString('id'),
    agentName: t.exposeString('agentName', { nullable: true, description: 'The agent’s own words.' }),
    registrationType: t.expose('registrationType', { type: DelegationKind.type }),
    provider: t.exposeString('provider', { nullable: true, description: 'The issuer that vouches for the agent.' }),
    clientName: t.exposeString('clientName', { nullable: true, description: 'What the client calls itself.' }),
    scopes: t.exposeStringList('scopes', { description: 'As lent; at each use the present role is asked too.' }),
    projectId: t.exposeString('projectId', { nullable: true, description: 'Null: good for the whole organization.' }),
    resource: t.exposeString('resource', { description: 'What it reaches, as a resource identifier (RFC 8707).' }),
    createdAt: t.expose('createdAt', { type: 'EpochMs', description: 'When the person agreed.' }),
    expiresAt: t.expose('expiresAt', { type: 'EpochMs' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'EpochMs', nullable: true, description: 'To the minute.' }),
    status: t.expose('status', { type: DelegationStatus.type }),
    project: t.byId(ProjectType, 'projectId', { link: 'projects:read' }),
  }),
});

const AgentDelegationList = builder.objectRef<{ data: operations.Delegation[] }>('AgentDelegationList').implement({
  fields: (t) => ({ data: t.expose('data', { type: [AgentDelegation] }) }),
});
const RevokeAgentDelegationResult = builder
  .objectRef<operations.RevokedDelegation>('RevokeAgentDelegationResult')
  .implement({
    fields: (t) => ({
      kind: t.expose('kind', { type: RevocationKind.type }),
      delegationId: t.exposeString('delegationId'),
      revokedAt: t.expose('revokedAt', { type: 'EpochMs' }),
      revokedTokens: t.exposeInt('revokedTokens', { description: 'Live access tokens that stopped working with it.' }),
    }),
  });

builder.queryField('agentDelegations', (t) =>
  t.field({
    description: 'What the signed-in person has lent in this organization, newest first.',
    scope: 'person',
    rest: 'GET /agent-delegations',
    type: AgentDelegationList,
    resolve: async (_, _args, { caller }) => ({ data: await operations.listDelegations(caller) }),
  }),
);

builder.mutationField('revokeAgentDelegation', (t) =>
  t.field({
    description: 'Takes back what was lent: every token that came of it stops working at once.',
    scope: 'person',
    rest: 'DELETE /agent-delegations/{delegationId}',
    type: RevokeAgentDelegationResult,
    args: { delegationId: t.arg.string(pathId) },
    resolve: (_, { delegationId }, { caller }) => operations.revokeDelegation(caller, delegationId),
  }),
);
