// The caller's identity and the grantable scopes, for every kind of caller (docs/contract.md#me-and-scopes).
import { graphql } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { type OrgRole, orgRoles } from '#access/roles.ts';
import { catalog, presetScopes, scopePresets, scopesOfRole } from '#access/scopes.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { createContext } from '#graph/context.ts';
import { schema } from '#schema.ts';
import { createMember, createOwner, createProject } from '../support/callers.ts';
import { openWorld, type Session, type World } from '../support/world.ts';

let world: World;
let acme: Organization;
let projectId: string;
const people = {} as Record<OrgRole, { person: Person; session: Session; token: string }>;

beforeAll(async () => {
  world = await openWorld();
  const owner = await createOwner(world, 'Alice', 'Acme');
  acme = owner.organization;
  for (const role of orgRoles) {
    const { person, token } = role === 'owner' ? owner : await createMember(world, acme, role, role);
    people[role] = { person, session: await world.session(person, acme.id), token };
  }
  projectId = await createProject(world, { token: people.owner.token }, 'Shop');
});
afterAll(() => world.close());

/** The caller behind an unclaimed agent's token. */
const unclaimed: Caller = {
  principalType: 'agent',
  credentialId: 'reg_1',
  userId: null,
  orgId: null,
  role: null,
  scopes: new Set(),
  projectId: null,
};
const asUnclaimed = (source: string) => graphql({ schema, source, contextValue: createContext(unclaimed, 'req_1') });

describe('GET /me', () => {
  const can: Record<OrgRole, string[]> = {
    owner: ['org.manage', 'members.manage', 'billing.manage', 'projects.manage', 'missions.run', 'tokens.create'],
    admin: ['org.manage', 'members.manage', 'projects.manage', 'missions.run', 'tokens.create'],
    member: ['missions.run', 'tokens.create'],
    viewer: ['tokens.create'],
  };

  it.each(orgRoles)('200 · a person who is %s holds all scopes of the role in the console', async (role) => {
    const { person, session } = people[role];
    const { status, body } = await world.rest('GET', '/me', { session });
    expect(status).toBe(200);
    expect(body).toEqual({
      principalType: 'cookie',
      userId: person.id,
      orgId: acme.id,
      role,
      capabilities: can[role],
      scopes: [...scopesOfRole(role)],
      projectId: null,
    });
  });

  it.each(orgRoles)(
    '200 · a person who is %s creates a token with the preset `all`, which permits everything that the person can do except managing tokens and billing',
    async (role) => {
      const { person, token } = people[role];
      expect((await world.rest('GET', '/me', { token })).body).toEqual({
        principalType: 'user',
        userId: person.id,
        orgId: acme.id,
        role,
        capabilities: can[role].filter((capability) => !['tokens.create', 'billing.manage'].includes(capability)),
        scopes: presetScopes('all', scopesOfRole(role)),
        projectId: null,
      });
    },
  );

  it('200 · a token without scopes can read its own identity', async () => {
    const token = await world.token(people.owner.person, acme, { scopes: [] });
    const { status, body } = await world.rest('GET', '/me', { token });
    expect(status).toBe(200);
    expect(body).toMatchObject({ role: 'owner', capabilities: [], scopes: [] });
  });

  it('200 · a project-bound token has no capability for the organization, only missions.run', async () => {
    const token = await world.token(people.owner.person, acme, { projectId });
    expect((await world.rest('GET', '/me', { token })).body).toMatchObject({
      projectId,
      capabilities: ['missions.run'],
    });
  });

  it('200 · the identity of a service has no person and no role', async () => {
    expect((await world.rest('GET', '/me', { token: await world.service() })).body).toEqual({
      principalType: 'service',
      userId: null,
      orgId: null,
      role: null,
      capabilities: [],
      scopes: ['runtime:report'],
      projectId: null,
    });
  });

  it('200 · a person without an organization has only the scopes to read and create one', async () => {
    const person = await world.person('Newcomer');
    expect((await world.rest('GET', '/me', { session: await world.session(person) })).body).toEqual({
      principalType: 'cookie',
      userId: person.id,
      orgId: null,
      role: null,
      capabilities: [],
      scopes: ['organizations:read', 'organizations:write'],
      projectId: null,
    });
  });

  it('an unclaimed agent can read its identity, which has no scope', async () => {
    const { data, errors } = await asUnclaimed(
      '{ me { principalType userId orgId role capabilities scopes projectId } }',
    );
    expect(errors).toBeUndefined();
    expect(data!.me).toEqual({
      principalType: 'agent',
      userId: null,
      orgId: null,
      role: null,
      capabilities: [],
      scopes: [],
      projectId: null,
    });
    expect(() => admit(unclaimed, 'projects:read')).toThrow('No person has claimed this agent yet.');
  });

  it('an unclaimed agent cannot read the organization in GraphQL’s `me`', async () => {
    const { errors } = await asUnclaimed('{ me { organization { name } } }');
    expect(errors![0]!.extensions.code).toBe('agent_not_claimed');
  });

  it('401 · the identity and the scopes cannot be read without a credential', async () => {
    expect((await world.rest('GET', '/me')).status).toBe(401);
    expect((await world.rest('GET', '/scopes')).status).toBe(401);
  });

  it('GraphQL links the identity to its organization and person, if the scopes allow it', async () => {
    const query = '{ me { organization { id name } person { email } } }';
    const { person, token } = people.viewer;
    expect((await world.graphql(query, { token })).body.data.me).toEqual({
      organization: { id: acme.id, name: 'Acme' },
      person: { email: person.email },
    });
    const narrow = await world.token(person, acme, { scopes: ['projects:read'] });
    const { body } = await world.graphql(query, { token: narrow });
    expect(body.data.me).toEqual({ organization: null, person: null });
    expect(body.errors.map((error: { path: string[] }) => error.path)).toEqual([
      ['me', 'organization'],
      ['me', 'person'],
    ]);
  });
});

describe('GET /scopes', () => {
  const entries = (body: { groups: { scopes: { scope: string; grantable: boolean }[] }[] }) =>
    body.groups.flatMap((group) => group.scopes);
  const grantable = (body: Parameters<typeof entries>[0]) =>
    entries(body).flatMap(({ scope, grantable }) => (grantable ? [scope] : []));

  it('200 · each scope is listed once, in its group, with a description and the lowest role that grants it', async () => {
    const { status, body } = await world.rest('GET', '/scopes', { session: people.member.session });
    expect(status).toBe(200);
    expect(body.groups[0]).toEqual({
      key: 'missions',
      name: 'Missions',
      scopes: [
        {
          scope: 'missions:read',
          description: 'See missions, their progress and their cost.',
          requiredRole: 'viewer',
          grantable: true,
        },
        {
          scope: 'missions:run',
          description: 'Start and steer missions, which spends credits.',
          requiredRole: 'member',
          grantable: true,
        },
      ],
    });
    expect(entries(body).map(({ scope }) => scope)).toEqual(catalog.map(({ scope }) => scope));
    for (const { key, scopes } of body.groups) {
      expect(scopes.every(({ scope }: { scope: string }) => scope.startsWith(`${key}:`))).toBe(true);
    }
  });

  it.each(orgRoles)('200 · the grantable scopes of a person who is %s are those of the role', async (role) => {
    const { body } = await world.rest('GET', '/scopes', { session: people[role].session });
    expect(grantable(body)).toEqual([...scopesOfRole(role)]);
  });

  it.each(orgRoles)('each preset contains scopes with which a person who is %s can create a token', async (role) => {
    const query = '{ scopes { groups { scopes { scope grantable presets } } } }';
    const { session } = people[role];
    const { groups } = (await world.graphql(query, { session })).body.data.scopes;
    for (const preset of scopePresets) {
      const scopes = entries({ groups } as never)
        .filter((entry) => entry.grantable && (entry as unknown as { presets: string[] }).presets.includes(preset))
        .map(({ scope }) => scope);
      expect(scopes).toEqual(presetScopes(preset, scopesOfRole(role)));
      expect((await world.rest('POST', '/tokens', { session, body: { name: preset, scopes } })).status).toBe(201);
    }
  });

  it('200 · a token or a service can grant no scope', async () => {
    for (const token of [people.owner.token, await world.service()]) {
      const { status, body } = await world.rest('GET', '/scopes', { token });
      expect(status).toBe(200);
      expect(grantable(body)).toEqual([]);
    }
  });

  it('the scope that only services have is not listed', async () => {
    const { body } = await world.rest('GET', '/scopes', { token: await world.service() });
    expect(JSON.stringify(body)).not.toContain('runtime:report');
  });

  it('an unclaimed agent can read the scopes', async () => {
    const { data, errors } = await asUnclaimed('{ scopes { groups { key scopes { scope grantable } } } }');
    expect(errors).toBeUndefined();
    expect(grantable(data!.scopes as never)).toEqual([]);
  });
});
