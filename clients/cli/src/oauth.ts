// Sign-in by the browser: authorization code with PKCE and a loopback redirect (RFC 8252), as a public client that registers itself
// (RFC 7591). The tokens are for the API only (RFC 8707).
import * as oauth from 'oauth4webapi';
import type { SignIn } from './store.ts';

export interface Service {
  resource: string;
  server: oauth.AuthorizationServer;
}

export const defaultScopes = [
  'organizations:read',
  'members:read',
  'missions:read',
  'missions:run',
  'projects:read',
  'projects:write',
  'scheduled-tasks:read',
  'scheduled-tasks:write',
  'automations:read',
  'automations:write',
  'agents:read',
  'sandboxes:read',
  'artifacts:read',
];

/** Requires https, or an address of this machine, for codes and tokens. */
function allowed(address: string): { [oauth.allowInsecureRequests]: boolean } {
  const { protocol, hostname } = new URL(address);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !isLocal) throw new Error(`${address}: sign-in needs an https address.`);
  return { [oauth.allowInsecureRequests]: isLocal };
}

/** Finds the authorization server of the service at the address. */
export async function discover(url: string): Promise<Service> {
  const resource = new URL(url);
  const found = await oauth.resourceDiscoveryRequest(resource, allowed(url));
  const metadata = await oauth.processResourceDiscoveryResponse(resource, found);
  const issuer = new URL(metadata.authorization_servers![0]!);
  return { resource: metadata.resource, server: await serverOf(issuer) };
}

async function serverOf(issuer: URL): Promise<oauth.AuthorizationServer> {
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...allowed(issuer.href) });
  return oauth.processDiscoveryResponse(issuer, response);
}

/** The port of the redirect may differ from the registered one (RFC 8252 §7.3). */
export async function register({ server }: Service): Promise<string> {
  const response = await oauth.dynamicClientRegistrationRequest(
    server,
    {
      client_name: 'aep command line',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    allowed(server.issuer),
  );
  return (await oauth.processDynamicClientRegistrationResponse(response)).client_id;
}

export interface Request {
  /** The page that the person opens. */
  address: string;
  /** Whether the callback belongs to this request: any page can open the redirect address. */
  isAnswered(callback: URL): boolean;
  /** Exchanges the callback's code for tokens. @throws when the person or the server has denied access */
  finish(callback: URL): Promise<SignIn>;
}

export async function authorize(
  service: Service,
  clientId: string,
  redirectUri: string,
  scopes: string[],
): Promise<Request> {
  const { server, resource } = service;
  const client: oauth.Client = { client_id: clientId };
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const address = new URL(server.authorization_endpoint!);
  address.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: [...scopes, 'offline_access'].join(' '),
    state,
    resource,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  return {
    address: address.href,
    isAnswered: (callback) => callback.searchParams.get('state') === state,
    async finish(callback) {
      const parameters = oauth.validateAuthResponse(server, client, callback, state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        oauth.None(),
        parameters,
        redirectUri,
        verifier,
        { additionalParameters: { resource }, ...allowed(server.issuer) },
      );
      return signInOf(server, clientId, await oauth.processAuthorizationCodeResponse(server, client, response));
    },
  };
}

/** Returns new tokens; the refresh token that was used is no longer valid. */
export async function refresh({ issuer, clientId, refreshToken }: SignIn): Promise<SignIn> {
  const server = await serverOf(new URL(issuer));
  const client: oauth.Client = { client_id: clientId };
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken!, allowed(issuer));
  return signInOf(server, clientId, await oauth.processRefreshTokenResponse(server, client, response));
}

/** Ends the sign-in and all of its tokens. */
export async function revoke({ issuer, clientId, refreshToken, accessToken }: SignIn): Promise<void> {
  const server = await serverOf(new URL(issuer));
  const client: oauth.Client = { client_id: clientId };
  const token = refreshToken ?? accessToken;
  const response = await oauth.revocationRequest(server, client, oauth.None(), token, allowed(issuer));
  await oauth.processRevocationResponse(response);
}

const signInOf = (
  { issuer }: oauth.AuthorizationServer,
  clientId: string,
  { access_token, refresh_token, expires_in }: oauth.TokenEndpointResponse,
): SignIn => ({
  issuer,
  clientId,
  accessToken: access_token,
  refreshToken: refresh_token ?? null,
  expiresAt: Date.now() + (expires_in ?? 0) * 1000,
});

/** Whether the server rejected the token or the client, so that only a new sign-in helps. */
export const isRefused = (error: unknown): boolean =>
  error instanceof oauth.ResponseBodyError && ['invalid_grant', 'invalid_client'].includes(error.error);
