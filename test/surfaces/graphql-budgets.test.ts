// Tests of the limits that each caller has in GraphQL: the cost of operations, the bytes of responses, and the slots for concurrent
// operations. Some tests use a small separate graph, and others the graph of the service.
import { once } from 'node:events';
import { createServer, type Server, request as sendRaw } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type GraphQLFieldExtensions, getNamedType, isObjectType } from 'graphql';
import { createSchema } from 'graphql-yoga';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from '#access/principal.ts';
import { seconds } from '#foundation/clock.ts';
import { bytes, graphql } from '#limits.ts';
import { schema as theGraph } from '#schema.ts';
import { createExecutions, createQueryBudget } from '#surfaces/graphql/budget.ts';
import { createGraphql } from '#surfaces/graphql/surface.ts';
import { createOwner } from '../support/callers.ts';
import { eventsOf } from '../support/server-sent-events.ts';
import { openWorld, type World } from '../support/world.ts';

let written: string[] = [];
let introspected = 0;
/** Resumes the `held` fields that are waiting. */
let proceed: () => void;
let gate: Promise<void>;
/** Resolves when `count` requests for the field `held` are waiting. */
let arrived: (count: number) => Promise<void>;

const schema = createSchema({
  typeDefs: /* GraphQL */ `
    type Query { hello: String rows(limit: Int! = 10): [Row!]! text(bytes: Int!): String held: String }
    type Row { id: String! }
    type Mutation { write(text: String!): String beat: String }
    type Subscription { changes: String texts: String }
  `,
  resolvers: {
    Query: {
      hello: () => 'world',
      rows: (_, { limit }) => Array.from({ length: limit }, (_, i) => ({ id: `${i}` })),
      text: (_, { bytes: size }) => 'x'.repeat(size),
      held: async () => {
        waiting.push(undefined);
        notify();
        await gate;
        return 'done';
      },
    },
    Mutation: {
      write: (_, { text }) => {
        written.push(text);
        return text;
      },
      beat: () => void written.push('beat'),
    },
    Subscription: {
      texts: {
        subscribe: async function* () {
          for (;;) yield 'x'.repeat(bytes.graphqlAnswer);
        },
        resolve: (root) => root,
      },
      changes: {
        subscribe: async function* () {
          yield 'begun';
          await change;
          yield 'changed';
        },
        resolve: (root) => root,
      },
    },
  },
});
schema.getMutationType()!.getFields().beat!.extensions = { exposure: { scope: 'any-caller', urgent: true } };
for (const field of Object.values(schema.getSubscriptionType()!.getFields())) {
  field.extensions = { exposure: { scope: 'any-caller' } };
}
/** Lets the subscription continue. */
let announceChange = () => {};
const change = new Promise<void>((resolve) => {
  announceChange = resolve;
});
const waiting: undefined[] = [];
let notify = () => {};

Object.defineProperty(schema.getType('Row')!, 'description', {
  get() {
    introspected++;
    return 'A row.';
  },
});

const callerOf = (orgId: string): Caller => ({
  principalType: 'user',
  credentialId: `tok_${orgId}`,
  userId: 'usr_1',
  orgId: orgId as Caller['orgId'],
  role: 'owner',
  scopes: new Set(),
  projectId: null,
});

let server: Server;
let url: string;
let points: number;
/** Number of requested slots. */
let asked = 0;

beforeAll(async () => {
  const executions = createExecutions({ perKey: 3, all: 10, waitMs: 60_000 });
  const surface = createGraphql({
    schema,
    authenticate: async ({ req }) => callerOf(req.headers.authorization!),
    recheckCaller: async (_exchange, caller) => caller,
    meter: async (_exchange, _caller, more) => {
      points += more;
    },
    report: (_exchange, error) => {
      throw error;
    },
    executions: {
      take(...wanted) {
        asked++;
        return executions.take(...wanted);
      },
    },
  });
  server = createServer((req, res) => {
    void surface.handle({ req, res, path: req.url!, search: '', requestId: 'req_1', address: '' });
  }).listen(0);
  url = `http://localhost:${(server.address() as AddressInfo).port}/graphql`;
});
afterAll(() => server.close());
beforeEach(() => {
  [written, introspected, points] = [[], 0, 0];
  waiting.length = 0;
  gate = new Promise((resolve) => {
    proceed = resolve;
  });
  arrived = (count) =>
    new Promise((resolve) => {
      notify = () => waiting.length >= count && resolve();
      notify();
    });
});
afterEach(() => proceed());

async function post(body: unknown, org = 'org_1', more: Record<string, string> = {}) {
  const headers = { authorization: org, 'content-type': 'application/json', ...more };
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
const ask = (query: string, org?: string) => post({ query }, org);

// V8 allocates the getters of an object literal in the old generation, where they would keep the whole request in memory.
test('the budget of a request has no getters', () => {
  const budget = createQueryBudget({} as never, {} as never, { operations: 1 } as never);
  expect(Object.values(Object.getOwnPropertyDescriptors(budget)).filter((member) => member.get)).toEqual([]);
});

describe('Cost of operations', () => {
  test('the cost of a batch is the sum of its operations; if the sum exceeds the maximum, none of the operations is executed', async () => {
    const rows = { query: `{ rows(limit: ${graphql.cost / 4}) { id } }` };
    expect((await post([rows, rows, rows])).body.map(({ data }: { data: unknown }) => data !== undefined)).toEqual([
      true,
      true,
      true,
    ]);
    const write = { query: 'mutation { write(text: "a") }' };
    const { body } = await post([write, rows, rows, rows, rows]);
    const description =
      'The operations of this batch together cost 20005; the maximum is 20000. Ask for fewer rows (limit) or fewer fields.';
    expect(body).toHaveLength(5);
    for (const { data, errors } of body) {
      expect(data).toBe(undefined);
      expect(errors[0].extensions.problem.description).toBe(description);
    }
    expect(written).toEqual([]);
  });

  test('an operation counts as one request of the rate limit for each 1,000 of its cost, rounded up', async () => {
    await ask('{ hello }');
    expect(points).toBe(1);
    await ask('{ rows(limit: 2500) { id } }');
    expect(points).toBe(1 + 3);
    await post([{ query: '{ rows(limit: 2500) { id } }' }, { query: '{ hello }' }]);
    expect(points).toBe(1 + 3 + 3 + 1);
    // A request that is never executed counts as one request.
    await ask('{ nothing }');
    expect(points).toBe(1 + 3 + 3 + 1 + 1);
  });

  test('a repeated introspection query is answered from memory', async () => {
    const query = '{ __schema { types { name description } } }';
    const first = await ask(query);
    expect(introspected).toBe(1);
    expect(await ask(query)).toMatchObject({ status: 200, body: first.body });
    expect(introspected).toBe(1);
    await ask('query ($n: String!) { __type(name: $n) { description } }');
    await post({ query: 'query ($n: String!) { __type(name: $n) { description } }', variables: { n: 'Row' } });
    const other = { query: 'query ($n: String!) { __type(name: $n) { description } }', variables: { n: 'Query' } };
    expect((await post(other)).body.data).toEqual({ __type: { description: null } });
  });
});

describe('Size of answers', () => {
  test('400 · a response over the maximum size is not sent even in part; the error names the size and the maximum', async () => {
    const fits = await ask(`{ text(bytes: ${bytes.graphqlAnswer - 200}) }`);
    expect([fits.status, fits.body.data.text.length]).toEqual([200, bytes.graphqlAnswer - 200]);
    const { status, body } = await ask(`{ text(bytes: ${bytes.graphqlAnswer}) }`);
    expect(status).toBe(400);
    expect(body.data).toBe(undefined);
    expect(body.errors[0].message).toMatch(
      /^The answer has \d+ bytes; the maximum is 8388608\. Ask for fewer rows \(limit\) or fewer fields\.$/,
    );
  });

  test('an unread answer counts against the share of its own organization, and delays no other', async () => {
    const big = JSON.stringify({ query: `{ text(bytes: ${bytes.graphqlAnswer - 200}) }` });
    const unread = await Promise.all(
      [1, 2, 3].map(
        () =>
          new Promise<ReturnType<typeof sendRaw>>((resolve) => {
            const headers = { authorization: 'org_1', 'content-type': 'application/json' };
            const req = sendRaw(url, { method: 'POST', headers }, () => resolve(req)).end(big);
          }),
      ),
    );
    // Each of the three requests holds 8,192 of the share's 32,000 points.
    const another = ask('{ rows(limit: 8000) { id } }');
    expect((await ask('{ rows(limit: 8000) { id } }', 'org_2')).status).toBe(200);
    const first = await Promise.race([another, ask('{ hello }', 'org_2')]);
    expect(first.body.data).toEqual({ hello: 'world' });
    for (const req of unread) req.destroy();
    expect((await another).status).toBe(200);
  });
});

test('503 · operations of a busy organization wait and are then refused, while another organization is served at once', async () => {
  const held = Array.from({ length: 32 }, () => ask('{ held }'));
  await arrived(32);
  // Three of these operations fit into the queue.
  const more = [1, 2, 3, 4].map(() => ask('{ hello }'));
  const refused = await Promise.race(more);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('2');
  expect(refused.body.errors[0].extensions.problem).toEqual({
    category: 'infrastructure',
    title: 'Too busy',
    description: 'Too many operations of this organization are being executed. Try again in 2 s.',
    retryable: true,
    code: 'too_busy',
    retryAfterSeconds: 2,
  });
  expect(await ask('{ hello }', 'org_2')).toMatchObject({ status: 200, body: { data: { hello: 'world' } } });
  proceed();
  const statuses = async (answers: typeof held) => (await Promise.all(answers)).map(({ status }) => status).sort();
  expect(await statuses(held)).toEqual(held.map(() => 200));
  expect(await statuses(more)).toEqual([200, 200, 200, 503]);
});

test('an urgent operation is queued before the others of its organization, even when their queue is full', async () => {
  const held = Array.from({ length: 32 }, () => ask('{ held }'));
  await arrived(32);
  asked = 0;
  const others = [1, 2, 3, 4].map((n) => ask(`mutation { write(text: "${n}") }`));
  expect((await Promise.race(others)).status).toBe(503);
  const urgent = [ask('mutation { beat }'), post([{ query: 'mutation { beat }' }, { query: 'mutation { beat }' }])];
  // In a batch with an operation that is not urgent, the heartbeat is not urgent either.
  expect((await post([{ query: 'mutation { beat }' }, { query: '{ hello }' }])).status).toBe(503);
  await expect.poll(() => asked).toBe(7);
  proceed();
  for (const { status } of await Promise.all([...held, ...urgent])) expect(status).toBe(200);
  await Promise.all(others);
  expect(written.map((text) => text === 'beat')).toEqual([true, true, true, false, false, false]);
});

test('an event of a subscription waits while its organization’s slots and the queue are full', async () => {
  const headers = { authorization: 'org_1', 'content-type': 'application/json', accept: 'text/event-stream' };
  const body = JSON.stringify({ query: 'subscription { changes }' });
  const events = eventsOf(await fetch(url, { method: 'POST', headers, body }));
  expect((await events.next()).value).toMatchObject({ data: { data: { changes: 'begun' } } });
  const held = Array.from({ length: 32 }, () => ask('{ held }'));
  await arrived(32);
  const more = [1, 2, 3, 4].map(() => ask('{ hello }'));
  expect((await Promise.race(more)).status).toBe(503);
  announceChange();
  const changed = events.next();
  expect((await ask('{ hello }', 'org_2')).status).toBe(200);
  proceed();
  expect((await changed).value).toMatchObject({ data: { data: { changes: 'changed' } } });
  await Promise.all([...held, ...more]);
});

test('a subscriber that does not read is disconnected, because it occupies a slot of its organization', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const headers = { authorization: 'org_1', 'content-type': 'application/json', accept: 'text/event-stream' };
  const body = JSON.stringify({ query: 'subscription { texts }' });
  const opened = once(server, 'request');
  const reader = sendRaw(url, { method: 'POST', headers }, (res) => res.pause()).end(body);
  reader.on('error', () => {});
  const [, res] = await opened;
  await expect.poll(() => res.writableNeedDrain).toBe(true);
  vi.advanceTimersByTime(seconds(61));
  vi.useRealTimers();
  await expect.poll(() => res.destroyed).toBe(true);
  reader.destroy();
});

describe('The name "then" in GraphQL, which is special in JavaScript promises', () => {
  test.each([
    ['at a leaf', '{ rows(limit: 1) { then: id } }', '{"rows":[{"then":"0"}]}'],
    ['at the root', '{ then: hello }', '{"then":"world"}'],
    ['at a list', '{ then: rows(limit: 1) { id } }', '{"then":[{"id":"0"}]}'],
  ])('200 · an alias named "then" is answered like any other: %s', async (_title, query, data) => {
    for (let i = 0; i < 3; i++) {
      const { status, body } = await ask(query);
      expect([status, JSON.stringify(body.data)]).toEqual([200, data]);
    }
    expect(JSON.stringify((await post([{ query }])).body[0].data)).toBe(data);
  });

  test.each(['{"then":1}', '{"query":"{ hello }","then":1}'])(
    '400 · a request parameter named "then" is refused as unknown: %s',
    async (text) => {
      const message = 'Unexpected parameter "then" in the request body.';
      const body = JSON.parse(text);
      expect(await post(body)).toMatchObject({ status: 400, body: { errors: [{ message }] } });
      expect((await post([body])).body).toMatchObject([{ errors: [{ message }] }]);
    },
  );

  test('200 · a variable named "then" is used like any other', async () => {
    const query = 'query ($then: Int!) { rows(limit: $then) { id } }';
    const body = JSON.parse(JSON.stringify({ query, variables: { n: 1 } }).replace('"n"', '"then"'));
    expect((await post(body)).body.data).toEqual({ rows: [{ id: '0' }] });
  });
});

describe('Costs in the schema of the service', () => {
  let world: World;
  let token: string;
  beforeAll(async () => {
    world = await openWorld();
    ({ token } = await createOwner(world, 'Alice', 'Acme'));
  });
  afterAll(() => world.close());

  test('a mutation with an Idempotency-Key that waits for a slot of its organization holds no database connection', async () => {
    const held = Array.from({ length: 32 }, () => ask('{ held }'));
    await arrived(32);
    asked = 0;
    const keyed = ['first', 'second', 'third'].map((text) =>
      post({ query: `mutation { write(text: "${text}") }` }, 'org_1', { 'idempotency-key': text }),
    );
    await expect.poll(() => asked).toBe(3);
    const open = `from pg_stat_activity where state = 'idle in transaction' and datname = current_database()`;
    expect((await world.knex.raw(`select query ${open}`)).rows).toEqual([]);
    expect(written).toEqual([]);
    proceed();
    await Promise.all(held);
    for (const { status, body } of await Promise.all(keyed)) expect([status, body.errors]).toEqual([200, undefined]);
    expect(written.sort()).toEqual(['first', 'second', 'third']);
  });

  test('400 · a small batch that requests the whole schema many times is refused before execution', async () => {
    const names = '{ types { name description fields { name description args { name description } } } }';
    const query = `{ ${Array.from({ length: 29 }, (_, i) => `a${i}: __schema ${names}`).join(' ')} }`;
    const body = Array.from({ length: 20 }, () => ({ query }));
    const answer = await world.request('POST', '/graphql', { token, body });
    expect(JSON.stringify(answer.body).length).toBeLessThan(20_000);
    for (const { data, errors } of answer.body) {
      expect(data).toBe(undefined);
      expect(errors[0].message).toContain('The operations of this batch together cost');
    }
  });

  test('a field with long text costs a point per kilobyte', () => {
    const long = /^(prompt|userPrompt|body|content|parameter|result)$/;
    const objects = Object.values(theGraph.getTypeMap()).filter(isObjectType);
    const weights = objects.flatMap((type) =>
      Object.values(type.getFields())
        .filter(({ name, type }) => long.test(name) && getNamedType(type).name === 'String')
        .map(({ name, extensions }) => [`${type.name}.${name}`, complexityOf(extensions)]),
    );
    expect(Object.fromEntries(weights)).toEqual({
      'Agent.userPrompt': 20,
      'AgentVersion.userPrompt': 20,
      'AttemptGroup.prompt': 20,
      'Automation.prompt': 20,
      'CatalogAgent.userPrompt': 20,
      'HostComment.body': 4,
      'ClaimedRun.prompt': 20,
      'Issue.body': 20,
      'IssueComment.body': 8,
      'Review.body': 4,
      'ReviewComment.body': 4,
      'MissionNotice.body': 1,
      'Notice.body': 1,
      'PromptSpan.content': 1_024,
      'RepositoryFile.content': 1_024,
      'Run.prompt': 20,
      'RunAgent.userPrompt': 20,
      'RunFork.prompt': 20,
      'RunPlanItem.content': 1,
      'RunStep.prompt': 20,
      'SandboxLiveFragment.body': 16,
      'SandboxLiveFragment.parameter': 16,
      'SandboxLiveFragment.result': 16,
      'SandboxLog.content': 1_024,
      // The text of a plan step is short, so it costs one point.
      'SandboxPlanItem.content': 1,
      'ScheduledTask.prompt': 20,
      'ScheduledTaskTemplate.prompt': 20,
      'WebhookDelivery.body': 2,
    });
  });
});

const complexityOf = ({ complexity = 1 }: GraphQLFieldExtensions<unknown, unknown>) => complexity;
