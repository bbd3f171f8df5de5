// Generates the module with the operations of the typed client. It has all operations of the OpenAPI document that accept a token, and all
// root fields of the GraphQL schema that have no REST route. `npm run client:types` writes the module; `npm run schema:check` fails if the
// stored module is outdated.
import { fileURLToPath } from 'node:url';
import {
  type GraphQLArgument,
  type GraphQLSchema,
  getNamedType,
  isIntrospectionType,
  isObjectType,
  isRequiredArgument,
  OperationTypeNode,
  print,
  stripIgnoredCharacters,
} from 'graphql';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { errorsPath, problemCodes } from '#foundation/problem-codes.ts';
import { exposureOf } from '#graph/exposure.ts';
import { requestRecords } from '#graph/input.ts';
import { argumentSchema, bodySchema } from '#graph/projection/arguments.ts';
import { describedRecord, type Json, typeSchema, withDescription } from '#graph/projection/json-schema.ts';
import { documentOf, type RootField } from '#graph/projection/operation.ts';
import { schema } from '#schema.ts';
import { clientTimes } from './client-times.ts';

/** The generated file. */
export const clientApiFile = fileURLToPath(new URL('../clients/typescript/src/api.ts', import.meta.url));

const introduction = `// The operations of the API and their records, generated from the OpenAPI document and the GraphQL schema by
// \`npm run client:types\`. Not edited.
`;

interface Operation {
  name: string;
  description: string;
  /** Names of the TypeScript types of the input. */
  inputs: string[];
  output: string;
  /** The request: `POST /projects`, or the GraphQL document. */
  sent: string;
}

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description?: string;
  schema: Json;
}

/** The text of the module. */
export async function clientApi(document: Json): Promise<string> {
  const { Error: ErrorBody, ...schemas } = (document.components as Json).schemas as Record<string, Json>;
  const definitions: Record<string, Json> = { ...schemas, ErrorBody: ErrorBody! };
  const rest = restOperations(document, definitions);
  const graph = graphOperations(definitions);
  const calls = [...rest, ...graph.calls];
  const used = referencedFrom([...calls, ...graph.streams], definitions);
  const records = await compile(
    {
      definitions: Object.fromEntries(used.map((name) => [name, local(definitions[name])])),
      additionalProperties: false,
    } as JSONSchema,
    'Records',
    {
      additionalProperties: false,
      bannerComment: '',
      format: true,
      ignoreMinAndMaxItems: true,
      strictIndexSignatures: true,
      style: { singleQuote: true, printWidth: 120 },
      unreachableDefinitions: true,
    },
  );
  return [
    introduction,
    `${tidy(records)}\n`,
    errorCodes(),
    errorStatuses(),
    operationTypes('Operations', 'Each operation with its input and output.', calls),
    operationTypes('Subscriptions', 'Each subscription with its input and the type of its events.', graph.streams),
    table('routes', 'Method and path of the operations that REST serves.', rest),
    table('documents', 'The documents of the operations that only GraphQL has.', [...graph.calls, ...graph.streams]),
    listings(calls, definitions),
    clientTimes(),
  ].join('\n');
}

/** Removes the generator's notes, and puts short comments on one line. */
const tidy = (records: string): string =>
  records
    .replace(/^export interface Records \{\s*\}\n/m, '')
    .replace(
      / \*\n \* This interface was referenced by `Records`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g,
      '',
    )
    .replace(/\/\*\*\n *\* ([^\n]*)\n *\*\//g, '/** $1 */')
    .trim();

function restOperations(document: Json, definitions: Record<string, Json>): Operation[] {
  return Object.entries(document.paths as Record<string, Record<string, Json>>).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const {
        operationId,
        description,
        parameters = [],
        requestBody,
        responses,
        security,
      } = operation as {
        operationId: string;
        description: string;
        parameters?: Parameter[];
        requestBody?: Json;
        responses: Record<string, Json>;
        security: Json[];
      };
      if (!security.some((scheme) => 'bearer' in scheme)) return [];
      const body = requestBody && referenced(requestBody);
      const success = Object.entries(responses).find(([status]) => status.startsWith('2'))!;
      const own = parameters.filter((one) => one.in !== 'header');
      if (body && own.some((one) => one.in === 'query')) throw new Error(`${operationId} takes a query and a body`);
      return [
        {
          name: operationId,
          description,
          inputs: [...parametersOf(operationId, own, definitions), ...(body ? [body] : [])],
          output: referenced(success[1])!,
          sent: `${method.toUpperCase()} ${path}`,
        },
      ];
    }),
  );
}

/** Root fields without a route, except those for people with a session and for runtimes. */
function graphOperations(definitions: Record<string, Json>): { calls: Operation[]; streams: Operation[] } {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isObjectType(type) && !isIntrospectionType(type)) definitions[type.name] ??= describedRecord(type);
  }
  const of = (kind: OperationTypeNode): Operation[] =>
    Object.values(schema.getRootType(kind)!.getFields())
      .filter((field) => {
        const { rest, scope } = exposureOf(field);
        return !rest && scope !== 'person' && scope !== 'runtime:report';
      })
      .map((field) => graphOperation(schema, kind, field, definitions));
  return {
    calls: [...of(OperationTypeNode.QUERY), ...of(OperationTypeNode.MUTATION)],
    streams: of(OperationTypeNode.SUBSCRIPTION),
  };
}

function graphOperation(
  schema: GraphQLSchema,
  kind: OperationTypeNode,
  field: RootField,
  definitions: Record<string, Json>,
): Operation {
  const schemaOf = (argument: GraphQLArgument): Json => {
    const record = requestRecords.get(getNamedType(argument.type).name);
    return record ? bodySchema(record, schema) : argumentSchema(argument);
  };
  const own = field.args.map((argument) => ({
    name: argument.name,
    in: 'query',
    required: isRequiredArgument(argument),
    ...(argument.description && { description: argument.description }),
    schema: schemaOf(argument),
  }));
  const { $ref } = typeSchema(field.type);
  if (typeof $ref !== 'string') throw new Error(`${field.name} answers no record`);
  return {
    name: field.name,
    description: `${field.description} Requires the scope \`${exposureOf(field).scope}\`.`,
    inputs: parametersOf(field.name, own, definitions),
    output: $ref.split('/').at(-1)!,
    sent: stripIgnoredCharacters(print(documentOf(kind, field.name, field))),
  };
}

/** Defines the record of the parameters, if there are any. */
function parametersOf(operation: string, parameters: Parameter[], definitions: Record<string, Json>): string[] {
  if (parameters.length === 0) return [];
  const name = `${operation[0]!.toUpperCase()}${operation.slice(1)}Parameters`;
  definitions[name] = {
    type: 'object',
    description: `The parameters of \`${operation}\`.`,
    properties: Object.fromEntries(parameters.map((one) => [one.name, withDescription(one.schema, one.description)])),
    required: parameters.filter(({ required }) => required).map((one) => one.name),
  };
  return [name];
}

/** The record in the body of a request or response. */
function referenced(part: Json): string | undefined {
  const content = part.content as Record<string, { schema: Json }> | undefined;
  return (content?.['application/json']?.schema.$ref as string | undefined)?.split('/').at(-1);
}

/** Names of all records that the operations and the webhook requests use. */
function referencedFrom(operations: Operation[], definitions: Record<string, Json>): string[] {
  const found = new Set<string>();
  const visit = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    for (const [, next] of JSON.stringify(definitions[name]).matchAll(/"#\/components\/schemas\/(\w+)"/g)) visit(next!);
  };
  for (const name of [
    'ErrorBody',
    'WebhookMessage',
    ...operations.flatMap(({ inputs, output }) => [...inputs, output]),
  ])
    visit(name);
  return [...found].sort();
}

/** Rewrites references into the form that the type generator expects. */
function local(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(local);
  if (value === null || typeof value !== 'object') return value;
  const { $ref } = value as Json;
  if (typeof $ref === 'string') return { $ref: $ref.replace('#/components/schemas/', '#/definitions/') };
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, local(one)]));
}

/** The HTTP status of each error code. The client chooses the class of an error by it, because GraphQL answers with 200. */
const errorStatuses = (): string =>
  `/** The HTTP status of each code. In GraphQL, the response with the code has the status 200. */\nexport const errorStatuses = {\n${Object.entries(
    problemCodes,
  )
    .map(([code, { status }]) => `  ${code}: ${status},`)
    .join('\n')}\n} as const satisfies Record<ErrorCode, number>;\n`;

const errorCodes = (): string =>
  `/** The codes of errors; \`${errorsPath}\` explains each. */\nexport type ErrorCode =\n${Object.keys(problemCodes)
    .map((code) => `  | '${code}'`)
    .join('\n')};\n`;

function operationTypes(name: string, comment: string, operations: Operation[]): string {
  const members = operations.map(
    ({ name, description, inputs, output }) =>
      `  /** ${description} */\n  ${name}: { input: ${inputs.join(' & ') || '{}'}; output: ${output} };`,
  );
  return `/** ${comment} */\nexport interface ${name} {\n${members.join('\n')}\n}\n`;
}

function table(name: string, comment: string, operations: Operation[]): string {
  const members = operations.map(({ name, sent }) => `  ${name}: '${sent}',`);
  return `/** ${comment} */\nexport const ${name} = {\n${members.join('\n')}\n} as const;\n`;
}

/** Operations that answer with a page, each with the member that holds the records. */
function listings(operations: Operation[], definitions: Record<string, Json>): string {
  const members = operations.flatMap(({ name, inputs, output }) => {
    const page = definitions[output]!.properties as Record<string, Json>;
    const takesCursor = inputs.some((input) => 'cursor' in (definitions[input]!.properties as Json));
    const records = Object.entries(page).filter(([, { type }]) => type === 'array');
    return takesCursor && 'nextCursor' in page ? [`  ${name}: '${records[0]![0]}',`] : [];
  });
  return `/** The member of a page that holds its records, for each operation that returns a page. */\nexport const listings = {\n${members.join('\n')}\n} as const;\n`;
}
