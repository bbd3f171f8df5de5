// Memberships over REST and GraphQL (docs/contract.md#members).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrgRole } from '#access/roles.ts';
import { addMember } from '#domain/organization/memberships/operations.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import { organizationsOf } from '#domain/organization/organizations/operations.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { sql, transaction } from '#foundation/postgres/database.ts';
import { createOwner, createProject } from '../support/callers.ts';
import { openWorld, present, type World } from '../support/world.ts';

let world: World;
let alice: Person;
let carol: Person;
let org: Organization;
let foreign: Organization;
let path: string;

beforeAll(async () => {
  world = await openWorld();
  // Connections are opened before a race, because a call that first has to open one would come too late.
  await Promise.all(Array.from({ length: 16 }, () => sql('select pg_sleep(0.05)')));
  ({ person: alice, organization: org } = await createOwner(world, 'Alice', 'Alice Works'));
  ({ organization: foreign } = await createOwner(world, 'Bob', 'Bob Works'));
  carol = await world.person('Carol');
  path = `/organizations/${org.id}/memberships`;
});
afterAll(() => world.close());

let count = 0;
const newcomer = () => world.person(`newcomer${++count}`);
/** A token of a person with this role in Alice's organization. */
const tokenAs = async (role: OrgRole, grant = {}) => {
  const person = await newcomer();
  await world.join(org, person, role);
  return world.token(person, org, grant);
};
const refusal = (title: string, code: string, description: string, category = 'validation') => ({
  category,
  title,
  description,
  retryable: false,
  code,
});

describe('memberships of an organization', () => {
  it('200 · a new organization has one membership: its founder as owner', async () => {
    const founded = await world.found(carol, 'Carol Works');
    const answer = await world.rest('GET', `/organizations/${founded.id}/memberships`, {
      token: await world.token(carol, founded),
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      memberships: [{ orgId: founded.id, userId: carol.id, role: 'owner', createdAt: founded.createdAt }],
    });
  });

  it('200 · a viewer can list the memberships, in the order of joining', async () => {
    const founded = await world.found(carol, 'Carol Second');
    world.clock.turn(1);
    const [first, second] = [await newcomer(), await newcomer()];
    await world.join(founded, first, 'viewer');
    world.clock.turn(1);
    await world.join(founded, second, 'admin');
    const token = await world.token(first, founded, { scopes: ['members:read'] });
    const { body } = await world.rest('GET', `/organizations/${founded.id}/memberships`, { token });
    expect(body.memberships.map(({ userId, role }: { userId: string; role: string }) => [userId, role])).toEqual([
      [carol.id, 'owner'],
      [first.id, 'viewer'],
      [second.id, 'admin'],
    ]);
  });

  it('404 · memberships of another organization cannot be read or changed, whether it exists or not', async () => {
    const token = await world.token(alice, org);
    for (const id of [foreign.id, 'org_none']) {
      const answers = [
        await world.rest('GET', `/organizations/${id}/memberships`, { token }),
        await world.rest('POST', `/organizations/${id}/memberships`, {
          token,
          body: { userId: carol.id, role: 'viewer' },
        }),
      ];
      for (const { status, body } of answers) {
        expect(status).toBe(404);
        expect(body).toEqual(refusal('Not found', 'not_found', 'No such organization.'));
      }
    }
  });

  it('403 · listing memberships requires members:read, and adding one requires members:write', async () => {
    const token = await world.token(alice, org, { scopes: ['projects:read'] });
    const read = await world.rest('GET', path, { token });
    expect([read.status, read.body.description]).toEqual([403, 'The credential lacks missing-scope:members:read.']);
    const reader = await world.token(alice, org, { scopes: ['members:read'] });
    const write = await world.rest('POST', path, { token: reader, body: {} });
    expect([write.status, write.body.description]).toEqual([403, 'The credential lacks missing-scope:members:write.']);
  });

  it('403 · a project-bound token cannot read or change memberships', async () => {
    const owner = await world.token(alice, org);
    const projectId = await createProject(world, { token: owner }, 'P');
    const token = await world.token(alice, org, { projectId });
    const expected = refusal(
      'Forbidden',
      'forbidden',
      'A project-bound credential cannot reach records of the whole organization.',
      'auth',
    );
    const answers = [
      await world.rest('GET', path, { token }),
      await world.rest('POST', path, { token, body: { userId: carol.id, role: 'viewer' } }),
    ];
    for (const { status, body } of answers) expect([status, body]).toEqual([403, expected]);
  });
});

describe('adding a member', () => {
  it('201 · an admin adds a person who has an account', async () => {
    const [token, person] = [await tokenAs('admin'), await newcomer()];
    const answer = await world.rest('POST', path, { token, body: { userId: person.id, role: 'member' } });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ orgId: org.id, userId: person.id, role: 'member', createdAt: present() });
    expect(await organizationsOf(person.id)).toMatchObject([
      { id: org.id, name: 'Alice Works', slug: 'alice-works', formerSlugs: [], closedAt: null, role: 'member' },
    ]);
  });

  it.each([
    ['owner', 'owner', 201],
    ['admin', 'admin', 201],
    ['admin', 'viewer', 201],
    ['admin', 'owner', 403],
  ] as const)('a person with the role %s adds a member with the role %s: %i', async (own, role, status) => {
    const [token, person] = [await tokenAs(own), await newcomer()];
    const answer = await world.rest('POST', path, { token, body: { userId: person.id, role } });
    expect(answer.status).toBe(status);
    if (status === 201) return;
    expect(answer.body).toEqual(
      refusal('Forbidden', 'forbidden', 'role: owner is above your own role (admin).', 'auth'),
    );
    expect(await organizationsOf(person.id)).toEqual([]);
  });

  it('403 · a token cannot add members once the person who holds it is no longer an admin', async () => {
    const admin = await newcomer();
    await world.join(org, admin, 'admin');
    const token = await world.token(admin, org);
    await world.knex('memberships').where({ userId: admin.id, orgId: org.id }).update({ role: 'member' });
    const answer = await world.rest('POST', path, { token, body: { userId: (await newcomer()).id, role: 'viewer' } });
    expect([answer.status, answer.body.code]).toEqual([403, 'missing_scope']);
  });

  it('404 · a person without an account cannot be added', async () => {
    const token = await world.token(alice, org);
    for (const userId of ['usr_none', org.id, "'; drop table people; --"]) {
      const answer = await world.rest('POST', path, { token, body: { userId, role: 'viewer' } });
      expect([answer.status, answer.body]).toEqual([404, refusal('Not found', 'not_found', 'No such person.')]);
    }
  });

  it('409 · a member cannot be added again, and keeps their role', async () => {
    const [token, person] = [await world.token(alice, org), await newcomer()];
    await world.rest('POST', path, { token, body: { userId: person.id, role: 'viewer' } });
    const again = await world.rest('POST', path, { token, body: { userId: person.id, role: 'admin' } });
    expect(again.status).toBe(409);
    expect(again.body).toEqual(
      refusal('Conflict', 'conflict', `userId: ${person.id} is already a member of this organization.`),
    );
    expect((await organizationsOf(person.id))[0]?.role).toBe('viewer');
  });

  it('409 · only one of several concurrent requests to add a person succeeds', async () => {
    const [token, person] = [await world.token(alice, org), await newcomer()];
    const body = { userId: person.id, role: 'viewer' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.rest('POST', path, { token, body })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  });

  it.each([
    ['no body', undefined, 'body'],
    ['no role', { userId: 'usr_x' }, 'role: is required'],
    ['an unknown role', { userId: 'usr_x', role: 'king' }, 'role: must be one of "owner", "admin", "member", "viewer"'],
    ['a role that is not text', { userId: 'usr_x', role: 1 }, 'role: must be'],
    ['an empty userId', { userId: '', role: 'viewer' }, 'userId: must be at least 1 character'],
    [
      'a userId that is too long',
      { userId: 'x'.repeat(201), role: 'viewer' },
      'userId: must be at most 200 characters',
    ],
    ['a userId that is not text', { userId: { $ne: '' }, role: 'viewer' }, 'userId: must be a string'],
    ['a NUL in userId', { userId: 'usr_\0', role: 'viewer' }, 'userId: must be text without NUL characters'],
  ])('400 · a membership is refused with %s', async (_what, body, says) => {
    const answer = await world.rest('POST', path, { token: await world.token(alice, org), body });
    expect(answer.status).toBe(400);
    expect(answer.body.description).toContain(says);
  });
});

describe('memberships over GraphQL', () => {
  const question = `{ organizations { orgs { slug memberships { role person { email } organization { slug } } } } }`;

  it('a person in the console sees the memberships of all their organizations', async () => {
    const { person: dora, organization: first } = await createOwner(world, 'Dora', 'Dora One');
    world.clock.turn(1);
    await world.found(dora, 'Dora Two');
    await world.join(first, carol, 'viewer');
    const answer = await world.graphql(question, { session: await world.session(dora) });
    const { data } = answer.body;
    const mine = (slug: string) => ({ role: 'owner', person: { email: 'dora@example.com' }, organization: { slug } });
    expect(data.organizations.orgs).toEqual([
      {
        slug: 'dora-one',
        memberships: [
          mine('dora-one'),
          { role: 'viewer', person: { email: 'carol@example.com' }, organization: { slug: 'dora-one' } },
        ],
      },
      { slug: 'dora-two', memberships: [mine('dora-two')] },
    ]);
  });

  it('memberships over GraphQL require members:read', async () => {
    const token = await world.token(alice, org, { scopes: ['organizations:read'] });
    const { body } = await world.graphql(question, { token });
    expect(body.errors[0].extensions.problem.description).toContain('missing-scope:members:read');
  });
});

it('a person who is added twice is a member only once; the second call returns null', async () => {
  const person = await newcomer();
  const add = (role: OrgRole) => transaction((trx) => addMember(trx, org.id, person.id, role));
  expect(await add('member')).toMatchObject({ orgId: org.id, userId: person.id, role: 'member', createdAt: present() });
  expect(await add('owner')).toBeNull();
  expect((await organizationsOf(person.id))[0]?.role).toBe('member');
});
