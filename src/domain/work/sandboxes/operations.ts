// Operations on sandboxes: list, read, kill; and the batch reads of their sessions and metrics.
import type { Caller } from '#access/principal.ts';
import { withinProject, withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { emptyPage, type Page, type PageRequest } from '#foundation/postgres/cursor.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { previewSizes } from '#limits.ts';
import { Sandbox, type SandboxSession, type SandboxStatus } from './model.ts';

/** Maximum number of samples that are averaged into one point of a chart. */
export const maxSamplesPerPoint = 50;

export interface SandboxFilter extends PageRequest {
  projectId?: string | null | undefined;
  status?: SandboxStatus | null | undefined;
}

/** Sandboxes, newest first, of the projects that the caller can reach. */
export async function listSandboxes(
  caller: Caller,
  { projectId, status, ...page }: SandboxFilter,
): Promise<Page<Sandbox>> {
  const reach = withinProject(caller, projectId);
  if (!reach) return emptyPage;
  return Sandbox.page(reach, page, status ? Sandbox.withStatus(status) : undefined);
}

export const findSandbox = (caller: Caller, sandboxId: string): Promise<Sandbox> =>
  Sandbox.get({ id: sandboxId, ...withinReach(caller) });

/**
 * Ends a running or stale sandbox; its runtime stops at the next heartbeat. Does nothing for a destroyed sandbox.
 * @throws 409 for a sandbox that has completed or failed
 */
export async function killSandbox(caller: Caller, sandboxId: string): Promise<{ ok: true; sandboxId: string }> {
  const filter = { id: sandboxId, ...withinReach(caller) };
  const killed = await transaction(async (trx) => {
    const [sandbox] = await Sandbox.query(trx)
      .where({ ...filter, status: 'running' })
      .patch({ status: 'destroyed', terminationReason: 'killed', destroyedAt: now() })
      .returning(['id', 'runId']);
    if (sandbox) await announce(trx, sandbox.id, ...(sandbox.runId ? [sandbox.runId] : []));
    return sandbox !== undefined;
  });
  if (!killed) {
    const { status } = await findSandbox(caller, sandboxId);
    if (status !== 'destroyed') throw conflict(`The sandbox has already ended (${status}).`);
  }
  return { ok: true, sandboxId };
}

export type SessionRecord = SandboxSession & { logKey: string | null; systemKey: string | null };

const logKeySql = (
  part: string,
): string => `case when '${part}' = any(s.archived_parts) or exists (select from sandbox_log_parts l where l.sandbox_id = s.sandbox_id
    and l.role = s.role and l.session_id = s.session_id and l.part = '${part}')
  then s.sandbox_id || '/' || s.role || '/' || s.session_id || '/${part}' end`;
const newestSessionsSql = `select s.sandbox_id, s.role, s.session_id, s.started_at, s.outcome, s.total_cost_usd,
    ${logKeySql('session')} as log_key, ${logKeySql('system')} as system_key
  from unnest($1::text[]) parent (id) cross join lateral (
    select sandbox_id, role, session_id, started_at, outcome, total_cost_usd, archived_parts from sandbox_sessions where sandbox_id = parent.id order by started_at desc, role, session_id limit $2) s
  order by s.started_at, s.role, s.session_id`;

/** The newest 100 sessions of each sandbox, oldest first. */
export const sessionsOf = (sandboxIds: readonly string[]): Promise<SessionRecord[]> =>
  sql<SessionRecord>(newestSessionsSql, [sandboxIds, previewSizes.sessions]);

export interface MetricPoint {
  sandboxId: string;
  t: number;
  cpuPct: number;
  memUsedMb: number;
  memTotalMb: number;
  diskUsedPct: number;
}

/**
 * Only the last samples of each interval are read, through the index, so that the cost of a curve depends on the number of points, not of
 * samples. The limit is a subquery to hide its value from the planner, which then reads in index order and never sorts a whole interval.
 */
const metricPointsSql = (
  atMost: number,
) => `select parent.id as sandbox_id, point.t, point.cpu_pct, point.mem_used_mb, point.mem_total_mb, point.disk_used_pct
  from unnest($1::text[]) parent (id)
  join lateral (select min(at) as first, max(at) + 1 as after from sandbox_metrics where sandbox_id = parent.id) span
    on span.first is not null
  cross join generate_series(1, ${atMost}) step
  cross join lateral (
    select max(at) as t, round(avg(cpu_pct)::numeric, 2) as cpu_pct, round(avg(mem_used_mb)::numeric, 2) as mem_used_mb,
      round(avg(mem_total_mb)::numeric, 2) as mem_total_mb, round(avg(disk_used_pct)::numeric, 2) as disk_used_pct
    from (select at, cpu_pct, mem_used_mb, mem_total_mb, disk_used_pct from sandbox_metrics where sandbox_id = parent.id
      and at >= span.first + (step - 1) * (span.after - span.first) / ${atMost}
      and at < span.first + step * (span.after - span.first) / ${atMost}
      order by at desc limit (select ${maxSamplesPerPoint})) sample) point
  where t is not null order by t`;

/**
 * The metrics of each sandbox over its whole lifetime, as at most `atMost` points, oldest first. A point is the mean of the samples since
 * the previous point, limited to the last `maxSamplesPerPoint` samples. `atMost` is part of the SQL text, so callers pass one of a few
 * constants.
 */
export const metricsOf = (sandboxIds: readonly string[], atMost: number): Promise<MetricPoint[]> =>
  sql<MetricPoint>(metricPointsSql(atMost), [sandboxIds]);
