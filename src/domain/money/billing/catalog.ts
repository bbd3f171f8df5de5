// Credit offers and the limits of each plan (docs/decisions/0035-test-money-and-events.md). Prices are in US cents.
import { credits } from '#limits.ts';

export const billingPlans = ['free', 'pack', 'team', 'enterprise'] as const;
export type BillingPlan = (typeof billingPlans)[number];
export const billingModes = ['prepaid', 'subscription', 'invoice'] as const;
export type BillingMode = (typeof billingModes)[number];
export const checkoutOffers = ['pack', 'team'] as const;
export type CheckoutOffer = (typeof checkoutOffers)[number];
export const teamPlanIds = ['team-5', 'team-20'] as const;
export type TeamPlanId = (typeof teamPlanIds)[number];

export interface PlanLimits {
  /** Maximum number of projects; null means unlimited. */
  projects: number | null;
  /** Maximum number of open missions; null means that only credits limit them. */
  agentsAtOnce: number | null;
  /** Maximum cost of one mission, in credits. */
  missionCeiling: number;
}

export interface Price {
  credits: number;
  cents: number;
}

/** Price of one credit pack; a checkout may contain several packs. */
export const pack: Price = { credits: 100, cents: 100_00 };

export interface TeamPlan extends Price, PlanLimits {
  plan: TeamPlanId;
  name: string;
}

export const teamPlans: readonly TeamPlan[] = [
  {
    plan: 'team-5',
    name: 'Team 5',
    credits: 300,
    cents: 250_00,
    projects: 500,
    agentsAtOnce: 300,
    missionCeiling: 500,
  },
  {
    plan: 'team-20',
    name: 'Team 20',
    credits: 1_200,
    cents: 900_00,
    projects: null,
    agentsAtOnce: 500,
    missionCeiling: 1_000,
  },
];
export const teamPlan = (id: TeamPlanId): TeamPlan => teamPlans.find(({ plan }) => plan === id)!;

export const planLimits: Record<Exclude<BillingPlan, 'team'>, PlanLimits> = {
  free: { projects: 100, agentsAtOnce: 100, missionCeiling: 250 },
  pack: { projects: 250, agentsAtOnce: 200, missionCeiling: 500 },
  enterprise: { projects: null, agentsAtOnce: null, missionCeiling: 10_000 },
};

export const modeOf: Record<BillingPlan, BillingMode> = {
  free: 'prepaid',
  pack: 'prepaid',
  team: 'subscription',
  enterprise: 'invoice',
};

/** Price of a credit without a discount, in US dollars. */
export const referencePerCreditUsd = pack.cents / 100 / pack.credits;
export const trialCredits: number = credits.trial;

let contactUrl: string | null = null;

/** Sets the URL at which people can ask the operator for the plan `enterprise` (CONTACT_URL). */
export function bindContactUrl(url: string | null): void {
  contactUrl = url;
}

export const enterpriseOffer = () => ({
  contactUrl,
  blurb: 'For larger volumes, invoices or custom limits, ask the operator of this service.',
});
