// Costs of the present periods, and the limits of them that apply to a mission: the daily cost cap and the budgets of its organization,
// its project and its person.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { costCapUsd, dayOf } from '../mission-costs/cap.ts';
import type { Run } from '../runs/model.ts';
import type { Budget, BudgetPeriod } from './model.ts';

const monthOf = (at: number, later = 0): number => {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later);
};

/** Start and end of the present period, epoch milliseconds, by UTC. */
export function presentPeriod(period: BudgetPeriod): { start: number; end: number } {
  const at = now();
  return period === 'day'
    ? { start: dayOf(at), end: dayOf(at) + 86_400_000 }
    : { start: monthOf(at), end: monthOf(at, 1) };
}

/** The first two parameters of the statements below: starts of the present day and month. */
const starts = (): [day: number, month: number] => [presentPeriod('day').start, presentPeriod('month').start];

const spentSql = (budget: string): string => `(select coalesce(sum(s.usd), 0) from mission_spending s
    where s.org_id = ${budget}.org_id and s.day >= case ${budget}.period when 'day' then $1::bigint else $2::bigint end
      and (${budget}.project_id is null or s.project_id = ${budget}.project_id)
      and (${budget}.user_id is null or s.user_id = ${budget}.user_id))`;

/** A budget with the costs of its present period; `name` is that of its project or person. */
export type BudgetUse = Pick<Budget, 'id' | 'orgId' | 'subject' | 'projectId' | 'userId' | 'period' | 'amountUsd'> & {
  name: string | null;
  spentUsd: number;
};

const useColumns = (
  b: string,
) => `${b}.id, ${b}.org_id, ${b}.subject, ${b}.project_id, ${b}.user_id, ${b}.period, ${b}.amount_usd,
    coalesce(p.name, u.name) as name`;
const withNames = (b: string) =>
  `left join projects p on p.id = ${b}.project_id left join people u on u.id = ${b}.user_id`;

const usesSql = `select ${useColumns('b')}, ${spentSql('b')} as spent_usd from budgets b ${withNames('b')}`;

export const budgetUses = (ids: readonly string[]): Promise<BudgetUse[]> =>
  sql<BudgetUse>(`${usesSql} where b.id = any($3)`, [...starts(), [...ids]]);

/** Budgets of these organizations of which at least this share is spent, those with the largest amounts first. */
export const findUsedBudgets = (orgIds: readonly string[], share: number, trx?: Transaction): Promise<BudgetUse[]> =>
  sql<BudgetUse>(
    `select * from (${usesSql} where b.org_id = any($3)) b where spent_usd >= amount_usd * $4 order by amount_usd desc, id`,
    [...starts(), [...orgIds], share],
    trx,
  );

/** Whether the budget is for missions of the project that the person is charged with. */
export const isBudgetOf = (
  { orgId, projectId, userId }: Pick<Budget, 'orgId' | 'projectId' | 'userId'>,
  run: Pick<Run, 'orgId' | 'projectId' | 'billingActorUserId'>,
): boolean =>
  orgId === run.orgId &&
  (projectId === null || projectId === run.projectId) &&
  (userId === null || userId === run.billingActorUserId);

const ownerOf = ({ subject, name }: Pick<BudgetUse, 'subject' | 'name'>): string =>
  subject === 'organization' ? 'the organization' : subject === 'project' ? `the project “${name}”` : `${name}`;

/** Such as `monthly budget of 50.00 USD of the project “Shop”`. */
export const budgetText = (budget: Pick<BudgetUse, 'subject' | 'name' | 'period' | 'amountUsd'>): string =>
  `${budget.period === 'day' ? 'daily' : 'monthly'} budget of ${budget.amountUsd.toFixed(2)} USD of ${ownerOf(budget)}`;

/** The daily cost cap, whose `id` is null, or a budget. */
export type SpendLimit = Omit<BudgetUse, 'id'> & {
  id: Budget['id'] | null;
  /** Highest price of model calls in progress, in millionths of a US dollar. */
  reserved: number;
};

// One statement sees each call once, either in progress or as a cost.
const limitsSql = `with b as (
    select null::text as id, $3::text as org_id, 'organization' as subject, null::text as project_id, null::text as user_id,
      'day' as period, coalesce((select daily_cost_cap_usd from orchestrators where org_id = $3), ${costCapUsd.default}) as amount_usd
    union all
    select id, org_id, subject, project_id, user_id, period, amount_usd from budgets
    where org_id = $3 and (project_id is null or project_id = $4) and (user_id is null or user_id = $5)
  )
  select ${useColumns('b')}, ${spentSql('b')} as spent_usd,
    (select coalesce(sum(c.amount), 0)::bigint from model_calls c where c.org_id = b.org_id
      and (b.project_id is null and b.user_id is null or exists (
        select from runs r where r.id = c.run_id and (b.project_id is null or r.project_id = b.project_id)
          and (b.user_id is null or r.billing_actor_user_id = b.user_id)))) as reserved
  from b ${withNames('b')}`;

/** The limits of costs of a day or month that a model call of the run has to fit into. */
export const readSpendLimits = (
  trx: Transaction,
  { orgId, projectId, billingActorUserId }: Pick<Run, 'orgId' | 'projectId' | 'billingActorUserId'>,
): Promise<SpendLimit[]> => sql<SpendLimit>(limitsSql, [...starts(), orgId, projectId, billingActorUserId], trx);
