// What can be done with sandboxes: list, read, end one; and what is read beside them, for many at a time.
import type { Caller } from '#access/principal.ts';
import { withinProject, withinReach } from '#access/reach.ts';
import { columnsOf, type Row, selectionOf } from '#foundation/base-model.ts';
import { announce } from '#foundation/changes.ts';
import { now } from '#foundation/clock.ts';
import { emptyPage, type Page, type PageRequest, packCursor, unpackCursor } from '#foundation/cursor.ts';
import { sql, transaction } from '#foundation/database.ts';
import { conflict } from '#foundation/problem.ts';
import { report, sandboxMetrics, shown } from '#limits.ts';
import { Sandbox, SandboxFragment, type SandboxSession, type SandboxStatus } from './model.ts';

export interface SandboxFilter extends PageRequest {
  projectId?: string | null | undefined;
  status?: SandboxStatus | null | undefined;
}

/** Newest first. Empty for a project that the caller cannot reach. */
export async function listSandboxes(
  caller: Caller,
  { projectId, status, ...page }: SandboxFilter,
): Promise<Page<Row<Sandbox>>> {
  const own = withinProject(caller, projectId);
  if (!own) return emptyPage;
  return Sandbox.page(own, page, status ? Sandbox.withStatus(status) : undefined);
}

export const findSandbox = (caller: Caller, sandboxId: string): Promise<Row<Sandbox>> =>
  Sandbox.get({ id: sandboxId, ...withinReach(caller) });

/**
 * Ends a running sandbox, also a stale one; its runtime stops at its next heartbeat. A destroyed one stays as it is. @throws 409 for one that has come to its end by itself
 */
export async function killSandbox(caller: Caller, sandboxId: string): Promise<{ ok: true; sandboxId: string }> {
  const own = { id: sandboxId, ...withinReach(caller) };
  const killed = await transaction(async (trx) => {
    const [sandbox] = await Sandbox.query(trx)
      .where({ ...own, status: 'running' })
      .patch({ status: 'destroyed', terminationReason: 'killed', destroyedAt: now() })
      .returning(['id', 'runId']);
    if (sandbox) await announce(trx, sandbox.id, ...(sandbox.runId ? [sandbox.runId] : []));
    return sandbox !== undefined;
  });
  if (!killed) {
    const { status } = await findSandbox(caller, sandboxId);
    if (status !== 'destroyed')
      throw conflict(`The sandbox has ended by itself (${status}): there is nothing to kill.`);
  }
  return { ok: true, sandboxId };
}

export type SessionRecord = SandboxSession & { logKey: string | null; systemKey: string | null };

const keyOf = (
  part: string,
): string => `case when exists (select from sandbox_log_parts l where l.sandbox_id = s.sandbox_id
    and l.role = s.role and l.session_id = s.session_id and l.part = '${part}')
  then s.sandbox_id || '/' || s.role || '/' || s.session_id || '/${part}' end`;
const sessions = `select s.sandbox_id, s.role, s.session_id, s.started_at, s.outcome, s.total_cost_usd,
    ${keyOf('session')} as log_key, ${keyOf('system')} as system_key
  from unnest($1::text[]) parent (id) cross join lateral (
    select sandbox_id, role, session_id, started_at, outcome, total_cost_usd from sandbox_sessions where sandbox_id = parent.id order by started_at desc, role, session_id limit $2) s
  order by s.started_at, s.role, s.session_id`;

/** The sessions of each sandbox, oldest first; of very many the last ones. */
export const sessionsOf = (sandboxIds: readonly string[]): Promise<SessionRecord[]> =>
  sql<SessionRecord>(sessions, [sandboxIds, shown.sessions]);

const fragments = `select ${columnsOf(SandboxFragment, 'f')} from unnest($1::text[]) parent (id) cross join lateral (
    ${selectionOf(SandboxFragment)}
    where sandbox_id = parent.id order by seq desc limit $2) f
  order by f.seq`;

/** What each sandbox was thinking and doing last, the newest last. */
export const fragmentsOf = (sandboxIds: readonly string[]): Promise<SandboxFragment[]> =>
  sql<SandboxFragment>(fragments, [sandboxIds, shown.fragments]);

const fragmentPage = `${selectionOf(SandboxFragment)}
  where sandbox_id = $1 and seq < $2 order by seq desc limit $3`;

/** A page of what a sandbox's agent thought, did and said: the newest page first, the newest last in each. */
export async function listFragments(sandboxId: string, { limit, cursor }: PageRequest): Promise<Page<SandboxFragment>> {
  const binding = `fragments\n${sandboxId}`;
  const before = cursor == null ? report.fragmentsPerSandbox : unpackCursor(binding, cursor)[0];
  const read = await sql<SandboxFragment>(fragmentPage, [sandboxId, before, limit + 1]);
  const data = read.slice(0, limit).reverse();
  return { data, nextCursor: read.length > limit ? packCursor(binding, data[0]!.seq, sandboxId) : null };
}

export interface MetricPoint {
  sandboxId: string;
  t: number;
  cpuPct: number;
  memUsedMb: number;
  memTotalMb: number;
  diskUsedPct: number;
}

/**
 * Each stretch of time goes down the index by itself and takes its last samples: a curve costs what it shows, not what there is.
 * The limit is a subquery since the planner knows nothing of its value: it then reads in order, and never sorts a whole stretch.
 */
const points = (
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
      order by at desc limit (select ${sandboxMetrics.perPoint})) sample) point
  where t is not null order by t`;

/**
 * The metrics of each sandbox over all its time in at most so many points (one of a few numbers), oldest first. A point is the
 * mean of the samples since the point before it; of very many the mean of the last.
 */
export const metricsOf = (sandboxIds: readonly string[], atMost: number): Promise<MetricPoint[]> =>
  sql<MetricPoint>(points(atMost), [sandboxIds]);
