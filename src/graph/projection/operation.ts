// Executes one root field of the graph as an operation of REST or as a tool. The API has already authorized the caller and validated the
// arguments. Therefore, the operation is executed as a plan (plan.ts) without the guards of the field, which check the authorization, the
// query cost and the arguments.
import {
  astFromValue,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationTypeNode,
  parse,
  print,
} from 'graphql';
import type { Caller } from '#access/principal.ts';
import { leaveReplica, reading } from '#foundation/postgres/replica.ts';
import { invalid } from '#foundation/problem.ts';
import { traced } from '#foundation/tracing/tracing.ts';
import { createContext } from '../context.ts';
import { resolverOf } from '../exposure.ts';
import { operationSpan } from '../operation-span.ts';
import { refusedVariables } from '../variables.ts';
import { compilePrune } from './absent.ts';
import { selectionOfType } from './json-schema.ts';
import { planField } from './plan.ts';

export type RootField = GraphQLField<unknown, unknown>;

export interface Outcome {
  /** The record, without the members that the contract omits when they are null. */
  value: unknown;
  /** Cursor of the next page. Null when there is no next page, and when `value` itself contains the cursor. */
  nextCursor: string | null;
}

/** Executes the field for an admitted caller. @throws the problem of a resolver, 400 for a variable, or an internal failure */
export type Operation = (caller: Caller, requestId: string, variables: Record<string, unknown>) => Promise<Outcome>;

/** Creates the operation that executes a root field. The document must select only this field. The plan is compiled at the first call. */
export function createOperation(schema: GraphQLSchema, field: RootField, document: DocumentNode): Operation {
  const { operation, selectionSet, variableDefinitions = [] } = getOperationAST(document)!;
  const compile = () => planField({ ...field, resolve: resolverOf(field) }, selectionSet.selections[0] as FieldNode);
  const prune = compilePrune(field.type);
  const isQuery = operation === 'query';
  let plan: ReturnType<typeof compile> | undefined;
  return async (caller, requestId, values) => {
    plan ??= compile();
    const { coerced, errors } = getVariableValues(schema, variableDefinitions, values);
    if (!coerced) throw refusedVariables(schema, document, { values }) ?? invalid(errors![0]!.message);
    const context = createContext(caller, requestId);
    if (!isQuery) leaveReplica(caller.bookmark);
    const execute = () => plan!({ context, variables: coerced });
    const value = await traced(
      () => operationSpan(operation, field.name),
      () => (isQuery ? reading(caller.bookmark, execute) : execute()),
    );
    prune?.(value);
    return { value, nextCursor: context.nextCursor };
  };
}

/**
 * Creates a document that selects one root field, with all members of its result that REST returns. For each argument, the document has a
 * variable with the default of the argument.
 */
export function documentOf(kind: OperationTypeNode, name: string, field: RootField): DocumentNode {
  const list = (items: string[]) => (items.length > 0 ? `(${items.join(', ')})` : '');
  const variables = list(field.args.map((one) => `$${one.name}: ${one.type}${defaultOf(one)}`));
  const passed = list(field.args.map((one) => `${one.name}: $${one.name}`));
  return parse(`${kind} ${name}${variables} { ${field.name}${passed}${selectionOfType(field.type)} }`);
}

const defaultOf = ({ type, defaultValue }: GraphQLArgument): string =>
  defaultValue === undefined ? '' : ` = ${print(astFromValue(defaultValue, type)!)}`;
