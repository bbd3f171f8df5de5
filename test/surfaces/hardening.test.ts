// Tests of requests that the service refuses regardless of the sender: requests with a foreign Host name, with an incomplete body or with a
// body that is not UTF-8, and requests that exceed a quota.
import { once } from 'node:events';
import { request as sendRaw } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { minutes } from '#foundation/clock.ts';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { ownHosts } from '#foundation/http/hosts.ts';
import { answer, createHttpServer, type Exchange } from '#foundation/http/http.ts';
import { tokens } from '#limits.ts';
import { openedWhenUsed } from '#surfaces/frame.ts';
import { type Account, createMember, createOwner } from '../support/callers.ts';
import { createRuntime } from '../support/runtime-client.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let owner: Account;
let lines: string[] = [];

beforeAll(async () => {
  world = await openWorld({ log: (line) => lines.push(line) });
  owner = await createOwner(world, 'Alice', 'Acme');
});
afterAll(() => world.close());

const under = (host: string, path: string, headers: Record<string, string> = {}) =>
  new Promise<{ status: number; type: string; body: string }>((resolve, reject) => {
    // A path that is a full URL is sent unchanged.
    sendRaw(world.url, { path, headers: { host, ...headers } }, async (res) => {
      const type = String(res.headers['content-type']);
      resolve({ status: res.statusCode!, type, body: await readText(res) });
    })
      .on('error', reject)
      .end();
  });

describe('The Host header', () => {
  it.each(['/v1/me', '/graphql', '/mcp', '/a2a', '/console', '/reference', '/', '/v1/openapi.json', '/unknown'])(
    '421 · a request with a foreign Host is refused at %s',
    async (path) => {
      const { status, type, body } = await under('rebound.example', path, { authorization: `Bearer ${owner.token}` });
      expect([status, type]).toEqual([421, 'application/json; charset=utf-8']);
      expect(JSON.parse(body)).toMatchObject({ category: 'validation', code: 'misdirected_request', retryable: false });
    },
  );

  it('421 · a browser that uses a foreign Host gets a page', async () => {
    const { status, type, body } = await under('rebound.example', '/console', { accept: 'text/html,*/*;q=0.8' });
    expect([status, type]).toEqual([421, 'text/html; charset=utf-8']);
    expect(body).toContain('Misdirected request');
  });

  it.each(['localhost', 'LOCALHOST:1234', '127.0.0.1', '127.9.9.9:80', '[::1]:4000'])(
    '200 · the name %s is accepted as Host',
    async (host) => {
      expect((await under(host, '/v1/me', { authorization: `Bearer ${owner.token}` })).status).toBe(200);
    },
  );

  it.each([
    ['a path', '/v1/me?x=1', 200],
    ['a query', '?x=http://y/', 303],
    ['an empty path', '', 303],
    ['an unknown path', '//v1/me', 404],
  ])(
    'a request for a full URL of the service with %s is answered, whatever its Host header',
    async (_, target, status) => {
      const authorization = `Bearer ${owner.token}`;
      expect((await under('rebound.example', `${world.url}${target}`, { authorization })).status).toBe(status);
    },
  );

  it.each(['Host: localhost\r\nHost: evil.example', 'host: localhost\r\nHOST: localhost'])(
    '400 · several Host headers are refused: %j',
    async (hosts) => {
      const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
      socket.end(`GET /livez HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n\r\n`);
      const answer = await readText(socket);
      expect(answer).toMatch(/^HTTP\/1.1 400 /);
      expect(answer).toContain('Host: must be sent once.');
    },
  );

  it.each(['http://rebound.example', 'HTTP://rebound.example:80', 'http://', 'http://localhost@rebound.example'])(
    '421 · a full URL of another host is refused, even with a valid Host header: %s',
    async (origin) => {
      const authorization = `Bearer ${owner.token}`;
      expect((await under(new URL(world.url).host, `${origin}/v1/me`, { authorization })).status).toBe(421);
    },
  );

  it('200 · probes by IP address are answered', async () => {
    for (const path of ['/livez', '/readyz']) expect((await under('10.1.2.3:4000', path)).status).toBe(200);
  });

  it('the names of the four configured URLs are accepted as Host, on any port', () => {
    const origin = (name: string) => `https://${name}.example:8443`;
    const before = { baseHost: world.url, issuer: world.url, mcp: world.url, a2a: `${world.url}/a2a` };
    bindAddresses({ baseHost: origin('api'), issuer: origin('id'), mcp: origin('mcp'), a2a: `${origin('a2a')}/x` });
    const isOwn = ownHosts();
    bindAddresses(before);
    for (const name of ['api', 'id', 'mcp', 'a2a', 'API']) expect(isOwn(`${name}.example`)).toBe(true);
    expect(isOwn('api.example:8443')).toBe(true);
    for (const name of [
      'example',
      'x.api.example',
      'api.example.evil',
      'localhost.evil',
      '127.0.0.1.evil',
      undefined,
    ]) {
      expect(isOwn(name)).toBe(false);
    }
  });
});

it('Strict-Transport-Security is sent when the public URL is https, and only then', async () => {
  const hsts = async () => (await world.request('GET', '/livez')).headers.get('strict-transport-security');
  expect(await hsts()).toBe(null);
  const https = 'https://platform.example';
  bindAddresses({ baseHost: https, issuer: https, mcp: https, a2a: `${https}/a2a` });
  expect(await hsts()).toBe('max-age=31536000');
  bindAddresses({ baseHost: world.url, issuer: world.url, mcp: world.url, a2a: `${world.url}/a2a` });
});

describe('Access to GET /metrics', () => {
  it.each([
    ['x-forwarded-proto', 'https'],
    ['x-forwarded-host', 'api.example'],
    ['x-real-ip', '203.0.113.9'],
    ['via', '1.1 proxy'],
  ])(
    '401 · a request for metrics is refused if it has the header %s, which shows that it came through a proxy',
    async (name, value) => {
      expect((await world.request('GET', '/metrics', { headers: { [name]: value } })).status).toBe(401);
    },
  );

  it('401 · metrics are refused to a request with a foreign Host, even from this machine', async () => {
    expect((await under('metrics.example', '/metrics')).status).toBe(401);
    expect((await under('localhost', '/metrics')).status).toBe(200);
  });
});

describe('Request bodies', () => {
  it.each(['/v1/projects', '/graphql', '/mcp', '/v1/oauth2/register', '/v1/agent/identity'])(
    'a request to %s whose body is cut off is not logged as an error',
    async (path) => {
      lines = [];
      const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
      const head = [
        `POST ${path} HTTP/1.1`,
        'host: localhost',
        `authorization: Bearer ${owner.token}`,
        'content-type: application/json',
        'content-length: 100',
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n{"na`, () => socket.destroy());
      await expect.poll(() => lines.filter((line) => line.includes('"msg":"request"'))).toHaveLength(1);
      expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    },
  );

  it.each([
    ['/v1/projects', '{"name":"a\\ud800","repoFullName":"acme/x"}', 'name: contains a lone surrogate'],
    ['/v1/scheduled-tasks', '{"name":"a","labels":["\\uDC00x"]}', 'labels.0: contains a lone surrogate'],
    [
      '/graphql',
      '{"query":"{ me { role } }","variables":{"a":{"b":"\\uD800"}}}',
      'variables.a.b: contains a lone surrogate',
    ],
    ['/v1/oauth2/register', '{"redirect_uris":[],"client_name":"\\udfff"}', 'client_name: contains a lone surrogate'],
  ])('400 · %s names the field that has a lone surrogate', async (path, body, words) => {
    const answer = await world.request('POST', path, { token: owner.token, body });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(words);
  });

  it('201 · a field may contain complete surrogate pairs', async () => {
    const body = '{"name":"a\\ud83d\\ude00","repoFullName":"acme/pair"}';
    expect((await world.rest('POST', '/projects', { token: owner.token, body })).body.name).toBe('a😀');
  });

  it.each(['/v1/projects', '/graphql', '/mcp', '/v1/oauth2/register'])(
    '415 · %s refuses a request body in a charset other than UTF-8',
    async (path) => {
      const send = (charset: string) =>
        world.request('POST', path, {
          token: owner.token,
          body: '{}',
          headers: {
            'content-type': `application/json; charset=${charset}`,
            accept: 'application/json, text/event-stream',
          },
        });
      for (const charset of ['utf-16', 'iso-8859-1', '"latin1"']) expect((await send(charset)).status).toBe(415);
      for (const charset of ['utf-8', 'UTF-8', '"utf-8"']) expect((await send(charset)).status).not.toBe(415);
    },
  );

  it.each(['/v1/projects', '/graphql', '/mcp', '/v1/oauth2/register'])(
    '415 · %s refuses a compressed request body',
    async (path) => {
      const headers = { accept: 'application/json, text/event-stream', 'content-encoding': 'gzip' };
      const answer = await world.request('POST', path, { token: owner.token, body: '{}', headers });
      expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    },
  );
});

describe('Pipelined requests', () => {
  /** The head and body of a request, as they go over the wire. */
  const wire = (path: string, body?: object, method = body ? 'POST' : 'GET') => {
    const text = body ? JSON.stringify(body) : '';
    return [
      `${method} ${path} HTTP/1.1`,
      'host: localhost',
      `authorization: Bearer ${owner.token}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(text)}`,
      '',
      text,
    ].join('\r\n');
  };
  const send = (text: string) => {
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    socket.write(text);
    return socket;
  };
  const blocked = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  const isBlocked = () => expect.poll(async () => (await world.knex.raw(blocked)).rows).toHaveLength(1);

  it('pipelined requests are answered one after the other: a list includes what was created before it', async () => {
    const lock = await world.knex.transaction();
    await lock.raw('lock table projects in exclusive mode');
    const create = wire('/v1/projects', { name: 'Ahead', repoFullName: 'acme/ahead' });
    const socket = send(
      create + wire('/v1/projects?limit=100').replace('content-type', 'connection: close\r\ncontent-type'),
    );
    await isBlocked();
    await lock.commit();
    const text = await readText(socket);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 200']);
    expect(text.slice(text.lastIndexOf('HTTP/1.1'))).toContain('"Ahead"');
  });

  it('pipelined requests are discarded when the client disconnects', async () => {
    const lock = await world.knex.transaction();
    await lock.raw('lock table projects in access exclusive mode');
    lines = [];
    // Each response is half a megabyte, and one organization may have 32 MB of responses at once.
    const schema = wire('/graphql', { query: getIntrospectionQuery() });
    const socket = send(wire('/v1/projects') + schema.repeat(70));
    await isBlocked();
    // The first request on the socket waits for the lock. The server answers the requests on a socket one after the other, so it must not
    // execute the other requests before the client disconnects. A server that executed them too early would have the time to do so during
    // the following 100 requests to /livez, which use other connections.
    for (let i = 0; i < 100; i++) await world.request('GET', '/livez');
    socket.destroy();
    await lock.commit();
    await expect.poll(() => lines.filter((line) => line.includes('"route":"/projects"'))).toHaveLength(1);
    expect((await world.graphql('{ me { role } }', { token: owner.token })).status).toBe(200);
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});

describe('Unread answers', () => {
  afterEach(() => vi.useRealTimers());

  it('an answer that is not read is discarded after an hour', async () => {
    const server = createHttpServer((req, res) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const exchange: Exchange = { req, res, path: '/', search: '', requestId: 'req_1', address: '' };
      answer(exchange, 200, Buffer.alloc(16_000_000));
    }).listen(0);
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1').pause();
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const [, res] = await once(server, 'request');
    vi.advanceTimersByTime(minutes(60));
    await once(res, 'close');
    socket.destroy();
    server.close();
  });
});

it('a request handler that could not be loaded is loaded again at the next request', async () => {
  let tries = 0;
  const handle = openedWhenUsed(async () => {
    if (++tries === 1) throw new Error('EMFILE: too many open files');
    return () => {};
  });
  await expect(handle({} as Exchange)).rejects.toThrow('EMFILE');
  for (const _ of [1, 2]) await handle({} as Exchange);
  expect(tries).toBe(2);
});

describe('Quotas', () => {
  it('409 · a person has at most 100 live tokens, even under concurrency; revoked and expired ones do not count', async () => {
    const bob = await world.person('Bob');
    const [first, second] = [await world.found(bob, 'Bobs'), await world.found(bob, 'Bobs too')];
    const sessions = [await world.session(bob, first.id), await world.session(bob, second.id)];
    const create = (n: number) =>
      world.rest('POST', '/tokens', {
        session: sessions[n % 2]!,
        body: { name: `t${n}`, scopes: ['projects:read'], expiresInDays: n === 0 ? 1 : 30 },
      });
    const oldest = (await create(0)).body;
    // The calls are so few that each gets a database connection in time: a call that waits too long for one gets 503.
    const atOnce = 12;
    for (let n = 1; n < tokens.perPerson - atOnce / 2; n++) expect((await create(n)).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: atOnce }, (_, n) => create(tokens.perPerson + n)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(atOnce / 2);
    const refused = answers.filter(({ status }) => status !== 201);
    for (const { status, body } of refused) expect([status, body.code]).toEqual([409, 'conflict']);
    expect(refused[0]!.body.description).toContain('A person can have at most 100 active tokens');
    expect(await world.knex('tokens').where({ userId: bob.id })).toHaveLength(tokens.perPerson);
    // Another person is not affected.
    await world.token(owner.person, owner.organization);

    const { id } = answers.find(({ status }) => status === 201)!.body;
    const session = (await world.knex('tokens').where({ id }).first()).orgId === first.id ? sessions[0]! : sessions[1]!;
    expect((await world.rest('DELETE', `/tokens/${id}`, { session })).status).toBe(200);
    expect((await create(2)).status).toBe(201);
    expect((await create(3)).status).toBe(409);
    world.clock.turn(oldest.expiresAt - Date.parse('2026-11-23T09:00:00Z'));
    expect((await create(4)).status).toBe(201);
  });
});

describe('Request rates of an organization', () => {
  it('429 · an organization over its rate is refused while another is served; a request that exceeds the rate of its credential does not count', async () => {
    const own = await openWorld({ requestsPerMinute: 4, requestsPerMinuteOrganization: 6 });
    try {
      const { person: alice, organization: acme } = await createOwner(own, 'Alice', 'Acme');
      const { organization: bobs } = await createOwner(own, 'Bob', 'Bobs');
      await createMember(own, bobs, alice, 'member');
      const [first, second, other] = [
        await own.token(alice, acme),
        await own.token(alice, acme),
        await own.token(alice, bobs),
      ];
      const times = async (n: number, token: string) => {
        const statuses = [];
        for (let i = 0; i < n; i++) statuses.push((await own.rest('GET', '/me', { token })).status);
        return statuses;
      };
      // The last two of these six requests exceed the rate of the token, which is 4 per minute. They do not count against the rate of the
      // organization, which is 6 per minute, so two requests of the second token are still accepted.
      expect(await times(6, first)).toEqual([200, 200, 200, 200, 429, 429]);
      expect(await times(3, second)).toEqual([200, 200, 429]);
      const { body, headers } = await own.rest('GET', '/me', { token: second });
      expect(body.description).toMatch(/^The organization has made too many requests\. Try again in \d+ s\.$/);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await times(1, other)).toEqual([200]);
    } finally {
      await own.close();
    }
  });

  it('429 · requests from runtimes are refused beyond a rate of their own, and do not count against the rate of people', async () => {
    const own = await openWorld({
      requestsPerMinute: 2,
      requestsPerMinuteOrganization: 2,
      requestsPerMinuteRuntime: 4,
    });
    try {
      const { person: alice, organization: acme } = await createOwner(own, 'Alice', 'Acme');
      const runtime = await createRuntime(own, acme);
      const ask = async (token: string) =>
        (await own.request('POST', '/graphql', { token, body: { query: '{ __typename }' } })).status;
      for (const status of [200, 200, 200, 200, 429]) expect(await ask(runtime.token)).toBe(status);
      const second = await createRuntime(own, acme);
      expect(await ask(second.token)).toBe(429);
      expect(await ask(await own.token(alice, acme))).toBe(200);
    } finally {
      await own.close();
    }
  });

  it('429 · heartbeats of a runtime have a rate of their own, and are served even while its other requests exceed their rate', async () => {
    const own = await openWorld({ requestsPerMinuteRuntime: 2 });
    try {
      const runtime = await createRuntime(own, (await createOwner(own, 'Alice', 'Acme')).organization);
      const ask = async (query: string) =>
        (await own.request('POST', '/graphql', { token: runtime.token, body: { query } })).status;
      const beat = 'mutation { heartbeat(input: {}) { nextHeartbeatMs } }';
      for (const status of [200, 200, 429]) expect(await ask('{ __typename }')).toBe(status);
      for (const status of [200, 200]) expect(await ask(beat)).toBe(status);
      // An operation is no heartbeat if `heartbeat` is only the alias of another field, or if the operation has a second field.
      for (const other of ['{ heartbeat: __typename }', beat.replace('{ heart', '{ __typename heart')])
        expect(await ask(other)).toBe(429);
      for (const status of [429, 429]) expect(await ask(beat)).toBe(status);
    } finally {
      await own.close();
    }
  });
});
