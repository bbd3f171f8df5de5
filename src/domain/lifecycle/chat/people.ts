// Finds the member for a chat account, by the email address that the vendor has verified.
import type { Caller } from '#access/principal.ts';
import { scopesOfRole } from '#access/scopes.ts';
import { findMembership } from '../../organization/memberships/operations.ts';
import { Organization } from '../../organization/organizations/model.ts';
import type { Person } from '../../organization/people/model.ts';
import { findPersonByAddress } from '../../organization/people/operations.ts';
import type { ChatThread } from '../../work/chat-threads/model.ts';
import type { OpenChat } from './connection.ts';

export interface ChatMember {
  caller: Caller;
  name: string;
}

/** The member with this chat account, or the reason why the person cannot run missions. @throws the problems of the vendor */
export async function findMember(
  { account, chat, connection }: OpenChat,
  user: string,
): Promise<ChatMember | { refusal: string }> {
  const { orgId, workspaceId } = account;
  const { email } = await chat.findPerson(connection, workspaceId, user);
  const { name: organization } = await Organization.get({ id: orgId });
  if (email === null)
    return {
      refusal: `Your ${connection.name} account has no verified email address, so you cannot be matched to a member.`,
    };
  const person = await findPersonByAddress(email);
  const member = person && (await chatMemberOf(account, person));
  if (!member)
    return {
      refusal: `${email} is not a member of ${organization}: ask for an invitation to this address.`,
    };
  return mayRun(member)
    ? member
    : {
        refusal: `Your role in ${organization}, ${member.caller.role}, does not allow you to start or steer missions.`,
      };
}

export const mayRun = ({ caller }: ChatMember): boolean => caller.scopes.has('missions:run');

/** The caller for a person in the organization of the connector; null for a person without an active membership. */
export async function chatMemberOf(
  { orgId, integrationId }: Pick<ChatThread, 'orgId' | 'integrationId'>,
  person: Person,
): Promise<ChatMember | null> {
  const membership = person.disabledAt ? undefined : await findMembership(orgId, person.id);
  if (!membership || membership.closedAt !== null) return null;
  const { userId, role } = membership;
  const scopes = scopesOfRole(role);
  const caller = { principalType: 'user', credentialId: integrationId, userId, orgId, role, scopes, projectId: null };
  return { caller: caller as Caller, name: person.name };
}
