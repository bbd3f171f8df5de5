// The agent endpoints as OpenAPI 3.1 fragments, from the records that validate their bodies.
import { z } from 'zod';
import * as records from './records.ts';

type Json = Record<string, unknown>;

/** Replaces an inlined `ClaimCeremony` inside another record by a reference to its component. */
const referCeremony =
  (record: z.ZodType) =>
  ({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: Json }): void => {
    if (zodSchema !== records.ClaimCeremony || record === records.ClaimCeremony) return;
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
    jsonSchema.$ref = '#/components/schemas/ClaimCeremony';
  };

export const agentIdentitySchemas: Json = Object.fromEntries(
  Object.entries({
    AgentIdentityRequest: records.AgentIdentityRequest,
    AgentRegistrationResponse: records.AgentRegistrationResponse,
    AgentAuthError: records.AgentAuthError,
    ClaimCeremony: records.ClaimCeremony,
    InitiateClaimRequest: records.InitiateClaimRequest,
    InitiateClaimResponse: records.InitiateClaimResponse,
    SecurityEventError: records.SecurityEventError,
  }).map(([name, record]) => {
    // With `io: 'input'`, schemas do not forbid unnamed members, which the service ignores.
    const { $schema, ...schema } = z.toJSONSchema(record, { io: 'input', override: referCeremony(record) });
    return [name, schema];
  }),
);

const content = (name: string, type = 'application/json') => ({
  [type]: { schema: { $ref: `#/components/schemas/${name}` } },
});

const retryAfter = { 'Retry-After': { schema: { type: 'integer' } } };
const challenge = { 'WWW-Authenticate': { schema: { type: 'string' } } };

const errorResponse = (description: string, headers?: Json): Json => ({
  description,
  ...(headers && { headers }),
  content: content('AgentAuthError'),
});

const common = {
  400: errorResponse('Unreadable, of a wrong type, out of bounds, or not verifiable; `error` says which.'),
  413: errorResponse('The body is too large.'),
  429: errorResponse('Too many requests from one address, or for one registration.', retryAfter),
  500: errorResponse('The service failed; the request id identifies the failure in its log.'),
  503: errorResponse('The service cannot answer at the moment.', retryAfter),
};

const eventErrorResponse = (description: string, headers?: Json): Json => ({
  description,
  ...(headers && { headers }),
  content: content('SecurityEventError'),
});

export const agentIdentityPaths: Json = {
  '/agent/identity': {
    post: {
      operationId: 'registerAgent',
      tags: ['agent'],
      summary: 'Registers an agent',
      description:
        'An agent registers anonymously, for the email address of its person, or with an ID-JAG of a trusted provider. No credential is needed.',
      security: [],
      requestBody: { required: true, content: content('AgentIdentityRequest') },
      responses: {
        200: { description: 'Registered.', content: content('AgentRegistrationResponse') },
        401: errorResponse(
          '`interaction_required`: a person must confirm the link. `login_required`: log in again.',
          challenge,
        ),
        ...common,
      },
    },
  },
  '/agent/identity/claim': {
    post: {
      operationId: 'initiateClaim',
      tags: ['agent'],
      summary: 'Starts a claim: returns a code for the person to type',
      description: 'Each call returns a new code and invalidates the previous one. Only the claim token is needed.',
      security: [],
      requestBody: { required: true, content: content('InitiateClaimRequest') },
      responses: {
        200: { description: 'Initiated.', content: content('InitiateClaimResponse') },
        401: errorResponse('`invalid_claim_token`: unknown, or replaced by a later one.', challenge),
        409: errorResponse('`claimed_or_in_flight`: a person has claimed the agent.'),
        410: errorResponse('`claim_expired`: the 24 hours are over, or the registration was revoked.'),
        ...common,
      },
    },
  },
  '/agent/event/notify': {
    post: {
      operationId: 'receiveSecurityEvent',
      tags: ['agent'],
      summary: 'Receives a security event of a trusted provider',
      description:
        'A security event token (RFC 8417), pushed (RFC 8935), by which a provider revokes a user. Repeats are accepted and change ' +
        'nothing.',
      security: [],
      requestBody: {
        required: true,
        content: {
          'application/secevent+jwt': {
            schema: {
              type: 'string',
              description: 'A compact JWS.',
              examples: ['eyJ0eXAiOiJzZWNldmVudCtqd3QifQ.e30.c2ln'],
            },
          },
        },
      },
      responses: {
        202: { description: 'Accepted; there is no body.' },
        400: eventErrorResponse('Not verifiable; `err` says why.'),
        413: eventErrorResponse('The body is too large.'),
        429: eventErrorResponse('Too many requests from one address.', retryAfter),
        500: eventErrorResponse('The service failed; send it again.'),
        503: eventErrorResponse('The service cannot answer at the moment; send it again.', retryAfter),
      },
    },
  },
};
