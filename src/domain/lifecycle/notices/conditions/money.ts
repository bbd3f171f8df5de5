// Notices about money: credits, the daily cost cap, budgets and the plan.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, wholeOrganization } from '#access/reach.ts';
import { isoTime, now } from '#foundation/clock.ts';
import { currentPlan } from '../../../money/billing/operations.ts';
import { findLowCredits } from '../../../money/credits/low.ts';
import { countProjects } from '../../../projects/projects/operations.ts';
import { budgetText, findUsedBudgets, presentPeriod } from '../../../work/budgets/spending.ts';
import { dayOf } from '../../../work/mission-costs/cap.ts';
import { findOrchestrator } from '../../../work/orchestrator/operations.ts';
import type { Condition } from '../model.ts';

/** Thresholds of the daily cost cap or a budget, in percent; only the highest threshold reached causes a notice. */
const spentPercents = [100, 80] as const;

export async function lowCredits(caller: Caller): Promise<Condition[]> {
  const low = await findLowCredits(ownOrganization(caller));
  if (!low) return [];
  const { lotId, credits, since } = low;
  const isOut = credits === 0;
  return [
    {
      id: `credits_${isOut ? 'exhausted' : 'low'}:${lotId}`,
      kind: 'action',
      title: isOut ? 'No credits left' : 'Credits are low',
      body: isOut
        ? 'No mission starts until there are credits again.'
        : `${credits.toFixed(2)} credits are left. Without credits no mission starts.`,
      page: '/billing',
      createdAt: since,
    },
  ];
}

export async function usedCostCap(caller: Caller): Promise<Condition[]> {
  const { effectiveDailyCostCapUsd: cap, dailySpendUsd: spent, updatedAt } = await findOrchestrator(caller);
  const day = dayOf(now());
  if (cap === 0) {
    return [
      {
        id: `cost_cap_zero:${updatedAt}`,
        kind: 'warning',
        title: 'The daily cost cap is 0',
        body: 'No mission starts until the cap is raised in the settings.',
        page: '/settings',
        createdAt: updatedAt ?? day,
      },
    ];
  }
  const percent = spentPercents.find((share) => spent >= (cap * share) / 100);
  if (!percent) return [];
  const isReached = percent === 100;
  return [
    {
      id: `cost_cap_${percent}:${isoTime(day).slice(0, 10)}:${cap}`,
      kind: isReached ? 'action' : 'warning',
      title: isReached ? 'The daily cost cap is reached' : 'The daily cost cap is almost reached',
      body: `Missions have cost ${spent.toFixed(2)} of ${cap.toFixed(2)} USD since midnight UTC. At the cap no mission starts until the next midnight UTC.`,
      page: '/overview',
      createdAt: day,
    },
  ];
}

export async function usedBudgets(caller: Caller): Promise<Condition[]> {
  const used = await findUsedBudgets([wholeOrganization(caller)], Math.min(...spentPercents) / 100);
  return used.slice(0, 20).map((budget) => {
    const { id, period, amountUsd, spentUsd } = budget;
    const isUsedUp = spentUsd >= amountUsd;
    const { start, end } = presentPeriod(period);
    const [percent, state] = isUsedUp ? [100, 'is used up'] : [80, 'is almost used up'];
    return {
      id: `budget_${percent}:${id}:${isoTime(start).slice(0, 10)}:${amountUsd}`,
      kind: 'action',
      title: `The ${budgetText(budget)} ${state}`,
      body: `Missions have cost ${spentUsd.toFixed(2)} USD of the budget. Once it is used up, they wait until it is raised or ${isoTime(end).slice(0, 10)} begins, UTC.`,
      page: '/billing',
      createdAt: start,
    };
  });
}

/**
 * Warns before the creation of a project is refused with 402. An organization can also be above the limit, because an upgrade of the
 * service may introduce a limit.
 */
export async function planLimit(caller: Caller): Promise<Condition[]> {
  const orgId = ownOrganization(caller);
  const { plan, projects: limit } = await currentPlan(orgId);
  if (limit === null) return [];
  const count = await countProjects(orgId);
  if (count < limit) return [];
  return [
    {
      id: `plan_limit:${plan}:${limit}`,
      kind: 'warning',
      title: 'The plan does not allow another project',
      body: `The plan ${plan} allows ${limit} projects, and there are ${count}. You can create another project after you delete one or choose a larger plan.`,
      page: '/billing',
      createdAt: dayOf(now()),
    },
  ];
}
