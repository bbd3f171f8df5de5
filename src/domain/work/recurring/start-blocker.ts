// Finds the reasons why recurring missions cannot start. The reasons that block any mission also block a recurring mission. A recurring
// mission is also blocked if its agent was deleted, or if its earlier run is still open. The reasons are read while the missions are locked,
// so that the second of two concurrent starts sees the run of the first start.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { isNoAgent } from '../../projects/agents/runnable.ts';
import type { Project } from '../../projects/projects/model.ts';
import type { Run, WaitingRun } from '../runs/model.ts';
import { recurringWithOpenRuns } from '../runs/operations.ts';
import { isOpen } from '../runs/states.ts';
import { findBudgetBlockers, findModelBlockers, generalBlocker, type StartBlocker } from '../starts/blockers.ts';
import { afterStart, type MayStart, mayStartMission } from '../starts/gate.ts';
import type { RecurringMission } from './model.ts';

interface Start {
  /** The person to whom a run of the mission is charged. */
  actorOf(mission: RecurringMission): Run['billingActorUserId'];
  /** Whether the budget is assumed to suffice, because the ledgers are not locked yet. */
  assumesBudget: boolean;
}

/**
 * Returns the blockers by mission id. A mission that has no blocker may start. The caller must have locked all of the missions.
 * @throws `BudgetExceeded` if `assumesBudget` is true although one of the organizations cannot start missions
 */
export async function findStartBlockers(
  trx: Transaction,
  candidates: readonly RecurringMission[],
  projects: ReadonlyMap<string, Pick<Project, 'status'>>,
  { actorOf, assumesBudget }: Start,
): Promise<Map<string, StartBlocker>> {
  const orgIds = new Set(candidates.map(({ orgId }) => orgId));
  const busy = await findBusy(trx, candidates);
  const [withoutAgent, modelBlockerOf, budgetBlockerOf, budgets] = await Promise.all([
    findWithoutAgent(trx, candidates),
    findModelBlockers(trx, candidates),
    findBudgetBlockers(trx, [...orgIds]),
    readBudgets(trx, orgIds, assumesBudget),
  ]);
  const found = new Map<string, StartBlocker>();
  for (const mission of candidates) {
    const { id, projectId, orgId } = mission;
    const { status } = projects.get(projectId)!;
    const may = budgets.get(orgId)!;
    if (assumesBudget && !may.ok) throw new BudgetExceeded();
    const charged = { orgId, projectId, billingActorUserId: actorOf(mission) };
    const general = generalBlocker(status, may) ?? budgetBlockerOf(charged);
    const modelBlocker = modelBlockerOf(mission);
    if (general) {
      found.set(id, general);
    } else if (withoutAgent.has(id)) {
      const reason = 'The agent of this mission was deleted.';
      found.set(id, { reason, problem: conflict(reason) });
    } else if (modelBlocker) {
      found.set(id, modelBlocker);
    } else if (busy.has(id)) {
      found.set(id, { reason: 'The previous run is still open.', problem: null });
    } else {
      budgets.set(orgId, afterStart(may));
    }
  }
  return found;
}

async function readBudgets(
  trx: Transaction,
  orgIds: ReadonlySet<string>,
  assumesBudget: boolean,
): Promise<Map<string, MayStart>> {
  const budgets = new Map<string, MayStart>();
  // The ledgers are locked in a fixed order, so that concurrent starts do not deadlock.
  for (const orgId of [...orgIds].sort())
    budgets.set(orgId, await mayStartMission(trx, orgId, { held: !assumesBudget }));
  return budgets;
}

/** Thrown when a budget does not suffice after all. The blockers are then determined again, with the ledgers locked. */
class BudgetExceeded extends Error {}

/**
 * Locks the ledgers of the organizations whose runs were just written, and checks that their budgets suffice, as was assumed when the runs were
 * written. @throws `BudgetExceeded` when a budget does not suffice
 */
export async function lockBudgets(trx: Transaction, runs: readonly WaitingRun[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const { orgId } of runs.filter(isOpen)) counts.set(orgId, (counts.get(orgId) ?? 0) + 1);
  for (const orgId of [...counts.keys()].sort()) {
    const begun = counts.get(orgId)!;
    const may = await mayStartMission(trx, orgId, { begun });
    if (!may.ok || may.missions < begun) throw new BudgetExceeded();
  }
}

const withoutAgentSql = `select m.id from recurring_missions m where m.id = any($1) and ${isNoAgent('m.agent_id')}`;

/** The ids of missions whose agent was deleted. */
async function findWithoutAgent(trx: Transaction, candidates: readonly RecurringMission[]): Promise<Set<string>> {
  const pinned = candidates.filter(({ agentId }) => agentId !== null).map(({ id }) => id);
  if (pinned.length === 0) return new Set();
  const found = await sql<{ id: string }>(withoutAgentSql, [pinned], trx);
  return new Set(found.map(({ id }) => id));
}

/** The ids of missions that have an open run and skip occurrences while it is open. */
async function findBusy(trx: Transaction, candidates: readonly RecurringMission[]): Promise<Set<string | null>> {
  const exclusive = candidates.filter(({ skipIfPreviousOpen }) => skipIfPreviousOpen).map(({ id }) => id);
  if (exclusive.length === 0) return new Set();
  return new Set(await recurringWithOpenRuns(trx, exclusive));
}
