// Delegations: the agents that a person has claimed and the clients that the person has signed in to
// (docs/contract.md#delegations). A person lists and revokes their own delegations, in one organization.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { prefixes } from '#foundation/ids.ts';
import { Registration, registrationKinds } from '../agent-identities/model.ts';
import { revokeOwnRegistration } from '../agent-identities/revoke.ts';
import { resourceUri } from '../oauth/resources.ts';
import { type ListedSignIn, listSignIns, type RevokedSignIn, revokeSignIn } from '../oauth/sign-ins.ts';

/** The ways in which a delegation is created: an agent registers with one of these types, or a client uses the authorization code flow. */
export const delegationKinds = [...registrationKinds, 'authorization_code'] as const;
export const delegationStatuses = ['active', 'revoked', 'expired'] as const;

export interface Delegation {
  /** Id of the agent's registration or the client's sign-in. */
  id: string;
  /** The name that the agent gave itself. */
  agentName: string | null;
  registrationType: (typeof delegationKinds)[number];
  /** The issuer that vouches for the agent. */
  provider: string | null;
  /** The name of the client, as the client stated it at the time of the person's consent; null for an agent. */
  clientName: string | null;
  scopes: string[];
  projectId: string | null;
  /** The resource identifier. */
  resource: string;
  /** Time of the person's consent. */
  createdAt: number;
  expiresAt: number;
  /** Time of the last use, accurate to the minute. */
  lastUsedAt: number | null;
  status: (typeof delegationStatuses)[number];
}

/** The person's own delegations in this organization, including ended ones; newest first. */
export async function listDelegations(caller: Caller): Promise<Delegation[]> {
  const filter = { userId: ownPerson(caller), orgId: ownOrganization(caller) };
  const [agents, signIns] = await Promise.all([Registration.findAll(filter), listSignIns(caller)]);
  const delegations: Delegation[] = [...agents.map(delegationToAgent), ...signIns.map(delegationToClient)];
  return delegations.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
}

/** The delegation to a registered agent. The agent was claimed, because its registration belongs to a person; therefore its grant is not null. */
const delegationToAgent = (agent: Registration): Delegation => ({
  id: agent.id,
  agentName: agent.agentName,
  registrationType: agent.kind,
  provider: agent.issuer,
  clientName: null,
  scopes: agent.scopes!,
  projectId: agent.projectId,
  resource: resourceUri('api'),
  createdAt: agent.claimedAt!,
  expiresAt: agent.grantExpiresAt!,
  lastUsedAt: agent.lastUsedAt,
  status: statusOf(agent.grantExpiresAt!, agent.revokedAt),
});

const delegationToClient = (signIn: ListedSignIn): Delegation => ({
  id: signIn.id,
  agentName: null,
  registrationType: 'authorization_code',
  provider: null,
  clientName: signIn.clientName,
  scopes: signIn.scopes,
  projectId: signIn.projectId,
  resource: resourceUri(signIn.resource),
  createdAt: signIn.createdAt,
  expiresAt: signIn.expiresAt,
  lastUsedAt: signIn.lastUsedAt,
  status: statusOf(signIn.expiresAt, signIn.revokedAt),
});

const statusOf = (expiresAt: number, revokedAt: number | null): Delegation['status'] =>
  revokedAt !== null ? 'revoked' : expiresAt <= now() ? 'expired' : 'active';

export interface RevokedDelegation extends RevokedSignIn {
  delegationId: string;
}

/** Revokes one of the person's own delegations at once, with every token issued for it. @throws 404 for a delegation of another person */
export async function revokeDelegation(caller: Caller, delegationId: string): Promise<RevokedDelegation> {
  const isAgent = delegationId.startsWith(`${prefixes.registration}_`);
  const revoked = await (isAgent ? revokeOwnRegistration : revokeSignIn)(caller, delegationId);
  return { ...revoked, delegationId };
}
