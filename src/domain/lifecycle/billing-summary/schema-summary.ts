// The billing summary in GraphQL (docs/contract.md#billing).
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import {
  boolean,
  epochMs,
  epochMsOrNull,
  float,
  int,
  intOrNull,
  members,
  safeInt,
  string,
  stringOrNull,
  typed,
  typedOrNull,
} from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { billingModes, billingPlans } from '../../money/billing/catalog.ts';
import { TeamPlanId } from '../../money/billing/schema-offers.ts';
import { CreditRequestRoute, TeamSubscription, TrackerTriggerPolicy } from '../../money/billing/schema-purchases.ts';
import { CreditSourceKind } from '../../money/credits/schema.ts';
import { askersOf, type BillingSummary } from './summary.ts';

const BillingPlan = wordSet('BillingPlan', billingPlans, 'Plan of an organization: the largest that it has bought.', {
  free: 'Trial credits only.',
  pack: 'A credit pack was bought.',
  team: 'A subscription to a team plan.',
  enterprise: 'Agreed with the operator.',
});
const BillingMode = wordSet('BillingMode', billingModes, 'Payment mode of an organization.', {
  prepaid: 'Credits are bought in advance.',
  subscription: 'Paid monthly.',
  invoice: 'Payment by invoice, on terms that were agreed with the operator.',
});
const CreditSource = builder.objectRef<BillingSummary['sources'][number]>('CreditSource').implement({
  description: 'Credits that were received together and expire together.',
  fields: (t) =>
    members(t, {
      kind: typed(CreditSourceKind.type, 'The origin of the credits.'),
      credits: float('Remaining credits, to a millionth, including reserved ones.'),
      startsAt: epochMsOrNull('When the credits can first be spent; null means at once.'),
      expiresAt: epochMsOrNull('When the credits expire; null means never. Credits that expire first are spent first.'),
    }),
});

const ProjectUsage = builder.objectRef<BillingSummary['projects']>('BillingProjects').implement({
  description: 'Number of projects of the organization, and its limit.',
  fields: (t) =>
    members(t, {
      used: int('All projects, including archived ones.'),
      limit: intOrNull('Limit of the plan; null means unlimited.'),
    }),
});

const BillingUsage = builder.objectRef<BillingSummary['usage']>('BillingUsage').implement({
  description: 'Usage of missions in the current period.',
  fields: (t) =>
    members(t, {
      periodStart: epochMs('The period of the subscription; without a subscription, the calendar month in UTC.'),
      missions: int('Missions that were settled in the period.'),
      creditsSpent: float('Credits that missions spent in the period, to a millionth.'),
    }),
});

const asker = toOne(askersOf, ({ id }) => id);

const CreditMessage = builder
  .objectRef<NonNullable<BillingSummary['openCreditRequest']>['messages'][number]>('CreditMessage')
  .implement({
    description: 'One message of a request for credits.',
    fields: (t) =>
      members(t, {
        message: string(`The message, ${range(text.creditMessage)} characters.`),
        userId: string('The id of the person who sent the message; starts with `usr_`.'),
        name: t.string({
          graphOnly: true,
          nullable: true,
          description: 'The name of the requester; null when the account is gone.',
          resolve: async ({ userId }, _args, context) => (await asker(context).load(userId))?.name ?? null,
        }),
        at: epochMs('When the message was sent.'),
      }),
  });

const OpenCreditRequest = builder
  .objectRef<NonNullable<BillingSummary['openCreditRequest']>>('OpenCreditRequest')
  .implement({
    description: 'An open request for credits.',
    fields: (t) =>
      members(t, {
        id: string('The id, which starts with `crq_`.'),
        createdAt: epochMs('When the first message of the request was sent.'),
        messages: typed([CreditMessage], 'The messages, oldest first.'),
      }),
  });

const BillingPurchaseState = builder.objectRef<BillingSummary['purchase']>('BillingPurchaseState').implement({
  description: 'Whether and how credits can be bought.',
  fields: (t) =>
    members(t, {
      enabled: boolean('Whether a checkout session can be created.'),
      provider: string('The payment provider, such as `builtin`.'),
      testMoney: boolean('Whether the provider takes test money only.'),
    }),
});

const PlanAdvice = builder.objectRef<NonNullable<BillingSummary['advice']>>('PlanAdvice').implement({
  description: 'A plan that would cost less than this month’s usage.',
  fields: (t) =>
    members(t, {
      plan: typed(TeamPlanId.type, 'The plan.'),
      reason: string('The suggestion as text for people.'),
    }),
});

const BillingTrialState = builder.objectRef<BillingSummary['trial']>('BillingTrialState').implement({
  description: 'The trial credits of an organization.',
  fields: (t) =>
    members(t, {
      granted: int(
        'Number of trial credits, a whole number; 0 when the founder had their trial in another organization.',
      ),
      remaining: float('Remaining trial credits, to a millionth; 0 once they have expired.'),
      endsAt: epochMsOrNull('When the trial credits expire; null means never.'),
    }),
});

export const BillingSummaryType = builder.objectRef<BillingSummary>('BillingSummary').implement({
  description: 'The plan and the credits of an organization, and the actions that they allow.',
  fields: (t) =>
    members(t, {
      orgId: string('The id of the organization; starts with `org_`.'),
      plan: typed(BillingPlan.type, 'The plan whose limits apply.'),
      cohort: stringOrNull('Not used yet: always null.'),
      mode: typed(BillingMode.type, 'Payment mode of the plan.'),
      balance: safeInt('Whole credits, rounded down; credits that running missions have reserved are included.'),
      sources: typed([CreditSource], 'Sources of credits, earliest expiry first.'),
      low: boolean('Whether fewer than 10 credits are left.'),
      canStartMission: boolean(
        'Whether credits and plan allow a mission to start now; the daily cost cap may still forbid it.',
      ),
      canManage: boolean('Whether the caller may buy credits and change the plan.'),
      coveredByShip: boolean('Not used yet: always false.'),
      missionCeiling: int('Maximum cost of one mission, in credits.'),
      sandboxLimit: intOrNull('Maximum number of open missions; null means that only the credits limit it.'),
      projects: typed(ProjectUsage, 'Number of projects, and the limit of the plan.'),
      trackerTriggers: typed(
        TrackerTriggerPolicy.type,
        'The authors whose events at a tracker or source host may start missions. An event must also fulfill the conditions of a rule.',
      ),
      usage: typed(BillingUsage, 'The current period.'),
      openCreditRequest: typedOrNull(OpenCreditRequest, 'The open request for credits; null without one.'),
      creditRequestsGoTo: typed(CreditRequestRoute.type, 'The recipients of requests for credits.'),
      purchase: typed(BillingPurchaseState, 'The purchase of credits.'),
      subscription: typedOrNull(TeamSubscription, 'The subscription; null without one.'),
      advice: typedOrNull(PlanAdvice, 'A plan that would cost less; null when there is none.'),
      trial: typed(BillingTrialState, 'The trial credits.'),
    }),
});
