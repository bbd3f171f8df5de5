// The budget of one request. All operations of the request are priced together, and their cost counts against the caller's rate. They are
// then admitted together to a capacity that all organizations share, and keep their part of it until the response was sent.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '#access/principal.ts';
import { seconds } from '#foundation/clock.ts';
import {
  type Capacity,
  type CapacitySettings,
  createCapacity,
  type Hold,
  type Taking,
} from '#foundation/http/capacity.ts';
import { deliveryMs, disconnectAfter, type Exchange } from '#foundation/http/http.ts';
import { Problem } from '#foundation/problem.ts';
import { bytes, graphql } from '#limits.ts';

/**
 * Capacity of a process for concurrent operations, and the share that one organization may have of it. The unit is a point of cost, which
 * stands for about a kilobyte of a response.
 */
const capacity = { all: 128_000, perKey: 32_000 };
/**
 * Minimum and maximum number of points that one execution reserves. Because of the minimum, at most 32 executions of an organization run
 * concurrently. The maximum is enough for the largest response that is allowed, because a point stands for about a kilobyte.
 */
const place = { least: 1_000, most: bytes.graphqlAnswer / 1_024 };

/**
 * The queues. The queue of urgent operations has room for the heartbeats of thousands of missions, because all of them arrive at once after
 * an interruption.
 */
const queueLengths = { perKey: 200, all: 1_000, urgent: { perKey: 2_000, all: 8_000 }, waitMs: seconds(5) };

export const createExecutions = (queue: CapacitySettings['queue'] = queueLengths): Capacity =>
  createCapacity({
    ...{ name: 'executions', ...capacity, queue },
    description: 'Too many operations of this organization are being executed.',
  });

/** Reserves capacity for an execution of this cost. @throws 503 */
export const takeExecution = (executions: Capacity, caller: Caller, cost: number, taking?: Taking) =>
  executions.take(
    caller.orgId ?? caller.userId ?? caller.credentialId,
    Math.min(Math.max(place.least, cost), place.most),
    taking,
  );

export interface RequestBudget {
  /** Total cost of the operations that were priced so far. */
  cost(): number;
  /** The problem with which the whole request is refused (429, 503); undefined while it is not. */
  refusal(): Problem | undefined;
  /**
   * Adds the cost of one operation, and waits until the whole request is admitted. Returns false if the request is refused, or costs more
   * than the maximum.
   */
  admit(cost: number, isUrgent?: boolean): Promise<boolean>;
  /**
   * Adds the cost of a GraphQL subscription and counts it against the caller's rate. Takes no capacity, because each event of the
   * subscription takes some when it is sent. Returns false as `admit` does.
   */
  count(cost: number): Promise<boolean>;
  /** Records the size of the response in bytes; called before it is sent. */
  answer(size: number): void;
}

export interface BudgetSettings {
  /** Number of operations of the request, each of which has already counted as one point against the rate. */
  operations: number;
  executions: Capacity;
  /** Counts points against the caller's rate, or against the separate rate of its urgent operations; throws 429. */
  meter(exchange: Exchange, caller: Caller, points: number, isUrgent?: boolean): Promise<void>;
  /**
   * The problem that refuses the request because the caller is over its rate; a request with only urgent operations is executed
   * nevertheless. Absent while the caller is within its rate.
   */
  over?: Problem | undefined;
}

/** Counts the points of a request. Urgent operations beyond the caller's rate have a rate of their own. @throws 429 */
async function countPoints(
  exchange: Exchange,
  caller: Caller,
  { operations, meter, over }: BudgetSettings,
  points: number,
  isUrgent: boolean,
): Promise<void> {
  try {
    if (over) throw over;
    if (points > operations) await meter(exchange, caller, points - operations);
  } catch (error) {
    if (!isUrgent || !(error instanceof Problem)) throw error;
    await meter(exchange, caller, points, true);
  }
}

export function createQueryBudget(exchange: Exchange, caller: Caller, settings: BudgetSettings): RequestBudget {
  const { operations, executions } = settings;
  let cost = 0;
  let isUrgent = true;
  let points = 0;
  let hold: Hold | undefined;
  let refusal: Problem | undefined;
  let decided: Promise<boolean> | undefined;

  async function decide(executes: boolean): Promise<boolean> {
    // Waits for the next turn of the event loop. By then, yoga has priced all operations of the batch.
    if (operations > 1) await nextTurn();
    if (cost > graphql.cost) return false;
    try {
      await countPoints(exchange, caller, settings, points, isUrgent);
      if (!executes) return true;
      hold = await takeExecution(executions, caller, cost, { isUrgent });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refusal = error;
      return false;
    }
    if (exchange.res.destroyed) hold.release();
    else exchange.res.once('close', hold.release);
    return true;
  }

  function price(more: number, executes: boolean, urgent = false): Promise<boolean> {
    cost += more;
    isUrgent &&= urgent;
    points += Math.max(1, Math.ceil(more / graphql.costPerRatePoint));
    decided ??= decide(executes);
    return decided;
  }

  // V8 allocates the getter of an object literal in the old generation, where it would keep the request in memory (bench/README.md).
  return {
    cost: () => cost,
    refusal: () => refusal,
    admit: (more, urgent) => price(more, true, urgent),
    count: (more) => price(more, false),
    answer(size) {
      hold?.resize(size / 1_024);
      disconnectAfter(exchange.res, deliveryMs);
    },
  };
}
