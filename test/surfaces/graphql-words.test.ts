// Results of the GraphQL surface, on a small separate graph that can fail in every way. No database.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createSchema } from 'graphql-yoga';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Caller } from '#access/principal.ts';
import { missingScopes, notFound, tooMany, unauthenticated } from '#foundation/problem.ts';
import { bytes, graphql } from '#limits.ts';
import { createGraphql } from '#surfaces/graphql/surface.ts';

let ended: () => void;

const schema = createSchema({
  typeDefs: /* GraphQL */ `
    type Query {
      hello: String
      teapot: String!
      foreign: String
      broken: String
      away: String
      number: Int
      rows(limit: Int! = 10): Page!
      node: Node!
    }
    type Page { data: [Row!]! nextCursor: String }
    type Row { id: String! children: [Row!]! }
    type Node { node: Node! name: String! }
    type Mutation { write(text: String!): String }
    type Subscription { count(to: Int!): Int fails: Int endless: Int }
  `,
  resolvers: {
    Query: {
      hello: () => 'world',
      teapot: () => {
        throw missingScopes(['projects:read']);
      },
      foreign: () => {
        throw notFound('project');
      },
      broken: () => {
        throw new Error('password is hunter2');
      },
      away: () => {
        throw Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:5432'), { code: 'ECONNREFUSED' });
      },
      number: () => 'eleven',
      rows: (_, { limit }) => ({ data: Array.from({ length: limit }, (_, i) => ({ id: `${i}` })), nextCursor: null }),
      node: () => ({}),
    },
    Node: { node: () => ({}), name: () => 'n' },
    Row: { children: () => [] },
    Mutation: { write: (_, { text }) => text },
    Subscription: {
      count: {
        async *subscribe(_: unknown, { to }: { to: number }) {
          for (let count = 1; count <= to; count++) yield { count };
        },
      },
      endless: {
        async *subscribe() {
          try {
            for (;;) {
              yield { endless: 1 };
              await wait(5);
            }
          } finally {
            ended();
          }
        },
      },
      fails: {
        // biome-ignore lint/correctness/useYield: it fails before
        async *subscribe() {
          throw new Error('password is hunter2');
        },
      },
    },
  },
});

// The exposure that every field of the real graph declares; without it nothing can be subscribed to.
for (const field of Object.values(schema.getSubscriptionType()!.getFields())) {
  field.extensions = { exposure: { scope: 'any-caller' } };
}

const person: Caller = {
  principalType: 'user',
  credentialId: 'tok_1',
  userId: 'usr_1',
  orgId: 'org_1',
  role: 'owner',
  scopes: new Set(),
  projectId: null,
};
const unclaimed: Caller = { ...person, principalType: 'agent', userId: null, orgId: null, role: null };

let server: Server;
let url: string;
let reported: unknown[] = [];
let counted = 0;

beforeAll(async () => {
  const surface = createGraphql({
    schema,
    authenticate: async ({ req }) => {
      if (req.headers.authorization === 'Bearer person') return person;
      if (req.headers.authorization === 'Bearer agent') return unclaimed;
      throw unauthenticated('A bearer token is required.', { headers: { 'www-authenticate': 'Bearer' } });
    },
    recheckCaller: async (_exchange, caller) => caller,
    meter: async (_exchange, _caller, operations) => {
      if (operations === 12) throw tooMany(7);
      counted += operations;
    },
    report: (_exchange, error) => void reported.push(error),
  });
  server = createServer((req, res) => {
    const [path, search = ''] = req.url!.split('?') as [string, string?];
    res.setHeader('x-request-id', 'req_1');
    void surface.handle({ req, res, path, search, requestId: 'req_1', address: '' });
  }).listen(0);
  url = `http://localhost:${(server.address() as AddressInfo).port}/graphql`;
});
afterAll(() => server.close());
beforeEach(() => {
  reported = [];
  counted = 0;
});

const strict = { accept: 'application/graphql-response+json' };

function post(body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const standard = { authorization: 'Bearer person', 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', body: text as string, headers: { ...standard, ...headers } });
}
async function ask(query: string, variables?: object, headers?: Record<string, string>) {
  const response = await post({ query, variables }, headers);
  return { status: response.status, body: await response.json() };
}
const invalidRequest = (description: string) => ({
  code: 'invalid_request',
  problem: { category: 'validation', title: 'Invalid request', description, retryable: false, code: 'invalid_request' },
});
const refusal = (description: string) => ({
  errors: [{ message: description, extensions: invalidRequest(description) }],
});
const cost = (requested: number) => ({ cost: { requested, maximum: graphql.cost } });

test('200 · an answer carries its cost, keeps the request id and is not stored', async () => {
  const response = await post({ query: '{ hello }' });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.headers.get('x-request-id')).toBe('req_1');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual({ data: { hello: 'world' }, extensions: cost(1) });
  expect(counted).toBe(1);
});

test('200 · a problem is under extensions.problem, alongside the remaining data', async () => {
  const { status, body } = await ask('{ hello foreign }', undefined, strict);
  expect(status).toBe(200);
  expect(body).toEqual({
    data: { hello: 'world', foreign: null },
    errors: [
      {
        message: 'No such project.',
        path: ['foreign'],
        locations: [{ line: 1, column: 9 }],
        extensions: {
          code: 'not_found',
          problem: {
            category: 'validation',
            title: 'Not found',
            description: 'No such project.',
            retryable: false,
            code: 'not_found',
          },
        },
      },
    ],
    extensions: cost(2),
  });
  expect(reported).toEqual([]);
});

test('200 · a problem of a non-null field leaves data null', async () => {
  const { status, body } = await ask('{ teapot }', undefined, strict);
  expect(status).toBe(200);
  expect(body.data).toBe(null);
  expect(body.errors[0].extensions.code).toBe('missing_scope');
  expect(body.errors[0].message).toContain('missing-scope:projects:read');
});

test('an unexpected error is answered without internal details and reported once', async () => {
  const { status, body } = await ask('{ hello broken }');
  expect(status).toBe(200);
  const description = 'The service failed to answer. Report the request id.';
  expect(body).toEqual({
    data: { hello: 'world', broken: null },
    errors: [
      {
        message: description,
        path: ['broken'],
        locations: [{ line: 1, column: 9 }],
        extensions: {
          code: 'internal',
          problem: { category: 'unknown', title: 'Internal error', description, retryable: false, code: 'internal' },
        },
      },
    ],
    extensions: cost(2),
  });
  expect(reported).toHaveLength(1);
  expect(String(reported[0])).toContain('hunter2');
});

test('an unavailable database is reported as temporarily unavailable', async () => {
  const { body } = await ask('{ away }');
  expect(body.errors[0].extensions.code).toBe('unavailable');
  expect(body.errors[0].extensions.problem.retryable).toBe(true);
  expect(JSON.stringify(body)).not.toContain('10.1.2.3');
  expect(reported).toHaveLength(1);
});

test('a value of the service that does not fit its type is an internal error, not the caller’s', async () => {
  const { body } = await ask('{ number }');
  expect(body.errors[0].extensions.code).toBe('internal');
  expect(JSON.stringify(body)).not.toContain('eleven');
  expect(reported).toHaveLength(1);
});

test('null for a non-null argument is the caller’s error, found before execution', async () => {
  const { status, body } = await ask('query ($n: Int) { rows(limit: $n) { nextCursor } }', { n: null }, strict);
  expect(status).toBe(400);
  expect(body.errors[0].extensions.code).toBe('invalid_request');
  expect(body.errors[0].message).toContain('"limit"');
  expect(body.data).toBe(undefined);
  expect(reported).toEqual([]);
});

test('401 · a request without a credential is refused in a GraphQL body, with the challenge', async () => {
  const response = await post({ query: '{ hello }' }, { authorization: '' });
  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const description = 'A bearer token is required.';
  expect(await response.json()).toEqual({
    errors: [
      {
        message: description,
        extensions: {
          code: 'unauthenticated',
          problem: {
            category: 'auth',
            title: 'Unauthenticated',
            description,
            retryable: false,
            code: 'unauthenticated',
          },
        },
      },
    ],
  });
});

test.each([
  ['400 · a body that is not JSON', '{"query":', 'The body is not valid JSON.'],
  ['400 · a body that is not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'The body is not valid UTF-8.'],
  ['400 · an empty body', '', 'The body must be a JSON object or an array of them.'],
  ['400 · a body that is null', 'null', 'The body must be a JSON object or an array of them.'],
  ['400 · an empty batch', '[]', 'A batch has 1 to 20 operations; this one has 0.'],
  ['400 · no query', '{}', 'Must provide query string.'],
  [
    '400 · an unknown parameter',
    '{"query":"{ hello }","qeury":1}',
    'Unexpected parameter "qeury" in the request body.',
  ],
])('%s', async (_title, body, description) => {
  const response = await post(body, strict);
  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toBe('application/graphql-response+json; charset=utf-8');
  expect(await response.json()).toEqual(refusal(description));
  expect(counted).toBe(1);
  expect(reported).toEqual([]);
});

test('413 · a body one byte over the limit is refused', async () => {
  const padded = (size: number) => JSON.stringify({ query: '{ hello }' }).padEnd(size, ' ');
  expect((await post(padded(bytes.graphqlBody))).status).toBe(200);
  const response = await post(padded(bytes.graphqlBody + 1));
  expect(response.status).toBe(413);
  expect((await response.json()).errors[0].extensions.code).toBe('payload_too_large');
});

test('415 · rejects forms, text and content without a type, which a foreign page can send without a preflight', async () => {
  for (const type of [
    'application/x-www-form-urlencoded',
    'text/plain',
    'multipart/form-data',
    'application/graphql',
    '',
  ]) {
    const response = await post('{"query":"{ hello }"}', { 'content-type': type });
    expect([type, response.status]).toEqual([type, 415]);
    expect((await response.json()).errors[0].extensions.code).toBe('unsupported_media_type');
  }
});

test('405 · another method and a mutation by GET are refused', async () => {
  const put = await fetch(url, { method: 'PUT', headers: { authorization: 'Bearer person' } });
  expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST']);
  expect((await put.json()).errors[0].extensions.code).toBe('method_not_allowed');

  const query = encodeURIComponent('mutation { write(text: "x") }');
  const get = await fetch(`${url}?query=${query}`, { headers: { authorization: 'Bearer person' } });
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  const body = await get.json();
  expect(body.data).toBe(undefined);
  expect(body.errors[0].message).toBe('Can only perform a mutation operation from a POST request.');
  expect(body.errors[0].extensions.problem.code).toBe('method_not_allowed');
});

test('406 · a mutation is not executed when its result could not be returned', async () => {
  const response = await post({ query: 'mutation { write(text: "x") }' }, { accept: 'application/xml' });
  expect(response.status).toBe(406);
  expect((await response.json()).errors[0].extensions.code).toBe('not_acceptable');
  expect(counted).toBe(0);
});

test('200 · a media type is accepted with its parameters', async () => {
  const response = await post({ query: '{ hello }' }, { accept: 'text/html, application/json;charset=latin1;q=0.1' });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
});

const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

test.each([
  ['entries that are not operations', [null, 1, [], { query: '{ hello }', variables: [] }]],
  ['an operation name that the document does not have', { query: '{ hello }', operationName: 'Other' }],
  ['two operations without an operation name', { query: 'query A { hello } query B { hello }' }],
  ['fragments that spread each other', { query: '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }' }],
  ['an unknown fragment', { query: '{ ...a }' }],
  ['deeply nested lists', { query: `{ rows(limit: ${nested('[', ']', 990)}) { nextCursor } }` }],
  ['deeply nested selections', { query: `${'{ node '.repeat(990)}{ name }${' }'.repeat(990)}` }],
  [
    'deeply nested fields of introspection',
    { query: `{ __schema ${'{ types { fields { type '.repeat(99)}{ name }${' } } }'.repeat(99)} }` },
  ],
  [
    'a variable too deep for its type',
    `{"query":"query ($n: Int!) { rows(limit: $n) { nextCursor } }","variables":{"n":${nested('[', ']', 100_000)}}}`,
  ],
  [
    'a variable named __proto__',
    '{"query":"query ($__proto__: Int!) { rows(limit: $__proto__) { nextCursor } }","variables":{"__proto__":"x"}}',
  ],
  ['a limit beyond the range of Int', { query: '{ rows(limit: 99999999999) { nextCursor } }' }],
  ['a limit far below 0', { query: '{ rows(limit: -2147483648) { nextCursor } }' }],
  ['a lone surrogate', '{"query":"{ hello }\\ud800"}'],
  ['a document without an operation', { query: 'fragment a on Query { hello }' }],
  ['type definitions', { query: 'type A { b: String }' }],
  ['only white space', { query: '  ' }],
])('4xx · a request is refused with %s', async (_title, body) => {
  const response = await post(body, strict);
  const results = [await response.json()].flat();
  for (const { errors } of results) {
    const codes = (errors ?? []).map(({ extensions }: { extensions: { code: string } }) => extensions.code);
    expect(codes).not.toContain('internal');
  }
  expect(response.status).toBeLessThan(500);
  expect(reported).toEqual([]);
});

test('200 · a query is executed by GET, with variables as JSON', async () => {
  const search = new URLSearchParams({
    query: 'query Rows($n: Int!) { rows(limit: $n) { data { id } } }',
    operationName: 'Rows',
    variables: '{"n":1}',
  });
  const response = await fetch(`${url}?${search}`, { headers: { authorization: 'Bearer person' } });
  expect(await response.json()).toEqual({ data: { rows: { data: [{ id: '0' }] } }, extensions: cost(3) });
  const broken = await fetch(`${url}?query={hello}&variables={`, { headers: { authorization: 'Bearer person' } });
  const { errors } = await broken.json();
  expect([broken.status, errors[0].extensions.problem]).toEqual([
    400,
    {
      ...invalidRequest('variables: must be JSON.').problem,
      fields: [{ path: 'variables', message: 'must be JSON' }],
    },
  ]);
});

test('a malformed Host header is ignored', async () => {
  const { request } = await import('node:http');
  const status = await new Promise((resolve) => {
    const headers = { host: 'a b%%', authorization: 'Bearer person' };
    request(`${url}?query=%7Bhello%7D`, { headers }, (response) => resolve(response.resume().statusCode)).end();
  });
  expect(status).toBe(200);
});

test('each operation of a batch is answered separately, in order, and counts once', async () => {
  const response = await post([
    { query: '{ hello }' },
    { query: '{ foreign }' },
    { query: '{' },
    { query: '{ broken }' },
  ]);
  expect(response.status).toBe(200);
  const results = (await response.json()) as { data?: unknown; errors?: { extensions: { code: string } }[] }[];
  expect(results.map(({ data, errors }) => [data, errors?.[0]?.extensions.code])).toEqual([
    [{ hello: 'world' }, undefined],
    [{ foreign: null }, 'not_found'],
    [undefined, 'invalid_request'],
    [{ broken: null }, 'internal'],
  ]);
  expect(counted).toBe(4);
  expect(reported).toHaveLength(1);
});

test('400 · a batch with one operation too many is refused before execution', async () => {
  const batch = (size: number) => Array.from({ length: size }, () => ({ query: '{ hello }' }));
  expect((await post(batch(graphql.operationsPerBatch))).status).toBe(200);
  const response = await post(batch(graphql.operationsPerBatch + 1));
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual(refusal('A batch has 1 to 20 operations; this one has 21.'));
  expect(counted).toBe(20 + 1);
});

test('429 · a batch beyond the rate says when to retry', async () => {
  const response = await post(Array.from({ length: 13 }, () => ({ query: '{ hello }' })));
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('7');
  expect((await response.json()).errors[0].extensions.problem.retryable).toBe(true);
});

test('fields below a list count once for each row that its limit allows; the limit of a page applies to its data', async () => {
  expect((await ask('{ rows(limit: 5) { nextCursor data { id } } }')).body.extensions).toEqual(
    cost(1 + 5 * (1 + 1 + 1)),
  );
  // A list without a limit counts as ten.
  const nested = '{ rows(limit: 5) { data { children { id } } } }';
  expect((await ask(nested)).body.extensions).toEqual(cost(1 + 5 * (1 + (1 + 10 * 1))));
});

test('an operation over the maximum is refused before execution, naming its cost and the maximum', async () => {
  const query = 'query ($n: Int!) { rows(limit: $n) { data { id } } }';
  expect((await ask(query, { n: 9_999 }, strict)).body.extensions).toEqual(cost(19_999));
  const { status, body } = await ask(query, { n: 10_000 }, strict);
  expect(status).toBe(400);
  const description = 'This operation costs 20001; the maximum is 20000. Ask for fewer rows (limit) or fewer fields.';
  expect(body).toEqual({ ...refusal(description), extensions: cost(20_001) });
  expect((await ask(query, { n: 10_000 })).status).toBe(200);
});

test('the cost of a document is that of the selected operation', async () => {
  const query = 'query A { hello } query B { rows(limit: 100) { data { ...f } } } fragment f on Row { id }';
  const answers = await Promise.all(
    ['A', 'B'].map(
      async (operationName) => (await post({ query, operationName })).json() as Promise<{ extensions: unknown }>,
    ),
  );
  expect(answers.map(({ extensions }) => extensions)).toEqual([cost(1), cost(201)]);
});

const nodes = (depth: number) => `${'{ node '.repeat(depth - 1)}{ name }${' }'.repeat(depth - 1)}`;
const repeated = (n: number, text: (i: number) => string) => Array.from({ length: n }, (_, i) => text(i)).join(' ');

test.each([
  ['depth', nodes(graphql.depth), nodes(graphql.depth + 1), 'Query depth limit of 12 exceeded, found 13.'],
  [
    'aliases',
    `{ ${repeated(graphql.aliases, (i) => `a${i}: hello`)} }`,
    `{ ${repeated(graphql.aliases + 1, (i) => `a${i}: hello`)} }`,
    'Aliases limit of 30 exceeded, found 31.',
  ],
  [
    'directives',
    `{ hello ${repeated(graphql.directives, () => '@x')} }`,
    `{ hello ${repeated(graphql.directives + 1, () => '@x')} }`,
    'Directives limit of 50 exceeded, found 51.',
  ],
  [
    'tokens',
    `{ ${repeated(graphql.tokens - 2, () => 'hello')} }`,
    `{ ${repeated(graphql.tokens - 1, () => 'hello')} }`,
    'Syntax Error: Token limit of 2000 exceeded.',
  ],
])(
  '%s · an operation at the bound is executed; one beyond it is refused, and the error names the bound',
  async (_title, within, beyond, sentence) => {
    const messages = async (query: string) =>
      ((await ask(query, undefined, strict)).body.errors ?? []).map(({ message }: { message: string }) => message);
    expect((await messages(within)).filter((message: string) => /limit/i.test(message))).toEqual([]);
    expect(await messages(beyond)).toContain(sentence);
    expect((await ask(beyond, undefined, strict)).status).toBe(400);
  },
);

test('a fragment counts with the depth of its content, even inside another fragment', async () => {
  const query = `{ ...a } fragment a on Query { node { ...b } } fragment b on Node ${nodes(graphql.depth)}`;
  expect((await ask(query)).body.errors[0].message).toBe('Query depth limit of 12 exceeded, found 13.');
});

test('an unclaimed agent may query, but not introspect or learn names from suggestions', async () => {
  const agent = { authorization: 'Bearer agent' };
  expect((await ask('{ hello }', undefined, agent)).body.data).toEqual({ hello: 'world' });
  for (const query of ['{ __schema { queryType { name } } }', '{ __type(name: "Row") { name } }']) {
    const { status, body } = await ask(query, undefined, { ...agent, ...strict });
    expect(status).toBe(403);
    expect(body.errors[0].extensions.code).toBe('agent_not_claimed');
    expect((await ask(query)).body.errors).toBe(undefined);
  }
  expect((await ask('{ helo }', undefined, agent)).body.errors[0].message).toBe(
    'Cannot query field "helo" on type "Query".',
  );
  expect((await ask('{ helo }')).body.errors[0].message).toContain('Did you mean "hello"?');
  expect((await fetch(`${url}/schema.graphql`, { headers: agent })).status).toBe(403);
});

test('GET /graphql/schema.graphql is the schema as text, for callers who may introspect', async () => {
  const response = await fetch(`${url}/schema.graphql`, { headers: { authorization: 'Bearer person' } });
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await response.text()).toContain('type Page {\n  data: [Row!]!');
  expect((await fetch(`${url}/schema.graphql`)).status).toBe(401);
  expect((await fetch(`${url}/other`)).status).toBe(404);
});

test('a subscription is sent as server-sent events, with its cost; a failing one shows no internal details', async () => {
  const events = await post({ query: 'subscription { count(to: 2) }' }, { accept: 'text/event-stream' });
  expect(events.headers.get('content-type')).toBe('text/event-stream');
  const data = (text: string) => [...text.matchAll(/^data: (.+)$/gm)].map((match) => JSON.parse(match[1]!));
  expect(data(await events.text())).toEqual([1, 2].map((count) => ({ data: { count }, extensions: cost(1) })));

  const failing = await (await post({ query: 'subscription { fails }' }, { accept: 'text/event-stream' })).text();
  expect(data(failing)[0].errors[0].extensions.code).toBe('internal');
  expect(failing).not.toContain('hunter2');
});

test('400 · a subscription in a batch, or without accepted events, is not started', async () => {
  const one = { query: 'subscription { count(to: 2) }' };
  const sentence = 'A subscription is answered as text/event-stream: accept that, and send it outside a batch.';
  const alone = await post(one, strict);
  expect([alone.status, await alone.json()]).toEqual([400, refusal(sentence)]);
  const batch = await post([one, { query: '{ hello }' }]);
  expect(await batch.json()).toEqual([refusal(sentence), { data: { hello: 'world' }, extensions: cost(1) }]);
});

test('a subscription ends when its reader disconnects', async () => {
  const over = new Promise<void>((resolve) => (ended = resolve));
  const leaving = new AbortController();
  const { body } = await fetch(url, {
    method: 'POST',
    body: '{"query":"subscription { endless }"}',
    headers: { authorization: 'Bearer person', 'content-type': 'application/json', accept: 'text/event-stream' },
    signal: leaving.signal,
  });
  await body!.getReader().read();
  leaving.abort();
  await over;
  expect(reported).toEqual([]);
});
