// The plan of an organization, derived from its purchases, and the limits of the plan.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, wholeOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { lookUp, type Transaction } from '#foundation/postgres/database.ts';
import { paymentRequired } from '#foundation/problem.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { type BillingPlan, type PlanLimits, planLimits, type TeamPlanId, teamPlan } from './catalog.ts';
import { BillingOrder, BillingSettings } from './model.ts';

export interface CurrentPlan extends PlanLimits {
  plan: BillingPlan;
  /** Size of the `team` plan; null for other plans. */
  teamPlan: TeamPlanId | null;
}

const planSql = `select
    coalesce((select is_enterprise from billing_settings where org_id = $1), false) as is_enterprise,
    (select plan from billing_subscriptions where org_id = $1 and status <> 'canceled' and current_period_end > $2) as team,
    exists (select from billing_orders where org_id = $1 and offer = 'pack' and status = 'paid') as has_pack`;

/** The plan in effect: enterprise takes precedence over team, and team over pack. */
export async function currentPlan(orgId: string, trx?: Transaction): Promise<CurrentPlan> {
  const [row] = await lookUp<{ isEnterprise: boolean; team: TeamPlanId | null; hasPack: boolean }>(
    planSql,
    [orgId, now()],
    trx,
  );
  const { isEnterprise, team, hasPack } = row!;
  if (isEnterprise) return { plan: 'enterprise', teamPlan: null, ...planLimits.enterprise };
  if (team) {
    const { projects, agentsAtOnce, missionCeiling } = teamPlan(team);
    return { plan: 'team', teamPlan: team, projects, agentsAtOnce, missionCeiling };
  }
  const plan = hasPack ? 'pack' : 'free';
  return { plan, teamPlan: null, ...planLimits[plan] };
}

/** Checks that the plan allows one more project. @throws 402 `plan_limit` */
export function requireRoomForProject({ plan, projects }: CurrentPlan, existing: number): void {
  if (projects === null || existing < projects) return;
  throw paymentRequired(
    'plan_limit',
    `The plan ${plan} has ${projects} projects. Delete one, or choose a larger plan.`,
  );
}

/** Sets or removes the organization's plan `enterprise`, which the operator and the customer agree on outside this service. */
export async function setEnterprise(trx: Transaction, orgId: string, isEnterprise: boolean): Promise<void> {
  await BillingSettings.upsert(trx, { orgId: orgId as BillingSettings['orgId'], isEnterprise, updatedAt: now() });
}

/** Checks that the id is absent or belongs to the caller's organization. @throws 404 for the id of another organization */
export function requireOwn(caller: Caller, orgId: string | null | undefined): void {
  if (orgId != null && orgId !== ownOrganization(caller)) Organization.refuse();
}

/** An order of the caller's organization. @throws 404 for an order of another organization */
export async function findOrder(caller: Caller, id: string): Promise<BillingOrder> {
  return BillingOrder.get({ id: id as BillingOrder['id'], orgId: wholeOrganization(caller) });
}

/** The newest 200 orders of the caller's organization, newest first. */
export async function listOrders(caller: Caller): Promise<BillingOrder[]> {
  const { data } = await BillingOrder.page({ orgId: wholeOrganization(caller) }, { limit: 200 });
  return data;
}
