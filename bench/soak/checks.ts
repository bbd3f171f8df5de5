// Checks after the load: nothing hangs, nothing acknowledged is lost or duplicated, and the books balance.
import { setTimeout as wait } from 'node:timers/promises';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { minutes, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { silenceMs } from '#limits.ts';
import type { Acknowledged } from './load.ts';
import { organization } from './platform.ts';

/** Counts of unfinished records, by kind. */
const open = `select (select count(*) from runs where status in ('dispatching', 'running')) as runs,
  (select count(*) from background.job where state = 'active') as jobs,
  (select count(*) from (select distinct on (lot_id, run_id) balance_after from credit_entries
    where account = 'reserved' order by lot_id, run_id, seq desc) reserved where balance_after <> 0) as reservations`;

/**
 * Waits until all work has ended. Returns how many milliseconds this took. If some work has not ended after five minutes, returns a JSON text
 * that says how many runs, jobs and reservations are unfinished.
 */
export async function settle(): Promise<number | string> {
  const begun = performance.now();
  for (;;) {
    const [left] = await sql<Record<string, number>>(open);
    if (Object.values(left!).every((count) => count === 0)) return performance.now() - begun;
    if (performance.now() - begun > minutes(5)) return JSON.stringify(left);
    await wait(500);
  }
}

/** Statements that return rows only when the books or records are wrong. */
const none: Record<string, string> = {
  'runs that are open': `select id, status from runs where status in ('dispatching', 'running')`,
  'runs that have ended but still have a lease': `select id, status, claimed_by from runs
    where status not in ('dispatching', 'running') and lease_until is not null`,
  'runs whose end is not recorded once': `select r.id, r.status, count(e.*) from runs r left join audit_events e
    on e.org_id = r.org_id and e.target_id = r.id and e.action in ('run.completed', 'run.failed', 'run.canceled')
    where r.status in ('completed', 'failed', 'canceled') group by r.id having count(e.*) <> 1`,
  'steps without an end of runs that have ended': `select s.id, s.status from run_steps s join runs r on r.id = s.run_id
    where r.status not in ('dispatching', 'running') and s.status in ('pending', 'running')`,
  'sandboxes of lost runtimes that are not ended': `select id from sandboxes
    where status = 'running' and last_heartbeat_at < extract(epoch from now()) * 1000 - ${silenceMs.failed + minutes(1)}`,
  'background jobs that failed or hang': `select name, state from background.job where state in ('active', 'failed')`,
  'occurrences that ran twice': `select recurring_id, scheduled_for from runs where recurring_id is not null
    group by 1, 2 having count(*) > 1`,
  'issues of the same run': `select run_id from issues where run_id is not null group by 1 having count(*) > 1`,
  'projects with the same name': `select name from projects group by 1 having count(*) > 1`,
  'keys without an answer': `select encode(id, 'hex') as id from idempotency_keys where status is null and first_step is null`,
  'transfers that do not add up': `select id from (select t.id, t.balance_after, sum(t.amount) over (order by t.seq) as total
    from credit_transfers t where t.org_id = $1) journal where balance_after <> total or total < 0`,
  'accounts that do not add up, or are below zero': `select account from (select e.account, e.balance_after,
      sum(e.amount) over (partition by e.lot_id, e.account, e.run_id order by e.seq) as total
    from credit_entries e join credit_lots l on l.id = e.lot_id where l.org_id = $1) running
    where balance_after <> total or (total < 0 and account <> 'issued')`,
};

/** @param stored Keys of the contents in the bucket, if there is one. @returns findings in words; empty if there are none */
export async function findings({ projects, runs, tasks }: Acknowledged, stored?: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  await numberAllChanges();
  for (const [what, text] of Object.entries(none)) {
    const rows = await sql(text, text.includes('$1') ? [organization] : []);
    if (rows.length > 0) found.push(`${rows.length} ${what}: ${JSON.stringify(rows.slice(0, 3))}`);
  }
  const lost = async (what: string, table: string, ids: readonly string[]) => {
    const text = `select id from unnest($1::text[]) id where not exists (select from ${table} t where t.id = id.id)`;
    const rows = await sql(text, [ids]);
    if (rows.length > 0) found.push(`${rows.length} ${what} were acknowledged but are missing`);
  };
  await lost('projects', 'projects', [...projects]);
  await lost('runs', 'runs', [...runs]);
  const contents = await sql<{ key: string }>('select key from stored_contents where size_bytes is not null');
  const gone = stored ? contents.filter(({ key }) => !stored.includes(key)) : [];
  if (gone.length > 0) found.push(`${gone.length} contents are not in the bucket: ${JSON.stringify(gone.slice(0, 3))}`);
  const due = [...tasks].filter(([, at]) => at < now() - minutes(1)).map(([id]) => id);
  const missed = await sql(
    'select id from unnest($1::text[]) id where not exists (select from runs r where r.recurring_id = id.id)',
    [due],
  );
  if (missed.length > 0) found.push(`${missed.length} scheduled tasks were due and have not run`);
  return found;
}

/** Counts the contents in the bucket, and the archives of logs. */
export async function countContents(): Promise<{ contents: number; archives: number }> {
  const [row] = await sql<{ contents: number; archives: number }>(
    `select (select count(*) from stored_contents where size_bytes is not null)::int as contents,
      (select count(*) from log_archives)::int as archives`,
  );
  return row!;
}
