// Reserves the highest price of a model call before its runtime makes it. The cost of a mission never exceeds its budget, the credits and
// the daily cost cap of its organization, and the budgets of organization, project and person: a call that would exceed a limit waits until
// a person raises the limit, or until the next day or month of the limit begins.
import type { Caller } from '#access/principal.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { readMoneyLeft, usd } from '../../work/budgets/money-left.ts';
import { findModelCall, insertModelCall, type ModelCall } from '../../work/mission-costs/model-calls.ts';
import { highestPrice, type TokenPrice } from '../../work/mission-costs/prices.ts';
import { minOutputTokens } from '../../work/runs/bounds.ts';
import { countModelCall, markMetered, parkRun, unparkRun } from '../../work/runs/decisions.ts';
import { leaseIsLost, lockHeldRun } from '../../work/runs/lock.ts';
import type { Run } from '../../work/runs/model.ts';
import { type LimitReached, readCallLimit } from './call-limits.ts';
import { neededPriceOf } from './models.ts';

export interface ModelCallRequest {
  runId: string;
  leaseId: string;
  /** Id that the runtime has chosen: a repeated request gets the same answer. */
  callId: string;
  model: string;
  /** Upper bound on the number of input tokens of the call. */
  inputTokens: number;
  /** Maximum output tokens that the call requests. */
  outputTokens: number;
}

export interface ModelCallGrant {
  /** Allowed output tokens; 0 means that the call must not be made yet. */
  outputTokens: number;
  /** Reason why the call must not be made; null when it may. */
  reason: string | null;
}

export const reserveModelCall = (caller: Caller, call: ModelCallRequest): Promise<ModelCallGrant> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, call);
    const { orgId } = run;
    // The lock makes the reservations of one organization sequential.
    await lockOrganization(trx, orgId);
    if (run.status === 'canceled') throw leaseIsLost();
    const before = await findModelCall(trx, run.id, call.callId);
    if (before) return { outputTokens: before.outputTokens, reason: null };
    if (run.pausesAt !== null) return { outputTokens: 0, reason: run.parkedReason };
    await markMetered(trx, run);
    const price = await neededPriceOf(trx, run, call.model);
    const reservation = await tryReserve(trx, run, call, price);
    if ('reason' in reservation) {
      await parkRun(trx, run, reservation.parkedBy, reservation.reason);
      return { outputTokens: 0, reason: reservation.reason };
    }
    await unparkRun(trx, run);
    await countModelCall(trx, run.id);
    await insertModelCall(trx, { runId: run.id, callId: call.callId, orgId, ...reservation, price });
    return { outputTokens: reservation.outputTokens, reason: null };
  });

type Reservation = Pick<ModelCall, 'amount' | 'outputTokens'> | LimitReached;

/**
 * Returns how many output tokens the call may have within all limits, and the highest price that the call can then have. If that is too few
 * tokens, returns the limit that was reached.
 */
async function tryReserve(
  trx: Transaction,
  run: Run,
  { inputTokens, outputTokens: requested }: ModelCallRequest,
  price: TokenPrice,
): Promise<Reservation> {
  const limit = await readCallLimit(trx, run, requested);
  if ('reason' in limit) return limit;
  const wanted = limit.outputTokens;
  const amountFor = (outputTokens: number) => highestPrice(price, inputTokens, outputTokens);
  const inputAmount = amountFor(0);
  const { left, parkedBy, limit: words, reserved } = await readMoneyLeft(trx, run, amountFor(wanted));
  const leftForOutput = left - inputAmount;
  // If the price of the output is 0, the code divides only when the input alone costs more than is left. The quotient is then -Infinity, so
  // the call is refused.
  const affordable =
    leftForOutput < amountFor(wanted) - inputAmount ? Math.floor(leftForOutput / price.output) : Infinity;
  const outputTokens = Math.min(wanted, affordable);
  const least = Math.min(wanted, minOutputTokens);
  if (outputTokens >= least) return { amount: amountFor(outputTokens), outputTokens };
  const reason = `${words} The next model call may cost ${usd(amountFor(least))} USD; ${usd(Math.max(0, left))} USD are left${reserved > 0 ? ` in addition to calls in progress` : ''}.`;
  return { parkedBy, reason };
}
