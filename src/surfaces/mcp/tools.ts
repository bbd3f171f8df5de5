// Every root field with a `tool`, as a tool of that name. A call executes the field through the graph, with the same
// authorization (MCP 2025-11-25, Server Features: Tools).
import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server';
import { type GraphQLSchema, getNullableType, isObjectType, OperationTypeNode } from 'graphql';
import { admit, type Rule } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import type { Problem } from '#foundation/problem.ts';
import { exposureOf, type ToolExposure } from '#graph/exposure.ts';
import { flatArguments } from '#graph/projection/arguments.ts';
import { type Json, type RecordWriter, recordSchema, typeSchema } from '#graph/projection/json-schema.ts';
import { createOperation, documentOf, type RootField } from '#graph/projection/operation.ts';
import { perSchema } from '#graph/projection/per-schema.ts';

export interface Tool {
  rule: Rule;
  startsRun: boolean;
  /** The entry of the tool in `tools/list`. */
  listed: ListedTool;
  /**
   * Calls the tool. Returns the same record as REST, plus the members that REST omits.
   * @throws the problem, or an internal error
   */
  call(caller: Caller, requestId: string, values: Json): Promise<unknown>;
}

/** Tools by name, in the order of the schema: queries first. */
export const toolsOf = perSchema((schema): ReadonlyMap<string, Tool> => {
  const tools = new Map<string, Tool>();
  for (const [kind, type] of [
    [OperationTypeNode.QUERY, schema.getQueryType()],
    [OperationTypeNode.MUTATION, schema.getMutationType()],
  ] as const) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      const { tool } = exposureOf(field);
      if (!tool) continue;
      if (tools.has(tool.name)) throw new Error(`two fields declare the tool ${tool.name}`);
      tools.set(tool.name, toolOf(schema, kind, tool, field));
    }
  }
  return tools;
});

function toolOf(schema: GraphQLSchema, kind: OperationTypeNode, declared: ToolExposure, field: RootField): Tool {
  const { name } = declared;
  const { scope } = exposureOf(field);
  const tool = flatArguments(field);
  const operation = createOperation(schema, field, documentOf(kind, name, field));
  return {
    rule: scope,
    startsRun: declared.startsRun ?? false,
    listed: {
      name,
      ...(field.description && { description: field.description }),
      inputSchema: tool.json as ListedTool['inputSchema'],
      ...(isRecord(field) && { outputSchema: resultSchema(typeSchema(field.type, inFull)) }),
      annotations: hints(kind, declared),
    },
    async call(caller, requestId, values) {
      // Authorization (403) comes before validation (400), as on every surface.
      admit(caller, scope, field.name);
      const { value, nextCursor } = await operation(caller, requestId, tool.read(values));
      // The record contains the cursor of the next page, which REST sends in a `Link` header.
      return nextCursor === null ? value : { ...(value as Json), nextCursor };
    },
  };
}

/** Schema of a record with all nested records inlined. */
const inFull: RecordWriter = (type) => recordSchema(type, inFull);

const isRecord = ({ type }: RootField): boolean =>
  type !== getNullableType(type) && isObjectType(getNullableType(type));

/** The annotations that the field declares; all four are set, because clients assume the worst for an absent one. */
const hints = (
  kind: OperationTypeNode,
  { destructive, idempotent, openWorld }: ToolExposure,
): ListedTool['annotations'] => ({
  readOnlyHint: kind === 'query',
  destructiveHint: destructive ?? false,
  idempotentHint: kind === 'query' || (idempotent ?? false),
  openWorldHint: openWorld ?? false,
});

const problemSchema: Json = {
  type: 'object',
  description: 'The error, with `isError`.',
  properties: {
    category: { type: 'string' },
    title: { type: 'string' },
    description: { type: 'string' },
    retryable: { type: 'boolean' },
    code: { type: 'string' },
    fields: {
      type: 'array',
      description: 'The errors of single arguments.',
      items: {
        type: 'object',
        properties: { path: { type: 'string' }, message: { type: 'string' } },
        required: ['path', 'message'],
      },
    },
    missingScopes: { type: 'array', items: { type: 'string' } },
    retryAfterSeconds: { type: 'integer' },
    conflictingProjectId: { type: 'string' },
  },
  required: ['category', 'title', 'description', 'retryable'],
};

/** Schema of a result: the record or the problem, because clients validate the structured content of errors too. */
const resultSchema = (record: Json): NonNullable<ListedTool['outputSchema']> => ({
  type: 'object',
  anyOf: [record, problemSchema],
});

/** The result of a tool: the record as text for models, and as structured content for programs. */
export function answered(value: unknown): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text: JSON.stringify(value) }];
  const isStructure = value !== null && typeof value === 'object' && !Array.isArray(value);
  return isStructure ? { content, structuredContent: value as Json } : { content };
}

export const refusedResult = ({ details }: Problem): CallToolResult => ({ ...answered(details), isError: true });
