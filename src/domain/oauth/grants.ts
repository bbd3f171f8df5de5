// The table of grants: which word at the token endpoint leads to which exchange (RFC 6749 §4.5; RFC 7523 §2.1).
import { authorizationCode } from './grants/authorization-code.ts';
import { claim } from './grants/claim.ts';
import { jwtBearer } from './grants/jwt-bearer.ts';
import { refreshToken } from './grants/refresh-token.ts';
import type { Grant } from './token-request.ts';

const grants: Readonly<Record<string, Grant>> = {
  authorization_code: authorizationCode,
  refresh_token: refreshToken,
  'urn:ietf:params:oauth:grant-type:jwt-bearer': jwtBearer,
};

/** The claim grant of any vendor: agents have the one of its first publisher built in (specification, Authentication 6). */
const claimGrant = /^urn:[a-z0-9][a-z0-9-]{0,31}:agent-auth:grant-type:claim$/i;

/** The exchange that a grant type means; `claimGrantType` is the one that the metadata names. */
export function grantOf(type: string, claimGrantType: string): Grant | undefined {
  if (type === claimGrantType || claimGrant.test(type)) return claim;
  return Object.hasOwn(grants, type) ? grants[type] : undefined;
}
