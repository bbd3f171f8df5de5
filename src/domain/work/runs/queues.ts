// Capacity and queues of runtimes: how many missions a runtime executes, and how many waiting missions it could take.
import type { Caller } from '#access/principal.ts';
import { sql } from '#foundation/postgres/database.ts';
import { readDraining } from '../../identity/tokens/drains.ts';
import {
  connectedOffersSql,
  connectedSince,
  listRuntimes,
  type Runtime,
} from '../../projects/agents/runtime-harnesses.ts';
import { canTake, labelsOfRun } from './claimable.ts';
import { isInState, waitsForRuntime } from './states.ts';

/** Maximum number of waiting missions that are counted, and maximum number of groups of them. */
export const maxQueued = 1_000;
export const maxWaitGroups = 20;

interface Load {
  usedPlaces: number;
  waitingRuns: number;
  oldestWaitingAt: number | null;
}

export interface LoadedRuntime extends Runtime, Load {
  freePlaces: number | null;
  isDraining: boolean;
}

export interface WaitingRunsGroup {
  reason: string | null;
  labels: string[];
  runs: number;
  oldestWaitingAt: number;
  oldestRunId: string;
}

export interface RuntimesAnswer {
  data: LoadedRuntime[];
  waiting: WaitingRunsGroup[];
}

const waitsSince = 'coalesce(r.waiting_since, r.created_at)';

const usedSql = `select r.claimed_with as credential_id, r.claimed_by as name, count(*)::int as used_places
  from runs r where r.org_id = $1 and ${isInState(['running'], 'r')} group by 1, 2`;

const offer = {
  orgId: 'null::text',
  harnesses: 'offer.harnesses',
  vendors: 'offer.vendors',
  types: 'offer.instance_types',
  labels: 'offer.labels',
  replays: 'offer.replays',
};
const sameOffer = '(offer.harnesses, offer.vendors, offer.instance_types, offer.labels, offer.replays)';

// Runtimes with the same offer have the same queue, which is read once.
const queuesSql = `with connected as (${connectedOffersSql('$1', '$2::bigint')}),
    offer as (select distinct harnesses, vendors, instance_types, labels, replays from connected),
    queue as (
      select offer.harnesses, offer.vendors, offer.instance_types, offer.labels, offer.replays, count(oldest.since)::int as waiting_runs,
        min(oldest.since) as oldest_waiting_at
      from offer left join lateral (select ${waitsSince} as since from runs r
        where r.org_id = $1 and ${canTake(offer)} order by r.created_at limit ${maxQueued}) oldest on true
      group by 1, 2, 3, 4, 5
    )
  select c.credential_id, c.runtime as name, offer.waiting_runs, offer.oldest_waiting_at from connected c join queue offer
    on ${sameOffer} is not distinct from (c.harnesses, c.vendors, c.instance_types, c.labels, c.replays)`;

const groupsSql = `select reason, labels, count(*)::int as runs, min(since) as oldest_waiting_at,
    (array_agg(id order by since, id))[1] as oldest_run_id
  from (select r.id, r.reason, ${labelsOfRun('r')} as labels, ${waitsSince} as since from runs r
    where r.org_id = $1 and ${waitsForRuntime('r')} order by r.created_at limit ${maxQueued}) waiting
  group by reason, labels order by runs desc, oldest_waiting_at limit ${maxWaitGroups}`;

type Keyed<Value> = Value & { credentialId: string; name: string };

/** The runtimes of the caller's organization with their load, and the missions that wait for a runtime. */
export async function readRuntimes(caller: Caller): Promise<RuntimesAnswer> {
  const runtimes = await listRuntimes(caller);
  const { orgId } = caller;
  const [draining, used, queues, waiting] = await Promise.all([
    readDraining(orgId!),
    sql<Keyed<Pick<Load, 'usedPlaces'>>>(usedSql, [orgId]),
    sql<Keyed<Omit<Load, 'usedPlaces'>>>(queuesSql, [orgId, connectedSince()]),
    sql<WaitingRunsGroup>(groupsSql, [orgId]),
  ]);
  const data = runtimes.map((runtime) => {
    const isOf = (one: Keyed<object>) => one.credentialId === runtime.credentialId && one.name === runtime.name;
    const usedPlaces = used.find(isOf)?.usedPlaces ?? 0;
    const { waitingRuns = 0, oldestWaitingAt = null } = queues.find(isOf) ?? {};
    // Missions of other organizations on a shared runtime are not shown.
    const isOwn = runtime.orgId !== null && runtime.places !== null;
    const freePlaces = isOwn ? Math.max(0, runtime.places! - usedPlaces) : null;
    const isDraining = draining.get(runtime.credentialId)?.includes(runtime.name) ?? false;
    const queue = isDraining ? { waitingRuns: 0, oldestWaitingAt: null } : { waitingRuns, oldestWaitingAt };
    return { ...runtime, usedPlaces, freePlaces, ...queue, isDraining };
  });
  return { data, waiting };
}
