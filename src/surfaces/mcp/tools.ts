// Every root field with a `tool`, as a tool of that name. Calling it runs the field through the graph, behind the same gate; the
// documents are of our own making, compiled once each (MCP 2025-11-25, Server Features: Tools).
import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server';
import { type GraphQLField, type GraphQLSchema, getNullableType, isObjectType, parse } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { admit, type Rule } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import type { Problem } from '#foundation/problem.ts';
import { compilePrune } from '#graph/absent.ts';
import { createContext } from '#graph/context.ts';
import { exposureOf, type ToolExposure } from '#graph/exposure.ts';
import { causeOf } from '#graph/failures.ts';
import { argumentsOf } from './arguments.ts';
import { type Json, shapeOf } from './shape.ts';

type Kind = 'query' | 'mutation';

export interface Tool {
  rule: Rule;
  /** What `tools/list` says of it. */
  listed: ListedTool;
  /** The record that REST would answer. Throws the problem, or what broke. */
  call(caller: Caller, requestId: string, given: Json): Promise<unknown>;
}

/** By name, in the order of the schema: queries first. */
export function toolsOf(schema: GraphQLSchema): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  for (const [kind, type] of [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
  ] as const) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      const { tool } = exposureOf(field);
      if (!tool) continue;
      if (tools.has(tool.name)) throw new Error(`two fields are the tool ${tool.name}`);
      tools.set(tool.name, toolOf(schema, kind, tool, field));
    }
  }
  return tools;
}

function toolOf(
  schema: GraphQLSchema,
  kind: Kind,
  declared: ToolExposure,
  field: GraphQLField<unknown, unknown>,
): Tool {
  const { name } = declared;
  const { scope } = exposureOf(field);
  const shape = shapeOf(field.type);
  const prune = compilePrune(field.type);
  const taken = argumentsOf(field);
  const variables = field.args.map((one) => `$${one.name}: ${one.type}`).join(', ');
  const passed = field.args.map((one) => `${one.name}: $${one.name}`).join(', ');
  const list = (text: string) => (text ? `(${text})` : '');
  const text = `${kind} ${name}${list(variables)} { ${field.name}${list(passed)}${shape.selection} }`;
  let compiled: CompiledQuery | undefined;

  function compile(): CompiledQuery {
    const made = compileQuery(schema, parse(text), name);
    if (!isCompiledQuery(made)) throw new Error(`${text} does not compile: ${JSON.stringify(made)}`);
    return made;
  }

  return {
    rule: scope,
    listed: {
      name,
      ...(field.description && { description: field.description }),
      inputSchema: taken.json as ListedTool['inputSchema'],
      ...(isRecord(field) && { outputSchema: resultSchema(shape.schema) }),
      annotations: hints(kind, declared),
    },
    async call(caller, requestId, given) {
      // In this order, as everywhere: may they (403), only then what they sent (400).
      admit(caller, scope);
      const values = taken.read(given);
      compiled ??= compile();
      const context = createContext(caller, requestId);
      const { data, errors } = await compiled.query(undefined, context, values);
      if (errors) throw causeOf(errors);
      const value: unknown = data![field.name];
      prune?.(value);
      // What REST says in a `Link` header.
      return context.nextCursor === null ? value : { ...(value as Json), nextCursor: context.nextCursor };
    },
  };
}

const isRecord = ({ type }: GraphQLField<unknown, unknown>): boolean =>
  type !== getNullableType(type) && isObjectType(getNullableType(type));

/** As the field declares it; all four are said, because a client takes the worst for what is not. */
const hints = (kind: Kind, { destructive, idempotent, openWorld }: ToolExposure): ListedTool['annotations'] => ({
  readOnlyHint: kind === 'query',
  destructiveHint: destructive ?? false,
  idempotentHint: kind === 'query' || (idempotent ?? false),
  openWorldHint: openWorld ?? false,
});

const problemSchema: Json = {
  type: 'object',
  description: 'What went wrong, with `isError`.',
  properties: {
    category: { type: 'string' },
    title: { type: 'string' },
    description: { type: 'string' },
    retryable: { type: 'boolean' },
    code: { type: 'string' },
  },
  required: ['category', 'title', 'description', 'retryable'],
};

/** Clients hold the structured content of errors against the schema too, so it knows both. */
const resultSchema = (record: Json): NonNullable<ListedTool['outputSchema']> => ({
  type: 'object',
  anyOf: [record, problemSchema],
});

/** The record as text for models, as structure for programs. */
export function answered(value: unknown): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text: JSON.stringify(value) }];
  const isStructure = value !== null && typeof value === 'object' && !Array.isArray(value);
  return isStructure ? { content, structuredContent: value as Json } : { content };
}

export const refused = ({ body }: Problem): CallToolResult => ({ ...answered(body), isError: true });
