// An agent that registered itself, and the attempts to claim it (docs/contract.md#claims). A claimed registration holds the
// person's grant. Its state is derived, never stored.

import type { Id } from '#foundation/ids.ts';
import { BaseModel, type Row } from '#foundation/postgres/base-model.ts';
import { lifetimesMs, tries } from '#limits.ts';

/** `anonymous`: names nobody. `service_auth`: names its person's email address. `identity_assertion`: a provider vouches for the agent. */
export const registrationKinds = ['anonymous', 'service_auth', 'identity_assertion'] as const;
export type RegistrationKind = (typeof registrationKinds)[number];

/** The authority that a person lent when claiming the agent. */
export interface LentGrant {
  userId: Id<'person'>;
  orgId: Id<'organization'>;
  projectId: Id<'project'> | null;
  /** The scopes that the person chose; each use is limited to those that the person's role still holds. */
  scopes: string[];
  grantExpiresAt: number;
}

type Unless<Members> = { [Name in keyof Members]: Members[Name] | null };

export class Registration extends BaseModel {
  static override tableName = 'agent_registrations';
  static override noun = 'registration';
  static override columns = [
    'id',
    'kind',
    'agentName',
    'email',
    'issuer',
    'subject',
    'createdAt',
    'claimExpiresAt',
    'pollInterval',
    'lastPolledAt',
    'generation',
    'claimedAt',
    'collectedAt',
    'userId',
    'orgId',
    'projectId',
    'scopes',
    'grantExpiresAt',
    'lastUsedAt',
    'revokedAt',
  ];

  declare id: Id<'registration'>;
  declare kind: RegistrationKind;
  /** The name that the agent gave itself. */
  declare agentName: string | null;
  /**
   * The email address of the account that may claim the agent, lower case; null for an anonymous agent, which names it with each attempt.
   */
  declare email: string | null;
  /** The provider, and its id of the user; null unless `identity_assertion`. */
  declare issuer: string | null;
  declare subject: string | null;
  declare createdAt: number;
  declare claimTokenDigest: Buffer;
  declare claimExpiresAt: number;
  /** Seconds. */
  declare pollInterval: number;
  declare lastPolledAt: number | null;
  /** Assertions contain the generation in which they were issued; only those of the present one are valid. */
  declare generation: number;
  declare claimedAt: number | null;
  /** When the agent collected the tokens of its claim. */
  declare collectedAt: number | null;
  declare userId: Unless<LentGrant>['userId'];
  declare orgId: Unless<LentGrant>['orgId'];
  declare projectId: Unless<LentGrant>['projectId'];
  declare scopes: Unless<LentGrant>['scopes'];
  declare grantExpiresAt: Unless<LentGrant>['grantExpiresAt'];
  /** To the minute. */
  declare lastUsedAt: number | null;
  declare revokedAt: number | null;
}

export class ClaimAttempt extends BaseModel {
  static override tableName = 'claim_attempts';
  static override noun = 'claim';
  static override columns = [
    'id',
    'registrationId',
    'email',
    'address',
    'wrongCount',
    'createdAt',
    'expiresAt',
    'supersededAt',
    'deniedAt',
    'completedAt',
  ];

  declare id: Id<'claimAttempt'>;
  declare registrationId: Id<'registration'>;
  declare tokenDigest: Buffer;
  declare codeDigest: Buffer;
  /** The only account that may complete the attempt, by email address in lower case. */
  declare email: string;
  /** The network address that requested the attempt; null for an attempt of an earlier release. */
  declare address: string | null;
  declare wrongCount: number;
  declare createdAt: number;
  declare expiresAt: number;
  declare supersededAt: number | null;
  declare deniedAt: number | null;
  declare completedAt: number | null;
}

export type RegistrationState = 'revoked' | 'claimed' | 'expired' | 'unclaimed';

export function stateOf(registration: Row<Registration>, at: number): RegistrationState {
  if (registration.revokedAt !== null) return 'revoked';
  if (registration.claimedAt !== null) return 'claimed';
  return registration.claimExpiresAt <= at ? 'expired' : 'unclaimed';
}

/** The grant of a claimed registration, until it ends. */
export function lentGrantOf(registration: Row<Registration>, at: number): LentGrant | null {
  const { userId, orgId, projectId, scopes, grantExpiresAt } = registration;
  if (stateOf(registration, at) !== 'claimed' || grantExpiresAt! <= at) return null;
  return { userId: userId!, orgId: orgId!, projectId, scopes: scopes!, grantExpiresAt: grantExpiresAt! };
}

/** Deadline for collecting the tokens of a claim: the end of the claim window, or some time after a late claim. */
export const collectionEndsAt = ({ claimedAt, claimExpiresAt }: Row<Registration>): number =>
  claimedAt === null ? claimExpiresAt : Math.max(claimExpiresAt, claimedAt + lifetimesMs.claimCollection);

/** Whether the code has expired, after ten minutes, or is locked, after five wrong attempts. */
export const isSpent = ({ expiresAt, wrongCount }: Row<ClaimAttempt>, at: number): boolean =>
  expiresAt <= at || wrongCount >= tries.wrongUserCodes;
