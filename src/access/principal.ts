// Who is asking: the five kinds of caller, as every room to the right of this one sees them.
import type { Id } from '#foundation/ids.ts';
import type { OrgRole } from './roles.ts';
import type { Scope } from './scopes.ts';

export const principalTypes = ['cookie', 'user', 'service', 'system', 'agent'] as const;
export type PrincipalType = (typeof principalTypes)[number];

export interface Caller {
  /** `cookie`: a person in the console. `user`: a credential that acts for a person. `agent`: nobody has claimed it yet. */
  readonly principalType: PrincipalType;
  /** The token, session or registration behind the call: what rate limits and log lines count by. Never the secret. */
  readonly credentialId: string;
  readonly userId: Id<'person'> | null;
  readonly orgId: Id<'organization'> | null;
  /** The person's present role in `orgId`. */
  readonly role: OrgRole | null;
  /** What the credential may do now: its grant, cut down to what the role still holds. */
  readonly scopes: ReadonlySet<Scope>;
  /** Set when the credential is bound to one project. */
  readonly projectId: Id<'project'> | null;
}

/** The service itself: jobs that happen by themselves, and the operator's commands. */
export const system: Caller = {
  principalType: 'system',
  credentialId: 'system',
  userId: null,
  orgId: null,
  role: null,
  scopes: new Set(),
  projectId: null,
};
