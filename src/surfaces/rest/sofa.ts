// How the REST API uses sofa-api. Sofa writes the operation document of each route, picks its variables from the arguments, executes it,
// and writes the skeleton of the OpenAPI document. Four things are done without it, because sofa is not exact there:
// - Routing (router.ts): sofa has no 405, no HEAD, and adds routes for webhooks and Swagger UI.
// - Arguments (arguments.ts): in sofa a query string overrides a body, a PATCH loses its nulls, and "1.5x" is a number.
// - Execution: a plan is compiled once (graph/projection/plan.ts), whereas graphql-js interprets the document at each call.
// - Responses: sofa would serialize the record into a polyfilled Response, whose errors are GraphQL's and not `Error`.
import { type DocumentNode, type GraphQLObjectType, type GraphQLSchema, Kind } from 'graphql';
import { useSofa } from 'sofa-api';
import type { Caller } from '#access/principal.ts';
import type { Json } from '#graph/projection/json-schema.ts';
import { createOperation, type Operation, type Outcome } from '#graph/projection/operation.ts';
import type { RestRoute, RestRoutes } from './routes.ts';

type Arguments = Record<string, unknown>;

/** Calls a route and returns its outcome. @throws the problem of the call */
export type RouteCall = (caller: Caller, requestId: string, args: Arguments) => Promise<Outcome>;

export interface Sofa {
  callOf(route: RestRoute): RouteCall;
  /** Sofa's OpenAPI document: paths and methods. */
  skeleton: Json;
}

/** State of one call, which sofa passes on as its server context. */
interface Call {
  route: RestRoute;
  caller: Caller;
  requestId: string;
  outcome?: Outcome;
}

/**
 * The part of a fetch Request that a sofa handler reads. The handler looks for its arguments in `params` first, so that it needs no
 * complete Request.
 */
interface SofaRequest {
  url: '';
  method: string;
  body: null;
  params: Arguments;
}
type SofaHandler = (request: SofaRequest, call: Call) => Promise<unknown>;

interface Execution {
  document: DocumentNode;
  variableValues: Arguments;
  contextValue: Call;
}

/** Makes sofa's handler end without a Response; the outcome is in the state of the call. */
const withoutResponse = { errors: [] };

/**
 * Gives the type an empty syntax node. Sofa looks for descriptions in the syntax node of the type. If there is none, sofa prints and parses
 * the whole type for each argument of each route, which takes a third of the start time. Sofa's descriptions are not used, because the
 * OpenAPI document has its own.
 */
function withoutDescriptions(type: GraphQLObjectType): void {
  type.astNode = { kind: Kind.OBJECT_TYPE_DEFINITION, name: { kind: Kind.NAME, value: type.name }, fields: [] };
}

export function createSofa(full: GraphQLSchema, { schema, routes }: RestRoutes, basePath: string): Sofa {
  const pathOf = ({ template }: RestRoute) => template.replaceAll(/\{(\w+)\}/g, ':$1');
  const operations = new Map<string, Operation>();
  for (const type of [schema.getQueryType(), schema.getMutationType()]) if (type) withoutDescriptions(type);
  const sofa = useSofa({
    basePath,
    schema,
    ignore: Object.keys(schema.getTypeMap()), // Sofa would otherwise reduce these types to their ids.
    depthLimit: 2, // Maximum nesting of a type within itself.
    routes: Object.fromEntries(
      routes.map((route) => [`${route.kind}.${route.name}`, { method: route.method, path: pathOf(route) }]),
    ),
    openAPI: { openapi: '3.1.0' } as never,
    swaggerUI: { endpoint: false as never },
    context: (call: unknown) => call as never,
    execute: (async ({ document, variableValues, contextValue: call }: Execution) => {
      const { name, field } = call.route;
      const operation = operations.get(name) ?? createOperation(full, field, document);
      operations.set(name, operation);
      call.outcome = await operation(call.caller, call.requestId, variableValues);
      return withoutResponse;
    }) as never,
    errorHandler: (errors) => {
      if (errors.length > 0) throw errors[0];
      return undefined as never;
    },
  });

  return {
    skeleton: sofa.openAPIDocument as never,
    callOf(route) {
      const handler = sofa.__routes.find(({ path, method }) => path === pathOf(route) && method === route.method)!
        .handler as unknown as SofaHandler;
      return async (caller, requestId, params) => {
        const call: Call = { route, caller, requestId };
        await handler({ url: '', method: route.method, body: null, params }, call);
        return call.outcome!;
      };
    },
  };
}
