// Verifies a provider's assertion by the checks of docs/contract.md#id-jag, in their order, until one fails
// (draft-ietf-oauth-identity-assertion-authz-grant; RFC 8725). Whether a person has linked the user is checked later, by the registration.
import { compactVerify, errors } from 'jose';
import { now } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { OutboundError } from '#foundation/http/outbound.ts';
import type { TrustedIssuer } from '#foundation/http/trusted-issuers.ts';
import { clockSkewMs, lifetimesMs } from '#limits.ts';
import { emailAddress, normalizeEmail } from '../../../organization/people/email.ts';
import { OAuthError } from '../../oauth/errors.ts';
import { agentResourceOf, resourceUri } from '../../oauth/resources.ts';
import { issuerKeyOf, trustedIssuer } from './issuers.ts';
import { type ClaimSet, type Parsed, parseJws } from './parse.ts';
import { registrationError, reject, VerificationError } from './reasons.ts';
import { useJti } from './replay.ts';

/** A user of a provider, as the provider's assertion identifies them. */
export interface ProvidedIdentity {
  issuer: string;
  subject: string;
  /** The email address in lower case. */
  email: string;
}

/** Verifies an assertion (ID-JAG) of a trusted provider. @throws AgentAuthError of the first check that fails */
export async function verifyIdJag(jwt: string): Promise<ProvidedIdentity> {
  try {
    return await verify(jwt);
  } catch (error) {
    throw error instanceof VerificationError ? registrationError(error) : error;
  }
}

async function verify(jwt: string): Promise<ProvidedIdentity> {
  const parsed = parseJws(jwt, 'oauth-id-jag+jwt');
  const provider = issuerOf(parsed);
  await checkSignature(parsed, provider);
  const { claims } = parsed;
  const expiresAt = checkTimes(claims);
  checkAudience(claims);
  const subject = idOf(claims, 'sub') ?? reject('no subject', `sub: must be ${anId}.`);
  const jti = idOf(claims, 'jti') ?? reject('no id', `jti: must be ${anId}.`);
  const { issuer } = provider;
  // The `jti` is consumed even when a later check fails: the agent needs a new assertion anyway.
  if (!(await useJti('assertion', { issuer, jti, expiresAt: expiresAt + clockSkewMs }))) {
    reject('replayed', 'jti: was presented before.');
  }
  checkClient(claims, provider);
  const email = verifiedEmailOf(claims);
  checkLogin(claims);
  checkResource(claims);
  return { issuer, subject, email };
}

/** The provider, from the trust list. Nothing is fetched before this check. */
export const issuerOf = ({ claims }: Parsed): TrustedIssuer =>
  trustedIssuer(claims.iss) ?? reject('untrusted issuer', 'iss: is not a trusted provider.');

const algorithms = ['ES256', 'ES384', 'PS256', 'RS256', 'EdDSA'];

/** Keys come only from the provider's published set: a key in the header, or the URL of one, is ignored. */
export async function checkSignature({ jws, header }: Parsed, provider: TrustedIssuer): Promise<void> {
  if (!algorithms.includes(header.alg as string)) {
    reject('wrong algorithm', `alg: must be one of ${algorithms.join(', ')}.`);
  }
  try {
    await compactVerify(jws, (protectedHeader, token) => issuerKeyOf(provider, protectedHeader, token), { algorithms });
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) {
      reject('bad signature', 'The signature does not verify.');
    }
    // All other errors concern the key: the provider is unreachable or has no key for this `kid`, or the key is malformed, too short or
    // unusable with the algorithm.
    const ofKey = [errors.JOSEError, OutboundError, TypeError, DOMException].some((kind) => error instanceof kind);
    if (ofKey) reject('no such key', 'kid: the provider publishes no usable key for it.');
    throw error;
  }
}

/** Epoch milliseconds of a claim in epoch seconds (RFC 7519 §2, NumericDate). */
const timeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? Math.trunc(value * 1_000) : null;

/** The time at which the assertion was issued, which must not be in the future. */
export function issuedAt(claims: ClaimSet): number {
  const iat = timeOf(claims.iat) ?? reject('bad times', 'iat: must be a time in epoch seconds.');
  return iat > now() + clockSkewMs ? reject('bad times', 'iat: must not be in the future.') : iat;
}

function checkTimes(claims: ClaimSet): number {
  const exp = timeOf(claims.exp) ?? reject('bad times', 'exp: must be a time in epoch seconds.');
  if (exp + clockSkewMs <= now()) reject('expired', 'exp: has passed.');
  const iat = issuedAt(claims);
  if (claims.nbf !== undefined && (timeOf(claims.nbf) ?? Number.POSITIVE_INFINITY) > now() + clockSkewMs) {
    reject('bad times', 'nbf: must be a time in epoch seconds, and not in the future.');
  }
  if (exp - iat > lifetimesMs.idJag) reject('bad times', 'exp: must be at most one hour after iat.');
  return exp;
}

/**
 * The assertion must have exactly one audience: the issuer or the identifier of the API, with or without a trailing slash. A longer URL that
 * begins with one of them is refused (docs/contract.md#id-jag).
 */
export function checkAudience({ aud }: ClaimSet): void {
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  const ours = [addresses().issuer, resourceUri('api')].flatMap((name) => [name, `${name}/`]);
  if (audiences.length !== 1 || !ours.includes(audiences[0] as string)) {
    reject('wrong audience', `aud: must be "${addresses().issuer}" and nothing else.`);
  }
}

/** Limits of the `sub` and `jti` of an assertion, in characters. */
const [min, max] = [1, 255];
export const anId = `a text of ${min} to ${max} characters`;

/** The value of the JWT claim if the database can store it as an id; otherwise null. */
export function idOf(claims: ClaimSet, name: 'sub' | 'jti'): string | null {
  const id = claims[name];
  if (typeof id !== 'string' || id.length < min || id.length > max) return null;
  return id.includes('\0') || !id.isWellFormed() ? null : id;
}

/** Clients are not authenticated here, so only the provider can vouch for the client id. */
function checkClient({ client_id }: ClaimSet, { issuer, clientIds }: TrustedIssuer): void {
  const isOwn = (id: string) => URL.canParse(id) && new URL(id).origin === new URL(issuer).origin;
  const isGood = typeof client_id === 'string' && (clientIds ? clientIds.includes(client_id) : isOwn(client_id));
  if (!isGood) reject('foreign client', 'client_id: must be a client that the provider may issue assertions for.');
}

function verifiedEmailOf({ email, email_verified }: ClaimSet): string {
  const { data } = emailAddress.safeParse(email);
  if (data === undefined || email_verified !== true) {
    return reject('no verified email', 'email: is required, with email_verified true.');
  }
  return normalizeEmail(data);
}

function checkLogin({ auth_time }: ClaimSet): void {
  const at =
    timeOf(auth_time) ?? reject('stale login', 'auth_time: is required: the time at which the person logged in.');
  if (at > now() + clockSkewMs) reject('stale login', 'auth_time: must not be in the future.');
  // Clock differences are not tolerated here, because docs/contract.md#id-jag allows exactly one hour.
  if (at + lifetimesMs.idJagLogin < now()) {
    reject('stale login', 'auth_time: the login is older than one hour. Have the person log in again.');
  }
}

function checkResource({ resource }: ClaimSet): void {
  if (resource === undefined) return;
  const named: unknown[] = Array.isArray(resource) ? resource : [resource];
  if (!named.some(isForAgents)) reject('other resource', 'resource: must include the API or the MCP server.');
}

function isForAgents(uri: unknown): boolean {
  if (typeof uri !== 'string') return false;
  try {
    return Boolean(agentResourceOf(uri));
  } catch (error) {
    if (error instanceof OAuthError) return false;
    throw error;
  }
}
