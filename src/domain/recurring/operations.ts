// What can be done with missions that return, whichever their kind: list, read, create, change, delete, run now, and see the runs.
import { isDeepStrictEqual } from 'node:util';
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson, reachesProject, withinProject, withinReach } from '#access/reach.ts';
import { announce } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { emptyPage, type Page, type PageRequest, readPage } from '#foundation/cursor.ts';
import { type Transaction, transaction } from '#foundation/database.ts';
import { firstStep } from '#foundation/idempotency.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { forbidden } from '#foundation/problem.ts';
import { find, missing } from '#foundation/record.ts';
import type { PersonIn } from '../memberships/model.ts';
import { holdOwnMembership } from '../memberships/operations.ts';
import { Project } from '../projects/model.ts';
import { deliver, nextRunAt, startRuns } from './dispatch.ts';
import { type Kind, type Recurring, Run, type RunStatus, type Trigger } from './model.ts';
import { nextOccurrences } from './schedule.ts';

export interface RecurringFilter extends PageRequest {
  projectId?: string | null | undefined;
}

/** Newest first. A project that the caller cannot reach has none. */
export async function listRecurring(kind: Kind, caller: Caller, filter: RecurringFilter): Promise<Page<Recurring>> {
  const own = withinProject(caller, filter.projectId);
  return own ? readPage<Recurring>(kind.record, own, filter) : emptyPage;
}

export const findRecurring = async (kind: Kind, caller: Caller, id: string): Promise<Recurring> =>
  find<Recurring>(kind.record, kind.noun, { id, ...withinReach(caller) });

export interface NewRecurring {
  projectId: string;
  name: string;
  prompt: string;
  templateKey?: string | null | undefined;
  triggers: Trigger[];
  labels: string[];
  skipIfPreviousOpen: boolean;
  enabled: boolean;
}

/**
 * @throws 403 without `missions:run`, since its schedule starts missions; 403 for a project that the credential is not bound to;
 * 404 for an unknown one
 */
export async function createRecurring(kind: Kind, caller: Caller, input: NewRecurring): Promise<Recurring> {
  admit(caller, 'missions:run');
  const [orgId, createdByUserId, createdAt] = [ownOrganization(caller), ownPerson(caller), now()];
  const triggers = input.triggers.map(plain);
  return transaction(async (trx) => {
    await holdOwnMembership(trx, caller);
    const projectId = await holdProject(trx, caller, input.projectId);
    const record = {
      id: newId(kind.idNoun),
      orgId,
      ...input,
      projectId,
      templateKey: input.templateKey ?? null,
      triggers,
      nextRunAt: input.enabled ? nextRunAt(triggers, createdAt) : null,
      lastRunAt: null,
      createdByUserId,
      updatedByUserId: null,
      createdAt,
      updatedAt: createdAt,
    };
    await kind.record.query(trx).insert(record);
    return record as Recurring;
  });
}

/** The project, kept from being deleted until the transaction ends. */
async function holdProject(trx: Transaction, caller: Caller, id: string): Promise<Id<'project'>> {
  if (!reachesProject(caller, id)) throw forbidden('projectId: this credential is bound to another project.');
  const project = await Project.query(trx)
    .select('id')
    .findOne({ id, orgId: ownOrganization(caller) })
    .forKeyShare();
  return project?.id ?? missing('project');
}

/** Without the members that say nothing, so that two ways to say the same are the same. */
const plain = ({ kind, schedule: { interval, time, timezone, weekday, dayOfMonth } }: Trigger): Trigger => ({
  kind,
  schedule: { interval, time, timezone, ...(weekday && { weekday }), ...(dayOfMonth && { dayOfMonth }) },
});

export type RecurringChanges = { [K in keyof NewRecurring]?: NewRecurring[K] | undefined };

/**
 * The next run moves only when the triggers or `enabled` do, never on a rename. Whoever changes what runs, where or when is billed
 * for it from then on. @throws 403 for such a change without `missions:run`
 */
export function changeRecurring(kind: Kind, caller: Caller, id: string, changes: RecurringChanges): Promise<Recurring> {
  return transaction(async (trx) => {
    await holdOwnMembership(trx, caller);
    const { projectId: wanted, ...others } = changes;
    const projectId = wanted === undefined ? undefined : await holdProject(trx, caller, wanted);
    const before = await locked(trx, kind, caller, id);
    if (Object.keys(changes).length === 0) return before;
    const at = now();
    const triggers = changes.triggers?.map(plain) ?? before.triggers;
    const enabled = changes.enabled ?? before.enabled;
    const reschedules = !isDeepStrictEqual(triggers, before.triggers);
    const starts =
      reschedules ||
      (enabled && !before.enabled) ||
      (changes.prompt ?? before.prompt) !== before.prompt ||
      (projectId ?? before.projectId) !== before.projectId;
    if (starts) admit(caller, 'missions:run');
    const patch = {
      ...others,
      ...(projectId && { projectId }),
      triggers,
      ...((reschedules || enabled !== before.enabled) && { nextRunAt: enabled ? nextRunAt(triggers, at) : null }),
      ...(starts && { updatedByUserId: ownPerson(caller) }),
      updatedAt: at,
    };
    await kind.record.query(trx).findById(id).patch(patch);
    return { ...before, ...patch } as Recurring;
  });
}

/** Disables those that are billed to a person. Somebody who enables one again is billed from then on. */
export const disableRecurringOf = async (trx: Transaction, kind: Kind, { userId, orgId }: PersonIn): Promise<number> =>
  kind.record
    .query(trx)
    .where({ enabled: true, ...(orgId && { orgId }) })
    .whereRaw('coalesce(updated_by_user_id, created_by_user_id) = ?', userId)
    .patch({ enabled: false, nextRunAt: null, updatedAt: now() });

async function locked(trx: Transaction, kind: Kind, caller: Caller, id: string): Promise<Recurring> {
  const found = await kind.record
    .query(trx)
    .findOne({ id, ...withinReach(caller) })
    .forNoKeyUpdate();
  return found ? ({ ...found } as Recurring) : missing(kind.noun);
}

/** Ends it with what has not begun; missions under way go on, and its runs stay in the books. */
export function removeRecurring(kind: Kind, caller: Caller, id: string): Promise<{ ok: true; id: string }> {
  return transaction(async (trx) => {
    await locked(trx, kind, caller, id);
    const canceled = await Run.query(trx)
      .where({ [kind.parent]: id, status: 'dispatching' })
      .patch({ status: 'canceled', reason: `The ${kind.noun} was deleted.`, updatedAt: now() })
      .returning('id');
    await announce(trx, ...canceled.map((run) => run.id));
    await kind.record.query(trx).deleteById(id);
    return { ok: true, id };
  });
}

/** Newest first; of a bound credential's project alone, wherever it ran before. */
export async function listRuns(kind: Kind, caller: Caller, id: string, page: PageRequest): Promise<Page<Run>> {
  await findRecurring(kind, caller, id);
  return readPage<Run>(Run, { [kind.parent]: id, projectId: caller.projectId ?? undefined }, page);
}

export interface StartedRun {
  ok: true;
  runId: string;
  /** Null while the tracker has not taken it yet. */
  issueId: string | null;
  status: RunStatus;
}

/**
 * Runs it at once, also when it is disabled. A tracker that fails is tried again later; the answer then has no issue yet.
 * @throws 402 without means, 409 when the project is not active.
 */
export async function runNow(kind: Kind, caller: Caller, id: string): Promise<StartedRun> {
  const begun: Run[] = [];
  // The run is committed before its tracker hears of it; who repeats the call gets that run, and no second one.
  const runId = await firstStep(async () => {
    begun[0] = await transaction(async (trx) => {
      const one = await locked(trx, kind, caller, id);
      const { runs, hindered } = await startRuns(trx, kind, [one], { kind: 'manual', at: now(), actor: caller.userId });
      const { refusal } = hindered.get(id) ?? {};
      if (refusal) throw refusal;
      return runs[0] ?? missing(kind.noun);
    });
    return begun[0].id;
  });
  await deliver([kind], begun);
  const { issueId, status } = await find<Run>(Run, 'run', { id: runId });
  return { ok: true, runId, issueId, status };
}

/** The next occurrences; none while it is disabled. One that is overdue comes first. */
export function upcoming(
  { triggers, nextRunAt: next }: Pick<Recurring, 'triggers' | 'nextRunAt'>,
  count: number,
): number[] {
  if (next === null) return [];
  const schedules = triggers.map(({ schedule }) => schedule);
  return [next, ...nextOccurrences(schedules, Math.max(next, now()), count - 1)];
}
