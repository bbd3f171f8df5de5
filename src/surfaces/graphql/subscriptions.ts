// GraphQL subscriptions: server-sent events while the reader stays connected and authorized. Each event is executed like a separate
// request, with the permissions that the caller has at the time of the event. All resources of a subscription are released when its socket
// closes.
import { collectFields } from '@graphql-tools/utils';
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLField,
  getOperationAST,
  getVariableValues,
  Kind,
  locatedError,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { admit, type Rule } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { now, seconds } from '#foundation/clock.ts';
import type { Capacity } from '#foundation/http/capacity.ts';
import { deliveryMs, type Exchange } from '#foundation/http/http.ts';
import { watch } from '#foundation/postgres/changes.ts';
import { invalid, toProblem } from '#foundation/problem.ts';
import type { Context, Follow } from '#graph/context.ts';
import { exposureOf } from '#graph/exposure.ts';
import { subscriptions } from '#limits.ts';
import { createSlotLimiter, holdOpen } from '../subscription-slots.ts';
import { type RequestBudget, takeExecution } from './budget.ts';

/** Milliseconds after which the caller is looked up again before an event is sent. */
export const maxCheckAgeMs = seconds(1);

export interface Reader {
  exchange: Exchange;
  caller: Caller;
}

export interface SubscriptionSettings {
  /** Looks the caller up again while the request is being answered. @throws 401 when the credential is no longer valid */
  recheckCaller(exchange: Exchange, caller: Caller): Promise<Caller>;
  executions: Capacity;
  subscriptionsPerOrganization?: number;
}

type Subscribing = Context & Reader & { budget: RequestBudget };

export function subscriptionPlugin({
  recheckCaller: callerStill,
  executions,
  subscriptionsPerOrganization,
}: SubscriptionSettings): Plugin {
  const perOrganization = subscriptionsPerOrganization ?? subscriptions.perOrganization;
  const takeSlot = createSlotLimiter({ ...subscriptions, perOrganization });

  async function open(args: ExecutionArgs): Promise<ExecutionResult | AsyncGenerator<ExecutionResult>> {
    const context = args.contextValue as Subscribing;
    const { exchange, caller } = context;
    const { key, rule } = rootOf(args);
    const errorResult = (error: unknown) => ({ errors: [locatedError(error, undefined, [key])] });
    exchange.route = `${exchange.path} subscription`;
    const session = openSession({ exchange, caller }, takeSlot(caller), async () => {
      const present = await callerStill(exchange, caller);
      admit(present, rule);
      return present;
    });
    const source = await createSourceEventStream({ ...args, contextValue: { ...context, follow: session.follow } });
    if (!(Symbol.asyncIterator in source)) return source;

    const events = resultsOf(source as AsyncIterable<unknown>, args, session, executions);
    // An unknown record is an error of the request itself, before the first event.
    let step: IteratorResult<ExecutionResult>;
    try {
      step = await events.next();
    } catch (error) {
      return errorResult(error);
    }
    return (async function* () {
      try {
        for (; !step.done; step = await events.next()) yield step.value;
      } catch (error) {
        yield errorResult(error);
      } finally {
        await events.return(undefined);
      }
    })();
  }

  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn((args: ExecutionArgs) =>
        open(args).catch((error) => {
          if (error instanceof GraphQLError) return { errors: [error] };
          throw error;
        }),
      );
    },
  };
}

/** The result of each event, one after the other. */
async function* resultsOf(
  source: AsyncIterable<unknown>,
  args: ExecutionArgs,
  session: ReturnType<typeof openSession>,
  executions: Capacity,
): AsyncGenerator<ExecutionResult> {
  const context = args.contextValue as Subscribing;
  for await (const rootValue of source) {
    const contextValue = { ...context, caller: session.caller(), loaders: new Map() };
    // An event waits while the organization is at its capacity. A refusal instead would disconnect pages that are open.
    const hold = await takeExecution(executions, context.caller, context.budget.cost(), { signal: session.signal });
    const late = setTimeout(() => context.exchange.res.destroy(), deliveryMs);
    try {
      yield await execute({ ...args, rootValue, contextValue });
    } finally {
      clearTimeout(late);
      hold.release();
    }
  }
}

/** The subscribed root field: its key in the result, and the rule for its callers. */
function rootOf({ schema, document, operationName, variableValues }: ExecutionArgs): { key: string; rule: Rule } {
  const { selectionSet, variableDefinitions = [] } = getOperationAST(document, operationName)!;
  const fragments = Object.fromEntries(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  const type = schema.getSubscriptionType()!;
  const { coerced = {} } = getVariableValues(schema, variableDefinitions, variableValues ?? {});
  const [chosen] = collectFields(schema, fragments, coerced, type, selectionSet).fields;
  // A directive may have excluded the field; validation does not check this.
  if (!chosen) throw invalid('A subscription must select one field.');
  const [key, [node]] = chosen;
  const field: GraphQLField<unknown, unknown> = type.getFields()[node!.name.value]!;
  return { key, rule: exposureOf(field).scope };
}

/** The state of a subscription, from its opening until its socket closes. */
function openSession({ exchange, caller }: Reader, freeSlot: () => void, lookUp: () => Promise<Caller>) {
  let [present, checkedAt] = [caller, now()];
  let refusal: unknown;
  const check = async (): Promise<void> => {
    try {
      present = await lookUp();
    } catch (error) {
      // The look-up of the caller has failed temporarily; no event is executed until it succeeds.
      if (toProblem(error).status < 500) refusal = error;
      throw error;
    }
    checkedAt = now();
  };
  const signal = holdOpen(exchange, freeSlot, check);

  async function currentCaller(): Promise<Caller> {
    if (refusal) throw refusal;
    if (now() - checkedAt >= maxCheckAgeMs) await check();
    return present;
  }
  const follow: Follow = async function* (...ids) {
    for await (const _ of watch(ids, signal)) yield currentCaller;
    if (refusal) throw refusal;
  };
  return { follow, caller: () => present, signal };
}
