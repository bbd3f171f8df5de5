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

const sampled = ['at', 'cpu_pct', 'mem_used_mb', 'mem_total_mb', 'disk_used_pct'];
const newest = ['last_metric_at', 'last_cpu_pct', 'last_mem_used_mb', 'last_mem_total_mb', 'last_disk_used_pct'];
// One statement writes both the time of the heartbeat and the newest sample to the sandbox, so that the row of the sandbox is written only
// once. A sample that was sent twice is stored once.
const renewSandboxesSql = (isRunHeld: string) => `with sample as materialized (
    select sandbox_id, ${sampled} from unnest($5::text[], $6::bigint[], $7::real[], $8::real[], $9::real[], $10::real[])
      m (sandbox_id, ${sampled})
  ), renewed as (
    update sandboxes s set last_heartbeat_at = $1, (${newest}) = (
      select ${sampled} from sample where sandbox_id = s.id and (s.last_metric_at is null or at > s.last_metric_at)
      union all select ${newest.map((column) => `s.${column}`)} order by at desc nulls last limit 1)
    from unnest($2::text[], $3::text[]) b (id, lease_id)
    where s.id = b.id and s.lease_id = b.lease_id and s.status = 'running' and ($4::text is null or s.org_id = $4)
      and ${isRunHeld}
    returning s.id
  ), stored as (
    insert into sandbox_metrics (sandbox_id, ${sampled}) select sandbox_id, ${sampled} from sample join renewed on sandbox_id = id
    on conflict do nothing
  )
  select id from renewed`;

/**
 * Renews the heartbeats of sandboxes, stores their samples, and returns the ids of the sandboxes that continue. `isRunHeld` is an SQL
 * condition on the sandbox `s`: the lease of the sandbox still holds the run.
 */
export async function renewSandboxes(
  trx: Transaction,
  { orgId }: Caller,
  reports: readonly SandboxReport[],
  isRunHeld: string,
): Promise<ReadonlySet<string>> {
  if (reports.length === 0) return new Set();
  const samples = reports.flatMap(({ sandboxId, metrics }) => metrics.map((sample) => ({ sandboxId, ...sample })));
  const values = [
    ...[now(), reports.map(({ sandboxId }) => sandboxId), reports.map(({ leaseId }) => leaseId), orgId],
    samples.map(({ sandboxId }) => sandboxId),
    samples.map(({ t }) => t),
    samples.map(({ cpuPct }) => cpuPct),
    samples.map(({ memUsedMb }) => memUsedMb),
    samples.map(({ memTotalMb }) => memTotalMb),
    samples.map(({ diskUsedPct }) => diskUsedPct),
  ];
  const renewed = await sql<{ id: string }>(renewSandboxesSql(isRunHeld), values, trx);
  return new Set(renewed.map(({ id }) => id));
}
