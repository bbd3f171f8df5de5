// The Pothos builder and its plugins. Each folder of the domain defines its types in its schema.ts.
import SchemaBuilder from '@pothos/core';
import './exposure.ts';
import './relations.ts';
import ComplexityPlugin from '@pothos/plugin-complexity';
import ZodPlugin from '@pothos/plugin-zod';
import { invalid } from '#foundation/problem.ts';
import type { Context } from './context.ts';
import { fieldErrorsOf } from './validation.ts';

export const builder = new SchemaBuilder<{
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: {
    EpochMs: { Input: number; Output: number };
    EpochSec: { Input: number; Output: number };
    SafeInt: { Input: number; Output: number };
    IsoTime: { Input: string; Output: string };
    Json: { Input: unknown; Output: unknown };
    True: { Input: true; Output: true };
  };
}>({
  // The first plugin is outermost: a caller is admitted before its input is validated.
  plugins: ['exposure', ZodPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  zod: { validationError: (error) => invalid.fields(fieldErrorsOf(error)) },
  complexity: { defaultComplexity: 1, defaultListMultiplier: 10 },
});

builder.queryType({ description: 'Queries. The description of each field names the scope that the field requires.' });
builder.mutationType({ description: 'Changes, executed one after the other in the order of the request.' });
builder.subscriptionType({ description: 'Changes as they happen, sent as server-sent events.' });
