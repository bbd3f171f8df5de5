// From what is due to its issue in the tracker, by any number of processes at once (design decisions, section 8; proven in the
// scheduling spike). Three steps, each of which may be the last of a process: the run is written in the transaction that moves
// the schedule on, hence once per occurrence; its issue is made under a lease; and what a dead process left is taken over when
// the lease runs out. The tracker makes one issue per run, however often it is asked.
import { hostname } from 'node:os';
import { announcing } from '#foundation/changes.ts';
import { now, seconds } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { newId } from '#foundation/ids.ts';
import { toProblem } from '#foundation/problem.ts';
import { columnsOf, readByKeys } from '#foundation/record.ts';
import { dispatch } from '#limits.ts';
import { Project } from '../projects/model.ts';
import { trackerOf } from '../trackers/choose.ts';
import { type Hindrance, hindrances } from './hindrance.ts';
import { type Kind, parentOf, type Recurring, Run, type RunKind } from './model.ts';
import { isTimeZone, nextOccurrence } from './schedule.ts';

/** Runs all that is due, and brings on what was left half done. Gives what went wrong on our side, once all is tried. */
export async function dispatchDue(kinds: readonly Kind[]): Promise<void> {
  const faults: unknown[] = [];
  const drain = async (take: () => Promise<Run[]>) => {
    let taken: Run[];
    do {
      taken = await take();
      faults.push(...(await deliver(kinds, taken)));
    } while (taken.length === dispatch.batch);
  };
  for (const kind of kinds) await drain(() => claimDue(kind));
  await drain(takeOver);
  if (faults.length > 0) throw new Error(`${faults.length} issues could not be made`, { cause: faults[0] });
}

/** Writes a run for each of the next that are due, and moves these on; other processes pass over them meanwhile. */
const claimDue = (kind: Kind): Promise<Run[]> =>
  transaction(async (trx) => {
    const at = now();
    const found = await kind.record
      .query(trx)
      .where('nextRunAt', '<=', at)
      .orderBy('nextRunAt')
      .limit(dispatch.batch)
      .forNoKeyUpdate()
      .skipLocked();
    // A zone that only a newer Node knows is left to a process that has one: it must not stop all the others.
    const due = found.filter(({ triggers }) => triggers.every(({ schedule }) => isTimeZone(schedule.timezone)));
    if (due.length === 0) return [];
    const { runs } = await startRuns(trx, kind, due, { kind: 'scheduled', at });
    // From now, not from the occurrence: what was missed meanwhile is run once.
    await trx.raw(
      `update ${kind.record.tableName} t set next_run_at = d.next from unnest(?::text[], ?::bigint[]) d (id, next) where t.id = d.id`,
      [due.map(({ id }) => id), due.map(({ triggers }) => nextRunAt(triggers, at))],
    );
    return runs;
  });

export const nextRunAt = (triggers: Recurring['triggers'], after: number): number =>
  nextOccurrence(
    triggers.map(({ schedule }) => schedule),
    after,
  );

interface Start {
  kind: RunKind;
  at: number;
  /** Who asked for it; else who last set what runs. */
  actor?: Recurring['createdByUserId'] | null;
}

/**
 * Writes runs that this process then has to deliver, or skipped ones with their reason. What is started must be locked; what
 * belongs to a project that is just being deleted gets no run.
 */
export async function startRuns(
  trx: Transaction,
  kind: Kind,
  locked: readonly Recurring[],
  { kind: runKind, at, actor }: Start,
): Promise<{ runs: Run[]; hindered: Map<string, Hindrance> }> {
  const projects = await heldProjects(trx, locked);
  const startable = locked.filter(({ projectId }) => projects.has(projectId));
  const hindered = await hindrances(trx, kind, startable, projects);
  const rows = startable.map((one) => {
    const hindrance = hindered.get(one.id);
    return {
      id: newId('run'),
      orgId: one.orgId,
      projectId: one.projectId,
      [kind.parent]: one.id,
      scheduledFor: runKind === 'scheduled' ? one.nextRunAt! : at,
      kind: runKind,
      missionTitle: one.name,
      billingActorUserId: actor ?? one.updatedByUserId ?? one.createdByUserId,
      createdAt: at,
      updatedAt: at,
      ...(hindrance
        ? { status: 'skipped' as const, reason: hindrance.reason }
        : { status: 'dispatching' as const, attempts: 1, ...lease(at) }),
    };
  });
  if (rows.length === 0) return { runs: [], hindered };
  // An occurrence that has its run gets no second. Not through Objection, which returns what it was told to insert.
  const runs: Run[] = await trx(Run.tableName)
    .insert(rows)
    .onConflict()
    .ignore()
    .returning([...Run.columns]);
  const begun = runs.filter(({ status }) => status === 'dispatching').map((run) => parentOf(run)!);
  await kind.record.query(trx).whereIn('id', begun).patch({ lastRunAt: at });
  return { runs, hindered };
}

/**
 * The projects of what is locked, held until the transaction ends. One that is being deleted is passed over: that deletion waits
 * for our locks, so we must not wait for it.
 */
async function heldProjects(trx: Transaction, locked: readonly Recurring[]): Promise<Map<string, Project>> {
  const ids = [...new Set(locked.map(({ projectId }) => projectId))];
  const held = await Project.query(trx).select('id', 'status').whereIn('id', ids).forKeyShare().skipLocked();
  return new Map(held.map((project) => [project.id, project]));
}

/** Who holds a lease, for an operator who wonders. */
const self = `${hostname()}:${process.pid}`;
const lease = (at: number) => ({ claimedBy: self, leaseUntil: at + dispatch.lease });

const takeOverRunsSql = `with free as (
    select id from runs where status = 'dispatching' and issue_id is null and lease_until <= $1
    order by lease_until limit ${dispatch.batch} for update skip locked
  )
  update runs r set attempts = attempts + 1, claimed_by = $2, lease_until = $3 from free where r.id = free.id
  returning ${columnsOf(Run, 'r')}`;

/** Runs whose dispatcher died, and those that have rested after a failure. */
async function takeOver(): Promise<Run[]> {
  const at = now();
  const { claimedBy, leaseUntil } = lease(at);
  return sql<Run>(takeOverRunsSql, [at, claimedBy, leaseUntil]);
}

/** Brings runs that this process holds to their trackers. What fails is kept on the run; returns the faults of our own. */
export async function deliver(kinds: readonly Kind[], taken: readonly Run[]): Promise<unknown[]> {
  const runs = taken.filter(({ status }) => status === 'dispatching');
  if (runs.length === 0) return [];
  const [projects, ...parents] = await Promise.all([
    readByKeys<Project>(Project, 'id', [...new Set(runs.map(({ projectId }) => projectId))]),
    ...kinds.map((kind) =>
      readByKeys<Recurring>(kind.record, 'id', runs.map((run) => run[kind.parent]).filter(isThere)),
    ),
  ]);
  const project = new Map(projects.map((one) => [one.id, one]));
  const parent = new Map(parents.flat().map((one) => [one.id, one]));
  const faults: unknown[] = [];
  for (let begin = 0; begin < runs.length; begin += dispatch.atOnce) {
    await Promise.all(
      runs.slice(begin, begin + dispatch.atOnce).map(async (run) => {
        const [recurring, home] = [parent.get(parentOf(run)!), project.get(run.projectId)];
        // Deleted since: its run is canceled, or gone as well.
        if (!recurring || !home) return;
        await makeIssue(run, recurring, home).catch(async (error) => {
          if (await noteFailure(run, home, error)) faults.push(error);
        });
      }),
    );
  }
  return faults;
}

const isThere = <T>(value: T | null): value is T => value !== null;

async function makeIssue(run: Run, { name, prompt, labels }: Recurring, project: Project): Promise<void> {
  const issue = await trackerOf(project).createIssue(project, { runId: run.id, title: name, body: prompt, labels });
  await sql(
    announcing(`update runs set issue_id = $2, issue_url = $3, claimed_by = null, lease_until = null, reason = null, updated_at = $4
     where id = $1 and issue_id is null`),
    [run.id, issue.id, issue.url, now()],
  );
}

/** Keeps the error on the run, which rests or has failed for good. True when the fault is ours and not the tracker's. */
async function noteFailure({ id, attempts }: Run, { tracker }: Project, error: unknown): Promise<boolean> {
  const { status, body, headers } = toProblem(error);
  const ours = status === 500;
  const final = attempts >= dispatch.attempts || (!body.retryable && !ours);
  // A tracker that wants us to wait gets that time: an hour's limit would else outlast all the tries.
  const asked = seconds(Number(headers['retry-after'] ?? 0));
  const rest = Math.max(asked, Math.min(dispatch.rest.min * 2 ** (attempts - 1), dispatch.rest.max));
  const at = now();
  // Whoever has taken it over in the meantime knows better.
  await sql(
    announcing(`update runs set status = $3, last_error = $4, claimed_by = null, lease_until = $5, updated_at = $6, reason = $7,
       finished_at = case when $3 = 'failed' then $6::bigint end
     where id = $1 and attempts = $2 and status = 'dispatching' and issue_id is null`),
    [
      id,
      attempts,
      final ? 'failed' : 'dispatching',
      body.description,
      final ? null : at + rest,
      at,
      `${final ? 'The tracker' : 'Waiting for the tracker'} (${tracker})${final ? ' did not take the issue' : ''}: ${body.description}`,
    ],
  );
  return ours;
}
