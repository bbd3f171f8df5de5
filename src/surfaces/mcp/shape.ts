// What a tool shows of a field's type: the records without their relations, as REST shows them. One walk gives the selection of
// the document and the JSON Schema of the result.
import {
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { isAbsentWhenNull, isLink } from '#graph/exposure.ts';

export type Json = Record<string, unknown>;

export interface Shape {
  /** ` { id name }`, or nothing for a leaf. */
  selection: string;
  schema: Json;
}

const builtIn: Record<string, Json> = {
  String: { type: 'string' },
  ID: { type: 'string' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
};

export function shapeOf(type: GraphQLOutputType): Shape {
  if (isNonNullType(type)) return bareShape(type.ofType);
  const shape = bareShape(type);
  return { ...shape, schema: orNull(shape.schema) };
}

/** The shape of a type as if it could not be null. */
function bareShape(type: GraphQLOutputType): Shape {
  if (isNonNullType(type)) return bareShape(type.ofType);
  if (isListType(type)) {
    const { selection, schema } = shapeOf(type.ofType);
    return { selection, schema: { type: 'array', items: schema } };
  }
  if (isObjectType(type)) return recordShape(type);
  if (isEnumType(type)) {
    return { selection: '', schema: { type: 'string', enum: type.getValues().map(({ name }) => name) } };
  }
  if (isScalarType(type)) return { selection: '', schema: builtIn[type.name] ?? described(type) };
  throw new Error(`${type}: a tool shows records, lists and words`);
}

/** A scalar of ours says what its values mean: of a time its unit. */
const described = ({ extensions, description }: GraphQLScalarType): Json => ({
  ...(extensions.jsonSchema as Json),
  ...(description && { description }),
});

function orNull(schema: Json): Json {
  if (schema.type === undefined) return schema;
  const values = schema.enum as unknown[] | undefined;
  return { ...schema, type: [schema.type, 'null'], ...(values && { enum: [...values, null] }) };
}

function recordShape(type: GraphQLObjectType): Shape {
  const properties: Json = {};
  const required: string[] = [];
  const selections: string[] = [];
  for (const [name, field] of Object.entries(type.getFields())) {
    if (isLink(field)) continue;
    const absent = isAbsentWhenNull(field);
    const { selection, schema } = absent ? bareShape(field.type) : shapeOf(field.type);
    properties[name] = schema;
    selections.push(name + selection);
    if (!absent) required.push(name);
  }
  return { selection: ` { ${selections.join(' ')} }`, schema: { type: 'object', properties, required } };
}
