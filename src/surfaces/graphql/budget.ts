// The budget of one request: its operations are priced together, counted against the caller's rate by their cost, and admitted
// together to a capacity that all organizations share, which is released when the response has been sent.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '#access/principal.ts';
import { seconds } from '#foundation/clock.ts';
import { type Capacity, createCapacity, type Hold } from '#foundation/http/capacity.ts';
import { deliveryMs, disconnectAfter, type Exchange } from '#foundation/http/http.ts';
import { Problem } from '#foundation/problem.ts';
import { bytes, graphql } from '#limits.ts';

/** Capacity of a process for concurrent operations, and the share of one organization, in points of cost: about a kilobyte each. */
const capacity = { all: 128_000, perKey: 32_000 };
/**
 * Bounds of the cost of one execution. Because of the lower one, at most 32 small executions of an organization run concurrently; no
 * response may be larger than the upper one.
 */
const place = { least: 1_000, most: bytes.graphqlAnswer / 1_024 };

export const createExecutions = (queue = { perKey: 200, all: 1_000, waitMs: seconds(5) }): Capacity =>
  createCapacity({
    ...{ name: 'executions', ...capacity, queue },
    description: 'Too many operations of this organization are being executed.',
  });

/** Reserves capacity for an execution of this cost; with a signal, waits for it. @throws 503 */
export const takeExecution = (executions: Capacity, caller: Caller, cost: number, signal?: AbortSignal) =>
  executions.take(
    caller.orgId ?? caller.userId ?? caller.credentialId,
    Math.min(Math.max(place.least, cost), place.most),
    signal,
  );

export interface RequestBudget {
  /** Total cost of the operations that were priced so far. */
  readonly cost: number;
  /** The problem with which the whole request is refused (429, 503); undefined while it is not. */
  readonly refusal: Problem | undefined;
  /** Prices one operation and waits until the request is admitted. Returns false when it is refused, or costs more than the maximum. */
  admit(cost: number): Promise<boolean>;
  /** Prices a subscription: it counts against the rate limit, while each of its events is admitted separately. */
  count(cost: number): Promise<boolean>;
  /** Records the size of the response in bytes; called before it is sent. */
  answer(size: number): void;
}

export interface BudgetSettings {
  /** Number of operations of the request, each of which has counted one point of the rate already. */
  operations: number;
  executions: Capacity;
  /** Counts points against the caller's rate; throws 429. */
  meter(exchange: Exchange, caller: Caller, points: number): Promise<void>;
}

export function createQueryBudget(
  exchange: Exchange,
  caller: Caller,
  { operations, executions, meter }: BudgetSettings,
): RequestBudget {
  let cost = 0;
  let points = 0;
  let hold: Hold | undefined;
  let refusal: Problem | undefined;
  let decided: Promise<boolean> | undefined;

  async function decide(executes: boolean): Promise<boolean> {
    // The turn of the event loop ends first, so that yoga has priced all operations of the batch.
    if (operations > 1) await nextTurn();
    if (cost > graphql.cost) return false;
    try {
      if (points > operations) await meter(exchange, caller, points - operations);
      if (!executes) return true;
      hold = await takeExecution(executions, caller, cost);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refusal = error;
      return false;
    }
    if (exchange.res.destroyed) hold.release();
    else exchange.res.once('close', hold.release);
    return true;
  }

  function price(more: number, executes: boolean): Promise<boolean> {
    cost += more;
    points += Math.max(1, Math.ceil(more / graphql.costPerRatePoint));
    decided ??= decide(executes);
    return decided;
  }

  return {
    get cost() {
      return cost;
    },
    get refusal() {
      return refusal;
    },
    admit: (more) => price(more, true),
    count: (more) => price(more, false),
    answer(size) {
      hold?.resize(size / 1_024);
      disconnectAfter(exchange.res, deliveryMs);
    },
  };
}
