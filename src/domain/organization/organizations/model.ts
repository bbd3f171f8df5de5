// An organization: the owner of projects, credentials and credits (docs/contract.md#organizations).
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { BaseModel } from '#foundation/postgres/base-model.ts';
import { Membership } from '../memberships/model.ts';

export class Organization extends BaseModel {
  static override tableName = 'organizations';
  static override noun = 'organization';
  static override columns = [
    'id',
    'name',
    'slug',
    'createdByUserId',
    'createdAt',
    'namePending',
    'closedAt',
    'formerSlugs',
  ];

  static override order = '"created_at", "id"';

  static visibleTo = orgWide;

  static {
    Membership.belongsTo('organization', this, 'orgId', 'memberships');
  }

  declare id: Id<'organization'>;
  declare name: string;
  /** Unique across all organizations of the service. */
  declare slug: string;
  /** Slugs before each rename, the latest first. */
  declare formerSlugs: string[];
  declare createdByUserId: Id<'person'>;
  declare createdAt: number;
  /** True while the name is a default that no person has chosen. */
  declare namePending: boolean;
  /** Null while the organization is open. A closed one is erased after thirty days. */
  declare closedAt: number | null;
}
