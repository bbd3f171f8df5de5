// An organization: the owner of projects, credentials and credits (docs/contract.md#organizations).
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Membership } from '../memberships/model.ts';

export class Organization extends table('organizations', {
  id: column<Id<'organization'>>(),
  name: column<string>(),
  /** The slug, unique across all organizations of the service. */
  slug: column<string>(),
  createdByUserId: column<Id<'person'>>(),
  createdAt: column<number>(),
  /** Whether the name is a default that no person has chosen. */
  namePending: column<boolean>(),
  /** When the organization was closed; null while it is open. A closed one is erased after thirty days. */
  closedAt: column<number | null>(),
  /** Former slugs of the organization, latest first; console URLs with them redirect. */
  formerSlugs: column<string[]>(),
}) {
  static override noun = 'organization';

  /** Name of the other cell that has the organization; absent for an organization of this cell. */
  declare cell?: string;

  static override order = '"created_at", "id"';

  static visibleTo = orgWide;

  static {
    Membership.belongsTo('organization', this, 'orgId', 'memberships');
  }
}
