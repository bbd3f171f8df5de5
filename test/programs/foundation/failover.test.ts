// DATABASE_URL with two servers: each acknowledged write exists exactly once after the loss of the primary; callers are told to retry, and
// are served again as soon as the other server accepts writes.
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { createOwner } from '../../support/callers.ts';
import { openReplicated, type Replicated, removeOrigin } from '../../support/replicated.ts';
import { openWorld, type World } from '../../support/world.ts';

let servers: Replicated;
let world: World;
let token: string;

beforeEach(async () => {
  servers = await openReplicated();
  world = await openWorld({ database: servers.url });
  const alice = await createOwner(world, 'Alice', 'Acme');
  await world.lift(alice.organization);
  ({ token } = alice);
});
afterEach(async () => {
  await world.close();
  await servers.close();
});
afterAll(removeOrigin);

/**
 * Starts writers, each of which creates projects one after another. A writer repeats a request with the same Idempotency-Key until the service
 * acknowledges it.
 */
function write() {
  const acknowledged: string[] = [];
  const refusals: unknown[] = [];
  let stopped = false;
  const writer = async (name: string): Promise<void> => {
    for (let n = 0; !stopped; n++) {
      const body = { name: `${name}${n}`, repoFullName: `acme/${name}${n}` };
      for (;;) {
        const answer = await world.request('POST', '/v1/projects', {
          token,
          body,
          headers: { 'idempotency-key': body.name },
        });
        if (answer.status === 201) {
          acknowledged.push(body.name);
          break;
        }
        refusals.push({
          status: answer.status,
          retryable: answer.body.retryable,
          description: answer.body.description,
        });
        if (answer.status !== 503) return;
        if (stopped) return;
      }
    }
  };
  const work = Promise.all(['a', 'b', 'c'].map(writer));
  return {
    acknowledged,
    refusals,
    more: (count: number) => {
      const before = acknowledged.length;
      return expect.poll(() => acknowledged.length).toBeGreaterThan(before + count);
    },
    async stop() {
      stopped = true;
      await work;
    },
  };
}

async function expectEachOnce(acknowledged: string[]): Promise<void> {
  const rows = await servers.standby.query('select name, count(*)::int as count from projects group by name');
  const counts = new Map(rows.map(({ name, count }) => [name, count]));
  expect(acknowledged.filter((name) => counts.get(name) !== 1)).toEqual([]);
  expect(rows.filter(({ count }) => count !== 1)).toEqual([]);
}

const retryable = (refusals: unknown[]) =>
  expect(refusals).toEqual(refusals.map(() => expect.objectContaining({ status: 503, retryable: true })));

it('when the primary is lost, requests go to the promoted standby, and no acknowledged write is lost or repeated', async () => {
  const { acknowledged, refusals, more, stop } = write();
  await more(10);
  await servers.primary.kill();
  await expect.poll(() => refusals.length).toBeGreaterThan(0);
  await servers.standby.promote();
  await more(10);
  await stop();
  retryable(refusals);
  await expectEachOnce(acknowledged);
});

it('when the primary hangs, requests go to the promoted standby, and they still go there after the old primary resumes', async () => {
  const { acknowledged, refusals, more, stop } = write();
  await more(10);
  servers.primary.freeze();
  await servers.standby.promote();
  await more(10);
  servers.primary.thaw();
  await more(20);
  await stop();
  retryable(refusals);
  await expectEachOnce(acknowledged);
});

it('when the current server becomes read-only and the other server accepts writes, requests go to the other server', async () => {
  const readOnly = 'alter system set default_transaction_read_only = on';
  expect((await world.rest('GET', '/projects', { token })).status).toBe(200);
  await servers.standby.promote();
  await servers.primary.query(readOnly);
  await servers.primary.query('select pg_reload_conf()');
  await expect
    .poll(
      async () =>
        (await world.request('POST', '/v1/projects', { token, body: { name: 'x', repoFullName: 'acme/x' } })).status,
    )
    .toBe(201);
  expect(await servers.standby.query(`select name from projects where name = 'x'`)).toHaveLength(1);
});

it('requests get 503 within seconds while a server hangs and no other one takes writes', async () => {
  const read = () => world.request('GET', '/v1/projects', { token });
  expect((await read()).status).toBe(200);
  servers.primary.freeze();
  const begun = performance.now();
  const refusals = await Promise.all(Array.from({ length: 20 }, read));
  // The time limit of a statement is 30 s.
  expect(performance.now() - begun).toBeLessThan(15_000);
  retryable(refusals.map(({ status, body }) => ({ status, retryable: body.retryable })));
  servers.primary.thaw();
  await expect.poll(async () => (await read()).status).toBe(200);
});
