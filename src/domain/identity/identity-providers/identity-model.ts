// Users of providers, by the provider's own identifier, and sign-ins that wait for a provider's response.
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class ProviderIdentity extends table('provider_identities', {
  orgId: column<Id<'organization'>>(),
  providerId: column<Id<'identityProvider'>>(),
  /** The provider's identifier of the user, which stays the same when the email address changes. */
  subject: column<string>(),
  userId: column<Id<'person'>>(),
  /** The email address at the first sign-in. */
  email: column<string>(),
  createdAt: column<number>(),
  lastUsedAt: column<number>(),
}) {
  static override idColumn = ['orgId', 'providerId', 'subject'];
  static override order = '"created_at", "provider_id", "subject"';
}

export class ProviderSignIn extends table('provider_sign_ins', {
  /** The random `state` of a request to an OpenID provider, or the id of a request to a SAML provider. */
  id: column<string>(),
  orgId: column<Id<'organization'>>(),
  providerId: column<Id<'identityProvider'>>(),
  /** The digest of a secret in the cookie of the browser that started the sign-in. */
  binding: column<Buffer>(),
  /** The person who tests the provider; null for a sign-in. */
  testerId: column<Id<'person'> | null>(),
  returnTo: column<string>(),
  createdAt: column<number>(),
  expiresAt: column<number>(),
}) {
  declare sealedVerifier: string;
  declare sealedAnswer: string | null;
  declare usedAt: number | null;
}
