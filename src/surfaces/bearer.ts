// The Authorization header → the caller, for one resource (RFC 6750, RFC 9728; docs/contract.md#tokens-and-resources). Looked up on
// every request, never cached: a revocation must act on the next call, on every process.
import type { Caller } from '#access/principal.ts';
import type { Scope } from '#access/scopes.ts';
import { callerOfAgentToken } from '#domain/identity/agent-identities/caller.ts';
import { callerOfOAuthToken } from '#domain/identity/oauth/access-tokens.ts';
import { type Resource, resourceMetadataUrl } from '#domain/identity/oauth/resources.ts';
import { callerStillBehind } from '#domain/identity/sessions/operations.ts';
import { callerOfToken } from '#domain/identity/tokens/operations.ts';
import { callerOfServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { seconds } from '#foundation/clock.ts';
import { createCapacity } from '#foundation/http/capacity.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { networkOf } from '#foundation/http/network.ts';
import type { Throttle } from '#foundation/http/throttle.ts';
import { missingScopes, Problem, unauthenticated } from '#foundation/problem.ts';
import { callerOfCookie, sessionSecret } from './cookie.ts';

type LookUp = (secret: string, resource: Resource) => Promise<Caller | null>;

/** Each kind of credential by the prefix of its secret. A personal access token is valid everywhere, the others for one resource. */
const kinds: Record<string, LookUp> = {
  pat_: callerOfToken,
  srv_: async (secret, resource) => (resource === 'api' ? callerOfServiceToken(secret) : null),
  agt_: callerOfAgentToken,
  oat_: callerOfOAuthToken,
};

/** As `newSecret` creates them. Anything else cannot be one of ours, and is refused without a look-up. */
const bearer = /^Bearer +((?:pat|srv|agt|oat)_[\w-]{43})$/i;
const isWellFormed = (header: string): boolean => bearer.test(header);

async function callerOf(header: string, resource: Resource): Promise<Caller | null> {
  const secret = bearer.exec(header)?.[1];
  return (secret && (await kinds[secret.slice(0, 4)]?.(secret, resource))) || null;
}

const suspects = createCapacity({
  all: 4,
  perKey: 2,
  queue: { perKey: 100, all: 400, waitMs: seconds(5) },
  description: 'Too many bad credentials come from this network.',
});

/** The caller of a request to this resource; 401 with a challenge when there is none. Only the API knows the console's cookie. */
export function createAuthenticate(failures: Throttle, resource: Resource) {
  const withoutHeader = resource === 'api' ? callerOfCookie : () => null;
  // The credential is looked up first: a valid one works wherever it comes from. A network over its failures is looked up a few
  // at a time, so that its guesses do not take the database from others.
  const lookUp = async (header: string, network: string): Promise<Caller | null> => {
    const mayGuess = isWellFormed(header) && (await failures.isOver(network));
    if (!mayGuess) return callerOf(header, resource);
    const hold = await suspects.take(network);
    return callerOf(header, resource).finally(() => hold.release());
  };
  const look = async (header: string, { address }: Exchange): Promise<Caller | null> => {
    const network = networkOf(address);
    const caller = await lookUp(header, network);
    if (!caller) await failures.take(network);
    return caller;
  };
  return async (exchange: Exchange): Promise<Caller> => {
    const header = exchange.req.headers.authorization;
    const caller = header === undefined ? await withoutHeader(exchange) : await look(header, exchange);
    if (!caller) throw challenge(resource, header !== undefined);
    exchange.credentialId = caller.credentialId;
    return caller;
  };
}

/**
 * The caller of a request to the API that is still being answered, as it is now: looked up again, without counting a failure
 * or renewing a session. @throws 401 when its credential is no longer valid
 */
export async function callerStill(exchange: Exchange, { orgId }: Caller): Promise<Caller> {
  const header = exchange.req.headers.authorization;
  const secret = sessionSecret(exchange);
  const session = () => (secret === null ? null : callerStillBehind(secret, orgId));
  const caller = header === undefined ? await session() : await callerOf(header, 'api');
  if (!caller) throw challenge('api', header !== undefined);
  return caller;
}

/** `error` only when a token was presented (RFC 6750 §3). */
function challenge(resource: Resource, presented: boolean) {
  const metadata = `resource_metadata="${resourceMetadataUrl(resource)}"`;
  const parameters = [...(presented ? ['error="invalid_token"'] : []), metadata];
  return unauthenticated(
    presented
      ? 'The bearer token is malformed, unknown, expired, revoked or issued for another resource.'
      : 'A bearer token is required in the Authorization header.',
    { 'www-authenticate': `Bearer ${parameters.join(', ')}` },
  );
}

/**
 * 403 with a challenge that names the scopes to ask for: those that the caller has and the one that is missing, because a client
 * replaces its token (RFC 6750 §3.1; MCP 2025-11-25, Authorization: Scope Challenge Handling).
 */
export function insufficientScope(resource: Resource, { scopes }: Caller, missing: Scope): Problem {
  const { status, body } = missingScopes([missing]);
  const parameters = [
    'error="insufficient_scope"',
    `scope="${[...new Set([...scopes, missing])].join(' ')}"`,
    `resource_metadata="${resourceMetadataUrl(resource)}"`,
    `error_description="The scope ${missing} is missing."`,
  ];
  return new Problem(status, body, { 'www-authenticate': `Bearer ${parameters.join(', ')}` });
}

/** Whether the holder of the credential can ask a person for more: everyone but the owner of a personal access token. */
export const canStepUp = ({ req }: Exchange): boolean => !/^Bearer +pat_/i.test(req.headers.authorization ?? '');
