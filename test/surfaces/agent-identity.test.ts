// Registration of agents over real HTTP: anonymous agents, their rate, and agents that know the email address of their person (docs/contract.md#agent-registration).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publicKeys } from '#domain/identity/oauth/keys.ts';
import { hours, isoTime, minutes } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { type AppSettings, createApp } from '../../src/app.ts';
import { claimGrant, openAgentWorld } from '../support/agent-world.ts';
import { oauthError } from '../support/oauth-world.ts';
import { requestsTo } from '../support/requests.ts';
import { present, silentLog } from '../support/world.ts';

const world = await openAgentWorld();
afterAll(() => world.close());

const memberScopes = expect.arrayContaining(['missions:run', 'missions:read', 'projects:read']);

describe('Anonymous agents', () => {
  it('200 · an anonymous agent gets an assertion and a claim token, both for 24 hours', async () => {
    const answer = await world.identity({ type: 'anonymous', agent_name: 'Bot', scope: 'ignored', client_id: 7 });
    const end = isoTime(present() + hours(24));
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        registration_id: expect.stringMatching(/^reg_/),
        registration_type: 'anonymous',
        identity_assertion: expect.any(String),
        assertion_expires: end,
        pre_claim_scopes: [],
        claim_url: `${world.url}/v1/agent/identity/claim`,
        claim_token: expect.stringMatching(/^clm_[\w-]{26}$/),
        claim_token_expires: end,
        post_claim_scopes: memberScopes,
      },
    ]);
    expect(answer.body.post_claim_scopes).not.toContain('projects:write');
    expect([answer.headers.get('cache-control'), answer.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('an assertion names the registration and its generation, and is signed with a published key', async () => {
    const agent = await world.anonymous();
    const { kid, ...header } = decodeProtectedHeader(agent.identity_assertion);
    const { issuer } = addresses();
    expect(header).toEqual({ alg: 'ES256', typ: 'oauth-id-jag+jwt' });
    expect((await publicKeys()).keys.map((key) => key.kid)).toContain(kid);
    expect(decodeJwt(agent.identity_assertion)).toEqual({
      iss: issuer,
      sub: agent.registration_id,
      aud: issuer,
      jti: expect.stringMatching(/^jti_/),
      iat: present() / 1_000,
      exp: (present() + hours(24)) / 1_000,
      ver: 1,
    });
  });

  it('200 · an anonymous agent exchanges its assertion for an access token of one hour, without scope', async () => {
    const agent = await world.anonymous();
    const answer = await world.exchange(agent.identity_assertion);
    expect([answer.status, answer.body]).toEqual([
      200,
      { access_token: expect.stringMatching(/^agt_[\w-]{43}$/), token_type: 'Bearer', expires_in: 3600, scope: '' },
    ]);
    expect([answer.headers.get('cache-control'), answer.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  });

  it('200, 403 · an anonymous agent can read /me and /scopes, and nothing else', async () => {
    const { access_token: token } = (await world.exchange((await world.anonymous()).identity_assertion)).body;
    expect((await world.me(token)).body).toEqual({
      principalType: 'agent',
      userId: null,
      orgId: null,
      role: null,
      capabilities: [],
      scopes: [],
      projectId: null,
    });
    expect((await world.rest('GET', '/scopes', { token })).status).toBe(200);
    const refused = await world.rest('GET', '/projects', { token });
    expect([refused.status, refused.body.code]).toEqual([403, 'agent_not_claimed']);
    const asPerson = await world.rest('GET', '/agent-delegations', { token });
    expect([asPerson.status, asPerson.body.code]).toEqual([403, 'agent_not_claimed']);
  });

  it('200 · an assertion can be exchanged repeatedly, and each token is valid', async () => {
    const { identity_assertion } = await world.anonymous();
    const both = await Promise.all([world.exchange(identity_assertion), world.exchange(identity_assertion)]);
    for (const { body } of both) expect((await world.me(body.access_token)).status).toBe(200);
    expect(both[0]!.body.access_token).not.toBe(both[1]!.body.access_token);
  });

  it('200, 401 · a token of an anonymous agent is valid for an hour, and never beyond the 24 hours of its registration', async () => {
    const { identity_assertion } = await world.anonymous();
    const { access_token } = (await world.exchange(identity_assertion)).body;
    world.clock.turn(hours(1) - 1);
    expect((await world.me(access_token)).status).toBe(200);
    world.clock.turn(1);
    expect((await world.me(access_token)).status).toBe(401);
    world.clock.turn(hours(22) + minutes(30));
    const last = (await world.exchange(identity_assertion)).body;
    expect(last.expires_in).toBe(1800);
    world.clock.turn(minutes(30));
    expect((await world.exchange(identity_assertion)).body).toEqual(oauthError('invalid_grant'));
    expect((await world.me(last.access_token)).status).toBe(401);
  });

  it('200 · an agent name may have 200 characters', async () => {
    expect((await world.identity({ type: 'anonymous', agent_name: 'n'.repeat(200) })).status).toBe(200);
  });

  it.each([
    ['a name of blanks', { agent_name: ' ' }, 'agent_name: must be at least 1 character.'],
    [
      'a line break in the name',
      { agent_name: 'a\nb' },
      'agent_name: must not contain line breaks, control characters or invisible characters.',
    ],
    ['a name of 201 characters', { agent_name: 'n'.repeat(201) }, 'agent_name: must be at most 200 characters.'],
    ['a number as name', { agent_name: 7 }, 'agent_name: must be a string.'],
    ['null as name', { agent_name: null }, 'agent_name: must be a string.'],
    ['a NUL in the name', { agent_name: 'n\0' }, 'agent_name: must be text without NUL characters.'],
    [
      'a lone surrogate in the name',
      { agent_name: 'n\uD800' },
      'agent_name: contains a lone surrogate, which is not Unicode text.',
    ],
  ])('400 · a registration with %s is refused with the error of the field', async (_what, more, expected) => {
    const { status, body } = await world.identity({ type: 'anonymous', ...more });
    expect([status, body]).toMatchObject([400, { error: 'invalid_request', error_description: expected }]);
  });

  const kinds = 'type: must be one of "anonymous", "service_auth", "identity_assertion".';
  it.each([
    ['an unknown type', { type: 'person' }, {}, kinds],
    ['no type', {}, {}, 'type: is required.'],
    ['null as type', { type: null }, {}, kinds],
    ['a list as body', [], {}, 'The body must be a JSON object.'],
    ['null as body', 'null', {}, 'The body must be a JSON object.'],
    ['an empty body', '', {}, 'The body must be a JSON object.'],
    ['half an object', '{"type":', {}, 'The body is not valid JSON.'],
    ['bytes that are not text', new Uint8Array([0xff, 0xfe]), {}, 'The body is not valid UTF-8.'],
    ['plain text', 'type=anonymous', { 'content-type': 'text/plain' }, 'Send the body as application/json.'],
  ])('400 · a registration is refused with %s', async (_what, body, headers, description) => {
    const answer = await world.identity(body, { headers });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: 'invalid_request', error_description: description });
  });

  it('405, 413 · registration errors have the format of all agent errors', async () => {
    const get = await world.request('GET', '/v1/agent/identity');
    expect([get.status, get.headers.get('allow'), get.body.error]).toEqual([405, 'POST', 'invalid_request']);
    const large = await world.identity(JSON.stringify({ type: 'anonymous', more: 'x'.repeat(65_536) }));
    expect([large.status, large.body.error]).toEqual([413, 'invalid_request']);
  });

  it('400 · a token for an unknown resource, or for one that is not for agents, is refused with invalid_target', async () => {
    const { identity_assertion } = await world.anonymous();
    const resources = [
      'https://elsewhere.example',
      `${world.url}#part`,
      'no address',
      `${world.url}/mcp`,
      `${world.url}/a2a`,
    ];
    for (const resource of resources) {
      const { status, body } = await world.exchange(identity_assertion, { resource });
      expect([resource, status, body]).toEqual([resource, 400, oauthError('invalid_target')]);
    }
    for (const resource of [world.url, `${world.url}/`, `${world.url}/v1`, '']) {
      expect([resource, (await world.exchange(identity_assertion, { resource })).status]).toEqual([resource, 200]);
    }
  });
});

describe('Rate of agent registrations', () => {
  /** A second process of the service, on the same database. */
  async function process(settings: Partial<AppSettings>) {
    const app = createApp({
      version: '0.0.0',
      requestsPerMinute: 1_000_000,
      registrationsPerHour: 3,
      claimGrantType: claimGrant,
      trustedIssuers: [],
      trustProxy: true,
      log: silentLog(),
      ...settings,
    });
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const request = requestsTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return {
      register: (from: string, body: unknown = { type: 'anonymous' }) =>
        request('POST', '/v1/agent/identity', { body, headers: { 'x-forwarded-for': from } }),
      close: () => new Promise((resolve) => server.close(resolve)),
    };
  }
  let here: Awaited<ReturnType<typeof process>>;
  let there: typeof here;
  beforeAll(async () => {
    [here, there] = await Promise.all([process({}), process({})]);
  });
  afterAll(() => Promise.all([here.close(), there.close()]));

  it('429 · one network address has an hourly limit of registrations across all processes; other addresses are not affected', async () => {
    const from = '192.0.2.1';
    for (const at of [here, there, here]) expect((await at.register(from)).status).toBe(200);
    world.clock.turn(minutes(20));
    const refused = await there.register(from);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2400']);
    expect(refused.body).toEqual({
      error: 'rate_limited',
      error_description: expect.any(String),
      category: 'rate_limit',
      title: 'Too many requests',
      description: expect.any(String),
      retryable: true,
      code: 'rate_limited',
    });
    const byAddress = { type: 'service_auth', login_hint: 'a@example.com' };
    expect((await here.register(from, byAddress)).status).toBe(429);
    expect((await here.register('192.0.2.2')).status).toBe(200);
    world.clock.turn(minutes(40));
    expect((await there.register(from)).status).toBe(200);
  });

  it('requests with an invalid body do not count as registrations', async () => {
    for (let n = 0; n < 5; n++) expect((await here.register('192.0.2.3', { type: 'nobody' })).status).toBe(400);
    expect((await here.register('192.0.2.3')).status).toBe(200);
  });

  it('concurrent registrations are counted exactly', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, (_, n) => [here, there][n % 2]!.register('192.0.2.4')));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(3);
  });

  it('addresses in the same IPv6 network share one limit of registrations, and so do the two notations of an IPv4 address', async () => {
    const networks = [
      ['2001:db8::1', '2001:db8:0:0:ffff::2', '2001:0DB8::3', '2001:db8::4'],
      ['192.0.2.5', '::ffff:192.0.2.5', '192.0.2.5', '::ffff:192.0.2.5'],
    ];
    for (const addresses of networks) {
      const statuses = [];
      for (const address of addresses) statuses.push((await here.register(address)).status);
      expect([addresses, statuses]).toEqual([addresses, [200, 200, 200, 429]]);
    }
    expect((await here.register('2001:db8:0:1::1')).status).toBe(200);
  });
});

describe('Agents that name their person by email', () => {
  it('200 · an agent that names its person gets a claim at once, but no assertion yet', async () => {
    const answer = await world.identity({ type: 'service_auth', login_hint: 'Nobody@Example.com' });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        registration_id: expect.stringMatching(/^reg_/),
        registration_type: 'service_auth',
        claim_url: `${world.url}/v1/agent/identity/claim`,
        claim_token: expect.stringMatching(/^clm_/),
        claim_token_expires: isoTime(present() + hours(24)),
        post_claim_scopes: memberScopes,
        claim: {
          user_code: expect.stringMatching(/^\d{6}$/),
          verification_uri: expect.stringContaining(`${world.url}/claim?claim_attempt_token=cvt_`),
          expires_in: 600,
          expires_at: isoTime(present() + minutes(10)),
          interval: 5,
        },
      },
    ]);
  });

  it('200 · verified_email, the earlier name of service_auth, is accepted too', async () => {
    const alice = await world.human();
    const body = { type: 'identity_assertion', assertion_type: 'verified_email', assertion: alice.person.email };
    const answer = await world.identity(body);
    expect([answer.status, answer.body.registration_type]).toEqual([200, 'service_auth']);
    await world.decide(alice, answer.body.claim);
    const collected = (await world.poll(answer.body.claim_token)).body;
    expect(decodeJwt(collected.identity_assertion)).toMatchObject({
      ver: 2,
      email: alice.person.email,
      email_verified: true,
    });
    expect((await world.exchange(collected.identity_assertion)).status).toBe(200);
  });

  it.each([
    ['""', '', 'invalid_request'],
    ['321 characters', 'a'.repeat(321), 'invalid_request'],
    ['a number', 7, 'invalid_request'],
    ['abc', 'abc', 'invalid_login_hint'],
    ['a name before the email address', 'Abc <abc@example.com>', 'invalid_login_hint'],
  ])('400 · a registration is refused with an invalid login_hint: %s', async (_what, login_hint, error) => {
    const answer = await world.identity({ type: 'service_auth', login_hint });
    expect([answer.status, answer.body]).toEqual([400, oauthError(error)]);
  });

  it('400 · a registration is refused with an invalid email address in verified_email', async () => {
    const body = { type: 'identity_assertion', assertion_type: 'verified_email', assertion: 'abc' };
    expect((await world.identity(body)).body).toEqual(oauthError('invalid_login_hint'));
  });

  it('200 · the answer to an agent does not reveal whether the email address has an account', async () => {
    const { person } = await world.human();
    const shape = async (login_hint: string) => {
      const { status, headers, body } = await world.identity({ type: 'service_auth', login_hint });
      const names = [...headers.keys()].sort();
      const members = JSON.stringify(body, (_, value) => (typeof value === 'string' ? value.length : value));
      return { status, names, members };
    };
    expect(await shape(person.email)).toEqual(await shape(person.email.replace('person', 'nobody')));
  });
});
