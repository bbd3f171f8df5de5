// Calls with an Idempotency-Key take effect exactly once. If a process or a connection dies during a call, either the call had no effect and its key
// is free, or the call took effect and its key repeats the response. KEYED_CALLS=<n> sets the number of random calls.
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { days } from '#foundation/clock.ts';
import { atOnce } from '../../support/at-once.ts';
import { type Call, openKeyedCalls } from '../../support/keyed-calls.ts';
import { freePort, type ServiceProcess, startService } from '../../support/processes.ts';
import { type Answer, requestsTo } from '../../support/requests.ts';

const { world, token, projectId, beside, write, unique, routes, count, close } = await openKeyedCalls();
afterAll(close);

const randomCalls = Number(process.env.KEYED_CALLS ?? 40);
const outcome = ({ status, body }: Answer) => ({ status, body });

it('every route that accepts an Idempotency-Key is tested in this file', async () => {
  const { paths } = (await world.request('GET', '/v1/openapi.json')).body;
  const keyed = Object.keys(paths).filter((path) =>
    paths[path].post?.parameters?.some(({ name }: { name?: string }) => name === 'Idempotency-Key'),
  );
  expect(Object.keys(routes).sort()).toEqual(keyed.sort());
});

describe.each(Object.keys(routes).map((route, n) => [route, n] as const))('POST %s', (route, n) => {
  let call: Call;
  beforeEach(async () => {
    call = await routes[route]!();
  });
  const send = (key?: string) => write(call.path, call.body, key, call.ask);

  it('2xx · a call with an Idempotency-Key takes effect once, and its answer is repeated', async () => {
    const first = await send(unique());
    expect(first.status).toBeLessThan(300);
    const key = unique();
    // A second key gets the same response as a call without a key.
    expect((await send(key)).status).toBe((await send()).status);
    const again = await routes[route]!();
    const repeat = () => write(again.path, again.body, `repeat ${key}`, again.ask);
    const answers = [await repeat(), await repeat()];
    expect(outcome(answers[1]!)).toEqual(outcome(answers[0]!));
    expect(answers[1]!.headers.get('idempotency-replayed')).toBe('true');
    expect(await count(again)).toBe(1);
  });

  it('4xx · a refused request writes nothing and leaves its Idempotency-Key unused', async () => {
    const key = unique();
    const { refused } = call;
    const wrong = refused
      ? () => write(refused.path, refused.body, key, call.ask)
      : call.body
        ? () => write(call.path, { ...call.body, name: 7, role: 7 }, key, call.ask)
        : () => write(`${call.path.replace(/[^/]+(?=\/\w+$)/, 'unknown')}`, undefined, key, call.ask);
    const { status } = await wrong();
    expect([400, 404]).toContain(status);
    expect(await count(call)).toBe(0);
    expect((await send(key)).status).toBeLessThan(300);
  });

  const deaths: [during: string, when: () => string, turn: number][] = [
    ['during its work', () => `after insert or update on ${call.table}`, n],
    ['while it records its answer', () => 'after update of status on idempotency_keys', n + 1],
  ];
  describe.each(deaths)('when its database connection is lost %s', (_, when, turn) => {
    // A connection can be lost at a statement or at the commit. All routes run in the same kind of transaction
    // (foundation/postgres/idempotency.ts), so here each route loses its connection at only one of these moments, and the next
    // route at the other.
    it.each([turn % 2 === 0 ? 'at its statement' : 'at the commit'])(
      '%s · a call that loses its database connection is repeated immediately and takes effect once',
      async (at) => {
        await beside.raw("select setval('deaths', 1, false)");
        const [constraint, deferred] =
          at === 'at its statement' ? ['', ''] : ['constraint', 'deferrable initially deferred'];
        await beside.raw(
          `create ${constraint} trigger dying ${when()} ${deferred} for each row execute function die()`,
        );
        try {
          const key = unique();
          let answer = await send(key);
          expect([503, 200, 201]).toContain(answer.status);
          // The database may need a moment to notice that the call's connection has ended.
          while (answer.status === 503 || isStillRunning(answer)) answer = await send(key);
          expect(answer.status).toBeLessThan(300);
          expect(outcome(await send(key))).toEqual(outcome(answer));
          expect(await count(call)).toBe(1);
          expect(Number((await beside.raw('select last_value from deaths')).rows[0].last_value)).toBeGreaterThan(0);
        } finally {
          await beside.raw(`drop trigger dying on ${when().split(' on ')[1]}`);
        }
      },
    );
  });
});

const isStillRunning = ({ status, body }: Answer): boolean =>
  status === 409 && body.description.includes('still running');

type Send = (call: Call, key: string) => Promise<Answer>;

/**
 * Repeats a call with its key until it has a final response, like a patient client: after a lost connection as soon as the service is
 * back, after a 409 or 503 a moment later.
 */
const repeating =
  (request: ReturnType<typeof requestsTo>, isUp: () => Promise<void> = async () => {}): Send =>
  async (call, key) => {
    for (;;) {
      await isUp();
      const ask = { ...(call.ask ?? { token }), body: call.body, headers: { 'idempotency-key': key } };
      const answer = await request('POST', `/v1${call.path}`, ask).catch(() => null);
      if (answer && !isStillRunning(answer) && answer.status !== 503) return answer;
      await wait(50);
    }
  };

const busy = ['/projects', '/tokens', '/invites', '/scheduled-tasks', '/scheduled-tasks/{id}/run', '/agents'];

async function prepare(): Promise<Call[]> {
  const calls: Call[] = [];
  const numbers = Array.from({ length: randomCalls }, (_, n) => n);
  await atOnce(8, numbers, async (n) => calls.push(await routes[busy[n % busy.length]!]!()));
  return calls;
}

/** Sends the calls eight at a time, each with a key; `between` receives the number of answered calls. */
async function sendAll(send: Send, todo: Call[], between: (answered: number) => Promise<unknown> = async () => {}) {
  const calls: { call: Call; key: string; answer: Answer }[] = [];
  await atOnce(8, todo, async (call) => {
    const key = unique();
    calls.push({ call, key, answer: await send(call, key) });
    await between(calls.length);
  });
  expect(calls).toHaveLength(randomCalls);
  return calls;
}

async function expectEachOnce(send: Send, calls: Awaited<ReturnType<typeof sendAll>>) {
  await atOnce(8, calls, async ({ call, key, answer }) => {
    const told = `${call.path} ${JSON.stringify(call.where)}`;
    expect([told, answer.status < 300, await count(call)]).toEqual([told, true, 1]);
    expect(outcome(await send(call, key))).toEqual(outcome(answer));
  });
}

describe('GraphQL mutations with an Idempotency-Key', () => {
  const start = `mutation ($projectId: String!, $prompt: String!) {
    startMission(projectId: $projectId, prompt: $prompt) { id prompt }
  }`;
  const send = (key: string, variables: object, query = start) =>
    world.request('POST', '/graphql', { token, headers: { 'idempotency-key': key }, body: { query, variables } });

  it('a repeated mutation gets the same answer and takes effect once; another operation with its key is refused', async () => {
    const variables = { projectId, prompt: 'Update the readme.' };
    const first = await send('graph-1', variables);
    expect([first.status, first.body.data.startMission.prompt]).toEqual([200, 'Update the readme.']);
    const again = await send('graph-1', variables);
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    const other = await send('graph-1', { ...variables, prompt: 'Another.' });
    expect(other.body.errors[0].extensions.problem.description).toBe('Idempotency-Key: was used for another request.');
    expect(await beside('runs').where({ prompt: 'Update the readme.' })).toHaveLength(1);
  });

  it('a mutation that fails leaves its key unused, and a query ignores the key', async () => {
    const refused = await send('graph-2', { projectId: 'prj_none', prompt: 'Look.' });
    expect(refused.body.errors[0].extensions.code).toBe('not_found');
    expect((await send('graph-2', { projectId, prompt: 'Look.' })).body.errors).toBeUndefined();
    const query = 'query { me { userId } }';
    for (const _ of [1, 2]) {
      const read = await send('graph-3', {}, query);
      expect([read.status, read.headers.get('idempotency-replayed')]).toEqual([200, null]);
    }
    const wrong = await send('', { projectId, prompt: 'Look.' });
    expect(wrong.body.errors[0].message).toContain('Idempotency-Key: must be');
    const headers = { 'idempotency-key': 'graph-4', accept: 'text/event-stream' };
    const body = { query: 'mutation { deleteProject(projectId: "prj_none") { id } }' };
    const events = await world.request('POST', '/graphql', { token, headers, body });
    expect([events.status, JSON.stringify(events.body)]).toEqual([400, expect.stringContaining('Accept: must name')]);
  });
});

describe('Many calls with an Idempotency-Key', () => {
  it('each call with an Idempotency-Key takes effect once while database connections are killed at random', {
    timeout: 600_000,
  }, async () => {
    const send = repeating(requestsTo(world.url));
    const todo = await prepare();
    let [over, ended, answered] = [false, 0, 0];
    const calls = sendAll(send, todo, async () => answered++).finally(() => (over = true));
    while (!over) {
      // At most three connections are ended for each response, so that requests are answered even on a slow machine.
      if (ended < 3 * (answered + 8)) {
        const { rows } = await beside.raw(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = '' and backend_type = 'client backend'
              and pid <> pg_backend_pid() and (state = 'active' or state like 'idle in%') order by random() limit 1`,
        );
        ended += rows.length;
      }
      await beside.raw('select pg_sleep(0.02 + random() / 10)');
    }
    expect(ended).toBeGreaterThan(0);
    console.log(`${randomCalls} calls, ${ended} connections ended`);
    await expectEachOnce(send, await calls);
  });

  describe('Killed processes', () => {
    let service: ServiceProcess;
    afterEach(() => service.process.kill('SIGKILL'));

    it('each call with an Idempotency-Key takes effect once while the process is killed at random', {
      timeout: 600_000,
    }, async () => {
      // The process uses the real clock, not the test's.
      await beside('tokens').update({ expires_at: Date.now() + days(30) });
      const port = await freePort();
      const start = () => {
        service = startService(world.connection, port, {
          REQUESTS_PER_MINUTE: '1000000',
          REQUESTS_PER_MINUTE_ORGANIZATION: '1000000',
          INVITES_PER_DAY: '100000',
          TOKENS_PER_PERSON: '10000',
        });
      };
      const todo = await prepare();
      start();
      const send = repeating(requestsTo(service!.url), () => service.ready);
      let killed = 0;
      const calls = await sendAll(send, todo, async (answered) => {
        if (answered < ((killed + 1) * randomCalls) / 4 || killed === 3) return;
        killed++;
        const dead = once(service.process, 'exit');
        service.process.kill('SIGKILL');
        await dead;
        start();
      });
      expect(killed).toBe(3);
      await expectEachOnce(send, calls);
    });
  });
});
