// The client side of a sign-in at an OpenID provider (OpenID Connect Core §3.1: authorization code flow with PKCE, state and nonce), for
// the operator's provider and the providers of organizations.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type IDToken,
  type UserInfoResponse,
} from 'openid-client';

export interface OpenIdClient {
  issuer: string;
  clientId: string;
  clientSecret: string;
  timeoutSeconds: number;
  /** Sends the requests. If absent, the OpenID library sends them itself and does not restrict the addresses. */
  send?: CustomFetch;
}

/** Values that bind the answer of the provider to one sign-in. */
export interface SignInBinding {
  state: string;
  nonce: string;
  verifier: string;
}

/** Fetches the provider's endpoints and keys. */
export function discoverProvider({ issuer, clientId, clientSecret, timeoutSeconds, send }: OpenIdClient) {
  // `client_secret_basic` is the default of OpenID Connect Core §9.
  const authentication: ClientAuth = (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const method = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
    method(clientSecret)(server, ...rest);
  };
  return discovery(new URL(issuer), clientId, undefined, authentication, {
    execute: [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])],
    timeout: timeoutSeconds,
    ...(send && { [customFetch]: send }),
  });
}

/** The URL at the provider where the person signs in. */
export const signInAddress = async (
  config: Configuration,
  returnAddress: string,
  { state, nonce, verifier }: SignInBinding,
): Promise<string> =>
  buildAuthorizationUrl(config, {
    redirect_uri: returnAddress,
    scope: 'openid email profile',
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).href;

export type SignInTokens = Awaited<ReturnType<typeof authorizationCodeGrant>>;

/** Exchanges the code of the provider's answer. @param search Query of the request with the answer */
export const exchangeCode = (
  config: Configuration,
  returnAddress: string,
  search: string,
  { state, nonce, verifier }: SignInBinding,
): Promise<SignInTokens> =>
  authorizationCodeGrant(config, new URL(`${returnAddress}?${search}`), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });

/** Claims about the person: from the ID token or, if it has no email address, from the userinfo endpoint (OpenID Connect Core §5.4). */
export async function userClaims(config: Configuration, tokens: SignInTokens): Promise<IDToken | UserInfoResponse> {
  const claims = tokens.claims()!;
  const isBare = claims.email === undefined && config.serverMetadata().userinfo_endpoint !== undefined;
  return isBare ? fetchUserInfo(config, tokens.access_token, claims.sub) : claims;
}
