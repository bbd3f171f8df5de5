// The scalars, each with its JSON Schema, and enumerations.
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from 'graphql';
import { z } from 'zod';
import { builder } from './builder.ts';

interface ScalarSettings {
  name: string;
  description: string;
  jsonSchema: Record<string, unknown>;
  accepts: (value: unknown) => boolean;
}

function scalar({ name, description, jsonSchema, accepts }: ScalarSettings): GraphQLScalarType {
  const check = (value: unknown) => {
    if (!accepts(value)) throw new GraphQLError(`${name} must be: ${description}`);
    return value;
  };
  const parseLiteral = (node: ValueNode, variables?: Record<string, unknown> | null) =>
    check(node.kind === Kind.INT ? Number(node.value) : valueFromASTUntyped(node, variables));
  return new GraphQLScalarType({
    name,
    description,
    serialize: check,
    parseValue: check,
    parseLiteral,
    extensions: { jsonSchema },
  });
}

const isEpoch = (value: unknown) => Number.isSafeInteger(value);

builder.addScalarType(
  'EpochMs',
  scalar({
    name: 'EpochMs',
    description: 'Milliseconds since 1970-01-01T00:00:00Z.',
    jsonSchema: { type: 'integer', format: 'int64', examples: [1_795_219_200_000] },
    accepts: isEpoch,
  }),
);
/** The zod schema of the scalar `EpochMs` for request records. Its `id` is the name of the scalar. */
export const epochMsInput = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).meta({ id: 'EpochMs' });
builder.addScalarType(
  'EpochSec',
  scalar({
    name: 'EpochSec',
    description: 'Seconds since 1970-01-01T00:00:00Z.',
    jsonSchema: { type: 'integer', format: 'int64', examples: [1_795_219_200] },
    accepts: isEpoch,
  }),
);
builder.addScalarType(
  'SafeInt',
  scalar({
    name: 'SafeInt',
    description: 'An integer of at most 2^53 - 1, which a JSON number holds exactly.',
    jsonSchema: { type: 'integer', format: 'int64', examples: [2_200_000_000] },
    accepts: (value) => Number.isSafeInteger(value),
  }),
);
/** A SafeInt of at least 0 in a request record. */
export const safeIntInput = (max: number) => z.number().int().min(0).max(max).meta({ id: 'SafeInt' });
builder.addScalarType(
  'IsoTime',
  scalar({
    name: 'IsoTime',
    description: 'A UTC time such as 2026-11-21T09:00:00.000Z (RFC 3339).',
    jsonSchema: { type: 'string', format: 'date-time' },
    accepts: (value) => typeof value === 'string',
  }),
);
builder.addScalarType(
  'True',
  scalar({
    name: 'True',
    description: 'Always true.',
    jsonSchema: { type: 'boolean', const: true },
    accepts: (value) => value === true,
  }),
);
builder.addScalarType(
  'Json',
  new GraphQLScalarType({ name: 'Json', description: 'Any JSON value.', extensions: { jsonSchema: {} } }),
);

const isGraphQLName = (word: string) => /^[_A-Za-z]\w*$/.test(word);

/**
 * Declares an enumeration as a GraphQL enum, or as a scalar if one of the values is not a valid GraphQL name (such as `already-revoked`). Returns the
 * output type and a zod schema. Both have the name `name`, so an input that is declared with the zod schema has the same GraphQL type as the output.
 * `meanings` are the descriptions of the values of an enum.
 */
export function wordSet<const W extends readonly [string, ...string[]]>(
  name: string,
  words: W,
  description: string,
  meanings?: Readonly<Record<W[number], string>>,
) {
  const zod = z.enum(words).meta({ id: name });
  if (words.every(isGraphQLName)) {
    const values = Object.fromEntries(
      words.map((word) => [word, { description: meanings?.[word as W[number]] }]),
    ) as Record<W[number], { description: string }>;
    return { type: builder.enumType(name, { values, description }), zod };
  }
  const set = scalar({
    name,
    description: `${description} One of: ${words.join(', ')}.`,
    jsonSchema: { type: 'string', enum: [...words] },
    accepts: (value) => words.includes(value as string),
  });
  const type: unknown = builder.addScalarType(name as never, set as never);
  return { type: type as PothosSchemaTypes.EnumRef<typeof builder.$inferSchemaTypes, W[number]>, zod };
}
