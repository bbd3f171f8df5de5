// The database of bench/dispatch.ts: one organization with twenty projects, whose scheduled tasks become due on the bench's command.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { setEnterprise } from '#domain/money/billing/operations.ts';
import { grantCredits } from '#domain/money/credits/grants.ts';
import { openDatabase, sql, transaction } from '#foundation/postgres/database.ts';
import { startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { unrecorded } from '#foundation/postgres/origin.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { idOf, secretOf, urlOf } from './database.ts';

const projects = 20;
const [org, owner, agent] = [idOf('org', 0), idOf('usr', 0), idOf('agn', 0)];

export interface Made {
  scheduledFor: number;
  /** Times at which the run and its issue were written. */
  begun: number;
  issued: number;
}

export type DispatchDatabase = Awaited<ReturnType<typeof openDispatchDatabase>>;

/** @param countsStatements Whether `pg_stat_statements` counts statements, which slows them down. */
export async function openDispatchDatabase(secretKey: Buffer, { countsStatements = false } = {}) {
  bindSecretKey(secretKey);
  const home = mkdtempSync(path.join(tmpdir(), 'aep-dispatch-'));
  chmodSync(home, 0o755);
  const counting = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'all' };
  const { connection, stop } = await startEmbeddedDatabase({ home, settings: countsStatements ? counting : {} });
  const knex = openDatabase({ connection });
  await migrate(knex);
  if (countsStatements) await sql('create extension pg_stat_statements');
  for (const statement of parties) await sql(statement);
  await transaction(async (trx) => {
    await setEnterprise(trx, org, true);
    await grantCredits(trx, org, { lot: { kind: 'grant' }, credits: 1_000_000 });
  });
  const { token: runtime } = await createServiceToken({ name: 'bench' });
  return {
    url: urlOf(connection),
    /** Secrets of a person and of a runtime. */
    person: secretOf(0),
    runtime,
    /** Id of one of the planned tasks. */
    task: idOf('sch', 1),
    /** Plans `count` tasks, which are due at `due` or evenly distributed over the `over` milliseconds after it. Each has run once before. */
    async plan(count: number, due: number, over: number): Promise<void> {
      await unrecorded(() => sql(planning, [count, due, over]));
      await transaction(async (trx) => {
        await sql('set local session_replication_role = replica', [], trx);
        await sql(earlierRuns, [], trx);
      });
      // Without statistics, PostgreSQL would expect no runs.
      await knex.raw('analyze runs, recurring_missions');
    },
    connection,
    /** Returns whether work is left: a task that was due by this time has not started its run yet, or a run has no issue yet. */
    isLeft: async (due: number): Promise<boolean> => (await sql<{ left: boolean }>(leftSql, [due]))[0]!.left,
    /** Resolves when every waiting run has a `reason` that explains its wait. */
    async isExplained(): Promise<void> {
      while ((await sql(`select from runs where status = 'dispatching' and reason is null limit 1`)).length > 0)
        await wait(50);
    },
    made: () =>
      sql<Made>(`select r.scheduled_for, r.created_at as begun, i.created_at as issued from runs r
        join issues i on i.run_id = r.id`),
    async empty() {
      await knex.raw('truncate runs, issues, recurring_missions cascade');
      await knex.raw('vacuum analyze');
    },
    async close() {
      await knex.destroy();
      await stop();
      rmSync(home, { recursive: true });
    },
  };
}

const parties = [
  `insert into people (id, email, name, created_at) values ('${owner}', 'person@example.com', 'Person', 0)`,
  `insert into organizations (id, name, slug, created_by_user_id, created_at) values ('${org}', 'Acme', 'acme', '${owner}', 0)`,
  `insert into memberships (org_id, user_id, role, created_at) values ('${org}', '${owner}', 'owner', 0)`,
  `insert into tokens (id, digest, org_id, user_id, name, scopes, created_at, expires_at)
   values ('${idOf('tok', 0)}', sha256('${secretOf(0)}'), '${org}', '${owner}', 'bench',
     array['missions:run', 'scheduled-tasks:write'], 0, 99999999999999)`,
  `insert into projects (id, org_id, slug, name, status, tracker, scm_owner, scm_repo, issue_code, created_at)
   select 'prj_' || n, '${org}', 'project-' || n, 'Project ' || n, 'active', 'builtin', 'acme', 'shop-' || n, 'P' || n, n
   from generate_series(1, ${projects}) n`,
  // The agent whose runs go to a runtime with the shell harness.
  `insert into agents (id, org_id, name, role, harness, model, skill_repos, sandbox_template_id, created_at, updated_at)
   values ('${agent}', '${org}', 'Shell', 'builder', 'shell', 'none', '{}', 'standard', 0, 0)`,
];

/** Each of these tasks is due only once during the bench: its next time is almost a day later. */
const planning = `insert into recurring_missions (id, kind, org_id, project_id, agent_id, name, prompt, triggers, labels, skip_if_previous_open,
    enabled, next_run_at, created_by_user_id, created_at, updated_at)
  select 'sch_' || lpad(to_hex(n), 32, '0'), 'scheduled_task', '${org}', 'prj_' || 1 + n % ${projects}, '${agent}', 'Task ' || n, 'true',
    jsonb_build_array(jsonb_build_object('kind', 'schedule', 'schedule', jsonb_build_object('interval', 'daily', 'time',
      to_char(to_timestamp($2::bigint / 1000.0 - 60) at time zone 'UTC', 'HH24:MI'), 'timezone', 'UTC'))), '{}', true, true,
    $2::bigint + $3::bigint * (n - 1) / $1::int, '${owner}', 0, 0
  from generate_series(1, $1::int) n`;

const earlierRuns = `insert into runs (id, org_id, project_id, recurring_id, scheduled_task_id, scheduled_for, kind, status, mission_title,
    billing_actor_user_id, agent_id, attempts, finished_at, created_at, updated_at)
  select 'run_' || substr(id, 5), org_id, project_id, id, id, 0, 'scheduled', 'completed', name, created_by_user_id, agent_id, 1, 0, 0, 0
  from recurring_missions`;

const leftSql = `select exists (select from recurring_missions where next_run_at <= $1)
  or exists (select from runs where status = 'dispatching' and issue_id is null) as left`;
