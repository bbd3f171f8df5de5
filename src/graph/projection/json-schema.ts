// GraphQL types as JSON Schema 2020-12, as returned by REST and MCP: records without their relations.
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { isAbsentWhenNull, isGraphOnly } from '../exposure.ts';

export type Json = Record<string, unknown>;

/** Writes the record that a field returns: in full, or as a reference. */
export type RecordWriter = (type: GraphQLObjectType) => Json;

export const recordReference: RecordWriter = ({ name }) => ({ $ref: `#/components/schemas/${name}` });

const builtIn: Record<string, Json> = {
  String: { type: 'string' },
  ID: { type: 'string' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
};

/** The schema of a type, including null for a nullable type. */
export function typeSchema(type: GraphQLType, record: RecordWriter = recordReference): Json {
  const schema = nonNullSchema(type, record);
  if (isNonNullType(type)) return schema;
  if (schema.$ref) return { anyOf: [schema, { type: 'null' }] };
  // A schema without a type allows any JSON value, including null.
  if (schema.type === undefined) return schema;
  const values = schema.enum as unknown[] | undefined;
  return { ...schema, type: [schema.type, 'null'], ...(values && { enum: [...values, null] }) };
}

/** The schema of a type without null. */
export function nonNullSchema(type: GraphQLType, record: RecordWriter = recordReference): Json {
  if (isNonNullType(type)) return nonNullSchema(type.ofType, record);
  if (isListType(type)) return { type: 'array', items: typeSchema(type.ofType, record) };
  if (isEnumType(type)) {
    return withDescription({ type: 'string', enum: type.getValues().map(({ name }) => name) }, type.description);
  }
  if (isObjectType(type)) return record(type);
  if (!isScalarType(type)) throw new Error(`${type}: only records, lists, enums and scalars have a JSON Schema`);
  return builtIn[type.name] ?? withDescription(type.extensions.jsonSchema as Json, type.description);
}

/** A record with its properties; `describe` returns the description of a property. */
export function recordSchema(
  type: GraphQLObjectType,
  record: RecordWriter,
  describe: (field: GraphQLField<unknown, unknown>) => string | null | undefined = () => null,
): Json {
  const properties: Json = {};
  const required: string[] = [];
  for (const field of answeredFields(type)) {
    const isOptional = isAbsentWhenNull(field);
    const schema = (isOptional ? nonNullSchema : typeSchema)(field.type, record);
    properties[field.name] = withDescription(schema, describe(field));
    if (!isOptional) required.push(field.name);
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/**
 * The JSON Schema of a record, with a description of the record and of each property. A property whose field has no description gets the
 * description of the field's type.
 */
export const describedRecord = (type: GraphQLObjectType): Json =>
  withDescription(
    recordSchema(type, recordReference, (field) => field.description ?? getNamedType(field.type).description),
    type.description,
  );

/** The selection of all fields of a type that REST and MCP return, such as ` { id name }`; empty for a leaf. */
export function selectionOfType(type: GraphQLOutputType): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return '';
  return ` { ${answeredFields(named)
    .map((field) => field.name + selectionOfType(field.type))
    .join(' ')} }`;
}

const answeredFields = (type: GraphQLObjectType) =>
  Object.values(type.getFields()).filter((field) => !isGraphOnly(field));

export const withDescription = (schema: Json, description: string | null | undefined): Json =>
  description ? { ...schema, description } : schema;

/** Replaces references by their targets: many clients do not follow them. */
export function inlineReferences(schema: unknown, resolve: (name: string) => Json): unknown {
  if (Array.isArray(schema)) return schema.map((one) => inlineReferences(one, resolve));
  if (schema === null || typeof schema !== 'object') return schema;
  const { $ref, ...rest } = schema as Json;
  const members = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, inlineReferences(value, resolve)]),
  );
  if (typeof $ref !== 'string') return members;
  return { ...(inlineReferences(resolve($ref.split('/').at(-1)!), resolve) as Json), ...members };
}
