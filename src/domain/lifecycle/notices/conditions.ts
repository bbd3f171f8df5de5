// The conditions behind notices, each with the scope that a caller needs to see it. Every read is bounded.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization } from '#access/reach.ts';
import type { Scope } from '#access/scopes.ts';
import { days, isoTime, minutes, now } from '#foundation/clock.ts';
import { listExpiringTokens } from '../../identity/tokens/operations.ts';
import { currentPlan } from '../../money/billing/operations.ts';
import { findLowCredits } from '../../money/credits/low.ts';
import { listBrokenIntegrations } from '../../projects/integrations/operations.ts';
import { countProjects } from '../../projects/projects/operations.ts';
import { budgetText, findUsedBudgets, presentPeriod } from '../../work/budgets/spending.ts';
import { dayOf } from '../../work/mission-costs/cap.ts';
import { findOrchestrator } from '../../work/orchestrator/operations.ts';
import { RecurringMission } from '../../work/recurring/model.ts';
import { findRunsAwaitingPerson, parkedNeed } from '../../work/runs/needs.ts';
import { findFailureStreaks, findWaitingRuns } from '../../work/runs/trouble.ts';
import { AuditStream } from '../audit/stream/model.ts';
import { listDisabledEndpoints } from '../webhooks/operations.ts';
import type { Notice } from './model.ts';

/** A notice with the console page on which a person acts on it. */
export type Condition = Omit<Notice, 'actionUrl'> & { page: string };

/** Shares of the daily cost cap or a budget, in percent; only the highest one reached causes a notice. */
const spentPercents = [100, 80] as const;
/** Numbers of days before a token expires; only the smallest one that applies causes a notice. */
const tokenDays = [1, 7, 14] as const;
/** How long a run waits for a runtime before it causes a notice. */
const longWaitMs = minutes(5);
/** How long deliveries of the audit log fail before they cause a notice. */
const streamFailsMs = minutes(15);

const quoted = (name: string): string => `“${name}”`;

async function lowCredits(caller: Caller): Promise<Condition[]> {
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

async function costCap(caller: Caller): Promise<Condition[]> {
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

async function usedBudgets(caller: Caller): Promise<Condition[]> {
  beyondOneProject(caller);
  const used = await findUsedBudgets([ownOrganization(caller)], Math.min(...spentPercents) / 100);
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

/** Warns before the creation of a project is refused with 402. An upgrade of the service may also introduce a limit. */
async function planLimit(caller: Caller): Promise<Condition[]> {
  const orgId = ownOrganization(caller);
  const { plan, projects: limit } = await currentPlan(orgId);
  if (limit === null) return [];
  const count = await countProjects(orgId);
  if (count < limit) return [];
  return [
    {
      id: `plan_limit:${plan}:${limit}`,
      kind: 'warning',
      title: 'The plan has no room for another project',
      body: `The plan ${plan} allows ${limit} projects, and there are ${count}. You can create another one after deleting some or choosing a larger plan.`,
      page: '/billing',
      createdAt: dayOf(now()),
    },
  ];
}

/** Notices about tokens that expire soon: all tokens of the person for a console session, only the token itself for a token. */
async function expiringTokens(caller: Caller): Promise<Condition[]> {
  if (caller.userId === null) return [];
  const at = now();
  const tokens = await listExpiringTokens(ownOrganization(caller), caller.userId, at + days(Math.max(...tokenDays)));
  return tokens
    .filter(({ id }) => caller.principalType === 'cookie' || caller.credentialId === id)
    .flatMap(({ id, name, createdAt, expiresAt }): Condition[] => {
      // A threshold applies only to tokens with a longer lifetime: otherwise a new token would cause a notice at once.
      const left = tokenDays.find((n) => expiresAt - at <= days(n) && expiresAt - createdAt > days(n));
      if (!left) return [];
      return [
        {
          id: `token_expiring:${id}:${left}`,
          kind: left === 1 ? 'action' : 'warning',
          title: `The token ${quoted(name)} expires in ${left === 1 ? 'one day' : `${left} days`} or less`,
          body: `It expires at ${isoTime(expiresAt)}. Create a new one for the programs that use it.`,
          page: '/tokens',
          createdAt: expiresAt - days(left),
        },
      ];
    });
}

const brokenConnectors = async (caller: Caller): Promise<Condition[]> =>
  (await listBrokenIntegrations(ownOrganization(caller))).map(({ id, displayName, brokenSince }) => ({
    id: `connector_broken:${id}:${brokenSince}`,
    kind: 'action',
    title: `The connector ${quoted(displayName)} does not work`,
    body: 'The vendor rejects its credentials. Missions of projects with this connector cannot continue until the credentials are replaced.',
    page: '/integrations',
    createdAt: brokenSince!,
  }));

async function failingSchedules(caller: Caller): Promise<Condition[]> {
  const streaks = await findFailureStreaks(ownOrganization(caller));
  const ids = streaks.map(({ recurringId }) => recurringId);
  const missions = ids.length > 0 ? await RecurringMission.findByKeys('id', ids) : [];
  return streaks.flatMap(({ recurringId, completedId, at }): Condition[] => {
    const mission = missions.find(({ id, enabled }) => enabled && id === recurringId);
    if (!mission) return [];
    return [
      {
        id: `schedule_failing:${recurringId}:${completedId ?? 'never'}`,
        kind: 'action',
        title: `${quoted(mission.name)} keeps failing`,
        body: 'At least its last three missions have failed.',
        page: `/projects/${mission.projectId}`,
        createdAt: at,
      },
    ];
  });
}

async function waitingRuns(caller: Caller): Promise<Condition[]> {
  const waiting = await findWaitingRuns(ownOrganization(caller), longWaitMs);
  if (!waiting) return [];
  const { count, since, reason } = waiting;
  const many = count === 1 ? 'A mission waits' : `${count}${count === 100 ? ' or more' : ''} missions wait`;
  return [
    {
      // One notice per day, for any number of waiting runs.
      id: `run_waiting:${isoTime(since).slice(0, 10)}`,
      kind: 'action',
      title: `${many} for a runtime`,
      body: reason ?? 'No runtime has claimed it for five minutes.',
      page: '/runs?status=dispatching',
      createdAt: since,
    },
  ];
}

/** A destination that is only briefly unavailable causes no notice. */
async function failingAuditStream(caller: Caller): Promise<Condition[]> {
  const stream = await AuditStream.find({ orgId: ownOrganization(caller) as AuditStream['orgId'] });
  const since = stream?.failingSince;
  if (!stream || !since || now() - since < streamFailsMs) return [];
  return [
    {
      id: `audit_stream_failing:${since}`,
      kind: 'action',
      title: 'The audit log does not arrive at its destination',
      body: `${stream.address} has accepted nothing since ${isoTime(since)}. ${stream.lastError} Missing events are sent once it accepts events again.`,
      page: '/audit',
      createdAt: since,
    },
  ];
}

const waitFor = { budget: 'waits for money', limit: 'has reached a limit' };

const personsNeeded = async (caller: Caller): Promise<Condition[]> =>
  (await findRunsAwaitingPerson(ownOrganization(caller))).map(
    ({ id, missionTitle, awaitsApproval, parkedBy, parkedReason, question, tool, since }) => ({
      id: `person_needed:${id}:${awaitsApproval ? 'approval' : since}`,
      kind: 'action',
      title: `${quoted(missionTitle ?? id)} ${awaitsApproval ? 'waits for a person to approve the plan' : parkedBy ? waitFor[parkedNeed({ parkedBy })!] : tool ? 'needs a decision about a tool call' : 'asks a question'}`,
      body: awaitsApproval
        ? 'Work begins once the plan is approved.'
        : parkedReason || question || 'Its agent waits for an answer.',
      page: `/runs/${id}`,
      createdAt: since,
    }),
  );

const disabledWebhooks = async (caller: Caller): Promise<Condition[]> =>
  (await listDisabledEndpoints(ownOrganization(caller))).map(({ id, name, disabledAt, disabledReason }) => ({
    id: `webhook_disabled:${id}:${disabledAt}`,
    kind: 'action',
    title: `The webhook ${quoted(name)} is disabled`,
    body: `${disabledReason === 'gone' ? 'Its receiver has answered 410.' : 'All attempts of five days have failed.'} Enable it once the receiver works: it continues where it stopped.`,
    page: `/webhooks/${id}`,
    createdAt: disabledAt!,
  }));

export const conditions: readonly [scope: Scope, read: (caller: Caller) => Promise<Condition[]>][] = [
  ['billing:read', lowCredits],
  ['orchestrator:read', costCap],
  ['orchestrator:read', usedBudgets],
  ['projects:write', planLimit],
  ['setup:read', expiringTokens],
  ['integrations:read', brokenConnectors],
  ['scheduled-tasks:read', failingSchedules],
  ['missions:read', waitingRuns],
  ['audit:read', failingAuditStream],
  ['missions:run', personsNeeded],
  ['webhooks:read', disabledWebhooks],
];
