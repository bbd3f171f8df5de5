// The REST API as OpenAPI 3.1. Sofa's document is the skeleton (paths, methods); nulls, bounds, errors, security and bodies, which it
// lacks, are added here from the declarations of the graph.
import type { GraphQLArgument } from 'graphql';
import { isIntrospectionType, isObjectType, isRequiredArgument } from 'graphql';
import type { Rule } from '#access/gate.ts';
import { baseUrl } from '#foundation/http/addresses.ts';
import { argumentSchema, bodySchema } from '#graph/projection/arguments.ts';
import { describedRecord, type Json, typeSchema } from '#graph/projection/json-schema.ts';
import { text } from '#limits.ts';
import { errorResponses, errorSchema, problemDetailsSchema, responseNames } from './openapi-errors.ts';
import { addExamples } from './openapi-examples.ts';
import { isConditional, type RestRoute, type RestRoutes } from './routes.ts';

export interface OpenApiSettings {
  skeleton: Json;
  routes: RestRoutes;
  version: string;
  /**
   * Parts of the document that do not come from the GraphQL schema: the paths and the records of further endpoints, and the webhook
   * requests that the service sends.
   */
  beside: { paths: Json; schemas: Json; webhooks: Json };
}

export function openApiDocument({ skeleton, routes, version, beside }: OpenApiSettings): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes.routes) {
    const verb = route.method.toLowerCase();
    const known = (skeleton.paths as Record<string, Json>)[route.template]?.[verb];
    if (!known) throw new Error(`sofa has no route ${route.method} ${route.template}`);
    paths[route.template] ??= {};
    paths[route.template]![verb] = { ...(known as Json), ...operation(route) };
  }
  Object.assign(paths, beside.paths);
  const schemas = { ...recordSchemas(routes), ...beside.schemas };
  addExamples({ ...paths, ...beside.webhooks }, schemas);
  // Responses to which no operation refers are omitted.
  const operations = JSON.stringify(paths);
  const tags = [...new Set(Object.keys(paths).map(tagOf))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Engineering Platform API',
      version,
      description:
        'Run AI agents ("missions") against projects. Credentials go into the `Authorization` header as `Bearer <token>`. ' +
        'Every response has an `X-Request-Id`; lists are newest first and paged by an opaque `cursor`; errors have one body, `Error`, ' +
        'and [each code is explained](/reference/errors). [This reference as Markdown](/reference/api.md).',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: baseUrl() }],
    security: [{ bearer: [] }],
    tags: tags.map((name) => ({ name, description: `Operations under /${name}.` })),
    paths,
    webhooks: beside.webhooks,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A `pat_…` or `agt_…` token, or an OAuth access token for the API.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: baseUrl().startsWith('https:') ? '__Host-session' : 'session',
          description:
            'The session of a person in the console, from its own pages and without an `Authorization` header. `X-Org-Id` ' +
            'selects one of their organizations.',
        },
        csrf: {
          type: 'apiKey',
          in: 'header',
          name: 'X-CSRF-Token',
          description: 'The console sends it with its cookie in every request that changes something.',
        },
      },
      responses: Object.fromEntries(
        Object.entries(errorResponses).filter(([name]) => operations.includes(referenceTo(name))),
      ),
      schemas,
    },
  };
}

const referenceTo = (response: string): string => `"#/components/responses/${response}"`;

const tagOf = (template: string): string => template.split('/')[1]!;

function operation(route: RestRoute): Json {
  const { scope, rest } = route.exposure;
  const inPath = route.field.args.filter(({ name }) => route.parameters.includes(name));
  const parameters = [...inPath, ...route.query];
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
  const link = rest!.linksNext
    ? 'The address of the next page, as `<address>; rel="next"` (RFC 8288); absent on the last page.'
    : rest!.link?.description;
  const etag = isConditional(route) && { headers: { ETag: { schema: { type: 'string' } } } };
  const success = {
    description: route.status === 201 ? 'Created.' : 'Done.',
    ...etag,
    ...(link && { headers: { Link: { description: link, schema: { type: 'string' } } } }),
    content: { 'application/json': { schema: typeSchema(route.field.type) } },
  };
  return {
    operationId: route.name,
    tags: [tagOf(route.template)],
    summary: firstSentence(route.field.description ?? route.name),
    description: [route.field.description, requirement(scope)].filter(Boolean).join(' '),
    ...(scope !== 'any-caller' && scope !== 'person' && { 'x-required-scope': scope }),
    ...(scope === 'person' && { 'x-requires-person': true }),
    security: security(route),
    parameters: [...parameters.map((argument) => parameter(route, argument)), ...headerParameters(route)],
    // The value undefined removes the body that sofa describes for a mutation without a body.
    requestBody: route.body && {
      required: route.body.required,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${route.body.name}` } } },
    },
    responses: {
      [route.status]: success,
      ...(etag && { 304: { description: 'The record is unchanged.', ...etag } }),
      ...Object.fromEntries(
        [...new Set(errors)]
          .sort()
          .map((status) => [status, { $ref: `#/components/responses/${responseNames[status]}` }]),
      ),
    },
  };
}

/** The required authority, as a sentence. */
function requirement(scope: Rule): string {
  if (scope === 'any-caller') return 'Any credential may call this.';
  if (scope === 'person') return 'Only a person who is signed in to the console may call this.';
  return `Requires the scope \`${scope}\`.`;
}

/** Either a token or the console's cookie; only the cookie if a person is required. */
function security({ method, exposure: { scope } }: RestRoute): Json[] {
  const person = method === 'GET' ? { session: [] } : { session: [], csrf: [] };
  return scope === 'person' ? [person] : [{ bearer: [] }, person];
}

const firstSentence = (text: string): string => text.split(/(?<=\.)\s/, 1)[0]!.replace(/\.$/, '');

function headerParameters(route: RestRoute): Json[] {
  const header = (name: string, description: string, schema: Json): Json[] => [
    { name, in: 'header', required: false, description, schema: { type: 'string', ...schema } },
  ];
  if (isConditional(route))
    return header('If-None-Match', 'The `ETag` of the record that the client has: 304 when it is unchanged.', {});
  if (route.method !== 'POST') return [];
  const { min, max } = text.idempotencyKey;
  return header('Idempotency-Key', 'Makes the call safe to repeat for 24 hours: the first success is returned again.', {
    minLength: min,
    maxLength: max,
  });
}

function parameter(route: RestRoute, argument: GraphQLArgument): Json {
  const inPath = route.parameters.includes(argument.name);
  return {
    name: argument.name,
    in: inPath ? 'path' : 'query',
    required: inPath || isRequiredArgument(argument),
    ...(argument.description && { description: argument.description }),
    schema: argumentSchema(argument),
  };
}

/** Schemas of the records that the routes return, of the request bodies that the routes accept, and of errors. */
function recordSchemas({ schema, routes }: RestRoutes): Json {
  const schemas: Json = { Error: errorSchema, ProblemDetails: problemDetailsSchema };
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || !isObjectType(type)) continue;
    if (type === schema.getQueryType() || type === schema.getMutationType()) continue;
    schemas[type.name] = describedRecord(type);
  }
  for (const { body } of routes) {
    if (body) schemas[body.name] = bodySchema(body, schema);
  }
  return schemas;
}
