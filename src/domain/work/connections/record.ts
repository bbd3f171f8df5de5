// Adds reported connections to the totals of a run.
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import type { Run } from '../runs/model.ts';
import { connectionsPerRun, otherHosts, programsPerConnection } from './bounds.ts';
import type { Connection } from './model.ts';

export type ReportedConnection = Pick<
  Connection,
  'host' | 'port' | 'phase' | 'verdict' | 'count' | 'sentBytes' | 'receivedBytes'
> & { programs?: readonly string[] };

// The caller has locked the run, so no concurrent report changes the number of rows.
const addSql = `with reported as (
    select host, port, phase, verdict, sum(count) as count, sum(sent_bytes) as sent_bytes, sum(received_bytes) as received_bytes,
      string_agg(array_to_string(programs, e'\n'), e'\n') as programs,
      row_number() over (order by host, port, phase, verdict) as place
    from jsonb_to_recordset($5::jsonb) as x
      (host text, port int, phase text, verdict text, count bigint, sent_bytes bigint, received_bytes bigint, programs text[])
    group by host, port, phase, verdict
  ), judged as (
    select host, port, phase, verdict, count, sent_bytes, received_bytes, programs,
      place + (select count(*) from connections where run_id = $1) <= ${connectionsPerRun} or exists (
        select from connections c
        where c.run_id = $1 and (c.host, c.port, c.phase, c.verdict) = (r.host, r.port, r.phase, r.verdict)) as fits
    from reported r
  ), placed as (
    select case when fits then host else '${otherHosts}' end as host, case when fits then port else 0 end as port,
      phase, verdict, count, sent_bytes, received_bytes, programs
    from judged
  )
  insert into connections (run_id, org_id, project_id, template_id, host, port, phase, verdict, count, sent_bytes,
    received_bytes, programs, report_id, created_at, updated_at)
  select $1, $2, $3, $4, host, port, phase, verdict, sum(count), sum(sent_bytes), sum(received_bytes),
    array(select distinct p from unnest(string_to_array(string_agg(programs, e'\n'), e'\n')) p where p <> '' order by p limit ${programsPerConnection}), $6, $7, $7
  from placed group by host, port, phase, verdict
  on conflict (run_id, host, port, phase, verdict) do update set count = connections.count + excluded.count,
    sent_bytes = connections.sent_bytes + excluded.sent_bytes,
    received_bytes = connections.received_bytes + excluded.received_bytes,
    programs = array(select distinct p from unnest(connections.programs || excluded.programs) p order by p limit ${programsPerConnection}),
    report_id = excluded.report_id, updated_at = excluded.updated_at
  where connections.report_id <> excluded.report_id`;

/** Adds connections; the report that was added last can be repeated without effect. The caller must have locked the run. */
export async function addConnections(
  trx: Transaction,
  { id, orgId, projectId }: Run,
  templateId: string,
  reportId: string,
  connections: readonly ReportedConnection[],
): Promise<void> {
  const rows = connections.map(({ sentBytes: sent_bytes, receivedBytes: received_bytes, ...one }) => ({
    ...one,
    sent_bytes,
    received_bytes,
  }));
  await sql(addSql, [id, orgId, projectId, templateId, JSON.stringify(rows), reportId, now()], trx);
}
