// The database of bench/big-tables.ts: a million missions, 900,000 of them in one organization and 10,000 in each of ten others (big-missions.ts),
// and ten million samples of 10,000 more sandboxes. Rows are on disk in the order of their time, as in real use.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { scopesOfRole } from '#access/scopes.ts';
import { deleteOldEvents } from '#domain/lifecycle/audit/retention.ts';
import { keepMetricPartitions, partitionMs } from '#domain/work/sandboxes/metric-partitions.ts';
import { days, hours, now, seconds, setClock } from '#foundation/clock.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { type DatabaseConnection, startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { metricRetentionMs } from '#limits.ts';
import { insertMissions } from './big-missions.ts';
import { big, id, longest, others, projects, type Size, since } from './big-size.ts';
import { urlOf } from './database.ts';

const every = seconds(10);

export interface BigDatabase {
  connection: DatabaseConnection;
  url: string;
  close(): Promise<void>;
}

/** `report` receives a line for each step, with its duration. */
export async function openBigDatabase(size: Size, report: (line: string) => void): Promise<BigDatabase> {
  const home = mkdtempSync(path.join(tmpdir(), 'aep-big-'));
  chmodSync(home, 0o755);
  const { connection, stop } = await startEmbeddedDatabase({ home, settings: { max_wal_size: '4GB' } });
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
  await client.query(
    `set session_replication_role = replica; set synchronous_commit = off; set work_mem = '256MB'; set maintenance_work_mem = '1GB'`,
  );
  await step('organizations and projects', () => client.query(parties.join(';')));
  await insertMissions(client, size, step);
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
  for (const back of [since, 0]) {
    setClock(() => at - back);
    await deleteOldEvents();
  }
  setClock();
}

const parties = [
  `insert into people (id, email, name, created_at)
   select ${id('usr', 'n')}, 'person-' || n || '@example.com', 'Person ' || n, 0 from generate_series(0, ${others}) n`,
  `insert into organizations (id, name, slug, created_by_user_id, created_at)
   select ${id('org', 'n')}, 'Organization ' || n, 'organization-' || n, ${id('usr', 'n')}, 0 from generate_series(0, ${others}) n`,
  `insert into memberships (org_id, user_id, role, created_at)
   select ${id('org', 'n')}, ${id('usr', 'n')}, 'owner', 0 from generate_series(0, ${others}) n`,
  `insert into tokens (id, digest, org_id, user_id, name, scopes, created_at, expires_at)
   select ${id('tok', 'n')}, sha256(('pat_bench' || lpad(n::text, 38, '0'))::bytea), ${id('org', 'n')}, ${id('usr', 'n')},
     'bench', array['${[...scopesOfRole('owner')].join("', '")}'], 0, 99999999999999
   from generate_series(0, ${others}) n`,
  `insert into projects (id, org_id, slug, name, status, tracker, scm_owner, scm_repo, issue_code, created_at)
   select ${id('prj', `o * ${projects} + n`)}, ${id('org', 'o')}, 'project-' || n, 'Project ' || n, 'active', 'builtin', 'acme', 'shop-' || n, 'SHOP', n
   from generate_series(0, ${others}) o, generate_series(0, ${projects - 1}) n`,
  `insert into billing_settings (org_id, is_enterprise, updated_at) select ${id('org', 'n')}, true, 0 from generate_series(0, ${others}) n`,
  // The missions cost more per day than the default cap.
  `insert into orchestrators (org_id, daily_cost_cap_usd, updated_at) select ${id('org', 'n')}, 1000000, 0 from generate_series(0, ${others}) n`,
  `insert into notice_checks (org_id, checked_at) select ${id('org', 'n')}, ${Date.now()} from generate_series(0, ${others}) n
   on conflict (org_id) do update set checked_at = excluded.checked_at`,
  `insert into agents (id, org_id, name, role, harness, model, skill_repos, sandbox_template_id, created_at, updated_at)
   select ${id('agn', 'n')}, ${id('org', 'n')}, 'Builder', 'builder', 'shell', 'none', '{}', 'standard', 0, 0 from generate_series(0, ${others}) n`,
  `insert into recurring_missions (id, kind, org_id, project_id, name, prompt, triggers, labels, skip_if_previous_open, enabled, next_run_at,
     created_by_user_id, created_at, updated_at)
   select ${id('sch', `o * ${projects} + n`)}, 'scheduled_task', ${id('org', 'o')}, ${id('prj', `o * ${projects} + n`)}, 'Nightly checks', 'true',
     '[{"kind": "schedule", "schedule": {"interval": "daily", "time": "03:00", "timezone": "UTC"}}]', '{}', true, true,
     ${Date.UTC(2100, 0)}, ${id('usr', 'o')}, n, n
   from generate_series(0, ${others}) o, generate_series(0, ${projects - 1}) n`,
];

async function insertSandboxes(client: pg.Client, size: Size): Promise<void> {
  const { sandboxes, samples } = size;
  const lasts = samples * every;
  const at = now();
  // The sandboxes are spread over the time for which samples are kept, so that no sample has expired.
  const span = metricRetentionMs - lasts - hours(1);
  await client.query(
    `insert into sandboxes (id, org_id, project_id, run_id, role, harness, status, instance_type, created_at, last_heartbeat_at,
       destroyed_at, last_cpu_pct, last_mem_used_mb, last_mem_total_mb, last_disk_used_pct, last_metric_at)
     select ${id('sbx', 'n')}, ${id('org', String(big))}, ${id('prj', '0')}, null, 'builder', 'shell', case when running then 'running'
       when n % 20 = 3 then 'failed' else 'completed' end, 'standard-1', begun, case when running then $6::bigint else ended end, case when not running then ended end, 50, 1000, 4096, 20, ended
     from generate_series(1, $1::int) n
     cross join lateral (select case n when $4::int then $5::bigint else $2::bigint + n * ($3::bigint / $1::int) end as begun,
       n > $1::int - 20 as running) a
     cross join lateral (select begun + case n when $4::int then ${size.longest * every} else ${lasts} end as ended) b`,
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

/** Inserts all samples of a period in the order of their times, so that samples of one sandbox are not stored next to each other, as in a real table. */
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
