// Starts due missions, in any number of processes at once (docs/decisions/0030-schedules-are-wall-times.md). The run is written in the
// transaction that advances the schedule, hence once per occurrence; ../runs/dispatch.ts then creates its issue in an external tracker.

import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { databaseErrorKind } from '#foundation/postgres/database-errors.ts';
import { columnsOf } from '#foundation/postgres/reads.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { Project } from '../../projects/projects/model.ts';
import { createIssuesAndReserve, createRuns, insertRuns, type NewRun } from '../runs/create.ts';
import { deliverRuns, dispatching, takeOverRuns } from '../runs/dispatch.ts';
import type { Mission } from '../runs/mission.ts';
import type { RunKind, WaitingRun } from '../runs/model.ts';
import { isOpen, isWaitingForIssue } from '../runs/states.ts';
import type { StartBlocker } from '../starts/blockers.ts';
import { RecurringMission } from './model.ts';
import { isTimeZone, nextOccurrence } from './schedule.ts';
import { findStartBlockers, lockBudgets } from './start-blocker.ts';

/** Starts all due missions, and takes over runs from processes that died. @throws after all starts were tried, if one of them failed internally */
export async function dispatchDue(): Promise<void> {
  const errors: unknown[] = [];
  const drain = async (takeBatch: () => Promise<WaitingRun[]>) => {
    let batch: WaitingRun[];
    do {
      batch = await takeBatch();
      errors.push(...(await deliverRuns(batch, await readMissions(batch))));
    } while (batch.length === dispatching.batchSize);
  };
  await drain(startDue);
  await drain(takeOverRuns);
  if (errors.length > 0) throw new Error(`${errors.length} issues could not be created`, { cause: errors[0] });
}

// Missions that another process is starting count as due until its transaction ends.
const manyDueSql = `select from recurring_missions where next_run_at <= $1 offset ${dispatching.batchSize} limit 1`;

/** Whether more missions are due than one batch starts. Then work that can wait a few seconds lets them start first. */
export const areManyMissionsDue = async (): Promise<boolean> => (await sql(manyDueSql, [now()])).length > 0;

/** Missions by id for runs that have no issue yet; deleted missions are omitted. */
export async function readMissions(runs: readonly WaitingRun[]): Promise<Map<string, Mission>> {
  const ids = runs.filter(isWaitingForIssue).flatMap(({ recurringId }) => recurringId ?? []);
  if (ids.length === 0) return new Map();
  return new Map((await RecurringMission.findByKeys('id', ids)).map((mission) => [mission.id, mission]));
}

const moveSchedulesSql = `update recurring_missions m
  set next_run_at = d.next, last_run_at = case when d.starts then $4 else m.last_run_at end
  from unnest($1::text[], $2::bigint[], $3::boolean[]) d (id, next, starts) where m.id = d.id`;

const lockDueSql = `select ${columnsOf(RecurringMission)} from recurring_missions where next_run_at <= $1
    and ${isWritableSql('recurring_missions.org_id')}
  order by next_run_at limit ${dispatching.batchSize} for no key update skip locked`;
/** Writes runs for the next batch of due missions; concurrent processes skip the rows of this batch. */
async function startDue(): Promise<WaitingRun[]> {
  const at = now();
  // The check runs twice a second and mostly finds nothing; a transaction would cost three statements and much more memory.
  if ((await sql('select from recurring_missions where next_run_at <= $1 limit 1', [at])).length === 0) return [];
  return transaction(async (trx) => {
    const found = await sql<RecurringMission>(lockDueSql, [at], trx);
    // A mission whose time zone this version of Node does not know is left to a process that knows it, and does not block other missions.
    const due = found.filter(({ triggers }) => triggers.every(({ schedule }) => isTimeZone(schedule.timezone)));
    if (due.length === 0) return [];
    return trx
      .transaction((savepoint) => startWithinBudget(savepoint, due, at))
      .catch(async (error) => {
        if (databaseErrorKind(error) === 'retry') throw error;
        const { runs } = await startRuns(trx, due, { kind: 'scheduled', at });
        await moveSchedules(trx, due, runs, at);
        return runs;
      });
  });
}

/**
 * Starts a batch on the assumption that the budgets suffice. The ledgers are then locked last, because all other batches of an organization
 * wait while its ledger is locked. @throws when a budget does not suffice, or on an error of one mission; the caller then starts the batch
 * without the assumption
 */
async function startWithinBudget(
  trx: Transaction,
  due: readonly RecurringMission[],
  at: number,
): Promise<WaitingRun[]> {
  const { newRuns } = await planRuns(trx, due, { kind: 'scheduled', at, assumesBudget: true });
  const inserted = await insertRuns(trx, newRuns, at);
  await moveSchedules(trx, due, inserted.runs, at);
  await lockBudgets(trx, inserted.runs);
  await createIssuesAndReserve(trx, inserted);
  return inserted.runs;
}

async function moveSchedules(
  trx: Transaction,
  due: readonly RecurringMission[],
  runs: readonly WaitingRun[],
  at: number,
): Promise<void> {
  const starting = new Set(runs.filter(isOpen).map(({ recurringId }) => recurringId));
  // The next run is computed from now, not from the occurrence, so that missed occurrences become one run.
  const next = nextRuns(due, at);
  const ids = due.map(({ id }) => id);
  await sql(moveSchedulesSql, [ids, next, ids.map((id) => starting.has(id)), at], trx);
}

/** The next occurrence of each mission, computed once per distinct trigger list. */
function nextRuns(missions: readonly Pick<RecurringMission, 'triggers'>[], after: number): (number | null)[] {
  const known = new Map<string, number | null>();
  return missions.map(({ triggers }) => {
    const key = JSON.stringify(triggers);
    const next = known.has(key) ? known.get(key)! : nextRunAt(triggers, after);
    known.set(key, next);
    return next;
  });
}

/** The next occurrence of the triggers; null without a schedule. */
export const nextRunAt = (triggers: RecurringMission['triggers'], after: number): number | null =>
  triggers.length === 0
    ? null
    : nextOccurrence(
        triggers.map(({ schedule }) => schedule),
        after,
      );

interface Start {
  kind: RunKind;
  at: number;
  /** The person who starts the mission; absent means the person who last changed its task or schedule. */
  actor?: RecurringMission['createdByUserId'] | null;
  /** Whether the ledgers are locked only after the runs are written, on the assumption that the budgets suffice. */
  assumesBudget?: boolean;
}

/**
 * Writes a run for each of the missions; if the start of a mission is blocked, its run has the status `skipped`. The caller has to deliver
 * the started runs, and to record on the missions when they last ran. The missions must be locked. A project that is being deleted gets no
 * run.
 */
export async function startRuns(
  trx: Transaction,
  locked: readonly RecurringMission[],
  start: Start,
): Promise<{ runs: WaitingRun[]; blockers: Map<string, StartBlocker> }> {
  const { newRuns, blockers } = await planRuns(trx, locked, start);
  return { runs: await createRuns(trx, newRuns, start.at), blockers };
}

export async function planRuns(
  trx: Transaction,
  locked: readonly RecurringMission[],
  { kind, at, actor, assumesBudget = false }: Start,
): Promise<{ newRuns: NewRun[]; blockers: Map<string, StartBlocker> }> {
  const projects = await lockProjects(trx, locked);
  const startable = locked.filter(({ projectId }) => projects.has(projectId));
  const actorOf = (mission: RecurringMission) => actor ?? mission.updatedByUserId ?? mission.createdByUserId;
  const blockers = await findStartBlockers(trx, startable, projects, { actorOf, assumesBudget });
  const newRuns = startable.map((mission) => ({
    orgId: mission.orgId,
    projectId: mission.projectId,
    recurringId: mission.id,
    scheduledFor: kind === 'scheduled' ? mission.nextRunAt! : at,
    kind,
    missionTitle: mission.name,
    asks: {
      project: projects.get(mission.projectId)!,
      title: mission.name,
      body: mission.prompt,
      labels: mission.labels,
    },
    billingActorUserId: actorOf(mission),
    blockedBy: blockers.get(mission.id)?.reason ?? null,
    agentId: mission.agentId,
    effectPolicy: mission.effectPolicy,
  }));
  return { newRuns, blockers };
}

/**
 * The projects of the missions, locked until the transaction ends. A project that is being deleted is omitted, because its deletion waits
 * for the locks of this transaction, which must not wait for the deletion.
 */
async function lockProjects(trx: Transaction, missions: readonly RecurringMission[]): Promise<Map<string, Project>> {
  const ids = [...new Set(missions.map(({ projectId }) => projectId))];
  const locked = await Project.query(trx).whereIn('id', ids).forKeyShare().skipLocked();
  return new Map(locked.map((project) => [project.id, project]));
}
