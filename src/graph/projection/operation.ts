// One root field as an operation of a surface that has admitted the caller and validated the arguments; compiled once (graphql-jit).
// Clients' documents are never compiled here: their number is unbounded.
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  astFromValue,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getOperationAST,
  type OperationTypeNode,
  parse,
  print,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Caller } from '#access/principal.ts';
import { leaveReplica, reading } from '#foundation/postgres/replica.ts';
import { invalid, type Problem, toProblem } from '#foundation/problem.ts';
import { createContext } from '../context.ts';
import { resolverOf } from '../exposure.ts';
import { refusedVariables } from '../variables.ts';
import { compilePrune } from './absent.ts';
import { selectionOfType } from './json-schema.ts';
import { perSchema } from './per-schema.ts';

export type RootField = GraphQLField<unknown, unknown>;

export interface Outcome {
  /** The record, without absent members. */
  value: unknown;
  /** Cursor of the next page, for a record without a member for it. */
  nextCursor: string | null;
}

/** Executes the field for an admitted caller. @throws the problem of a resolver, 400 for a variable, or an internal failure */
export type Operation = (caller: Caller, requestId: string, variables: Record<string, unknown>) => Promise<Outcome>;

/** The operation of a root field; compiled at its first call. */
export function createOperation(schema: GraphQLSchema, field: RootField, document: DocumentNode): Operation {
  const compile = () => {
    const compiled = compileQuery(withoutGuards(schema), document);
    if (!isCompiledQuery(compiled)) throw new Error(`${field.name} does not compile: ${JSON.stringify(compiled)}`);
    return compiled;
  };
  const prune = compilePrune(field.type);
  const isQuery = getOperationAST(document)?.operation === 'query';
  let compiled: ReturnType<typeof compile> | undefined;
  return async (caller, requestId, variables) => {
    compiled ??= compile();
    const context = createContext(caller, requestId);
    if (!isQuery) leaveReplica(caller.bookmark);
    const execute = async () => compiled!.query(undefined, context, variables);
    const { data, errors } = await (isQuery ? reading(caller.bookmark, execute) : execute());
    if (errors) throw causeOf(errors, () => refusedVariables(schema, document, { values: variables }));
    const value: unknown = data![field.name];
    prune?.(value);
    return { value, nextCursor: context.nextCursor };
  };
}

/** The schema without the guards of its root fields: authorization, cost, and validation of the arguments. */
const withoutGuards = perSchema((schema) =>
  mapSchema(schema, {
    [MapperKind.ROOT_FIELD]: (field) => ({ ...field, resolve: resolverOf({ extensions: field.extensions! }) }),
  }),
);

/** A document that selects all members of a field in REST, with each argument as a variable with the same default. */
export function documentOf(kind: OperationTypeNode, name: string, field: RootField): DocumentNode {
  const list = (items: string[]) => (items.length > 0 ? `(${items.join(', ')})` : '');
  const variables = list(field.args.map((one) => `$${one.name}: ${one.type}${defaultOf(one)}`));
  const passed = list(field.args.map((one) => `${one.name}: $${one.name}`));
  return parse(`${kind} ${name}${variables} { ${field.name}${passed}${selectionOfType(field.type)} }`);
}

const defaultOf = ({ type, defaultValue }: GraphQLArgument): string =>
  defaultValue === undefined ? '' : ` = ${print(astFromValue(defaultValue, type)!)}`;

function causeOf(errors: readonly unknown[], refused: () => Problem | undefined): unknown {
  const error = errors[0] as GraphQLError;
  const problem = toProblem(error);
  if (problem.status < 500) return problem;
  // GraphQL rejects a variable before a resolver runs: that error has no path, and no cause other than another GraphQLError.
  const isServiceError = error.originalError && error.originalError.name !== 'GraphQLError';
  const isRefusedVariable = problem.status === 500 && error.name === 'GraphQLError' && !error.path && !isServiceError;
  return isRefusedVariable ? (refused() ?? invalid(error.message)) : error;
}
