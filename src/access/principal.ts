// The caller of an operation, of one of five kinds, as all layers above see it.
import type { Id } from '#foundation/ids.ts';
import type { Bookmark } from '#foundation/postgres/replica.ts';
import type { OrgRole } from './roles.ts';
import type { Scope } from './scopes.ts';

export const principalTypes = ['cookie', 'user', 'service', 'system', 'agent'] as const;
export type PrincipalType = (typeof principalTypes)[number];

export interface Caller {
  /** `cookie`: a person in the console. `user`: a credential that acts for a person. `agent`: an unclaimed agent. */
  readonly principalType: PrincipalType;
  /** The id of the token, session or registration: rate limits count by it and log lines name it. Never the secret. */
  readonly credentialId: string;
  readonly userId: Id<'person'> | null;
  readonly orgId: Id<'organization'> | null;
  /** The person's present role in `orgId`. */
  readonly role: OrgRole | null;
  /** Whether `orgId` is closed: its owners can still read it in the console. */
  readonly isOrgClosed?: boolean;
  /** What the credential may do now: its granted scopes, as far as the role still holds them. */
  readonly scopes: ReadonlySet<Scope>;
  /** Set when the credential is bound to one project. */
  readonly projectId: Id<'project'> | null;
  /** What the reads of the request must not be older than; absent where they all go to the primary. */
  readonly bookmark?: Bookmark | undefined;
}

/** The service itself: background jobs and the operator's commands. */
export const system: Caller = {
  principalType: 'system',
  credentialId: 'system',
  userId: null,
  orgId: null,
  role: null,
  scopes: new Set(),
  projectId: null,
};
