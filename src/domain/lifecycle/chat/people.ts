// Finds the member with an account of a chat, by the email address that the vendor has verified.
import type { Caller } from '#access/principal.ts';
import { scopesOfRole } from '#access/scopes.ts';
import { findMembership } from '../../organization/memberships/operations.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { findPersonByAddress } from '../../organization/people/operations.ts';
import type { OpenChat } from './connection.ts';

export interface ChatMember {
  caller: Caller;
  name: string;
}

/** The member, who may run missions, or the reason why the person may not. @throws the problems of the vendor */
export async function findMember(
  { account, chat, connection }: OpenChat,
  user: string,
): Promise<ChatMember | { refusal: string }> {
  const { orgId, integrationId, workspaceId } = account;
  const { email } = await chat.findPerson(connection, workspaceId, user);
  const { name: organization } = await Organization.get({ id: orgId });
  if (email === null)
    return {
      refusal: `${connection.name} has no verified email address of you, so you cannot be matched to a member.`,
    };
  const person = await findPersonByAddress(email);
  const membership = person && !person.disabledAt && (await findMembership(orgId, person.id));
  if (!membership || membership.closedAt !== null)
    return {
      refusal: `${email} is not a member of ${organization}: ask for an invitation to this address.`,
    };
  const { userId, role } = membership;
  const scopes = scopesOfRole(role);
  if (!scopes.has('missions:run'))
    return { refusal: `Your role in ${organization}, ${role}, may not start or steer missions.` };
  const caller = { principalType: 'user', credentialId: integrationId, userId, orgId, role, scopes, projectId: null };
  return { caller: caller as Caller, name: person.name };
}
