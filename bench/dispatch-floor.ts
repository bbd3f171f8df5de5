// Measures the least work that PostgreSQL must do to start missions. Each statement computes and writes the service's rows for a whole
// batch of due missions, so that no program computes or sends rows; the only query finds the due missions.
import pg from 'pg';
import { credit } from '#domain/money/credits/amounts.ts';
import { dispatching } from '#domain/work/runs/dispatch.ts';
import { days, minutes } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { reference } from '#foundation/postgres/reads.ts';
import { credits } from '#limits.ts';
import { readCounters } from './database-counters.ts';
import type { DispatchDatabase } from './dispatch-database.ts';

interface Load {
  occurrences: number;
  connections: number;
  postgresCpu: () => number;
}

/** The tables to which a start writes. */
const written = `'{runs, issues, credit_transfers, credit_entries, run_texts, audit_changes, recurring_missions}'::text[]`;
// Indexes that are not unique, except the one by which due missions are found.
const othersSql = `select indexrelid::regclass::text as name from pg_index
  where indrelid::regclass::text = any(${written}) and not indisunique and indexrelid::regclass::text <> 'recurring_missions_due'`;

export async function measureFloor(database: DispatchDatabase, load: Load): Promise<void> {
  await measure('rows, indexes, keys and triggers', database, load, false);
  await measure('rows and indexes alone', database, load, true);
  for (const { name } of await sql<{ name: string }>(othersSql)) await sql(`drop index ${name}`);
  await measure('rows, unique indexes, keys and triggers', database, load, false);
  await measure('rows and unique indexes alone', database, load, true);
}

async function measure(name: string, database: DispatchDatabase, load: Load, bare: boolean): Promise<void> {
  const { occurrences, connections, postgresCpu } = load;
  const due = Date.now();
  await database.plan(occurrences, due, 0);
  await sql('vacuum analyze recurring_missions');
  const clients = await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = new pg.Client(database.connection);
      await client.connect();
      // No trigger runs and no foreign key is checked.
      if (bare) await client.query('set session_replication_role = replica');
      return client;
    }),
  );
  const [before, cpu, begun] = [await readCounters(), postgresCpu(), performance.now()];
  await Promise.all(clients.map((client) => startAll(client, bare).finally(() => client.end())));
  const [took, used, after] = [performance.now() - begun, postgresCpu() - cpu, await readCounters()];
  const each = (figure: 'rowsWritten' | 'walBytes') => ((after[figure] - before[figure]) / occurrences).toFixed(0);
  console.log(
    `${occurrences} starts by ${connections} connections, ${name}: ${((occurrences / took) * 1_000).toFixed(0)} a second`,
  );
  console.log(
    `  for each: PostgreSQL ${(used / occurrences).toFixed(0)} us of CPU; ${each('rowsWritten')} rows, ${each('walBytes')} bytes of WAL`,
  );
  await database.empty();
}

async function startAll(client: pg.Client, bare: boolean): Promise<void> {
  for (;;) {
    await client.query('begin');
    await client.query(
      `set local audit.origin = '{"actorType":"system","surface":"scheduler","operation":"start due missions"}'`,
    );
    const at = Date.now();
    const { rows } = await client.query({ name: 'runs', text: runsSql, values: [at] });
    const started: string[] = rows[0].ids ?? [];
    if (started.length > 0) {
      await client.query({ name: 'lock', text: lockSql, values: [started[0]] });
      await client.query({ name: 'issues', text: issuesSql, values: [started, at] });
      await client.query({ name: 'ledger', text: ledgerSql, values: [started, at, `ctx_${at}${Math.random()}`] });
      if (bare) await client.query({ name: 'triggered', text: triggeredSql, values: [started] });
    }
    await client.query('commit');
    if (started.length === 0) return;
  }
}

const runsSql = `with due as materialized (
    select * from recurring_missions where next_run_at <= $1 order by next_run_at limit ${dispatching.batchSize} for no key update skip locked
  ), moved as (
    update recurring_missions m set next_run_at = $1 + ${days(1)}, last_run_at = $1 from due where m.id = due.id
  ), started as (
    insert into runs (id, org_id, project_id, recurring_id, scheduled_task_id, scheduled_for, kind, status, issue_id, issue_url, mission_title,
      billing_actor_user_id, agent_id, attempts, created_at, updated_at)
    select 'run_' || lpad(to_hex($1::bigint), 12, '0') || substr(id, 17), org_id, project_id, id, id, next_run_at, 'scheduled', 'dispatching',
      'iss_' || lpad(to_hex($1::bigint), 12, '0') || substr(id, 17),
      'http://localhost:4000/console/o/acme/issues/iss_' || lpad(to_hex($1::bigint), 12, '0') || substr(id, 17),
      name, created_by_user_id, agent_id, 1, $1, $1 from due returning id
  )
  select array_agg(id) as ids from started`;
const lockSql = 'select id from organizations where id = (select org_id from runs where id = $1) for no key update';
const issuesSql = `with counted as (
    insert into issue_counters as c (project_id, last_number) select project_id, count(*) from runs where id = any($1) group by 1 order by 1
    on conflict (project_id) do update set last_number = c.last_number + excluded.last_number returning project_id, last_number
  )
  insert into issues (id, org_id, project_id, number, key, title, body, labels, state, run_id, created_at, updated_at)
  select r.issue_id, r.org_id, r.project_id, number, 'P-' || number, mission_title, 'true', '{}', 'open', r.id, $2, $2
  from (select *, row_number() over (partition by project_id order by id) as nth from runs where id = any($1)) r
    join counted using (project_id) cross join lateral (select last_number + 1 - nth) n (number)`;
const amount = credits.reserved * credit;
const ledgerSql = `with lot as (select id, org_id from credit_lots where kind = 'grant' limit 1), transfer as (
    insert into credit_transfers (id, org_id, kind, amount, uncovered, created_at, seq, balance_after, spent_after, missions_after)
    select $3, lot.org_id, 'reserve', 0, 0, $2, last.seq + 1, last.balance_after, 0, 0 from lot cross join lateral (
      select seq, balance_after from credit_transfers t where t.org_id = lot.org_id order by seq desc limit 1) last
  )
  insert into credit_entries (transfer_id, lot_id, account, run_id, amount, seq, balance_after)
  select $3, lot.id, 'available', '', -${amount}::bigint * cardinality($1::text[]), last.seq + 1,
    last.balance_after - ${amount}::bigint * cardinality($1::text[]) from lot cross join lateral (
      select seq, balance_after from credit_entries e where e.lot_id = ${reference('lot.id')} and account = 'available' and run_id = '' order by seq desc limit 1) last
  union all select $3, lot.id, 'reserved', run_id, ${amount}, 1, ${amount} from lot, unnest($1::text[]) run_id`;
/** Rows that triggers write. */
const triggeredSql = `with started as (select * from runs where id = any($1)), texts as (
    insert into run_texts (run_id, words, due_at)
    select id, array_to_tsvector(array[org_id]) || words_of(mission_title), created_at + ${minutes(2)} from started
  ), issued as (
    insert into audit_changes (org_id, source, origin, after)
    select org_id, 'issues', current_setting('audit.origin'), to_jsonb(i) from issues i where run_id = any($1)
  )
  insert into audit_changes (org_id, source, origin, after)
  select org_id, 'runs', current_setting('audit.origin'), audit_run(r) from runs r where id = any($1)`;
