// Measures how many rows and bytes missions take in PostgreSQL: before and after their logs are archived, and after their details are
// deleted. The command is `npm run bench:logs -- --missions=200`. Each mission has 40 steps, 20 messages of people and one attested commit.
// Each step has its own sandbox with 20 fragments and a log of 50 lines in 10 pieces, two spans that belong to its prompt, a message of the
// runtime, and 10 calls of models.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { deleteAfterRetention } from '#domain/lifecycle/retention/delete.ts';
import { archiveLogs, bindLogArchives } from '#domain/work/log-archives/archive.ts';
import { listFragments } from '#domain/work/sandboxes/fragments.ts';
import { openDatabase, sql, watchStatements } from '#foundation/postgres/database.ts';
import { startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { unrecorded } from '#foundation/postgres/origin.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { idOf } from './database.ts';

const { missions } = parseArgs({ options: { missions: { type: 'string', default: '200' } } }).values;
const count = Number(missions);
const steps = 40;

const id = (prefix: string, n: string) => `'${prefix}_' || lpad(to_hex(${n}), 32, '0')`;
/** Text that compresses about as well as the output of tests. */
const words = (n: string) =>
  `'  ok ' || ${n} || ' - test/' || md5(${n}::text) || '.test.ts returns the order and its items (12 ms)'`;

const time = 1_767_225_600_000;
const [person, organization, project] = [idOf('usr', 1), idOf('org', 1), idOf('prj', 1)];
const integration = (n: number, vendor: string, kind: string) =>
  `insert into integrations (id, org_id, vendor, vendor_kind, display_name, created_at, updated_at)
   values ('${idOf('int', n)}', '${organization}', '${vendor}', '${kind}', 'Integration', ${time}, ${time})`;

const rows = [
  `insert into people (id, email, name, created_at) values ('${person}', 'ada@example.com', 'Ada', ${time})`,
  `insert into organizations (id, name, slug, created_by_user_id, created_at) values ('${organization}', 'Acme', 'acme', '${person}', ${time})`,
  integration(1, 'builtin', 'tracker'),
  integration(2, 'github', 'scm'),
  integration(3, 'anthropic', 'llm'),
  `insert into projects (id, org_id, slug, name, status, tracker, tracker_connector_id, tracker_team_id, scm_connector_id, scm_owner, scm_repo,
     llm_connector_id, issue_code, created_at)
   values ('${project}', '${organization}', 'shop', 'Shop', 'active', 'builtin', '${idOf('int', 1)}', 'TEAM', '${idOf('int', 2)}', 'acme', 'shop',
     '${idOf('int', 3)}', 'SHOP', ${time})`,
  `insert into runs (id, org_id, project_id, scheduled_for, kind, status, mission_title, mission_progress, billing_actor_user_id, created_at,
     started_at, finished_at, updated_at)
   select ${id('run', 'n')}, '${organization}', '${project}', ${time}, 'manual', 'completed', 'Run ' || n, 100, '${person}', ${time}, ${time},
     ${time}, ${time} from generate_series(1, ${count}) n`,
  'update run_texts set due_at = null',
  `insert into sandboxes (id, org_id, project_id, run_id, role, harness, status, instance_type, created_at, last_heartbeat_at)
   select ${id('sbx', `r * ${steps} + s`)}, r.org_id, r.project_id, r.id, 'builder', 'claude-code', 'completed', 'standard-1', r.created_at, r.created_at
   from (select id, org_id, project_id, created_at, row_number() over (order by id) as r from runs) r, generate_series(0, ${steps - 1}) s`,
  `insert into sandbox_sessions (sandbox_id, role, session_id, started_at) select id, 'builder', 'main', created_at from sandboxes`,
  `insert into sandbox_log_parts (sandbox_id, role, session_id, part, seq, content, appended_at)
   select id, 'builder', 'main', 'session', p, (select string_agg(${words('(hashtext(id) + p * 5 + l)')}, E'\\n') from generate_series(1, 5) l), created_at + p
   from sandboxes, generate_series(0, 9) p`,
  `insert into sandbox_log_parts (sandbox_id, role, session_id, part, seq, content, span_id, appended_at)
   select id, 'builder', 'main', 'prompt', p, repeat('You work on the repository. Use tabs. ', 20), 'span-' || p, created_at from sandboxes, generate_series(0, 1) p`,
  `insert into sandbox_log_parts (sandbox_id, role, session_id, part, seq, content, appended_at)
   select id, 'builder', 'main', 'system', 0, 'The session begins.', created_at from sandboxes`,
  `insert into sandbox_fragments (sandbox_id, seq, kind, at, body, action, parameter, result)
   select id, f, case when f % 2 = 0 then 'thought' else 'action' end, created_at + f, ${words('(hashtext(id) + f)')}, 'shell', 'npm test -- ' || f,
     repeat(${words('(hashtext(id) - f)')} || E'\\n', 6) from sandboxes, generate_series(0, 19) f`,
  `insert into run_steps (id, run_id, org_id, project_id, seq, role, round, status, agent, harness, model, prompt, session_id, sandbox_id,
     outcome, turns, cost_usd, input_tokens, output_tokens, created_at, started_at, finished_at)
   select replace(id, 'sbx_', 'stp_'), run_id, org_id, project_id, row_number() over (partition by run_id order by id) - 1, 'builder', 1,
     'completed', '{"name": "Builder", "role": "builder", "harness": "claude-code", "model": "claude-sonnet-4-5", "version": 3}', 'claude-code',
     'claude-sonnet-4-5', repeat('Mend the tests of the shop. ', 40), 'main', id, 'next', 12, 0.2, 90000, 2000, created_at, created_at, created_at
   from sandboxes`,
  `insert into run_messages (id, run_id, org_id, project_id, seq, kind, text, author_user_id, author, created_at)
   select ${id('msg', 'r * 20 + m')}, id, org_id, project_id, m, 'message', repeat('Use the other key. ', 10), '${person}', 'Ada', created_at
   from (select id, org_id, project_id, created_at, row_number() over (order by id) as r from runs) r, generate_series(0, 19) m`,
  `insert into run_calls (org_id, run_id, number, project_id, key, kind, entry)
   select org_id, id, c, project_id, 'model ' || md5(id || c), 'model', '{"at":${time},"inputTokens":9000,"kind":"model","model":"claude-sonnet-4-5",'
     || '"outputTokens":200,"request":"' || md5(id || c) || md5(c || id) || '","response":"' || md5(c || id || c) || md5(id || c || id) || '","status":200}'
   from runs, generate_series(1, 10 * ${steps}) c`,
  `insert into attestations (org_id, sha, tree_sha, project_id, run_id, step_id, reporter_id, position, created_at, envelope, signed_at)
   select org_id, md5(id), md5(id), project_id, id, '', '', 1, created_at, jsonb_build_object('payload', (select string_agg(md5(id || n), '') from generate_series(1, 800) n)), created_at
   from runs`,
];
const logTables = ['sandbox_log_parts', 'sandbox_fragments', 'log_archives', 'unarchived_runs', 'stored_contents'];
const runTables = [
  ...[
    'runs',
    'run_texts',
    'run_steps',
    'run_messages',
    'sandboxes',
    'sandbox_sessions',
    'attestations',
    'run_calls',
    'run_call_archives',
  ],
  ...logTables,
];

/** Number of rows, and number of bytes including indexes, once the space of deleted rows is freed. */
async function measure(tables: readonly string[]): Promise<void> {
  let [allRows, allBytes] = [0, 0];
  for (const table of tables) {
    await sql(`vacuum (full, analyze) ${table}`);
    const [found] = await sql<{ rows: number; bytes: number }>(
      `select (select count(*) from ${table})::int as rows, pg_total_relation_size('${table}')::bigint as bytes`,
    );
    allRows += found!.rows;
    allBytes += found!.bytes;
    console.log(`  ${table}: ${(found!.rows / count).toFixed(2)} rows, ${Math.round(found!.bytes / count)} bytes`);
  }
  console.log(`  per mission: ${(allRows / count).toFixed(2)} rows, ${Math.round(allBytes / count)} bytes`);
}

async function readFor(times: number): Promise<number> {
  const begun = performance.now();
  for (let i = 0; i < times; i++) await listFragments(idOf('sbx', steps + ((i * 37) % (count * steps))), { limit: 20 });
  return (performance.now() - begun) / times;
}

const home = mkdtempSync(path.join(tmpdir(), 'aep-bench-'));
chmodSync(home, 0o755);
const { connection, stop } = await startEmbeddedDatabase({ home });
const knex = openDatabase({ connection, answerMs: 600_000 });
const folder = mkdtempSync(path.join(tmpdir(), 'aep-bench-contents-'));
try {
  openStorage(folderStorage(folder));
  await migrate(knex);
  for (const statement of rows) await unrecorded(() => knex.raw(statement));
  console.log(`${count} missions before:`);
  await measure(logTables);
  console.log(`  a read of 20 fragments: ${(await readFor(400)).toFixed(2)} ms`);
  console.log('with the other tables of runs:');
  await measure(runTables);
  let statements = 0;
  const unwatch = watchStatements((_, times) => (statements += times));
  bindLogArchives(1);
  const begun = performance.now();
  while ((await sql('select 1 from unarchived_runs limit 1')).length > 0) await archiveLogs();
  const took = performance.now() - begun;
  unwatch();
  console.log(
    `archived in ${Math.round(took)} ms: ${(took / count).toFixed(1)} ms and ${Math.round(statements / count)} statements for each`,
  );
  console.log('after:');
  await measure(logTables);
  const [{ bytes } = { bytes: 0 }] = await sql<{ bytes: number }>(
    'select sum(size_bytes)::bigint as bytes from log_archives',
  );
  console.log(`  contents in the storage: ${Math.round(bytes / count)} bytes for each mission`);
  console.log(`  a read of 20 fragments: ${(await readFor(400)).toFixed(2)} ms`);
  console.log('with the other tables of runs:');
  await measure(runTables);
  await sql('insert into retention_settings (org_id, run_days) values ($1, 30)', [organization]);
  const deletionBegun = performance.now();
  await deleteAfterRetention();
  console.log(`details deleted in ${((performance.now() - deletionBegun) / count).toFixed(1)} ms for each:`);
  await measure(runTables);
} finally {
  await knex.destroy();
  await stop();
  rmSync(home, { recursive: true });
  rmSync(folder, { recursive: true });
}
