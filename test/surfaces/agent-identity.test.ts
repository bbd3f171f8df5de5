// Registration of agents, and the tokens for their assertions, over real HTTP (docs/contract.md#agent-registration;
// docs/contract.md#assertions).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepAgentIdentities } from '#domain/identity/agent-identities/sweep.ts';
import { publicKeys, signJwt } from '#domain/identity/oauth/keys.ts';
import { days, hours, isoTime, minutes } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { type AppSettings, createApp } from '../../src/app.ts';
import { type AgentWorld, claimGrant, idJagType, jwtBearer, openAgentWorld } from '../support/agent-world.ts';
import { requestsTo } from '../support/requests.ts';
import { present, silentLog } from '../support/world.ts';

let world: AgentWorld;
const lines: string[] = [];
beforeAll(async () => {
  world = await openAgentWorld({ log: (line) => void lines.push(line) });
});
afterAll(() => world.close());

const fault = (error: string) => ({ error, error_description: expect.any(String) });
const memberScopes = expect.arrayContaining(['missions:run', 'missions:read', 'projects:read']);

describe('an anonymous agent', () => {
  it('200 · gets an assertion and a claim token, for 24 hours', async () => {
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

  it('an assertion names the registration and its generation, signed with a published key', async () => {
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

  it('200 · exchanges its assertion for an access token of one hour, without scope', async () => {
    const agent = await world.anonymous();
    const answer = await world.exchange(agent.identity_assertion);
    expect([answer.status, answer.body]).toEqual([
      200,
      { access_token: expect.stringMatching(/^agt_[\w-]{43}$/), token_type: 'Bearer', expires_in: 3600, scope: '' },
    ]);
    expect([answer.headers.get('cache-control'), answer.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  });

  it('200, 403 · reaches /me and /scopes, and nothing else', async () => {
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

  it('200 · gets any number of tokens for one assertion, all of them valid', async () => {
    const { identity_assertion } = await world.anonymous();
    const both = await Promise.all([world.exchange(identity_assertion), world.exchange(identity_assertion)]);
    for (const { body } of both) expect((await world.me(body.access_token)).status).toBe(200);
    expect(both[0]!.body.access_token).not.toBe(both[1]!.body.access_token);
  });

  it('200, 401 · has a token for an hour, which never outlasts the time limit of its claim', async () => {
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
    expect((await world.exchange(identity_assertion)).body).toEqual(fault('invalid_grant'));
    expect((await world.me(last.access_token)).status).toBe(401);
  });

  it.each([
    ['a name of 200 characters', { agent_name: 'n'.repeat(200) }, 200],
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
  ])('registers with %s, or gets the error of the field', async (_what, more, expected) => {
    const { status, body } = await world.identity({ type: 'anonymous', ...more });
    if (expected === 200) expect(status).toBe(200);
    else expect([status, body]).toMatchObject([400, { error: 'invalid_request', error_description: expected }]);
  });

  const kinds = 'type: must be one of "anonymous", "service_auth", "identity_assertion".';
  it.each([
    ['an unknown type', { type: 'person' }, {}, kinds],
    ['no type', {}, {}, 'type: is required.'],
    ['null as type', { type: null }, {}, kinds],
    ['a list', [], {}, 'The body must be a JSON object.'],
    ['null', 'null', {}, 'The body must be a JSON object.'],
    ['an empty body', '', {}, 'The body must be a JSON object.'],
    ['half an object', '{"type":', {}, 'The body is not valid JSON.'],
    ['bytes that are not text', new Uint8Array([0xff, 0xfe]), {}, 'The body is not valid UTF-8.'],
    ['text', 'type=anonymous', { 'content-type': 'text/plain' }, 'Send the body as application/json.'],
  ])('400 · is refused with %s', async (_what, body, headers, description) => {
    const answer = await world.identity(body, { headers });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: 'invalid_request', error_description: description });
  });

  it('405, 413 · gets these errors in the format of agents’ errors, too', async () => {
    const get = await world.request('GET', '/v1/agent/identity');
    expect([get.status, get.headers.get('allow'), get.body.error]).toEqual([405, 'POST', 'invalid_request']);
    const large = await world.identity(JSON.stringify({ type: 'anonymous', more: 'x'.repeat(65_536) }));
    expect([large.status, large.body.error]).toEqual([413, 'invalid_request']);
  });

  it('400 · gets invalid_target for a resource that is unknown or not open to agents', async () => {
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
      expect([resource, status, body]).toEqual([resource, 400, fault('invalid_target')]);
    }
    for (const resource of [world.url, `${world.url}/`, `${world.url}/v1`, '']) {
      expect([resource, (await world.exchange(identity_assertion, { resource })).status]).toEqual([resource, 200]);
    }
  });
});

describe('the rate of registrations', () => {
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

  it('429 · refuses registrations beyond the hourly limit of one address, over all processes; other addresses are not affected', async () => {
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

  it('does not count unreadable bodies', async () => {
    for (let n = 0; n < 5; n++) expect((await here.register('192.0.2.3', { type: 'nobody' })).status).toBe(400);
    expect((await here.register('192.0.2.3')).status).toBe(200);
  });

  it('counts concurrent requests exactly', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, (_, n) => [here, there][n % 2]!.register('192.0.2.4')));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(3);
  });

  it('counts the network of an IPv6 address, and an IPv4 address in both its spellings', async () => {
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

describe('an agent that knows the email address of its person', () => {
  it('200 · gets the claim at once, and no assertion yet', async () => {
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

  it('200 · can register with verified_email, the earlier name of service_auth, too', async () => {
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
    ['a name before it', 'Abc <abc@example.com>', 'invalid_login_hint'],
  ])('400 · is refused with a login_hint of this kind: %s', async (_what, login_hint, error) => {
    const answer = await world.identity({ type: 'service_auth', login_hint });
    expect([answer.status, answer.body]).toEqual([400, fault(error)]);
  });

  it('400 · is refused with an invalid email address in verified_email', async () => {
    const body = { type: 'identity_assertion', assertion_type: 'verified_email', assertion: 'abc' };
    expect((await world.identity(body)).body).toEqual(fault('invalid_login_hint'));
  });

  it('200 · is not told whether an account has the address', async () => {
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

describe('an assertion at the token endpoint', () => {
  const refused = fault('invalid_grant');
  const own = (more: object = {}) => {
    const { issuer } = addresses();
    const at = Math.floor(present() / 1_000);
    return { iss: issuer, aud: issuer, sub: 'reg_x', jti: 'jti_x', iat: at, exp: at + 300, ver: 1, ...more };
  };

  it('400 · gets invalid_grant when it is the assertion of a provider', async () => {
    expect((await world.exchange(await world.provider.idJag())).body).toEqual(refused);
  });

  it('400 · gets invalid_grant when it is altered or forged', async () => {
    const { registration_id, identity_assertion: good } = await world.anonymous();
    const [head, body, signature] = good.split('.');
    const text = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const { privateKey } = await generateKeyPair('ES256');
    const kid = decodeProtectedHeader(good).kid!;
    const foreign = (header: object, key: CryptoKey | Uint8Array) =>
      new SignJWT(own({ sub: registration_id }))
        .setProtectedHeader({ alg: 'ES256', kid, typ: 'oauth-id-jag+jwt', ...header })
        .sign(key);
    const publicKey = Buffer.from(JSON.stringify((await publicKeys()).keys[0]));
    const at = signature.length - 5;
    const bad = {
      'a flipped byte': `${head}.${body}.${signature.slice(0, at)}${signature[at] === 'A' ? 'B' : 'A'}${signature.slice(at + 1)}`,
      'another body': `${head}.${text({ ...decodeJwt(good), ver: 2 })}.${signature}`,
      'alg none': `${text({ alg: 'none', typ: 'oauth-id-jag+jwt' })}.${body}.`,
      'a foreign key': await foreign({}, privateKey),
      'HS256 with our public key': await foreign({ alg: 'HS256' }, publicKey),
      'half of it': good.slice(0, 100),
      nonsense: 'nonsense',
    };
    for (const [what, assertion] of Object.entries(bad)) {
      expect([what, (await world.exchange(assertion)).body]).toEqual([what, refused]);
    }
    expect((await world.exchange(good)).status).toBe(200);
  });

  it('400 · gets invalid_grant when we signed it, but it is not a valid assertion', async () => {
    const { registration_id: sub } = await world.anonymous();
    const typ = 'oauth-id-jag+jwt';
    expect((await world.exchange(await signJwt(own({ sub }), { typ }))).status).toBe(200);
    const bad: Record<string, Promise<string>> = {
      'other audience': signJwt(own({ sub, aud: world.url.replace('127.0.0.1', 'localhost') }), { typ }),
      'other issuer': signJwt(own({ sub, iss: 'https://elsewhere.example' }), { typ }),
      expired: signJwt(own({ sub, exp: Math.floor(present() / 1_000) - 1 }), { typ }),
      'no exp': signJwt(own({ sub, exp: undefined }), { typ }),
      'other type': signJwt(own({ sub }), { typ: 'JWT' }),
      'an event': signJwt(own({ sub }), { typ: 'secevent+jwt' }),
      'other generation': signJwt(own({ sub, ver: 2 }), { typ }),
      'no generation': signJwt(own({ sub, ver: undefined }), { typ }),
      'a text as generation': signJwt(own({ sub, ver: '1' }), { typ }),
      'nobody’s registration': signJwt(own(), { typ }),
    };
    for (const [what, assertion] of Object.entries(bad)) {
      expect([what, (await world.exchange(await assertion)).body]).toEqual([what, refused]);
    }
  });

  it('400 · gets invalid_grant when it is an event or a token, and invalid_request when it is missing', async () => {
    const { access_token } = (await world.exchange((await world.anonymous()).identity_assertion)).body;
    for (const assertion of [await world.provider.event(), access_token]) {
      expect((await world.exchange(assertion)).body).toEqual(refused);
    }
    expect((await world.grant({ grant_type: jwtBearer })).body).toEqual(fault('invalid_request'));
  });

  it('400 · is refused with no grant type, an unknown one, or two', async () => {
    const { identity_assertion: assertion } = await world.anonymous();
    expect((await world.grant({ assertion })).body).toEqual(fault('invalid_request'));
    expect((await world.grant({ grant_type: 'password', assertion })).body).toEqual(fault('unsupported_grant_type'));
    const twice = await world.form('/v1/oauth2/token', [
      ['grant_type', jwtBearer],
      ['grant_type', jwtBearer],
      ['assertion', assertion],
    ]);
    expect([twice.status, twice.body]).toEqual([400, fault('invalid_request')]);
  });

  it('200 · gives a claimed agent separate tokens: one for MCP opens only MCP, one for the API only the API', async () => {
    const alice = await world.human();
    const { identity_assertion } = await world.claimed(alice);
    const forMcp = (await world.exchange(identity_assertion, { resource: `${world.url}/mcp` })).body.access_token;
    const forApi = (await world.exchange(identity_assertion)).body.access_token;
    const mcp = async (token: string) =>
      (
        await world.request('POST', '/mcp', {
          token,
          headers: { accept: 'application/json, text/event-stream' },
          body: { jsonrpc: '2.0', id: 1, method: 'ping' },
        })
      ).status;
    const a2a = async (token: string) =>
      (await world.request('POST', '/a2a', { token, body: { jsonrpc: '2.0', id: 1, method: 'message/send' } })).status;
    expect([await mcp(forMcp), (await world.me(forMcp)).status, await a2a(forMcp)]).toEqual([200, 401, 401]);
    expect([await mcp(forApi), (await world.me(forApi)).status, await a2a(forApi)]).toEqual([401, 200, 401]);
    const refusedTarget = await world.exchange(identity_assertion, { resource: `${world.url}/a2a` });
    expect(refusedTarget.body).toEqual(fault('invalid_target'));
  });

  it('200 · revoking the token ends only the token: the assertion gives another', async () => {
    const { identity_assertion } = await world.anonymous();
    const { access_token } = (await world.exchange(identity_assertion)).body;
    expect((await world.form('/v1/oauth2/revoke', { token: access_token })).status).toBe(200);
    expect((await world.me(access_token)).status).toBe(401);
    const next = (await world.exchange(identity_assertion)).body.access_token;
    expect((await world.me(next)).status).toBe(200);
  });

  it('the assertion of a claimed agent names the person, and is valid for the chosen time', async () => {
    const alice = await world.human();
    const { registrationId, identity_assertion, assertion_expires } = await world.claimed(alice, { days: 90 });
    expect(assertion_expires).toBe(isoTime(present() + days(90)));
    expect(decodeJwt(identity_assertion)).toMatchObject({
      sub: registrationId,
      ver: 2,
      email: alice.person.email,
      email_verified: true,
      exp: (present() + days(90)) / 1_000,
    });
  });
});

describe('all requests of an agent, from its registration to a signed assertion', () => {
  it('leave no secret in a log line, in the graph, or in the database', async () => {
    const alice = await world.human();
    const { agent, ceremony } = await world.begun(alice);
    const early = (await world.exchange(agent.identity_assertion)).body;
    await world.me(early.access_token);
    await world.openPage(alice, ceremony);
    await world.decide(alice, ceremony);
    const collected = (await world.poll(agent.claim_token)).body;
    await world.me(collected.access_token);
    const jwt = await world.provider.idJag();
    await world.present(jwt);
    await world.present(jwt);
    const secrets = {
      'claim token': agent.claim_token,
      'first assertion': agent.identity_assertion,
      'second assertion': collected.identity_assertion,
      'first access token': early.access_token,
      'second access token': collected.access_token,
      'attempt token': world.tokenOf(ceremony),
      'provider assertion': jwt,
    };
    const { rows } = await world.knex.raw(
      `select string_agg(x, ' ') as text from (
        select r::text as x from agent_registrations r union all select a::text from claim_attempts a
        union all select t::text from access_tokens t union all select u::text from used_jtis u) all_rows`,
    );
    const delegations = await world.graphql('{ agentDelegations { data { id agentName provider scopes } } }', {
      session: alice.session,
    });
    expect(delegations.body.data.agentDelegations.data[0].id).toBe(agent.registration_id);
    const places = { log: lines.join('\n'), database: rows[0].text, graph: JSON.stringify(delegations.body) };
    for (const [place, text] of Object.entries(places)) {
      for (const [what, secret] of Object.entries(secrets)) {
        expect([what, place, text.includes(secret)]).toEqual([what, place, false]);
      }
    }
    // The code is too short to search for it everywhere.
    expect(places.log).not.toContain(`"${ceremony.user_code}"`);
    const [attempt] = await world.knex('claim_attempts').where({ registrationId: agent.registration_id });
    expect(JSON.stringify(Object.values(attempt))).not.toContain(`"${ceremony.user_code}"`);
    expect(lines.length).toBeGreaterThan(10);
  });

  it('a restart between registration, claim and poll changes nothing', async () => {
    const alice = await world.human();
    const { agent, ceremony } = await world.begun(alice);
    await restart();
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('authorization_pending'));
    expect((await world.decide(alice, ceremony)).status).toBe(200);
    await restart();
    expect((await world.poll(agent.claim_token)).status).toBe(200);
  });

  /** The state of a new process: new connections, and the key read again. */
  async function restart(): Promise<void> {
    openDatabase({ connection: world.connection });
    bindSecretKey(Buffer.alloc(32, 7));
  }

  it('400 · text beyond the size of a claim token changes nothing and breaks nothing', async () => {
    for (const claim_token of ['\uD800', 'c'.repeat(201), 'é']) {
      expect([400, 401]).toContain((await world.startClaim({ claim_token, email: 'a@example.com' })).status);
    }
  });

  it('an unclaimed registration is deleted a week after it expires, with all its records; a claimed one is kept', async () => {
    const alice = await world.human();
    const [kept, { agent }] = [await world.claimed(alice, { days: 30 }), await world.begun(alice)];
    await world.exchange(agent.identity_assertion);
    await world.present(world.provider.idJag());
    const left = async (id: string) => (await world.knex('agent_registrations').where({ id })).length;
    world.clock.turn(hours(24) + days(7) - 1);
    await sweepAgentIdentities();
    expect(await left(agent.registration_id)).toBe(1);
    world.clock.turn(1);
    await sweepAgentIdentities();
    expect([await left(agent.registration_id), await left(kept.registrationId)]).toEqual([0, 1]);
    expect(await world.knex('claim_attempts').where({ registrationId: agent.registration_id })).toEqual([]);
    expect(await world.knex('used_jtis').where('expiresAt', '<=', present())).toEqual([]);
    expect(await world.knex('registration_counts')).toEqual([]);
    expect((await world.poll(agent.claim_token)).body).toEqual(fault('invalid_grant'));
  });

  it('400 · nothing is written for an invalid assertion', async () => {
    const count = async () => (await world.knex('agent_registrations')).length;
    const before = await count();
    const body = { type: 'identity_assertion', assertion_type: idJagType };
    await world.identity({ ...body, assertion: await world.provider.idJag({ email: undefined }) });
    await world.identity({ ...body, assertion: 'a.b.c' });
    expect(await count()).toBe(before);
  });
});
