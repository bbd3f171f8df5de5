// Runs that wait for a runtime: which harnesses connected runtimes offer, what a run is told to wait for, and when waiting ends
// (design decisions, section 12, Waiting runs). A runtime is connected while it claims or sends heartbeats.
import type { Caller } from '#access/principal.ts';
import { announcing } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { harnessPresence, waitingRun } from '#limits.ts';
import { builtinAgents } from '../agents/catalog.ts';
import { type HarnessId, harnessIds } from '../agents/model.ts';
import type { Run } from '../recurring/model.ts';
import { announceFailed } from './silence.ts';

// Written once every so often, however often a runtime asks.
const noteHarnessesSql = `insert into runtime_harnesses (credential_id, runtime, harness, org_id, seen_at)
  select $1, $2, offered.harness, $3, $5 from (select distinct unnest($4::text[]) as harness order by 1) offered
  where not exists (select from runtime_harnesses h where h.credential_id = $1 and h.runtime = $2
    and h.harness = offered.harness and h.seen_at > $6)
  on conflict (credential_id, runtime, harness) do update set seen_at = greatest(runtime_harnesses.seen_at, excluded.seen_at)`;

export async function noteHarnesses(caller: Caller, runtime: string, harnesses: readonly HarnessId[]): Promise<void> {
  const at = now();
  const values = [caller.credentialId, runtime, caller.orgId, harnesses, at, at - harnessPresence.step];
  await sql(noteHarnessesSql, values);
}

const noteHeartbeatSql = `update runtime_harnesses set seen_at = $3
  where credential_id = $1 and runtime = any($2::text[]) and seen_at <= $4`;

/** A runtime that is busy claims nothing, and is connected all the same. */
export async function noteHeartbeat(trx: Transaction, caller: Caller, runtimes: readonly string[]): Promise<void> {
  const at = now();
  if (runtimes.length > 0) {
    await sql(noteHeartbeatSql, [caller.credentialId, runtimes, at, at - harnessPresence.step], trx);
  }
}

/** A condition: a runtime that offers the harness is connected for the organization. `since`: a placeholder. */
const isOffered = (harness: string, orgId: string, since: string): string =>
  `exists (select from runtime_harnesses h where h.harness = ${harness} and (h.org_id is null or h.org_id = ${orgId})
    and h.seen_at > ${since})`;

export const presentSince = (): number => now() - harnessPresence.lasts;

const ordinary = builtinAgents.filter(({ isFallback }) => !isFallback).map(({ harness }) => harness);

/** A condition on a run r: no connected runtime offers a built-in agent that is no fallback. */
export const onlyFallbackIsConnected = (since: string): string =>
  `not (${[...new Set(ordinary)].map((harness) => isOffered(`'${harness}'`, 'r.org_id', since)).join(' or ')})`;

const waits = `r.status = 'dispatching' and r.issue_id is not null and r.silent_since is null`;
const explainWaitsSql = announcing(`with org as (select distinct r.org_id from runs r where ${waits}),
    offer as (
      select org.org_id, wanted.harness, ${isOffered('wanted.harness', 'org.org_id', '$1::bigint')} as connected
      from org cross join lateral (
        select unnest($2::text[]) as harness union select harness from agents a where a.org_id = org.org_id) wanted
    ),
    said as (
      select org_id, case when bool_or(connected) then 'Waiting for a connected runtime to be free.'
        else 'No runtime with the harness ' || string_agg(harness, ' or ' order by array_position($3::text[], harness))
          || ' is connected.' end as reason
      from offer group by org_id
    )
    update runs r set reason = said.reason, updated_at = $4 from said
    where r.org_id = said.org_id and ${waits} and r.reason is distinct from said.reason`);
/** Says on each run that waits for a runtime what it waits for. */
export const explainWaits = (): Promise<unknown> =>
  sql(explainWaitsSql, [presentSince(), builtinAgents.map(({ harness }) => harness), harnessIds, now()]);

const failOverdueSql = `with overdue as (
    select id from runs where status = 'dispatching' and coalesce(waiting_since, created_at) <= $2
    order by created_at limit 100 for update skip locked
  )
  update runs r set status = 'failed', finished_at = $1, lease_id = null, lease_until = null, updated_at = $1,
    reason = coalesce(reason, 'Nothing took the run.'), last_error = 'The run waited for 24 hours.'
  from overdue where r.id = overdue.id returning r.id, r.issue_id`;

/** Fails runs that nothing took within a day; `reason` keeps what they waited for. */
export const failOverdueRuns = (): Promise<void> =>
  transaction(async (trx) => {
    const at = now();
    const failed = await sql<Pick<Run, 'id' | 'issueId'>>(failOverdueSql, [at, at - waitingRun.lasts], trx);
    await announceFailed(trx, failed);
  });

export const forgetRuntimes = (): Promise<unknown> =>
  sql('delete from runtime_harnesses where seen_at <= $1', [now() - harnessPresence.kept]);
