// An identity provider of an organization: it signs in people whose addresses belong to domains that the organization has proved
// (docs/decisions/0076-sessions-of-providers-reach-one-organization.md).
import { orgWide } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class IdentityProvider extends table('identity_providers', {
  id: column<Id<'identityProvider'>>(),
  orgId: column<Id<'organization'>>(),
  name: column<string>(),
  issuer: column<string>(),
  clientId: column<string>(),
  /** Role of people whose first sign-in creates their membership; null admits only members and invited people. */
  defaultRole: column<OrgRole | null>(),
  /** When a test sign-in last succeeded; a provider without one is not offered. */
  testedAt: column<number | null>(),
  createdByUserId: column<Id<'person'> | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'identity provider';
  static override order = '"created_at" desc, "id" desc';
  static visibleTo = orgWide;

  /** The sealed client secret, which is not a column, so that no read returns it. */
  declare sealedSecret?: string;
}
