// The billing summary of an organization (docs/contract.md#billing): its plan, credits, usage and limits.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, wholeOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { credits } from '#limits.ts';
import { type BillingMode, type BillingPlan, modeOf, type TeamPlanId, teamPlans } from '../../money/billing/catalog.ts';
import {
  BillingSettings,
  type BillingSubscription,
  CreditRequest,
  type TrackerTriggerPolicy,
} from '../../money/billing/model.ts';
import { currentPlan, requireOwn } from '../../money/billing/operations.ts';
import { paymentProvider } from '../../money/billing/provider.ts';
import { updateTrackerTriggers } from '../../money/billing/requests.ts';
import { currentSubscription } from '../../money/billing/subscription.ts';
import { credit, creditsOf } from '../../money/credits/amounts.ts';
import type { LotKind } from '../../money/credits/model.ts';
import { readPosition, usageSince } from '../../money/credits/operations.ts';
import type { Person } from '../../organization/people/model.ts';
import { peopleOf } from '../../organization/people/operations.ts';
import { countProjects } from '../../projects/projects/operations.ts';
import { countOpenRuns } from '../../work/runs/operations.ts';

export interface CreditSource {
  kind: LotKind;
  credits: number;
  startsAt: number | null;
  expiresAt: number | null;
}

export interface BillingSummary {
  orgId: string;
  plan: BillingPlan;
  cohort: string | null;
  mode: BillingMode;
  /** Number of credits, rounded down to a whole number. */
  balance: number;
  sources: CreditSource[];
  low: boolean;
  canStartMission: boolean;
  canManage: boolean;
  coveredByShip: boolean;
  missionCeiling: number;
  sandboxLimit: number | null;
  projects: { used: number; limit: number | null };
  trackerTriggers: TrackerTriggerPolicy;
  usage: { periodStart: number; missions: number; creditsSpent: number };
  openCreditRequest: {
    id: string;
    createdAt: number;
    messages: { message: string; userId: string; at: number }[];
  } | null;
  creditRequestsGoTo: 'owners';
  purchase: { enabled: boolean; provider: string; testMoney: boolean };
  subscription: BillingSubscription | null;
  advice: { plan: TeamPlanId; reason: string } | null;
  trial: { granted: number; remaining: number; endsAt: number | null };
}

export async function billingSummary(caller: Caller): Promise<BillingSummary> {
  const orgId = wholeOrganization(caller);
  const position = await readPosition(orgId);
  const subscription = await currentSubscription(orgId);
  const periodStart = subscription?.periodStart ?? monthOf(now());
  const [plan, used, openRuns, settings, request, usage] = await Promise.all([
    currentPlan(orgId),
    countProjects(orgId),
    countOpenRuns(orgId),
    BillingSettings.find({ orgId }),
    CreditRequest.find({ orgId, closedAt: null }),
    usageSince(orgId, periodStart),
  ]);
  const at = now();
  const trial = position.lots.find(({ kind }) => kind === 'trial');
  const provider = paymentProvider();
  return {
    orgId,
    plan: plan.plan,
    cohort: null,
    mode: modeOf[plan.plan],
    balance: Math.floor(position.owned / credit),
    sources: position.lots
      .filter(({ owned }) => owned > 0)
      .map(({ kind, owned, startsAt, expiresAt }) => ({ kind, credits: creditsOf(owned), startsAt, expiresAt })),
    low: position.owned < credits.low * credit,
    canStartMission: position.spendable > 0 && (plan.agentsAtOnce === null || openRuns < plan.agentsAtOnce),
    canManage: caller.scopes.has('billing:write'),
    coveredByShip: false,
    missionCeiling: plan.missionCeiling,
    sandboxLimit: plan.agentsAtOnce,
    projects: { used, limit: plan.projects },
    trackerTriggers: settings?.trackerTriggers ?? 'anyone',
    usage: { periodStart, missions: usage.missions, creditsSpent: creditsOf(usage.spent) },
    openCreditRequest: request ?? null,
    creditRequestsGoTo: 'owners',
    purchase: { enabled: true, provider: provider.name, testMoney: provider.isTest },
    subscription,
    advice: subscription || plan.plan === 'enterprise' ? null : adviceFor(creditsOf(usage.spent)),
    trial: {
      granted: trial ? credits.trial : 0,
      remaining: trial && (trial.expiresAt ?? 0) > at ? creditsOf(trial.owned) : 0,
      endsAt: trial?.expiresAt ?? null,
    },
  };
}

/** People by id, for displaying the requests for credits. */
export const askersOf = (userIds: readonly string[]): Promise<Person[]> => peopleOf(userIds);

/** Midnight UTC of the first day of the month. */
const monthOf = (at: number): number => Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth(), 1);

/** Recommends the largest plan whose monthly credits the organization has already spent this month; null when there is none. */
function adviceFor(spent: number): BillingSummary['advice'] {
  const fitting = teamPlans.filter((plan) => spent >= plan.credits).at(-1);
  if (!fitting) return null;
  const reason = `Missions have used ${Math.floor(spent)} credits this month; ${fitting.name} has ${fitting.credits} for ${fitting.cents / 100} USD.`;
  return { plan: fitting.plan, reason };
}

/** Changes the billing settings of the caller's organization, and returns its billing summary. @throws 404 for the id of another organization */
export async function updateSettings(
  caller: Caller,
  { orgId, trackerTriggers }: { orgId?: string | undefined; trackerTriggers: TrackerTriggerPolicy },
): Promise<BillingSummary> {
  beyondOneProject(caller);
  requireOwn(caller, orgId);
  await updateTrackerTriggers(ownOrganization(caller), trackerTriggers);
  return billingSummary(caller);
}
