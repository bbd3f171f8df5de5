// Reserves the highest price of a model call before its runtime makes it. The cost of a mission never exceeds its budget, the credits
// and the daily cost cap of its organization, and the budgets of organization, project and person: a call that does not fit waits until
// a person raises the limit, or its next day or month begins.
import type { Caller } from '#access/principal.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { amountOf, creditsOf } from '../../money/credits/amounts.ts';
import { coverRun } from '../../money/credits/missions.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { budgetText, readSpendLimits, type SpendLimit } from '../../work/budgets/spending.ts';
import { ceilingOf } from '../../work/mission-costs/ceiling.ts';
import { costOfRun } from '../../work/mission-costs/ledger.ts';
import { findModelCall, insertModelCall, readReservedCalls } from '../../work/mission-costs/model-calls.ts';
import { markMetered, parkRun, unparkRun } from '../../work/runs/decisions.ts';
import { leaseIsLost, lockHeldRun } from '../../work/runs/lock.ts';
import type { ParkingLimit, Run } from '../../work/runs/model.ts';
import { priceOfCall, refuseUnnamed } from './models.ts';

export interface ModelCallRequest {
  runId: string;
  leaseId: string;
  /** The runtime's own id: a repeated request gets the same answer. */
  callId: string;
  model: string;
  /** Upper bound of the call's input tokens. */
  inputTokens: number;
  /** Maximum of output tokens that the call requests. */
  outputTokens: number;
}

export interface ModelCallGrant {
  /** Allowed output tokens; 0 means that the call must not be made yet. */
  outputTokens: number;
  /** Reason why the call must not be made; null when it may. */
  reason: string | null;
}

/** A shorter answer is useless to an agent. */
const leastOutputTokens = 1_024;
const maxCallsAtOnce = 1_000;

export const reserveModelCall = (caller: Caller, call: ModelCallRequest): Promise<ModelCallGrant> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, call);
    const { orgId } = run;
    // The lock serializes the reservations of an organization.
    await lockOrganization(trx, orgId);
    if (run.status === 'canceled') throw leaseIsLost();
    const before = await findModelCall(trx, run.id, call.callId);
    if (before) return { outputTokens: before.outputTokens, reason: null };
    await markMetered(trx, run);
    const price = await priceOfCall(trx, run, call.model);
    if (!price) await refuseUnnamed(trx, run, call.model);
    // A model without a price: the cost of the run is marked as incomplete when usage is reported.
    if (!price) return { outputTokens: call.outputTokens, reason: null };
    // US dollars per million tokens are millionths of a dollar per token.
    const inputAmount = Math.ceil(call.inputTokens * Math.max(price.input, price.cachedInput, price.cacheWrite));
    const amountFor = (outputTokens: number) => inputAmount + Math.ceil(outputTokens * price.output);
    const { left, parkedBy, limit, reserved, calls } = await readLeft(trx, run, amountFor(call.outputTokens));
    if (calls >= maxCallsAtOnce)
      throw conflict(`The run has ${maxCallsAtOnce} model calls in progress, which is the maximum.`);
    const leftForOutput = left - inputAmount;
    // A price may be 0.
    const affordable =
      leftForOutput < amountFor(call.outputTokens) - inputAmount ? Math.floor(leftForOutput / price.output) : Infinity;
    const outputTokens = Math.min(call.outputTokens, affordable);
    if (outputTokens < Math.min(call.outputTokens, leastOutputTokens)) {
      const wanted = amountFor(Math.min(call.outputTokens, leastOutputTokens));
      const reason = `${limit} The next model call may cost ${usd(wanted)} USD; ${usd(Math.max(0, left))} USD are left${reserved > 0 ? ` beside calls in progress` : ''}.`;
      await parkRun(trx, run, parkedBy, reason);
      return { outputTokens: 0, reason };
    }
    await unparkRun(trx, run);
    await insertModelCall(trx, {
      runId: run.id,
      callId: call.callId,
      orgId,
      amount: amountFor(outputTokens),
      outputTokens,
      price,
    });
    return { outputTokens, reason: null };
  });

const usd = (amount: number): string => creditsOf(amount).toFixed(2);

interface Left {
  /** Millionths of a US dollar that the next call may cost. */
  left: number;
  /** The tightest limit. */
  parkedBy: ParkingLimit;
  /** The limit in a sentence. */
  limit: string;
  /** Highest price of the other calls of the run in progress. */
  reserved: number;
  calls: number;
}

type Limit = [parkedBy: ParkingLimit, left: number, limit: string];

function limitOf(one: SpendLimit): Limit {
  const { id, amountUsd, spentUsd, reserved } = one;
  const left = amountOf(amountUsd) - amountOf(spentUsd) - reserved;
  const name = id === null ? `daily cap of ${amountUsd.toFixed(2)} USD` : budgetText(one);
  return [id === null ? 'cap' : 'shared_budget', left, `Missions have cost ${spentUsd.toFixed(2)} of the ${name}.`];
}

/** Amount left under the tightest limit for a call of this amount. Reserves credits for it, as far as there are any. */
async function readLeft(trx: Transaction, run: Run, amount: number): Promise<Left> {
  const { id: runId, orgId } = run;
  const cost = await costOfRun(trx, runId);
  const { reserved, calls } = await readReservedCalls(trx, runId);
  const ceilingUsd = await ceilingOf(trx, run);
  const limits: Limit[] = [
    [
      'budget',
      amountOf(ceilingUsd) - cost - reserved,
      `The mission has cost ${usd(cost)} of its budget of ${ceilingUsd.toFixed(2)} USD.`,
    ],
    ...(await readSpendLimits(trx, run)).map(limitOf),
  ];
  const needed = cost + reserved + Math.max(0, Math.min(amount, ...limits.map(([, left]) => left)));
  const creditsLeft = (await coverRun(trx, { orgId, runId, needed })) - cost - reserved;
  limits.push(['credits', creditsLeft, 'The organization has too few credits.']);
  const [parkedBy, left, limit] = limits.reduce((tightest, one) => (one[1] < tightest[1] ? one : tightest));
  return { left, parkedBy, limit, reserved, calls };
}
