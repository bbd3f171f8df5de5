// Counts the minutes in which a mission uses its sandbox. A minute is counted, and charged at the price of the instance type, when it
// begins: at the claim, or at the first heartbeat after the previous minute. If a minute would exceed a limit, it does not begin: the
// runtime saves the work and stops, and the run waits without a sandbox until the limit is raised.
import type { Caller } from '#access/principal.ts';
import { minutes, now, seconds } from '#foundation/clock.ts';
import { derivedId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { Problem } from '#foundation/problem.ts';
import { amountOf } from '../../money/credits/amounts.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { pricePerMinute } from '../../projects/instance-types/prices.ts';
import { limitOf } from '../../projects/sandbox-templates/mission-limits.ts';
import { readMoneyLeft, usd } from '../../work/budgets/money-left.ts';
import { recordMissionCost } from '../../work/mission-costs/ledger.ts';
import { cancelRuns, pauseRun } from '../../work/runs/finish.ts';
import { lockHeldRun, lockRun } from '../../work/runs/lock.ts';
import type { Run } from '../../work/runs/model.ts';
import {
  addMinute,
  endPause,
  findDueMinutes,
  findOverduePauses,
  findParkedRuns,
  parkAtLimit,
} from '../../work/runs/sandbox-minutes.ts';
import { isWaiting } from '../../work/runs/states.ts';
import { isScript } from '../../work/runs/steps.ts';
import type { LimitReached } from './call-limits.ts';

const minuteMs = minutes(1);
/** Time that the runtime has to save the work before the lease ends. It is not charged. */
const graceMs = seconds(30);

/** The limit that the next minute of the run would exceed; null when it exceeds none. */
async function limitOfMinute(trx: Transaction, run: Run): Promise<LimitReached | null> {
  const maxMinutes = limitOf(run, 'maxMinutes');
  if (run.sandboxMinutes >= maxMinutes) {
    const reason = `The mission has used its sandbox for ${maxMinutes} minute${maxMinutes === 1 ? '' : 's'}, which is its limit.`;
    return { parkedBy: 'time', reason };
  }
  const price = pricePerMinute(run.instanceType);
  if (price === 0) return null;
  await lockOrganization(trx, run.orgId);
  const { left, parkedBy, limit } = await readMoneyLeft(trx, run, amountOf(price));
  if (left >= amountOf(price)) return null;
  const reason = `${limit} The next minute of the sandbox costs ${price} USD; ${usd(Math.max(0, left))} USD are left.`;
  return { parkedBy, reason };
}

/**
 * Begins the next minute of the locked run if its current minute is over. Returns the limit that the next minute would exceed, or null when
 * the run may continue.
 * @param from When the minute begins.
 */
async function beginMinute(trx: Transaction, run: Run, from: number): Promise<LimitReached | null> {
  if ((run.minuteUntil ?? 0) > now()) return null;
  const reached = await limitOfMinute(trx, run);
  if (reached) return reached;
  const { id: runId, orgId, projectId } = run;
  const price = pricePerMinute(run.instanceType);
  // The ids of the costs that a runtime reports are derived from the id of the run and from a text that the runtime chooses. The id of this
  // cost is derived from `sandbox of` and the id of the run, so that it never equals the id of a reported cost.
  const id = derivedId('missionCost', `sandbox of ${runId}`, `${run.sandboxMinutes + 1}`);
  if (price > 0) await recordMissionCost(trx, { id, orgId, projectId, runId, sandboxId: null, usd: price, at: now() });
  await addMinute(trx, runId, price, from + minuteMs);
  run.missionCostUsd += price;
  if (price > 0) await announce(trx, runId);
  return null;
}

/**
 * Begins a minute of the sandbox for a run that this transaction has claimed, and therefore locked. If the minute would exceed a limit,
 * parks the run until the limit is raised, and returns false.
 */
export async function beginClaimedMinute(trx: Transaction, run: Run): Promise<boolean> {
  const reached = await beginMinute(trx, run, now());
  if (reached) await parkAtLimit(trx, run, reached);
  return !reached;
}

/** Begins and charges the next sandbox minute of each reported run whose current minute is over. Each run has its own transaction. */
export async function beginDueMinutes(
  caller: Caller,
  runs: readonly { runId: string; leaseId: string }[],
): Promise<void> {
  for (const held of runs.length === 0 ? [] : await findDueMinutes(runs)) {
    await transaction((trx) => continueHeld(trx, caller, held)).catch((error) => {
      // Errors such as a lost lease need no handling: the response to the heartbeat tells the runtime to stop.
      if (!(error instanceof Problem)) throw error;
    });
  }
}

async function continueHeld(trx: Transaction, caller: Caller, held: { runId: string; leaseId: string }): Promise<void> {
  const run = await lockHeldRun(trx, caller, held);
  const at = now();
  if (run.status === 'canceled' || run.pausesAt !== null) return;
  // The new minute begins when the previous minute ended, because the runtime used the sandbox between the two heartbeats. If the previous
  // minute ended more than a minute ago, the new minute begins a minute ago, so the time between the two minutes is not charged.
  const reached = await beginMinute(trx, run, Math.max(run.minuteUntil ?? at, at - minuteMs + 1));
  if (!reached) return;
  // A script cannot be continued later, so its run is canceled.
  if (await isScript(trx, run.id)) return void (await cancelRuns(trx, { id: run.id }, reached.reason));
  await parkAtLimit(trx, run, reached, run.status === 'running' ? at + graceMs : null);
}

/** Ends the leases of parked runs whose runtimes have not stopped in time. */
export async function releasePausedRuns(): Promise<void> {
  for (const { id } of await findOverduePauses()) {
    await transaction(async (trx) => {
      const run = await lockRun(trx, { id });
      if (run?.status === 'running' && run.pausesAt !== null) await pauseRun(trx, run);
    });
  }
}

/** Lets runtimes claim a parked run again if no limit forbids the next minute of its sandbox. */
export async function continueParkedRuns(): Promise<void> {
  for (const { id } of await findParkedRuns()) {
    await transaction(async (trx) => {
      const run = await lockRun(trx, { id });
      if (!run || !isWaiting(run) || run.parkedAt === null || (await limitOfMinute(trx, run))) return;
      await endPause(trx, run);
    });
  }
}
