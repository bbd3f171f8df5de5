// Third-party clients against the service: oauth4webapi and openid-client, which check every response against the RFCs, and the MCP SDK
// with its own flow from a 401 to a token.
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalog } from '#access/scopes.ts';
import { locationOf, type OAuthWorld, openOAuthWorld, redirectUri, type Visit } from '../support/oauth-world.ts';

let world: OAuthWorld;
let ada: Visit;
beforeAll(async () => {
  world = await openOAuthWorld();
  ada = await world.visitor('ada');
});
afterAll(() => {
  expect(world.faults).toEqual([]);
  return world.close();
});

/** Plays the browser at the URL that a client opens: the person approves and is redirected. */
async function agree(address: URL): Promise<URL> {
  const page = await world.openPage(address.search.slice(1), ada.session);
  expect(page.status).toBe(200);
  return locationOf(await world.decide(ada, page));
}

describe('Clients that use oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };

  it('oauth4webapi finds the server from the resource, registers, and gets, uses, refreshes and revokes tokens', async () => {
    const resource = new URL(world.url);
    const described = await oauth.processResourceDiscoveryResponse(
      resource,
      await oauth.resourceDiscoveryRequest(resource, insecure),
    );
    const issuer = new URL(described.authorization_servers![0]!);
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    const registered = await oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(as, { redirect_uris: [redirectUri], client_name: 'web' }, insecure),
    );
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const address = new URL(as.authorization_endpoint!);
    address.search = new URLSearchParams({
      response_type: 'code',
      client_id: registered.client_id,
      redirect_uri: redirectUri,
      scope: 'missions:read offline_access',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    }).toString();
    // Checks state and iss (RFC 9207).
    const parameters = oauth.validateAuthResponse(as, registered, await agree(address), state);
    const none = oauth.None();
    const tokens = await oauth.processAuthorizationCodeResponse(
      as,
      registered,
      await oauth.authorizationCodeGrantRequest(as, registered, none, parameters, redirectUri, verifier, insecure),
    );
    expect(tokens.scope).toBe('missions:read offline_access');
    const me = await oauth.protectedResourceRequest(
      tokens.access_token,
      'GET',
      new URL(`${world.url}/v1/me`),
      undefined,
      undefined,
      insecure,
    );
    expect(await me.json()).toMatchObject({ principalType: 'user', userId: ada.person.id, scopes: ['missions:read'] });

    const refreshed = await oauth.processRefreshTokenResponse(
      as,
      registered,
      await oauth.refreshTokenGrantRequest(as, registered, none, tokens.refresh_token!, insecure),
    );
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(as, registered, none, refreshed.refresh_token!, insecure),
    );
    const again = oauth.refreshTokenGrantRequest(as, registered, none, refreshed.refresh_token!, insecure);
    await expect(oauth.processRefreshTokenResponse(as, registered, await again)).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
    await expect(
      oauth.protectedResourceRequest(
        refreshed.access_token,
        'GET',
        new URL(`${world.url}/v1/me`),
        undefined,
        undefined,
        insecure,
      ),
    ).rejects.toMatchObject({
      status: 401,
      cause: [{ scheme: 'bearer', parameters: { error: 'invalid_token' } }],
    });
  });

  it('oauth4webapi gets standard error codes when the service refuses its requests', async () => {
    const issuer = new URL(world.url);
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    const unknown = { client_id: 'mcp_unknown' };
    const answer = await oauth.refreshTokenGrantRequest(as, unknown, oauth.None(), 'ort_x', insecure);
    await expect(oauth.processRefreshTokenResponse(as, unknown, answer)).rejects.toMatchObject({
      status: 401,
      cause: [{ scheme: 'bearer', parameters: { error: 'invalid_client' } }],
    });
    const refused = await oauth.dynamicClientRegistrationRequest(
      as,
      { redirect_uris: ['http://evil.example/'] },
      insecure,
    );
    await expect(oauth.processDynamicClientRegistrationResponse(refused)).rejects.toMatchObject({
      error: 'invalid_redirect_uri',
    });
  });
});

describe('Clients that use openid-client', () => {
  it('openid-client discovers by RFC 8414, registers, signs in to the MCP server, refreshes and revokes', async () => {
    const config = await client.dynamicClientRegistration(
      new URL(world.url),
      { redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' },
      client.None(),
      { algorithm: 'oauth2', execute: [client.allowInsecureRequests] },
    );
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const expectedState = client.randomState();
    const resource = `${world.url}/mcp`;
    const address = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'projects:read offline_access',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      resource,
    });
    const back = await agree(address);
    const tokens = await client.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState }, { resource });
    expect([tokens.scope, tokens.expires_in]).toEqual(['projects:read offline_access', 3600]);
    expect(await world.opens(tokens.access_token, 'mcp')).toBe(true);
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token!, { resource });
    await client.tokenRevocation(config, refreshed.access_token);
    expect(await world.opens(refreshed.access_token, 'mcp')).toBe(false);
    await expect(
      client.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState }),
    ).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    await expect(client.refreshTokenGrant(config, refreshed.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });
});

describe('Clients that use the MCP SDK', () => {
  /** A client that keeps everything in memory. */
  function provider() {
    const kept: {
      client?: OAuthClientInformationMixed | undefined;
      tokens?: OAuthTokens | undefined;
      verifier?: string;
      opened?: URL;
    } = {};
    const own: OAuthClientProvider = {
      redirectUrl: redirectUri,
      clientMetadata: {
        redirect_uris: [redirectUri],
        client_name: 'MCP client',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope: 'missions:read offline_access',
      },
      state: () => 'state of the MCP client',
      clientInformation: () => kept.client,
      saveClientInformation: (information) => {
        kept.client = information;
      },
      tokens: () => kept.tokens,
      saveTokens: (tokens) => {
        kept.tokens = tokens;
      },
      redirectToAuthorization: (address) => {
        kept.opened = address;
      },
      saveCodeVerifier: (verifier) => {
        kept.verifier = verifier;
      },
      codeVerifier: () => kept.verifier!,
    };
    return { kept, own };
  }

  it('the MCP SDK, given only the URL of the MCP server, gets a token for this server alone', async () => {
    const serverUrl = `${world.url}/mcp`;
    const { kept, own } = provider();
    expect(await auth(own, { serverUrl })).toBe('REDIRECT');
    expect(kept.opened!.searchParams.get('resource')).toBe(serverUrl);
    // The SDK requests all scopes that the resource names.
    expect(kept.opened!.searchParams.get('scope')!.split(' ')).toEqual(catalog.map(({ scope }) => scope));
    const back = await agree(kept.opened!);
    expect(back.searchParams.get('state')).toBe('state of the MCP client');
    expect(await auth(own, { serverUrl, authorizationCode: back.searchParams.get('code')! })).toBe('AUTHORIZED');
    const { access_token, expires_in } = kept.tokens!;
    expect(expires_in).toBe(3600);
    expect(await world.opens(access_token, 'mcp')).toBe(true);
    expect(await world.opens(access_token, 'api')).toBe(false);
  });

  it('the MCP SDK stays signed in when it requests offline_access, and registers again when its registration was deleted', async () => {
    const serverUrl = `${world.url}/mcp`;
    const { kept, own } = provider();
    const wish = { serverUrl, scope: 'missions:read offline_access' };
    expect(await auth(own, wish)).toBe('REDIRECT');
    const back = await agree(kept.opened!);
    expect(await auth(own, { ...wish, authorizationCode: back.searchParams.get('code')! })).toBe('AUTHORIZED');
    const first = kept.tokens!;
    expect(await auth(own, wish)).toBe('AUTHORIZED');
    expect(kept.tokens!.access_token).not.toBe(first.access_token);
    expect(await world.opens(kept.tokens!.access_token, 'mcp')).toBe(true);
    const forgotten = kept.client!.client_id;
    await world.knex('oauthClients').where({ id: forgotten }).delete();
    const forgetful: OAuthClientProvider = {
      ...own,
      clientMetadata: own.clientMetadata,
      redirectUrl: own.redirectUrl,
      invalidateCredentials: (what) => {
        if (what === 'all' || what === 'client') kept.client = undefined;
        if (what === 'all' || what === 'tokens') kept.tokens = undefined;
      },
    };
    expect(await auth(forgetful, wish)).toBe('REDIRECT');
    expect(kept.client!.client_id).not.toBe(forgotten);
  });
});
