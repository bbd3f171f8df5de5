// What an operation costs: one point per field, and what lies below a list as often as the list may be long. Counted from
// the document and its variables, before anything is executed; told in `extensions.cost` of every answer.
import { complexityFromQuery } from '@pothos/plugin-complexity';
import type { ExecutionArgs } from 'graphql';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getOperationAST,
  isListType,
  isObjectType,
  Kind,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { invalid } from '#foundation/problem.ts';
import { graphql } from '#limits.ts';

export interface Cost {
  requested: number;
  maximum: number;
}

const isList = (type: GraphQLOutputType) => isListType(getNullableType(type));

/**
 * Prices the lists that page: what lies below a field with a `limit` counts `limit` times. The list inside its page is the
 * same list and does not multiply again. Every other list counts as the builder's default length.
 */
export function pricePages(schema: GraphQLSchema): void {
  const objects = Object.values(schema.getTypeMap()).filter(isObjectType);
  for (const field of objects.flatMap((type) => Object.values(type.getFields()))) {
    if (!field.args.some((argument) => argument.name === 'limit')) continue;
    const complexity = ({ limit }: { limit: number }) => ({ field: 1, multiplier: limit });
    field.extensions = { ...field.extensions, complexity };
    const page = getNamedType(field.type);
    if (isList(field.type) || !isObjectType(page)) continue;
    for (const inner of Object.values(page.getFields())) {
      if (isList(inner.type)) inner.extensions = { ...inner.extensions, complexity: { field: 1, multiplier: 1 } };
    }
  }
}

/** The cost of the chosen operation; undefined when there is none to choose. Throws GraphQL's complaint about a variable. */
export function costOf({ schema, document, operationName, variableValues }: ExecutionArgs): Cost | undefined {
  const operation = getOperationAST(document, operationName);
  if (!operation) return undefined;
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const chosen: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] };
  const variables = (variableValues ?? {}) as Record<string, unknown>;
  return { requested: complexityFromQuery(chosen, { schema, variables }).complexity, maximum: graphql.cost };
}

type Answer = { errors?: readonly GraphQLError[]; extensions?: Record<string, unknown> };

const withCost = <R extends object>(result: R, cost: Cost): R => ({
  ...result,
  extensions: { ...(result as Answer).extensions, cost },
});

/** Refuses what costs too much, and tells the cost of what does not. */
export function costPlugin(): Plugin {
  function weigh(args: ExecutionArgs): { cost?: Cost | undefined; refusal?: Answer } {
    try {
      const cost = costOf(args);
      if (!cost || cost.requested <= cost.maximum) return { cost };
      const problem = invalid(
        `This operation costs ${cost.requested}; the maximum is ${cost.maximum}. Ask for fewer rows (limit) or fewer fields.`,
      );
      return { refusal: withCost({ errors: [problem] }, cost) };
    } catch (error) {
      if (error instanceof GraphQLError) return { refusal: { errors: [error] } };
      throw error;
    }
  }
  return {
    onExecute({ args, setResultAndStopExecution }) {
      const { cost, refusal } = weigh(args);
      if (refusal) return setResultAndStopExecution(refusal as never);
      if (!cost) return undefined;
      return {
        onExecuteDone({ result, setResult }) {
          if (!(Symbol.asyncIterator in result)) setResult(withCost(result, cost));
        },
      };
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const { cost, refusal } = weigh(args);
      if (refusal) return setResultAndStopExecution(refusal as never);
      if (!cost) return undefined;
      return { onSubscribeResult: () => ({ onNext: ({ result, setResult }) => setResult(withCost(result, cost)) }) };
    },
  };
}
