// The span of an operation, the same for every API and executor. Documents and variables are left out, because they contain values.
import type { SpanDescription } from '#foundation/tracing/tracing.ts';

/** Maximum number of characters of a name that a client chooses. */
const maxName = 100;

export function operationSpan(type: string, name: string | undefined): SpanDescription {
  const short = name?.slice(0, maxName);
  return {
    name: short ? `${type} ${short}` : type,
    attributes: { 'graphql.operation.type': type, 'graphql.operation.name': short },
  };
}
