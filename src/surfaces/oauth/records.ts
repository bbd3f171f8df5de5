// The records of the OAuth endpoints as zod objects (specification, Credentials and identity): what a body is checked with, and
// what the OpenAPI document prints.
import { z } from 'zod';
import { boundedText, nameText, plainText } from '#graph/validation.ts';
import { redirectUrisPerClient, text } from '#limits.ts';

const parameter = plainText().optional();

/** RFC 6749 §3.2 and its extensions; each parameter once. */
export const OAuthTokenRequest = z.object({
  grant_type: plainText().describe('One of the `grant_types_supported` of the authorization server metadata.'),
  assertion: boundedText({ max: text.assertion.max }).optional().describe('jwt-bearer: the identity assertion.'),
  claim_token: boundedText({ max: text.claimToken.max }).optional().describe('claim: from the registration.'),
  resource: plainText()
    .optional()
    .describe('RFC 8707: what the token is for. The API by default; a token is for one resource.'),
  code: parameter.describe('authorization_code: good for one minute and one use.'),
  redirect_uri: parameter.describe('authorization_code: when sent, exactly as in the authorization request.'),
  client_id: parameter.describe('authorization_code: required. There is no client authentication.'),
  code_verifier: parameter.describe('authorization_code: 43 to 128 characters (RFC 7636).'),
  refresh_token: parameter.describe('refresh_token: used once; the answer holds the next.'),
  scope: parameter.describe('refresh_token: no more than was granted.'),
});

export const OAuthTokenResponse = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().describe('Seconds.'),
  scope: z.string().describe('Separated by spaces; empty for an agent that nobody has claimed.'),
  refresh_token: z.string().optional(),
  identity_assertion: z.string().optional(),
  assertion_expires: z.string().optional().describe('ISO 8601.'),
});

export const OAuthError = z.object({
  error: z.string().describe('A word of RFC 6749, 7009, 7591, 8628 or 8707.'),
  error_description: z.string().optional(),
});

export const OAuthRevokeRequest = z.object({
  token: plainText().describe('An access token ends alone; a refresh token ends its sign-in.'),
  token_type_hint: parameter.describe('Not needed; unknown hints are ignored.'),
  client_id: parameter.describe('When sent, the client that the token was made for.'),
});

const words = z.array(plainText());

export const ClientRegistrationRequest = z.object({
  redirect_uris: z
    .array(plainText())
    .min(redirectUrisPerClient.min)
    .max(redirectUrisPerClient.max)
    .describe('https, http on 127.0.0.1 or localhost (any port), or a private-use scheme.'),
  client_name: nameText(text.clientName)
    .optional()
    .describe('At most 200 characters; shown as the client’s own words.'),
  client_uri: boundedText(text.redirectUri).optional(),
  logo_uri: boundedText(text.redirectUri).optional(),
  grant_types: words.optional(),
  response_types: words.optional(),
  token_endpoint_auth_method: plainText().optional().describe('Whatever is asked: the answer is `none`.'),
  application_type: boundedText(text.clientName).optional(),
});

export const ClientRegistrationResponse = z.object({
  client_id: z.string(),
  client_id_issued_at: z.int().describe('Epoch seconds (RFC 7591).'),
  client_name: z.string().optional(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  token_endpoint_auth_method: z.literal('none'),
  client_uri: z.string().optional(),
  logo_uri: z.string().optional(),
  application_type: z.string().optional(),
});
