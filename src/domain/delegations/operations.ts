// What a person has lent to programs, and taking it back: the agents they claimed and the clients they signed in to
// (specification, AgentDelegationList; design decisions, section 4). One's own alone, in the organization one works in.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/database.ts';
import { prefixes } from '#foundation/ids.ts';
import { type Registration, registrationKinds } from '../agent-identities/model.ts';
import { revokeOwnRegistration } from '../agent-identities/revoke.ts';
import { resourceUri } from '../oauth/resources.ts';
import { listSignIns, type RevokedSignIn, revokeSignIn } from '../oauth/sign-ins.ts';

/** How it came about: one of the registration types, or a sign-in by the authorization code flow. */
export const delegationKinds = [...registrationKinds, 'authorization_code'] as const;
export const delegationStatuses = ['active', 'revoked', 'expired'] as const;

export interface Delegation {
  /** A registration's or a sign-in's own id. */
  id: string;
  /** An agent's own words. */
  agentName: string | null;
  registrationType: (typeof delegationKinds)[number];
  /** The issuer that vouches for the agent. */
  provider: string | null;
  /** As the client called itself when the person agreed. */
  clientName: string | null;
  scopes: string[];
  projectId: string | null;
  /** The resource identifier. */
  resource: string;
  /** When the person agreed. */
  createdAt: number;
  expiresAt: number;
  /** To the minute. */
  lastUsedAt: number | null;
  status: (typeof delegationStatuses)[number];
}

/** The person's own in this organization, also those that ended; newest first. */
export async function listDelegations(caller: Caller): Promise<Delegation[]> {
  const [agents, signIns] = await Promise.all([listClaimed(caller), listSignIns(caller)]);
  const delegations: Delegation[] = [
    ...agents.map((agent) => ({
      ...agent,
      clientName: null,
      resource: resourceUri('api'),
      status: statusOf(agent),
    })),
    ...signIns.map((signIn) => ({
      id: signIn.id,
      agentName: null,
      registrationType: 'authorization_code' as const,
      provider: null,
      clientName: signIn.clientName,
      scopes: signIn.scopes,
      projectId: signIn.projectId,
      resource: resourceUri(signIn.resource),
      createdAt: signIn.createdAt,
      expiresAt: signIn.expiresAt,
      lastUsedAt: signIn.lastUsedAt,
      status: statusOf(signIn),
    })),
  ];
  return delegations.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
}

type Ending = { expiresAt: number; revokedAt: number | null };

const statusOf = ({ expiresAt, revokedAt }: Ending): Delegation['status'] =>
  revokedAt !== null ? 'revoked' : expiresAt <= now() ? 'expired' : 'active';

type ClaimedAgent = Omit<Delegation, 'clientName' | 'resource' | 'status'> & Pick<Registration, 'revokedAt'>;

const listClaimed = (caller: Caller): Promise<ClaimedAgent[]> =>
  sql<ClaimedAgent>(
    `select id, agent_name, kind as registration_type, issuer as provider, scopes, project_id, claimed_at as created_at,
        grant_expires_at as expires_at, last_used_at, revoked_at
      from agent_registrations where user_id = $1 and org_id = $2`,
    [ownPerson(caller), ownOrganization(caller)],
  );

export interface RevokedDelegation extends RevokedSignIn {
  delegationId: string;
}

/** Takes back one of the person's own, with every token that came of it, at once. 404 for any other. */
export async function revokeDelegation(caller: Caller, delegationId: string): Promise<RevokedDelegation> {
  const isAgent = delegationId.startsWith(`${prefixes.registration}_`);
  const revoked = await (isAgent ? revokeOwnRegistration : revokeSignIn)(caller, delegationId);
  return { ...revoked, delegationId };
}
