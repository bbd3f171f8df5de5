// The caller of an operation. Each request has one caller, of one of five kinds; the APIs pass the caller to the operations.
import type { Refusal } from '#foundation/http/refusal.ts';
import type { Id } from '#foundation/ids.ts';
import type { Bookmark } from '#foundation/postgres/replica.ts';
import type { OrgRole } from './roles.ts';
import type { Scope } from './scopes.ts';

export const principalTypes = ['cookie', 'user', 'service', 'system', 'agent'] as const;
export type PrincipalType = (typeof principalTypes)[number];

/** The request of a caller: an `Exchange` (foundation/http/http.ts). */
export interface RequestSource {
  readonly surface?: string;
  readonly route?: string;
  readonly requestId: string;
  readonly traceId?: string | undefined;
  readonly address: string;
  refusal?: Refusal;
}

export interface Caller {
  /** Kind of the caller. `cookie`: a person in the console. `user`: a credential that acts for a person. `agent`: an unclaimed agent. */
  readonly principalType: PrincipalType;
  /** The id of the token, session or registration, used by rate limits and log lines. Never the secret. */
  readonly credentialId: string;
  readonly userId: Id<'person'> | null;
  readonly orgId: Id<'organization'> | null;
  /** The person's present role in `orgId`. */
  readonly role: OrgRole | null;
  /** Whether `orgId` is closed: its owners can still read it in the console. */
  readonly isOrgClosed?: boolean;
  /** The effective scopes of the credential: the granted ones that the role still includes. */
  readonly scopes: ReadonlySet<Scope>;
  /** The only project that the credential reaches; null when it is not bound to one. */
  readonly projectId: Id<'project'> | null;
  /**
   * Organizations of the person that this session cannot reach. For a session limited to one organization, these are all others; otherwise,
   * those that require their own identity provider.
   */
  readonly hiddenOrgIds?: readonly string[];
  /**
   * Whether the session, or the session in which the credential was created, reaches only one organization: the person signed in through the
   * identity provider of this organization, and nobody else vouches for the identity of the person.
   */
  readonly isOrgOnly?: boolean;
  /**
   * Whether the organization does not allow the address of the request. Such a caller has no rights in the organization, and the APIs
   * refuse the request (`requireAllowedAddress`).
   */
  readonly isAddressRefused?: boolean;
  /** The replication position that the reads of the request have to include; absent when all of them use the primary. */
  readonly bookmark?: Bookmark | undefined;
  /** The request that presented the credential; absent for a caller that the service creates. */
  source?: RequestSource;
}

/** The caller for work of the service itself: background jobs and the operator's commands. */
export const system: Caller = {
  principalType: 'system',
  credentialId: 'system',
  userId: null,
  orgId: null,
  role: null,
  scopes: new Set(),
  projectId: null,
};
