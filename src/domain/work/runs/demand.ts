// Waiting missions and the capacity of runtimes, for metrics and for an autoscaler of runtimes.
import type { Caller } from '#access/principal.ts';
import { now, seconds } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { connectedOffersSql, connectedSince } from '../../projects/agents/runtime-harnesses.ts';
import { labelsOfRun } from './claimable.ts';
import { isInState, waitsForRuntime } from './states.ts';

/** Missions that need the same labels. */
interface LabelDemand {
  labels: string[];
  waiting: number;
  running: number;
  /** When the oldest of the waiting missions with these labels began to wait; null when no mission waits. */
  since: number | null;
}

// Running missions count if their runtimes are of the same kind as the caller: runtimes of its organization or, for a caller without an
// organization, runtimes that serve all organizations.
const demandSql = `select labels, count(*) filter (where waits)::int as waiting, count(*) filter (where not waits)::int as running,
    min(since) filter (where waits) as since
  from (select ${labelsOfRun('r')} as labels, ${isInState(['waitingForRuntime'], 'r')} as waits, coalesce(r.waiting_since, r.created_at) as since
    from runs r where ($1::text is null or r.org_id = $1)
      and (${waitsForRuntime('r')} or ${isInState(['running'], 'r')} and r.is_shared = ($1::text is null))) open
  group by labels order by waiting desc, labels`;

export interface RuntimeDemand {
  missions: number;
  waiting: number;
  running: number;
  oldestWaitingSeconds: number;
}

const ageOf = (since: number | null): number => (since === null ? 0 : Math.max(0, now() - since) / seconds(1));

/** Counts missions that need at least one of these labels and no other label. Without labels, counts missions that need none. */
export async function readRuntimeDemand({ orgId }: Caller, labels: readonly string[]): Promise<RuntimeDemand> {
  const groups = (await sql<LabelDemand>(demandSql, [orgId])).filter((group) =>
    labels.length === 0
      ? group.labels.length === 0
      : group.labels.length > 0 && group.labels.every((label) => labels.includes(label)),
  );
  const sum = (of: 'waiting' | 'running') => groups.reduce((total, group) => total + group[of], 0);
  const [waiting, running] = [sum('waiting'), sum('running')];
  const oldestWaitingSeconds = Math.floor(Math.max(0, ...groups.map(({ since }) => ageOf(since))));
  return { missions: waiting + running, waiting, running, oldestWaitingSeconds };
}

/** Maximum number of label sets that are reported separately; all other sets are reported together, as `other`. */
const maxLabelSets = 50;

/** For each set of labels: the number of missions that wait for a runtime with these labels, and the age of the oldest of them in seconds. */
export async function readQueueByLabels(): Promise<{ waiting: Record<string, number>; age: Record<string, number> }> {
  // The object has no prototype, because a label of an organization can have the name of an inherited member, such as `constructor`.
  const waiting: Record<string, number> = Object.create(null);
  const age: Record<string, number> = Object.create(null);
  const groups = (await sql<LabelDemand>(demandSql, [null])).filter((group) => group.waiting > 0);
  for (const [index, group] of groups.entries()) {
    const name = index >= maxLabelSets ? 'other' : group.labels.join(',') || 'none';
    waiting[name] = (waiting[name] ?? 0) + group.waiting;
    age[name] = Math.max(age[name] ?? 0, ageOf(group.since));
  }
  return { waiting, age };
}

const placesSql = `select coalesce(sum(used.runs), 0)::int as used, coalesce(sum(greatest(0, c.places - coalesce(used.runs, 0))), 0)::int as free
  from (${connectedOffersSql('null', '$1::bigint')}) c left join (
    select claimed_with, claimed_by, count(*) as runs from runs where ${isInState(['running'])} group by 1, 2
  ) used on used.claimed_with = c.credential_id and used.claimed_by = c.runtime`;

/** Used and free capacity of the connected runtimes of all organizations, in missions. */
export const countPlaces = async (): Promise<{ used: number; free: number }> =>
  (await sql<{ used: number; free: number }>(placesSql, [connectedSince()]))[0]!;
