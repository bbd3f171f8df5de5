// Counts each cost of a run once: for the run, for its session, and against the organization's daily cap. A run whose cost reaches its
// budget ends.
import { now } from '#foundation/clock.ts';
import { derivedId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import { lockGroup } from '../attempts/record.ts';
import { addCost, costOfTask } from '../runs/cost.ts';
import { cancelRuns } from '../runs/finish.ts';
import type { Run } from '../runs/model.ts';
import { addSessionCost, sandboxOfRun } from '../sandboxes/register.ts';
import { scriptCostUsd } from './cap.ts';
import { costOfAttempts, costOfRun, recordMissionCost } from './ledger.ts';

export interface ReportedCost {
  /** Id that the runtime has chosen for the cost. A cost that is reported twice has the same id both times, and is counted once. */
  costId: string;
  usd: number;
  sandboxId?: string | null | undefined;
  role?: AgentRole | null | undefined;
  sessionId?: string | null | undefined;
  /** Whether the runtime knows that costs are missing. */
  incomplete?: boolean | undefined;
}

export interface CountedCost extends ReportedCost {
  /** Whether a script reported the cost. The run shows such a cost in full, but the ledger counts it only up to a bound. */
  isClaim?: boolean;
}

/** Counts a cost of a run that is locked. Returns false when it was counted before. */
export async function countCost(trx: Transaction, run: Run, cost: CountedCost): Promise<boolean> {
  const { id: runId, orgId, projectId } = run;
  const { usd, role, sessionId } = cost;
  const sandboxId = cost.sandboxId ? await sandboxOfRun(trx, runId, cost.sandboxId) : null;
  const id = derivedId('missionCost', runId, cost.costId);
  // Attempts at one task share a budget. The lock on their group makes sure that one cost is counted before the next one is checked.
  if (run.attemptGroupId !== null) await lockGroup(trx, run.attemptGroupId);
  const charged = cost.isClaim ? Math.min(usd, await claimableUsd(trx, run)) : usd;
  const isNew = await recordMissionCost(trx, { id, orgId, projectId, runId, sandboxId, usd: charged, at: now() });
  if (!isNew) return false;
  await addCost(trx, runId, usd);
  if (sandboxId && role && sessionId) {
    await addSessionCost(trx, { sandboxId, role, sessionId }, usd);
  }
  await announce(trx, runId, ...(sandboxId ? [sandboxId] : []));
  await endAtBudget(trx, run, await costOfTask(trx, { ...run, missionCostUsd: run.missionCostUsd + usd }));
  return true;
}

/**
 * The amount in US dollars that the scripts of the run may still report as their cost. It is limited, because otherwise a script could use up the
 * cost cap and the credits of the organization.
 */
const claimableUsd = async (trx: Transaction, { id, budgetUsd, attemptGroupId }: Run): Promise<number> =>
  Math.max(
    0,
    (budgetUsd ?? scriptCostUsd) -
      (attemptGroupId && budgetUsd !== null ? await costOfAttempts(trx, attemptGroupId) : await costOfRun(trx, id)) /
        1_000_000,
  );

/** Ends a run that has reached its budget. A metered run continues, but its next model call is refused. */
async function endAtBudget(
  trx: Transaction,
  { id, budgetUsd, isMetered, attemptGroupId }: Run,
  spentUsd: number,
): Promise<void> {
  if (isMetered || budgetUsd === null || spentUsd < budgetUsd) return;
  const [subject, whose] = attemptGroupId === null ? ['The mission has', 'its'] : ['The attempts have', 'their'];
  const reason = `${subject} cost ${spentUsd.toFixed(2)} USD: ${whose} budget of ${budgetUsd.toFixed(2)} USD is used up.`;
  await cancelRuns(trx, { id }, reason);
}
