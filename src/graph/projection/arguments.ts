// Describes and validates the arguments of a root field. In REST, each argument has its own JSON Schema, and so does the body. An MCP tool
// takes a single object, which contains the members of the request record beside the other arguments.
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
} from 'graphql';
import { z } from 'zod';
import { invalid } from '#foundation/problem.ts';
import { type RequestRecord, requestRecords } from '../input.ts';
import { fieldErrorsOf } from '../validation.ts';
import { inlineReferences, type Json, nonNullSchema } from './json-schema.ts';

export interface FlatArguments {
  json: Json;
  /** Returns the variables of the operation. @throws 400 naming each invalid argument and its requirement */
  read(values: unknown): Record<string, unknown>;
}

/** Name of the argument that takes the request record, which is the body in REST. */
export const bodyArgument = 'input';

/** The arguments of the field other than the body. */
const ownArguments = (field: GraphQLField<unknown, unknown>) => field.args.filter(({ name }) => name !== bodyArgument);

const shapeOf = (args: readonly GraphQLArgument[]) => Object.fromEntries(args.map((one) => [one.name, schemaOf(one)]));

/** Returns a function that validates values of the arguments. @throws 400 naming each invalid argument and its requirement */
export function argumentValidator(args: readonly GraphQLArgument[]): (values: unknown) => Record<string, unknown> {
  const zod = z.object(shapeOf(args));
  return (values) => parsed(zod, values);
}

/** A request record whose members are these arguments. An optional one may be null, as in GraphQL. */
export function recordOfArguments(args: readonly GraphQLArgument[], description: string): RequestRecord {
  const zod = z.object(shapeOf(args)).describe(description);
  return { zod, json: inlinedSchema(zod), beyondRest: [] };
}

/** Validates the values. @throws 400 naming each invalid member and its requirement */
export function parsed<T>(zod: z.ZodType<T>, values: unknown): T {
  const result = zod.safeParse(values);
  if (!result.success) throw invalid.fields(fieldErrorsOf(result.error));
  return result.data;
}

/** All arguments as the members of one object. */
export function flatArguments(field: GraphQLField<unknown, unknown>): FlatArguments {
  const plainArguments = ownArguments(field);
  const body = field.args.find(({ name }) => name === bodyArgument);
  const members = body ? requestRecords.get(getNamedType(body.type).name)!.zod.shape : {};
  const both = plainArguments.find(({ name }) => name in members);
  if (both) throw new Error(`${field.name}: ${both.name} is both an argument and a member of the request record`);
  const zod = z.strictObject({ ...shapeOf(plainArguments), ...members });
  return {
    json: inlinedSchema(zod),
    read(values) {
      const data = parsed(zod, values);
      if (!body) return data;
      const variables: Record<string, unknown> = {};
      const input: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(data)) (name in members ? input : variables)[name] = value;
      return { ...variables, [bodyArgument]: input };
    },
  };
}

/** The validator declared by the argument, with its bounds, or else one derived from its type. */
function schemaOf({ type, defaultValue, description, extensions }: GraphQLArgument): z.ZodType {
  const schema = (extensions.validator as z.ZodType | undefined) ?? ofType(type);
  const withDefault = defaultValue === undefined ? schema : schema.default(defaultValue);
  const argument = isNonNullType(type) ? withDefault : withDefault.optional();
  return description ? argument.describe(description) : argument;
}

function ofType(type: GraphQLInputType): z.ZodType {
  if (!isNonNullType(type)) return ofPresent(type).nullable();
  return ofPresent(type.ofType);
}

function ofPresent(type: GraphQLInputType): z.ZodType {
  if (isListType(type)) return z.array(ofType(type.ofType));
  if (isEnumType(type)) return z.enum(type.getValues().map(({ name }) => name));
  const { name, extensions } = getNamedType(type);
  const known: Record<string, z.ZodType> = {
    String: z.string(),
    ID: z.string(),
    Int: z.int32(),
    Float: z.number(),
    Boolean: z.boolean(),
  };
  return known[name] ?? z.fromJSONSchema(extensions.jsonSchema as Json);
}

/** An argument's type with the bounds of its validator. */
export function argumentSchema({ type, extensions, defaultValue }: GraphQLArgument): Json {
  const validator = extensions.validator as z.ZodType | undefined;
  const bounds = validator ? zodSchema(validator) : {};
  const {
    type: _,
    $ref,
    $defs,
    anyOf,
    ...rules
  } = ((bounds.anyOf as Json[] | undefined)?.find((option) => option.type !== 'null') ?? bounds) as Json;
  return {
    ...nonNullSchema(getNamedType(type)),
    ...rules,
    ...(defaultValue !== undefined && { default: defaultValue }),
  };
}

/** The JSON Schema of a request record. It inlines enums and scalars, and includes the bounds of scalars. */
export function bodySchema({ json, zod }: RequestRecord, schema: GraphQLSchema): Json {
  const definitions = (zodSchema(zod).$defs ?? {}) as Record<string, Json>;
  return inlineReferences(json, (name) => {
    const { minimum, maximum } = definitions[name] ?? {};
    const bounds = maximum === undefined ? {} : { minimum, maximum };
    return { ...nonNullSchema(schema.getType(name)!), ...bounds };
  }) as Json;
}

function zodSchema(zod: z.ZodType): Json {
  const { $schema, ...schema } = z.toJSONSchema(zod, { io: 'input', unrepresentable: 'any' }) as Json;
  return schema;
}

function inlinedSchema(zod: z.ZodType): Json {
  const { $defs, ...schema } = zodSchema(zod);
  return inlineReferences(schema, (name) => ($defs as Record<string, Json>)[name]!) as Json;
}
