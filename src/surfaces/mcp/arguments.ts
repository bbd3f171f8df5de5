// The arguments of a tool: those of its field and, beside them, the members of its request record. They are one zod object, which
// is the JSON Schema that clients read and the check of what they send.
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
} from 'graphql';
import { z } from 'zod';
import { invalid } from '#foundation/problem.ts';
import { requestRecords } from '#graph/input.ts';
import { describeIssues } from '#graph/validation.ts';
import type { Json } from './shape.ts';

export interface ToolArguments {
  json: Json;
  /** What was sent → the variables of the operation. @throws 400 that names each argument and what it must be */
  read(given: unknown): Record<string, unknown>;
}

/** The argument whose members stand beside the others: the body of the REST call. */
const bodyArgument = 'input';

export function argumentsOf(field: GraphQLField<unknown, unknown>): ToolArguments {
  const own = field.args.filter(({ name }) => name !== bodyArgument);
  const body = field.args.find(({ name }) => name === bodyArgument);
  const members = body ? requestRecords.get(getNamedType(body.type).name)!.zod.shape : {};
  const both = own.find(({ name }) => name in members);
  if (both) throw new Error(`${field.name}: ${both.name} is an argument and a member of the request record`);
  const zod = z.strictObject({ ...Object.fromEntries(own.map((one) => [one.name, schemaOf(one)])), ...members });
  return {
    json: jsonSchema(zod),
    read(given) {
      const parsed = zod.safeParse(given);
      if (!parsed.success) throw invalid(describeIssues(parsed.error));
      if (!body) return parsed.data;
      const variables: Record<string, unknown> = {};
      const input: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(parsed.data)) (name in members ? input : variables)[name] = value;
      return { ...variables, [bodyArgument]: input };
    },
  };
}

/** The validator that the field declared, which knows the bounds, or else what the type says. */
function schemaOf({ type, defaultValue, description, extensions }: GraphQLArgument): z.ZodType {
  const schema = (extensions.validator as z.ZodType | undefined) ?? ofType(type);
  const asked = defaultValue === undefined ? schema : schema.default(defaultValue);
  const said = isNonNullType(type) ? asked : asked.optional();
  return description ? said.describe(description) : said;
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

/** Word sets stand where they are used: many clients do not follow references. */
function jsonSchema(zod: z.ZodType): Json {
  const { $schema, $defs, ...json } = z.toJSONSchema(zod, { io: 'input', unrepresentable: 'any' }) as Json;
  const inlined = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(inlined);
    if (schema === null || typeof schema !== 'object') return schema;
    const { $ref, ...rest } = schema as Json;
    const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inlined(value)]));
    if (typeof $ref !== 'string') return own;
    return { ...(inlined(($defs as Json)[$ref.split('/').at(-1)!]) as Json), ...own };
  };
  return inlined(json) as Json;
}
