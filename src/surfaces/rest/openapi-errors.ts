// The error responses of the OpenAPI document (docs/contract.md#errors).
import {
  badGateway,
  conflict,
  type ErrorBody,
  invalid,
  missingScopes,
  notFound,
  tooLarge,
  tooMany,
  toProblem,
  unauthenticated,
  unavailable,
  unprocessable,
  unsupportedMediaType,
} from '#foundation/problem.ts';
import { errorsPath, problemCodes } from '#foundation/problem-codes.ts';
import type { Json } from '#graph/projection/json-schema.ts';
import { bytes } from '#limits.ts';
import { problemDetailsType } from '../frame.ts';

export const errorSchema: Json = {
  type: 'object',
  description: 'An error: a text for people and a code for programs.',
  required: ['category', 'title', 'description', 'retryable'],
  properties: {
    category: {
      type: 'string',
      description: 'The area of the problem, for programs that handle whole areas.',
      enum: ['auth', 'rate_limit', 'timeout', 'validation', 'infrastructure', 'agent', 'unknown'],
    },
    title: { type: 'string', description: 'A short name, the same for every problem with this code.' },
    description: { type: 'string', description: 'A text that names each invalid field and its requirement.' },
    retryable: { type: 'boolean', description: 'Whether the same call may succeed later.' },
    code: {
      type: 'string',
      description: `A stable code, which programs should test. ${errorsPath} explains each.`,
      examples: Object.keys(problemCodes),
    },
    conflictingProjectId: {
      type: 'string',
      description: 'Id of the project that already uses the repository; present only in that conflict.',
    },
  },
};

const { title, description, ...others } = errorSchema.properties as Record<string, Json>;

/** Problem details (RFC 9457), for clients whose `Accept` includes their media type. */
export const problemDetailsSchema: Json = {
  type: 'object',
  description: 'An error with data for programs (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'instance', 'category', 'retryable'],
  properties: {
    type: { type: 'string', format: 'uri', description: `The entry of the code in ${errorsPath}, or \`about:blank\`.` },
    title,
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: description,
    instance: {
      type: 'string',
      format: 'uri',
      description: 'The URN of the request: `urn:request:` with the `X-Request-Id`.',
    },
    ...others,
    fields: {
      type: 'array',
      description: 'The errors of members of the input, or of a header.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: {
            type: 'string',
            description: 'Path of the member, with names joined by dots; empty for the whole input.',
          },
          message: { type: 'string', description: 'The requirement that it violates.' },
        },
      },
    },
    missingScopes: { type: 'array', items: { type: 'string' }, description: 'Scopes that the credential lacks.' },
    retryAfterSeconds: { type: 'integer', description: 'Seconds to wait, as in the header `Retry-After`.' },
  },
};

/**
 * The error responses of the OpenAPI document, by status. Each example is created by the function that also creates the errors of the
 * service.
 */
const errors: Record<number, [name: string, description: string, example: ErrorBody, headers?: string[]]> = {
  400: [
    'BadRequest',
    'The request cannot be read, or a value has a wrong type or is out of bounds.',
    invalid.field('name', 'must be at most 120 characters').body,
  ],
  401: [
    'Unauthenticated',
    'The credential is missing, invalid or expired.',
    unauthenticated('A bearer token is required in the Authorization header.').body,
    ['WWW-Authenticate'],
  ],
  402: [
    'PaymentRequired',
    'There are no credits left, or the daily cost cap is reached.',
    {
      category: 'agent',
      title: 'Credits exhausted',
      description: 'No credits are left.',
      retryable: false,
      code: 'credits_exhausted',
    },
  ],
  403: ['Forbidden', 'The credential does not allow this.', missingScopes(['projects:write']).body],
  404: ['NotFound', 'The record is unknown, or belongs to another organization.', notFound('project').body],
  409: [
    'Conflict',
    'The record already exists, or its state does not allow the call.',
    conflict.field('email', 'bob@example.com has already been invited; revoke that invite first').body,
  ],
  413: ['PayloadTooLarge', 'The body is too large.', tooLarge(bytes.jsonBody).body],
  415: [
    'UnsupportedMediaType',
    'The body is not JSON.',
    unsupportedMediaType('Send the body as application/json.').body,
  ],
  422: [
    'IdempotencyKeyReused',
    'The Idempotency-Key was used for another request.',
    unprocessable.field('Idempotency-Key', 'was used for another request').body,
  ],
  429: ['TooManyRequests', 'The rate limit is exceeded.', tooMany(12).body, ['Retry-After']],
  500: [
    'InternalError',
    'The service failed; the request id identifies the failure in its log.',
    toProblem(new Error()).body,
  ],
  502: ['UpstreamFailed', 'A remote service failed.', badGateway('The tracker did not answer.').body],
  503: ['Unavailable', 'The service cannot answer at the moment.', unavailable().body, ['Retry-After']],
};

export const responseNames: Record<number, string> = Object.fromEntries(
  Object.entries(errors).map(([status, [name]]) => [status, name]),
);

export const errorResponses: Json = Object.fromEntries(
  Object.values(errors).map(([name, description, example, headers = []]) => [
    name,
    {
      description,
      ...(headers.length > 0 && {
        headers: Object.fromEntries(
          headers.map((header) => [header, { schema: { type: header === 'Retry-After' ? 'integer' : 'string' } }]),
        ),
      }),
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/Error' }, example },
        [problemDetailsType]: { schema: { $ref: '#/components/schemas/ProblemDetails' } },
      },
    },
  ]),
);
