// The routes of the REST API: the root fields that declare one, and the schema for sofa, which contains nothing else. With the whole
// schema, sofa would serve every root field, follow relations into bodies, and serve `POST /webhook` for subscriptions.
import { filterSchema, MapperKind, mapSchema, pruneSchema } from '@graphql-tools/utils';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isNonNullType,
  isRequiredArgument,
} from 'graphql';
import { exposureOf, isBeyondRest, type Method, type RootExposure } from '#graph/exposure.ts';
import { type RequestRecord, requestRecords } from '#graph/input.ts';
import { bodyArgument, recordOfArguments } from '#graph/projection/arguments.ts';

export interface RestRoute {
  method: Method;
  /** The template in the contract's form: `/projects/{projectId}`. */
  template: string;
  kind: 'Query' | 'Mutation';
  name: string;
  field: GraphQLField<unknown, unknown>;
  exposure: RootExposure;
  status: number;
  /** Names of the path parameters, in order. */
  parameters: string[];
  /** Arguments that are sent in the query string. */
  query: readonly GraphQLArgument[];
  /**
   * The record that a request has as its body; absent for a route without a body. For a route with the argument `input`, it is the record
   * of this argument. For any other route, its fields are the arguments that are not in the path.
   */
  body?: RequestRecord & { name: string; required: boolean; isInput: boolean };
}

/** Whether the route is a GET of one record, whose response has an ETag. */
export const isConditional = ({ method, template }: RestRoute): boolean => method === 'GET' && template.endsWith('}');

export interface RestRoutes {
  schema: GraphQLSchema;
  routes: RestRoute[];
}

export function routesOf(full: GraphQLSchema): RestRoutes {
  const schema = pruneSchema(
    filterSchema({
      schema: mapSchema(full, { [MapperKind.SUBSCRIPTION]: () => null }),
      rootFieldFilter: (operation, name) => {
        const type =
          operation === 'Query' ? full.getQueryType() : operation === 'Mutation' ? full.getMutationType() : null;
        const field = type?.getFields()[name];
        return field !== undefined && exposureOf(field).rest !== undefined;
      },
      argumentFilter: (_type, name, argument) => {
        const field = full.getQueryType()?.getFields()[name ?? ''] ?? full.getMutationType()?.getFields()[name ?? ''];
        return !(field && exposureOf(field).rest?.without?.includes(argument ?? ''));
      },
      objectFieldFilter: (_type, _name, field) => !isBeyondRest(field as { extensions: object }),
    }),
  );
  const fieldsOf = (kind: 'Query' | 'Mutation') =>
    Object.values((kind === 'Query' ? schema.getQueryType() : schema.getMutationType())?.getFields() ?? {}).map(
      (field) => routeOf(kind, field),
    );
  return { schema, routes: [...fieldsOf('Query'), ...fieldsOf('Mutation')] };
}

function routeOf(kind: 'Query' | 'Mutation', field: GraphQLField<unknown, unknown>): RestRoute {
  const exposure = exposureOf(field);
  const rest = exposure.rest!;
  const [method, template] = rest.route.split(' ') as [Method, string];
  const parameters = [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  for (const name of parameters) {
    if (!field.args.some((argument) => argument.name === name))
      throw new Error(`The field for ${rest.route} has no argument ${name}.`);
  }
  const input = field.args.find((argument) => argument.name === bodyArgument);
  const others = field.args.filter(({ name }) => name !== bodyArgument && !parameters.includes(name));
  const record = input
    ? bodyOf(getNamedType(input.type), isNonNullType(input.type))
    : rest.body && {
        ...recordOfArguments(others, `The body of \`${rest.route}\`.`),
        name: rest.body,
        required: others.some(isRequiredArgument),
        isInput: false,
      };
  return {
    method,
    template,
    kind,
    name: field.name,
    field,
    exposure,
    status: rest.status ?? 200,
    parameters,
    query: rest.body ? [] : others,
    ...(record && { body: record }),
  };
}

/** The request record without the members that REST omits. */
function withinRest({ zod, json, beyondRest }: RequestRecord): RequestRecord {
  if (beyondRest.length === 0) return { zod, json, beyondRest };
  const isKnown = ([name]: [string, unknown]) => !beyondRest.includes(name);
  const properties = Object.fromEntries(Object.entries(json.properties!).filter(isKnown));
  return {
    zod: zod.omit(Object.fromEntries(beyondRest.map((name) => [name, true])) as object),
    json: { ...json, properties },
    beyondRest,
  };
}

function bodyOf({ name }: GraphQLNamedType, required: boolean) {
  const record = requestRecords.get(name);
  if (!record) throw new Error(`${name} is not a request record`);
  return { ...withinRest(record), name, required, isInput: true };
}
