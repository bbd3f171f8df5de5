// Memberships: people in organizations, each with a role.
import { orgWide } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { Person } from '../people/model.ts';

export class Membership extends BaseModel {
  static override tableName = 'memberships';
  static override noun = 'membership';
  static override idColumn = ['orgId', 'userId'];
  static override columns = ['orgId', 'userId', 'role', 'createdAt', 'closedAt'];
  /** The oldest first: the members of an organization, or the organizations of a person. */
  static override order = '"created_at", "org_id", "user_id"';

  static visibleTo = orgWide;

  static {
    this.belongsTo('person', Person, 'userId');
  }

  declare orgId: Id<'organization'>;
  declare userId: Id<'person'>;
  declare role: OrgRole;
  declare createdAt: number;
  /** When the organization was closed; a trigger copies the time to a new membership. */
  declare closedAt: number | null;
}

/** A person in one organization; without `orgId`, in all of theirs. */
export interface PersonIn {
  userId: Id<'person'>;
  orgId?: Id<'organization'>;
}
