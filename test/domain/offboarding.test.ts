// Off-boarding: a member is removed, a role is changed, an account is disabled; all access of the person ends permanently.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrgRole } from '#access/roles.ts';
import type { GrantableScope } from '#access/scopes.ts';
import { approve } from '#domain/identity/oauth/codes.ts';
import { disablePerson, enablePerson } from '#domain/lifecycle/offboarding/disable.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { findPersonByAddress } from '#domain/organization/people/operations.ts';
import { sql } from '#foundation/postgres/database.ts';
import { type AgentWorld, openAgentWorld } from '../support/agent-world.ts';
import { createMember, createOwner, createProject } from '../support/callers.ts';
import { pkce, redirectUri } from '../support/oauth-world.ts';
import type { Session } from '../support/world.ts';

let world: AgentWorld;
let clientId: string;
let count = 0;

beforeAll(async () => {
  world = await openAgentWorld();
  // Connections are opened before a race, because a call that first has to open one would come too late.
  await Promise.all(Array.from({ length: 16 }, () => sql('select pg_sleep(0.05)')));
  const body = { redirect_uris: [redirectUri], client_name: 'Client' };
  clientId = (await world.request('POST', '/v1/oauth2/register', { body })).body.client_id;
});
afterAll(() => world.close());

interface Place {
  owner: Person;
  org: Organization;
  token: string;
}

async function place(): Promise<Place> {
  const { person: owner, organization: org, token } = await createOwner(world, `Owner${++count}`, `Works ${count}`);
  return { owner, org, token };
}
async function member({ org }: Place, role: OrgRole = 'admin'): Promise<Person> {
  const { person } = await createMember(world, org, `Member${++count}`, role);
  return person;
}
const membershipPath = ({ org }: Place, { id }: Person) => `/organizations/${org.id}/memberships/${id}`;
const remove = (at: Place, person: Person, token = at.token) =>
  world.rest('DELETE', membershipPath(at, person), { token });
const setRole = (at: Place, person: Person, role: OrgRole, token = at.token) =>
  world.rest('PATCH', membershipPath(at, person), { token, body: { role } });
const add = (at: Place, person: Person, role: OrgRole = 'admin') =>
  world.rest('POST', `/organizations/${at.org.id}/memberships`, { token: at.token, body: { userId: person.id, role } });
const rolesIn = async ({ org }: Place) =>
  Object.fromEntries(
    (await world.knex('memberships').where({ orgId: org.id })).map(({ userId, role }) => [userId, role]),
  );

/** An unused authorization code of a client. */
async function authorized(person: Person, org: Organization) {
  const { verifier, challenge } = pkce();
  const code = await approve(
    {
      client: { id: clientId, name: 'Client', redirectUris: [redirectUri] },
      redirectUri,
      state: undefined,
      codeChallenge: challenge,
      resource: 'api',
      scopes: ['projects:read'],
      isOffline: true,
    } as never,
    {
      userId: person.id,
      orgId: org.id,
      projectId: null,
      isOrgOnly: false,
      scopes: ['projects:read'],
      expiresInDays: 30,
    },
  );
  return { grant_type: 'authorization_code', code, code_verifier: verifier, client_id: clientId };
}

const oauthToken = (fields: Record<string, string>) => world.form('/v1/oauth2/token', fields);

/** One credential of each kind that acts for a person. */
async function credentials(person: Person, org: Organization) {
  const session = await world.session(person, org.id);
  const human = { person, organization: org, session };
  const tokens = (await oauthToken(await authorized(person, org))).body;
  const agent = await world.claimed(human);
  return {
    session,
    personal: await world.token(person, org),
    oauth: tokens.access_token as string,
    refresh: tokens.refresh_token as string,
    code: await authorized(person, org),
    agent: agent.access_token,
    assertion: agent.identity_assertion,
    linked: await world.linked(human),
  };
}
type Credentials = Awaited<ReturnType<typeof credentials>>;

/** Names of the credentials that still work. A refresh token and a code are tried last, because trying uses them up. */
async function working(held: Credentials): Promise<string[]> {
  const found: string[] = [];
  const opens = async (name: string, token: string) => {
    if ((await world.rest('GET', '/me', { token })).status === 200) found.push(name);
  };
  await opens('personal', held.personal);
  await opens('oauth', held.oauth);
  await opens('agent', held.agent);
  await opens('linked', held.linked.access_token);
  if ((await world.exchange(held.assertion)).status === 200) found.push('assertion');
  if ((await world.exchange(held.linked.identity_assertion)).status === 200) found.push('linked assertion');
  const refreshed = await oauthToken({ grant_type: 'refresh_token', refresh_token: held.refresh, client_id: clientId });
  if (refreshed.status === 200) found.push('refresh');
  if ((await oauthToken(held.code)).status === 200) found.push('code');
  return found;
}
const everything = ['personal', 'oauth', 'agent', 'linked', 'assertion', 'linked assertion', 'refresh', 'code'];

/** A recurring mission created in this session. */
async function recurring(session: Session, path: '/scheduled-tasks' | '/automations'): Promise<string> {
  const n = ++count;
  const projectId = await createProject(world, { session }, `Shop ${n}`);
  const schedule = { interval: 'daily', time: '09:00', timezone: 'UTC' };
  const mission = { projectId, name: 'Check', prompt: 'echo', triggers: [{ kind: 'schedule', schedule }] };
  return (await world.rest('POST', path, { session, body: mission })).body.id;
}

describe('removing a member', () => {
  it('200 · a removed member loses all access to the organization, and regains none of the access when added again', async () => {
    const at = await place();
    const elsewhere = await place();
    const person = await member(at);
    await world.join(elsewhere.org, person, 'admin');
    const [here, kept, there] = [
      await credentials(person, at.org),
      await credentials(person, at.org),
      await credentials(person, elsewhere.org),
    ];
    expect(await working(kept)).toEqual(everything);

    const answer = await remove(at, person);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(await rolesIn(at)).toEqual({ [at.owner.id]: 'owner' });
    expect(await working(here)).toEqual([]);
    expect((await world.rest('GET', '/me', { session: here.session })).body.orgId).toBe(elsewhere.org.id);

    expect((await add(at, person)).status).toBe(201);
    expect(await working(here)).toEqual([]);
    const tokens = await world.rest('GET', '/tokens', { session: here.session, headers: { 'x-org-id': at.org.id } });
    expect(tokens.body.data.every(({ revokedAt }: { revokedAt: number | null }) => revokedAt !== null)).toBe(true);
    expect(await working(there)).toEqual(everything);
  });

  it('200 · the agent of a provider’s user must be claimed again after the user is removed and added again', async () => {
    const at = await place();
    const person = await member(at);
    const session = await world.session(person, at.org.id);
    const { subject } = await world.linked({ person, organization: at.org, session });
    await remove(at, person);
    await add(at, person);
    const claims = world.provider.claimsOf({ sub: subject, email: person.email });
    const { body } = await world.present(world.provider.sign(claims));
    expect(body).toMatchObject({ error: 'interaction_required' });
  });

  it('200 · the removal of a member disables the recurring missions that the member set up, and no others', async () => {
    const at = await place();
    const person = await member(at);
    const [theirs, owners] = [await world.session(person, at.org.id), await world.session(at.owner, at.org.id)];
    const [task, automation, other] = [
      await recurring(theirs, '/scheduled-tasks'),
      await recurring(theirs, '/automations'),
      await recurring(owners, '/scheduled-tasks'),
    ];
    await remove(at, person);
    const enabled = async (path: string) => {
      const { body } = await world.rest('GET', path, { token: at.token });
      return [body.enabled, body.nextRunAt !== null];
    };
    expect(await enabled(`/scheduled-tasks/${task}`)).toEqual([false, false]);
    expect(await enabled(`/automations/${automation}`)).toEqual([false, false]);
    expect(await enabled(`/scheduled-tasks/${other}`)).toEqual([true, true]);
  });

  it('200 · the removal of a member revokes an open invite to them', async () => {
    const at = await place();
    const person = await world.person(`Invited${++count}`);
    const body = { email: person.email, role: 'member' };
    const { body: invite } = await world.rest('POST', '/invites', { token: at.token, body });
    await add(at, person);
    await remove(at, person);
    const { body: list } = await world.rest('GET', '/invites', { token: at.token });
    expect(list.invites).toEqual([{ ...invite, status: 'revoked' }]);
  });

  it('200 · the removal of a member ends their open subscriptions', async () => {
    const at = await place();
    const person = await member(at);
    const session = await world.session(person, at.org.id);
    const task = await recurring(session, '/scheduled-tasks');
    const { body: run } = await world.rest('POST', `/scheduled-tasks/${task}/run`, { session });
    const query = `subscription { runUpdated(runId: "${run.runId}") { status } }`;
    const response = await fetch(`${world.url}/graphql`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${await world.token(person, at.org)}`,
      },
      body: JSON.stringify({ query }),
    });
    expect(response.status).toBe(200);
    await remove(at, person);
    // Changes are delivered to a caller whose access was checked at most a second ago.
    world.clock.turn(1_000);
    await world.graphql(`mutation { cancelRun(runId: "${run.runId}") { id } }`, { token: at.token });
    expect(await response.text()).not.toContain('canceled');
  });

  it('404 · a person who is a member of no organization, or only of another one, cannot be removed', async () => {
    const [at, other] = [await place(), await place()];
    const person = await member(at);
    expect((await remove(at, other.owner)).body).toMatchObject({
      code: 'not_found',
      description: 'No such membership.',
    });
    expect((await remove(other, other.owner, at.token)).body.description).toBe('No such organization.');
    expect((await setRole(other, other.owner, 'viewer', at.token)).status).toBe(404);
    await remove(at, person);
    expect((await remove(at, person)).status).toBe(404);
    expect((await setRole(at, person, 'viewer')).status).toBe(404);
  });

  it('403 · removing members and changing roles requires an admin', async () => {
    const at = await place();
    const [person, other] = [await member(at, 'member'), await member(at)];
    const token = await world.token(person, at.org);
    for (const answer of [await remove(at, other, token), await setRole(at, other, 'viewer', token)]) {
      expect([answer.status, answer.body.code]).toEqual([403, 'missing_scope']);
    }
  });
});

describe('changing a role', () => {
  it('200 · a changed role applies to the person’s tokens at their next call', async () => {
    const at = await place();
    const person = await member(at);
    const scopes: GrantableScope[] = ['projects:read', 'projects:write', 'missions:run', 'members:write'];
    const token = await world.token(person, at.org, { scopes });
    const answer = await setRole(at, person, 'viewer');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      orgId: at.org.id,
      userId: person.id,
      role: 'viewer',
      createdAt: expect.any(Number),
    });
    const { body } = await world.rest('GET', '/me', { token });
    expect([body.role, body.scopes]).toEqual(['viewer', ['projects:read']]);
  });

  it.each([
    ['owner', 'owner', 'admin', 200],
    ['owner', 'admin', 'owner', 200],
    ['owner', 'member', 'member', 200],
    ['admin', 'admin', 'viewer', 200],
    ['admin', 'viewer', 'admin', 200],
    ['admin', 'owner', 'admin', 403],
    ['admin', 'owner', 'owner', 403],
    ['admin', 'admin', 'owner', 403],
  ] as const)('a person with the role %s changes the role %s to %s: %i', async (own, from, to, status) => {
    const at = await place();
    const [actor, person] = [await member(at, own), await member(at, from)];
    const answer = await setRole(at, person, to, await world.token(actor, at.org));
    expect(answer.status).toBe(status);
    expect((await rolesIn(at))[person.id]).toBe(status === 200 ? to : from);
    if (status === 403) expect(answer.body.description).toBe('role: only an owner can grant or remove the role owner.');
  });

  it('403 · an admin cannot remove an owner', async () => {
    const at = await place();
    const [actor, person] = [await member(at), await member(at, 'owner')];
    expect((await remove(at, person, await world.token(actor, at.org))).status).toBe(403);
    expect((await rolesIn(at))[person.id]).toBe('owner');
  });

  it('409 · the last owner cannot be removed or demoted; an owner whose account is disabled does not count', async () => {
    const at = await place();
    const disabled = await member(at, 'owner');
    await disablePerson((await findPersonByAddress(disabled.email))!);
    for (const answer of [await setRole(at, at.owner, 'admin'), await remove(at, at.owner)]) {
      expect([answer.status, answer.body.code, answer.body.description]).toEqual([
        409,
        'conflict',
        'An organization needs an owner: make another member an owner first.',
      ]);
    }
    expect((await setRole(at, at.owner, 'owner')).status).toBe(200);
    expect((await rolesIn(at))[at.owner.id]).toBe('owner');
  });

  it.each([
    ['no body', undefined, 'body'],
    ['no role', {}, 'role: is required'],
    ['an unknown role', { role: 'king' }, 'role: must be one of "owner", "admin", "member", "viewer"'],
  ])('400 · a change of a role is refused with %s', async (_what, body, says) => {
    const at = await place();
    const answer = await world.rest('PATCH', membershipPath(at, at.owner), { token: at.token, body });
    expect(answer.status).toBe(400);
    expect(answer.body.description).toContain(says);
  });

  it('members are removed and roles changed over GraphQL as over REST', async () => {
    const at = await place();
    const person = await member(at);
    const where = `orgId: "${at.org.id}", userId: "${person.id}"`;
    const ask = (mutation: string) => world.graphql(`mutation { ${mutation} }`, { token: at.token });
    const changed = await ask(`updateMembership(${where}, input: { role: member }) { role person { email } }`);
    expect(changed.body.data.updateMembership).toEqual({ role: 'member', person: { email: person.email } });
    const removed = await ask(`deleteMembership(${where}) { ok }`);
    expect(removed.body.data.deleteMembership).toEqual({ ok: true });
    expect(await rolesIn(at)).toEqual({ [at.owner.id]: 'owner' });
  });
});

describe('concurrent removals and changes of roles', () => {
  const rounds = Array.from({ length: 8 }, (_, round) => round);

  it('two owners who demote or remove each other leave one owner', async () => {
    for (const round of rounds) {
      const at = await place();
      const other = await member(at, 'owner');
      const token = await world.token(other, at.org);
      const act =
        round % 2 ? remove : (...[place, person, by]: Parameters<typeof remove>) => setRole(place, person, 'admin', by);
      const answers = await Promise.all([act(at, other), act(at, at.owner, token)]);
      expect(answers.map(({ status }) => status === 200).sort()).toEqual([false, true]);
      expect(Object.values(await rolesIn(at)).filter((role) => role === 'owner')).toHaveLength(1);
    }
  });

  it('a member is not demoted by an owner who has lost the role during the request', async () => {
    for (const _ of rounds) {
      const at = await place();
      const [second, third] = [await member(at, 'owner'), await member(at, 'owner')];
      const token = await world.token(second, at.org);
      const [first, next] = await Promise.all([setRole(at, second, 'viewer'), setRole(at, third, 'viewer', token)]);
      expect(first.status).toBe(200);
      // The second call takes effect before the demotion or is refused after it.
      expect([200, 403]).toContain(next.status);
      expect((await rolesIn(at))[third.id]).toBe(next.status === 200 ? 'viewer' : 'owner');
    }
  });

  it('no credential that is created while a person is removed outlives the removal', async () => {
    for (const round of rounds) {
      const at = await place();
      const person = await member(at);
      const session = await world.session(person, at.org.id);
      const human = { person, organization: at.org, session };
      const [code, begun] = [await authorized(person, at.org), await world.begun(human)];
      const create = { name: 'Race', scopes: ['projects:read'] };
      const work = [
        () => remove(at, person),
        () => world.rest('POST', '/tokens', { session, body: create, headers: { 'x-org-id': at.org.id } }),
        () => oauthToken(code),
        () => world.decide(human, begun.ceremony),
        () => authorized(person, at.org).catch(() => null),
        () => world.rest('POST', '/tokens', { session, body: create, headers: { 'x-org-id': at.org.id } }),
      ];
      // Each round starts with a different call.
      const order = [...work.slice(round % work.length), ...work.slice(0, round % work.length)];
      await Promise.all(order.map((start) => start()));
      expect(await rolesIn(at)).toEqual({ [at.owner.id]: 'owner' });
      expect(await living(person)).toEqual({ tokens: 0, sign_ins: 0, agent_registrations: 0, authorization_codes: 0 });
    }
  });

  it('no credential or session that is created while an account is being disabled stays valid', async () => {
    for (const round of rounds) {
      const at = await place();
      const person = await member(at);
      const session = await world.session(person, at.org.id);
      const human = { person, organization: at.org, session };
      const [code, begun] = [await authorized(person, at.org), await world.begun(human)];
      const create = { name: 'Race', scopes: ['projects:read'] };
      const record = (await findPersonByAddress(person.email))!;
      const work = [
        () => disablePerson(record),
        () => world.rest('POST', '/tokens', { session, body: create }),
        () => oauthToken(code),
        () => world.decide(human, begun.ceremony),
        () => world.session(person).catch(() => null),
        () => authorized(person, at.org).catch(() => null),
      ];
      const order = [...work.slice(round % work.length), ...work.slice(0, round % work.length)];
      await Promise.all(order.map((start) => start()));
      expect(await living(person)).toEqual({ tokens: 0, sign_ins: 0, agent_registrations: 0, authorization_codes: 0 });
      expect(await world.knex('sessions').where({ personId: person.id, endedAt: null })).toEqual([]);
    }
  });

  async function living({ id }: Person) {
    const alive = async (table: string, column = 'revokedAt') =>
      (await world.knex(table).where({ userId: id, [column]: null })).length;
    return {
      tokens: await alive('tokens'),
      sign_ins: await alive('sign_ins'),
      agent_registrations: await alive('agent_registrations'),
      authorization_codes: await alive('authorization_codes', 'usedAt'),
    };
  }
});

describe('disabling a person’s account', () => {
  it('a disabled account loses its sessions and all access in every organization; enabling restores none of it', async () => {
    const [one, two] = [await place(), await place()];
    const person = await member(one);
    await world.join(two.org, person, 'member');
    const held = [await credentials(person, one.org), await credentials(person, two.org)];
    const record = (await findPersonByAddress(person.email))!;

    const disabled = await disablePerson(record);
    expect(disabled.disabledAt).toEqual(expect.any(Number));
    for (const credential of held) {
      expect(await working(credential)).toEqual([]);
      expect((await world.rest('GET', '/me', { session: credential.session })).status).toBe(401);
    }
    await expect(world.session(person)).rejects.toMatchObject({ status: 403 });
    await expect(authorized(person, one.org)).rejects.toMatchObject({ status: 404 });
    await expect(world.token(person, one.org)).rejects.toMatchObject({ status: 404 });

    expect((await enablePerson(disabled)).disabledAt).toBeNull();
    for (const credential of held) {
      expect(await working(credential)).toEqual([]);
      expect((await world.rest('GET', '/me', { session: credential.session })).status).toBe(401);
    }
    const session = await world.session(person, one.org.id);
    expect((await world.rest('GET', '/me', { session })).body).toMatchObject({ orgId: one.org.id, role: 'admin' });
    expect(await working(await credentials(person, two.org))).toEqual(everything);
  });
});
