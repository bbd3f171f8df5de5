// Memberships: people in organizations, each with a role.
import { orgWide } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Person } from '../people/model.ts';

export class Membership extends table('memberships', {
  orgId: column<Id<'organization'>>(),
  userId: column<Id<'person'>>(),
  role: column<OrgRole>(),
  createdAt: column<number>(),
  /** When the organization was closed; a trigger copies this time into new memberships. */
  closedAt: column<number | null>(),
}) {
  static override noun = 'membership';
  static override idColumn = ['orgId', 'userId'];
  /** The oldest membership of an organization or person is listed first. */
  static override order = '"created_at", "org_id", "user_id"';

  static visibleTo = orgWide;

  static {
    this.belongsTo('person', Person, 'userId');
  }
}

/** Finds the memberships of a person: in one organization or, without `orgId`, in all. */
export interface PersonIn {
  userId: Id<'person'>;
  orgId?: Id<'organization'>;
}
