// The offers in GraphQL (docs/contract.md#billing).
import { days } from '#foundation/clock.ts';
import { builder } from '#graph/builder.ts';
import { int, intOrNull, members, string, stringOrNull, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import * as catalog from './catalog.ts';
import { billing } from './terms.ts';

export const CheckoutOffer = wordSet(
  'CheckoutOffer',
  catalog.checkoutOffers,
  'The offer of a checkout: packs of credits, or a team plan.',
  {
    pack: 'Packs of credits.',
    team: 'A team plan.',
  },
);
export const TeamPlanId = wordSet('TeamPlanId', catalog.teamPlanIds, 'A team plan.');

const usd = (cents: number): number => cents / 100;

const BillingOffer = builder.objectRef<typeof catalog.pack>('BillingOffer').implement({
  description: 'Credits that can be bought once.',
  fields: (t) =>
    members(t, {
      id: t.string({ description: 'Always `pack`.', resolve: () => 'pack' }),
      kind: t.field({
        type: CheckoutOffer.type,
        description: 'The value for `offer` of a checkout session.',
        resolve: () => 'pack' as const,
      }),
      name: t.string({ description: 'Name for people, in English.', resolve: ({ credits }) => `${credits} credits` }),
      credits: int('Number of whole credits.'),
      priceUsd: t.float({ description: 'Price of one pack, US dollars.', resolve: ({ cents }) => usd(cents) }),
      perCreditUsd: t.float({
        description: 'Price of one credit, US dollars.',
        resolve: ({ cents, credits }) => usd(cents) / credits,
      }),
      maxQuantity: t.int({
        graphOnly: true,
        description: 'Maximum number of packs in one checkout session.',
        resolve: () => billing.packs.max,
      }),
    }),
});

const TeamPlanType = builder.objectRef<catalog.TeamPlan>('TeamPlan').implement({
  description: 'A plan that is paid by the month.',
  fields: (t) =>
    members(t, {
      plan: typed(TeamPlanId.type, 'The value for `teamPlan` of a checkout session.'),
      name: string('Name for people, in English.'),
      monthlyUsd: t.float({ description: 'The price of a month in US dollars.', resolve: ({ cents }) => usd(cents) }),
      creditsPerMonth: t.exposeInt('credits', {
        description: 'Credits of one month; unused ones expire when the period ends.',
      }),
      projects: intOrNull('Number of projects; null means unlimited.'),
      agentsAtOnce: intOrNull('Maximum number of open missions.'),
    }),
});

const TeamPlanOffer = builder.objectRef<{ plans: readonly catalog.TeamPlan[] }>('TeamPlanOffer').implement({
  description: 'The team plans.',
  fields: (t) => ({
    plans: t.field({
      type: [TeamPlanType],
      description: 'Team plans, the smallest first.',
      resolve: ({ plans }) => [...plans],
    }),
  }),
});

const EnterpriseOffer = builder.objectRef<{ contactUrl: string | null; blurb: string }>('EnterpriseOffer').implement({
  description: 'The offer for larger organizations, agreed with the operator of the service.',
  fields: (t) =>
    members(t, {
      contactUrl: stringOrNull('The URL at which to ask for this plan; null when the operator has set none.'),
      blurb: string('Summary of the offer, in one sentence.'),
    }),
});

const PlanLimits = builder.objectRef<catalog.PlanLimits>('PlanLimits').implement({
  description: 'The limits of a plan.',
  fields: (t) =>
    members(t, {
      projects: intOrNull('Number of projects; null means unlimited.'),
      agentsAtOnce: intOrNull('Maximum number of open missions.'),
    }),
});

const OfferLimits = builder.objectRef<typeof catalog.planLimits>('OfferLimits').implement({
  description: 'The limits without a team plan.',
  fields: (t) =>
    members(t, {
      free: typed(PlanLimits, 'The limits of an organization with trial credits only.'),
      packs: t.expose('pack', {
        type: PlanLimits,
        description: 'The limits of an organization that has bought a pack.',
      }),
    }),
});

export const ListOffersResponse = builder.objectRef<typeof catalog>('ListOffersResponse').implement({
  description: 'The offers and their prices.',
  fields: (t) => ({
    currency: t.field({
      type: builder.enumType('Currency', {
        values: { USD: { description: 'US dollars are the only currency.' } },
        description: 'The currency of all prices.',
      }),
      description: 'The currency of all prices.',
      resolve: () => 'USD' as const,
    }),
    trialCredits: t.int({ description: 'Credits of a new organization.', resolve: () => catalog.trialCredits }),
    offers: t.field({ type: [BillingOffer], description: 'Packs of credits.', resolve: () => [catalog.pack] }),
    referencePerCreditUsd: t.float({
      description: 'The price of a credit without a discount, US dollars.',
      resolve: () => catalog.referencePerCreditUsd,
    }),
    team: t.field({ type: TeamPlanOffer, description: 'Team plans.', resolve: () => ({ plans: catalog.teamPlans }) }),
    enterprise: t.field({
      type: EnterpriseOffer,
      description: 'The plan for larger organizations.',
      resolve: () => catalog.enterpriseOffer(),
    }),
    withdrawalDays: t.int({
      graphOnly: true,
      description:
        'Number of days within which an order can be withdrawn. Without consent to an immediate start, its credits can be spent only afterwards.',
      resolve: () => billing.withdrawalMs / days(1),
    }),
    limits: t.field({
      type: OfferLimits,
      description: 'The limits of organizations without a team plan.',
      resolve: () => catalog.planLimits,
    }),
  }),
});
