// Which harnesses connected runtimes offer (design decisions, section 12, Waiting runs), and the conditions on them and on the
// organizations' agents that statements on runs include. A runtime is connected while it claims runs or sends heartbeats.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization } from '#access/reach.ts';
import { days, minutes, now, seconds } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/database.ts';
import { builtinAgentId, builtinAgents } from './catalog.ts';
import type { HarnessId } from './model.ts';

/** How long a runtime without a claim or heartbeat counts as connected, how often that is written, and how long it is kept. */
const connectedMs = minutes(2);
const writeIntervalMs = seconds(30);
const retentionMs = days(1);
const runtimesShown = 100;

// A row is written once per step, however often its runtime claims.
const recordHarnessesSql = `insert into runtime_harnesses
    (credential_id, runtime, harness, org_id, seen_at, version, isolation, places)
  select $1, $2, offered.harness, $3, $5, offered.version, $8, $9
  from (select distinct on (harness) harness, version from unnest($4::text[], $7::text[]) o (harness, version) order by 1, 2) offered
  where not exists (select from runtime_harnesses h where h.credential_id = $1 and h.runtime = $2
    and h.harness = offered.harness and h.seen_at > $6
    and (h.version, h.isolation, h.places) is not distinct from (offered.version, $8::text, $9::int))
  on conflict (credential_id, runtime, harness) do update set version = excluded.version, isolation = excluded.isolation,
    places = excluded.places, seen_at = greatest(runtime_harnesses.seen_at, excluded.seen_at)`;

/** What a runtime says of itself when it asks for work. */
export interface RuntimeOffer {
  runtime: string;
  harnesses: readonly HarnessId[];
  /** Of the programs. */
  versions?: readonly { harness: HarnessId; version: string }[] | undefined;
  /** How it keeps missions apart: `cell`, `container`, `none`. */
  isolation?: string | null | undefined;
  /** Missions that it can take at once. */
  places?: number | null | undefined;
}

export async function recordHarnesses(caller: Caller, offer: RuntimeOffer): Promise<void> {
  const { runtime, harnesses, versions = [], isolation, places } = offer;
  const at = now();
  const versionOf = new Map(versions.map(({ harness, version }) => [harness, version]));
  const ownVersions = harnesses.map((harness) => versionOf.get(harness) ?? null);
  const values = [caller.credentialId, runtime, caller.orgId, harnesses, at, at - writeIntervalMs, ownVersions];
  await sql(recordHarnessesSql, [...values, isolation ?? null, places ?? null]);
}

const offeredSql = `select harness from runtime_harnesses where credential_id = $1 and runtime = $2 and seen_at > $3`;

/** The harnesses that the runtime offers. */
export async function harnessesOf(trx: Transaction, caller: Caller, runtime: string): Promise<HarnessId[]> {
  const rows = await sql<{ harness: HarnessId }>(offeredSql, [caller.credentialId, runtime, connectedSince()], trx);
  return rows.map(({ harness }) => harness);
}

const connectedSql = `select distinct harness from runtime_harnesses
  where (org_id is null or org_id = $1) and seen_at > $2`;

/** The harnesses that some connected runtime offers the organization. */
export async function connectedHarnesses(trx: Transaction, orgId: string): Promise<HarnessId[]> {
  const rows = await sql<{ harness: HarnessId }>(connectedSql, [orgId, connectedSince()], trx);
  return rows.map(({ harness }) => harness);
}

const renewHarnessesSql = `update runtime_harnesses set seen_at = $3
  where credential_id = $1 and runtime = any($2::text[]) and seen_at <= $4`;

/** A runtime that is busy makes no claims: its heartbeats show that it is connected. */
export async function renewHarnesses(trx: Transaction, caller: Caller, runtimes: readonly string[]): Promise<void> {
  const at = now();
  if (runtimes.length > 0) {
    await sql(renewHarnessesSql, [caller.credentialId, runtimes, at, at - writeIntervalMs], trx);
  }
}

export const deleteStaleHarnesses = (): Promise<unknown> =>
  sql('delete from runtime_harnesses where seen_at <= $1', [now() - retentionMs]);

export interface Runtime {
  name: string;
  harnesses: { harness: HarnessId; version: string | null }[];
  isolation: string | null;
  places: number | null;
  /** To the half minute. */
  lastSeenAt: number;
  isConnected: boolean;
}

const runtimesSql = `select runtime as name, max(seen_at) as last_seen_at, max(seen_at) > $2 as is_connected,
    (array_agg(isolation order by seen_at desc))[1] as isolation, (array_agg(places order by seen_at desc))[1] as places,
    jsonb_agg(jsonb_build_object('harness', harness, 'version', version) order by harness) as harnesses
  from runtime_harnesses where org_id is null or org_id = $1
  group by credential_id, runtime order by last_seen_at desc, runtime limit ${runtimesShown}`;

/** Those that work for the caller's organization and were seen within a day, the latest first: at most 100. */
export const listRuntimes = (caller: Caller): Promise<Runtime[]> => {
  beyondOneProject(caller);
  return sql<Runtime>(runtimesSql, [ownOrganization(caller), connectedSince()]);
};

/** A runtime without a claim or heartbeat since then is not connected. */
export const connectedSince = (): number => now() - connectedMs;

/** A condition: a runtime that offers the harness is connected for the organization. `since`: a placeholder. */
export const isOffered = (harness: string, orgId: string, since: string): string =>
  `exists (select from runtime_harnesses h where h.harness = ${harness} and (h.org_id is null or h.org_id = ${orgId})
    and h.seen_at > ${since})`;

const ordinary = [...new Set(builtinAgents.filter(({ isFallback }) => !isFallback).map(({ harness }) => harness))];

/** A condition: no connected runtime offers a built-in agent other than the fallback. */
export const onlyFallbackIsConnected = (orgId: string, since: string): string =>
  `not (${ordinary.map((harness) => isOffered(`'${harness}'`, orgId, since)).join(' or ')})`;

/** A condition: the organization has an agent of its own, or has this one, for one of the harnesses. */
export const hasAgentFor = (orgId: string, harnesses: string, agentId?: string): string =>
  `exists (select from agents a where a.org_id = ${orgId} and a.harness = any(${harnesses})${agentId ? ` and a.id = ${agentId}` : ''})`;

const builtinHarnesses = builtinAgents.map((agent) => `('${builtinAgentId(agent)}', '${agent.harness}')`).join(', ');

/** A query: the harness of the agent or, where the agent is null, those of the organization's own and of all built-in agents. */
export const harnessesFor = (orgId: string, agentId: string): string =>
  `select harness from agents a where a.org_id = ${orgId} and (${agentId} is null or a.id = ${agentId})
    union select b.harness from (values ${builtinHarnesses}) b (id, harness) where ${agentId} is null or b.id = ${agentId}`;

const builtinIds = builtinAgents.map((agent) => `'${builtinAgentId(agent)}'`).join(', ');

/** A condition: no agent has this id, neither a stored nor a built-in one. */
export const isNoAgent = (agentId: string): string =>
  `${agentId} not in (${builtinIds}) and not exists (select from agents a where a.id = ${agentId})`;
