// The grants of the token endpoint by their type (RFC 6749 §4.5; RFC 7523 §2.1). The domain folder agent-identities handles the grants of
// agents.
import { claim } from '#domain/identity/agent-identities/grants/claim.ts';
import { jwtBearer } from '#domain/identity/agent-identities/grants/jwt-bearer.ts';
import { authorizationCode } from '#domain/identity/oauth/grants/authorization-code.ts';
import { refreshToken } from '#domain/identity/oauth/grants/refresh-token.ts';
import type { GrantHandler } from '#domain/identity/oauth/token-request.ts';

const grants: Readonly<Record<string, GrantHandler>> = {
  authorization_code: authorizationCode,
  refresh_token: refreshToken,
  'urn:ietf:params:oauth:grant-type:jwt-bearer': jwtBearer,
};

/**
 * Matches the names of the claim grant: each vendor has a name of its own for this grant. The service publishes one of these names in its
 * metadata, but accepts all of them (docs/contract.md#claims).
 */
const claimGrant = /^urn:[a-z0-9][a-z0-9-]{0,31}:agent-auth:grant-type:claim$/i;

/** The handler of a grant type. `claimGrantType` is the name of the claim grant in the metadata. */
export function grantOf(type: string, claimGrantType: string): GrantHandler | undefined {
  if (type === claimGrantType || claimGrant.test(type)) return claim;
  return Object.hasOwn(grants, type) ? grants[type] : undefined;
}
