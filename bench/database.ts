// One database for all servers of the bench. 1,000 organizations have 100 projects each. Another organization has 100,000 projects, so that
// cursors far from the beginning of a list can be measured. In addition, each server has one organization, in which it creates projects.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase, sql } from '#foundation/postgres/database.ts';
import { type DatabaseConnection, startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { unrecorded } from '#foundation/postgres/origin.ts';

/** The number of one of the ordinary organizations. Their numbers are 1 to 1,000, and each of them has 100 projects. */
export const ordinary = 500;
export const big = 0;
export const inBig = 100_000;
/** The organization in which a server creates records; the records are deleted after each turn. */
export const creating = (server: number): number => 1_001 + server;

/** The bearer secret of an organization's first member. */
export const secretOf = (organization: number): string => `pat_bench${String(organization).padStart(38, '0')}`;
export const idOf = (prefix: string, n: number): string => `${prefix}_${n.toString(16).padStart(32, '0')}`;

export interface BenchDatabase {
  url: string;
  /** Deletes the records that a server has created. */
  empty(organization: number): Promise<void>;
  close(): Promise<void>;
}

export async function openBenchDatabase(): Promise<BenchDatabase> {
  const home = mkdtempSync(path.join(tmpdir(), 'aep-bench-'));
  chmodSync(home, 0o755);
  const { connection, stop } = await startEmbeddedDatabase({ home });
  const knex = openDatabase({ connection });
  await migrate(knex);
  for (const statement of rows) await unrecorded(() => knex.raw(statement));
  await knex.raw('vacuum analyze');
  return {
    url: urlOf(connection),
    async empty(organization) {
      const own = { orgId: idOf('org', organization) };
      await unrecorded(() => knex('projects').where(own).delete());
      await auditSettled();
      await knex.raw('vacuum analyze projects');
    },
    async close() {
      await knex.destroy();
      await stop();
      rmSync(home, { recursive: true });
    },
  };
}

const pendingSql = `select (select count(*) from audit_changes)
  + (select coalesce(sum(last_number - tree_size), 0) from audit_counters) as pending`;

/**
 * Resolves when the audit log has an event and a leaf for every change. The service adds them, including those for changes that other
 * servers have written.
 */
export async function auditSettled(): Promise<void> {
  while ((await sql<{ pending: number }>(pendingSql))[0]!.pending > 0) await wait(50);
}

/** The URL of a server that may listen on a Unix socket. */
export function urlOf({ host, port, user, password, database }: DatabaseConnection): string {
  return `postgres://${user}:${encodeURIComponent(password)}@${encodeURIComponent(host)}:${port}/${database}`;
}

const id = (prefix: string, n: string) => `'${prefix}_' || lpad(to_hex(${n}), 32, '0')`;
/** Time of row n: n seconds after the beginning of 2026. */
const time = (n: string) => `1767225600000 + ${n} * 1000`;
const members = 5;
const organizations = 1_010;

const project = (n: string, organization: string) => `
  insert into projects (id, org_id, slug, name, status, tracker, tracker_connector_id, tracker_team_id, scm_connector_id,
    scm_owner, scm_repo, llm_connector_id, issue_code, created_at)
  select ${id('prj', n)}, ${id('org', organization)}, 'project-' || n, 'Project ' || n, 'active', 'builtin',
    ${id('int', `${organization} * 3`)}, 'TEAM', ${id('int', `${organization} * 3 + 1`)},
    'acme', 'repository-' || n, ${id('int', `${organization} * 3 + 2`)}, 'ISSUE', ${time('n')}`;

const rows = [
  `insert into people (id, email, name, created_at)
   select ${id('usr', 'n')}, 'person-' || n || '@example.com', 'Person ' || n, ${time('n')}
   from generate_series(0, ${organizations - 1}) n`,

  `insert into organizations (id, name, slug, created_by_user_id, created_at)
   select ${id('org', 'n')}, 'Organization ' || n, 'organization-' || n, ${id('usr', 'n')}, ${time('n')}
   from generate_series(0, ${organizations - 1}) n`,
  // Marks the notices of all organizations as checked now. Otherwise the check of every organization would be overdue, and the service would
  // do all these checks during the measurements. A service in use checks each organization at least every hour.
  `update notice_checks set checked_at = ${Date.now()}`,
  // A plan without a limit on projects.
  `insert into billing_settings (org_id, is_enterprise, updated_at)
   select ${id('org', 'n')}, true, 0 from generate_series(0, ${organizations - 1}) n`,

  `insert into memberships (org_id, user_id, role, created_at)
   select ${id('org', 'n')}, ${id('usr', `((n + m * 199) % ${organizations})`)},
     case m when 0 then 'owner' else 'member' end, ${time('m')}
   from generate_series(0, ${organizations - 1}) n, generate_series(0, ${members - 1}) m`,

  `insert into integrations (id, org_id, vendor, vendor_kind, display_name, created_at, updated_at)
   select ${id('int', 'n * 3 + k')}, ${id('org', 'n')}, (array['builtin', 'github', 'anthropic'])[k + 1],
     (array['tracker', 'scm', 'llm'])[k + 1], 'Integration', ${time('n')}, ${time('n')}
   from generate_series(0, ${organizations - 1}) n, generate_series(0, 2) k`,

  `insert into tokens (id, digest, org_id, user_id, name, scopes, created_at, expires_at)
   select ${id('tok', 'n')}, sha256(('pat_bench' || lpad(n::text, 38, '0'))::bytea), ${id('org', 'n')}, ${id('usr', 'n')},
     'bench', array['projects:read', 'projects:write', 'organizations:read', 'members:read', 'missions:read'],
     ${time('n')}, 99999999999999
   from generate_series(0, ${organizations - 1}) n`,

  `${project('n', '(1 + n % 1000)')} from generate_series(1, 100000) n`,
  // Runs that a person started without a schedule: run number n belongs to project number n.
  `insert into runs (id, org_id, project_id, scheduled_for, kind, status, mission_title, mission_progress, billing_actor_user_id, created_at,
     started_at, finished_at, updated_at)
   select ${id('run', 'n')}, ${id('org', '(1 + n % 1000)')}, ${id('prj', 'n')}, ${time('n')}, 'manual', 'completed', 'Run ' || n, 100,
     ${id('usr', '(1 + n % 1000)')}, ${time('n')}, ${time('n')}, ${time('n')}, ${time('n')}
   from generate_series(1, 100000) n`,
  // Marks the texts of these runs as indexed and their logs, of which there are none, as archived. Otherwise the service would do this for 100,000
  // runs during the measurements.
  'update run_texts set due_at = null',
  'delete from unarchived_runs',
  `${project('n', String(big))} from generate_series(100001, 100000 + ${inBig}) n`,
];
