// The registration endpoint (RFC 7591): anyone may register a client, limited per hour and network.
import { type OAuthClient, registerClient } from '#domain/identity/oauth/clients.ts';
import { invalidClientMetadata, invalidRedirectUri } from '#domain/identity/oauth/errors.ts';
import { answerJson, type Exchange, type Handler, readJson } from '#foundation/http/http.ts';
import { networkOf } from '#foundation/http/network.ts';
import { createSharedThrottle } from '#foundation/http/throttle.ts';
import { describeIssues } from '#graph/validation.ts';
import { bytes } from '#limits.ts';
import { ClientRegistrationRequest } from './records.ts';

export function createClientRegistration(perHour: number): Handler {
  const throttle = createSharedThrottle(
    'oauth-register',
    perHour,
    3_600,
    'Too many clients were registered from this address.',
  );
  return async (exchange) => {
    await throttle.take(networkOf(exchange.address));
    const request = await readRequest(exchange);
    const client = await registerClient({
      redirectUris: request.redirect_uris,
      name: request.client_name,
      grantTypes: request.grant_types,
      responseTypes: request.response_types,
      clientUri: request.client_uri,
      logoUri: request.logo_uri,
      applicationType: request.application_type,
    });
    answerJson(exchange, 201, responseOf(client));
  };
}

async function readRequest(exchange: Exchange) {
  const body = await readJson(exchange, bytes.oauthBody);
  if (body === null || typeof body !== 'object') throw invalidClientMetadata('The body must be a JSON object.');
  // Some forms send empty fields for absent ones.
  const filled = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== '' && value !== null));
  const parsed = ClientRegistrationRequest.safeParse(filled);
  if (parsed.success) return parsed.data;
  const ofRedirects = parsed.error.issues.some((issue) => issue.path[0] === 'redirect_uris');
  throw (ofRedirects ? invalidRedirectUri : invalidClientMetadata)(describeIssues(parsed.error));
}

const responseOf = (client: OAuthClient) => ({
  client_id: client.id,
  client_id_issued_at: Math.floor(client.createdAt / 1_000),
  ...(client.name && { client_name: client.name }),
  redirect_uris: client.redirectUris,
  grant_types: client.grantTypes,
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  ...(client.clientUri && { client_uri: client.clientUri }),
  ...(client.logoUri && { logo_uri: client.logoUri }),
  ...(client.applicationType && { application_type: client.applicationType }),
});
