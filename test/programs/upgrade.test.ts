// The next release migrates the database while this one serves, without failed calls (deploy/README.md).
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#foundation/ids.ts';
import { retrying } from '#foundation/postgres/database-errors.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { emptyDatabase } from '../support/database.ts';
import { startSandbox, startSession, writeLog } from '../support/runtime-records.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let token: string;
let runtimeToken: string;
let session: Awaited<ReturnType<World['session']>>;
/** The next release: another process, hence another pool. */
let next: Knex;
let tables: string[];
let reads: string[];

beforeAll(async () => {
  world = await openWorld();
  const alice = await world.person('Alice');
  const acme = await world.found(alice, 'Acme');
  await world.lift(acme);
  token = await world.token(alice, acme);
  runtimeToken = await world.service();
  session = await world.session(alice, acme.id);
  next = knexFactory({ client: 'pg', connection: world.connection });
  const { rows } = await next.raw(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('public', 'background')
        and c.relname not like 'knex_%' order by 1`,
  );
  tables = rows.map(({ name }: { name: string }) => name);

  const project = (await write('/projects', { name: 'Shop', repoFullName: 'acme/shop' })).body;
  const triggers = [{ kind: 'schedule', schedule: { interval: 'daily', time: '09:00', timezone: 'UTC' } }];
  const recurring = { projectId: project.id, name: 'Tidy', prompt: 'Tidy up.', triggers };
  const task = (await write('/scheduled-tasks', recurring)).body;
  const automation = (await write('/automations', recurring)).body;
  const { runId } = (await write(`/scheduled-tasks/${task.id}/run`)).body;
  const sandbox = await startSandbox({ orgId: acme.id, projectId: project.id }, { runId });
  await writeLog(await startSession(sandbox), 'session', ['hello']);
  const { paths } = (await world.request('GET', '/v1/openapi.json')).body;
  const lists = Object.keys(paths).filter((name) => paths[name].get && !name.includes('{'));
  const queries: Record<string, string> = {
    '/organizations/slug-availability': '?slug=acme',
    '/organizations/slug-preview': '?name=Acme',
    '/audit-checkpoints/consistency': '?first=0&second=1',
  };
  reads = [
    ...lists.filter((name) => !name.startsWith('/.well-known')).map((name) => name + (queries[name] ?? '')),
    `/organizations/${acme.id}`,
    `/projects/${project.id}`,
    `/scheduled-tasks/${task.id}/runs`,
    `/automations/${automation.id}`,
    `/sandboxes/${sandbox.id}`,
  ];
});
afterAll(async () => {
  await next.destroy();
  await world.close();
});

const write = (name: string, body?: object) => world.request('POST', `/v1${name}`, { token, body });

const everything = `{
  projects(limit: 5) { data { id name issues { id } artifacts { id } environments { id } } }
  sandboxes(limit: 5) { data { id sessions { sessionId } } }
}`;

/** Caller of a request: a runtime for operations of runtimes, a signed-in person for credentials and billing, a token for everything else. */
const callerOf = (name: string) =>
  name === '/runtimes/demand'
    ? { token: runtimeToken }
    : /^\/(tokens|agent-delegations|setup|notices|secrets|events|audit-.*|webhook-.*|billing\/.*)$/.test(name)
      ? { session }
      : { token };

/** Creates a token and revokes it at once, because a person may have at most 100 live tokens. */
async function createAndRevokeToken() {
  const created = await world.request('POST', '/v1/tokens', { session, body: { name: 'more', expiresInDays: 1 } });
  if (created.status >= 400) return created;
  return world.request('DELETE', `/v1/tokens/${created.body.id}`, { session });
}

const ownFolder = fileURLToPath(new URL('../../migrations', import.meta.url));
/** A copy of the migrations that the test may change. */
function copyMigrations(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-migrations-'));
  cpSync(ownFolder, folder, { recursive: true });
  return folder;
}

/** Migrates up to this file. */
async function migrateUpTo(knex: Knex, last: string): Promise<void> {
  const folder = copyMigrations();
  for (const name of readdirSync(folder)) if (name.slice(0, last.length) > last) rmSync(path.join(folder, name));
  await migrate(knex, { folder }).finally(() => rmSync(folder, { recursive: true }));
}

const addProject = (knex: Knex) =>
  knex.raw(`insert into people (id, email, name, created_at) values ('usr_1', 'a@example.com', 'A', 1);
    insert into organizations (id, name, slug, created_by_user_id, created_at) values ('org_1', 'A', 'a', 'usr_1', 1);
    insert into projects (id, org_id, slug, name, status, tracker, scm_owner, scm_repo, created_at)
      values ('prj_1', 'org_1', 'p', 'P', 'active', 'builtin', 'acme', 'p', 1)`);

let made = 0;
/** Sends one call of each kind at once; returns the failures. */
async function callAll(): Promise<string[]> {
  const n = ++made;
  const answers = await Promise.all([
    ...reads.map(async (name) => [name, await world.request('GET', `/v1${name}`, callerOf(name))] as const),
    ...['/console', '/console/runs'].map(
      async (name) => [name, await world.request('GET', name, { session })] as const,
    ),
    (async () => ['graphql', await world.graphql(everything, { token })] as const)(),
    (async () => ['project', await write('/projects', { name: `P${n}`, repoFullName: `acme/p${n}` })] as const)(),
    (async () => ['token', await createAndRevokeToken()] as const)(),
  ]);
  return answers
    .filter(([, { status, body }]) => status >= 400 || /internal|unavailable/i.test(JSON.stringify(body.errors ?? '')))
    .map(([name, { status, body }]) => `${name}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
}

/** Repeats all calls while the work runs, and once after it; returns the failures. */
async function underLoad(work: () => Promise<unknown>): Promise<string[]> {
  const failures: string[] = [];
  let over = false;
  const calling = (async () => {
    do failures.push(...(await callAll()));
    while (!over);
  })();
  await work().finally(() => (over = true));
  await calling;
  return [...failures, ...(await callAll())];
}

describe('While the next release migrates', () => {
  it('200 · every call is answered, whichever table gets a column', { timeout: 240_000 }, async () => {
    expect(tables.length).toBeGreaterThan(30);
    expect(await callAll()).toEqual([]);
    // While calls run, six tables are changed one after another. This affects a call no more than the change of a single table, and saves time.
    for (let at = 0; at < tables.length; at += 6) {
      const names = tables.slice(at, at + 6);
      const failures = await underLoad(async () => {
        for (const table of names)
          await next.raw(`alter table ${table} add column later text not null default 'later'`);
      });
      expect([names, failures]).toEqual([names, []]);
    }
  });

  it('200 · every call is answered while its migration files run', { timeout: 120_000 }, async () => {
    const folder = copyMigrations();
    const columns = tables.map((table, n) => `alter table ${table} add column latest_${n} bigint;`);
    const file = (n: number, up: string) =>
      writeFileSync(
        path.join(folder, `29991231_0${n}_next.sql`),
        `-- The next release.\n-- up\n${up}\n-- down\nselect 1;\n`,
      );
    file(1, columns.join('\n'));
    file(2, 'create table notes (id text primary key, project_id text references projects on delete cascade);');
    file(3, 'create index tokens_latest on tokens (user_id, created_at);');
    try {
      expect(await underLoad(() => migrate(next, { folder }))).toEqual([]);
      expect((await next.raw('select count(*) from notes')).rows).toEqual([{ count: 0 }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('While scheduled tasks and automations become one table', () => {
  /**
   * The names of tables and columns in the statements of the previous release, for scheduled tasks and for automations. `of` is the column of `runs`
   * that refers to the recurring mission.
   */
  const kinds = [
    { table: 'scheduled_tasks', noun: 'scheduledTask', of: 'scheduled_task_id', other: 'automation_id' },
    { table: 'automations', noun: 'automation', of: 'automation_id', other: 'scheduled_task_id' },
  ] as const;
  const insertMission = (table: string) => `insert into "${table}" ("id", "org_id", "project_id", "name", "prompt",
    "triggers", "labels", "skip_if_previous_open", "enabled", "next_run_at", "created_by_user_id", "created_at", "updated_at")
    values ($1, 'org_1', 'prj_1', 'Tidy', 'Tidy up.', '[]', '{}', true, true, 1, 'usr_1', 1, 1) returning "id"`;
  const selectDue = (table: string) => `select "${table}".* from "${table}" where "next_run_at" <= $1 and "id" = $2
    order by "next_run_at" asc limit 100 for no key update skip locked`;
  const insertRun = `insert into "runs" ("id", "org_id", "project_id", "scheduled_task_id", "automation_id", "scheduled_for",
    "kind", "status", "attempts", "claimed_by", "lease_until", "created_at", "updated_at")
    values ($1, 'org_1', 'prj_1', $2, $3, 1, 'scheduled', 'dispatching', 1, 'me', 1, 1, 1)
    on conflict do nothing returning "id", "scheduled_task_id", "automation_id"`;
  const move = (table: string) => `update ${table} t set next_run_at = d.next
    from unnest($1::text[], $2::bigint[]) d (id, next) where t.id = d.id`;
  const claim = `with waiting as (select id from runs r where id = $1 and num_nonnulls(scheduled_task_id, automation_id) = 1
    order by created_at, id limit 1 for update skip locked)
    update runs r set claims = claims + 1 from waiting where r.id = waiting.id returning r.scheduled_task_id, r.automation_id`;

  /**
   * Creates a recurring mission of each kind, starts it only once although it is due twice, and lists it. In every second round, the mission is then
   * deleted.
   */
  async function workOnce(pool: pg.Pool, round: number): Promise<void> {
    for (const { table, noun, of, other } of kinds) {
      const [id, runId] = [newId(noun), newId('run')];
      const client = await pool.connect();
      const ask = async (text: string, values: unknown[]) => (await client.query(text, values)).rows;
      // The service prepares the statements of its finders and the statements that it writes as SQL. It does not prepare the statements that
      // Objection builds.
      const askPrepared = async (text: string, values: unknown[]) =>
        (await client.query({ name: text.slice(0, 60), text, values })).rows;
      try {
        await client.query('begin');
        expect(await ask(insertMission(table), [id])).toEqual([{ id }]);
        expect(await ask(selectDue(table), [1, id])).toMatchObject([{ id, project_id: 'prj_1' }]);
        const parents = noun === 'scheduledTask' ? [id, null] : [null, id];
        expect(await ask(insertRun, [runId, ...parents])).toMatchObject([{ [of]: id, [other]: null }]);
        expect(await ask(insertRun, [newId('run'), ...parents])).toEqual([]);
        await askPrepared(move(table), [[id], [9]]);
        await client.query('commit');
        expect(await askPrepared(claim, [runId])).toEqual([{ [of]: id, [other]: null }]);
        expect(await askPrepared(`select id from runs where ${of} = $1`, [id])).toEqual([{ id: runId }]);
        expect(await askPrepared(`select id, next_run_at from "${table}" where id = $1`, [id])).toHaveLength(1);
        if (round % 2 === 0) {
          await ask(`delete from "${table}" where "id" = $1`, [id]);
          expect(await ask(`select ${of} as parent from runs where id = $1`, [runId])).toEqual([{ parent: null }]);
        }
      } catch (error) {
        await client.query('rollback').catch(() => {});
        throw error;
      } finally {
        client.release();
      }
    }
  }

  it('the previous release reads and writes scheduled tasks and automations before, during and after the change, and nothing is lost', async () => {
    const fresh = await emptyDatabase();
    const [knex, pool] = [
      knexFactory({ client: 'pg', connection: fresh.connection }),
      new pg.Pool({ ...fresh.connection, max: 3 }),
    ];
    // `pool.end()` does not wait until the pool’s connections are closed, so some are still open when the database is dropped. PostgreSQL
    // then terminates these connections. Each of them emits an error, which this listener ignores.
    pool.on('connect', (client) => client.on('error', () => {}));
    try {
      await migrateUpTo(knex, '20261122_49');
      await addProject(knex);
      let over = false;
      let rounds = 0;
      const work = () => retrying(() => workOnce(pool, rounds++), { budgetMs: 20_000 });
      const working = Promise.all(
        [1, 2, 3].map(async () => {
          do await work();
          while (!over);
        }),
      );
      await work();
      // The migrations 50 to 53 merge the two tables into one. The loops above make the calls of the previous release until these migrations have
      // ended. While the later migrations are applied, no calls are made.
      await migrateUpTo(knex, '20261122_53').finally(() => (over = true));
      await working;
      await migrate(knex);
      await work();
      const { rows } = await knex.raw(`select m.kind, count(distinct m.id) as missions, count(r.id) as runs,
        count(r.scheduled_task_id) as of_tasks, count(r.automation_id) as of_automations
        from runs r full join recurring_missions m on m.id = r.recurring_id group by m.kind order by m.kind`);
      const { missions } = rows[0];
      expect(rows).toEqual([
        { kind: 'automation', missions, runs: missions, of_tasks: 0, of_automations: missions },
        { kind: 'scheduled_task', missions, runs: missions, of_tasks: missions, of_automations: 0 },
        // The runs of a deleted mission.
        { kind: null, missions: 0, runs: expect.any(Number), of_tasks: 0, of_automations: 0 },
      ]);
    } finally {
      await Promise.all([knex.destroy(), pool.end()]);
      await fresh.drop();
    }
  });
});

describe('A large table', () => {
  /** Tables that grow with every mission. */
  const large = `array['runs', 'mission_costs', 'issues', 'artifacts', 'sandboxes', 'sandbox_sessions', 'sandbox_log_parts',
    'sandbox_fragments', 'sandbox_metrics']::regclass[]`;
  const runs = 2500;

  it('a large table is not locked against requests while a migration that is newer than release 0.1.0 rewrites, indexes or checks it', async () => {
    const fresh = await emptyDatabase();
    const knex = knexFactory({ client: 'pg', connection: fresh.connection });
    try {
      await migrateUpTo(knex, '20261121_19');
      await addProject(knex);
      await knex.raw(`insert into scheduled_tasks (id, org_id, project_id, name, prompt, triggers, labels, skip_if_previous_open,
          enabled, created_by_user_id, created_at, updated_at)
        values ('sch_1', 'org_1', 'prj_1', 'Tidy', 'Tidy up.', '[]', '{}', true, false, 'usr_1', 1, 1)`);
      await knex.raw(`insert into runs (id, org_id, project_id, scheduled_task_id, scheduled_for, kind, status, created_at, updated_at)
        select 'run_' || n, 'org_1', 'prj_1', 'sch_1', n, 'scheduled', 'completed', 1, 1 from generate_series(1, ${runs}) n`);
      await migrate(knex);

      // `ddl` contains the transactions that changed a table. None of them may also have created an index or checked a constraint of a large table.
      // Statements such as `create index concurrently` run outside these transactions, so they are allowed.
      const { rows } = await knex.raw(`
        with ddl as (
          select distinct a.xmin::text as xid from pg_attribute a join pg_class c on c.oid = a.attrelid
          where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
        ), before as (select xmin::text as xid from pg_class where oid = 'orchestrators_pkey'::regclass)
        select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
          where i.indrelid = any (${large}) and c.xmin::text in (select xid from ddl except select xid from before)
        union all
        select conname from pg_constraint
          where conrelid = any (${large}) and contype in ('c', 'f') and convalidated
            and xmin::text in (select xid from ddl except select xid from before)
        union all
        select 'rows of runs' from runs group by xmin having count(*) > 500`);
      expect(rows).toEqual([]);
      expect((await knex.raw('select recurring_id, count(*) from runs group by 1')).rows).toEqual([
        { recurring_id: 'sch_1', count: runs },
      ]);
    } finally {
      await knex.destroy();
      await fresh.drop();
    }
  });
});
