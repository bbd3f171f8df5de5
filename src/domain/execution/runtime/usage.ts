// What the work on a run costs: amounts as a runtime reports them, and tokens at the catalog's prices. Each counts once: for the
// run, its step and session, and against the organization's day. A run that has cost its budget ends.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { derivedId } from '#foundation/ids.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import { priceOf } from '../../projects/agents/prices.ts';
import { recordMissionCost } from '../../work/orchestrator/mission-costs.ts';
import { addCost, markCostIncomplete } from '../../work/runs/cost.ts';
import { cancelRuns } from '../../work/runs/finish.ts';
import type { Run } from '../../work/runs/model.ts';
import { addStepUsage, type Tokens } from '../../work/runs/steps.ts';
import { addSessionCost, sandboxOfRun } from '../../work/sandboxes/register.ts';
import { lockHeldRun } from './lease.ts';

export interface Cost {
  runId: string;
  leaseId: string;
  /** The runtime's own id: a repeated cost counts once. */
  costId: string;
  usd: number;
  sandboxId?: string | null | undefined;
  role?: AgentRole | null | undefined;
  sessionId?: string | null | undefined;
  /** Whether costs are known to be missing. */
  incomplete?: boolean | undefined;
}

/** Counts a cost of a run that is locked. Returns false when it was counted before. */
export async function countCost(trx: Transaction, run: Run, cost: Cost): Promise<boolean> {
  const { id: runId, orgId, projectId } = run;
  const { usd, role, sessionId } = cost;
  const sandboxId = cost.sandboxId ? await sandboxOfRun(trx, runId, cost.sandboxId) : null;
  const id = derivedId('missionCost', runId, cost.costId);
  const isNew = await recordMissionCost(trx, { id, orgId, projectId, runId, sandboxId, usd, at: now() });
  if (!isNew) return false;
  await addCost(trx, runId, usd);
  if (sandboxId && role && sessionId) {
    await addSessionCost(trx, { sandboxId, role, sessionId }, usd);
  }
  await announce(trx, runId, ...(sandboxId ? [sandboxId] : []));
  await endAtBudget(trx, run, run.missionCostUsd + usd);
  return true;
}

async function endAtBudget(trx: Transaction, { id, budgetUsd }: Run, spentUsd: number): Promise<void> {
  if (budgetUsd === null || spentUsd < budgetUsd) return;
  const reason = `The mission has cost ${spentUsd.toFixed(2)} USD: its budget of ${budgetUsd.toFixed(2)} USD is used up.`;
  await cancelRuns(trx, { id } as object, reason);
}

export interface Usage extends Tokens {
  runId: string;
  leaseId: string;
  /** The runtime's own id: a repeated report counts once. */
  usageId: string;
  stepId: string;
  sandboxId?: string | null | undefined;
  role?: AgentRole | null | undefined;
  sessionId?: string | null | undefined;
  model: string;
}

/** Counts the tokens of a step, and their cost. */
export const reportUsage = (caller: Caller, usage: Usage): Promise<void> =>
  transaction(async (trx) => {
    const run = await lockHeldRun(trx, caller, usage);
    const price = priceOf(usage.model);
    if (!price) await markCostIncomplete(trx, run.id);
    const usd = price ? costOf(usage, price) : 0;
    const isNew = await countCost(trx, run, { ...usage, costId: `usage ${usage.usageId}`, usd });
    if (isNew) await addStepUsage(trx, run.id, usage.stepId, usd, usage, usage.sessionId ?? null);
  });

export const costOf = (usage: Tokens, price: NonNullable<ReturnType<typeof priceOf>>): number =>
  (usage.inputTokens * price.input +
    usage.cachedInputTokens * price.cachedInput +
    usage.cacheWriteTokens * price.cacheWrite +
    usage.outputTokens * price.output) /
  1_000_000;
