// GraphQL types and request records as JSON Schema 2020-12.
import {
  type GraphQLField,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { isAbsentWhenNull } from '#graph/exposure.ts';
import { errorSchema, type Json } from './openapi-errors.ts';
import type { Projection } from './projection.ts';

const builtIn: Record<string, Json> = {
  String: { type: 'string' },
  ID: { type: 'string' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
};

/** The schema of a type as if it could not be null. */
export function bareSchema(type: GraphQLType): Json {
  if (isNonNullType(type)) return bareSchema(type.ofType);
  if (isListType(type)) return { type: 'array', items: nullableSchema(type.ofType) };
  if (isScalarType(type)) return { ...(builtIn[type.name] ?? (type.extensions.jsonSchema as Json | undefined) ?? {}) };
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map((value) => value.name) };
  return { $ref: `#/components/schemas/${getNamedType(type).name}` };
}

export function nullableSchema(type: GraphQLType): Json {
  const schema = bareSchema(type);
  if (isNonNullType(type) || Object.keys(schema).length === 0) return schema;
  if (schema.$ref) return { anyOf: [schema, { type: 'null' }] };
  const values = schema.enum as unknown[] | undefined;
  return { ...schema, type: [schema.type, 'null'], ...(values && { enum: [...values, null] }) };
}

const described = (schema: Json, description: string | null | undefined): Json =>
  description ? { ...schema, description } : schema;

function objectSchema(fields: Record<string, GraphQLField<unknown, unknown>>, description?: string | null): Json {
  const properties: Json = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const absent = isAbsentWhenNull(field);
    properties[name] = described(absent ? bareSchema(field.type) : nullableSchema(field.type), field.description);
    if (!absent) required.push(name);
  }
  return described({ type: 'object', properties, ...(required.length > 0 && { required }) }, description);
}

/** Zod names word sets by `$ref` into its own definitions: here they stand where they are used. */
function inlined(schema: unknown, words: (name: string) => Json): unknown {
  if (Array.isArray(schema)) return schema.map((one) => inlined(one, words));
  if (schema === null || typeof schema !== 'object') return schema;
  const { $ref, ...rest } = schema as Json;
  const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inlined(value, words)]));
  return typeof $ref === 'string' ? { ...words($ref.split('/').at(-1)!), ...own } : own;
}

/** Every record and request record that the projection can speak of, and `Error`. */
export function recordSchemas({ schema, routes }: Projection): Json {
  const schemas: Json = { Error: errorSchema };
  const words = (name: string): Json => bareSchema(schema.getType(name)!);
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || !isObjectType(type)) continue;
    if (type === schema.getQueryType() || type === schema.getMutationType()) continue;
    schemas[type.name] = objectSchema(type.getFields(), type.description);
  }
  for (const { body } of routes) {
    if (body) schemas[body.name] = inlined(body.json, words);
  }
  return schemas;
}
