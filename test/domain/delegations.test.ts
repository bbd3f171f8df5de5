// Access that a person has granted to programs, and its revocation (docs/contract.md#delegations; docs/contract.md#revocation).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { revokeRegistration } from '#domain/identity/agent-identities/revoke.ts';
import { issueAccessToken } from '#domain/identity/oauth/access-tokens.ts';
import { SignIn } from '#domain/identity/oauth/sign-ins.ts';
import { days, hours, minutes } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { type AgentWorld, type Human, openAgentWorld } from '../support/agent-world.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { present } from '../support/world.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await openAgentWorld();
});
afterAll(() => world.close());

const list = async (whom: Human) => {
  const { status, body } = await world.rest('GET', '/agent-delegations', { session: whom.session });
  expect(status).toBe(200);
  return body.data;
};
const revoke = (whom: Human, id: string) => world.rest('DELETE', `/agent-delegations/${id}`, { session: whom.session });

/** A client that the person signed in to, with a token. */
async function signedIn({ person, organization }: Human, resource: 'api' | 'mcp' = 'api') {
  const signInId = newId('signIn');
  const expiresAt = present() + days(30);
  const scopes = ['projects:read', 'offline_access'];
  const token = await transaction(async (trx) => {
    const [userId, orgId] = [person.id, organization.id];
    const client = { clientId: 'mcp_client', clientName: 'Editor' };
    await SignIn.query(trx).insert({
      id: signInId,
      ...client,
      userId,
      orgId,
      resource,
      scopes,
      createdAt: present(),
      expiresAt,
    });
    const issued = await issueAccessToken(trx, { owner: { signInId }, resource, scopes, grantExpiresAt: expiresAt });
    return issued.accessToken;
  });
  return { signInId, token };
}

describe('GET /agent-delegations', () => {
  it('200 · a person lists the agents they claimed and the clients they signed in to, newest first', async () => {
    const alice = await world.human();
    const { body: agent } = await world.identity({
      type: 'service_auth',
      login_hint: alice.person.email,
      agent_name: 'Bot',
    });
    await world.decide(alice, agent.claim, { days: 7 });
    const { access_token } = (await world.poll(agent.claim_token)).body;
    const claimedAt = present();
    world.clock.turn(minutes(1));
    await world.me(access_token);
    const { signInId } = await signedIn(alice, 'mcp');
    world.clock.turn(minutes(1));
    const { registrationId } = await world.linked(alice);
    expect(await list(alice)).toEqual([
      {
        id: registrationId,
        agentName: null,
        registrationType: 'identity_assertion',
        provider: world.provider.issuer,
        clientName: null,
        scopes: ['missions:read', 'projects:read'],
        projectId: null,
        resource: world.url,
        createdAt: present(),
        expiresAt: present() + days(30),
        lastUsedAt: null,
        status: 'active',
      },
      {
        id: signInId,
        agentName: null,
        registrationType: 'authorization_code',
        provider: null,
        clientName: 'Editor',
        scopes: ['projects:read'],
        projectId: null,
        resource: `${world.url}/mcp`,
        createdAt: claimedAt + minutes(1),
        expiresAt: claimedAt + minutes(1) + days(30),
        lastUsedAt: null,
        status: 'active',
      },
      {
        id: agent.registration_id,
        agentName: 'Bot',
        registrationType: 'service_auth',
        provider: null,
        clientName: null,
        scopes: ['missions:read', 'projects:read'],
        projectId: null,
        resource: world.url,
        createdAt: claimedAt,
        expiresAt: claimedAt + days(7),
        lastUsedAt: claimedAt + minutes(1),
        status: 'active',
      },
    ]);
  });

  it('200 · the list of delegations omits unclaimed agents and agents of other people, and shows expired ones as expired', async () => {
    const [alice, bob] = [await world.human(), await world.human()];
    await world.begun(alice);
    await world.claimed(bob);
    expect(await list(alice)).toEqual([]);
    await world.claimed(alice, { days: 1 });
    world.clock.turn(hours(24));
    expect((await list(alice)).map((one: { status: string }) => one.status)).toEqual(['expired']);
  });

  it('200, 404 · another organization of the same person neither lists the delegation nor revokes it', async () => {
    const alice = await world.human();
    const { registrationId } = await world.claimed(alice);
    const { organization: elsewhere } = await createOwner(world, alice.person, 'Elsewhere');
    const there = { session: alice.session, headers: { 'x-org-id': elsewhere.id } };
    expect((await world.rest('GET', '/agent-delegations', there)).body.data).toEqual([]);
    expect((await world.rest('DELETE', `/agent-delegations/${registrationId}`, there)).status).toBe(404);
  });

  it('403, 401 · the list of delegations is refused to tokens of people and agents, and without a credential', async () => {
    const alice = await world.human();
    const { access_token, registrationId } = await world.claimed(alice);
    for (const token of [access_token, await world.token(alice.person, alice.organization)]) {
      const listed = await world.rest('GET', '/agent-delegations', { token });
      expect([listed.status, listed.body.code]).toEqual([403, 'forbidden']);
      expect((await world.rest('DELETE', `/agent-delegations/${registrationId}`, { token })).status).toBe(403);
    }
    expect((await world.rest('GET', '/agent-delegations')).status).toBe(401);
  });
});

describe('revoking the delegation of an agent', () => {
  it('200 · revoking an agent ends its tokens and its assertion at once; a second call returns already-revoked', async () => {
    const alice = await world.human();
    const { agent, registrationId, access_token, identity_assertion } = await world.claimed(alice);
    const tokens = [access_token];
    for (let n = 0; n < 2; n++) tokens.push((await world.exchange(identity_assertion)).body.access_token);
    const forMcp = await world.exchange(identity_assertion, { resource: `${world.url}/mcp` });
    expect(forMcp.status).toBe(200);
    await world.form('/v1/oauth2/revoke', { token: tokens.pop()! });
    const answer = await revoke(alice, registrationId);
    const result = { kind: 'revoked', delegationId: registrationId, revokedAt: present(), revokedTokens: 3 };
    expect([answer.status, answer.body]).toEqual([200, result]);
    for (const token of tokens) expect((await world.me(token)).status).toBe(401);
    const exchanged = await world.exchange(identity_assertion);
    expect([exchanged.status, exchanged.body.error]).toEqual([400, 'invalid_grant']);
    world.clock.turn(minutes(1));
    const again = await revoke(alice, registrationId);
    expect(again.body).toEqual({ ...result, kind: 'already-revoked', revokedTokens: 0 });
    const claim = await world.startClaim({ claim_token: agent.claim_token, email: alice.person.email });
    expect([claim.status, claim.body.error]).toEqual([410, 'claim_expired']);
    expect((await world.poll(agent.claim_token)).body.error).toBe('expired_token');
    expect((await list(alice)).map((one: { status: string }) => one.status)).toEqual(['revoked']);
  });

  it('200 · an agent that is revoked before it collects its token does not get one', async () => {
    const alice = await world.human();
    const { agent, ceremony } = await world.begun(alice);
    await world.decide(alice, ceremony);
    expect((await revoke(alice, agent.registration_id)).body.revokedTokens).toBe(0);
    expect((await world.poll(agent.claim_token)).body.error).toBe('expired_token');
    expect((await world.openPage(alice, ceremony)).status).toBe(410);
  });

  it('200 · revoking the agent of a provider’s user ends the link, and the person must confirm again after the next assertion', async () => {
    const alice = await world.human();
    const { subject, registrationId } = await world.linked(alice);
    await revoke(alice, registrationId);
    const { body } = await world.present(world.provider.idJag({ sub: subject, email: alice.person.email }));
    expect(body.error).toBe('interaction_required');
    expect(body.registration_id).not.toBe(registrationId);
    expect((await world.openPage(alice, body.claim)).body).not.toContain('This would be your first link');
  });

  it('404 · a person cannot revoke an agent of another person, an unclaimed agent, an access token or a malformed id', async () => {
    const [alice, bob] = [await world.human(), await world.human()];
    const { registrationId, access_token } = await world.claimed(bob);
    const unclaimed = await world.anonymous();
    const { signInId } = await signedIn(bob);
    const ids = [registrationId, signInId, unclaimed.registration_id, 'tok_1', 'reg_', 'sgn_none', 'x', 'reg_%00'];
    for (const id of ids) {
      const answer = await revoke(alice, id);
      expect([id, answer.status]).toEqual([id, id === 'reg_%00' ? 400 : 404]);
    }
    expect((await world.me(access_token)).status).toBe(200);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'one of two concurrent calls revokes the agent; the other returns already-revoked (%i)',
    async () => {
      const alice = await world.human();
      const { registrationId } = await world.claimed(alice);
      const both = await Promise.all([revoke(alice, registrationId), revoke(alice, registrationId)]);
      expect(both.map(({ body }) => body.kind).sort()).toEqual(['already-revoked', 'revoked']);
      expect(both.map(({ body }) => body.revokedTokens).sort()).toEqual([0, 1]);
    },
  );

  it.each([1, 2, 3, 4, 5, 6])(
    'no token outlives the revocation, even when the agent exchanges its assertion meanwhile (%i)',
    async () => {
      const alice = await world.human();
      const { registrationId, identity_assertion } = await world.claimed(alice);
      const [revoked, ...exchanges] = await Promise.all([
        revoke(alice, registrationId),
        ...Array.from({ length: 4 }, () => world.exchange(identity_assertion)),
      ]);
      const issued = exchanges.filter(({ status }) => status === 200);
      expect(revoked.body.revokedTokens).toBe(1 + issued.length);
      for (const { body } of issued) expect((await world.me(body.access_token)).status).toBe(401);
    },
  );

  it('the operator can revoke any registration, claimed or not', async () => {
    const agent = await world.anonymous();
    const { access_token } = (await world.exchange(agent.identity_assertion)).body;
    const revoked = { revokedAt: present(), revokedTokens: 1 };
    expect(await revokeRegistration(agent.registration_id)).toEqual({ kind: 'revoked', ...revoked });
    expect((await world.me(access_token)).status).toBe(401);
    expect(await revokeRegistration(agent.registration_id)).toMatchObject({ kind: 'already-revoked' });
    await expect(revokeRegistration('reg_none')).rejects.toMatchObject({ status: 404 });
  });
});

describe('revoking the sign-in of a client', () => {
  it('200 · revoking a sign-in ends its tokens at once; a second call returns already-revoked', async () => {
    const alice = await world.human();
    const { signInId, token } = await signedIn(alice);
    expect((await world.me(token)).status).toBe(200);
    const { body } = await revoke(alice, signInId);
    expect(body).toEqual({ kind: 'revoked', delegationId: signInId, revokedAt: present(), revokedTokens: 1 });
    expect((await world.me(token)).status).toBe(401);
    expect((await revoke(alice, signInId)).body).toMatchObject({ kind: 'already-revoked', revokedTokens: 0 });
  });
});

describe('delegations over GraphQL', () => {
  it('a delegation shows the project that it is bound to', async () => {
    const alice = await world.human();
    const projectId = await createProject(world, alice, 'Shop', { repoFullName: 'our/shop' });
    await world.claimed(alice, { projectId });
    const answer = await world.graphql('{ agentDelegations { data { projectId project { name } } } }', {
      session: alice.session,
    });
    expect(answer.body.data.agentDelegations.data).toEqual([{ projectId, project: { name: 'Shop' } }]);
  });
});

it('200 · a delegation for a deleted project no longer gives access, and stays listed as revoked', async () => {
  const alice = await world.human();
  const token = await world.token(alice.person, alice.organization);
  const projectId = await createProject(world, { token }, 'Doomed');
  const { body: agent } = await world.identity({ type: 'service_auth', login_hint: alice.person.email });
  await world.decide(alice, agent.claim, { projectId });
  const { access_token } = (await world.poll(agent.claim_token)).body;
  const { signInId, token: clientToken } = await signedIn(alice);
  await world.knex('sign_ins').where({ id: signInId }).update({ projectId });
  const reach = async () => [(await world.me(access_token)).status, (await world.me(clientToken)).status] as const;
  expect(await reach()).toEqual([200, 200]);
  await world.rest('DELETE', `/projects/${projectId}`, { token });
  expect(await reach()).toEqual([401, 401]);
  const listed = await list(alice);
  expect(listed.map(({ status, projectId: of }: Record<string, string>) => [status, of])).toEqual([
    ['revoked', projectId],
    ['revoked', projectId],
  ]);
  for (const { id } of listed) expect((await revoke(alice, id)).body.kind).toBe('already-revoked');
});
