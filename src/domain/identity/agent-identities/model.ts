// An agent that registered itself, and the attempts to claim it (docs/contract.md#claims). A claimed registration holds the
// person's grant. Its state is derived, never stored.

import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { lifetimesMs, tries } from '#limits.ts';

/**
 * Types of registration. `anonymous`: names nobody. `service_auth`: names its person's email address. `identity_assertion`: a provider
 * vouches for the agent.
 */
export const registrationKinds = ['anonymous', 'service_auth', 'identity_assertion'] as const;
export type RegistrationKind = (typeof registrationKinds)[number];

/** The authority that a person lent when claiming the agent. */
export interface LentGrant {
  userId: Id<'person'>;
  orgId: Id<'organization'>;
  projectId: Id<'project'> | null;
  /** The scopes that the person chose; each use is limited to those that the person's role still includes. */
  scopes: string[];
  grantExpiresAt: number;
}

type Unless<Members> = { [Name in keyof Members]: Members[Name] | null };

export class Registration extends table('agent_registrations', {
  id: column<Id<'registration'>>(),
  kind: column<RegistrationKind>(),
  /** The name that the agent gave itself. */
  agentName: column<string | null>(),
  /**
   * The email address, in lower case, of the account that may claim the agent. Null for an anonymous agent, because such an agent names the
   * email address of an account each time it starts a claim.
   */
  email: column<string | null>(),
  /** The identity provider (`issuer`) and its id of the user (`subject`); both null unless the type is `identity_assertion`. */
  issuer: column<string | null>(),
  subject: column<string | null>(),
  createdAt: column<number>(),
  claimExpiresAt: column<number>(),
  /** Minimum seconds between two polls. */
  pollInterval: column<number>(),
  lastPolledAt: column<number | null>(),
  /**
   * A signed assertion contains the generation that the registration had when the assertion was created. An increase of the generation, for
   * example by a claim, invalidates all earlier assertions.
   */
  generation: column<number>(),
  claimedAt: column<number | null>(),
  /** When the agent collected the tokens of its claim. */
  collectedAt: column<number | null>(),
  userId: column<Unless<LentGrant>['userId']>(),
  orgId: column<Unless<LentGrant>['orgId']>(),
  projectId: column<Unless<LentGrant>['projectId']>(),
  scopes: column<Unless<LentGrant>['scopes']>(),
  grantExpiresAt: column<Unless<LentGrant>['grantExpiresAt']>(),
  /**
   * Whether the person claimed the agent in a session that reaches only one organization
   * (docs/decisions/0076-sessions-of-providers-reach-one-organization.md).
   */
  orgOnly: column<boolean>(),
  /** Time of the last use, accurate to the minute. */
  lastUsedAt: column<number | null>(),
  revokedAt: column<number | null>(),
}) {
  static override noun = 'registration';

  declare claimTokenDigest: Buffer;
}

export class ClaimAttempt extends table('claim_attempts', {
  id: column<Id<'claimAttempt'>>(),
  registrationId: column<Id<'registration'>>(),
  /** The only account that may complete the attempt, by email address in lower case. */
  email: column<string>(),
  /** The network address from which the attempt was requested; null for an attempt from an earlier release. */
  address: column<string | null>(),
  wrongCount: column<number>(),
  createdAt: column<number>(),
  expiresAt: column<number>(),
  supersededAt: column<number | null>(),
  deniedAt: column<number | null>(),
  completedAt: column<number | null>(),
}) {
  static override noun = 'claim';

  declare tokenDigest: Buffer;
  declare codeDigest: Buffer;
}

export type RegistrationState = 'revoked' | 'claimed' | 'expired' | 'unclaimed';

export function stateOf(registration: Registration, at: number): RegistrationState {
  if (registration.revokedAt !== null) return 'revoked';
  if (registration.claimedAt !== null) return 'claimed';
  return registration.claimExpiresAt <= at ? 'expired' : 'unclaimed';
}

/** The grant of a claimed registration; null once it has ended. */
export function lentGrantOf(registration: Registration, at: number): LentGrant | null {
  const { userId, orgId, projectId, scopes, grantExpiresAt } = registration;
  if (stateOf(registration, at) !== 'claimed' || grantExpiresAt! <= at) return null;
  return { userId: userId!, orgId: orgId!, projectId, scopes: scopes!, grantExpiresAt: grantExpiresAt! };
}

/** Deadline for collecting the tokens of a claim: the end of the claim window or, after a late approval, ten minutes after the approval. */
export const collectionEndsAt = ({ claimedAt, claimExpiresAt }: Registration): number =>
  claimedAt === null ? claimExpiresAt : Math.max(claimExpiresAt, claimedAt + lifetimesMs.claimCollection);

/** Whether the code has expired (after ten minutes) or is locked (after five wrong attempts). */
export const isSpent = ({ expiresAt, wrongCount }: ClaimAttempt, at: number): boolean =>
  expiresAt <= at || wrongCount >= tries.wrongUserCodes;
