// The OAuth endpoints as OpenAPI 3.1, for the document of the REST API. The records are the zod objects that validate bodies; the
// documents under /.well-known have other hosts than /v1 and are described by their RFCs.
import { z } from 'zod';
import {
  ClientRegistrationRequest,
  ClientRegistrationResponse,
  OAuthError,
  OAuthRevokeRequest,
  OAuthTokenRequest,
  OAuthTokenResponse,
} from './records.ts';

type Json = Record<string, unknown>;

function jsonSchema(record: z.ZodType): Json {
  const { $schema, ...schema } = z.toJSONSchema(record, { io: 'input', target: 'draft-2020-12' }) as Json;
  return schema;
}

export const oauthSchemas: Json = Object.fromEntries(
  Object.entries({
    OAuthTokenRequest,
    OAuthTokenResponse,
    OAuthError,
    OAuthRevokeRequest,
    ClientRegistrationRequest,
    ClientRegistrationResponse,
  }).map(([name, record]) => [name, jsonSchema(record)]),
);

const schemaOf = (name: string): Json => ({ schema: { $ref: `#/components/schemas/${name}` } });

function oauthError(description: string, header?: 'Retry-After'): Json {
  return {
    description,
    ...(header && { headers: { [header]: { schema: { type: 'integer' } } } }),
    content: { 'application/json': schemaOf('OAuthError') },
  };
}

const errors: Record<number, Json> = {
  400: oauthError('The request was refused. `error` is one of the error codes in the RFC of this endpoint.'),
  413: oauthError('The body is too large.'),
  415: oauthError('The body has an unsupported media type.'),
  429: oauthError('Too many requests.', 'Retry-After'),
  500: oauthError('The service failed; the request id identifies the failure in its log.'),
  503: oauthError('The service cannot answer at the moment.', 'Retry-After'),
};

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  body: { record: string; types: readonly string[] };
  responses: Record<number, Json>;
}

const post = ({ body, responses, ...description }: Operation): Json => ({
  post: {
    ...description,
    tags: ['oauth2'],
    // Clients are public and do not authenticate: the presented code or token is the proof.
    security: [],
    requestBody: {
      required: true,
      content: Object.fromEntries(body.types.map((type) => [type, schemaOf(body.record)])),
    },
    responses: { ...responses, ...errors },
  },
});

const formOrJson = ['application/x-www-form-urlencoded', 'application/json'];

export const oauthPaths: Json = {
  '/oauth2/token': post({
    operationId: 'token',
    summary: 'Exchanges a grant for an access token',
    description: 'The token endpoint (RFC 6749, 7523, 7636, 8707). Every answer is `no-store`.',
    body: { record: 'OAuthTokenRequest', types: formOrJson },
    responses: {
      200: { description: 'Done.', content: { 'application/json': schemaOf('OAuthTokenResponse') } },
      401: oauthError('`invalid_client`: register again.'),
    },
  }),
  '/oauth2/revoke': post({
    operationId: 'revoke',
    summary: 'Revokes a token',
    description: 'The revocation endpoint (RFC 7009): 200 for an unknown token as well.',
    body: { record: 'OAuthRevokeRequest', types: formOrJson },
    responses: { 200: { description: 'Done; there is no body.' } },
  }),
  '/oauth2/register': post({
    operationId: 'registerClient',
    summary: 'Registers a client',
    description: 'Dynamic client registration (RFC 7591). All clients are public: there are no secrets.',
    body: { record: 'ClientRegistrationRequest', types: ['application/json'] },
    responses: {
      201: { description: 'Created.', content: { 'application/json': schemaOf('ClientRegistrationResponse') } },
    },
  }),
};
