// A runtime's lease on a run (docs/decisions/0031-runtimes-report-over-graphql.md). A claim creates a lease whose id only the claiming
// runtime knows. The lease is valid for a minute, and each heartbeat renews it. Claims of any number of runtimes skip each other's rows
// (SKIP LOCKED).
import type { Caller } from '#access/principal.ts';
import { now, seconds } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { lookUp, sql, type Transaction } from '#foundation/postgres/database.ts';
import { isDrainingSql } from '../../identity/tokens/drains.ts';
import { isStayingSql } from '../../organization/cells/state.ts';
import type { HarnessId } from '../../projects/agents/model.ts';
import type { InstanceTypeId } from '../../projects/instance-types/model.ts';
import { canTake } from './claimable.ts';
import { Run } from './model.ts';
import { heldStates, isInState, moveRunsSql, type RunState } from './states.ts';

const offer = {
  orgId: '$2::text',
  harnesses: '$3::text[]',
  vendors: '$7::text[]',
  types: '$8::text[]',
  replays: '$9::boolean',
  labels: '$11::text[]',
};

// Runs of an organization that is being moved cannot be changed. A claim of such a run would fail, and with it every claim of a runtime
// that serves all organizations.
const claimable = `${canTake(offer)} and (r.lease_until is null or r.lease_until <= $1) and ($10::text is null or r.id = $10)
      and not ${isDrainingSql('$12', '$5')} and ${isStayingSql('r.org_id')}`;

/** SQL of a claim. @param waiting Common table expressions, the last of which is `waiting`, the run to claim */
const claimSql = (waiting: string): string => `${waiting}
  ${moveRunsSql('running', {
    from: ['waitingForRuntime'],
    set: `lease_id = $4, claimed_by = $5, claimed_with = $12, is_shared = $2::text is null, lease_until = $6, claims = claims + 1, started_at = coalesce(started_at, $1),
      mission_progress = null, mission_activity = null, last_error = null, reason = null, waiting_since = null,
      silent_since = null, pauses_at = null, updated_at = $1`,
    source: 'from waiting',
    where: 'r.id = waiting.id',
  })} returning r.id`;

const claimOldestSql = claimSql(`with waiting as (
    select r.id from runs r where ${claimable} order by r.created_at, r.id limit 1 for update skip locked
  )`);

// The claim of a runtime that serves all organizations. The organization with the fewest running runs on such runtimes comes first, and its oldest
// waiting run is claimed. If another claim has locked that run, the oldest run of the next organization is claimed. If the oldest runs of all
// organizations are locked, a later run is claimed, with the organizations in the same order. To find the organizations with waiting runs, the query
// jumps from one organization to the next in the index, because a scan would read all runs of an organization that has thousands of waiting runs.
// `waiting` reads the rows of `by_fairness` in the order in which they come, and does not sort them, because a sort would lock one run of each
// organization.
const claimFairlySql = claimSql(`with recursive organizations_waiting as (
    (select r.org_id from runs r where ${isInState(['waitingForRuntime'], 'r')} order by r.org_id limit 1)
    union all
    select (select r.org_id from runs r where ${isInState(['waitingForRuntime'], 'r')} and r.org_id > o.org_id order by r.org_id limit 1)
    from organizations_waiting o where o.org_id is not null
  ), by_fairness as materialized (
    select o.org_id, oldest.id as oldest_id from organizations_waiting o, lateral (
      select r.id, r.created_at from runs r where r.org_id = o.org_id and ${claimable} order by r.created_at, r.id limit 1) oldest
    order by (select count(*) from runs r where r.org_id = o.org_id and ${isInState(['running'], 'r')} and r.is_shared),
      oldest.created_at, oldest.id
  ), waiting as (
    select claimed.id from by_fairness o, lateral (
      select r.id from runs r where r.id = o.oldest_id and ${claimable} for update skip locked) claimed
    union all
    select claimed.id from by_fairness o, lateral (
      select r.id from runs r where r.org_id = o.org_id and ${claimable} order by r.created_at, r.id limit 1 for update skip locked) claimed
    limit 1
  )`);

const renewLeaseSql = `update runs r set lease_until = $2 where lease_id = $1 and ${isInState(['running'], 'r')}
  returning r.id`;

export interface LeaseRequest {
  runtime: string;
  harnesses: readonly HarnessId[];
  /** The vendors whose models the runtime has credentials for; absent means all. */
  modelVendors?: readonly string[] | null | undefined;
  /** The instance types that the runtime has room for; null means all. */
  types: readonly InstanceTypeId[] | null;
  labels: readonly string[];
  /** Whether the runtime answers calls from recordings, as forks need. */
  replays: boolean;
  /** The only run to claim; absent means any. */
  runId?: string | undefined;
  leaseId: Id<'lease'>;
  leaseUntil: number;
  /**
   * Whether the runtime can send the same claim a second time, even while the first claim is still being executed. The first claim may then
   * already have given the lease `leaseId` to a run.
   */
  isRepeatable: boolean;
}

/**
 * Claims the run that has waited longest among those that the runtime can execute; the run is then `running` under the lease. A runtime
 * that serves all organizations begins with the organization that has the fewest running runs on such runtimes. The shell agent works only
 * on runs that name it.
 */
export async function claimLongestWaitingRun(
  trx: Transaction,
  { orgId, credentialId }: Caller,
  { runtime, harnesses, modelVendors, types, labels, replays, runId, leaseId, leaseUntil, isRepeatable }: LeaseRequest,
): Promise<Run | undefined> {
  if (isRepeatable) {
    // Equal claims are executed one after the other; the later claim returns the run of the earlier claim.
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [leaseId]);
    const [renewed] = await sql<Pick<Run, 'id'>>(renewLeaseSql, [leaseId, leaseUntil], trx);
    if (renewed && runId && renewed.id !== runId) return undefined;
    if (renewed) return Run.query(trx).findById(renewed.id);
  }
  const offered = [modelVendors ?? null, types, replays];
  const values = [
    now(),
    orgId,
    harnesses,
    leaseId,
    runtime,
    leaseUntil,
    ...offered,
    runId ?? null,
    labels,
    credentialId,
  ];
  const [claimed] = await sql<Pick<Run, 'id'>>(orgId === null && !runId ? claimFairlySql : claimOldestSql, values, trx);
  return claimed && Run.query(trx).findById(claimed.id);
}

export interface RunReport {
  runId: string;
  leaseId: string;
  /** Ids of messages that the agent has received. */
  acknowledged?: readonly string[] | undefined;
  /** Progress in percent; only a value larger than the stored one changes anything. */
  progress?: number | null | undefined;
  activity?: string | null | undefined;
}

/** Minimum age of a lease before it is written again. While an agent accepts messages, heartbeats are more frequent than the lease needs. */
export const renewalMs = seconds(5);

// Leases that have expired are also renewed while no other runtime has claimed the run.
const renewLeasesSql = `${moveRunsSql('running', {
  set: `lease_until = $1::bigint, silent_since = null, waiting_since = null,
    reason = null, last_error = case when r.status = 'running' then r.last_error end,
    mission_progress = greatest(b.progress, r.mission_progress), mission_activity = coalesce(b.activity, r.mission_activity),
    updated_at = case when (greatest(b.progress, r.mission_progress), coalesce(b.activity, r.mission_activity))
      is distinct from (r.mission_progress, r.mission_activity) or r.status <> 'running' then $2::bigint else r.updated_at end`,
  source: 'from unnest($3::text[], $4::text[], $5::int[], $6::text[]) b (id, lease_id, progress, activity)',
  where: `r.id = b.id and r.lease_id = b.lease_id and r.pauses_at is null and ($7::text is null or r.org_id = $7)
    and (r.status <> 'running' or r.lease_until <= $1::bigint - ${renewalMs}
      or (greatest(b.progress, r.mission_progress), coalesce(b.activity, r.mission_activity))
        is distinct from (r.mission_progress, r.mission_activity))`,
  from: heldStates,
})} returning r.id, r.updated_at = $2 as changed`;

const heldRunsSql = `select r.id, r.org_id, r.claimed_by, r.lease_until, r.interrupted_at is not null as is_interrupted,
    r.pauses_at is not null as is_pausing, r.minute_until, r.mission_progress, r.mission_activity,
    exists (select from run_steps s where s.run_id = r.id and s.status = 'running' and s.harness <> 'shell') as can_hear
  from unnest($1::text[], $2::text[]) b (id, lease_id) join runs r on r.id = b.id and r.lease_id = b.lease_id
  where ($3::text is null or r.org_id = $3) and ${isInState(['running'], 'r')}`;

/** A run whose lease the runtime still holds. */
export interface HeldRun {
  id: string;
  orgId: string;
  claimedBy: string;
  leaseUntil: number;
  isInterrupted: boolean;
  /** Whether the runtime must save the work and stop. */
  isPausing: boolean;
  /** Whether the current agent accepts messages. */
  canHear: boolean;
  minuteUntil: number | null;
  missionProgress: number | null;
  missionActivity: string | null;
}

const heldValues = ({ orgId }: Caller, reports: readonly RunReport[]): unknown[] => [
  reports.map(({ runId }) => runId),
  reports.map(({ leaseId }) => leaseId),
  orgId,
];

/** The runs that the runtime holds, without renewing their leases. */
export const findHeldRuns = (caller: Caller, reports: readonly RunReport[]): Promise<HeldRun[]> =>
  lookUp<HeldRun>(heldRunsSql, heldValues(caller, reports), undefined, reports.length);

/**
 * Returns true if the stored run does not have to be updated after a report. That is the case when the run is not pausing, its lease was
 * renewed recently, its current minute has not ended, and the reported progress and activity are already stored.
 */
export function isUnchanged(run: HeldRun, { progress, activity }: RunReport, at: number, leaseUntil: number): boolean {
  const isRecent = !run.isPausing && run.leaseUntil > leaseUntil - renewalMs && (run.minuteUntil ?? 0) > at;
  const isProgressKnown = (progress ?? -1) <= (run.missionProgress ?? -1);
  return isRecent && isProgressKnown && (activity ?? run.missionActivity) === run.missionActivity;
}

/** Renews the leases and records progress. Returns the runs that the runtime still holds, and the ids of those that have changed. */
export async function renewLeases(
  trx: Transaction,
  caller: Caller,
  reports: readonly RunReport[],
  leaseUntil: number,
): Promise<{ held: HeldRun[]; changed: string[] }> {
  if (reports.length === 0) return { held: [], changed: [] };
  const columns = [
    reports.map(({ runId }) => runId),
    reports.map(({ leaseId }) => leaseId),
    reports.map(({ progress }) => progress ?? null),
    reports.map(({ activity }) => activity ?? null),
  ];
  const values = [leaseUntil, now(), ...columns, caller.orgId];
  const [renewed, held] = await Promise.all([
    sql<{ id: string; changed: boolean }>(renewLeasesSql, values, trx),
    sql<HeldRun>(heldRunsSql, heldValues(caller, reports), trx),
  ]);
  return { held, changed: renewed.filter(({ changed }) => changed).map(({ id }) => id) };
}

/** SQL condition on columns of another table: the run whose id is in `runId` has the lease in `leaseId` and is in one of the states. */
export const isRunHeld = (runId: string, leaseId: string, states: readonly RunState[]): string =>
  `exists (select from runs r where r.id = ${runId} and r.lease_id = ${leaseId} and ${isInState(states, 'r')})`;
