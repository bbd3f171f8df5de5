// The harnesses and models that connected runtimes offer (docs/decisions/0034-waiting-runs.md). A runtime is connected while it claims
// runs or sends heartbeats.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { days, minutes, now, seconds } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { type Room, typesWithin } from '../instance-types/sizes.ts';
import { type ModelProvider, type ModelVendor, providerNeeded } from './catalog.ts';
import type { HarnessId } from './model.ts';
import { hasLabels, isOffered, isRunnable, isRunnableBy, wantedPairs } from './runnable.ts';

/**
 * The time for which a runtime counts as connected after a claim or heartbeat, the minimum interval between writes of its row, and the
 * retention of rows.
 */
const connectedMs = minutes(2);
const writeIntervalMs = seconds(30);
const retentionMs = days(1);
const runtimesShown = 100;

// An unchanged row is written at most once per `writeIntervalMs`, however often its runtime claims.
const recordHarnessesSql = `insert into runtime_harnesses
    (credential_id, runtime, harness, org_id, seen_at, version, isolation, places, vendors, notice, instance_types, labels,
      replays)
  select $1, $2, offered.harness, $3, $5, offered.version, $8, $9, $10, $11, $12, $13, $14
  from (select distinct on (harness) harness, version from unnest($4::text[], $7::text[]) o (harness, version) order by 1, 2) offered
  where not exists (select from runtime_harnesses h where h.credential_id = $1 and h.runtime = $2
    and h.harness = offered.harness and h.seen_at > $6
    and (h.version, h.isolation, h.places, h.vendors, h.notice, h.instance_types, h.labels, h.replays)
      is not distinct from (offered.version, $8::text, $9::int, $10::text[], $11::text, $12::text[], $13::text[],
        $14::boolean))
  on conflict (credential_id, runtime, harness) do update set version = excluded.version, isolation = excluded.isolation,
    places = excluded.places, vendors = excluded.vendors, notice = excluded.notice, instance_types = excluded.instance_types,
    labels = excluded.labels, replays = excluded.replays,
    seen_at = greatest(runtime_harnesses.seen_at, excluded.seen_at)`;

/** A runtime's description of itself in a claim. */
export interface RuntimeOffer extends Room {
  runtime: string;
  harnesses: readonly HarnessId[];
  /** Version of each harness program that the runtime has installed. */
  versions?: readonly { harness: HarnessId; version: string }[] | undefined;
  /** How missions are isolated from each other, such as `cell`, `container` or `none`. */
  isolation?: string | null | undefined;
  /** Maximum number of concurrent missions. */
  places?: number | null | undefined;
  /** Vendors for whose models the runtime has credentials; absent means all vendors that its harnesses need. */
  modelVendors?: readonly ModelVendor[] | null | undefined;
  /** The runtime explains why it does not offer a harness yet; null when it has nothing to explain. */
  notice?: string | null | undefined;
  labels?: readonly string[] | undefined;
  /** Whether the runtime answers calls from recordings, as forks need; absent means no. */
  replays?: boolean | null | undefined;
}

export async function recordHarnesses(caller: Caller, offer: RuntimeOffer): Promise<void> {
  const { runtime, harnesses, versions = [], isolation, places, modelVendors, notice, labels = [] } = offer;
  const at = now();
  const versionOf = new Map(versions.map(({ harness, version }) => [harness, version]));
  const ownVersions = harnesses.map((harness) => versionOf.get(harness) ?? null);
  const values = [caller.credentialId, runtime, caller.orgId, harnesses, at, at - writeIntervalMs, ownVersions];
  const described = [isolation ?? null, places ?? null, modelVendors ?? null, notice ?? null, typesWithin(offer)];
  await sql(recordHarnessesSql, [...values, ...described, labels, offer.replays ?? false]);
}

/** Whether an agent can be executed: its harness is offered, and a model for it is available. */
export type CanRun = (agent: { harness: HarnessId; model: string }) => boolean;

interface Pair {
  harness: HarnessId;
  vendor: ModelProvider | null;
}

/** Evaluates an SQL condition for every pair of harness and vendor. Statements on runs use the same condition. */
async function canRunWhere(trx: Transaction, condition: string, values: readonly unknown[]): Promise<CanRun> {
  const pairs = await sql<Pair>(
    `select harness, vendor from ${wantedPairs('$1')} where ${condition}`,
    [...values],
    trx,
  );
  return (agent) => {
    const needed = providerNeeded(agent);
    return pairs.some(({ harness, vendor }) => harness === agent.harness && vendor === needed);
  };
}

const offer = { harnesses: '$2::text[]', vendors: '$3::text[]' };
const isRunnableWithOffer = isRunnable('wanted.harness', 'wanted.vendor', '$1', offer);

/** The agents that a runtime with this offer can execute. */
export const canRunWith = (
  trx: Transaction,
  orgId: string,
  { harnesses, modelVendors }: RuntimeOffer,
): Promise<CanRun> => canRunWhere(trx, isRunnableWithOffer, [orgId, harnesses, modelVendors ?? null]);

const isRunnableByRuntime = `exists (select from runtime_harnesses h
  where ${isRunnableBy('h', 'wanted.harness', 'wanted.vendor', '$1')} and h.credential_id = $2 and h.runtime = $3 and h.seen_at > $4
    and ${hasLabels('h.labels', '$5')})`;

/** The agents that the runtime can execute, according to its last claim. @param labels The labels that the sandbox template requires */
export const canRuntimeRun = (
  trx: Transaction,
  orgId: string,
  { credentialId }: Caller,
  runtime: string,
  labels: readonly string[],
): Promise<CanRun> => canRunWhere(trx, isRunnableByRuntime, [orgId, credentialId, runtime, connectedSince(), labels]);

const isRunnableByAny = isOffered('wanted.harness', 'wanted.vendor', '$1', '$2');

/** The agents that some connected runtime can execute. */
export const canAnyRuntimeRun = (trx: Transaction, orgId: string): Promise<CanRun> =>
  canRunWhere(trx, isRunnableByAny, [orgId, connectedSince()]);

const renewHarnessesSql = `update runtime_harnesses set seen_at = $3
  where credential_id = $1 and runtime = any($2::text[]) and seen_at <= $4`;

/** Records a heartbeat as a sign of connection, because a busy runtime makes no claims. */
export async function renewHarnesses(trx: Transaction, caller: Caller, runtimes: readonly string[]): Promise<void> {
  const at = now();
  if (runtimes.length > 0) {
    await sql(renewHarnessesSql, [caller.credentialId, runtimes, at, at - writeIntervalMs], trx);
  }
}

/** Removes a runtime that has ended. */
export const forgetRuntime = (trx: Transaction, { credentialId }: Caller, runtime: string): Promise<unknown> =>
  sql('delete from runtime_harnesses where credential_id = $1 and runtime = $2', [credentialId, runtime], trx);

/** SQL condition: the runtime with this token and name is recorded. */
export const isListedSql = (tokenId: string, name: string): string =>
  `exists (select from runtime_harnesses h where h.credential_id = ${tokenId} and h.runtime = ${name})`;

export const deleteStaleHarnesses = (): Promise<unknown> =>
  sql('delete from runtime_harnesses where seen_at <= $1', [now() - retentionMs]);

/**
 * SQL query: the offers of the connected runtimes that serve an organization.
 * @param orgId Placeholder of the organization's id; if the value is null, the query selects the connected runtimes of all organizations
 * @param since Placeholder of a time; a runtime that was last seen after this time counts as connected
 */
export const connectedOffersSql = (orgId: string, since: string): string =>
  `select distinct on (h.credential_id, h.runtime) h.credential_id, h.runtime, h.org_id, h.places, h.vendors, h.instance_types, h.labels,
      h.replays, array(select o.harness from runtime_harnesses o where o.credential_id = h.credential_id and o.runtime = h.runtime
        and o.seen_at > ${since} order by 1) as harnesses
    from runtime_harnesses h where (${orgId}::text is null or h.org_id is null or h.org_id = ${orgId}) and h.seen_at > ${since}
    order by h.credential_id, h.runtime, h.seen_at desc`;

export interface Runtime {
  credentialId: string;
  name: string;
  /** The organization that the runtime serves; null means all of them. */
  orgId: string | null;
  /** The organization's service token with which the runtime authenticates; null for a runtime that serves all organizations. */
  tokenId: string | null;
  harnesses: { harness: HarnessId; version: string | null }[];
  isolation: string | null;
  places: number | null;
  labels: string[];
  modelVendors: ModelVendor[] | null;
  notice: string | null;
  /** Time of the last claim or heartbeat, accurate to the half minute. */
  lastSeenAt: number;
  isConnected: boolean;
}

const runtimesSql = `select credential_id, runtime as name, org_id, case when org_id is not null then credential_id end as token_id,
    max(seen_at) as last_seen_at, max(seen_at) > $2 as is_connected,
    (array_agg(isolation order by seen_at desc))[1] as isolation, (array_agg(places order by seen_at desc))[1] as places,
    (array_agg(to_jsonb(labels) order by seen_at desc))[1] as labels,
    (array_agg(to_jsonb(vendors) order by seen_at desc))[1] as model_vendors, (array_agg(notice order by seen_at desc))[1] as notice,
    jsonb_agg(jsonb_build_object('harness', harness, 'version', version) order by harness) as harnesses
  from runtime_harnesses where $1::text is null or org_id is null or org_id = $1
  group by credential_id, org_id, runtime order by last_seen_at desc, runtime limit ${runtimesShown}`;

/** The runtimes that work for the caller's organization and were seen within the last day: at most 100, the most recently seen first. */
export const listRuntimes = (caller: Caller): Promise<Runtime[]> =>
  sql<Runtime>(runtimesSql, [wholeOrganization(caller), connectedSince()]);

/** The runtimes of all organizations that were seen within the last day: at most 100, the most recently seen first. */
export const listAllRuntimes = (): Promise<Runtime[]> => sql<Runtime>(runtimesSql, [null, connectedSince()]);

/** The connected runtimes of all organizations. */
export async function countRuntimes(): Promise<number> {
  const count = 'select count(distinct (credential_id, runtime)) as runtimes from runtime_harnesses where seen_at > $1';
  return (await sql<{ runtimes: number }>(count, [connectedSince()]))[0]!.runtimes;
}

/** A runtime counts as connected if its last claim or heartbeat is not earlier than this time. */
export const connectedSince = (): number => now() - connectedMs;
