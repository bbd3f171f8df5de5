// The missions of the big database (big-database.ts), as they are a day after their end: the logs are archived. The details of missions that
// ended more than four weeks ago, seven of ten, were deleted after the retention of their organization.
import type pg from 'pg';
import { archiveLogs } from '#domain/work/log-archives/archive.ts';
import { days, minutes, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { unrecorded } from '#foundation/postgres/origin.ts';
import { big, id, others, projects, type Size, since } from './big-size.ts';

const runDays = 28;
/** Number of different texts of prompts and logs. */
const texts = 5_000;

// Words are as unevenly frequent as in real texts.
const textsSql = `create temp table texts as
  select n as place, text, words_of('Nightly checks ' || text) as words, words_of(logs) as logs from (
    select n, 'Variant' || n || ' ' || string_agg(word, ' ') filter (where w <= 60) as text, string_agg(word, ' ') filter (where w > 60) as logs
    from (select n, w, 'word' || floor(20000 * power(random(), 4)) as word from generate_series(0, ${texts - 1}) n, generate_series(1, 210) w) x group by n) y`;

/**
 * About 90 % of the runs are completed, 5 % failed and 5 % skipped. In each organization, nine early runs were canceled, and the last 20 are
 * running. Half of the runs changed a branch; its pull request is merged, except for one of fifty.
 */
const runsSql = `insert into runs (id, org_id, project_id, recurring_id, scheduled_for, kind, status, reason, mission_title, prompt, agent_id, team,
    issue_id, issue_url, branch, base_branch, base_sha, head_sha, commits, changed_files, insertions, deletions, changed_paths, pr_number, pr_url,
    pr_state, mission_progress, mission_cost_usd, billing_actor_user_id, attempts, claims, lease_id, lease_until, created_at, started_at,
    finished_at, updated_at, model_calls, sandbox_minutes, agent_role, claimed_by, kept)
  select run_id, ${id('org', '$1::int')}, ${id('prj', 'project')}, ${id('sch', 'project')}, at, 'scheduled', status,
    case status when 'skipped' then 'The previous run is still open.' when 'failed' then 'The tests fail.' end, 'Nightly checks', text,
    case when n % 4 = 0 then ${id('agn', '$1::int')} end, jsonb_build_array(jsonb_build_object('name', 'Builder', 'role', 'builder',
      'harness', 'claude-code', 'model', 'claude-sonnet-5', 'version', 3, 'userPrompt', case when not is_old then left(text, 200) end, 'skillRepos', '[]'::jsonb)),
    case when is_mission then issue end, case when is_mission then 'http://localhost:4000/console/issues/' || issue end,
    case when has_branch then 'agent/' || left(hash, 12) end, 'main', case when has_branch then sha end, case when has_branch then sha end,
    case when has_branch then 2 end, case when has_branch then 3 end, case when has_branch then 40 end, case when has_branch then 12 end,
    case when has_branch and not is_old then array['src/orders.ts', 'src/items.ts', 'test/orders.test.ts'] end, case when is_merged then n end,
    case when is_merged then 'https://github.com/acme/shop/pull/' || n end, case when is_merged then 'merged' end,
    case status when 'completed' then 100 when 'running' then 50 end, case when is_mission then 0.25 else 0 end, ${id('usr', '$1::int')}, 1, 1,
    case status when 'running' then 'lse_' || $1 || '-' || n end, case status when 'running' then ${Date.UTC(2100, 0)} end, at,
    case when is_mission then at + 2000 end, case when status <> 'running' then ended end, ended, 10, 5, 'builder', 'runner-' || n % 20,
    case when is_old then jsonb_build_object('deletedAt', ended + ${days(runDays)}, 'retentionDays', ${runDays}, 'steps', 1, 'messages', 1,
      'inputTokens', 90000, 'cachedInputTokens', 0, 'cacheWriteTokens', 0, 'outputTokens', 2000, 'review', null, 'isTestPassed', null) end
  from generate_series($2::int, $3::int) n
  cross join lateral (select $1::int * ${projects} + greatest(0, n % 10 - 5) as project, $5::bigint + ((n::bigint * ${since}) / $4::int) as at,
    md5($1 || '-' || n) as hash, case when $4::int - n < 20 then 'running' when n % 20 = 3 then 'failed' when n % 20 = 7 then 'skipped'
      when n < 1000 and n % 100 = 0 then 'canceled' else 'completed' end as status) a
  cross join lateral (select lpad(to_hex(at), 12, '0') || left(hash, 20) as key, left(hash || hash, 40) as sha, at + ${minutes(5)} as ended,
    status <> 'skipped' as is_mission, status = 'completed' and n % 2 = 0 as has_branch) b
  cross join lateral (select 'run_' || key as run_id, 'iss_' || key as issue, has_branch and n % 100 <> 0 as is_merged, ended <= $6::bigint as is_old) c
  join texts t on t.place = n % ${texts} order by n`;

/** The runs except skipped ones, numbered within their organization and their project. */
const missionsSql = `create temp table missions as select id, substr(id, 4) as key, org_id, project_id, created_at, finished_at, branch is not null as has_branch,
    finished_at is not null and kept is null as has_details, billing_actor_user_id as person, mission_cost_usd as usd,
    row_number() over (partition by org_id order by id) as n, row_number() over (partition by project_id order by id) as nth
  from runs where status <> 'skipped' order by id`;
const hashes = (count: number) => `(select string_agg(md5(id || h), '') from generate_series(1, ${count}) h)`;

/** One credit is reserved for each mission, which costs a quarter of it. The lot has `granted` millionths of a credit. */
const [granted, reserved, cost] = [10 ** 12, 1_000_000, 250_000];
const lot = `replace(org_id, 'org_', 'lot_')`;
const spent = (missions: string) => `${cost} * (${missions})`;

/** Events of a mission in the audit log: action, kind of the record and prefix of its id. */
const events = `(values (1, 'issue.created', 'issue', 'iss'), (2, 'run.created', 'run', 'run'), (3, 'run.started', 'run', 'run'),
  (4, 'sandbox.created', 'sandbox', 'sbx'), (5, 'sandbox.ended', 'sandbox', 'sbx'), (6, 'run.completed', 'run', 'run'), (7, 'issue.closed', 'issue', 'iss'))`;

/** Rows of each table, in the order of their time. */
const rows: Readonly<Record<string, string>> = {
  run_texts: `insert into run_texts (run_id, words, all_words, logs_until)
    select id, o.words || t.words, case when finished_at > $1::bigint - ${days(14)} then o.words || t.words || t.logs end,
      case when finished_at > $1::bigint - ${days(14)} then finished_at + ${days(14)} end
    from runs cross join lateral (select array_to_tsvector(array[org_id::text]) as words) o
    join texts t on t.place = substring(prompt from 'Variant([0-9]+)')::int order by id`,
  issues: `insert into issues (id, org_id, project_id, number, key, title, body, labels, state, run_id, created_at, updated_at)
    select 'iss' || key, org_id, project_id, nth, 'SHOP-' || nth, 'Nightly checks', ${hashes(12)}, '{}', 'closed', id, created_at, created_at from missions order by id`,
  run_steps: `insert into run_steps (id, run_id, org_id, project_id, seq, role, round, status, agent, harness, model, prompt, session_id, sandbox_id,
      outcome, turns, cost_usd, input_tokens, output_tokens, created_at, started_at, finished_at)
    select 'stp' || key, id, org_id, project_id, 0, 'builder', 1, 'completed', '{"name": "Builder", "role": "builder", "harness": "claude-code", "model": "claude-sonnet-5"}',
      'claude-code', 'claude-sonnet-5', ${hashes(30)}, 'main', 'sbx' || key, 'next', 12, 0.25, 90000, 2000, created_at, created_at, finished_at
    from missions where has_details order by id`,
  run_messages: `insert into run_messages (id, run_id, org_id, project_id, seq, kind, text, author_user_id, author, created_at, delivered_at, acknowledged_at)
    select 'msg' || key, id, org_id, project_id, 0, 'message', 'Use the other key, and run the tests again.', person, 'Ada', created_at, created_at, created_at
    from missions where has_details order by id`,
  sandboxes: `insert into sandboxes (id, org_id, project_id, run_id, role, harness, status, instance_type, created_at, last_heartbeat_at, destroyed_at)
    select 'sbx' || key, org_id, project_id, id, 'builder', 'claude-code', 'completed', 'standard-1', created_at, finished_at, finished_at from missions where has_details order by id`,
  sandbox_sessions: `insert into sandbox_sessions (sandbox_id, role, session_id, started_at, total_cost_usd)
    select 'sbx' || key, 'builder', 'main', created_at, 0.25 from missions where has_details order by id`,
  log_archives: `insert into log_archives (org_id, run_id, number, project_id, content_key, size_bytes, directory_bytes, directory_sha256, ended_at, created_at)
    select org_id, id, 0, project_id, md5(id), 2800, 160, left(md5(id) || md5(id), 43), finished_at, finished_at + ${days(1)} from missions where has_details order by id`,
  attestations: `insert into attestations (org_id, sha, tree_sha, project_id, run_id, step_id, reporter_id, position, created_at, envelope, signed_at)
    select org_id, left(md5(id) || md5(id), 40), left(md5(key) || md5(key), 40), project_id, id, 'stp' || key, 'runner', 1, finished_at,
      jsonb_build_object('payload', ${hashes(60)}), finished_at from missions where has_branch order by id`,
  run_calls: `insert into run_calls (org_id, run_id, number, project_id, key, kind, entry)
    select org_id, id, c, project_id, 'model ' || md5(id || c), 'model', '{"at":' || created_at || ',"inputTokens":9000,"kind":"model","model":"claude-sonnet-5",'
      || '"outputTokens":200,"request":"' || md5(id || c) || md5(c || id) || '","response":"' || md5(c || key) || md5(key || c) || '","status":200}'
    from missions, generate_series(1, 10) c where has_details order by id, c`,
  run_call_archives: `insert into run_call_archives (org_id, run_id, project_id, content)
    select org_id, id, project_id, decode(${hashes(53)}, 'hex') from missions where has_branch and not has_details order by id`,
  mission_costs: `insert into mission_costs (id, org_id, project_id, run_id, sandbox_id, usd, at)
    select 'mco' || key, org_id, project_id, id, case when has_details then 'sbx' || key end, usd, finished_at from missions where finished_at is not null order by id`,
  mission_spending: `insert into mission_spending (org_id, day, project_id, user_id, usd)
    select org_id, at - at % ${days(1)}, project_id, ${id('usr', `${big}`)}, sum(usd) from mission_costs group by 1, 2, 3, 4`,
  credit_lots: `insert into credit_lots (id, org_id, kind, created_at) select ${lot}, id, 'grant', 0 from (select id, id as org_id from organizations) o`,
  credit_transfers: `insert into credit_transfers (id, org_id, seq, kind, amount, balance_after, run_id, created_at, spent_after, missions_after)
    select replace(org_id, 'org_', 'ctr_grant'), org_id, 1, 'grant', ${granted}, ${granted}, null, 0, 0, 0 from credit_lots
    union all select * from (select 'ctr' || t || key, org_id, 2 * n + t, case t when 0 then 'reserve' else 'spend' end, -${cost} * t, ${granted} - ${spent('n - 1 + t')},
      case t when 1 then id end, case t when 0 then created_at else finished_at end, ${spent('n - 1 + t')}, n - 1 + t
    from missions, generate_series(0, 1) t where finished_at is not null order by id, t) m`,
  credit_entries: `insert into credit_entries (transfer_id, lot_id, account, run_id, amount, seq, balance_after)
    select replace(org_id, 'org_', 'ctr_grant'), id, account, '', amount, 1, amount from credit_lots, (values ('issued', -${granted}), ('available', ${granted})) a (account, amount)
    union all select * from (select 'ctr' || t || key, ${lot}, account, case account when 'reserved' then id else '' end, amount, seq, balance
    from missions cross join lateral (values (0, 'available', -${reserved}, 2 * n, ${granted} - ${spent('n - 1')} - ${reserved}), (0, 'reserved', ${reserved}, 1, ${reserved}),
      (1, 'reserved', -${cost}, 2, ${reserved - cost}), (1, 'spent', ${cost}, n, ${spent('n')}), (1, 'reserved', ${cost - reserved}, 3, 0),
      (1, 'available', ${reserved - cost}, 2 * n + 1, ${granted} - ${spent('n')})) e (t, account, amount, seq, balance)
    where finished_at is not null order by missions.id) m`,
  audit_events: `insert into audit_events (org_id, number, created_at, occurred_at, action, actor_type, actor_id, surface, operation, request_id, project_id,
      target_type, target_id, target_name, subject_id, changes)
    select org_id, 7 * (n - 1) + e, at, at, action, 'user', person, 'scheduler', 'start due missions', md5(key), project_id, type, prefix || key, 'Nightly checks',
      prefix || key, '[{"path": "status", "before": "running", "after": "completed"}]'
    from missions, ${events} v (e, action, type, prefix), lateral (select created_at + e as at) a where finished_at is not null order by id, e`,
  audit_counters: `insert into audit_counters (org_id, last_number, last_at, tree_size)
    select org_id, max(number), max(created_at), max(number) from audit_events group by org_id
    on conflict (org_id) do update set last_number = excluded.last_number, last_at = excluded.last_at, tree_size = excluded.tree_size`,
  // Tiles of the usual sizes, with hashes that prove nothing.
  audit_tiles: `insert into audit_tiles (org_id, level, index, hashes)
    select org_id, level, index, decode(repeat(md5(index::text) || md5(org_id), least(256, size - index * 256)::int), 'hex')
    from audit_counters, generate_series(0, 3) level, lateral (select tree_size / (256 ^ level)::bigint as size) s, generate_series(0, (size - 1) / 256) index where size > 0`,
  issue_counters: `insert into issue_counters (project_id, last_number) select project_id, max(nth) from missions group by project_id`,
  retention_settings: `insert into retention_settings (org_id, run_days) select id, ${runDays} from organizations`,
};

/** The tables that `insertMissions` fills. */
export const missionTables: readonly string[] = ['runs', ...Object.keys(rows)];

const indexesSql = `select c.relname as name, pg_get_indexdef(c.oid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
  where i.indrelid::regclass::text = any($1) and not i.indisunique`;

/** Inserts the rows of all missions. Indexes are created afterwards, which takes a fraction of the time. */
export async function insertMissions(
  client: pg.Client,
  { runs: most, runsOfOthers }: Size,
  step: (name: string, work: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const [batch, at] = [50_000, now()];
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(indexesSql, [missionTables]);
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  await client.query(`select setseed(0.5)`);
  await client.query(textsSql);
  await step('runs', async () => {
    for (let organization = others; organization >= big; organization--) {
      const count = organization === big ? most : runsOfOthers;
      for (let first = 1; first <= count; first += batch) {
        await client.query(runsSql, [
          organization,
          first,
          Math.min(count, first + batch - 1),
          count,
          at - since,
          at - days(runDays),
        ]);
      }
    }
    await client.query(missionsSql);
  });
  for (const [table, text] of Object.entries(rows))
    await step(table, () => client.query(text, text.includes('$1') ? [at] : []));
  await step('indexes', async () => {
    for (const { definition } of indexes) await client.query(definition.replace(' ONLY ', ' '));
  });
}

/** Ids of old missions of the big organization. */
export interface OldMissions {
  condensed: string;
  archived: string;
  /** The sandbox of the mission whose logs are archived. */
  sandbox: string;
}

const middleSql = (condition: string) =>
  `select id from runs where org_id = ${id('org', `${big}`)} and status = 'completed' and ${condition} and finished_at < $1 order by finished_at desc limit 1`;
const line = `'  ok ' || n || ' - test/' || md5(n::text) || '.test.ts returns the order and its items (12 ms)'`;
const logSql = [
  'delete from log_archives where run_id = $1',
  `insert into sandbox_log_parts (sandbox_id, role, session_id, part, seq, content, appended_at)
    select id, 'builder', 'main', 'session', p, (select string_agg(${line}, E'\\n') from generate_series(p * 5, p * 5 + 4) n), created_at
    from sandboxes, generate_series(0, 9) p where run_id = $1`,
  `insert into sandbox_fragments (sandbox_id, seq, kind, at, body, action, parameter, result)
    select id, n, 'action', created_at, ${line}, 'shell', 'npm test -- ' || n, repeat(${line} || E'\\n', 6) from sandboxes, generate_series(0, 19) n where run_id = $1`,
  'insert into unarchived_runs (org_id, run_id, ended_at) select org_id, id, finished_at from runs where id = $1',
];

/** Finds two old missions. One of them gets a real archived log, for which the storage must be open; the archives of all others have no content. */
export async function findOldMissions(): Promise<OldMissions> {
  const find = async (condition: string, at: number) => (await sql<{ id: string }>(middleSql(condition), [at]))[0]!.id;
  const [condensed, archived] = [
    await find('kept is not null', now() - days(60)),
    await find('kept is null', now() - days(20)),
  ];
  for (const text of logSql) await unrecorded(() => sql(text, [archived]));
  await archiveLogs();
  return { condensed, archived, sandbox: `sbx${archived.slice(3)}` };
}
