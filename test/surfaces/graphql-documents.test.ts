// Limits of GraphQL documents: their depth and size, the operations of a batch, and the cost of an operation, on a small separate graph.
import { afterAll, beforeEach, expect, test } from 'vitest';
import { graphql } from '#limits.ts';
import { cost, openSmallGraph, refusal, strict } from '../support/small-graph.ts';

const { reported, metered, post, ask, close, reset } = await openSmallGraph();
afterAll(close);
beforeEach(reset);

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
])('4xx · a GraphQL request is refused with %s', async (_title, body) => {
  const response = await post(body, strict);
  const results = [await response.json()].flat();
  for (const { errors } of results) {
    const codes = (errors ?? []).map(({ extensions }: { extensions: { code: string } }) => extensions.code);
    expect(codes).not.toContain('internal');
  }
  expect(response.status).toBeLessThan(500);
  expect(reported).toEqual([]);
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
  expect(metered.operations).toBe(4);
  expect(reported).toHaveLength(1);
});

test('400 · a batch with one operation too many is refused before execution', async () => {
  const batch = (size: number) => Array.from({ length: size }, () => ({ query: '{ hello }' }));
  expect((await post(batch(graphql.operationsPerBatch))).status).toBe(200);
  const response = await post(batch(graphql.operationsPerBatch + 1));
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual(refusal('A batch can have 1 to 20 operations; this one has 21.'));
  expect(metered.operations).toBe(20 + 1);
});

test('429 · a batch beyond the rate says when to retry', async () => {
  const response = await post(Array.from({ length: 13 }, () => ({ query: '{ hello }' })));
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('7');
  expect((await response.json()).errors[0].extensions.problem.retryable).toBe(true);
});

test('fields below a list count once for each row that its limit allows, or ten times without a limit', async () => {
  expect((await ask('{ rows(limit: 5) { nextCursor data { id } } }')).body.extensions).toEqual(
    cost(1 + 5 * (1 + 1 + 1)),
  );
  // A list without a limit has the cost of ten rows.
  const nested = '{ rows(limit: 5) { data { children { id } } } }';
  expect((await ask(nested)).body.extensions).toEqual(cost(1 + 5 * (1 + (1 + 10 * 1))));
});

test('an operation over the maximum cost is refused before execution, with its cost and the maximum', async () => {
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
  '%s · an operation at the limit is executed; one beyond it is refused with an error that names the limit',
  async (_title, within, beyond, sentence) => {
    const messages = async (query: string) =>
      ((await ask(query, undefined, strict)).body.errors ?? []).map(({ message }: { message: string }) => message);
    expect((await messages(within)).filter((message: string) => /limit/i.test(message))).toEqual([]);
    expect(await messages(beyond)).toContain(sentence);
    expect((await ask(beyond, undefined, strict)).status).toBe(400);
  },
);

test('the content of a fragment counts towards the depth limit, even inside another fragment', async () => {
  const query = `{ ...a } fragment a on Query { node { ...b } } fragment b on Node ${nodes(graphql.depth)}`;
  expect((await ask(query)).body.errors[0].message).toBe('Query depth limit of 12 exceeded, found 13.');
});
