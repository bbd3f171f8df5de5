// Finds the caller for an Authorization header at one resource (RFC 6750, RFC 9728; docs/contract.md#tokens-and-resources). The credential
// is looked up on every request and never cached, so that a revocation applies to the next request in every process.
import { requireAllowedAddress } from '#access/allowed-addresses.ts';
import type { Caller } from '#access/principal.ts';
import { isGrantable } from '#access/scopes.ts';
import { callerOfAgentToken } from '#domain/identity/agent-identities/caller.ts';
import { callerOfOAuthToken } from '#domain/identity/oauth/access-tokens.ts';
import { type Resource, resourceMetadataUrl } from '#domain/identity/oauth/resources.ts';
import { refusalOfCredential } from '#domain/identity/refusals/operations.ts';
import { recheckSession } from '#domain/identity/sessions/caller.ts';
import { callerOfDirectoryToken } from '#domain/identity/tokens/directory-tokens.ts';
import { callerOfToken } from '#domain/identity/tokens/operations.ts';
import { callerOfServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { seconds } from '#foundation/clock.ts';
import { createCapacity } from '#foundation/http/capacity.ts';
import type { Exchange, Headers } from '#foundation/http/http.ts';
import { networkOf, plainAddress } from '#foundation/http/network.ts';
import type { Throttle } from '#foundation/http/throttle.ts';
import { type Problem, unauthenticated } from '#foundation/problem.ts';
import { callerOfCookie, sessionSecret } from './cookie.ts';
import { answerProblem } from './frame.ts';

/** The places that accept credentials: the resources of OAuth, and the SCIM endpoint, which is not an OAuth resource. */
type Place = Resource | 'scim';
/** @param address The address of the request (`plainAddress`) */
type LookUp = (secret: string, place: Place, address: string | null) => Promise<Caller | null> | null;

/**
 * Returns a look-up for a kind of credential that is valid at the REST API, MCP and A2A. A request to the SCIM endpoint cannot use such a
 * credential: for the SCIM endpoint, the look-up always returns null.
 */
const atResource =
  (lookUp: (secret: string, resource: Resource, address: string | null) => Promise<Caller | null>): LookUp =>
  (secret, place, address) =>
    place === 'scim' ? null : lookUp(secret, place, address);

/**
 * The look-up for each prefix of a secret. A personal access token is valid at every resource; a credential of another kind is valid at one
 * resource, or only at the SCIM endpoint.
 */
const kinds: Record<string, LookUp> = {
  pat_: atResource((secret, _, address) => callerOfToken(secret, address)),
  srv_: (secret, place, address) => (place === 'api' ? callerOfServiceToken(secret, address) : null),
  agt_: atResource(callerOfAgentToken),
  oat_: atResource(callerOfOAuthToken),
  scm_: (secret, place, address) => (place === 'scim' ? callerOfDirectoryToken(secret, address) : null),
};

/** The format of secrets that `newSecret` creates. Any other text cannot be a token of this service, and is rejected without a look-up. */
const bearer = /^Bearer +((?:pat|srv|agt|oat|scm)_[\w-]{43})$/i;
const secretOf = (header: string): string | undefined => bearer.exec(header)?.[1];

const callerOf = (secret: string | undefined, place: Place, { address }: Exchange): ReturnType<LookUp> =>
  (secret && kinds[secret.slice(0, 4)]?.(secret, place, plainAddress(address))) || null;

const suspects = createCapacity({
  name: 'guesses',
  all: 4,
  perKey: 2,
  queue: { perKey: 100, all: 400, waitMs: seconds(5) },
  description: 'Too many invalid credentials were sent from this network.',
});

/**
 * Creates a function that identifies the caller of a request. @param place The resource that the request is for, or the SCIM endpoint. Only
 * the API accepts the console's cookie.
 * @throws 401 with a challenge, 403 for a network address that the organization does not allow
 */
export function createAuthenticate(failures: Throttle, place: Place) {
  const withoutHeader = place === 'api' ? callerOfCookie : () => null;
  // The credential is looked up even if its network has sent too many invalid credentials, so that a valid credential works from any
  // network. Only a few look-ups for such a network run concurrently, so that its guesses do not exhaust the database.
  const lookUp = async (secret: string, network: string, exchange: Exchange): Promise<Caller | null> => {
    if (!(await failures.isOver(network))) return callerOf(secret, place, exchange);
    const hold = await suspects.take(network);
    try {
      return await callerOf(secret, place, exchange);
    } finally {
      hold.release();
    }
  };
  const look = async (header: string, exchange: Exchange): Promise<Caller | null> => {
    const network = networkOf(exchange.address);
    const secret = secretOf(header);
    const caller = secret ? await lookUp(secret, network, exchange) : null;
    if (caller) return caller;
    await failures.take(network);
    if (secret) exchange.findRefusal = () => refusalOfCredential(secret);
    return null;
  };
  return async (exchange: Exchange): Promise<Caller> => {
    const header = exchange.req.headers.authorization;
    const caller = header === undefined ? await withoutHeader(exchange) : await look(header, exchange);
    if (!caller) throw challenge(place, header !== undefined);
    exchange.credentialId = caller.credentialId;
    exchange.scopes = caller.scopes;
    exchange.caller = caller;
    caller.source = exchange;
    // A request from an address that the organization does not allow counts as a failure. It does not count against the caller's rate,
    // because it would otherwise use up the rate of the organization.
    if (caller.isAddressRefused) await failures.take(caller.credentialId);
    requireAllowedAddress(caller, exchange);
    return caller;
  };
}

/**
 * Looks up the caller again while a request to the API is being answered. Counts no failure and does not renew a session. @throws 401 when
 * its credential is no longer valid, 403 when the organization no longer allows the address
 */
export async function recheckCaller(exchange: Exchange, { orgId }: Caller): Promise<Caller> {
  const header = exchange.req.headers.authorization;
  const secret = sessionSecret(exchange);
  const session = () => (secret === null ? null : recheckSession(secret, orgId, plainAddress(exchange.address)));
  const caller = await (header === undefined ? session() : callerOf(secretOf(header), 'api', exchange));
  if (!caller) throw challenge('api', header !== undefined);
  requireAllowedAddress(caller, exchange);
  return caller;
}

/** The 401 with its challenge, which contains `error` only when a token was presented (RFC 6750 §3). */
function challenge(place: Place, presented: boolean) {
  const metadata = place === 'scim' ? 'realm="scim"' : `resource_metadata="${resourceMetadataUrl(place)}"`;
  const parameters = [...(presented ? ['error="invalid_token"'] : []), metadata];
  return unauthenticated(
    presented
      ? 'The bearer token is malformed, unknown, expired, revoked or issued for another resource.'
      : 'A bearer token is required in the Authorization header.',
    { headers: { 'www-authenticate': `Bearer ${parameters.join(', ')}` } },
  );
}

/**
 * The challenge of a 403 for missing scopes (RFC 6750 §3.1); no header for another problem. It names the scopes to request: the scopes of
 * the credential and the missing scopes, because a client replaces its token (docs/decisions/0038-challenge-names-all-scopes.md).
 */
function challengeFor({ details }: Problem, resource: Resource, { scopes }: Exchange): Headers {
  if (!details.missingScopes) return {};
  // Unknown scopes are omitted from the header, because a request may contain any text as a scope.
  const grantable = [...new Set([...(scopes ?? []), ...details.missingScopes])].filter(isGrantable);
  const parameters = [
    'error="insufficient_scope"',
    ...(grantable.length > 0 ? [`scope="${grantable.join(' ')}"`] : []),
    `resource_metadata="${resourceMetadataUrl(resource)}"`,
  ];
  return { 'www-authenticate': `Bearer ${parameters.join(', ')}` };
}

/**
 * Returns a function that answers a request to a resource (the REST API, MCP or A2A) with a problem. If the caller lacks scopes, the response
 * contains the challenge of this resource.
 */
export const refuseFor = (resource: Resource) => (exchange: Exchange, problem: Problem) =>
  answerProblem(exchange, problem, challengeFor(problem, resource, exchange));

/**
 * Whether a client that lacks a scope can ask a person for it. All clients can, except those with a personal access token, whose owner has
 * chosen its scopes.
 */
export const canStepUp = ({ req }: Exchange): boolean => !/^Bearer +pat_/i.test(req.headers.authorization ?? '');
