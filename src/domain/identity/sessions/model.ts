// A console session of a person: one browser in which they have signed in (docs/decisions/0032-sign-in-without-passwords.md).

import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class Session extends table('sessions', {
  id: column<Id<'session'>>(),
  personId: column<Id<'person'>>(),
  /** The organization that the person last chose. */
  orgId: column<Id<'organization'> | null>(),
  userAgent: column<string | null>(),
  /** The client's address at sign-in. */
  address: column<string | null>(),
  /** The organization whose identity provider signed the person in; null for other sign-ins. */
  ssoOrgId: column<Id<'organization'> | null>(),
  /** When the sign-in through the provider stops giving access. */
  ssoUntil: column<number | null>(),
  /** Whether the session reaches only the organization of the provider. */
  orgOnly: column<boolean>(),
  createdAt: column<number>(),
  lastUsedAt: column<number>(),
  expiresAt: column<number>(),
}) {
  static override noun = 'session';

  declare digest: Buffer;
  declare endedAt: number | null;
}
