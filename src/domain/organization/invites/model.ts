// An invite to join an organization, sent to an email address and open for seven days (docs/contract.md#invites).
import type { OrgRole } from '#access/roles.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { Organization } from '../organizations/model.ts';
import { Person } from '../people/model.ts';

export const inviteStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const;
export type InviteStatus = (typeof inviteStatuses)[number];

export class Invite extends table('invites', {
  id: column<Id<'invite'>>(),
  orgId: column<Id<'organization'>>(),
  /** The email address in lower case. Only the account with this address can accept the invite. */
  email: column<string>(),
  role: column<OrgRole>(),
  invitedByUserId: column<Id<'person'> | null>(),
  createdAt: column<number>(),
  /** When the invite expires, in epoch milliseconds; the API reports seconds. */
  expiresAt: column<number>(),
  acceptedAt: column<number | null>(),
  revokedAt: column<number | null>(),
}) {
  static override noun = 'invite';
  static override order = '"created_at" desc, "id" desc';

  static {
    this.belongsTo('organization', Organization, 'orgId');
    this.belongsTo('invitedBy', Person, 'invitedByUserId');
  }

  /** The pending invites: those that can be accepted or revoked. */
  static pending = (trx?: Transaction) =>
    this.query(trx).where({ acceptedAt: null, revokedAt: null }).where('expiresAt', '>', now());
}

/** The status of an invite: pending, then finally accepted, revoked or expired. It is derived, because an invite expires by time. */
export function statusOfInvite(invite: Invite): InviteStatus {
  if (invite.acceptedAt !== null) return 'accepted';
  // After the expiry, `revokedAt` only frees the address for another invite (index invites_open); the status stays expired.
  if (invite.revokedAt !== null && invite.revokedAt < invite.expiresAt) return 'revoked';
  return invite.expiresAt <= now() ? 'expired' : 'pending';
}
