// The one call that a runtime makes again and again: that it is alive, how far its runs are and how busy its sandboxes, and in
// the answer what it must stop (design decisions, section 9). All of it is written, or nothing.
import type { Caller } from '#access/principal.ts';
import { announce } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction, transaction } from '#foundation/database.ts';
import { invalid } from '#foundation/problem.ts';
import { lease, report, sandboxMetrics } from '#limits.ts';
import type { EnvironmentStatus } from '../environments/model.ts';
import { noteHeartbeat } from './waiting.ts';

export interface Sample {
  t: number;
  cpuPct: number;
  memUsedMb: number;
  memTotalMb: number;
  diskUsedPct: number;
}

export interface Heartbeat {
  runs: {
    runId: string;
    leaseId: string;
    progress?: number | null | undefined;
    activity?: string | null | undefined;
  }[];
  sandboxes: { sandboxId: string; leaseId: string; metrics: Sample[] }[];
  /** Ids. */
  environments: string[];
}

type Desired = 'run' | 'stop';

export interface HeartbeatAnswer {
  runs: { runId: string; desired: Desired; leaseUntil: number | null }[];
  sandboxes: { sandboxId: string; desired: Desired }[];
  environments: { environmentId: string; desired: Desired }[];
}

export function heartbeat(caller: Caller, { runs, sandboxes, environments }: Heartbeat): Promise<HeartbeatAnswer> {
  const at = now();
  checkTimes(sandboxes, at);
  return transaction(async (trx) => {
    const leaseUntil = at + lease.lasts;
    const renewed = await renewRuns(trx, caller, runs, at, leaseUntil);
    const alive = await hearSandboxes(trx, caller, sandboxes, at);
    const wanted = await wantedEnvironments(trx, caller, environments);
    const desired = (held: boolean): Desired => (held ? 'run' : 'stop');
    return {
      runs: runs.map(({ runId }) => ({
        runId,
        desired: desired(renewed.has(runId)),
        leaseUntil: renewed.has(runId) ? leaseUntil : null,
      })),
      sandboxes: sandboxes.map(({ sandboxId }) => ({ sandboxId, desired: desired(alive.has(sandboxId)) })),
      environments: environments.map((environmentId) => ({
        environmentId,
        desired: desired(wanted.has(environmentId)),
      })),
    };
  });
}

/** A sample of the future would stand in every plot for ever; one older than all that is kept would be lost at once. */
function checkTimes(sandboxes: Heartbeat['sandboxes'], at: number): void {
  for (const [i, { metrics }] of sandboxes.entries()) {
    for (const [j, { t }] of metrics.entries()) {
      if (t <= at + report.clockAhead && t > at - sandboxMetrics.kept) continue;
      throw invalid(`sandboxes.${i}.metrics.${j}.t: must be a time of the last 28 days and not in the future.`);
    }
  }
}

// Also of a run that was given up for silence, as long as nobody else has taken it.
const renewRunsSql = `update runs r set lease_until = $1, status = 'running', silent_since = null, waiting_since = null,
    reason = null, last_error = case when r.status = 'running' then r.last_error end,
    mission_progress = coalesce(b.progress, r.mission_progress), mission_activity = coalesce(b.activity, r.mission_activity),
    updated_at = case when (coalesce(b.progress, r.mission_progress), coalesce(b.activity, r.mission_activity))
      is distinct from (r.mission_progress, r.mission_activity) or r.status <> 'running' then $2::bigint else r.updated_at end
  from unnest($3::text[], $4::text[], $5::int[], $6::text[]) b (id, lease_id, progress, activity)
  where r.id = b.id and r.lease_id = b.lease_id and r.status in ('running', 'dispatching') and ($7::text is null or r.org_id = $7)
  returning r.id, r.claimed_by, r.updated_at = $2 as changed`;

async function renewRuns(
  trx: Transaction,
  caller: Caller,
  runs: Heartbeat['runs'],
  at: number,
  leaseUntil: number,
): Promise<ReadonlySet<string>> {
  if (runs.length === 0) return new Set();
  const columns = [
    runs.map(({ runId }) => runId),
    runs.map(({ leaseId }) => leaseId),
    runs.map(({ progress }) => progress ?? null),
    runs.map(({ activity }) => activity ?? null),
  ];
  const renewed = await sql<{ id: string; claimedBy: string; changed: boolean }>(
    renewRunsSql,
    [leaseUntil, at, ...columns, caller.orgId],
    trx,
  );
  await noteHeartbeat(trx, caller, [...new Set(renewed.map(({ claimedBy }) => claimedBy))]);
  await announce(trx, ...renewed.filter(({ changed }) => changed).map(({ id }) => id));
  return new Set(renewed.map(({ id }) => id));
}

const renewSandboxesSql = `update sandboxes s set last_heartbeat_at = $1
  from unnest($2::text[], $3::text[]) b (id, lease_id)
  where s.id = b.id and s.lease_id = b.lease_id and s.status = 'running' and ($4::text is null or s.org_id = $4)
    and exists (select from runs r where r.id = s.run_id and r.lease_id = s.lease_id and r.status in ('running', 'dispatching'))
  returning s.id`;

// A sample that is reported again changes nothing, and the record keeps the newest.
const keepSamplesSql = `with sample as (
    select sandbox_id, at, cpu_pct, mem_used_mb, mem_total_mb, disk_used_pct
    from unnest($1::text[], $2::bigint[], $3::real[], $4::real[], $5::real[], $6::real[])
      m (sandbox_id, at, cpu_pct, mem_used_mb, mem_total_mb, disk_used_pct)
  ), kept as (
    insert into sandbox_metrics (sandbox_id, at, cpu_pct, mem_used_mb, mem_total_mb, disk_used_pct)
    select sandbox_id, at, cpu_pct, mem_used_mb, mem_total_mb, disk_used_pct from sample on conflict do nothing
  )
  update sandboxes s set last_metric_at = m.at, last_cpu_pct = m.cpu_pct, last_mem_used_mb = m.mem_used_mb,
    last_mem_total_mb = m.mem_total_mb, last_disk_used_pct = m.disk_used_pct
  from (select distinct on (sandbox_id) sandbox_id, at, cpu_pct, mem_used_mb, mem_total_mb, disk_used_pct from sample
    order by sandbox_id, at desc) m
  where s.id = m.sandbox_id and (s.last_metric_at is null or s.last_metric_at < m.at)`;

async function hearSandboxes(
  trx: Transaction,
  caller: Caller,
  sandboxes: Heartbeat['sandboxes'],
  at: number,
): Promise<ReadonlySet<string>> {
  if (sandboxes.length === 0) return new Set();
  const [ids, leases] = [sandboxes.map(({ sandboxId }) => sandboxId), sandboxes.map(({ leaseId }) => leaseId)];
  const heard = await sql<{ id: string }>(renewSandboxesSql, [at, ids, leases, caller.orgId], trx);
  const alive = new Set(heard.map(({ id }) => id));
  const samples = sandboxes
    .filter(({ sandboxId }) => alive.has(sandboxId))
    .flatMap(({ sandboxId, metrics }) => metrics.map((sample) => ({ sandboxId, ...sample })));
  if (samples.length > 0) {
    const columns = [
      samples.map(({ sandboxId }) => sandboxId),
      samples.map(({ t }) => t),
      samples.map(({ cpuPct }) => cpuPct),
      samples.map(({ memUsedMb }) => memUsedMb),
      samples.map(({ memTotalMb }) => memTotalMb),
      samples.map(({ diskUsedPct }) => diskUsedPct),
    ];
    await sql(keepSamplesSql, columns, trx);
    await announce(trx, ...new Set(samples.map(({ sandboxId }) => sandboxId)));
  }
  return alive;
}

const wanting = `select id from environments
  where id = any($1::text[]) and status = any($2::text[]) and ($3::text is null or org_id = $3)`;
const kept: EnvironmentStatus[] = ['provisioning', 'active'];

async function wantedEnvironments(trx: Transaction, caller: Caller, ids: string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const wanted = await sql<{ id: string }>(wanting, [ids, kept, caller.orgId], trx);
  return new Set(wanted.map(({ id }) => id));
}
