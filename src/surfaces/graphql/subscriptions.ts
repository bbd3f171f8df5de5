// Subscriptions: events for as long as somebody reads them and may (server-sent events, as yoga writes them). Each event is
// executed like a request of its own, by the caller as it is then. The answer's socket is the one thing that lives as long as
// its reader: all that a subscription holds is given back when it closes, whichever side closes it and why.
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
import type { Capacity } from '#foundation/capacity.ts';
import { watch } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import type { Exchange } from '#foundation/http.ts';
import { invalid, toProblem } from '#foundation/problem.ts';
import type { Context, Follow } from '#graph/context.ts';
import { exposureOf } from '#graph/exposure.ts';
import { subscriptions } from '#limits.ts';
import { type RequestBudget, takeExecution } from './budget.ts';
import { createSlotLimiter } from './subscription-slots.ts';

export interface Reader {
  exchange: Exchange;
  caller: Caller;
}

export interface SubscriptionSettings {
  /** Looks the caller of an exchange up again; throws 401. */
  callerStill(exchange: Exchange, caller: Caller): Promise<Caller>;
  executions: Capacity;
  subscriptionsPerOrganization?: number;
}

export function subscribing({ callerStill, executions, subscriptionsPerOrganization }: SubscriptionSettings): Plugin {
  const perOrganization = subscriptionsPerOrganization ?? subscriptions.perOrganization;
  const takeSlot = createSlotLimiter({ ...subscriptions, perOrganization });

  async function open(args: ExecutionArgs): Promise<ExecutionResult | AsyncGenerator<ExecutionResult>> {
    const context = args.contextValue as Context & Reader & { budget: RequestBudget };
    const { exchange, caller, budget } = context;
    const { key, rule } = rootOf(args);
    const told = (error: unknown) => ({ errors: [locatedError(error, undefined, [key])] });
    exchange.route = `${exchange.path} subscription`;
    const stay = openStay({ exchange, caller }, takeSlot(caller), async () => {
      const present = await callerStill(exchange, caller);
      admit(present, rule);
      return present;
    });
    const source = await createSourceEventStream({ ...args, contextValue: { ...context, follow: stay.follow } });
    if (!(Symbol.asyncIterator in source)) return source;

    async function* results(): AsyncGenerator<ExecutionResult> {
      for await (const rootValue of source as AsyncIterable<unknown>) {
        const contextValue = { ...context, caller: stay.caller(), loaders: new Map() };
        const hold = await takeExecution(executions, caller, budget.cost);
        try {
          yield await execute({ ...args, rootValue, contextValue });
        } finally {
          hold.release();
        }
      }
    }
    const coming = results();
    // What is not there, or not the caller's, is told as the answer to the request, before there is any event.
    let step: IteratorResult<ExecutionResult>;
    try {
      step = await coming.next();
    } catch (error) {
      return told(error);
    }
    return (async function* () {
      try {
        for (; !step.done; step = await coming.next()) yield step.value;
      } catch (error) {
        yield told(error);
      } finally {
        await coming.return(undefined);
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

/** The one field that is subscribed to: the key of its answer, and whom it admits. */
function rootOf({ schema, document, operationName, variableValues }: ExecutionArgs): { key: string; rule: Rule } {
  const { selectionSet, variableDefinitions = [] } = getOperationAST(document, operationName)!;
  const fragments = Object.fromEntries(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  const type = schema.getSubscriptionType()!;
  const { coerced = {} } = getVariableValues(schema, variableDefinitions, variableValues ?? {});
  const [chosen] = collectFields(schema, fragments, coerced, type, selectionSet).fields;
  // A directive may have left it out, which no validation sees.
  if (!chosen) throw invalid('A subscription must ask for one field.');
  const [key, [node]] = chosen;
  const field: GraphQLField<unknown, unknown> = type.getFields()[node!.name.value]!;
  return { key, rule: exposureOf(field).scope };
}

/** From the opening of a subscription to the closing of its socket. */
function openStay({ exchange: { res }, caller }: Reader, leave: () => void, lookUp: () => Promise<Caller>) {
  const over = new AbortController();
  const since = now();
  let [present, lookedAt] = [caller, since];
  let refusal: unknown;
  const look = async (): Promise<void> => {
    present = await lookUp();
    lookedAt = now();
  };

  async function asking(): Promise<Caller> {
    if (refusal) throw refusal;
    if (now() - lookedAt >= subscriptions.look.fresh) await look();
    return present;
  }
  const follow: Follow = async function* (...ids) {
    for await (const _ of watch(ids, over.signal)) yield asking;
    if (refusal) throw refusal;
  };

  /** Nothing may have changed for long, or nobody reads: neither lets a stay go on that should be over. */
  async function attend(): Promise<void> {
    // It was told of its end and had its time to read that.
    if (over.signal.aborted) return void res.destroy();
    if (now() - since >= subscriptions.lifetime) return over.abort();
    try {
      await look();
    } catch (error) {
      // While nobody can look, nothing is delivered either.
      if (toProblem(error).status >= 500) return;
      refusal = error;
      over.abort();
    }
  }
  const attending = setInterval(attend, subscriptions.look.every);

  const close = (): void => {
    clearInterval(attending);
    leave();
    over.abort();
  };
  if (res.destroyed) close();
  else res.once('close', close);
  return { follow, caller: () => present };
}
