// An invite asks the owner of a mail address into an organization (specification, Invite). Open for seven days.
import type { OrgRole } from '#access/roles.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { Stored } from '#foundation/record.ts';

export const inviteStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const;
export type InviteStatus = (typeof inviteStatuses)[number];

export class Invite extends Stored {
  static override tableName = 'invites';
  static override columns = [
    'id',
    'orgId',
    'email',
    'role',
    'invitedByUserId',
    'createdAt',
    'expiresAt',
    'acceptedAt',
    'revokedAt',
  ];

  declare id: Id<'invite'>;
  declare orgId: Id<'organization'>;
  /** Lower case. Only the account with this address can accept. */
  declare email: string;
  declare role: OrgRole;
  declare invitedByUserId: Id<'person'> | null;
  declare createdAt: number;
  /** Epoch milliseconds; the wire has seconds. */
  declare expiresAt: number;
  declare acceptedAt: number | null;
  declare revokedAt: number | null;
}

/** pending → accepted | revoked | expired, and no further. Time alone expires an invite, so no status is stored. */
export function statusOf(invite: Invite): InviteStatus {
  if (invite.acceptedAt !== null) return 'accepted';
  // A later `revokedAt` makes room for the next invite to the address (index invites_open).
  if (invite.revokedAt !== null && invite.revokedAt < invite.expiresAt) return 'revoked';
  return invite.expiresAt <= now() ? 'expired' : 'pending';
}
