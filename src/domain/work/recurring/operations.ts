// Operations on recurring missions of both kinds: list, read, create, change, delete, run now, list the runs.
import { isDeepStrictEqual } from 'node:util';
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { ownOrganization, ownPerson, reachesProject, withinProject, withinReach } from '#access/reach.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { emptyPage, type Page, type PageRequest } from '#foundation/postgres/cursor.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { firstStep } from '#foundation/postgres/idempotency.ts';
import { forbidden, refuseChanged } from '#foundation/problem.ts';
import type { PersonIn } from '../../organization/memberships/model.ts';
import { lockOwnMembership } from '../../organization/memberships/operations.ts';
import { lockAgentOf } from '../../projects/agents/operations.ts';
import { lockProjectOf } from '../../projects/projects/operations.ts';
import { deliverRuns } from '../runs/dispatch.ts';
import { cancelRuns } from '../runs/finish.ts';
import { Run, type RunStatus, type WaitingRun } from '../runs/model.ts';
import { isOpen, waitingStates } from '../runs/states.ts';
import { nextRunAt, readMissions, startRuns } from './dispatch.ts';
import { changesPolicy, lockNamedRecords, plainEvent, refuseNoTrigger } from './events.ts';
import { type EventTrigger, type Kind, RecurringMission, type Trigger } from './model.ts';
import { agentOfTemplate } from './templates.ts';

export interface RecurringFilter extends PageRequest {
  projectId?: string | null | undefined;
}

/** Recurring missions, newest first; empty for a project that the caller cannot reach. */
export async function listRecurring(
  missions: Kind,
  caller: Caller,
  filter: RecurringFilter,
): Promise<Page<RecurringMission>> {
  const reach = withinProject(caller, filter.projectId);
  return reach ? missions.page(reach, filter) : emptyPage;
}

export const findRecurring = async (missions: Kind, caller: Caller, id: string): Promise<RecurringMission> =>
  missions.get({ id, ...withinReach(caller) });

export interface NewRecurring {
  projectId: string;
  name: string;
  prompt: string;
  templateKey?: string | null | undefined;
  triggers: Trigger[];
  /** Rules for events; absent means none. */
  eventTriggers?: EventTrigger[] | undefined;
  labels: string[];
  skipIfPreviousOpen: boolean;
  enabled: boolean;
  /** The only agent that may work on the runs, possibly a built-in one; null means any; absent means the template's agent. */
  agentId?: string | null | undefined;
  effectPolicy?: RecurringMission['effectPolicy'] | undefined;
}

/**
 * Creates a recurring mission.
 * @throws 403 without `missions:run`, since its schedule starts missions; 403 for a project that the credential is not bound to; 404 for an
 * unknown project or agent
 */
export async function createRecurring(missions: Kind, caller: Caller, input: NewRecurring): Promise<RecurringMission> {
  admit(caller, 'missions:run');
  const [orgId, createdByUserId, createdAt] = [ownOrganization(caller), ownPerson(caller), now()];
  const triggers = input.triggers.map(plain);
  const eventTriggers = (input.eventTriggers ?? []).map(plainEvent);
  refuseNoTrigger(triggers, eventTriggers);
  return transaction(async (trx) => {
    await lockOwnMembership(trx, caller);
    const projectId = await lockProject(trx, caller, input.projectId);
    const agentId = input.agentId === undefined ? agentOfTemplate(input.templateKey) : input.agentId;
    if (agentId !== null) await lockAgentOf(trx, orgId, agentId);
    await lockNamedRecords(trx, orgId, eventTriggers);
    const record = {
      id: newId(missions.idNoun),
      kind: missions.kind,
      orgId,
      ...input,
      projectId,
      templateKey: input.templateKey ?? null,
      agentId,
      effectPolicy: input.effectPolicy ?? null,
      triggers,
      eventTriggers,
      nextRunAt: input.enabled ? nextRunAt(triggers, createdAt) : null,
      lastRunAt: null,
      createdByUserId,
      updatedByUserId: null,
      createdAt,
      updatedAt: createdAt,
    };
    await RecurringMission.insert(trx, record);
    return record as RecurringMission;
  });
}

/** Locks the project against deletion until the transaction ends. */
async function lockProject(trx: Transaction, caller: Caller, id: string): Promise<Id<'project'>> {
  if (!reachesProject(caller, id)) throw forbidden.field('projectId', 'this credential is bound to another project');
  return lockProjectOf(trx, ownOrganization(caller), id);
}

/** Removes absent members, so that equal triggers compare as equal. */
const plain = ({ kind, schedule: { interval, time, timezone, weekday, dayOfMonth } }: Trigger): Trigger => ({
  kind,
  schedule: { interval, time, timezone, ...(weekday && { weekday }), ...(dayOfMonth && { dayOfMonth }) },
});

export type RecurringChanges = { [K in keyof NewRecurring]?: NewRecurring[K] | undefined };

/**
 * Changes a recurring mission. The time of the next run changes only if the triggers or `enabled` change. After a change of the task,
 * project, agent or schedule, later runs are billed to the author of the change.
 * @throws 403 for such a change without `missions:run`; 404 for an unknown project or agent
 */
export function changeRecurring(
  missions: Kind,
  caller: Caller,
  id: string,
  changes: RecurringChanges,
  ifUpdatedAt?: number | null,
): Promise<RecurringMission> {
  return transaction(async (trx) => {
    await lockOwnMembership(trx, caller);
    const { projectId: wanted, ...others } = changes;
    const projectId = wanted === undefined ? undefined : await lockProject(trx, caller, wanted);
    const before = await lockRecurring(trx, missions, caller, id);
    refuseChanged(before, ifUpdatedAt);
    if (Object.keys(changes).length === 0) return before;
    const at = now();
    const triggers = changes.triggers?.map(plain) ?? before.triggers;
    const eventTriggers = changes.eventTriggers?.map(plainEvent) ?? before.eventTriggers;
    refuseNoTrigger(triggers, eventTriggers);
    if (changes.eventTriggers) await lockNamedRecords(trx, before.orgId, eventTriggers);
    const enabled = changes.enabled ?? before.enabled;
    const ofTemplate = changes.templateKey ? agentOfTemplate(changes.templateKey) : null;
    const agentId = changes.agentId === undefined ? (ofTemplate ?? before.agentId) : changes.agentId;
    if (agentId !== before.agentId && agentId !== null) await lockAgentOf(trx, before.orgId, agentId);
    const reschedules = !isDeepStrictEqual(triggers, before.triggers);
    const starts =
      reschedules ||
      !isDeepStrictEqual(eventTriggers, before.eventTriggers) ||
      (enabled && !before.enabled) ||
      agentId !== before.agentId ||
      (changes.prompt ?? before.prompt) !== before.prompt ||
      (projectId ?? before.projectId) !== before.projectId;
    if (starts || changesPolicy(changes, before)) admit(caller, 'missions:run');
    const patch = {
      ...others,
      ...(projectId && { projectId }),
      triggers,
      eventTriggers,
      agentId,
      ...((reschedules || enabled !== before.enabled) && { nextRunAt: enabled ? nextRunAt(triggers, at) : null }),
      ...(starts && { updatedByUserId: ownPerson(caller) }),
      updatedAt: nowAfter(before.updatedAt),
    };
    await RecurringMission.patch(trx, { id }, patch);
    return { ...before, ...patch } as RecurringMission;
  });
}

/** Disables the missions that are billed to the person. A person who enables one again is billed for its later runs. */
export async function disableRecurringOf(trx: Transaction, { userId, orgId }: PersonIn): Promise<void> {
  await RecurringMission.query(trx)
    .where({ enabled: true, ...(orgId && { orgId }) })
    .whereRaw('coalesce(updated_by_user_id, created_by_user_id) = ?', userId)
    .patch({ enabled: false, nextRunAt: null, updatedAt: now() });
}

async function lockRecurring(trx: Transaction, missions: Kind, caller: Caller, id: string): Promise<RecurringMission> {
  const found = await RecurringMission.query(trx)
    .findOne({ id, kind: missions.kind, ...withinReach(caller) })
    .forNoKeyUpdate();
  return found ? { ...found } : missions.refuse();
}

/** Deletes a recurring mission and cancels its waiting runs; running missions continue, and the runs stay listed. */
export function removeRecurring(missions: Kind, caller: Caller, id: string): Promise<{ ok: true; id: string }> {
  return transaction(async (trx) => {
    await lockRecurring(trx, missions, caller, id);
    await cancelRuns(trx, { recurringId: id }, `The ${missions.noun} was deleted.`, waitingStates);
    await RecurringMission.query(trx).deleteById(id);
    return { ok: true, id };
  });
}

/**
 * The runs of a mission, newest first. A project-bound credential sees only the runs of its own project, even if the mission has also run
 * in other projects.
 */
export async function listRunsOf(missions: Kind, caller: Caller, id: string, page: PageRequest): Promise<Page<Run>> {
  await findRecurring(missions, caller, id);
  return Run.page({ recurringId: id, projectId: caller.projectId ?? undefined }, page);
}

export interface StartedRun {
  ok: true;
  runId: string;
  /** The issue of the run; null until the tracker has created it. */
  issueId: string | null;
  status: RunStatus;
}

/**
 * Runs a mission at once, even a disabled one. If the tracker fails, the issue is created later and the result contains no issue.
 * @throws 402 when the budget is used up, 409 when the project is not active
 */
export async function runNow(missions: Kind, caller: Caller, id: string): Promise<StartedRun> {
  const started: WaitingRun[] = [];
  // The run is committed before the tracker is called; a repeated request gets that run and starts no second one.
  const runId = await firstStep(async () => {
    started[0] = await transaction((trx) => writeRunNow(trx, missions, caller, id));
    return started[0].id;
  });
  await deliverRuns(started, await readMissions(started));
  // The built-in tracker creates the issue together with the run, so the run need not be read again.
  const { issueId, status } = started[0]?.issueId ? started[0] : await Run.get({ id: runId });
  return { ok: true, runId, issueId, status };
}

/** Writes the run in the caller's transaction; the caller delivers it after the commit. @throws as `runNow` */
export async function writeRunNow(trx: Transaction, missions: Kind, caller: Caller, id: string): Promise<WaitingRun> {
  const one = await lockRecurring(trx, missions, caller, id);
  const at = now();
  const { runs, blockers } = await startRuns(trx, [one], { kind: 'manual', at, actor: caller.userId });
  const { problem } = blockers.get(id) ?? {};
  if (problem) throw problem;
  if (runs.some(isOpen)) await RecurringMission.patch(trx, { id }, { lastRunAt: at });
  return runs[0] ?? missions.refuse();
}

/** The task of the run; undefined once its recurring mission is deleted. */
export const taskOfRun = async (trx: Transaction, { prompt, recurringId }: Run): Promise<string | undefined> =>
  prompt ?? (recurringId ? (await RecurringMission.find({ id: recurringId }, trx))?.prompt : undefined);
