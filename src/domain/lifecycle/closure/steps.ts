// The steps after the closing of an organization, one transaction each. A process may be lost between any two of them: the sweep continues
// with the first step that is not completed.

import { now } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { releaseDomains } from '../../identity/identity-providers/domains.ts';
import { revokeServiceTokensOf } from '../../identity/tokens/service-tokens.ts';
import { teamPlan } from '../../money/billing/catalog.ts';
import { endAtProvider, endSubscriptionOf, withdrawOrdersOf } from '../../money/billing/close.ts';
import { creditsOf } from '../../money/credits/amounts.ts';
import { isUnsettled, writeOffCredits } from '../../money/credits/write-off.ts';
import { revokeAllInvites } from '../../organization/invites/operations.ts';
import { closeMemberships } from '../../organization/memberships/operations.ts';
import { destroyAllEnvironments } from '../../work/environments/operations.ts';
import { RecurringMission } from '../../work/recurring/model.ts';
import { cancelRuns } from '../../work/runs/finish.ts';
import { endSandboxesOf } from '../../work/sandboxes/end.ts';
import { endAuthority } from '../offboarding/authority.ts';
import { startRequestedExport } from './export.ts';
import { OrgClosure, type Settlement } from './model.ts';

type OrgId = OrgClosure['orgId'];
interface Closing {
  orgId: OrgId;
  closedAt: number;
  /** The payment provider's id of the subscription that an earlier step ended; null when there was none. */
  ended: string | null;
}
/** Runs a step and returns its settlements; null means that the step cannot be completed yet. */
type Step = (trx: Transaction, closing: Closing) => Promise<Settlement[] | null>;

const settled = (kind: Settlement['kind'], description: string, amountUsd: number | null = null): Settlement => ({
  kind,
  description,
  amountUsd,
});
const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

async function endAccess(trx: Transaction, { orgId }: Closing): Promise<Settlement[]> {
  const members = await closeMemberships(trx, orgId);
  for (const { userId } of members) await endAuthority(trx, { userId, orgId });
  await revokeServiceTokensOf(trx, orgId);
  await revokeAllInvites(trx, orgId);
  await releaseDomains(trx, orgId);
  return [settled('tokens', `The tokens, sign-ins and agents of ${counted(members.length, 'member')} were revoked.`)];
}

export const closedReason = 'The organization was closed.';

async function stopMissions(trx: Transaction, { orgId }: Closing): Promise<Settlement[]> {
  await RecurringMission.patch(trx, { orgId, enabled: true }, { enabled: false, nextRunAt: null, updatedAt: now() });
  const runs = await cancelRuns(trx, { orgId }, closedReason);
  const end = { status: 'destroyed', terminationReason: 'organization closed' } as const;
  await announce(trx, ...(await endSandboxesOf(trx, 'orgId', [orgId], end)));
  await destroyAllEnvironments(trx, orgId);
  return [
    settled('schedules', 'All scheduled tasks and automations are disabled.'),
    settled('sandboxes', `${counted(runs, 'mission')} canceled; sandboxes and preview environments are stopping.`),
  ];
}

async function endSubscription(trx: Transaction, { orgId, ended }: Closing): Promise<Settlement[]> {
  const subscription = await endSubscriptionOf(trx, orgId, ended);
  return subscription
    ? [settled('subscription', `The subscription to ${teamPlan(subscription.plan).name} ended.`)]
    : [];
}

/** Settles the credits. Returns null until the costs of canceled missions are booked, because those costs are not refunded. */
async function settleCredits(trx: Transaction, { orgId, closedAt }: Closing): Promise<Settlement[] | null> {
  if (await isUnsettled(trx, orgId)) return null;
  const refunded = await withdrawOrdersOf(trx, orgId, closedAt, closedReason);
  const left = await writeOffCredits(trx, orgId, closedReason);
  const rest = left === 0 ? 'No credits were left.' : `${creditsOf(left)} unused credits were forfeited.`;
  if (refunded === 0) return [settled('credits', rest)];
  return [settled('credits', `Unused credits that could still be withdrawn are refunded. ${rest}`, refunded / 100)];
}

/** The steps, in the order in which they run. A release may only append steps. */
export const steps: readonly Step[] = [endAccess, stopMissions, endSubscription, settleCredits];

/** Runs the remaining steps. Concurrent calls take turns; a failed step is retried at the next call. */
export async function settleClosure(orgId: OrgId): Promise<void> {
  while (await doNext(orgId));
}

async function doNext(orgId: OrgId): Promise<boolean> {
  const next = await OrgClosure.find({ orgId });
  const endsSubscription = next && steps[next.stepsDone] === endSubscription;
  const ended = endsSubscription ? await endAtProvider(orgId) : null;
  return transaction(async (trx) => {
    const closure = await OrgClosure.query(trx)
      .select(...OrgClosure.columns)
      .findById(orgId)
      .forUpdate();
    if (!closure || closure.settledAt !== null) return false;
    // The step is skipped, because another process has already completed it.
    if (closure.stepsDone !== next?.stepsDone) return true;
    const { closedAt } = closure;
    const settlements = await steps[closure.stepsDone]?.(trx, { orgId, closedAt, ended });
    if (settlements === null) return false;
    const stepsDone = closure.stepsDone + 1;
    const isLast = stepsDone >= steps.length;
    await OrgClosure.patch(
      trx,
      { orgId },
      {
        stepsDone,
        settlements: [...closure.settlements, ...(settlements ?? [])],
        settledAt: isLast ? now() : null,
      },
    );
    if (isLast) await startRequestedExport(trx, orgId);
    return !isLast;
  });
}

/**
 * Continues the closure of each organization that was closed but whose closure steps are not all done. If one fails, the others are still
 * tried. @throws when at least one failed
 */
export async function settleClosures(): Promise<void> {
  const errors: unknown[] = [];
  for (const { orgId } of await sql<Pick<OrgClosure, 'orgId'>>(
    'select org_id from org_closures where settled_at is null order by closed_at',
  )) {
    await settleClosure(orgId).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0)
    throw new Error(`${errors.length} closures of organizations could not be completed`, { cause: errors[0] });
}
