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
