// Security events of trusted providers (RFC 8417; docs/contract.md#security-events): a provider revokes a user it has vouched for, which
// revokes the user's agent. Each event takes effect once, however often it is delivered (RFC 8935 §2).
import { now } from '#foundation/clock.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { lifetimesMs } from '#limits.ts';
import { type ClaimSet, parseJws } from './id-jag/parse.ts';
import { reject } from './id-jag/reasons.ts';
import { useJti } from './id-jag/replay.ts';
import { anId, checkAudience, checkSignature, idOf, issuedAt, issuerOf } from './id-jag/verify.ts';
import { endProviderUser } from './revoke.ts';

/** The events that revoke an agent. Others are accepted and change nothing. */
export const revocationEvents = ['https://schemas.workos.com/events/agent/auth/identity/assertion/revoked'];

/** Receives one security event token and acts on it, once. @throws VerificationError */
export async function receiveSecurityEvent(jws: string): Promise<void> {
  const parsed = parseJws(jws, 'secevent+jwt');
  const { issuer, maySendEvents, ...provider } = issuerOf(parsed);
  if (maySendEvents === false) reject('not a sender', 'iss: is not allowed to send security events.');
  await checkSignature(parsed, { issuer, ...provider });
  const { claims } = parsed;
  const iat = issuedAt(claims);
  if (iat + lifetimesMs.securityEvent <= now()) reject('bad times', 'iat: must not be older than seven days.');
  if (typeof claims.exp === 'number' && claims.exp * 1_000 <= now()) reject('expired', 'exp: has passed.');
  checkAudience(claims);
  const jti = idOf(claims, 'jti') ?? reject('no id', `jti: must be ${anId}.`);
  const subject = subjectOf(claims, issuer) ?? reject('no subject', `sub: must be ${anId}.`);
  const { events } = claims;
  if (!isObject(events) || Object.keys(events).length === 0) {
    return reject('no events', 'events: must be an object with at least one event.');
  }
  await transaction(async (trx) => {
    const isNew = await useJti('event', { issuer, jti, expiresAt: iat + lifetimesMs.securityEvent }, trx);
    if (isNew && revocationEvents.some((event) => event in events)) await endProviderUser(trx, issuer, subject);
  });
}

const isObject = (value: unknown): value is ClaimSet =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** The subject: `sub`, or the `sub_id` of a user of this provider (RFC 9493 §3.2.3). */
function subjectOf(claims: ClaimSet, issuer: string): string | null {
  const { sub_id: subject } = claims;
  if (claims.sub !== undefined || !isObject(subject)) return idOf(claims, 'sub');
  return subject.format === 'iss_sub' && subject.iss === issuer ? idOf(subject, 'sub') : null;
}
