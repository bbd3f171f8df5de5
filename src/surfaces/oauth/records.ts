// The records of the OAuth endpoints as zod objects (docs/contract.md#token-endpoint), for the validation of bodies and for the OpenAPI
// document.
import { z } from 'zod';
import { boundedText, nameText, plainText } from '#graph/validation.ts';
import { redirectUrisPerClient, text } from '#limits.ts';

const parameter = plainText().optional();

/** RFC 6749 §3.2 and its extensions; each parameter occurs once. */
export const OAuthTokenRequest = z
  .object({
    grant_type: plainText().describe('One of the `grant_types_supported` of the authorization server metadata.'),
    assertion: boundedText({ max: text.assertion.max }).optional().describe('jwt-bearer: the identity assertion.'),
    claim_token: boundedText({ max: text.claimToken.max })
      .optional()
      .describe('claim: the claim token of the registration.'),
    resource: plainText()
      .optional()
      .describe('RFC 8707: the resource that the token is for; the API by default. A token is for one resource.'),
    code: parameter.describe('authorization_code: valid for one minute and one use.'),
    redirect_uri: parameter.describe('authorization_code: when sent, exactly as in the authorization request.'),
    client_id: parameter.describe('authorization_code: required. There is no client authentication.'),
    code_verifier: parameter.describe('authorization_code: 43 to 128 characters (RFC 7636).'),
    refresh_token: parameter.describe('refresh_token: valid once; the answer contains the next one.'),
    scope: parameter.describe('refresh_token: at most the granted scopes.'),
  })
  .describe('A grant (RFC 6749 §3.2 and its extensions), each parameter once.');

export const OAuthTokenResponse = z
  .object({
    access_token: z.string().describe('Opaque; send it as `Authorization: Bearer <token>`.'),
    token_type: z.literal('Bearer').describe('Always `Bearer` (RFC 6750).'),
    expires_in: z.int().describe('Lifetime of the access token in seconds.'),
    scope: z.string().describe('Separated by spaces; empty for an agent that no person has claimed.'),
    refresh_token: z.string().optional().describe('Only when `offline_access` was granted; valid for one use.'),
    identity_assertion: z.string().optional().describe('claim: replaces the assertion of the registration.'),
    assertion_expires: z.string().optional().meta({ format: 'date-time', description: 'The time in ISO 8601, UTC.' }),
  })
  .describe('An access token with its lifetime and scopes. It is returned once.');

export const OAuthError = z
  .object({
    error: z.string().describe('An error code of RFC 6749, 7009, 7591, 8628 or 8707.'),
    error_description: z.string().optional().describe('For developers: the parameter and its requirement.'),
  })
  .describe('An error of the authorization server (RFC 6749 §5.2).');

export const OAuthRevokeRequest = z
  .object({
    token: plainText().describe(
      'Revoking an access token affects only this token; revoking a refresh token ends all tokens of its sign-in.',
    ),
    token_type_hint: parameter.describe('Not needed; unknown hints are ignored.'),
    client_id: parameter.describe('When sent, the client that the token was issued to.'),
  })
  .describe('The token to revoke (RFC 7009).');

const texts = z.array(plainText());

export const ClientRegistrationRequest = z
  .object({
    redirect_uris: z
      .array(plainText())
      .min(redirectUrisPerClient.min)
      .max(redirectUrisPerClient.max)
      .describe('https, http on 127.0.0.1 or localhost (any port), or a private-use scheme.'),
    client_name: nameText(text.clientName)
      .optional()
      .describe(`At most ${text.clientName.max} characters; shown as the client’s own words.`),
    client_uri: boundedText(text.redirectUri).optional().describe('The home page of the client.'),
    logo_uri: boundedText(text.redirectUri)
      .optional()
      .describe('Stored and returned; the consent page does not load it.'),
    grant_types: texts.optional().describe('`authorization_code` and `refresh_token`, which is also the default.'),
    response_types: texts.optional().describe('`code`, which is also the default.'),
    token_endpoint_auth_method: plainText().optional().describe('Any value; `none` is registered.'),
    application_type: boundedText(text.clientName).optional().describe('`native` or `web`; stored and returned.'),
  })
  .describe('The metadata of a new client (RFC 7591). Members that are not named are ignored.');

export const ClientRegistrationResponse = z
  .object({
    client_id: z.string().describe('Send it with every authorization and token request.'),
    client_id_issued_at: z.int().describe('Epoch seconds (RFC 7591).'),
    client_name: z.string().optional().describe('The registered name; shown on the consent page.'),
    redirect_uris: z.array(z.string()).describe('The registered URIs; authorization requests must use one of them.'),
    grant_types: z.array(z.string()).describe('The grants that the client may use.'),
    response_types: z.array(z.string()).describe('Always `code`.'),
    token_endpoint_auth_method: z.literal('none').describe('All clients are public.'),
    client_uri: z.string().optional().describe('The registered value.'),
    logo_uri: z.string().optional().describe('The registered value.'),
    application_type: z.string().optional().describe('The registered value.'),
  })
  .describe('The client as it was registered (RFC 7591).');
