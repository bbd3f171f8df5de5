// Finds what blocks the start of a mission, however it is started: the status of its project, a limit of its organization, a used-up
// budget, or no model for any agent that may work on it.
import { isoTime } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { conflict, modelRequired, organizationClosed, type Problem, paymentRequired } from '#foundation/problem.ts';
import { harnessesFor, isModelKnown } from '../../projects/agents/runnable.ts';
import { idOfNamedModel, isNamedModel } from '../../projects/integrations/operations.ts';
import type { Project } from '../../projects/projects/model.ts';
import { budgetText, findUsedBudgets, isBudgetOf, presentPeriod } from '../budgets/spending.ts';
import type { Run } from '../runs/model.ts';
import type { MayStart } from './gate.ts';

export interface StartBlocker {
  /** Reason that is recorded on the skipped run. */
  reason: string;
  /**
   * The error for a person who starts the mission. Null means that the start returns no error to the person: it is recorded as a skipped
   * run, in the same way as a blocked start by the schedule.
   */
  problem: Problem | null;
}

/** The reason that blocks every mission of the project: the project's status, or the budget of its organization. */
export function generalBlocker(status: Project['status'], may: MayStart): StartBlocker | undefined {
  if (status !== 'active') {
    const reason = `The project is ${status}: no mission starts on it.`;
    return { reason, problem: conflict(reason) };
  }
  if (may.ok) return undefined;
  const { code, reason } = may;
  return { reason, problem: code === 'organization_closed' ? organizationClosed() : paymentRequired(code, reason) };
}

type Charged = Pick<Run, 'orgId' | 'projectId' | 'billingActorUserId'>;

/** Returns a function that blocks missions whose budget is used up. */
export async function findBudgetBlockers(
  trx: Transaction,
  orgIds: readonly string[],
): Promise<(mission: Charged) => (StartBlocker & { problem: Problem }) | undefined> {
  const used = await findUsedBudgets(orgIds, 1, trx);
  return (mission) => {
    const budget = used.find((one) => isBudgetOf(one, mission));
    if (!budget) return undefined;
    const since = isoTime(presentPeriod(budget.period).start).slice(0, 10);
    const reason = `The ${budgetText(budget)} is used up: missions have cost ${budget.spentUsd.toFixed(2)} USD since ${since} UTC.`;
    return { reason, problem: paymentRequired('budget_exhausted', reason) };
  };
}

type ModelBlocker = StartBlocker & { problem: Problem };
type NamedAgent = Pick<Run, 'orgId' | 'agentId'>;

const withoutModelSql = `select org_id, agent_id, (select ${idOfNamedModel('w.vendor')} from (${harnessesFor('o.org_id', 'o.agent_id')}) w
    where o.agent_id is not null and ${isNamedModel('w.vendor')} limit 1) as model from (select distinct org_id, agent_id from unnest($1::text[], $2::text[]) u (org_id, agent_id)) o
  where not exists (select from (${harnessesFor('o.org_id', 'o.agent_id')}) w
    where ${isModelKnown('w.harness', 'w.vendor', 'o.org_id')})`;

/** Returns a function that blocks missions whose permitted agents all lack a model. */
export async function findModelBlockers(
  trx: Transaction,
  missions: readonly NamedAgent[],
): Promise<(mission: NamedAgent) => ModelBlocker | undefined> {
  const values = [missions.map(({ orgId }) => orgId), missions.map(({ agentId }) => agentId)];
  const found = await sql<NamedAgent & { model: string | null }>(withoutModelSql, values, trx);
  return (mission) => {
    const one = found.find(({ orgId, agentId }) => orgId === mission.orgId && agentId === mission.agentId);
    return one && modelBlocker(one.model);
  };
}

const noModel = 'No model is connected: connect one to the organization, or name an agent that runs scripts.';

/** Blocks a mission for lack of a model. @param named The model that no connector lists; null when no model is connected at all */
function modelBlocker(named: string | null): ModelBlocker {
  const reason = named
    ? `No connector with a key lists the model ${named}: add it to a model connector, or choose another model for the agent.`
    : noModel;
  return { reason, problem: modelRequired(reason) };
}
