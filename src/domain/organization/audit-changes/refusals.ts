// Refusals in the audit log. Of each kind, the first ones of a credential or person in an hour are recorded; all others are counted, so
// that an attack cannot fill the log.
import { hourOf, hours, now } from '#foundation/clock.ts';
import type { Refusal } from '#foundation/http/refusal.ts';
import { sql } from '#foundation/postgres/database.ts';
import { originSql } from '#foundation/postgres/origin.ts';

/** Entries per hour of one kind and one credential or person. */
export const recordedPerHour = 10;

const recordSql = `with counted as (
    insert into audit_refusals as r (org_id, kind, actor_id, hour, count) values ($1, $2, $3, $4, 1)
    on conflict (hour, org_id, kind, actor_id) do update set count = r.count + 1 returning count)
  insert into audit_changes (org_id, source, origin, after) select $1, $2, ${originSql}, $5 from counted where count <= ${recordedPerHour}`;

/** @param actorId The credential or person that is refused */
export async function recordRefusal(orgId: string, actorId: string, refusal: Refusal): Promise<void> {
  const { kind, id, name, reason } = refusal;
  await sql(recordSql, [orgId, `refused_${kind}`, actorId, hourOf(now()), JSON.stringify({ id, name, reason })]);
}

const recordOmittedSql = `with ended as (delete from audit_refusals where hour < $1 returning org_id, kind, actor_id, hour, count)
  insert into audit_changes (org_id, source, origin, after)
  select org_id, 'omitted_refusals', ${originSql}, jsonb_build_object('id', actor_id, 'omitted', count - ${recordedPerHour},
    'kind', replace(kind, 'refused_', ''), 'since', hour::bigint * ${hours(1)}) from ended where count > ${recordedPerHour}`;

/** Records how many refusals of the hours that are over are not in the log; called periodically. */
export async function recordOmittedRefusals(): Promise<void> {
  await sql(recordOmittedSql, [hourOf(now())]);
}
