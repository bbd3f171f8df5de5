// Records the heartbeats of sandboxes and the samples of their resource use.
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import { lookUp, sql, type Transaction } from '#foundation/postgres/database.ts';

export interface Sample {
  t: number;
  cpuPct: number;
  memUsedMb: number;
  memTotalMb: number;
  diskUsedPct: number;
}

export interface SandboxReport {
  sandboxId: string;
  leaseId: string;
  metrics: Sample[];
}

const recentSandboxesSql = (isRunHeld: string) => `select s.id from sandboxes s
    join unnest($1::text[], $2::text[]) b (id, lease_id) on s.id = b.id and s.lease_id = b.lease_id
  where s.status = 'running' and ($3::text is null or s.org_id = $3) and s.last_heartbeat_at > $4 and ${isRunHeld}`;

/** Ids of the running sandboxes whose last heartbeat is later than `since`. `isRunHeld`: as in `renewSandboxes`. */
export async function findRecentSandboxes(
  { orgId }: Caller,
  reports: readonly SandboxReport[],
  since: number,
  isRunHeld: string,
): Promise<ReadonlySet<string>> {
  if (reports.length === 0) return new Set();
  const [ids, leases] = [reports.map(({ sandboxId }) => sandboxId), reports.map(({ leaseId }) => leaseId)];
  const text = recentSandboxesSql(isRunHeld);
  const recent = await lookUp<{ id: string }>(text, [ids, leases, orgId, since], undefined, ids.length);
  return new Set(recent.map(({ id }) => id));
}

const renewSandboxesSql = (isRunHeld: string) => `update sandboxes s set last_heartbeat_at = $1
  from unnest($2::text[], $3::text[]) b (id, lease_id)
  where s.id = b.id and s.lease_id = b.lease_id and s.status = 'running' and ($4::text is null or s.org_id = $4)
    and ${isRunHeld}
  returning s.id`;

// The newest sample is also copied to the sandbox.
const insertSamplesSql = `with sample as (
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

/**
 * Renews the heartbeats of sandboxes, and returns the ids of those that continue. `isRunHeld` is an SQL condition on the sandbox `s`: the
 * lease of the sandbox still holds the run.
 */
export async function renewSandboxes(
  trx: Transaction,
  { orgId }: Caller,
  reports: readonly SandboxReport[],
  isRunHeld: string,
): Promise<ReadonlySet<string>> {
  if (reports.length === 0) return new Set();
  const [ids, leases] = [reports.map(({ sandboxId }) => sandboxId), reports.map(({ leaseId }) => leaseId)];
  const renewed = await sql<{ id: string }>(renewSandboxesSql(isRunHeld), [now(), ids, leases, orgId], trx);
  return new Set(renewed.map(({ id }) => id));
}

/** Records samples. A sample that was sent twice is stored once. */
export async function insertSamples(trx: Transaction, reports: readonly SandboxReport[]): Promise<void> {
  const samples = reports.flatMap(({ sandboxId, metrics }) => metrics.map((sample) => ({ sandboxId, ...sample })));
  if (samples.length === 0) return;
  const columns = [
    samples.map(({ sandboxId }) => sandboxId),
    samples.map(({ t }) => t),
    samples.map(({ cpuPct }) => cpuPct),
    samples.map(({ memUsedMb }) => memUsedMb),
    samples.map(({ memTotalMb }) => memTotalMb),
    samples.map(({ diskUsedPct }) => diskUsedPct),
  ];
  await sql(insertSamplesSql, columns, trx);
}
