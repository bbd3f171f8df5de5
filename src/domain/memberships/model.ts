// Who belongs to an organization, and in which role.
import type { OrgRole } from '#access/roles.ts';
import type { Id } from '#foundation/ids.ts';
import { Stored } from '#foundation/record.ts';

export class Membership extends Stored {
  static override tableName = 'memberships';
  static override idColumn = ['orgId', 'userId'];
  static override columns = ['orgId', 'userId', 'role', 'createdAt'];

  declare orgId: Id<'organization'>;
  declare userId: Id<'person'>;
  declare role: OrgRole;
  declare createdAt: number;
}

/** A person in one organization; without `orgId`, in all of theirs. */
export interface PersonIn {
  userId: Id<'person'>;
  orgId?: Id<'organization'>;
}
