// The error answers of the OpenAPI document (specification, Errors; design decisions on statuses).

export type Json = Record<string, unknown>;

export const errorSchema: Json = {
  type: 'object',
  description: 'What went wrong, in words for people and a code for programs.',
  required: ['category', 'title', 'description', 'retryable'],
  properties: {
    category: {
      type: 'string',
      enum: ['auth', 'rate_limit', 'timeout', 'validation', 'infrastructure', 'agent', 'unknown'],
    },
    title: { type: 'string' },
    description: { type: 'string', description: 'Names each field and what it must be.' },
    retryable: { type: 'boolean', description: 'Whether the same call may succeed later.' },
    code: { type: 'string' },
    conflictingProjectId: { type: 'string', description: 'Only on the conflict of two projects on one repository.' },
  },
};

const errors: Record<number, [name: string, description: string, category: string, code: string, headers?: string[]]> =
  {
    400: ['BadRequest', 'Unreadable, of a wrong type or out of bounds.', 'validation', 'invalid_request'],
    401: [
      'Unauthenticated',
      'No credential, or none that is good here.',
      'auth',
      'unauthenticated',
      ['WWW-Authenticate'],
    ],
    402: ['PaymentRequired', 'No credits, or at the daily cost cap.', 'agent', 'credits_exhausted'],
    403: ['Forbidden', 'The credential may not do this.', 'auth', 'missing_scope'],
    404: ['NotFound', 'Unknown, or of another organization.', 'validation', 'not_found'],
    409: ['Conflict', 'A duplicate, or a state that does not allow it.', 'validation', 'conflict'],
    413: ['PayloadTooLarge', 'The body is too large.', 'validation', 'payload_too_large'],
    415: ['UnsupportedMediaType', 'The body is not JSON.', 'validation', 'unsupported_media_type'],
    422: [
      'IdempotencyKeyReused',
      'The Idempotency-Key was used for another request.',
      'validation',
      'idempotency_key_reused',
    ],
    429: ['TooManyRequests', 'Over the rate.', 'rate_limit', 'rate_limited', ['Retry-After']],
    500: ['InternalError', 'The service failed; the request id tells where.', 'unknown', 'internal'],
    502: ['UpstreamFailed', 'A remote service failed.', 'infrastructure', 'upstream_failed'],
    503: ['Unavailable', 'The service can not answer at the moment.', 'infrastructure', 'unavailable', ['Retry-After']],
  };

export const responseNames: Record<number, string> = Object.fromEntries(
  Object.entries(errors).map(([status, [name]]) => [status, name]),
);

const retryable = new Set(['429', '502', '503']);

export const errorResponses: Json = Object.fromEntries(
  Object.entries(errors).map(([status, [name, description, category, code, headers = []]]) => [
    name,
    {
      description,
      ...(headers.length > 0 && {
        headers: Object.fromEntries(
          headers.map((header) => [header, { schema: { type: header === 'Retry-After' ? 'integer' : 'string' } }]),
        ),
      }),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          example: { category, title: name, description, retryable: retryable.has(status), code },
        },
      },
    },
  ]),
);
