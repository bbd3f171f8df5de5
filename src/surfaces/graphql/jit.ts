// Compiles repeated operations (graphql-jit): 50 projects with their relations then cost a fifth. An operation is compiled at its second
// request and kept with its document (bounds.ts), so that unique operations cost nothing.
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type SelectionNode,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';

export function jitPlugin(): Plugin {
  // Compiled queries by document, which is the same object for the same text while it is cached. Null for a document that was seen once,
  // or cannot be compiled.
  const known = new WeakMap<DocumentNode, CompiledQuery | null>();
  return {
    onExecute({ args: { schema, document, operationName }, setExecuteFn }) {
      // The executor rejects an operation name that is not in the document.
      if (!getOperationAST(document, operationName)) return;
      const before = known.get(document);
      const compiled = before ?? (before === null ? compile(schema, document) : null);
      known.set(document, compiled);
      // GraphQL's own executor is used: yoga's treats any record with a member `then` as a promise.
      if (!compiled) return setExecuteFn(execute);
      setExecuteFn(async ({ rootValue, contextValue, variableValues }) =>
        located(await compiled.query(rootValue, contextValue, variableValues), document),
      );
    },
  };
}

/** Compiles a document; null for one with several operations, of which each request chooses one. */
function compile(schema: GraphQLSchema, document: DocumentNode): CompiledQuery | null {
  // `__proto__` as an alias would not create a member of the compiled object literals.
  if (document.loc?.source.body.includes('__proto__')) return null;
  if (document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length > 1) return null;
  const compiled = compileQuery(schema, document);
  return isCompiledQuery(compiled) ? compiled : null;
}

/** A compiled operation does not report the position of a failed resolver in the document: it is found by the path. */
function located(result: ExecutionResult, document: DocumentNode): ExecutionResult {
  if (!result.errors) return result;
  const errors = result.errors.map((error) => {
    const node = error.path && !error.nodes ? fieldAt(document, error.path) : undefined;
    if (!node) return error;
    const { message, path, originalError = error, extensions } = error;
    return new GraphQLError(message, { nodes: node, path, originalError, extensions });
  });
  return { ...result, errors };
}

function fieldAt({ definitions }: DocumentNode, path: readonly (string | number)[]): FieldNode | undefined {
  const fieldsOf = (selections: readonly SelectionNode[]): FieldNode[] =>
    selections.flatMap((one) => {
      if (one.kind === Kind.FIELD) return [one];
      if (one.kind === Kind.INLINE_FRAGMENT) return fieldsOf(one.selectionSet.selections);
      const fragment = definitions.find(
        (of) => of.kind === Kind.FRAGMENT_DEFINITION && of.name.value === one.name.value,
      );
      return fragment && 'selectionSet' in fragment ? fieldsOf(fragment.selectionSet.selections) : [];
    });
  const operation = definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
  let fields = operation ? fieldsOf(operation.selectionSet.selections) : [];
  let found: FieldNode | undefined;
  for (const key of path.filter((step) => typeof step === 'string')) {
    const same = fields.filter(({ alias, name }) => (alias ?? name).value === key);
    found = same[0];
    fields = same.flatMap((field) => fieldsOf(field.selectionSet?.selections ?? []));
  }
  return found;
}
