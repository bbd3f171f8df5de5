// A claim from the agent's side: requests a code that its person will type (docs/contract.md#claims). For 24 hours the agent may start
// attempts; each has its own code and URL, and supersedes the previous attempt.

import { hours, now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { tooMany } from '#foundation/problem.ts';
import { digest, newCode, newSecret } from '#foundation/secrets/secrets.ts';
import { lifetimesMs, polling, rates } from '#limits.ts';
import { normalizeEmail } from '../../organization/people/email.ts';
import { alreadyClaimed, claimExpired, emailMismatch, invalidClaimToken } from './errors.ts';
import { ClaimAttempt, Registration, stateOf } from './model.ts';
import { userCodeDigest } from './user-code.ts';

/** Code and URL that the agent shows its person. No later response contains them. */
export interface ClaimCeremony {
  attemptId: Id<'claimAttempt'>;
  userCode: string;
  /** URL of the claim page. It does not contain the code, so a person who types the code has received it from the agent. */
  verificationUri: string;
  expiresAt: number;
  /** Seconds until the code expires. */
  expiresIn: number;
  /** Minimum seconds between two polls. */
  interval: number;
}

export interface InitiatedClaim extends ClaimCeremony {
  registrationId: Id<'registration'>;
}

/** The email address of the account that may claim the agent, and the network address of the request. */
export interface Asker {
  email: string;
  address: string;
}

const rateWindowMs = hours(1);

/** Opens an attempt, which ends the previous one. The registration must be locked. @throws 429 after too many attempts in an hour */
export async function openAttempt(
  trx: Transaction,
  { id: registrationId, claimExpiresAt }: Pick<Registration, 'id' | 'claimExpiresAt'>,
  { email, address }: Asker,
): Promise<ClaimCeremony> {
  const createdAt = now();
  await refuseTooMany(trx, registrationId, createdAt);
  await ClaimAttempt.patch(trx, { registrationId, supersededAt: null }, { supersededAt: createdAt });
  const attemptId = newId('claimAttempt');
  const userCode = newCode();
  const token = newSecret('cvt_', 24);
  const expiresAt = Math.min(createdAt + lifetimesMs.userCode, claimExpiresAt);
  await ClaimAttempt.insert(trx, {
    id: attemptId,
    registrationId,
    tokenDigest: digest(token),
    codeDigest: userCodeDigest(attemptId, userCode),
    email,
    address,
    createdAt,
    expiresAt,
  });
  // Polling for the new code starts at the normal interval.
  await Registration.patch(trx, { id: registrationId }, { pollInterval: polling.intervalSeconds, lastPolledAt: null });
  return {
    attemptId,
    userCode,
    verificationUri: `${addresses().issuer}/claim?claim_attempt_token=${token}`,
    expiresAt,
    expiresIn: Math.floor((expiresAt - createdAt) / 1_000),
    interval: polling.intervalSeconds,
  };
}

async function refuseTooMany(trx: Transaction, registrationId: Id<'registration'>, at: number): Promise<void> {
  const recent = await ClaimAttempt.query(trx)
    .select('createdAt')
    .where({ registrationId })
    .where('createdAt', '>', at - rateWindowMs)
    .orderBy('createdAt', 'desc')
    .limit(rates.claimAttemptsPerHour);
  if (recent.length < rates.claimAttemptsPerHour) return;
  const freeAt = recent.at(-1)!.createdAt + rateWindowMs;
  throw tooMany(Math.ceil((freeAt - at) / 1_000), 'Too many codes were requested for this registration.');
}

/**
 * Starts or restarts a claim. An anonymous agent names the account each time; other agents have named it before.
 * @throws invalid_claim_token, claimed_or_in_flight, claim_expired, email_mismatch, 429
 */
export function startClaim(claimToken: string, asker: Asker): Promise<InitiatedClaim> {
  const email = normalizeEmail(asker.email);
  return transaction(async (trx) => {
    const registration = await Registration.lock(trx, { claimTokenDigest: digest(claimToken) });
    if (!registration) throw invalidClaimToken('claim_token: is unknown. Register again.');
    switch (stateOf(registration, now())) {
      case 'revoked':
        throw claimExpired('The registration was revoked. Register again.');
      case 'claimed':
        throw alreadyClaimed('A person has already claimed this agent: poll the token endpoint.');
      case 'expired':
        throw claimExpired('The 24 hours in which this agent could be claimed have passed. Register again.');
      case 'unclaimed':
    }
    if (registration.email !== null && registration.email !== email) {
      throw emailMismatch('email: must be the address that this agent was registered for.');
    }
    return { registrationId: registration.id, ...(await openAttempt(trx, registration, { ...asker, email })) };
  });
}
