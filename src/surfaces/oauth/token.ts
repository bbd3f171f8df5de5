// The token endpoint, which exchanges a grant for tokens (RFC 6749 §3.2). Public clients only: they do not authenticate, but prove
// possession (PKCE).
import { unsupportedGrantType } from '#domain/identity/oauth/errors.ts';
import type { TokenParameters } from '#domain/identity/oauth/token-request.ts';
import { answerJson, type Handler } from '#foundation/http/http.ts';
import { grantOf } from './grants.ts';
import { readParameters } from './parameters.ts';
import { OAuthTokenRequest } from './records.ts';

export const createTokenEndpoint =
  (claimGrantType: string): Handler =>
  async (exchange) => {
    const parameters = (await readParameters(exchange, OAuthTokenRequest)) as TokenParameters;
    const grant = grantOf(parameters.grant_type, claimGrantType);
    if (!grant) throw unsupportedGrantType('grant_type: see grant_types_supported in the metadata.');
    answerJson(exchange, 200, await grant(parameters, exchange));
  };
