// The cost of an operation: a point per field, more for a field with long text, and the fields of a list multiplied by its maximum
// length. Computed from the document and its variables before anything is executed; reported in `extensions.cost`.
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
import { refusedVariables } from '#graph/variables.ts';
import { graphql } from '#limits.ts';
import type { RequestBudget } from './budget.ts';
import { pricedSchema } from './introspection.ts';
import { isUrgent } from './urgent.ts';

export interface Cost {
  requested: number;
  maximum: number;
}

const isList = (type: GraphQLOutputType) => isListType(getNullableType(type));

/**
 * Sets the price of fields with a `limit`: the fields below such a field count `limit` times. If the field returns a page object, the list
 * in this object counts once and does not multiply the price a second time. Every other list counts with the default length of the library
 * that computes the cost.
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

/**
 * Returns the cost of the selected operation; undefined when the document has no such operation. @throws GraphQL's error if a variable is
 * missing or invalid
 */
export function costOf(
  { schema, context: ctx }: ReturnType<typeof pricedSchema>,
  { document, operationName, variableValues }: Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>,
): Cost | undefined {
  const operation = getOperationAST(document, operationName);
  if (!operation) return undefined;
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const chosen: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] };
  const variables = (variableValues ?? {}) as Record<string, unknown>;
  const { complexity } = complexityFromQuery(chosen, { schema, variables, ctx });
  return { requested: Math.ceil(complexity), maximum: graphql.cost };
}

type Answer = { errors?: readonly GraphQLError[]; extensions?: Record<string, unknown> };

const withCost = <R extends object>(result: R, cost: Cost): R => ({
  ...result,
  extensions: { ...(result as Answer).extensions, cost },
});

/** Refuses requests that cost too much or exceed their caller's rate, and reports the cost of each operation. */
export function costPlugin(schema: GraphQLSchema): Plugin<{ budget: RequestBudget }> {
  const priced = pricedSchema(schema);
  /** Prices an operation. Returns the cost of an admitted one, or the response to a refused one. */
  async function weigh(
    args: ExecutionArgs,
    admit: (budget: RequestBudget, cost: number) => Promise<boolean>,
  ): Promise<{ cost?: Cost | undefined; refusal?: Answer }> {
    const { budget } = args.contextValue as { budget: RequestBudget };
    try {
      const cost = costOf(priced, args);
      if (!cost || (await admit(budget, cost.requested))) return { cost };
      const problem = budget.refusal();
      if (problem) return { refusal: { errors: [problem] } };
      return { refusal: tooCostly(cost, budget.cost()) };
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      const { schema, document, operationName, variableValues: values } = args;
      return { refusal: { errors: [refusedVariables(schema, document, { operationName, values }) ?? error] } };
    }
  }
  return {
    async onExecute({ args, setResultAndStopExecution }) {
      const { cost, refusal } = await weigh(args, (budget, points) => budget.admit(points, isUrgent(schema, args)));
      if (refusal) return setResultAndStopExecution(refusal as never);
      if (!cost) return undefined;
      return {
        onExecuteDone({ result, setResult }) {
          if (!(Symbol.asyncIterator in result)) setResult(withCost(result, cost));
        },
      };
    },
    async onSubscribe({ args, setResultAndStopExecution }) {
      const { cost, refusal } = await weigh(args, (budget, points) => budget.count(points));
      if (refusal) return setResultAndStopExecution(refusal as never);
      if (!cost) return undefined;
      return { onSubscribeResult: () => ({ onNext: ({ result, setResult }) => setResult(withCost(result, cost)) }) };
    },
  };
}

function tooCostly({ requested, maximum }: Cost, together: number): Answer {
  const what = requested === together ? 'This operation costs' : 'The operations of this batch together cost';
  const problem = invalid(
    `${what} ${together}; the maximum is ${maximum}. Ask for fewer rows (limit) or fewer fields.`,
  );
  return withCost({ errors: [problem] }, { requested: together, maximum });
}
