// Responses of the GraphQL surface: data, problems and errors, refused requests, and subscriptions, on a small separate graph.
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { registers } from '#foundation/metrics.ts';
import { bytes } from '#limits.ts';
import { cost, invalidRequest, openSmallGraph, refusal, strict } from '../support/small-graph.ts';

const { endless, fragile, url, reported, metered, post, ask, close, reset } = await openSmallGraph();
afterAll(close);
beforeEach(reset);

test('200 · a GraphQL answer carries its cost, keeps the request id, and forbids caching', async () => {
  const response = await post({ query: '{ hello }' });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.headers.get('x-request-id')).toBe('req_1');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual({ data: { hello: 'world' }, extensions: cost(1) });
  expect(metered.operations).toBe(1);
});

test('200 · a GraphQL problem is in extensions.problem, beside the data of the other fields', async () => {
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

test('200 · a problem in a non-null field makes data null', async () => {
  const { status, body } = await ask('{ teapot }', undefined, strict);
  expect(status).toBe(200);
  expect(body.data).toBe(null);
  expect(body.errors[0].extensions.code).toBe('missing_scope');
  expect(body.errors[0].message).toContain('missing-scope:projects:read');
});

test('an unexpected error is answered without internal details, and reported once', async () => {
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

test('an unavailable database is answered as a temporary failure, without its address', async () => {
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

describe('a known query whose plan fails', () => {
  const failures = () => registers[0]!.getSingleMetricAsString('graphql_plan_failures_total');
  const count = async (expected: boolean) =>
    Number((await failures()).match(`{expected="${expected}"} (\\d+)`)?.[1] ?? 0);
  const counts = async () => ({ expected: await count(true), unexpected: await count(false) });
  const query = 'query ($n: Int) { fragile rows(limit: $n) { nextCursor } }';
  const data = { fragile: null, rows: { nextCursor: null } };

  test('a known query is answered by yoga, counted as unexpected and reported if the preparation of its plan fails', async () => {
    const before = await counts();
    await ask(query, { n: 1 });
    const error = new Error('no price');
    fragile.error = error;
    expect((await ask(query, { n: 1 })).body.data).toEqual(data);
    expect(await counts()).toEqual({ ...before, unexpected: before.unexpected + 1 });
    expect(reported).toEqual([error]);
  });

  test('a failed plan is not counted if the query itself is wrong', async () => {
    const before = await counts();
    const other = `${query} # another text`;
    await ask(other, { n: 1 });
    expect((await ask(other, { n: null })).body.errors[0].extensions.code).toBe('invalid_request');
    expect(await counts()).toEqual(before);
    expect(reported).toEqual([]);
  });

  test('a failed plan is counted as expected, and not reported, if its execution meets a problem', async () => {
    const before = await counts();
    for (const _ of [1, 2]) expect((await ask('{ known: foreign }')).body.data).toEqual({ known: null });
    expect(await counts()).toEqual({ ...before, expected: before.expected + 1 });
    expect(reported).toEqual([]);
  });
});

test('401 · a GraphQL request without a credential gets a GraphQL response with the error, and a WWW-Authenticate challenge', async () => {
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
  ['a body that is not JSON', '{"query":', 'The body is not valid JSON.'],
  ['a body that is not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'The body is not valid UTF-8.'],
  ['an empty body', '', 'The body must be a JSON object or an array of them.'],
  ['a body that is null', 'null', 'The body must be a JSON object or an array of them.'],
  ['an empty batch', '[]', 'A batch can have 1 to 20 operations; this one has 0.'],
  ['a missing query', '{}', 'Must provide query string.'],
  ['an unknown parameter', '{"query":"{ hello }","qeury":1}', 'Unexpected parameter "qeury" in the request body.'],
])('400 · a GraphQL request is refused for %s', async (_title, body, description) => {
  const response = await post(body, strict);
  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toBe('application/graphql-response+json; charset=utf-8');
  expect(await response.json()).toEqual(refusal(description));
  expect(metered.operations).toBe(1);
  expect(reported).toEqual([]);
});

test('413 · a GraphQL body one byte over the limit is refused', async () => {
  const padded = (size: number) => JSON.stringify({ query: '{ hello }' }).padEnd(size, ' ');
  expect((await post(padded(bytes.graphqlBody))).status).toBe(200);
  const response = await post(padded(bytes.graphqlBody + 1));
  expect(response.status).toBe(413);
  expect((await response.json()).errors[0].extensions.code).toBe('payload_too_large');
});

test('415 · forms, plain text and bodies without a type are refused, because another site’s page can send them without a preflight', async () => {
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

test('405 · methods other than GET and POST are refused, and so is a mutation by GET', async () => {
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

test('406 · a mutation is not executed when the caller accepts none of the media types of its result', async () => {
  const response = await post({ query: 'mutation { write(text: "x") }' }, { accept: 'application/xml' });
  expect(response.status).toBe(406);
  expect((await response.json()).errors[0].extensions.code).toBe('not_acceptable');
  expect(metered.operations).toBe(0);
});

test('200 · parameters of an accepted media type are ignored', async () => {
  const response = await post({ query: '{ hello }' }, { accept: 'text/html, application/json;charset=latin1;q=0.1' });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
});

test('200 · a query is executed by GET, with variables as JSON; invalid variables get 400', async () => {
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

test('a GraphQL request with a malformed Host header is answered', async () => {
  const { request } = await import('node:http');
  const status = await new Promise((resolve) => {
    const headers = { host: 'a b%%', authorization: 'Bearer person' };
    request(`${url}?query=%7Bhello%7D`, { headers }, (response) => resolve(response.resume().statusCode)).end();
  });
  expect(status).toBe(200);
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

test('events of a subscription carry its cost; a failing subscription shows no internal details', async () => {
  const events = await post({ query: 'subscription { count(to: 2) }' }, { accept: 'text/event-stream' });
  expect(events.headers.get('content-type')).toBe('text/event-stream');
  const data = (text: string) => [...text.matchAll(/^data: (.+)$/gm)].map((match) => JSON.parse(match[1]!));
  expect(data(await events.text())).toEqual([1, 2].map((count) => ({ data: { count }, extensions: cost(1) })));

  const failing = await (await post({ query: 'subscription { fails }' }, { accept: 'text/event-stream' })).text();
  expect(data(failing)[0].errors[0].extensions.code).toBe('internal');
  expect(failing).not.toContain('hunter2');
});

test('400 · a subscription is not started in a batch, nor for a caller that does not accept text/event-stream', async () => {
  const one = { query: 'subscription { count(to: 2) }' };
  const sentence =
    'A subscription is answered as text/event-stream: accept this media type, and do not send the subscription in a batch.';
  const alone = await post(one, strict);
  expect([alone.status, await alone.json()]).toEqual([400, refusal(sentence)]);
  const batch = await post([one, { query: '{ hello }' }]);
  expect(await batch.json()).toEqual([refusal(sentence), { data: { hello: 'world' }, extensions: cost(1) }]);
});

test('a subscription ends when its reader disconnects', async () => {
  const over = new Promise<void>((resolve) => (endless.ended = resolve));
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
