// Costs of the current periods, and the limits that apply to a mission: the daily cost cap, and the budgets of its
// organization, project and person.
import { days, now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { joinPersonSql } from '../../organization/people/join.ts';
import { joinProjectSql } from '../../projects/projects/join.ts';
import { costCapUsd, dayOf } from '../mission-costs/cap.ts';
import { spendSince } from '../mission-costs/ledger.ts';
import { reservedCalls } from '../mission-costs/model-calls.ts';
import { ownCostCap } from '../orchestrator/operations.ts';
import type { Run } from '../runs/model.ts';
import type { Budget, BudgetPeriod } from './model.ts';

const monthOf = (at: number, later = 0): number => {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later);
};

/** Start and end of the current period, epoch milliseconds, by UTC. */
export function presentPeriod(period: BudgetPeriod): { start: number; end: number } {
  const at = now();
  return period === 'day'
    ? { start: dayOf(at), end: dayOf(at) + days(1) }
    : { start: monthOf(at), end: monthOf(at, 1) };
}

/** Values of $1 and $2 in the statements below: the start of the current day and month. */
const starts = (): [day: number, month: number] => [presentPeriod('day').start, presentPeriod('month').start];

const startOf = (budget: string): string => `case ${budget}.period when 'day' then $1::bigint else $2::bigint end`;

/** A budget with the costs of its current period. `name` is the name of its project or person. */
export type BudgetUse = Pick<Budget, 'id' | 'orgId' | 'subject' | 'projectId' | 'userId' | 'period' | 'amountUsd'> & {
  name: string | null;
  spentUsd: number;
};

const useColumns = `b.id, b.org_id, b.subject, b.project_id, b.user_id, b.period, b.amount_usd, coalesce(project.name, p.name) as name,
    ${spendSince('b.org_id', startOf('b'), 'b')} as spent_usd`;
const joinNames = `${joinProjectSql('b.project_id')} ${joinPersonSql('b.user_id')}`;
const usesSql = `select ${useColumns} from budgets b ${joinNames}`;
const usedSql = `select id, org_id, subject, project_id, user_id, period, amount_usd, name, spent_usd
  from (${usesSql} where b.org_id = any($3)) b where spent_usd >= amount_usd * $4 order by amount_usd desc, id`;

export const budgetUses = (ids: readonly string[]): Promise<BudgetUse[]> =>
  sql<BudgetUse>(`${usesSql} where b.id = any($3)`, [...starts(), [...ids]]);

/**
 * Lists the budgets of the organizations. A budget is listed if at least the fraction `share` of its amount is spent. Budgets with larger amounts
 * come first.
 */
export const findUsedBudgets = (orgIds: readonly string[], share: number, trx?: Transaction): Promise<BudgetUse[]> =>
  sql<BudgetUse>(usedSql, [...starts(), [...orgIds], share], trx);

/** Whether the budget covers missions of the project that are charged to the person. */
export const isBudgetOf = (
  { orgId, projectId, userId }: Pick<Budget, 'orgId' | 'projectId' | 'userId'>,
  run: Pick<Run, 'orgId' | 'projectId' | 'billingActorUserId'>,
): boolean =>
  orgId === run.orgId &&
  (projectId === null || projectId === run.projectId) &&
  (userId === null || userId === run.billingActorUserId);

const ownerOf = ({ subject, name }: Pick<BudgetUse, 'subject' | 'name'>): string =>
  subject === 'organization' ? 'the organization' : subject === 'project' ? `the project “${name}”` : `${name}`;

/** Describes a budget, such as `monthly budget of 50.00 USD of the project “Shop”`. */
export const budgetText = (budget: Pick<BudgetUse, 'subject' | 'name' | 'period' | 'amountUsd'>): string =>
  `${budget.period === 'day' ? 'daily' : 'monthly'} budget of ${budget.amountUsd.toFixed(2)} USD of ${ownerOf(budget)}`;

/** The daily cost cap, whose `id` is null, or a budget. */
export type SpendLimit = Omit<BudgetUse, 'id'> & {
  id: Budget['id'] | null;
  /** Maximum price of all model calls in progress, in millionths of a US dollar. */
  reserved: number;
};

// One statement reads calls and costs, so that a call that ends meanwhile is counted exactly once.
const limitsSql = `with b as (
    select null::text as id, $3::text as org_id, 'organization' as subject, null::text as project_id, null::text as user_id,
      'day' as period, coalesce(${ownCostCap('$3')}, ${costCapUsd.default}) as amount_usd
    union all
    select id, org_id, subject, project_id, user_id, period, amount_usd from budgets
    where org_id = $3 and (project_id is null or project_id = $4) and (user_id is null or user_id = $5)
  )
  select ${useColumns}, ${reservedCalls('b.org_id', 'b')} as reserved from b ${joinNames}`;

/** The daily and monthly cost limits that apply to a model call of the run. */
export const readSpendLimits = (
  trx: Transaction,
  { orgId, projectId, billingActorUserId }: Pick<Run, 'orgId' | 'projectId' | 'billingActorUserId'>,
): Promise<SpendLimit[]> => sql<SpendLimit>(limitsSql, [...starts(), orgId, projectId, billingActorUserId], trx);
