// Days for which an organization keeps details, logs, artifacts and sandboxes of ended missions.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, wholeOrganization } from '#access/reach.ts';
import { days } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { snake } from '#foundation/postgres/reads.ts';
import { forbidden, organizationClosed } from '#foundation/problem.ts';
import { lifetimesMs } from '#limits.ts';
import { isWritableSql } from '../../organization/cells/state.ts';

/** The search for missions drops the words of logs after 14 days, so no deleted log can be found by its words. */
const min = 14;
export const retentionBounds = {
  runDays: { min, max: 3_650 },
  logDays: { min, max: 3_650 },
  artifactDays: { min, max: lifetimesMs.artifact / days(1) },
  sandboxDays: { min, max: 3_650 },
} as const;

/** Null means that no retention was chosen. */
export interface RetentionSettings {
  runDays: number | null;
  logDays: number | null;
  artifactDays: number | null;
  sandboxDays: number | null;
}

const none: RetentionSettings = { runDays: null, logDays: null, artifactDays: null, sandboxDays: null };
const kinds = ['runDays', 'logDays', 'artifactDays', 'sandboxDays'] as const;
const columns = kinds.map(snake);
const findSql = `select ${columns.join(', ')} from retention_settings where org_id = $1`;
const setSql = `insert into retention_settings (org_id, ${columns.join(', ')}) values ($1, ${columns.map((_, i) => `$${i + 2}`).join(', ')})
  on conflict (org_id) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`;

export async function findRetentionSettings(caller: Caller): Promise<RetentionSettings> {
  const [found] = await sql<RetentionSettings>(findSql, [wholeOrganization(caller)]);
  return found ?? none;
}

/** @throws 403 when the caller is not an owner, or uses a project-bound credential */
export async function setRetentionSettings(caller: Caller, settings: RetentionSettings): Promise<RetentionSettings> {
  beyondOneProject(caller);
  if (caller.isOrgClosed) throw organizationClosed();
  if (caller.role !== 'owner') throw forbidden('Only an owner can decide how long missions are kept.');
  await sql(setSql, [ownOrganization(caller), ...kinds.map((kind) => settings[kind])]);
  return settings;
}

/**
 * The retention of one organization. Details of runs are kept for `runDays` days; other records are deleted when they are older than a
 * time. Null means that nothing is deleted.
 */
export interface RetentionLimits {
  orgId: string;
  runDays: number | null;
  logsUntil: number | null;
  artifactsUntil: number | null;
  sandboxesUntil: number | null;
}

const until = (column: string): string => `$2::bigint - ${column}::bigint * ${days(1)}`;
/**
 * SQL query for the next organizations after the id `$1`; only those in `$3` unless `$3` is null. Organizations that are moving are left
 * out, because none of their rows can be deleted. `logs_until` uses the shorter of two retentions, because the logs of a sandbox are
 * deleted with the sandbox even if they could be kept longer.
 */
export const retentionLimitsSql = `select org_id, run_days, ${until('least(log_days, sandbox_days)')} as logs_until,
    ${until('artifact_days')} as artifacts_until, ${until('sandbox_days')} as sandboxes_until
  from retention_settings where org_id > $1 and ($3::text[] is null or org_id = any($3)) and ${isWritableSql('retention_settings.org_id')}
  order by org_id limit 500`;
