// Agents register, are claimed, and exchange their assertions for access tokens over real HTTP (docs/contract.md#assertions). The secrets of an
// agent must not appear in the log, in a GraphQL answer or in the database.
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { sweepAgentIdentities } from '#domain/identity/agent-identities/sweep.ts';
import { publicKeys, signJwt } from '#domain/identity/oauth/keys.ts';
import { days, hours, isoTime } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { idJagType, jwtBearer, openAgentWorld } from '../support/agent-world.ts';
import { oauthError } from '../support/oauth-world.ts';
import { present } from '../support/world.ts';

const lines: string[] = [];
const world = await openAgentWorld({ log: (line) => void lines.push(line) });
afterAll(() => world.close());

describe('Assertions at the token endpoint', () => {
  const refused = oauthError('invalid_grant');
  const own = (more: object = {}) => {
    const { issuer } = addresses();
    const at = Math.floor(present() / 1_000);
    return { iss: issuer, aud: issuer, sub: 'reg_x', jti: 'jti_x', iat: at, exp: at + 300, ver: 1, ...more };
  };

  it('400 invalid_grant · an assertion that a provider signed is not accepted at the token endpoint', async () => {
    expect((await world.exchange(await world.provider.idJag())).body).toEqual(refused);
  });

  it('400 invalid_grant · an altered or forged assertion is refused', async () => {
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

  it('400 invalid_grant · a token that the service signed is refused when it is not a valid assertion', async () => {
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

  it('400 · an access token or a security event in place of an assertion is refused with invalid_grant; a missing assertion is refused with invalid_request', async () => {
    const { access_token } = (await world.exchange((await world.anonymous()).identity_assertion)).body;
    for (const assertion of [await world.provider.event(), access_token]) {
      expect((await world.exchange(assertion)).body).toEqual(refused);
    }
    expect((await world.grant({ grant_type: jwtBearer })).body).toEqual(oauthError('invalid_request'));
  });

  it('400 · a token request with no grant type, an unknown one, or two is refused', async () => {
    const { identity_assertion: assertion } = await world.anonymous();
    expect((await world.grant({ assertion })).body).toEqual(oauthError('invalid_request'));
    expect((await world.grant({ grant_type: 'password', assertion })).body).toEqual(
      oauthError('unsupported_grant_type'),
    );
    const twice = await world.form('/v1/oauth2/token', [
      ['grant_type', jwtBearer],
      ['grant_type', jwtBearer],
      ['assertion', assertion],
    ]);
    expect([twice.status, twice.body]).toEqual([400, oauthError('invalid_request')]);
  });

  it('200 · a claimed agent gets separate tokens: a token for MCP opens only MCP, a token for the API only the API', async () => {
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
    expect(refusedTarget.body).toEqual(oauthError('invalid_target'));
  });

  it('200 · after an agent’s token is revoked, the agent can still exchange its assertion for another token', async () => {
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

describe('Agent registration and claim', () => {
  it('secrets of an agent are in no log line, no GraphQL answer and no database row', async () => {
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
    // The code is so short that its digits may occur anywhere, so the test searches only for the whole code in quotes.
    expect(places.log).not.toContain(`"${ceremony.user_code}"`);
    const [attempt] = await world.knex('claim_attempts').where({ registrationId: agent.registration_id });
    expect(JSON.stringify(Object.values(attempt))).not.toContain(`"${ceremony.user_code}"`);
    expect(lines.length).toBeGreaterThan(10);
  });

  it('a restart between registration, claim and poll changes nothing for the agent', async () => {
    const alice = await world.human();
    const { agent, ceremony } = await world.begun(alice);
    await restart();
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('authorization_pending'));
    expect((await world.decide(alice, ceremony)).status).toBe(200);
    await restart();
    expect((await world.poll(agent.claim_token)).status).toBe(200);
  });

  /** Puts the service into the state of a new process, which opens new database connections and reads its secret key again. */
  async function restart(): Promise<void> {
    openDatabase({ connection: world.connection });
    bindSecretKey(Buffer.alloc(32, 7));
  }

  it('a claim token that is too long or has invalid characters is refused with 400 or 401', async () => {
    for (const claim_token of ['\uD800', 'c'.repeat(201), 'é']) {
      expect([400, 401]).toContain((await world.startClaim({ claim_token, email: 'a@example.com' })).status);
    }
  });

  it('an unclaimed registration is deleted with its records a week after it expires; a claimed one is kept', async () => {
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
    expect((await world.poll(agent.claim_token)).body).toEqual(oauthError('invalid_grant'));
  });

  it('an invalid assertion registers no agent', async () => {
    const count = async () => (await world.knex('agent_registrations')).length;
    const before = await count();
    const body = { type: 'identity_assertion', assertion_type: idJagType };
    await world.identity({ ...body, assertion: await world.provider.idJag({ email: undefined }) });
    await world.identity({ ...body, assertion: 'a.b.c' });
    expect(await count()).toBe(before);
  });
});
