// An agent that registered itself, and the attempts of a person to claim it (specification, Registration type and Claim attempt;
// agent authentication §14). A claimed registration holds what the person lent. Its state is derived, never stored.
import type { Id } from '#foundation/ids.ts';
import { Stored } from '#foundation/record.ts';
import { lifetimes, tries } from '#limits.ts';

/** `anonymous`: knows nobody. `service_auth`: knows the mail address of its person. `identity_assertion`: a provider vouches. */
export const registrationKinds = ['anonymous', 'service_auth', 'identity_assertion'] as const;
export type RegistrationKind = (typeof registrationKinds)[number];

/** What a person lent, for as long as they did. */
export interface Grant {
  userId: Id<'person'>;
  orgId: Id<'organization'>;
  projectId: Id<'project'> | null;
  /** As the person chose them; what of them their role still holds is asked at each use. */
  scopes: string[];
  grantExpiresAt: number;
}

type Unless<Members> = { [Name in keyof Members]: Members[Name] | null };

export class Registration extends Stored {
  static override tableName = 'agent_registrations';

  declare id: Id<'registration'>;
  declare kind: RegistrationKind;
  /** The agent's own words. */
  declare agentName: string | null;
  /** Whose account may claim it, lower case; null for an anonymous one, which says so at each attempt. */
  declare email: string | null;
  /** The provider, and its id of the user; with `identity_assertion` alone. */
  declare issuer: string | null;
  declare subject: string | null;
  declare createdAt: number;
  declare claimTokenDigest: Buffer;
  declare claimExpiresAt: number;
  /** Seconds. */
  declare pollInterval: number;
  declare lastPolledAt: number | null;
  /** Our identity assertions name the generation they were made in; only those of the present one count. */
  declare generation: number;
  declare claimedAt: number | null;
  /** When the agent fetched what the claim gave it. */
  declare collectedAt: number | null;
  declare userId: Unless<Grant>['userId'];
  declare orgId: Unless<Grant>['orgId'];
  declare projectId: Unless<Grant>['projectId'];
  declare scopes: Unless<Grant>['scopes'];
  declare grantExpiresAt: Unless<Grant>['grantExpiresAt'];
  /** To the minute. */
  declare lastUsedAt: number | null;
  declare revokedAt: number | null;
}

export class ClaimAttempt extends Stored {
  static override tableName = 'claim_attempts';

  declare id: Id<'claimAttempt'>;
  declare registrationId: Id<'registration'>;
  declare tokenDigest: Buffer;
  declare codeDigest: Buffer;
  /** The only account that may complete it, lower case. */
  declare email: string;
  /** The network address that asked for it; null for one of an earlier release. */
  declare address: string | null;
  declare wrongCount: number;
  declare createdAt: number;
  declare expiresAt: number;
  declare supersededAt: number | null;
  declare deniedAt: number | null;
  declare completedAt: number | null;
}

export type RegistrationState = 'revoked' | 'claimed' | 'expired' | 'unclaimed';

export function stateOf(registration: Registration, at: number): RegistrationState {
  if (registration.revokedAt !== null) return 'revoked';
  if (registration.claimedAt !== null) return 'claimed';
  return registration.claimExpiresAt <= at ? 'expired' : 'unclaimed';
}

/** The grant of a claimed registration, until it ends. */
export function grantOf(registration: Registration, at: number): Grant | null {
  const { userId, orgId, projectId, scopes, grantExpiresAt } = registration;
  if (stateOf(registration, at) !== 'claimed' || grantExpiresAt! <= at) return null;
  return { userId: userId!, orgId: orgId!, projectId, scopes: scopes!, grantExpiresAt: grantExpiresAt! };
}

/** Until when what a claim gave can be collected: the claim window, or a while after a person who was late in it. */
export const collectionEndsAt = ({ claimedAt, claimExpiresAt }: Registration): number =>
  claimedAt === null ? claimExpiresAt : Math.max(claimExpiresAt, claimedAt + lifetimes.claimCollection);

/** Whether the code is of no use any more: ten minutes have passed, or five wrong ones were typed. */
export const isSpent = ({ expiresAt, wrongCount }: ClaimAttempt, at: number): boolean =>
  expiresAt <= at || wrongCount >= tries.wrongUserCodes;
