// Refreshing and revoking over real HTTP: a family of refresh tokens ends when one of them is reused (RFC 6749 §6, RFC 7009, RFC 9700
// §4.14.2; docs/contract.md#refresh-tokens).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '#access/principal.ts';
import { scopesOfRole } from '#access/scopes.ts';
import { signJwt } from '#domain/identity/oauth/keys.ts';
import { listSignIns, revokeSignIn } from '#domain/identity/oauth/sign-ins.ts';
import { sweepOAuth } from '#domain/identity/oauth/sweep.ts';
import { days, hours } from '#foundation/clock.ts';
import {
  authorizationRequest,
  type OAuthWorld,
  oauthError,
  openOAuthWorld,
  type Visit,
} from '../support/oauth-world.ts';
import { present } from '../support/world.ts';

let world: OAuthWorld;
let ada: Visit;
let client: string;
beforeAll(async () => {
  world = await openOAuthWorld();
  ada = await world.visitor('ada');
  client = await world.register();
});
afterAll(() => {
  expect(world.faults).toEqual([]);
  return world.close();
});

interface Tokens {
  access_token: string;
  refresh_token: string;
  scope: string;
}

async function signIn(visit: Visit = ada, more: Record<string, string> = {}): Promise<Tokens> {
  const { verifier, parameters } = authorizationRequest(client, more);
  const code = await world.code(visit, parameters);
  const { body } = await world.exchange(client, code, verifier);
  return body;
}

const refresh = (refresh_token: string, more: Record<string, string> = {}) =>
  world.token({ grant_type: 'refresh_token', refresh_token, client_id: client, ...more });

const revoke = (token: string, more: Record<string, string> = {}) =>
  world.form('/v1/oauth2/revoke', { token, ...more });

const opens = (tokens: { access_token: string }) => world.opens(tokens.access_token, 'api');

/** The caller (identity and permissions) of requests that the person sends from the console. */
const callerOf = ({ person, organization }: Visit): Caller => ({
  principalType: 'cookie',
  credentialId: 'ses_test',
  userId: person.id,
  orgId: organization.id,
  role: 'owner',
  scopes: scopesOfRole('owner'),
  projectId: null,
});

describe('Refreshing a token', () => {
  it('a refresh returns a new pair of tokens; the old access token stays valid, the old refresh token is used up', async () => {
    const first = await signIn();
    const { status, headers, body } = await refresh(first.refresh_token);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      access_token: expect.stringMatching(/^oat_/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: first.scope,
      refresh_token: expect.stringMatching(/^ort_/),
    });
    expect(body.refresh_token).not.toBe(first.refresh_token);
    expect([await opens(first), await opens(body)]).toEqual([true, true]);
  });

  it('a refresh returns fewer scopes on request, and all of them the next time', async () => {
    const first = await signIn();
    const narrow = (await refresh(first.refresh_token, { scope: 'missions:read' })).body;
    expect(narrow.scope).toBe('missions:read');
    expect((await refresh(narrow.refresh_token)).body.scope).toBe(first.scope);
  });

  it('invalid_scope · a refresh for more scopes than granted is refused; the refresh token stays valid', async () => {
    const { refresh_token } = await signIn();
    for (const scope of ['missions:read billing:write', 'made:up', 'projects:read']) {
      const answer = await refresh(refresh_token, { scope });
      expect([answer.status, answer.body]).toEqual([400, oauthError('invalid_scope')]);
    }
    expect((await refresh(refresh_token)).status).toBe(200);
  });

  it('invalid_target · a refresh for another resource than the approved one is refused; the refresh token stays valid', async () => {
    const { refresh_token } = await signIn(ada, { resource: `${world.url}/mcp` });
    for (const resource of [world.url, `${world.url}/a2a`, 'https://other.example']) {
      expect((await refresh(refresh_token, { resource })).body).toEqual(oauthError('invalid_target'));
    }
    const { body } = await refresh(refresh_token, { resource: `${world.url}/mcp` });
    expect(await world.opens(body.access_token, 'mcp')).toBe(true);
    expect(await world.opens(body.access_token, 'api')).toBe(false);
  });

  it('invalid_grant · a reused refresh token revokes the newest refresh token and all access tokens', async () => {
    const first = await signIn();
    const second = (await refresh(first.refresh_token)).body;
    const third = (await refresh(second.refresh_token)).body;
    expect((await refresh(first.refresh_token)).body).toEqual(oauthError('invalid_grant'));
    expect([await opens(first), await opens(second), await opens(third)]).toEqual([false, false, false]);
    expect((await refresh(third.refresh_token)).body).toEqual(oauthError('invalid_grant'));
  });

  it('only one of several concurrent refreshes gets tokens, and the sign-in is over afterwards', async () => {
    for (let round = 0; round < 10; round++) {
      const { refresh_token } = await signIn();
      const answers = await Promise.all(Array.from({ length: 4 }, () => refresh(refresh_token)));
      const won = answers.filter(({ status }) => status === 200);
      expect(won.length).toBe(1);
      for (const { body } of answers.filter(({ status }) => status !== 200))
        expect(body).toEqual(oauthError('invalid_grant'));
      expect(await opens(won[0]!.body)).toBe(false);
      expect((await refresh(won[0]!.body.refresh_token)).body).toEqual(oauthError('invalid_grant'));
    }
  });

  it('a concurrent refresh and revocation leave no valid token', async () => {
    for (let round = 0; round < 10; round++) {
      world.clock.turn(1);
      const { refresh_token } = await signIn();
      const [newest] = await listSignIns(callerOf(ada));
      const [answer, ended] = await Promise.all([refresh(refresh_token), revokeSignIn(callerOf(ada), newest!.id)]);
      expect(ended.kind).toBe('revoked');
      if (answer.status === 200) {
        expect(await opens(answer.body)).toBe(false);
        expect((await refresh(answer.body.refresh_token)).body).toEqual(oauthError('invalid_grant'));
      } else expect(answer.body).toEqual(oauthError('invalid_grant'));
    }
  });

  it('a refresh may omit client_id; a refresh with the client_id of another client is refused, and an unknown client is told to register', async () => {
    const { refresh_token } = await signIn();
    const other = await world.register();
    expect((await refresh(refresh_token, { client_id: other })).body).toEqual(oauthError('invalid_grant'));
    const unknown = await refresh(refresh_token, { client_id: 'mcp_unknown' });
    expect([unknown.status, unknown.body]).toEqual([401, oauthError('invalid_client')]);
    expect((await world.token({ grant_type: 'refresh_token', refresh_token })).status).toBe(200);
  });

  it('invalid_grant · an access token, a personal token, an assertion and an invalid token cannot be refreshed', async () => {
    const { access_token } = await signIn();
    const at = Math.floor(present() / 1_000);
    const claims = { iss: world.url, aud: world.url, sub: 'reg_1', iat: at, exp: at + 60 };
    const assertion = await signJwt(claims, { typ: 'oauth-id-jag+jwt' });
    for (const token of [access_token, await world.personalToken(ada), assertion, 'ort_', 'x'.repeat(10_000)]) {
      const answer = await refresh(token);
      expect([answer.status, answer.body]).toEqual([400, oauthError('invalid_grant')]);
    }
    expect((await world.token({ grant_type: 'refresh_token' })).body).toEqual(oauthError('invalid_request'));
  });

  it('invalid_grant · a refresh is refused when the person has left the organization', async () => {
    const visit = await world.visitor('leaver', 'member');
    const { refresh_token } = await signIn(visit);
    await world.knex('memberships').where({ userId: visit.person.id }).delete();
    expect((await refresh(refresh_token)).body).toEqual(oauthError('invalid_grant'));
  });
});

describe('Revoking a token (RFC 7009)', () => {
  it('200 and empty · revoking an access token ends only that token', async () => {
    const tokens = await signIn();
    const answer = await revoke(tokens.access_token);
    expect([answer.status, answer.body, answer.headers.get('cache-control')]).toEqual([200, '', 'no-store']);
    expect(await opens(tokens)).toBe(false);
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });

  it('200 · revoking accepts an unknown or revoked token, a wrong or unknown hint, and another kind of token', async () => {
    const tokens = await signIn();
    const personal = await world.personalToken(ada);
    for (const [token, hint] of [
      ['oat_unknown', 'access_token'],
      [tokens.access_token, 'refresh_token'],
      [tokens.access_token, 'made_up'],
      [personal, 'access_token'],
      ['x'.repeat(5_000), ''],
    ] as const) {
      const answer = await revoke(token, { token_type_hint: hint });
      expect([answer.status, answer.body]).toEqual([200, '']);
    }
    expect(await opens(tokens)).toBe(false);
    expect((await world.request('GET', '/v1/me', { token: personal })).status).toBe(200);
  });

  it('400 · a revocation without a token is refused', async () => {
    const answer = await world.form('/v1/oauth2/revoke', { token_type_hint: 'access_token' });
    expect([answer.status, answer.body]).toEqual([400, oauthError('invalid_request')]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it.each(['current', 'used'])('200 · revoking the %s refresh token ends the sign-in', async (which) => {
    const first = await signIn();
    const second = (await refresh(first.refresh_token)).body;
    const token = which === 'current' ? second.refresh_token : first.refresh_token;
    expect((await revoke(token, { token_type_hint: 'refresh_token', client_id: client })).status).toBe(200);
    expect([await opens(first), await opens(second)]).toEqual([false, false]);
    expect((await refresh(second.refresh_token)).body).toEqual(oauthError('invalid_grant'));
    expect((await revoke(token)).status).toBe(200);
  });

  it('400 invalid_client · a client cannot revoke the token of another client', async () => {
    const tokens = await signIn();
    const other = await world.register();
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      const answer = await revoke(token, { client_id: other });
      expect([answer.status, answer.body]).toEqual([400, oauthError('invalid_client')]);
    }
    expect(await opens(tokens)).toBe(true);
  });

  it('a revocation may have a JSON body', async () => {
    const tokens = await signIn();
    const answer = await world.request('POST', '/v1/oauth2/revoke', { body: { token: tokens.access_token } });
    expect([answer.status, await opens(tokens)]).toEqual([200, false]);
  });
});

describe('Sign-ins of a person', () => {
  it('a sign-in is listed with client, access and last use; ending it reports how many tokens ended', async () => {
    const visit = await world.visitor('grace');
    const tokens = await signIn(visit);
    await refresh(tokens.refresh_token);
    await opens(tokens);
    const [listed, ...others] = await listSignIns(callerOf(visit));
    expect(others).toEqual([]);
    const signedInAt = present();
    expect(listed).toEqual({
      id: expect.stringMatching(/^sgn_/),
      clientId: client,
      clientName: 'Test client',
      userId: visit.person.id,
      orgId: visit.organization.id,
      projectId: null,
      resource: 'api',
      scopes: ['missions:read', 'missions:run'],
      createdAt: signedInAt,
      expiresAt: signedInAt + days(90),
      revokedAt: null,
      orgOnly: false,
      lastUsedAt: expect.toSatisfy((at) => at === null || at === signedInAt),
    });
    await expect(revokeSignIn(callerOf(ada), listed!.id)).rejects.toMatchObject({ status: 404 });
    const revokedAt = present();
    expect(await revokeSignIn(callerOf(visit), listed!.id)).toEqual({ kind: 'revoked', revokedAt, revokedTokens: 2 });
    world.clock.turn(1_000);
    const again = await revokeSignIn(callerOf(visit), listed!.id);
    expect(again).toEqual({ kind: 'already-revoked', revokedAt, revokedTokens: 0 });
    expect(await opens(tokens)).toBe(false);
  });

  it('a sign-in that has ended is kept until none of its tokens can be presented any longer, and then deleted', async () => {
    const visit = await world.visitor('lin');
    const tokens = await signIn(visit);
    const mine = { userId: visit.person.id };
    world.clock.turn(days(2));
    await sweepOAuth();
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
    expect((await refresh(tokens.refresh_token)).body).toEqual(oauthError('invalid_grant'));
    expect(await world.knex('signIns').where(mine)).toHaveLength(1);
    world.clock.turn(days(31));
    await sweepOAuth();
    expect(await world.knex('signIns').where(mine)).toHaveLength(0);
    expect(await world.knex('authorizationCodes').where(mine)).toHaveLength(0);
    world.clock.turn(hours(1));
  });

  it('secrets of a sign-in are not stored in plain text in any table', async () => {
    const tokens = await signIn(await world.visitor('hopper'));
    const dump = JSON.stringify(
      await Promise.all(
        ['accessTokens', 'refreshTokens', 'authorizationCodes', 'signIns', 'signingKeys'].map((table) =>
          world.knex.raw(
            `select row_to_json(t)::text as row from ${table.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)} t`,
          ),
        ),
      ).then((results) => results.map(({ rows }) => rows)),
    );
    for (const secret of [tokens.access_token, tokens.refresh_token]) {
      expect(dump).not.toContain(secret);
      expect(dump).not.toContain(secret.slice(4));
    }
    expect(dump).not.toMatch(/\\"d\\"/);
  });
});
