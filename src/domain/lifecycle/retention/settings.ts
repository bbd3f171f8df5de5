// Days for which an organization keeps logs, artifacts and sandboxes of ended missions.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization } from '#access/reach.ts';
import { days } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { forbidden, organizationClosed } from '#foundation/problem.ts';
import { lifetimesMs } from '#limits.ts';

/** The search of missions forgets words of logs after 14 days, so no deleted log can be found by its words. */
const min = 14;
export const retentionBounds = {
  logDays: { min, max: 3_650 },
  artifactDays: { min, max: lifetimesMs.artifact / days(1) },
  sandboxDays: { min, max: 3_650 },
} as const;

/** Null means that no time is chosen. */
export interface RetentionSettings {
  logDays: number | null;
  artifactDays: number | null;
  sandboxDays: number | null;
}

const none: RetentionSettings = { logDays: null, artifactDays: null, sandboxDays: null };
const findSql = 'select log_days, artifact_days, sandbox_days from retention_settings where org_id = $1';
const setSql = `insert into retention_settings (org_id, log_days, artifact_days, sandbox_days) values ($1, $2, $3, $4)
  on conflict (org_id) do update set log_days = excluded.log_days, artifact_days = excluded.artifact_days, sandbox_days = excluded.sandbox_days`;

export async function findRetentionSettings(caller: Caller): Promise<RetentionSettings> {
  beyondOneProject(caller);
  const [found] = await sql<RetentionSettings>(findSql, [ownOrganization(caller)]);
  return found ?? none;
}

/** @throws 403 unless the caller is an owner, and for a project-bound credential */
export async function setRetentionSettings(caller: Caller, settings: RetentionSettings): Promise<RetentionSettings> {
  beyondOneProject(caller);
  if (caller.isOrgClosed) throw organizationClosed();
  if (caller.role !== 'owner') throw forbidden('Only an owner can decide how long missions are kept.');
  const { logDays, artifactDays, sandboxDays } = settings;
  await sql(setSql, [ownOrganization(caller), logDays, artifactDays, sandboxDays]);
  return settings;
}

/** The ends of the retention of one organization: older things are deleted. Null means that nothing is. */
export interface RetentionLimits {
  orgId: string;
  logsUntil: number | null;
  artifactsUntil: number | null;
  sandboxesUntil: number | null;
}

const until = (column: string): string => `$2::bigint - ${column}::bigint * ${days(1)}`;
/** SQL query for the next organizations after the id `$1`. The logs of a sandbox are deleted with it, or before. */
export const retentionLimitsSql = `select org_id, ${until('least(log_days, sandbox_days)')} as logs_until,
    ${until('artifact_days')} as artifacts_until, ${until('sandbox_days')} as sandboxes_until
  from retention_settings where org_id > $1 order by org_id limit 500`;
