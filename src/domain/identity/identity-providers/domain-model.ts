// A domain of email addresses that an organization has verified with a TXT record, or still has to verify.
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class SignInDomain extends table('sign_in_domains', {
  id: column<Id<'signInDomain'>>(),
  orgId: column<Id<'organization'>>(),
  /** The domain in lower case; internationalized ones in Punycode. */
  domain: column<string>(),
  /** The value of the TXT record. */
  token: column<string>(),
  /** The provider that signs in people with addresses of the domain. */
  providerId: column<Id<'identityProvider'> | null>(),
  /** Whether members with an address of the domain reach the organization only after they sign in through one of the organization's providers. */
  required: column<boolean>(),
  verifiedAt: column<number | null>(),
  checkedAt: column<number | null>(),
  /** When the record of a verified domain was first found missing. */
  missingSince: column<number | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'domain';
  static override order = '"domain"';
  static visibleTo = orgWide;
}
