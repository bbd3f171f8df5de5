// Request records: one zod object, with the contract's name, defines the GraphQL input type, its validation, the check of the REST body,
// and the body in the OpenAPI document.
import type { InputRef } from '@pothos/core';
import { z } from 'zod';
import { text } from '#limits.ts';
import { builder } from './builder.ts';
import { epochMsInput } from './scalars.ts';
import { boundedText } from './validation.ts';

interface JsonSchema {
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  description?: string;
  default?: unknown;
}

/** A request record of the contract: REST validates bodies with it, and OpenAPI includes it. */
export interface RequestRecord {
  zod: z.ZodObject;
  json: JsonSchema;
  /** Members that REST omits, because the contract's record lacks them. */
  beyondRest: readonly string[];
}

export const requestRecords = new Map<string, RequestRecord>();

/** Declares a request record and its GraphQL input type. Absent and null differ; unknown members of a REST body are ignored. */
export function request<S extends z.ZodObject>(
  name: string,
  zod: S,
  { beyondRest = [] }: Partial<Pick<RequestRecord, 'beyondRest'>> = {},
): InputRef<z.output<S>> {
  const { $defs, ...json } = z.toJSONSchema(zod, { io: 'input', target: 'draft-2020-12' }) as JsonSchema;
  delete (json as { $schema?: string }).$schema;
  requestRecords.set(name, { zod, json, beyondRest });
  return inputType(name, json, zod) as unknown as InputRef<z.output<S>>;
}

function inputType(name: string, json: JsonSchema, zod?: z.ZodObject) {
  const required = new Set(json.required);
  return builder.inputType(name, {
    ...(zod && { validate: { schema: zod as never } }),
    ...(json.description && { description: json.description }),
    fields: (t) =>
      Object.fromEntries(
        Object.entries(json.properties ?? {}).map(([key, property]) => [
          key,
          t.field({
            type: typeOf(`${name}${key[0]!.toUpperCase()}${key.slice(1)}`, property) as never,
            required: required.has(key) as never,
            ...(property.description && { description: property.description }),
          }),
        ]),
      ) as never,
  });
}

const scalars: Record<string, string> = { string: 'String', integer: 'Int', number: 'Float', boolean: 'Boolean' };

function typeOf(name: string, json: JsonSchema): unknown {
  const notNull = json.anyOf?.filter((option) => option.type !== 'null') ?? [];
  if (notNull.length === 1) return typeOf(name, notNull[0]!);
  // Only an enum has a name (`.meta({ id })`), so each reference in the JSON Schema names an enum. Input and output use the same type.
  if (json.$ref) return json.$ref.split('/').at(-1);
  if (json.type === 'array') return [typeOf(name, json.items ?? {})];
  if (json.type === 'object' && json.properties) return inputType(name, json);
  return scalars[[json.type].flat().find((type) => type !== 'null') ?? ''] ?? 'Json';
}

/** A path parameter: at least one character (docs/contract.md#errors). */
export const pathId = {
  required: true,
  description: 'An unknown id, or an id of another organization, returns 404.',
  validate: { schema: boundedText(text.pathId) },
} as const;
/** The condition `ifUpdatedAt` of an update in the graph and in tools; the contract's routes have none. */
export const ifUpdatedAt = {
  description:
    'The `updatedAt` of the record as the caller read it: if the record has changed since, the response is a 409 and nothing changes.',
  validate: { schema: epochMsInput },
} as const;
/** An optional filter of a list. */
export const filter = {
  description: 'Only records with this value in the field of the same name.',
  validate: { schema: boundedText(text.filter) },
} as const;
