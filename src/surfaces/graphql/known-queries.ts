// Executes known queries with a plan: from its second request on, a query has a plan (plan.ts) and bypasses yoga. Yoga executes all other
// operations, and queries whose plan fails.
import {
  type DocumentNode,
  execute as executeOperation,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Caller } from '#access/principal.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { planFailures } from '#foundation/metrics.ts';
import { reading } from '#foundation/postgres/replica.ts';
import { toProblem } from '#foundation/problem.ts';
import { traced } from '#foundation/tracing/tracing.ts';
import { createContext } from '#graph/context.ts';
import { operationSpan } from '#graph/operation-span.ts';
import { compilePlan, type Plan } from '#graph/projection/plan.ts';
import { Unplanned } from '#graph/projection/plan-members.ts';
import { graphql } from '#limits.ts';
import type { Report } from '../frame.ts';
import { documentCache } from './bounds.ts';
import type { RequestBudget } from './budget.ts';
import { chosen, variablesOfConditions } from './conditions.ts';
import { type Cost, costOf } from './cost.ts';
import { pricedSchema } from './introspection.ts';
import type { Request } from './respond.ts';

interface Known {
  document: DocumentNode;
  /** Variables in `@include` and `@skip`; null when the query can have no plan. */
  conditions: readonly string[] | null;
  /** A plan for each combination of values of the variables in `conditions`; null for a combination that cannot have a plan. */
  plans: Map<string, Plan | null>;
  /** The cost of the query; absent when it depends on variables. */
  cost?: Cost;
  /** How many times in a row a plan of this query has failed. After a failure, the next `passes` requests are executed without a plan. */
  failures: number;
  passes: number;
}

/**
 * Maximum of `passes`. When a plan fails, yoga executes the same query a second time. Therefore the number of requests that do not try the
 * plan doubles after each failure in a row, up to this maximum.
 */
const maxPasses = 64;

/** An operation whose plan can be executed now. */
interface Ready {
  known: Known;
  plan: Plan;
  cost: Cost;
  variables: Record<string, unknown>;
}

interface CallerRequest extends Request {
  caller: Caller;
  budget: RequestBudget;
}

export function createKnownQueries(schema: GraphQLSchema, report: Report) {
  const queries = documentCache<Known>();

  /** Prepares an operation; undefined for requests that yoga has to handle. */
  function prepare(parameters: Record<string, unknown>, exchange: Exchange): Ready | undefined {
    const { query, operationName, variables, extensions, ...others } = parameters ?? {};
    const known = typeof query === 'string' ? queries.get(query) : undefined;
    if (!known || extensions != null || Object.keys(others).length > 0 || !isObject(variables ?? {})) return undefined;
    if (known.passes > 0) {
      known.passes--;
      return undefined;
    }
    const { name } = getOperationAST(known.document)!;
    if ((operationName ?? name?.value) !== name?.value) return undefined;
    try {
      return readyOf(schema, known, (variables ?? {}) as Record<string, unknown>);
    } catch (error) {
      // An error of the query itself, such as null for an argument that cannot be null, is found again by yoga, which responds with it.
      if (!(error instanceof GraphQLError)) noteFailure(report, exchange, known, error);
      return undefined;
    }
  }

  /** The response to a request whose operations all succeed; undefined when yoga has to respond. */
  async function answerKnown(request: CallerRequest): Promise<string | undefined> {
    const { operations, budget, exchange } = request;
    try {
      const ready = [operations].flat().map((one) => prepare(one, exchange));
      if (!ready.every((one) => one !== undefined)) return undefined;
      // A request that costs too much is left to yoga, which prices it again and reports the cost.
      if (ready.reduce((sum, { cost }) => sum + cost.requested, 0) > graphql.cost) return undefined;
      const admitted = await Promise.all(ready.map(({ cost }) => budget.admit(cost.requested)));
      if (admitted.includes(false)) return undefined;
      const answers = await Promise.all(ready.map((one) => execute(report, one, request)));
      return Array.isArray(operations) ? `[${answers.join()}]` : answers[0];
    } catch {
      // `execute` has already counted a failure of the plan. If the budget could not be checked, yoga checks it again and reports the error.
      return undefined;
    }
  }

  const plugin: Plugin = {
    onExecute({ args: { document }, setExecuteFn }) {
      // GraphQL's own executor is used: yoga's treats any record with a member `then` as a promise.
      setExecuteFn(executeOperation);
      const text = document.loc!.source.body;
      if (queries.get(text)) return;
      queries.set(text, {
        document,
        conditions: variablesOfConditions(document),
        plans: new Map(),
        failures: 0,
        passes: 0,
      });
    },
  };

  return { answerKnown, plugin };
}

const isObject = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);

/** The operation with its plan and cost; undefined if it has no plan or invalid variables. @throws an error of the query or of its plan */
function readyOf(schema: GraphQLSchema, known: Known, values: Record<string, unknown>): Ready | undefined {
  const { document } = known;
  const { variableDefinitions = [] } = getOperationAST(document)!;
  const { coerced } = getVariableValues(schema, variableDefinitions, values);
  const plan = coerced && planOf(schema, known, coerced);
  if (!plan) return undefined;
  const cost = known.cost ?? costOf(pricedSchema(schema), { document, variableValues: values })!;
  if (variableDefinitions.length === 0) known.cost = cost;
  return { known, plan, cost, variables: coerced };
}

function planOf(
  schema: GraphQLSchema,
  { document, conditions, plans }: Known,
  variables: Record<string, unknown>,
): Plan | null {
  if (!conditions) return null;
  const choice = conditions.map((name) => Number(variables[name] === true)).join('');
  if (!plans.has(choice)) plans.set(choice, compilePlan(schema, chosen(document, variables)));
  return plans.get(choice)!;
}

async function execute(
  report: Report,
  { known, plan, cost, variables }: Ready,
  { caller, exchange }: CallerRequest,
): Promise<string> {
  const context = createContext(caller, exchange.requestId);
  try {
    const data = await traced(
      () => operationSpan('query', getOperationAST(known.document)!.name?.value),
      () => reading(caller.bookmark, () => plan({ context, variables })),
    );
    known.failures = 0;
    return `{"data":${data},"extensions":${JSON.stringify({ cost })}}`;
  } catch (error) {
    noteFailure(report, exchange, known, error);
    throw error;
  }
}

/**
 * Counts the failure of a plan. Reports an error that neither the query nor its data explains: otherwise a defect of the plan would only appear
 * as slow queries.
 */
function noteFailure(report: Report, exchange: Exchange, known: Known, error: unknown): void {
  known.passes = Math.min(2 ** known.failures++, maxPasses);
  const isExpected =
    error instanceof Unplanned || error instanceof GraphQLError || toProblem(error).body.code !== 'internal';
  planFailures.inc({ expected: String(isExpected) });
  if (!isExpected) report(exchange, error);
}
