// Finds the member of the organization who is the author of an event.
import { scopesOfRole } from '#access/scopes.ts';
import type { Id } from '#foundation/ids.ts';
import { Membership } from '../../organization/memberships/model.ts';
import { findPersonByAddress } from '../../organization/people/operations.ts';
import type { InboundEvent } from '../../projects/vendors/event.ts';

/**
 * Finds the member of the organization who has the email address of the event's author. If this member may start missions, returns the event
 * with the member's user id. Otherwise, returns the event unchanged.
 */
export async function withMember(orgId: Id<'organization'>, event: InboundEvent): Promise<InboundEvent> {
  const { author } = event;
  if (!author?.email) return event;
  const person = await findPersonByAddress(author.email);
  const membership = person && !person.disabledAt && (await Membership.find({ orgId, userId: person.id }));
  if (!membership || !scopesOfRole(membership.role).has('missions:run')) return event;
  return { ...event, author: { ...author, userId: membership.userId } };
}
