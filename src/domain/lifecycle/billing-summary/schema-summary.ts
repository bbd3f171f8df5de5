// The billing summary in the graph (docs/contract.md#billing).
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
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
  invoice: 'As agreed with the operator.',
});
const CreditSource = builder.objectRef<BillingSummary['sources'][number]>('CreditSource').implement({
  description: 'Credits that were received together and expire together.',
  fields: (t) => ({
    kind: t.expose('kind', { type: CreditSourceKind.type, description: 'The origin of the credits.' }),
    credits: t.exposeFloat('credits', { description: 'Remaining credits, to a millionth; reserved ones included.' }),
    startsAt: t.expose('startsAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the credits can first be spent; null means at once.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the credits expire; null means never. Credits that expire first are spent first.',
    }),
  }),
});

const ProjectUsage = builder.objectRef<BillingSummary['projects']>('BillingProjects').implement({
  description: 'Number of projects of the organization, and its limit.',
  fields: (t) => ({
    used: t.exposeInt('used', { description: 'All projects, archived ones included.' }),
    limit: t.exposeInt('limit', { nullable: true, description: 'Limit of the plan; null means unlimited.' }),
  }),
});

const BillingUsage = builder.objectRef<BillingSummary['usage']>('BillingUsage').implement({
  description: 'Usage of missions in the current period.',
  fields: (t) => ({
    periodStart: t.expose('periodStart', {
      type: 'EpochMs',
      description: 'The period of the subscription; without one the month, UTC.',
    }),
    missions: t.exposeInt('missions', { description: 'Missions that were settled in the period.' }),
    creditsSpent: t.exposeFloat('creditsSpent', {
      description: 'Credits that missions spent in the period, to a millionth.',
    }),
  }),
});

const asker = toOne(askersOf, ({ id }) => id);

const CreditMessage = builder
  .objectRef<NonNullable<BillingSummary['openCreditRequest']>['messages'][number]>('CreditMessage')
  .implement({
    description: 'One message of a request for credits.',
    fields: (t) => ({
      message: t.exposeString('message', { description: `The message, ${range(text.creditMessage)} characters.` }),
      userId: t.exposeString('userId', {
        description: 'The id of the person who sent the message; starts with `usr_`.',
      }),
      name: t.string({
        graphOnly: true,
        nullable: true,
        description: 'The name of the requester; null when the account is gone.',
        resolve: async ({ userId }, _args, context) => (await asker(context).load(userId))?.name ?? null,
      }),
      at: t.expose('at', { type: 'EpochMs', description: 'When the message was sent.' }),
    }),
  });

const OpenCreditRequest = builder
  .objectRef<NonNullable<BillingSummary['openCreditRequest']>>('OpenCreditRequest')
  .implement({
    description: 'An open request for credits.',
    fields: (t) => ({
      id: t.exposeString('id', { description: 'The id, which starts with `crq_`.' }),
      createdAt: t.expose('createdAt', {
        type: 'EpochMs',
        description: 'When the first message of the request was sent.',
      }),
      messages: t.expose('messages', { type: [CreditMessage], description: 'The messages, oldest first.' }),
    }),
  });

const BillingPurchaseState = builder.objectRef<BillingSummary['purchase']>('BillingPurchaseState').implement({
  description: 'Whether and how credits can be bought.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: 'Whether a checkout session can be created.' }),
    provider: t.exposeString('provider', { description: 'The payment provider, such as `builtin`.' }),
    testMoney: t.exposeBoolean('testMoney', { description: 'Whether the provider takes test money only.' }),
  }),
});

const PlanAdvice = builder.objectRef<NonNullable<BillingSummary['advice']>>('PlanAdvice').implement({
  description: 'A plan that would cost less than this month’s usage.',
  fields: (t) => ({
    plan: t.expose('plan', { type: TeamPlanId.type, description: 'The plan.' }),
    reason: t.exposeString('reason', { description: 'The suggestion in a sentence for people.' }),
  }),
});

const BillingTrialState = builder.objectRef<BillingSummary['trial']>('BillingTrialState').implement({
  description: 'The trial credits of an organization.',
  fields: (t) => ({
    granted: t.exposeInt('granted', {
      description: 'Whole credits; 0 when the founder had the trial in another organization.',
    }),
    remaining: t.exposeFloat('remaining', {
      description: 'Remaining trial credits, to a millionth; 0 once they have expired.',
    }),
    endsAt: t.expose('endsAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the trial credits expire; null means never.',
    }),
  }),
});

export const BillingSummaryType = builder.objectRef<BillingSummary>('BillingSummary').implement({
  description: 'The plan and the credits of an organization, and the actions that they allow.',
  fields: (t) => ({
    orgId: t.exposeString('orgId', { description: 'The id of the organization; starts with `org_`.' }),
    plan: t.expose('plan', { type: BillingPlan.type, description: 'The plan whose limits apply.' }),
    cohort: t.exposeString('cohort', { nullable: true, description: 'Not used yet: always null.' }),
    mode: t.expose('mode', { type: BillingMode.type, description: 'Payment mode of the plan.' }),
    balance: t.expose('balance', {
      type: 'SafeInt',
      description: 'Whole credits, rounded down; credits that running missions have reserved are included.',
    }),
    sources: t.expose('sources', {
      type: [CreditSource],
      description: 'Sources of credits, the one that expires first at the top.',
    }),
    low: t.exposeBoolean('low', { description: 'Whether fewer than 10 credits are left.' }),
    canStartMission: t.exposeBoolean('canStartMission', {
      description: 'Whether credits and plan allow a mission to start now; the daily cost cap may still forbid it.',
    }),
    canManage: t.exposeBoolean('canManage', { description: 'Whether the caller may buy credits and change the plan.' }),
    coveredByShip: t.exposeBoolean('coveredByShip', { description: 'Not used yet: always false.' }),
    missionCeiling: t.exposeInt('missionCeiling', { description: 'The most credits that one mission may cost.' }),
    sandboxLimit: t.exposeInt('sandboxLimit', {
      nullable: true,
      description: 'Missions that may be open at once; null means as many as there are credits for.',
    }),
    projects: t.expose('projects', {
      type: ProjectUsage,
      description: 'Number of projects, and the limit of the plan.',
    }),
    trackerTriggers: t.expose('trackerTriggers', {
      type: TrackerTriggerPolicy.type,
      description:
        'The authors whose issues in a connected tracker may start missions. It has no effect yet: missions are started by people, schedules, agents and the API, never by a tracker.',
    }),
    usage: t.expose('usage', { type: BillingUsage, description: 'The current period.' }),
    openCreditRequest: t.expose('openCreditRequest', {
      type: OpenCreditRequest,
      nullable: true,
      description: 'The open request for credits; null without one.',
    }),
    creditRequestsGoTo: t.expose('creditRequestsGoTo', {
      type: CreditRequestRoute.type,
      description: 'The recipients of requests for credits.',
    }),
    purchase: t.expose('purchase', { type: BillingPurchaseState, description: 'The purchase of credits.' }),
    subscription: t.expose('subscription', {
      type: TeamSubscription,
      nullable: true,
      description: 'The subscription; null without one.',
    }),
    advice: t.expose('advice', {
      type: PlanAdvice,
      nullable: true,
      description: 'A plan that would cost less; null when there is none.',
    }),
    trial: t.expose('trial', { type: BillingTrialState, description: 'The trial credits.' }),
  }),
});
