// Urgent operations are heartbeats, without which a runtime loses its missions. They are executed before other operations of the same
// caller, even when those have used up the rate of the caller.
import { type DocumentNode, type GraphQLSchema, getOperationAST, Kind } from 'graphql';
import { exposureOf } from '#graph/exposure.ts';
import { perSchema } from '#graph/projection/per-schema.ts';
import type { Operations } from './requests.ts';

const urgentFields = perSchema((schema: GraphQLSchema): ReadonlySet<string> => {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  return new Set(fields.filter((field) => exposureOf(field)?.urgent).map(({ name }) => name));
});

/** Whether an operation consists of urgent fields. */
export function isUrgent(
  schema: GraphQLSchema,
  { document, operationName }: { document: DocumentNode; operationName?: string | null | undefined },
): boolean {
  const chosen = getOperationAST(document, operationName);
  const fields = urgentFields(schema);
  const isUrgentField = (one: { kind: Kind; name?: { value: string } }) =>
    one.kind === Kind.FIELD && fields.has(one.name!.value);
  return chosen?.operation === 'mutation' && chosen.selectionSet.selections.every(isUrgentField as never);
}

/** Whether the request could be an urgent operation, by its text alone. */
export function mayBeUrgent(schema: GraphQLSchema, operations: Operations): boolean {
  const { query } = Array.isArray(operations) ? {} : (operations as { query?: unknown });
  return typeof query === 'string' && [...urgentFields(schema)].some((name) => query.includes(name));
}
