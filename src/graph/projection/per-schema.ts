// Caches data that is derived only from a schema. All services that a process opens with the same schema share the data; tests open
// several.
import type { GraphQLSchema } from 'graphql';

export function perSchema<T>(derive: (schema: GraphQLSchema) => T): (schema: GraphQLSchema) => T {
  const known = new WeakMap<GraphQLSchema, { derived: T }>();
  return (schema) => {
    const entry = known.get(schema) ?? { derived: derive(schema) };
    known.set(schema, entry);
    return entry.derived;
  };
}
