// Sends bodies that cannot be read, or that have a wrong size or content type, to /graphql and to each route that takes a body. The response
// is always a 4xx, never a 500, and nothing is written.
import { request as sendRaw } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { bytes } from '#limits.ts';
import { createOwner } from './support/callers.ts';
import { unchangedRows } from './support/database-rows.ts';
import { x } from './support/limit-bounds.ts';
import { bodyRoots, pathOf } from './support/root-fields.ts';
import { type Answer, type Ask, openWorld } from './support/world.ts';

const world = await openWorld();
const { person, organization } = await createOwner(world, 'Alice', 'Acme');
const owner: Ask = { session: await world.session(person, organization.id) };
afterAll(() => world.close());

const checked = (method: string, path: string, ask?: Ask) =>
  path.startsWith('/v1/') ? world.rest(method, path.slice('/v1'.length), ask) : world.request(method, path, ask);

const untouched = unchangedRows(() => world.knex);

/** Bodies that are not JSON objects, or not readable. */
const unreadable: Record<string, string | Uint8Array> = {
  'an empty body': '',
  'white space': ' \n ',
  'a byte order mark alone': '\ufeff',
  null: 'null',
  'a list': '[]',
  'a text': '"name"',
  'a number': '5',
  'a truncated object': '{"name": "x"',
  'an object and more': '{"name": "x"} {}',
  'single quotes': "{'name': 'x'}",
  'a comment': '{/* x */}',
  'not a number': '{"name": NaN}',
  'a bare control character': '{"name": "\u0001"}',
  'bytes that are no UTF-8': Buffer.concat([
    Buffer.from('{"name": "'),
    Buffer.from([0xc3, 0x28, 0xff]),
    Buffer.from('"}'),
  ]),
  'a surrogate in UTF-8': Buffer.concat([
    Buffer.from('{"name": "'),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from('"}'),
  ]),
  'a NUL byte': '\0',
  'a deep list': '['.repeat(30_000),
  'a deep list that ends': `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
  'a deep object': '{"a":'.repeat(40_000),
};
/** Every route that requires a body. The record in its path is irrelevant, because the body is checked first. */
const bodyRoutes = bodyRoots.flatMap(({ route }): [method: string, path: string][] =>
  route?.body?.required
    ? [[route.method, pathOf(route, Object.fromEntries(route.parameters.map((name) => [name, 'none'])))]]
    : [],
);

/** Every sixth route. All routes read their body with the same function, so each body is sent to only a sixth of them. */
const sixth = (n: number) => bodyRoutes.filter((_, i) => (i + n) % 6 === 0);

describe('400 · a body that cannot be read', () => {
  const cases = Object.entries(unreadable).map(([name, body], n) => [name, body, n] as const);
  it.each(cases)('400 · a body that cannot be read is refused: %s', async (_, body, n) => {
    await untouched(async () => {
      for (const [method, path] of sixth(n)) {
        const answer = await checked(method, path, { ...owner, body });
        expect([path, answer.status, answer.body.code]).toEqual([path, 400, 'invalid_request']);
      }
      const graph = await world.request('POST', '/graphql', { ...owner, body });
      // A list is a batch: one response, with a result for each operation.
      const isBatch = Array.isArray(graph.body);
      const { extensions } = (isBatch ? graph.body[0] : graph.body).errors[0];
      expect([graph.status, extensions.code]).toEqual([isBatch ? 200 : 400, 'invalid_request']);
    });
  });

  it.each(
    Object.entries({
      'a deep value': `{"name": ${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
      'an endless number': `{"name": ${'9'.repeat(30_000)}}`,
      'a number beyond all': '{"name": 1e999}',
      'a member named __proto__ alone': '{"__proto__": {"name": "x", "repoFullName": "a/b"}}',
    }),
  )('400 · an object with a value that cannot be read is refused: %s', async (_, body) => {
    await untouched(async () => {
      const answer = await checked('POST', '/v1/projects', { ...owner, body });
      expect([answer.status, answer.body.description]).toEqual([400, expect.stringContaining('name: ')]);
    });
  });
});

describe('a body of the wrong size or kind', () => {
  const megabyte = JSON.stringify({ name: x(1_000_000) });
  const graph = ['POST', '/graphql'] as const;
  const codeOf = ({ body }: Answer) => body.code ?? body.errors[0].extensions.code;

  it('413 · a body of one megabyte is refused if its length is declared', async () => {
    await untouched(async () => {
      for (const [method, path] of [...sixth(0), graph]) {
        const told = await checked(method, path, { ...owner, body: megabyte });
        expect([path, told.status, codeOf(told)]).toEqual([path, 413, 'payload_too_large']);
      }
    });
  });

  it('413 · a body of one megabyte is refused if its length is not declared', async () => {
    await untouched(async () => {
      for (const [method, path] of [...sixth(1), graph]) {
        const { status, body } = await chunked(method, path, megabyte);
        expect([path, status, codeOf({ body } as Answer)]).toEqual([path, 413, 'payload_too_large']);
      }
    });
  });

  it('the largest accepted body is 256 KiB', async () => {
    const full = (size: number) => {
      const body = JSON.stringify({ name: 5, more: '' });
      return body.replace('""', JSON.stringify(x(size - body.length)));
    };
    await untouched(async () => {
      const fits = await checked('POST', '/v1/projects', { ...owner, body: full(bytes.jsonBody) });
      expect([fits.status, fits.body.description]).toEqual([400, expect.stringContaining('name: must be a string')]);
      const beyond = await checked('POST', '/v1/projects', { ...owner, body: full(bytes.jsonBody + 1) });
      expect([beyond.status, beyond.body.description]).toEqual([
        413,
        `The body is limited to ${bytes.jsonBody} bytes.`,
      ]);
    });
  });

  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'json',
  ];
  it.each(types.map((type, n) => [type, n] as const))('415 · a body is refused if its type is %s', async (type, n) => {
    await untouched(async () => {
      for (const [method, path] of [...sixth(n), graph]) {
        const answer = await checked(method, path, {
          ...owner,
          body: '{"name":"x"}',
          headers: { 'content-type': type },
        });
        expect([path, answer.status, codeOf(answer)]).toEqual([path, 415, 'unsupported_media_type']);
      }
    });
  });

  /** Sends a body without a length. The service may respond and close the connection before it has read the whole body. */
  function chunked(method: string, path: string, body: string): Promise<{ status: number; body: Answer['body'] }> {
    const { secret, csrf } = owner.session!;
    const headers = {
      cookie: `session=${secret}`,
      'x-csrf-token': csrf,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    };
    return new Promise((resolve, reject) => {
      const sent = sendRaw(world.url + path, { method, headers }, async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        resolve({ status: response.statusCode!, body: JSON.parse(Buffer.concat(chunks).toString()) });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }
});
