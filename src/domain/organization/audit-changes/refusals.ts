// Refusals in the audit log. In each hour, only the first refusals of each kind and of each credential or person are recorded; further
// refusals are only counted, so that an attack cannot fill the log.
import { hourOf, hours, now } from '#foundation/clock.ts';
import type { Refusal } from '#foundation/http/refusal.ts';
import { sql } from '#foundation/postgres/database.ts';
import { originSql } from '#foundation/postgres/origin.ts';

/** Maximum recorded refusals per hour, for each kind and each credential or person. */
export const recordedPerHour = 10;

const recordSql = `with counted as (
    insert into audit_refusals as r (org_id, kind, actor_id, hour, count) values ($1, $2, $3, $4, 1)
    on conflict (hour, org_id, kind, actor_id) do update set count = r.count + 1 returning count)
  insert into audit_changes (org_id, source, origin, after) select $1, $2, ${originSql}, $5 from counted where count <= ${recordedPerHour}`;

/** Records a refusal, or only counts it when enough refusals were recorded in this hour. @param actorId The refused credential or person */
export async function recordRefusal(orgId: string, actorId: string, refusal: Refusal): Promise<void> {
  const { kind, id, name, userId, reason } = refusal;
  await sql(recordSql, [
    orgId,
    `refused_${kind}`,
    actorId,
    hourOf(now()),
    JSON.stringify({ id, name, user_id: userId, reason }),
  ]);
}

const recordOmittedSql = `with ended as (delete from audit_refusals where hour < $1 returning org_id, kind, actor_id, hour, count)
  insert into audit_changes (org_id, source, origin, after)
  select org_id, 'omitted_refusals', ${originSql}, jsonb_build_object('id', actor_id, 'omitted', count - ${recordedPerHour},
    'kind', replace(kind, 'refused_', ''), 'since', hour::bigint * ${hours(1)}) from ended where count > ${recordedPerHour}`;

/** Records in the audit log how many refusals of each past hour were counted but not recorded one by one. Called periodically. */
export async function recordOmittedRefusals(): Promise<void> {
  await sql(recordOmittedSql, [hourOf(now())]);
}
