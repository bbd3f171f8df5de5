// An identity provider of an organization: it signs in people whose addresses belong to domains that the organization has verified
// (docs/decisions/0076-sessions-of-providers-reach-one-organization.md).
import { orgWide } from '#access/reach.ts';
import type { OrgRole } from '#access/roles.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export const protocols = ['oidc', 'saml'] as const;

export class IdentityProvider extends table('identity_providers', {
  id: column<Id<'identityProvider'>>(),
  orgId: column<Id<'organization'>>(),
  name: column<string>(),
  protocol: column<(typeof protocols)[number]>(),
  /** The issuer of an OpenID provider, the entity id of a SAML provider. */
  issuer: column<string>(),
  /** The client id at an OpenID provider. */
  clientId: column<string | null>(),
  /** The sign-in URL of a SAML provider. */
  signInUrl: column<string | null>(),
  /** Certificates of a SAML provider in base64, several while it rotates its key. */
  certificates: column<string[]>(),
  /** The URL from which the metadata of a SAML provider is read every day. */
  metadataUrl: column<string | null>(),
  metadataReadAt: column<number | null>(),
  /** The time since which the metadata at its URL has been unusable. */
  metadataFailingSince: column<number | null>(),
  /** Role of people whose first sign-in creates their membership; null admits only members and invited people. */
  defaultRole: column<OrgRole | null>(),
  /** When a test sign-in last succeeded. Null for a provider that has not been tested; people cannot sign in through such a provider. */
  testedAt: column<number | null>(),
  createdByUserId: column<Id<'person'> | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'identity provider';
  static override order = '"created_at" desc, "id" desc';
  static visibleTo = orgWide;

  /** The sealed client secret, which is not a column, so that no read returns it. */
  declare sealedSecret?: string | null;
}
