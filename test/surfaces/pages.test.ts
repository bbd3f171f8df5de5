// GraphiQL and the API reference: pages that work without any other server and without a credential.
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problemCodes } from '#foundation/problem-codes.ts';
import { schema } from '#schema.ts';
import { exampleQueries } from '#surfaces/graphql/example-queries.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

interface Raw {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** A response as on the wire: fetch would decompress it. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const asked = request(world.url + path, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    asked.on('error', reject).end();
  });
}

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-encoding': 'gzip, deflate, br' };

describe.each([
  ['GraphiQL', '/graphql', "style-src 'self' 'unsafe-inline'"],
  ['the API reference', '/reference', "style-src 'self'"],
])('The page of %s', (_name, path, styles) => {
  /** URLs that the page loads: those in attributes that a browser, or the page's start script, follows. */
  async function loaded(): Promise<string[]> {
    // Links are followed by a person, not loaded by the browser.
    const html = (await get(path, { accept: browser.accept })).body.toString().replace(/<a [^>]*>/g, '');
    return [...html.matchAll(/\b(?:src|href|data-[\w-]+)="([^"]+)"/g)]
      .map((match) => match[1]!)
      .filter((address) => address !== 'data:,' && !address.endsWith('.md'));
  }

  test('the policy of the page allows only files of the service', async () => {
    const { status, headers, body } = await get(path, browser);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['x-content-type-options']).toBe('nosniff');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain(styles);
    expect(policy).not.toMatch(/https?:|unsafe-eval|\*/);
    // The page has no inline script, because its policy would not run it.
    expect(body.toString()).not.toMatch(/<script(?![^>]* src=)|\son\w+=|javascript:/);
  });

  test('the page loads only files of the service, each compressed and cached for a year', async () => {
    const addresses = await loaded();
    expect(addresses.length).toBeGreaterThanOrEqual(3);
    for (const address of addresses) {
      expect(address).toMatch(new RegExp(`^${path}/[\\w./-]+\\?v=[\\w-]{16}$`));
      const { status, headers, body } = await get(address, browser);
      expect([address, status]).toEqual([address, 200]);
      expect(headers['content-encoding']).toBe('gzip');
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers['content-type']).toMatch(/^(text\/(javascript|css); charset=utf-8|image\/svg\+xml)$/);
      expect(Number(headers['content-length'])).toBe(body.length);

      const again = await get(address, { 'if-none-match': String(headers.etag) });
      expect([again.status, again.body.length]).toEqual([304, 0]);
      const unpacked = await get(address, { 'accept-encoding': 'gzip;q=0' });
      expect(unpacked.headers['content-encoding']).toBe(undefined);
      expect(unpacked.body.equals(gunzipSync(body))).toBe(true);
      expect((await get(address.split('?')[0]!, browser)).headers['cache-control']).toBe('public, no-cache');
    }
  });

  test('files of the page load nothing from other hosts', async () => {
    for (const address of await loaded()) {
      const text = gunzipSync((await get(address, browser)).body).toString();
      const foreign = address.includes('.css')
        ? /@import|url\((?!\s*["']?(?:data:|#))/
        : /(?:import|importScripts|fetch|Worker|EventSource|WebSocket)\(\s*["'`](?:https?:|wss?:)?\/\//;
      expect([address, foreign.exec(text)?.[0]]).toEqual([address, undefined]);
    }
  });

  test('404 · no files are served except those of the page', async () => {
    for (const name of [
      'nothing.js',
      '../package.json',
      '%2e%2e/package.json',
      '',
      'start.js/x',
      '__proto__',
      'constructor',
    ]) {
      const asked = await get(`${path}/${name}`, browser);
      expect([name, asked.status]).toEqual([name, 404]);
    }
  });
});

test('GraphiQL is sent only to requests that accept HTML', async () => {
  expect((await get('/graphql', { accept: 'application/json' })).status).toBe(401);
  expect((await get('/graphql')).status).toBe(401);
});

test('scripts of GraphiQL and the API reference store no token', async () => {
  expect((await get('/graphql/page/start.js')).body.toString()).toContain('shouldPersistHeaders: false');
  expect((await get('/reference/reference.js')).body.toString()).not.toMatch(/Storage|cookie/);
});

test('the API reference has each operation, webhook and record; the page is sent compressed, and not sent again while it is unchanged', async () => {
  const plain = await get('/reference', { ...browser, 'accept-encoding': 'identity' });
  const text = plain.body.toString();
  const { paths, webhooks, components } = JSON.parse((await get('/v1/openapi.json')).body.toString());
  for (const { post } of Object.values(webhooks as Record<string, Record<string, { operationId: string }>>))
    expect(text).toContain(`<article id="${post!.operationId}"`);
  const ids = Object.values(paths as Record<string, object>).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  for (const id of ids) expect(text).toContain(`<a href="#${id}"><span class="method`);
  const anchors = [...text.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]!);
  for (const anchor of new Set(anchors)) expect(text).toContain(` id="${anchor}"`);
  for (const name of Object.keys(components.schemas)) expect(text).toContain(`<article id="${name}"`);
  expect(text).not.toMatch(/undefined|\[object/);
  const packed = await get('/reference', browser);
  expect(packed.headers['content-encoding']).toBe('gzip');
  expect(packed.body.length).toBeLessThan(120_000);
  const again = await get('/reference', { ...browser, 'if-none-match': String(packed.headers.etag) });
  expect(again.status).toBe(304);
});

test('every error code has an anchor in the index of errors, and an error response links to its own', async () => {
  const page = (await get('/reference/errors')).body.toString();
  const markdown = (await get('/reference/errors.md')).body.toString();
  for (const code of Object.keys(problemCodes)) {
    expect(page).toContain(`<section id="${code}"`);
    expect(markdown).toContain(`\n## ${code}\n`);
  }
  const { headers } = await get('/v1/me');
  expect(headers.link).toBe(`<${world.url}/reference/errors#unauthenticated>; rel="help"`);
});

test('the API reference as Markdown has every operation, webhook and record', async () => {
  const { headers, body } = await get('/reference/api.md');
  expect(headers['content-type']).toBe('text/markdown; charset=utf-8');
  const text = body.toString();
  const { paths, webhooks, components } = JSON.parse((await get('/v1/openapi.json')).body.toString());
  for (const { post } of Object.values(webhooks as Record<string, Record<string, { summary: string }>>))
    expect(text).toContain(`\n### ${post!.summary}\n`);
  for (const [path, methods] of Object.entries(paths as Record<string, object>)) {
    for (const method of Object.keys(methods)) expect(text).toContain(`\n### ${method.toUpperCase()} ${path}\n`);
  }
  for (const name of Object.keys(components.schemas)) expect(text).toContain(`\n### ${name}\n`);
  expect(text).toContain('Requires the scope `projects:write`.');
  expect(text).not.toMatch(/undefined|\[object/);
});

test('/llms.txt links to existing pages', async () => {
  const { headers, body } = await get('/llms.txt');
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  const links = [...body.toString().matchAll(/\]\((\S+)\)/g)].map((match) => match[1]!);
  expect(links.length).toBeGreaterThan(7);
  for (const link of links) {
    expect(link.startsWith(world.url)).toBe(true);
    const { status } = await get(link.slice(world.url.length), browser);
    expect([link, status]).toEqual([
      link,
      link.includes('schema.graphql') ? 401 : expect.toSatisfy((code) => code < 400),
    ]);
  }
});

test('/reference/docs has every page of docs/, for an installation without the internet', async () => {
  const index = await get('/reference/docs');
  expect(index.headers['content-type']).toBe('text/markdown; charset=utf-8');
  const links = [...index.body.toString().matchAll(/\]\((\S+)\)/g)].map((match) => `/reference/${match[1]}`);
  const files = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  expect(links.toSorted()).toEqual(files.map((name) => `/reference/docs/${name}`).toSorted());
  for (const link of links) {
    const { status, headers, body } = await get(link);
    expect([status, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(body.toString()).toBe(readFileSync(link.replace('/reference/', ''), 'utf8'));
  }
  expect((await get('/reference/docs/../package.json')).status).toBe(404);
  const { files: shipped } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(shipped).toContain('docs');
});

test('405 · the API reference accepts only GET and HEAD', async () => {
  const { status, headers, body } = await get('/reference', browser, 'POST');
  expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
  expect(JSON.parse(body.toString()).code).toBe('method_not_allowed');
  const head = await get('/reference', browser, 'HEAD');
  expect([head.status, head.body.length]).toEqual([200, 0]);
});

test.each(exampleQueries.map((one) => [/(?:query|mutation|subscription) \w+/.exec(one.query)![0], one] as const))(
  'the example %s in GraphiQL is valid',
  (_, { query, variables = '{}' }) => {
    const document = parse(query);
    expect(validate(schema, document)).toEqual([]);
    const [operation] = document.definitions;
    const names =
      'variableDefinitions' in operation! ? operation.variableDefinitions!.map((one) => one.variable.name.value) : [];
    expect(Object.keys(JSON.parse(variables))).toEqual(names);
  },
);
