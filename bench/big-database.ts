// The database of bench/big-tables.ts: a million runs in one organization alongside ten with 100,000 each, and ten million samples of ten
// thousand sandboxes. Rows are on disk in the order of their time, as in real use.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { keepMetricPartitions, partitionMs } from '#domain/work/sandboxes/metric-partitions.ts';
import { days, hours, minutes, now, seconds, setClock } from '#foundation/clock.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { type DatabaseConnection, startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { metricRetentionMs } from '#limits.ts';
import { idOf, urlOf } from './database.ts';

/** The number that stands for the organization with most of the rows. The numbers of the other organizations are 1 to 10. */
export const big = 0;
const others = 10;
/** Number of projects of each organization. The first project has six of every ten runs of its organization. */
const projects = 5;

/** Number of rows. */
export interface Size {
  runs: number;
  runsOfOthers: number;
  sandboxes: number;
  /** Number of samples of each sandbox, except the one that ran for days. */
  samples: number;
  /** Number of samples of the sandbox that ran for days. */
  longest: number;
}

export const fullSize: Size = {
  runs: 1_000_000,
  runsOfOthers: 100_000,
  sandboxes: 10_000,
  samples: 990,
  longest: 100_000,
};

const every = seconds(10);
/** The runs are spread over this period. */
const since = days(90);

export const names = {
  project: idOf('prj', 0),
  /** The task to which six of every ten runs belong. */
  task: idOf('sch', 0),
  /** Sandboxes are numbered in the order in which they began. */
  sandbox: (n: number) => idOf('sbx', n),
};

export interface BigDatabase {
  connection: DatabaseConnection;
  url: string;
  close(): Promise<void>;
}

/** `report` receives a line for each step, with its duration. */
export async function openBigDatabase(size: Size, report: (line: string) => void): Promise<BigDatabase> {
  const home = mkdtempSync(path.join(tmpdir(), 'aep-big-'));
  chmodSync(home, 0o755);
  const { connection, stop } = await startEmbeddedDatabase({ home });
  const knex = openDatabase({ connection });
  await migrate(knex);
  await makePartitions();
  // A separate connection, because these statements take longer than the service allows.
  const client = new pg.Client(connection);
  await client.connect();
  const step = async (name: string, work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    report(`${name}: ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  };
  // References are not checked, because the generated rows are consistent.
  await client.query(`set session_replication_role = replica; set synchronous_commit = off`);
  await step('organizations and projects', () => client.query(parties.join(';')));
  await step(`${size.runs + others * size.runsOfOthers} runs`, () => insertRuns(client, size));
  await step(`${size.sandboxes} sandboxes`, () => insertSandboxes(client, size));
  await step(`${size.sandboxes * size.samples + size.longest} samples`, () => insertSamples(client));
  await step('vacuum and analyze', () => client.query('vacuum analyze'));
  await client.end();
  return {
    connection,
    url: urlOf(connection),
    async close() {
      await knex.destroy();
      await stop();
      rmSync(home, { recursive: true });
    },
  };
}

/** Creates the partitions that the scheduler would have created over the weeks. */
async function makePartitions(): Promise<void> {
  const at = Date.now();
  for (let back = metricRetentionMs; back >= 0; back -= partitionMs) {
    setClock(() => at - back);
    await keepMetricPartitions();
  }
  setClock();
}

const id = (prefix: string, n: string) => `'${prefix}_' || lpad(to_hex(${n}), 32, '0')`;
const scopes = ['missions', 'scheduled-tasks', 'sandboxes', 'artifacts', 'projects', 'orchestrator'];

const parties = [
  `insert into people (id, email, name, created_at)
   select ${id('usr', 'n')}, 'person-' || n || '@example.com', 'Person ' || n, 0 from generate_series(0, ${others}) n`,
  `insert into organizations (id, name, slug, created_by_user_id, created_at)
   select ${id('org', 'n')}, 'Organization ' || n, 'organization-' || n, ${id('usr', 'n')}, 0 from generate_series(0, ${others}) n`,
  `insert into memberships (org_id, user_id, role, created_at)
   select ${id('org', 'n')}, ${id('usr', 'n')}, 'owner', 0 from generate_series(0, ${others}) n`,
  `insert into tokens (id, digest, org_id, user_id, name, scopes, created_at, expires_at)
   select ${id('tok', 'n')}, sha256(('pat_bench' || lpad(n::text, 38, '0'))::bytea), ${id('org', 'n')}, ${id('usr', 'n')},
     'bench', array['${scopes.map((scope) => `${scope}:read`).join("', '")}'], 0, 99999999999999
   from generate_series(0, ${others}) n`,
  `insert into projects (id, org_id, slug, name, status, tracker, scm_owner, scm_repo, created_at)
   select ${id('prj', `o * ${projects} + n`)}, ${id('org', 'o')}, 'project-' || n, 'Project ' || n, 'active', 'builtin', 'acme', 'shop-' || n, n
   from generate_series(0, ${others}) o, generate_series(0, ${projects - 1}) n`,
  `insert into recurring_missions (id, kind, org_id, project_id, name, prompt, triggers, labels, skip_if_previous_open, enabled, next_run_at,
     created_by_user_id, created_at, updated_at)
   select ${id('sch', `o * ${projects} + n`)}, 'scheduled_task', ${id('org', 'o')}, ${id('prj', `o * ${projects} + n`)}, 'Nightly checks', 'true',
     '[{"kind": "schedule", "schedule": {"interval": "daily", "time": "03:00", "timezone": "UTC"}}]', '{}', true, true,
     ${Date.UTC(2100, 0)}, ${id('usr', 'o')}, n, n
   from generate_series(0, ${others}) o, generate_series(0, ${projects - 1}) n`,
];

/** About 90 % of the runs are completed, 5 % failed and 5 % skipped. In addition, ten early runs were canceled, and the last 20 are running. */
const runs = `insert into runs (id, org_id, project_id, recurring_id, scheduled_for, kind, status, reason, mission_title,
    mission_progress, mission_cost_usd, billing_actor_user_id, attempts, claims, lease_id, lease_until, created_at, started_at,
    finished_at, updated_at)
  select 'run_' || lpad(to_hex(at), 12, '0') || left(md5($1 || '-' || n), 20), ${id('org', '$1::int')}, ${id('prj', 'project')},
    ${id('sch', 'project')}, at, 'scheduled', status, case status when 'skipped' then 'The previous run is still open.' end,
    'Nightly checks', case status when 'completed' then 100 when 'running' then 50 end, 0.25, ${id('usr', '$1::int')}, 1, 1,
    case status when 'running' then 'lse_' || $1 || '-' || n end, case status when 'running' then ${Date.UTC(2100, 0)} end, at,
    case when status <> 'skipped' then at + 2000 end, case when status not in ('skipped', 'running') then at + ${minutes(5)} end,
    at + ${minutes(5)}
  from generate_series($2::int, $3::int) n
  cross join lateral (select $1::int * ${projects} + greatest(0, n % 10 - 5) as project,
    $5::bigint + ((n::bigint * ${since}) / $4::int) as at,
    case when $4::int - n < 20 then 'running' when n % 20 = 3 then 'failed' when n % 20 = 7 then 'skipped'
      when n < 1000 and n % 100 = 0 then 'canceled' else 'completed' end as status) one`;

const costs = `insert into mission_costs (id, org_id, project_id, run_id, usd, at)
  select 'mco' || substr(id, 4), org_id, project_id, id, mission_cost_usd, finished_at from runs where finished_at is not null
  order by finished_at`;

async function insertRuns(client: pg.Client, { runs: most, runsOfOthers }: Size): Promise<void> {
  const [batch, begin] = [50_000, now() - since];
  for (let organization = others; organization >= big; organization--) {
    const count = organization === big ? most : runsOfOthers;
    for (let first = 1; first <= count; first += batch) {
      await client.query(runs, [organization, first, Math.min(count, first + batch - 1), count, begin]);
    }
  }
  await client.query(costs);
}

/**
 * Index of the sandbox that ran for days. Each of the other sandboxes began a little later than the previous one, and the last 20 are still
 * running.
 */
export const longest = ({ sandboxes }: Size): number => sandboxes - 100;

async function insertSandboxes(client: pg.Client, size: Size): Promise<void> {
  const { sandboxes, samples } = size;
  const lasts = samples * every;
  const at = now();
  // The sandboxes are spread over the time for which samples are kept, so that no sample has expired.
  const span = metricRetentionMs - lasts - hours(1);
  await client.query(
    `insert into sandboxes (id, org_id, project_id, run_id, role, harness, status, instance_type, created_at, last_heartbeat_at,
       destroyed_at, last_cpu_pct, last_mem_used_mb, last_mem_total_mb, last_disk_used_pct, last_metric_at)
     select ${id('sbx', 'n')}, ${id('org', String(big))}, r.project_id, r.id, 'builder', 'shell', case when running then 'running'
       when n % 20 = 3 then 'failed' else 'completed' end, 'standard-1', begun, case when running then $6::bigint else ended end, case when not running then ended end, 50, 1000, 4096, 20, ended
     from generate_series(1, $1::int) n
     cross join lateral (select case n when $4::int then $5::bigint else $2::bigint + n * ($3::bigint / $1::int) end as begun,
       n > $1::int - 20 as running) a
     cross join lateral (select begun + case n when $4::int then ${size.longest * every} else ${lasts} end as ended) b
     left join lateral (select id, project_id from runs where org_id = ${id('org', String(big))} and created_at <= begun
       order by created_at desc, id desc limit 1) r on true`,
    // Running sandboxes must not become stale during the bench.
    [
      sandboxes,
      at - metricRetentionMs + hours(1),
      span,
      longest(size),
      at - size.longest * every - hours(1),
      at + days(1),
    ],
  );
}

/** Creates all samples of a period, sorted by time, as sandboxes report them: the samples of one sandbox are not stored next to each other. */
const samplesWithin = `insert into sandbox_metrics (sandbox_id, at, cpu_pct, mem_used_mb, mem_total_mb, disk_used_pct)
  select id, at, 50 + 40 * sin(at / 100000.0), 1500 + 900 * sin(at / 300000.0), 4096, 20 + at % 100000 / 2000.0
  from sandboxes cross join lateral generate_series(
    created_at + (greatest(0, $1::bigint - created_at) + ${every - 1}) / ${every} * ${every},
    least(last_metric_at, $2::bigint) - 1, ${every}) at
  where created_at < $2::bigint and last_metric_at > $1::bigint order by at`;

async function insertSamples(client: pg.Client): Promise<void> {
  for (let from = now() - metricRetentionMs; from < now(); from += hours(6)) {
    await client.query(samplesWithin, [from, from + hours(6)]);
  }
}
