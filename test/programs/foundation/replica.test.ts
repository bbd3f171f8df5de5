// DATABASE_REPLICA_URL with a streaming standby: reads use it, always see every acknowledged write, and use the primary while the standby
// is behind, silent, gone or promoted.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { findCredential, sql, transaction } from '#foundation/postgres/database.ts';
import { reading, replicaState } from '#foundation/postgres/replica.ts';
import { createOwner, createProject } from '../../support/callers.ts';
import { openReplicated, type Replicated, removeOrigin } from '../../support/replicated.ts';
import { openWorld, type World } from '../../support/world.ts';

let servers: Replicated;
let world: World;
let token: string;
/** A token of another organization. */
let stranger: string;
const log: string[] = [];

beforeAll(async () => {
  servers = await openReplicated({ synchronous: false });
  const database = servers.urlOf(servers.primary);
  world = await openWorld({ database, replica: servers.urlOf(servers.standby), log: (line) => log.push(line) });
  const owner = await createOwner(world, 'Alice', 'Acme');
  await world.lift(owner.organization);
  token = owner.token;
  stranger = (await createOwner(world, 'Bob', 'Globex')).token;
});
afterAll(async () => {
  await world.close();
  await servers.close();
  removeOrigin();
});
beforeEach(() => inUse());

const read = async (path: string, by = token) => (await world.rest('GET', path, { token: by })).body;
const names = async (by = token): Promise<string[]> =>
  (await read('/projects?limit=100', by)).data.map(({ name }: { name: string }) => name);
const create = (name: string) => createProject(world, { token }, name);
const mcp = (...messages: object[]) =>
  world.request('POST', '/mcp', {
    token,
    headers: { accept: 'application/json, text/event-stream' },
    body: messages.length > 1 ? messages : messages[0],
  });
const call = (id: number, name: string, values: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: values },
});

/** Executes `work`, and returns how many of its reads the replica has answered, and how many the primary server has answered. */
async function answeredBy(work: () => Promise<unknown>) {
  const before = { ...replicaState()!.reads };
  await work();
  const { replica, primary } = replicaState()!.reads;
  return { replica: replica - before.replica, primary: primary - before.primary };
}

/**
 * Repeats `work` until the replica answers its read. PostgreSQL sometimes writes data that no request has caused, and a read goes to the primary
 * until the replica has replayed such data.
 */
const answeredByReplica = (work: () => Promise<unknown>) =>
  expect.poll(() => answeredBy(work)).toEqual({ replica: 1, primary: 0 });
const inUse = () => answeredByReplica(() => read('/me'));
const notInUse = () => expect.poll(() => replicaState()!.isInUse).toBe(false);
const pause = () => servers.standby.query('select pg_wal_replay_pause()');
const resume = () => servers.standby.query('select pg_wal_replay_resume()');

it('REST, GraphQL and MCP read from the replica', async () => {
  await create('one');
  await answeredByReplica(() => read('/projects'));
  await answeredByReplica(() => world.graphql('{ projects { data { name } } }', { token }));
  await answeredByReplica(() => mcp(call(1, 'list_projects', {})));
  const sent = await servers.standby.query(`select query from pg_stat_activity where query like '%from "projects"%'
    and pid <> pg_backend_pid()`);
  expect(sent.length).toBeGreaterThan(0);
  const metrics = (await world.request('GET', '/metrics')).body;
  expect(metrics).toMatch(/^database_replica_in_use 1$/m);
  expect(metrics).toMatch(/^database_reads_total\{server="replica"\} [1-9]/m);
});

it('a write is seen by every later read, even while the replica has not replayed it', async () => {
  await pause();
  const id = await create('unseen');
  expect(
    await answeredBy(async () => {
      expect(await names()).toContain('unseen');
      expect((await read(`/projects/${id}`)).name).toBe('unseen');
      const query = `{ project(projectId: "${id}") { name } }`;
      expect((await world.graphql(query, { token })).body.data).toEqual({ project: { name: 'unseen' } });
      expect(await names(stranger)).toEqual([]);
    }),
  ).toEqual({ replica: 0, primary: 4 });
  expect(replicaState()!.isInUse).toBe(false);
  await expect.poll(() => log.join()).toContain('the replica lags behind');
  await resume();
  await answeredByReplica(async () => expect(await names()).toContain('unseen'));
});

it('reads after a write in the same request stay on the primary', async () => {
  const start = { name: 'batched', repoFullName: 'acme/batched' };
  const work = () => mcp(call(1, 'create_project', start), call(2, 'list_projects', { limit: 100 }));
  expect((await answeredBy(work)).replica).toBe(0);
  const isStandby = async () => (await sql<{ standby: boolean }>('select pg_is_in_recovery() as standby'))[0]!.standby;
  const leave = async () => {
    const before = await isStandby();
    await transaction(async () => {});
    return [before, await isStandby()];
  };
  const request = async () => reading((await findCredential<object>('select 1 as one', []))!.bookmark, leave);
  await expect.poll(request).toEqual([true, false]);
});

it('a statement that the replica refuses is sent to the primary', async () => {
  const caller = await findCredential<object>('select 1 as one', []);
  const update = `update people set name = name returning pg_is_in_recovery() as standby`;
  const rows = await reading(caller!.bookmark, () => sql<{ standby: boolean }>(update));
  expect(rows.map(({ standby }) => standby)).toEqual([false, false]);
});

it('responses stay correct while connections are cut and the replica is killed; a restarted replica is used again', async () => {
  let stopped = false;
  const wrong: string[] = [];
  let rounds = 0;
  const work = Promise.all(
    ['a', 'b', 'c'].map(async (writer) => {
      for (let n = 0; !stopped; n++) {
        const id = await create(`${writer}${n}`);
        const answers = await Promise.all([
          world.rest('GET', `/projects/${id}`, { token }),
          world.graphql(`{ project(projectId: "${id}") { name scheduledTasks { id } } }`, { token }),
        ]);
        if (answers[0].body.name !== `${writer}${n}`) wrong.push(JSON.stringify(answers[0]));
        if (answers[1].body.data?.project?.name !== `${writer}${n}`) wrong.push(JSON.stringify(answers[1]));
        await names();
        rounds++;
      }
    }),
  );
  const more = () => {
    const before = rounds;
    return expect.poll(() => rounds).toBeGreaterThan(before + 5);
  };
  const before = replicaState()!.reads.replica;
  await expect.poll(() => replicaState()!.reads.replica).toBeGreaterThan(before);
  for (let n = 0; n < 3; n++) {
    await servers.standby.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`);
    await more();
  }
  await servers.standby.kill();
  await notInUse();
  await more();
  await servers.standby.restart();
  await inUse();
  await more();
  stopped = true;
  await work;
  expect(wrong).toEqual([]);
  expect(log.join()).toMatch(/reads go to the primary: the replica (is gone|does not answer)/);
});

it('reads do not wait for a replica that hangs', async () => {
  servers.standby.freeze();
  const reads = await Promise.all(Array.from({ length: 30 }, () => world.rest('GET', '/projects', { token })));
  expect(reads.map(({ status }) => status)).toEqual(reads.map(() => 200));
  await notInUse();
  expect(await answeredBy(() => read('/projects'))).toEqual({ replica: 0, primary: 1 });
  servers.standby.thaw();
  await inUse();
});

it('a replica that accepts writes, or has left the timeline of the primary, is not read', async () => {
  await servers.standby.promote();
  await servers.standby.query('delete from projects');
  await notInUse();
  expect(await names()).toContain('one');
  await expect.poll(() => log.join()).toContain('the replica accepts writes');

  // The promoted server is now restarted as a standby. It is on a timeline of its own, and ahead of the primary.
  await servers.standby.query('checkpoint');
  await servers.standby.query(`select pg_logical_emit_message(false, 'ahead', repeat('x', 100000))`);
  await servers.standby.kill();
  await servers.standby.restart();
  expect(await servers.standby.query('select pg_is_in_recovery() as standby')).toEqual([{ standby: true }]);
  await expect.poll(() => replicaState()!.isInUse).toBe(true);
  expect(await answeredBy(async () => expect(await names()).toContain('one'))).toEqual({ replica: 0, primary: 1 });
  expect(log.join()).toContain('has not followed it onto its timeline');
  expect(replicaState()!.isInUse).toBe(false);
});
