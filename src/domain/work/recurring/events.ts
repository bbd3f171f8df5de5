// Event triggers of recurring missions: validation, the missions that have event triggers, and the start of a mission by an event.
import { isDeepStrictEqual } from 'node:util';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { invalid } from '#foundation/problem.ts';
import { lockTemplateOf } from '../../projects/sandbox-templates/operations.ts';
import type { CreatedIssue } from '../../projects/vendors/tracker.ts';
import { lockHooksOf } from '../inbound-hooks/operations.ts';
import { createRuns, type NewRun } from '../runs/create.ts';
import type { WaitingRun } from '../runs/model.ts';
import type { StartBlocker } from '../starts/blockers.ts';
import { planRuns } from './dispatch.ts';
import { type EventTrigger, RecurringMission, type Trigger } from './model.ts';

/** Removes conditions that are null or undefined, so that equal triggers compare as equal. */
export const plainEvent = ({ kind, from, ...conditions }: EventTrigger): EventTrigger => ({
  kind,
  from,
  ...(Object.fromEntries(Object.entries(conditions).filter(([, value]) => value != null)) as typeof conditions),
});

/** Whether the changes alter the policy that decides which effects wait for approval. */
export const changesPolicy = (
  { effectPolicy }: { effectPolicy?: RecurringMission['effectPolicy'] | undefined },
  before: Pick<RecurringMission, 'effectPolicy'>,
): boolean => effectPolicy !== undefined && !isDeepStrictEqual(effectPolicy, before.effectPolicy);

/** Checks that the mission has at least one trigger. @throws 400 */
export function refuseNoTrigger(triggers: readonly Trigger[], eventTriggers: readonly EventTrigger[]): void {
  if (triggers.length + eventTriggers.length === 0) throw invalid.field('triggers', 'must be at least 1 entry');
}

/**
 * Locks the hooks and sandbox templates to which the rules refer. The locks last until the transaction ends. @throws 404 for an unknown hook, 400 for
 * an unknown sandbox template
 */
export async function lockNamedRecords(
  trx: Transaction,
  orgId: Id<'organization'>,
  triggers: readonly EventTrigger[],
): Promise<void> {
  await lockHooksOf(
    trx,
    orgId,
    triggers.flatMap(({ hookId }) => hookId ?? []),
  );
  for (const [row, { outsiderTemplateId }] of triggers.entries()) {
    if (outsiderTemplateId != null)
      await lockTemplateOf(trx, orgId, `eventTriggers.${row}.outsiderTemplateId`, outsiderTemplateId);
  }
}

const withTemplateSql = `select name from recurring_missions
  where org_id = $1 and event_triggers @> jsonb_build_array(jsonb_build_object('outsiderTemplateId', $2::text)) order by id limit 6`;

/** The recurring missions with a rule that names the template; at most 6. */
export const missionsWithTemplate = (
  trx: Transaction,
  orgId: string,
  templateId: string,
): Promise<{ name: string }[]> => sql(withTemplateSql, [orgId, templateId], trx);

const withEventsSql = `select ${columnsOf(RecurringMission)} from recurring_missions
  where org_id = $1 and event_triggers <> '[]' and enabled order by id`;

/** The organization's enabled recurring missions with event triggers. */
export const listMissionsWithEvents = (orgId: string): Promise<RecurringMission[]> => sql(withEventsSql, [orgId]);

/** The event that starts a mission: its text for the agent, and the issue that the run works on instead of a new issue. */
export interface StartingEvent {
  text: string;
  issue: CreatedIssue | null;
  /** The sandbox template for all agents of the mission; null means that each agent uses its own template. */
  sandboxTemplateId: string | null;
  /** The person to bill; null means the person who last changed the mission. */
  actor: RecurringMission['createdByUserId'] | null;
}

/**
 * Writes a run for an event, or returns the blocker: unlike a blocked occurrence of a schedule, a blocked event leaves no skipped run. The
 * caller has to deliver the run. The mission must be locked. Returns null when its project is being deleted.
 */
export async function startForEvent(
  trx: Transaction,
  locked: RecurringMission,
  { text, issue, actor, sandboxTemplateId }: StartingEvent,
): Promise<WaitingRun | StartBlocker | null> {
  const at = now();
  const { newRuns, blockers } = await planRuns(trx, [locked], { kind: 'manual', at, actor });
  const blocker = blockers.get(locked.id);
  if (blocker) return blocker;
  const own = (run: NewRun): NewRun => {
    const { asks, ...others } = run;
    return issue ? { ...others, issueId: issue.id, issueUrl: issue.url } : run;
  };
  const [run] = await createRuns(
    trx,
    newRuns.map((one) => ({ ...own(one), issueText: text, sandboxTemplateId })),
    at,
  );
  if (run) await RecurringMission.patch(trx, { id: locked.id }, { lastRunAt: at });
  return run ?? null;
}
