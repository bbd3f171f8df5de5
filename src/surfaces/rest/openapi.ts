// The projection as OpenAPI 3.1. Sofa's document is the skeleton (paths, methods); it knows no null, no bound, no error, no
// security, and shows bodies as query parameters: all that is written here, from the same declarations.
import type { GraphQLArgument } from 'graphql';
import { getNamedType, isNonNullType } from 'graphql';
import { z } from 'zod';
import { baseUrl } from '#foundation/addresses.ts';
import { errorResponses, type Json, responseNames } from './openapi-errors.ts';
import { bareSchema, nullableSchema, recordSchemas } from './openapi-schemas.ts';
import { bodyArgument, type Projection, type Route } from './projection.ts';

export interface OpenApiSettings {
  skeleton: Json;
  projection: Projection;
  version: string;
  /** Paths and records of the plain handlers beside the gateway. */
  beside?: { paths: Json; schemas: Json };
}

export function openApiDocument({ skeleton, projection, version, beside }: OpenApiSettings): Json {
  const paths: Record<string, Json> = {};
  for (const route of projection.routes) {
    const verb = route.method.toLowerCase();
    const known = (skeleton.paths as Record<string, Json>)[route.template]?.[verb];
    if (!known) throw new Error(`sofa does not know ${route.method} ${route.template}`);
    paths[route.template] ??= {};
    paths[route.template]![verb] = { ...(known as Json), ...operation(route) };
  }
  const tags = [...new Set(projection.routes.map(tagOf))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Engineering Platform API',
      version,
      description:
        'Run AI agents ("missions") against projects. Credentials go into the `Authorization` header as `Bearer <token>`. ' +
        'Every answer carries `X-Request-Id`; lists are newest first and paged by an opaque `cursor`; errors have one body, `Error`.',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: baseUrl() }],
    security: [{ bearer: [] }],
    tags: tags.map((name) => ({ name, description: `Operations under /${name}.` })),
    paths: { ...paths, ...beside?.paths },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A `pat_…`, `agt_…` or OAuth access token made for the API.',
        },
      },
      responses: Object.fromEntries(Object.entries(errorResponses).filter(([name]) => speaksOf(paths, name))),
      schemas: { ...recordSchemas(projection), ...beside?.schemas },
    },
  };
}

/** Whether any operation refers to the response: the document holds no other. */
const speaksOf = (paths: Json, response: string): boolean =>
  JSON.stringify(paths).includes(`"#/components/responses/${response}"`);

const tagOf = (route: Route): string => route.template.split('/')[1]!;

function operation(route: Route): Json {
  const { scope, rest } = route.exposure;
  const parameters = route.field.args.filter((argument) => argument.name !== bodyArgument);
  const takesInput = parameters.length > 0 || route.body;
  const errors = [
    ...(takesInput ? [400] : []),
    401,
    403,
    ...(route.parameters.length > 0 ? [404] : []),
    ...(route.body ? [413, 415] : []),
    ...(route.method === 'POST' ? [409, 422] : []),
    ...(rest!.errors ?? []),
    429,
    500,
    503,
  ];
  const success = {
    description: route.status === 201 ? 'Created.' : 'Done.',
    content: { 'application/json': { schema: nullableSchema(route.field.type) } },
  };
  return {
    operationId: route.name,
    tags: [tagOf(route)],
    summary: firstSentence(route.field.description ?? route.name),
    ...(route.field.description && { description: route.field.description }),
    ...(scope !== 'any-caller' && scope !== 'person' && { 'x-required-scope': scope }),
    ...(scope === 'person' && { 'x-requires-person': true }),
    parameters: [...parameters.map((argument) => parameter(route, argument)), ...headerParameters(route)],
    // Undefined takes away what sofa says of a body that is none.
    requestBody: route.body && {
      required: route.body.required,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${route.body.name}` } } },
    },
    responses: {
      [route.status]: success,
      ...Object.fromEntries(
        [...new Set(errors)]
          .sort()
          .map((status) => [status, { $ref: `#/components/responses/${responseNames[status]}` }]),
      ),
    },
  };
}

const firstSentence = (text: string): string => text.split(/(?<=\.)\s/, 1)[0]!.replace(/\.$/, '');

function headerParameters(route: Route): Json[] {
  if (route.method !== 'POST') return [];
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'Makes repeating the call safe for 24 hours: the first success is answered again.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
  ];
}

function parameter(route: Route, argument: GraphQLArgument): Json {
  const inPath = route.parameters.includes(argument.name);
  return {
    name: argument.name,
    in: inPath ? 'path' : 'query',
    required: inPath || (isNonNullType(argument.type) && argument.defaultValue === undefined),
    ...(argument.description && { description: argument.description }),
    schema: argumentSchema(argument),
  };
}

/** The type with the bounds of the argument's zod validator, which plugin-zod keeps on the argument. */
function argumentSchema(argument: GraphQLArgument): Json {
  const validator = argument.extensions.validator as z.ZodType | undefined;
  const bounds = validator ? (z.toJSONSchema(validator, { io: 'input', unrepresentable: 'any' }) as Json) : {};
  const { $schema, type, $ref, $defs, anyOf, ...rules } = ((bounds.anyOf as Json[] | undefined)?.find(
    (option) => option.type !== 'null',
  ) ?? bounds) as Json;
  const named = getNamedType(argument.type);
  return {
    ...bareSchema(named),
    ...rules,
    ...(argument.defaultValue !== undefined && { default: argument.defaultValue }),
  };
}
