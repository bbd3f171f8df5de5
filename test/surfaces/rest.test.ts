// Behaviour that all calls to /v1 share: request ids, rates, the check of credentials, ETags, headers, and responses while the database is
// unavailable.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { watchStatements } from '#foundation/postgres/database.ts';
import { rates } from '#limits.ts';
import { createMember, createOwner } from '../support/callers.ts';
import { asAdmin } from '../support/global-setup.ts';
import { type Ask, openWorld, type Session, type World } from '../support/world.ts';

let world: World;
let alice: Person;
let bob: Person;
let acme: Organization;
let token: string;
let session: Session;

async function settle(settings: Parameters<typeof openWorld>[0] = {}) {
  world = await openWorld(settings);
  ({ person: alice, organization: acme, token } = await createOwner(world, 'Alice', 'Acme'));
  ({ person: bob } = await createMember(world, acme, 'Bob', 'member'));
  session = await world.session(alice, acme.id);
}

const me = (ask: Ask = { token }) => world.rest('GET', '/me', ask);
/** A session's cookie as a browser sends it, with additional headers. */
const cookie = (headers: Record<string, string>, { secret }: Session = session): Ask => ({
  headers: { cookie: `theme=dark; session=${secret}; lang=en`, ...headers },
});
const unauthenticated = {
  category: 'auth',
  title: 'Unauthenticated',
  description: 'A bearer token is required in the Authorization header.',
  retryable: false,
  code: 'unauthenticated',
};

describe('The REST API over HTTP', () => {
  beforeAll(() => settle());
  afterAll(() => world.close());

  it('200 · an idle connection is kept longer than load balancers keep theirs, which is 60 s', async () => {
    expect((await me()).headers.get('keep-alive')).toBe('timeout=65');
    expect(world.server.headersTimeout).toBeGreaterThan(65_000);
  });

  describe('X-Request-Id', () => {
    const idOf = async (headers: Record<string, string>, path = '/v1/me') =>
      (await world.request('GET', path, { token, headers })).headers.get('x-request-id');
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';

    it.each(['12345678', 'req_a.b:c-D_9', 'x'.repeat(128)])(
      'a well-formed X-Request-Id of the caller is kept: %s',
      async (id) => {
        expect(await idOf({ 'x-request-id': id })).toBe(id);
      },
    );

    it.each(['short', 'x'.repeat(129), 'with a space', 'quote"', '<script>', 'ümlaut12'])(
      'an invalid X-Request-Id of the caller is replaced by a generated one: %s',
      async (id) => {
        expect(await idOf({ 'x-request-id': id })).toMatch(/^req_[0-9a-f]{24,}$/);
      },
    );

    it('the trace id of a traceparent header is the request id when the caller sends no X-Request-Id (W3C Trace Context)', async () => {
      const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
      expect(await idOf({ traceparent })).toBe(trace);
      expect(await idOf({ traceparent, 'x-request-id': 'my-own-id' })).toBe('my-own-id');
      expect(await idOf({ traceparent: traceparent.toUpperCase() })).toMatch(/^req_/);
      expect(await idOf({ traceparent: `00-${trace}-01` })).toMatch(/^req_/);
    });

    it('each answer has an X-Request-Id, and each request a different one', async () => {
      const paths = ['/v1/me', '/v1/projects/none', '/v1/unknown', '/v1/openapi.json', '/unknown'];
      const ids = await Promise.all(paths.map((path) => idOf({}, path)));
      expect(new Set(ids).size).toBe(paths.length);
      const refused = await world.request('GET', '/v1/me', { headers: { 'x-request-id': 'my-own-id' } });
      expect([refused.status, refused.headers.get('x-request-id')]).toEqual([401, 'my-own-id']);
    });
  });

  describe('The Authorization header', () => {
    it('401 · the challenge says where to get a credential (RFC 9728), and that a sent one is invalid (RFC 6750)', async () => {
      const metadata = `resource_metadata="${world.url}/.well-known/oauth-protected-resource"`;
      const none = await me({});
      expect([none.status, none.body]).toEqual([401, unauthenticated]);
      expect(none.headers.get('www-authenticate')).toBe(`Bearer ${metadata}`);
      const bad = await me({ token: 'pat_none' });
      expect(bad.status).toBe(401);
      expect(bad.headers.get('www-authenticate')).toBe(`Bearer error="invalid_token", ${metadata}`);
    });

    it.each<[string, () => { path?: string; ask: Ask; method?: string }]>([
      ['access_token in the query (RFC 6750 §2.3)', () => ({ path: `/projects?access_token=${token}`, ask: {} })],
      ['token in the query', () => ({ path: `/projects?token=${token}&authorization=Bearer%20${token}`, ask: {} })],
      ['access_token in a JSON body', () => ({ method: 'POST', ask: { body: { access_token: token, token } } })],
      [
        'access_token in a form (RFC 6750 §2.2)',
        () => ({
          method: 'POST',
          ask: { body: `access_token=${token}`, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        }),
      ],
      [
        'a token in a cookie',
        () => ({
          ask: {
            headers: {
              cookie: `session=${token}; token=${token}; Authorization=Bearer ${token}`,
              'sec-fetch-site': 'same-origin',
            },
          },
        }),
      ],
      [
        'a token in other headers',
        () => ({
          ask: { headers: { 'x-api-key': token, 'x-access-token': token, 'proxy-authorization': `Bearer ${token}` } },
        }),
      ],
    ])('401 · a credential outside the Authorization header is refused: %s', async (_, make) => {
      const { path = '/projects', ask, method = 'GET' } = make();
      const { status, body } = await world.rest(method, path, ask);
      expect([status, body]).toEqual([401, unauthenticated]);
    });

    it.each<[string, () => string]>([
      ['no value', () => ''],
      ['no scheme', () => token],
      ['the scheme alone', () => 'Bearer'],
      ['the scheme Basic', () => `Basic ${Buffer.from(`x:${token}`).toString('base64')}`],
      ['two tokens', () => `Bearer ${token}, Bearer ${token}`],
      ['a token with further text', () => `Bearer ${token} more`],
      ['a token in quotes', () => `Bearer "${token}"`],
      ['a token with another prefix', () => `Bearer PAT_${token.slice(4)}`],
      ['a token with a changed letter', () => `Bearer ${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
      ['a session’s secret', () => `Bearer ${session.secret}`],
      ['thousands of characters', () => `Bearer pat_${'x'.repeat(8_000)}`],
    ])('401 · an Authorization header with %s is refused', async (_, header) => {
      const answer = await me({ headers: { authorization: header() } });
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthenticated']);
    });

    it('200 · the scheme of the Authorization header may have any letter case and several blanks after it (RFC 9110 §11.1)', async () => {
      for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
        expect((await me({ headers: { authorization: `${scheme} ${token}` } })).status).toBe(200);
      }
    });
  });

  describe('The console’s cookie', () => {
    const csrf = () => ({ 'x-csrf-token': session.csrf });
    const rename = (ask: Ask) => world.rest('PATCH', `/organizations/${acme.id}`, { ...ask, body: { name: 'Acme' } });

    it.each<[string, () => Record<string, string>]>([
      ['Sec-Fetch-Site: same-origin', () => ({ 'sec-fetch-site': 'same-origin' })],
      ['Sec-Fetch-Site: none, a page load by hand', () => ({ 'sec-fetch-site': 'none' })],
      ['our Origin, from a browser without Sec-Fetch-Site', () => ({ origin: world.url })],
    ])('200 · the session cookie is accepted for reads from pages of the service: %s', async (_, headers) => {
      const { status, body } = await me(cookie(headers()));
      expect([status, body.principalType, body.userId, body.orgId]).toEqual([200, 'cookie', alice.id, acme.id]);
    });

    it.each<[string, () => Record<string, string>]>([
      ['without headers that name its origin', () => ({})],
      ['from another site', () => ({ 'sec-fetch-site': 'cross-site' })],
      ['from another host of the site', () => ({ 'sec-fetch-site': 'same-site' })],
      ['from another origin', () => ({ origin: 'https://evil.example' })],
      ['from an origin that begins like ours', () => ({ origin: `${world.url}.evil.example` })],
      ['from a hidden origin', () => ({ origin: 'null' })],
      ['from another site that names our Origin', () => ({ origin: world.url, 'sec-fetch-site': 'cross-site' })],
    ])('401 · the session cookie is ignored in a request %s', async (_, headers) => {
      expect((await me(cookie(headers()))).body).toEqual(unauthenticated);
      expect((await rename(cookie({ ...headers(), ...csrf() }))).body).toEqual(unauthenticated);
    });

    it('403 · a write by session cookie without the CSRF header of the same session is refused', async () => {
      const own = { 'sec-fetch-site': 'same-origin' };
      const other = await world.session(alice, acme.id);
      for (const given of [undefined, '', 'x', other.csrf]) {
        const header = given === undefined ? own : { ...own, 'x-csrf-token': given };
        const { status, body } = await rename(cookie(header));
        expect([status, body]).toEqual([
          403,
          {
            category: 'auth',
            title: 'Forbidden',
            description: 'A request that changes data with the session cookie requires the X-CSRF-Token header.',
            retryable: false,
            code: 'forbidden',
          },
        ]);
      }
      expect((await rename(cookie({ ...own, ...csrf() }))).status).toBe(200);
      // `none` means that the person opened the address directly, for example from a bookmark. Such a request may only read data.
      expect((await rename(cookie({ 'sec-fetch-site': 'none', ...csrf() }))).status).toBe(401);
    });

    it('the session cookie is not used when there is an Authorization header, valid or not', async () => {
      const own = { 'sec-fetch-site': 'same-origin' };
      const bobs = await world.token(bob, acme, { scopes: ['projects:read'] });
      const both = await me({ ...cookie(own), token: bobs });
      expect([both.body.principalType, both.body.userId, both.body.scopes]).toEqual([
        'user',
        bob.id,
        ['projects:read'],
      ]);
      expect((await rename({ ...cookie({ ...own, ...csrf() }), token: bobs })).body.code).toBe('missing_scope');
      for (const authorization of ['', 'Bearer', 'Bearer pat_none', 'Basic eDp5']) {
        expect((await me(cookie({ ...own, authorization }))).status).toBe(401);
      }
      // A token needs no CSRF header, whatever page sends it.
      expect((await rename({ ...cookie({ 'sec-fetch-site': 'cross-site' }), token })).status).toBe(200);
    });

    it('X-Org-Id chooses among the person’s organizations for requests with a session cookie, and is ignored for requests with a token', async () => {
      const { organization: own } = await createOwner(world, bob, 'Bob’s');
      const bobs = await world.session(bob, acme.id);
      const at = async (ask: Ask) => (await world.request('GET', '/v1/me', ask)).body;
      expect(await at({ session: bobs })).toMatchObject({ orgId: acme.id, role: 'member' });
      expect(await at({ session: bobs, headers: { 'x-org-id': own.id } })).toMatchObject({
        orgId: own.id,
        role: 'owner',
      });
      for (const foreign of ['none', 'org_none', acme.id.toUpperCase()]) {
        expect(await at({ session: bobs, headers: { 'x-org-id': foreign } })).toMatchObject({ code: 'not_found' });
      }
      expect(await at({ session, headers: { 'x-org-id': own.id } })).toMatchObject({ code: 'not_found' });
      expect(await at({ token, headers: { 'x-org-id': own.id } })).toMatchObject({ orgId: acme.id });
    });
  });

  describe('Headers of responses', () => {
    it('response headers forbid content sniffing, caching of data, and reads by other sites', async () => {
      const preflight = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
      for (const [method, path, ask] of [
        ['GET', '/v1/me', { token }],
        ['GET', '/v1/projects', { token }],
        ['GET', '/v1/projects/none', { token }],
        ['GET', '/v1/me', {}],
        ['GET', '/v1/unknown', {}],
        ['OPTIONS', '/v1/me', {}],
      ] as const) {
        const { headers, status } = await world.request(method, path, { ...ask, headers: preflight });
        expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
        for (const name of [
          'access-control-allow-origin',
          'access-control-allow-credentials',
          'x-powered-by',
          'server',
        ]) {
          expect([path, name, headers.get(name)]).toEqual([path, name, null]);
        }
        if (status !== 204 && path !== '/v1/unknown')
          expect([path, headers.get('cache-control')]).toEqual([path, 'no-store']);
        if (status !== 204) expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      }
    });
  });

  describe('ETag', () => {
    const none = { 'cache-control': 'private, no-cache' };

    it('304 · an unchanged record is not sent again, for any form of If-None-Match (RFC 9110 §13.1.2)', async () => {
      const path = `/organizations/${acme.id}`;
      const first = await world.rest('GET', path, { token });
      const etag = first.headers.get('etag')!;
      expect(etag).toMatch(/^"[\w-]+"$/);
      expect(first.headers.get('cache-control')).toBe(none['cache-control']);
      for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await world.rest('GET', path, { token, headers: { 'if-none-match': given } });
        expect([given, again.status, again.body, again.headers.get('etag')]).toEqual([given, 304, '', etag]);
      }
      for (const given of ['"other"', etag.slice(1, -1), '']) {
        expect((await world.rest('GET', path, { token, headers: { 'if-none-match': given } })).status).toBe(200);
      }
    });

    it('If-None-Match does not hide a 401, 403 or 404', async () => {
      const headers = { 'if-none-match': '*' };
      const path = `/organizations/${acme.id}`;
      const narrow = await world.token(alice, acme, { scopes: ['projects:read'] });
      expect((await world.rest('GET', path, { headers })).status).toBe(401);
      expect((await world.rest('GET', path, { headers, token: narrow })).status).toBe(403);
      expect((await world.rest('GET', '/organizations/none', { headers, token })).status).toBe(404);
    });

    it('neither a list nor the response to a write has an ETag', async () => {
      expect((await world.rest('GET', '/projects', { token })).headers.get('etag')).toBe(null);
      const made = await world.rest('POST', '/projects', { token, body: { name: 'Shop', repoFullName: 'acme/shop' } });
      expect(made.headers.get('etag')).toBe(null);
    });
  });
});

describe('Request rates of the REST API', () => {
  beforeEach(() => settle({ requestsPerMinute: 5, trustProxy: true }));
  afterEach(() => world.close());

  const from = (address: string, ask: Ask = {}): Ask => ({
    ...ask,
    headers: { ...ask.headers, 'x-forwarded-for': address },
  });

  it('429 · calls beyond the rate of a credential are refused; each answer says how many are left', async () => {
    for (const left of [4, 3, 2, 1, 0]) {
      const { status, headers } = await me();
      expect(status).toBe(200);
      expect(headers.get('ratelimit-policy')).toBe('"default";q=5;w=60');
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"default";r=${left};t=([1-9]|[1-5]\\d|60)$`));
    }
    const { status, headers, body } = await me();
    expect(status).toBe(429);
    const seconds = Number(headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(headers.get('ratelimit')).toBe(`"default";r=0;t=${seconds}`);
    expect(body).toEqual({
      category: 'rate_limit',
      title: 'Too many requests',
      description: `Too many requests. Try again in ${seconds} s.`,
      retryable: true,
      code: 'rate_limited',
    });
    // Another credential of the same person has a rate limit of its own.
    expect((await me({ session })).status).toBe(200);
    expect((await me({ token: await world.token(alice, acme) })).status).toBe(200);
  });

  it('refused calls count against the rate; calls of unknown paths do not', async () => {
    const narrow = await world.token(alice, acme, { scopes: ['projects:read'] });
    const asked = [
      await world.rest('GET', '/invites', { token: narrow }),
      await world.rest('GET', '/projects/none', { token: narrow }),
      await world.rest('GET', '/projects?limit=0', { token: narrow }),
      await world.rest('POST', '/projects', { token: narrow, body: '{' }),
      await world.graphql('{', { token: narrow }),
    ];
    expect(asked.map(({ status }) => status)).toEqual([403, 404, 400, 403, 200]);
    expect((await me({ token: narrow })).status).toBe(429);
    // A request to an unknown path does not count against the rate.
    expect((await world.rest('GET', '/unknown', { token: narrow })).status).toBe(404);
  });

  it('operations of a GraphQL batch each count against the rate, together with REST calls', async () => {
    const batch = (size: number) =>
      world.request('POST', '/graphql', {
        token,
        body: Array.from({ length: size }, () => ({ query: '{ me { role } }' })),
      });
    expect((await batch(3)).headers.get('ratelimit')).toContain('r=2;');
    expect((await me()).headers.get('ratelimit')).toContain('r=1;');
    expect((await batch(2)).status).toBe(429);
    expect((await me()).status).toBe(429);
  });

  it('429 · invalid credentials from one network are refused after too many, and a valid one keeps working', async () => {
    const bad = (n: number) => from(`2001:db8::${n.toString(16)}`, { token: `pat_${String(n).padStart(43, 'x')}` });
    const tries = Array.from({ length: rates.failedAuthenticationsPerMinute + 1 }, (_, n) =>
      world.request('GET', '/v1/me', bad(n)),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBe(rates.failedAuthenticationsPerMinute);
    for (const token of ['pat_bad', `pat_${'y'.repeat(43)}`]) {
      const blocked = await me(from('2001:db8::1', { token }));
      expect([blocked.status, blocked.body.code]).toEqual([429, 'rate_limited']);
      expect(blocked.body.description).toMatch(/^Too many invalid credentials\. Try again in \d+ s\.$/);
      expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await me(from('2001:db8::1', { token }))).status).toBe(200);
    // Another /64 prefix is another network. A call without a credential is not an attempt with an invalid credential, so it does not count.
    expect((await me(from('2001:db8:0:1::1', { token: 'pat_bad' }))).status).toBe(401);
    expect((await me(from('2001:db8::1'))).status).toBe(401);
  });

  it('401 · a malformed token is refused without a query to the database', async () => {
    const statements: string[] = [];
    const stop = watchStatements((statement) => statements.push(statement));
    for (const bad of ['pat_bad', `pat_${'x'.repeat(44)}`, `pat_${'x'.repeat(42)}!`, `abc_${'x'.repeat(43)}`]) {
      expect((await me(from('10.0.0.9', { token: bad }))).status).toBe(401);
    }
    stop();
    expect(statements).toEqual([]);
  });
});

describe('REST while the database is unavailable', () => {
  beforeEach(() => settle({ retryForMs: 300 }));
  afterEach(() => world.close());

  const admin = (text: string) => asAdmin({ ...world.connection, database: 'postgres' }, text);
  const unavailable = {
    category: 'infrastructure',
    title: 'Temporarily unavailable',
    description: 'The service is temporarily unavailable. Try again shortly.',
    retryable: true,
    code: 'unavailable',
  };

  it('503 · requests over REST and GraphQL are refused with Retry-After; those that need no database are served', async () => {
    await admin(`drop database ${world.connection.database} with (force)`);
    // All requests are sent at once, because each is retried for seconds before it fails.
    const asks: Ask[] = [{ token }, { session }];
    const [answers, graphs, ready] = await Promise.all([
      Promise.all(
        asks.flatMap((ask) => [
          world.rest('GET', '/me', ask),
          world.rest('POST', '/projects', { ...ask, body: { name: 'x', repoFullName: 'a/b' } }),
          world.rest('DELETE', '/projects/none', ask),
        ]),
      ),
      Promise.all(asks.map((ask) => world.graphql('{ me { role } }', ask))),
      world.request('GET', '/readyz'),
    ]);
    for (const { status, body, headers } of answers) {
      expect([status, body, headers.get('retry-after')]).toEqual([503, unavailable, '2']);
    }
    for (const graph of graphs) {
      expect([graph.status, graph.body.errors[0].extensions.problem]).toEqual([
        503,
        { ...unavailable, retryAfterSeconds: 2 },
      ]);
    }
    expect(ready.status).toBe(503);
    expect((await world.request('GET', '/livez')).status).toBe(200);
    expect((await world.rest('GET', '/openapi.json')).status).toBe(200);
    expect((await world.rest('GET', '/unknown')).status).toBe(404);
    expect((await me({})).status).toBe(401);
  });

  it('200 · requests are served again as soon as the database is back', async () => {
    const { database } = world.connection;
    expect((await me()).status).toBe(200);
    // The database can be renamed only while nothing is connected to it. The service may connect again after its connections were ended, so
    // the test repeats both steps until the database is renamed.
    const isAway = async () => {
      await admin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
      const renamed = admin(`alter database ${database} rename to ${database}_away`).then(() => 'renamed');
      return renamed.catch((error: { code: string }) => error.code);
    };
    await expect.poll(isAway).toBe('renamed');
    expect((await me()).body).toEqual(unavailable);
    await admin(`alter database ${database}_away rename to ${database}`);
    expect((await me()).body).toMatchObject({ userId: alice.id });
  });
});

describe('REST errors', () => {
  beforeAll(() => settle());
  afterAll(() => world.close());
  const askAs = (accept: string) => world.rest('POST', '/projects', { token, body: { name: '' }, headers: { accept } });

  it.each([
    ['application/problem+json', true],
    ['application/json, application/problem+json', true],
    ['application/json;q=0.8, Application/Problem+JSON; q=0.9', true],
    ['application/problem+json;q=0.2, */*;q=0.1', true],
    ['application/problem+json;q=0.5, application/json', false],
    ['application/problem+json;q=0.5, application/*', false],
    ['application/problem+json;q=0', false],
    ['application/problem+json;q=x', false],
    ['*/*', false],
  ])('an error for Accept: %s is sent as problem details: %s', async (accept, isDetails) => {
    const { status, headers, body } = await askAs(accept);
    expect([status, headers.get('vary')]).toEqual([400, 'accept']);
    expect(headers.get('content-type')).toBe(
      isDetails ? 'application/problem+json' : 'application/json; charset=utf-8',
    );
    expect('fields' in body).toBe(isDetails);
  });

  it('problem details have the standard members, and the data of the error as further members', async () => {
    const { headers, body } = await askAs('application/problem+json');
    expect(body).toEqual({
      type: `${world.url}/reference/errors#invalid_request`,
      title: 'Invalid request',
      status: 400,
      detail: 'name: must be at least 1 character; repoFullName: is required.',
      instance: `urn:request:${headers.get('x-request-id')}`,
      category: 'validation',
      retryable: false,
      code: 'invalid_request',
      fields: [
        { path: 'name', message: 'must be at least 1 character' },
        { path: 'repoFullName', message: 'is required' },
      ],
    });
  });
});
