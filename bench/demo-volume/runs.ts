// Inserts the demo's past runs with their costs and sandboxes, in bulk: ids and values derive from a row number, so repeated and concurrent
// calls add only missing ones. All runs have ended, so that no runtime and no scheduler acts on them. The functions of the service are not
// used: they would take hours for a million runs, and cannot create past runs.
import { dayOf } from '#domain/work/mission-costs/cap.ts';
import { keepMetricPartitions } from '#domain/work/sandboxes/metric-partitions.ts';
import { days, hours, minutes, now, seconds } from '#foundation/clock.ts';
import { database, sql } from '#foundation/postgres/database.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { metricRetentionMs } from '#limits.ts';

export interface DemoParties {
  orgId: string;
  ownerId: string;
  /** The projects with missions; at least one. */
  projects: readonly string[];
}

/** Number of existing records, and how many of them this call created. */
export interface Filled {
  total: number;
  created: number;
}

/** Maximum number of projects with missions. */
export const projectsWithMissions = 100;

/** Rows per statement, which keeps each well below the statement timeout. */
const batch = 50_000;

/** The id of the n-th record of a kind, in SQL; $1 is the organization. */
export const numbered = (prefix: string, n = 'n'): string => `'${prefix}_' || md5($1 || ' demo ${prefix} ' || ${n})`;

/**
 * SQL for an integer below 2^32 that depends on `n`. The factor is 2^32 divided by the golden ratio, so the results for consecutive values
 * of `n` are spread evenly, however many values there are.
 */
const spread = (n = 'n'): string => `(${n}::bigint * 2654435761 % 4294967296)`;
/** SQL for a time that depends on `n` and is less than `span` milliseconds earlier than `before`. @param before SQL for a time */
export const momentOf = (before: string, span: number): string =>
  `(${before} - (${spread()} >> 12) * ${span} / 1048576)`;

export async function fill(
  table: string,
  orgId: string,
  count: number,
  step: number,
  insert: InsertRange,
): Promise<Filled> {
  let created = 0;
  for (let first = 1; first <= count; first += step) created += await insert(first, Math.min(count, first + step - 1));
  const [row] = await sql<{ total: number }>(`select count(*) as total from ${table} where org_id = $1`, [orgId]);
  return { total: row!.total, created };
}

/** Inserts those of the records `first` to `last` that do not exist yet, and returns their number. */
type InsertRange = (first: number, last: number) => Promise<number>;

const countInserted = async (text: string, values: unknown[]): Promise<number> =>
  (await sql<{ created: number }>(text, values))[0]!.created;

const taskOf = `'sch_' || md5($1 || ' demo sch ' || project)`;
const schedule = { interval: 'daily', time: '03:00', timezone: 'UTC' };
// The task is disabled, because the scheduler would otherwise run it.
const insertTasksSql = `insert into recurring_missions (id, kind, org_id, project_id, name, prompt, triggers, labels, skip_if_previous_open,
    enabled, created_by_user_id, created_at, updated_at)
  select ${taskOf}, 'scheduled_task', $1, project, $4, 'echo "All checks passed."', $5, '{}', true, false, $2, $6, $6
  from unnest($3::text[]) project on conflict do nothing`;
const taskName = 'Nightly checks';

// The last 20 bits of the due time of a run are computed from the number `n` of the run, and differ for any million consecutive runs. No two
// runs are therefore the same occurrence of the task. The due times of the first thousand runs can be today. All other runs were due before
// today, because the cost of more than a thousand runs today would exceed today's cost cap. The rows are inserted in a fixed order, which is
// faster and keeps concurrent calls from deadlocking.
const insertRunsSql = `with inserted as (
  insert into runs (id, org_id, project_id, recurring_id, scheduled_for, kind, status, reason, last_error, mission_title,
    mission_progress, mission_cost_usd, billing_actor_user_id, attempts, claims, created_at, started_at, finished_at, updated_at)
  select ${numbered('run')}, $1, project, ${taskOf}, due, case when any_bits % 5 = 0 then 'manual' else 'scheduled' end, status,
    case status when 'skipped' then 'The previous run is still open.' when 'canceled' then 'Canceled by a person.' end,
    case when status = 'failed' then 'The checks ended with exit code 1.' end,
    $4, case when status = 'completed' then 100 when started is not null then any_bits % 100 end,
    case when started is null then 0 else 0.05 + any_bits % 1400 / 1000.0 end,
    $2, case when started is null then 0 else 1 end, case when started is null then 0 else 1 end,
    due, started, ended, coalesce(ended, due)
  from generate_series($5::bigint, $6::bigint) n
  cross join lateral (select ($3::text[])[1 + n % cardinality($3::text[])] as project, ${spread()} >> 8 as any_bits,
    case when n <= 1000 then $7::bigint else $8::bigint end as before) a
  cross join lateral (select ${momentOf('before', days(90))} >> 20 << 20 | (n * 655361 & 1048575) as due,
    case when any_bits % 100 < 90 then 'completed' when any_bits % 100 < 95 then 'failed' when any_bits % 100 < 98 then 'skipped'
      else 'canceled' end as status) b
  cross join lateral (select case when status <> 'skipped' then due + 2000 + any_bits % 8000 end as started) c
  cross join lateral (select started + ${minutes(1)} + any_bits % ${minutes(12)} as ended) d
  order by any_bits, n on conflict do nothing returning id, project_id, mission_cost_usd, finished_at
), costs as (
  insert into mission_costs (id, org_id, project_id, run_id, usd, at)
  select 'mco_' || substr(id, 5), $1, project_id, id, mission_cost_usd, finished_at from inserted where finished_at is not null
  on conflict do nothing
) select count(*) as created from inserted`;

/** 90 of 100 runs are completed, 5 failed, 3 skipped and 2 canceled, over the last 90 days. There are at most a million runs. */
export async function fillRuns({ orgId, ownerId, projects }: DemoParties, count: number): Promise<Filled> {
  const at = now();
  if (count > 0)
    await sql(insertTasksSql, [
      orgId,
      ownerId,
      projects,
      taskName,
      JSON.stringify([{ kind: 'schedule', schedule }]),
      at,
    ]);
  // All runs have already ended. All but the first thousand ended before today.
  const room = minutes(40);
  const before = [at - room, dayOf(at) - room];
  const filled = await fill('runs', orgId, count, batch, (first, last) =>
    countInserted(insertRunsSql, [orgId, ownerId, projects, taskName, first, last, ...before]),
  );
  if (filled.created > 0) {
    await sql(
      `update recurring_missions m set last_run_at = (select max(created_at) from runs r where r.recurring_id = ${reference('m.id')})
       from unnest($2::text[]) project where m.id = ${taskOf}`,
      [orgId, projects],
    );
    await database().raw('analyze runs, mission_costs');
  }
  return filled;
}

/** The values of the k-th sample of a sandbox, in SQL. */
const sampleAt = (
  k: string,
): string => `50 + 40 * sin(${k} * 0.4 + begun % 97), 1500 + 900 * sin(${k} * 0.15 + begun % 89), 4096,
    20 + 15.0 * ${k} / greatest($6::int, 1)`;

const insertSandboxesSql = `with inserted as (
  insert into sandboxes (id, org_id, project_id, run_id, role, harness, status, termination_reason, instance_type, created_at,
    timeout_at, last_heartbeat_at, destroyed_at, last_cpu_pct, last_mem_used_mb, last_mem_total_mb, last_disk_used_pct, last_metric_at)
  select ${numbered('sbx')}, $1, coalesce(r.project_id, ($2::text[])[1 + n % cardinality($2::text[])]), r.id, 'builder', 'shell',
    case r.status when 'failed' then 'failed' when 'canceled' then 'destroyed' else 'completed' end,
    case r.status when 'canceled' then 'canceled' end, 'standard-1', begun, begun + ${hours(1)}, ended, ended, ${sampleAt('$6::int')}, ended
  from generate_series($3::bigint, $4::bigint) n
  left join runs r on r.id = ${numbered('run')} and r.started_at is not null
  cross join lateral (select coalesce(r.started_at, ${momentOf('$5::bigint', days(28))}) as begun) a
  cross join lateral (select coalesce(r.finished_at, begun + ${minutes(5)}) as ended) b
  on conflict do nothing returning id, run_id, status, created_at as begun, destroyed_at as ended
), sessions as (
  insert into sandbox_sessions (sandbox_id, role, session_id, started_at, outcome, total_cost_usd)
  select inserted.id, 'builder', 'demo', begun, inserted.status, coalesce(r.mission_cost_usd, 0)
  from inserted left join runs r on r.id = inserted.run_id
), fragments as (
  insert into sandbox_fragments (sandbox_id, seq, kind, at, body, action, parameter, result)
  select id, seq, kind, begun + (ended - begun) * seq / 5, body, action, parameter, result from inserted cross join (values
    (0, 'prompt', 'Run the nightly checks.', null, null, null),
    (1, 'thought', 'First the tests, then the linter.', null, null, null),
    (2, 'action', null, 'shell', 'npm test', 'Tests 212 passed'),
    (3, 'action', null, 'shell', 'npm run lint', 'No problems found'),
    (4, 'response', 'The checks are done.', null, null, null)
  ) said (seq, kind, body, action, parameter, result)
), metrics as (
  insert into sandbox_metrics (sandbox_id, at, cpu_pct, mem_used_mb, mem_total_mb, disk_used_pct)
  select id, begun + (ended - begun) * k / $6::int, ${sampleAt('k')}
  from inserted cross join generate_series(1, $6::int) k where begun >= $7::bigint on conflict do nothing
) select count(*) as created from inserted`;

/**
 * Creates sandboxes. The n-th sandbox belongs to the n-th run, if there is such a run. Each sandbox has a session, five fragments and
 * `samples` samples, which are spread evenly over its lifetime; samples that would already have expired are not created.
 */
export async function fillSandboxes({ orgId, projects }: DemoParties, count: number, samples: number): Promise<Filled> {
  if (count > 0) await keepMetricPartitions();
  const [before, kept] = [now() - minutes(10), now() - metricRetentionMs + seconds(10)];
  const step = Math.floor(batch / (samples + 7));
  const filled = await fill('sandboxes', orgId, count, step, (first, last) =>
    countInserted(insertSandboxesSql, [orgId, projects, first, last, before, samples, kept]),
  );
  if (filled.created > 0) {
    await database().raw('analyze sandboxes, sandbox_sessions, sandbox_fragments, sandbox_metrics');
  }
  return filled;
}
