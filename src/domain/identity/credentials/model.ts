// Columns of a credential that describe the authority that a person has lent to it.
import type { Id } from '#foundation/ids.ts';
import { column, type Typed } from '#foundation/postgres/base-model.ts';

export const lentColumns = {
  orgId: column<Id<'organization'>>(),
  userId: column<Id<'person'>>(),
  /** The only project that the credential reaches; null means the whole organization. */
  projectId: column<Id<'project'> | null>(),
  /** The granted scopes; each use is limited to those that the person's role still includes. */
  scopes: column<string[]>(),
  /**
   * Whether the person created the credential in a session that reaches only one organization
   * (docs/decisions/0076-sessions-of-providers-reach-one-organization.md).
   */
  orgOnly: column<boolean>(),
};

export type LentAuthority = Typed<typeof lentColumns>;
