// Whether an organization may start a mission: it is open, below its daily cost cap, has credits left, and is within its plan's limit of
// concurrent missions.
import type { Transaction } from '#foundation/postgres/database.ts';
import { type CurrentPlan, currentPlan } from '../../money/billing/operations.ts';
import { startableMissions } from '../../money/credits/missions.ts';
import { isOrganizationOpen } from '../../organization/organizations/operations.ts';
import { readCostCap } from '../orchestrator/operations.ts';
import { countOpenRuns } from '../runs/operations.ts';

export interface Refused {
  ok: false;
  code: 'daily_cost_cap' | 'credits_exhausted' | 'plan_limit' | 'organization_closed';
  /** Explanation for people, which is also recorded on skipped runs. */
  reason: string;
}
/** Whether missions may start: `missions` is the number that may start now, and `then` is the error for each mission beyond that number. */
export type MayStart = { ok: true; missions: number; then: Refused } | Refused;

interface GateOptions {
  /** True keeps the organization's ledger locked until the transaction ends. False lets other starts spend credits in the meantime. */
  held?: boolean;
  /** Number of open runs that were already written in this transaction and count against `missions`. */
  begun?: number;
}

/**
 * Whether the organization may start a mission now and, if so, how many missions. With `held`, no other start can spend the credits of the
 * organization until the transaction ends.
 */
export async function mayStartMission(
  trx: Transaction,
  orgId: string,
  { held = true, begun = 0 }: GateOptions = {},
): Promise<MayStart> {
  // The statements share one message, because other starts of the organization wait while its ledger is locked. They are executed in this order.
  const [{ effectiveDailyCostCapUsd, dailySpendUsd, atDailyCostCap }, missions, isOpen, plan] = await Promise.all([
    readCostCap(trx, orgId),
    startableMissions(trx, orgId, held),
    isOrganizationOpen(trx, orgId),
    currentPlan(orgId, trx),
  ]);
  if (!atDailyCostCap) {
    if (!isOpen) return closed;
    if (missions === 0) return creditsExhausted;
    const open = plan.agentsAtOnce === null ? 0 : await countOpenRuns(orgId, trx);
    return withinPlan(plan, missions, open - begun);
  }
  const reason = `The daily cost cap of ${effectiveDailyCostCapUsd} USD is reached: missions have cost ${dailySpendUsd} USD since midnight UTC.`;
  return { ok: false, code: 'daily_cost_cap', reason };
}

const closed: Refused = { ok: false, code: 'organization_closed', reason: 'The organization is closed.' };

/** Limits the number of missions to those that the plan still allows. @param open Number of open missions */
function withinPlan({ plan, agentsAtOnce }: CurrentPlan, missions: number, open: number): MayStart {
  const room = agentsAtOnce === null ? missions : agentsAtOnce - open;
  const then: Refused =
    missions <= room
      ? creditsExhausted
      : {
          ok: false,
          code: 'plan_limit',
          reason: `The plan ${plan} allows ${agentsAtOnce} missions at once. Wait until one has ended, or choose a larger plan.`,
        };
  return room > 0 ? { ok: true, missions: Math.min(missions, room), then } : then;
}

/** The remaining allowance after one of several missions has started. */
export const afterStart = (may: MayStart): MayStart => {
  if (!may.ok) return may;
  return may.missions > 1 ? { ...may, missions: may.missions - 1 } : may.then;
};

/** Refusal when all credits are used or reserved by running missions. */
const creditsExhausted: Refused = {
  ok: false,
  code: 'credits_exhausted',
  reason:
    'The organization has no credits left to start a mission: add credits, or wait until running missions release theirs.',
};
