// The next release migrates the database while this one serves: nobody is to notice (README, "Upgrading").
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import knexFactory, { type Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '#foundation/migrations.ts';
import { startSandbox, startSession, writeLog } from './support/runtime-records.ts';
import { openWorld, type World } from './support/world.ts';

let world: World;
let token: string;
let session: Awaited<ReturnType<World['session']>>;
/** The next release: another process, hence another pool. */
let next: Knex;
let tables: string[];
let reads: string[];

beforeAll(async () => {
  world = await openWorld();
  const alice = await world.person('Alice');
  const acme = await world.found(alice, 'Acme');
  token = await world.token(alice, acme);
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
  };
  reads = [
    ...lists.filter((name) => !name.startsWith('/.well-known')).map((name) => name + (queries[name] ?? '')),
    `/organizations/${acme.id}`,
    `/projects/${project.id}`,
    `/scheduled-tasks/${task.id}/runs`,
    `/automations/${automation.id}`,
    `/sandboxes/${sandbox.id}`,
  ];
}, 60_000);
afterAll(async () => {
  await next.destroy();
  await world.close();
});

const write = (name: string, body?: object) => world.request('POST', `/v1${name}`, { token, body });

const everything = `{
  projects(limit: 5) { data { id name issues { id } artifacts { id } environments { id } } }
  sandboxes(limit: 5) { data { id sessions { sessionId } } }
}`;

/** Credentials are managed by a signed-in person, everything else is read with a token. */
const callerOf = (name: string) => (/^\/(tokens|agent-delegations)$/.test(name) ? { session } : { token });

/** Revoked again, because a person may have 100 live tokens. */
async function createAndRevokeToken() {
  const created = await world.request('POST', '/v1/tokens', { session, body: { name: 'more', expiresInDays: 1 } });
  if (created.status >= 400) return created;
  return world.request('DELETE', `/v1/tokens/${created.body.id}`, { session });
}

let made = 0;
/** One call of each kind at once; what was not answered well. */
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

/** Calls everything again and again for as long as the work takes, and once more after it; the failures of all. */
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
    for (const [n, table] of tables.entries()) {
      const column = `alter table ${table} add column later_${n} text not null default 'later'`;
      expect([table, await underLoad(async () => await next.raw(column))]).toEqual([table, []]);
    }
  });

  it('200 · every call is answered while its migration files run', { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'aep-migrations-'));
    cpSync(fileURLToPath(new URL('../migrations', import.meta.url)), folder, { recursive: true });
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
      expect(await underLoad(() => migrate(next, folder))).toEqual([]);
      expect((await next.raw('select count(*) from notes')).rows).toEqual([{ count: 0 }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
