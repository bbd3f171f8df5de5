// The table of grants: which word at the token endpoint leads to which exchange (RFC 6749 §4.5; RFC 7523 §2.1).
import { authorizationCode } from './grants/authorization-code.ts';
import { refreshToken } from './grants/refresh-token.ts';
import type { Grant } from './token-request.ts';

export const grants: Readonly<Record<string, Grant>> = {
  authorization_code: authorizationCode,
  refresh_token: refreshToken,
};

export const grantOf = (type: string): Grant | undefined => (Object.hasOwn(grants, type) ? grants[type] : undefined);
