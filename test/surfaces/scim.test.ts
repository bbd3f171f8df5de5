// SCIM: requests as documented by the RFC, Entra ID and Okta, and the effects of provisioning on memberships.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scopesOfRole } from '#access/scopes.ts';
import { directoryTokens } from '#domain/identity/tokens/directory-tokens.ts';
import { directoryCounts, directoryPage } from '#domain/organization/directory/bounds.ts';
import { setGroupRole } from '#domain/organization/directory/groups.ts';
import { acceptDirectoryOffer, directoryOffersFor, takeOffer } from '#domain/organization/directory/offers.ts';
import { acceptInvite } from '#domain/organization/invites/operations.ts';
import { lockOrganization } from '#domain/organization/organizations/operations.ts';
import { days } from '#foundation/clock.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { type Account, createMember, createOwner } from '../support/callers.ts';
import { openWorld, present, type Session, type World } from '../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;
interface Fixture {
  requests: {
    name: string;
    method: string;
    path: string;
    as?: string;
    body?: Json;
    status: number;
    has?: Json;
    is?: Json;
  }[];
  filters?: Record<string, number>;
  invalidFilters?: string[];
}

let world: World;
let alice: Account;
let mallory: Account;
let session: Session;
let scim: string;
beforeAll(async () => {
  world = await openWorld();
  [alice, mallory] = [await createOwner(world, 'Alice', 'Acme'), await createOwner(world, 'Mallory', 'Globex')];
  session = await world.session(alice.person, alice.organization.id);
  scim = await createToken(session);
});
afterAll(() => world.close());

const createToken = async (of: Session): Promise<string> =>
  (await world.field('mutation { createDirectoryToken(name: "IdP") { token } }', { session: of })).token;

const ask = (method: string, path: string, body?: unknown, token = scim, headers: Record<string, string> = {}) =>
  world.request(method, `/scim/v2${encodeURI(path)}`, {
    token,
    ...(body !== undefined && { body, headers: { 'content-type': 'application/scim+json' } }),
    ...(Object.keys(headers).length > 0 && { headers: { 'content-type': 'application/scim+json', ...headers } }),
  });
const patch = (path: string, ...Operations: object[]) => ask('PATCH', path, { Operations });
const provision = async (email: string, more: object = {}) =>
  (await ask('POST', '/Users', { userName: email, ...more })).body.id as string;
const rolesOf = async (): Promise<Record<string, string>> => {
  const { memberships } = await world.field(
    `{ memberships(orgId: "${alice.organization.id}") { memberships { role person { email } } } }`,
    { session },
  );
  return Object.fromEntries(memberships.map(({ role, person }: Json) => [person.email, role]));
};
const stateOf = async (email: string): Promise<string> =>
  (await world.field(`{ directoryUsers(query: "${email}") { data { state } } }`, { session })).data[0].state;

it.each(['rfc7644', 'entra', 'okta'])('the SCIM requests documented by %s get the documented answers', async (file) => {
  const owner = await createOwner(world, `Owner-${file}`, `Org ${file}`);
  const token = await createToken(await world.session(owner.person, owner.organization.id));
  const fixture: Fixture = JSON.parse(
    await readFile(new URL(`../fixtures/scim/${file}.json`, import.meta.url), 'utf8'),
  );
  const ids: Record<string, string> = {};
  const filled = (value: Json): Json =>
    value === undefined
      ? undefined
      : JSON.parse(JSON.stringify(value).replace(/\{(user|group)\}/g, (_, name: string) => ids[name]!));
  for (const { name, method, path, as, body, status, has, is } of fixture.requests) {
    const answer = await ask(method, filled(path), filled(body), token);
    expect([name, answer.status, answer.status < 300 ? undefined : answer.body.detail]).toEqual([
      name,
      status,
      status < 300 ? undefined : expect.any(String),
    ]);
    if (status !== 204) expect(answer.headers.get('content-type')).toBe('application/scim+json; charset=utf-8');
    if (has) expect(answer.body, name).toMatchObject(filled(has));
    if (is) expect(answer.body).toEqual(filled(is));
    if (as) ids[as] = answer.body.id;
  }
  for (const [filter, count] of Object.entries(fixture.filters ?? {})) {
    const { body } = await ask('GET', `/Users?filter=${filter}`, undefined, token);
    expect([filter, body.detail, body.totalResults]).toEqual([filter, undefined, count]);
  }
  for (const filter of fixture.invalidFilters ?? []) {
    const { status, body } = await ask('GET', `/Users?filter=${filter}`, undefined, token);
    expect([filter, status, body.scimType]).toEqual([filter, 400, 'invalidFilter']);
  }
});

it('a provisioned person joins after sign-in, has the role of their groups, and loses access with the next request', async () => {
  const bob = await world.person('Bob');
  const id = await provision('BOB@example.com', { displayName: 'Robert', active: true });
  expect([await stateOf('bob@'), Object.keys(await rolesOf())]).toEqual(['waiting', ['alice@example.com']]);
  const group = (await ask('POST', '/Groups', { displayName: 'Admins', members: [{ value: id }] })).body.id;
  const setRole = (role: string, of: Session = session) =>
    world.field(`mutation { setDirectoryGroupRole(directoryGroupId: "${group}", role: ${role}) { role } }`, {
      session: of,
    });
  expect(await setRole('admin')).toEqual({ role: 'admin' });

  expect(await directoryOffersFor(bob)).toEqual([{ orgId: alice.organization.id, organizationName: 'Acme' }]);
  expect(await directoryOffersFor(mallory.person)).toEqual([]);
  await expect(acceptDirectoryOffer(mallory.person, alice.organization.id)).rejects.toMatchObject({ status: 404 });
  await acceptDirectoryOffer(bob, alice.organization.id);
  expect([await stateOf('bob@'), (await rolesOf())['bob@example.com']]).toEqual(['member', 'admin']);
  // The directory does not change the name that the person has chosen.
  expect((await world.knex('people').where({ id: bob.id }).first()).name).toBe('Bob');

  const viewers = (await ask('POST', '/Groups', { displayName: 'Viewers', members: [{ value: id }] })).body.id;
  await world.field(`mutation { setDirectoryGroupRole(directoryGroupId: "${viewers}", role: viewer) { role } }`, {
    session,
  });
  expect((await rolesOf())['bob@example.com']).toBe('admin');
  await patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${id}"]` });
  expect((await rolesOf())['bob@example.com']).toBe('viewer');
  await ask('DELETE', `/Groups/${viewers}`);
  expect((await rolesOf())['bob@example.com']).toBe('member');
  await patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: id }] });
  expect((await rolesOf())['bob@example.com']).toBe('admin');

  const token = await world.token(bob, alice.organization);
  expect((await world.rest('GET', '/projects', { token })).status).toBe(200);
  expect((await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })).body.active).toBe(false);
  expect((await world.rest('GET', '/projects', { token })).status).toBe(401);
  expect([await stateOf('bob@'), await directoryOffersFor(bob)]).toEqual(['inactive', []]);
  await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: true });
  expect(await stateOf('bob@')).toBe('waiting');

  // A person whom a member of the organization has removed cannot join again with the directory's earlier offer.
  await acceptDirectoryOffer(bob, alice.organization.id);
  await world.rest('DELETE', `/organizations/${alice.organization.id}/memberships/${bob.id}`, { session });
  expect([await stateOf('bob@'), await directoryOffersFor(bob)]).toEqual(['removed', []]);
  const take = (email: string) => transaction((trx) => takeOffer(trx, alice.organization.id, email));
  expect([await take('bob@example.com'), await take('nobody@example.com')]).toEqual([null, undefined]);

  const events = await world.field('{ auditEvents(limit: 200) { data { action actor { type id name } } } }', {
    session,
  });
  const byDirectory = events.data.filter(({ actor }: Json) => actor.id?.startsWith('sct_'));
  expect(byDirectory[0].actor).toMatchObject({ type: 'service', name: 'IdP' });
  expect(new Set(byDirectory.map(({ action }: Json) => action))).toEqual(
    new Set([
      ...['directory_user.created', 'directory_user.updated', 'directory_group.created', 'directory_group.deleted'],
      ...['directory_group_member.added', 'directory_group_member.removed', 'member.updated', 'member.removed'],
      ...['token.revoked'],
    ]),
  );
});

it('a member whom the directory deletes keeps their account and their other organizations; owners keep their role, and the last owner cannot be deleted', async () => {
  const carol = await createMember(world, alice.organization, 'Carol', 'viewer');
  const { token } = await createOwner(world, carol.person, 'Initech');
  const id = await provision('carol@example.com', { displayName: 'Someone Else' });
  expect([await stateOf('carol@'), (await rolesOf())['carol@example.com']]).toEqual(['member', 'viewer']);
  expect((await ask('DELETE', `/Users/${id}`)).status).toBe(204);
  expect((await rolesOf())['carol@example.com']).toBeUndefined();
  expect((await world.rest('GET', '/me', { token })).status).toBe(200);
  expect((await world.knex('people').where({ id: carol.person.id }).first()).name).toBe('Carol');

  const owner = await provision('alice@example.com');
  const group = (await ask('POST', '/Groups', { displayName: 'Staff', members: [{ value: owner }] })).body.id;
  await world.field(`mutation { setDirectoryGroupRole(directoryGroupId: "${group}", role: viewer) { role } }`, {
    session,
  });
  expect((await rolesOf())['alice@example.com']).toBe('owner');
  for (const change of [
    patch(`/Users/${owner}`, { op: 'replace', value: { active: false } }),
    ask('DELETE', `/Users/${owner}`),
  ]) {
    expect(await change).toMatchObject({
      status: 409,
      body: {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: '409',
        detail: 'An organization needs an owner: make another member an owner first.',
      },
    });
  }
  expect((await ask('GET', `/Users/${owner}`)).body).toMatchObject({
    active: true,
    groups: [{ value: group, display: 'Staff' }],
  });
  const moved = await patch(`/Users/${owner}`, {
    op: 'replace',
    path: 'emails',
    value: [{ value: 'new@example.com' }],
  });
  expect(moved.status).toBe(409);
});

const invite = async (email: string, role = 'member'): Promise<string> =>
  (await world.rest('POST', '/invites', { session, body: { email, role } })).body.id;

it('a person whom the directory deactivates or deletes is no longer a member, whoever invited them', async () => {
  const frank = await createMember(world, alice.organization, 'Frank', 'member');
  await invite('grace@example.com');
  const ids = [
    await provision('frank@example.com', { active: false }),
    await provision('grace@example.com', { active: false }),
  ];
  const isMember = async () => (await rolesOf())['frank@example.com'] !== undefined;
  expect(await isMember()).toBe(false);
  expect(await world.knex('invites').where({ email: 'grace@example.com', revokedAt: null })).toEqual([]);

  // The person becomes a member again by an invite. A repeated deactivation, or the deletion of the user, also ends this membership.
  const again = async () => acceptInvite(frank.person, await invite('frank@example.com'));
  await again();
  await patch(`/Users/${ids[0]}`, { op: 'replace', path: 'active', value: false });
  expect(await isMember()).toBe(false);
  await again();
  await ask('DELETE', `/Users/${ids[0]}`);
  expect(await isMember()).toBe(false);
  const refused = await ask('POST', '/Users', { userName: 'alice@example.com', active: false });
  expect(refused.status).toBe(409);
});

it('a request to join an organization waits for a concurrent change of the directory, and is refused if the change has revoked the invite', async () => {
  const heidi = await world.person('Heidi');
  const inviteId = await invite('heidi@example.com');
  const orgId = alice.organization.id;
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const joined = await world.knex.transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    const answers = Promise.allSettled([
      acceptInvite(heidi, inviteId),
      transaction((other) => takeOffer(other, orgId, 'judy@example.com')),
    ]);
    await expect.poll(async () => (await world.knex.raw(waiting)).rowCount).toBe(2);
    await trx.raw(`set local lock_timeout = '500ms'`);
    await trx('invites').where({ id: inviteId }).update({ revokedAt: present() });
    await trx('directoryUsers').insert({
      ...{ id: 'scu_judy', orgId, userName: 'judy', email: 'judy@example.com', active: false, isOffered: false },
      ...{ version: 1, createdAt: present(), updatedAt: present() },
    });
    return { answers };
  });
  expect(await joined.answers).toMatchObject([
    { status: 'rejected', reason: { status: 409 } },
    { status: 'fulfilled', value: null },
  ]);
});

it('a member whose role comes from no directory group keeps it when a directory user with their address is created or activated', async () => {
  const ivan = await createMember(world, alice.organization, 'Ivan', 'viewer');
  const id = await provision('former-ivan@example.com');
  await patch(`/Users/${id}`, { op: 'replace', path: 'emails', value: [{ value: 'ivan@example.com' }] });
  expect((await rolesOf())['ivan@example.com']).toBe('viewer');
  await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  await acceptInvite(ivan.person, await invite('ivan@example.com', 'admin'));
  await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
  expect((await rolesOf())['ivan@example.com']).toBe('admin');
  const group = (await ask('POST', '/Groups', { displayName: 'Readers', members: [{ value: id }] })).body.id;
  await world.field(`mutation { setDirectoryGroupRole(directoryGroupId: "${group}", role: viewer) { role } }`, {
    session,
  });
  expect((await rolesOf())['ivan@example.com']).toBe('viewer');
});

it('an owner who was demoted since the request began cannot give a role to a group', async () => {
  const group = (await ask('POST', '/Groups', { displayName: 'Demoted' })).body.id;
  const { person } = await createMember(world, alice.organization, 'Kim', 'admin');
  const caller = {
    ...{ principalType: 'cookie' as const, credentialId: 'ses_test', userId: person.id, orgId: alice.organization.id },
    ...{ role: 'owner' as const, scopes: scopesOfRole('owner'), projectId: null },
  };
  await expect(setGroupRole(caller, group, 'admin')).rejects.toMatchObject({ status: 403 });
});

it('an email address that came from the SCIM user name changes with the user name', async () => {
  const id = await provision('Before@example.com');
  const renamed = async (userName: string) =>
    (await patch(`/Users/${id}`, { op: 'replace', path: 'userName', value: userName })).body.emails[0].value;
  expect(await renamed('After@example.com')).toBe('after@example.com');
  expect(await renamed('no-address')).toBe('after@example.com');
  expect(await renamed('other@example.com')).toBe('after@example.com');
});

it('the groups of a directory have a limited number of members in total; a page of groups ends before the groups on it have too many members', async () => {
  const [before, page] = [{ ...directoryCounts }, { ...directoryPage }];
  const ids = [await provision('crowd-1@example.com'), await provision('crowd-2@example.com')];
  const members = ids.map((value) => ({ value }));
  for (const name of ['Crowd 1', 'Crowd 2']) await ask('POST', '/Groups', { displayName: name, members });
  Object.assign(directoryPage, { related: 3 });
  Object.assign(directoryCounts, { groupMembers: 4 });
  try {
    for (const path of ['/Groups?startIndex=1', '/Users?filter=userName sw "crowd"']) {
      const { totalResults, itemsPerPage, Resources } = (await ask('GET', path)).body;
      expect([itemsPerPage, itemsPerPage > 0, itemsPerPage < totalResults]).toEqual([Resources.length, true, true]);
      const related = Resources.flatMap((one: Json) => one.members ?? one.groups ?? []);
      expect(related.length).toBeLessThan(4);
    }
    const more = await ask('POST', '/Groups', { displayName: 'Crowd 3', members });
    expect([more.status, more.body.detail]).toEqual([
      409,
      'The groups of a directory can have at most 4 members in total.',
    ]);
    expect((await ask('GET', '/Groups?filter=displayName eq "Crowd 3"')).body.totalResults).toBe(0);
  } finally {
    Object.assign(directoryCounts, before);
    Object.assign(directoryPage, page);
  }
});

it('a directory token reaches only the directory of its organization; only an owner in the console creates one', async () => {
  const theirs = await createToken(await world.session(mallory.person, mallory.organization.id));
  const id = await provision('dora@example.com');
  const group = (await ask('POST', '/Groups', { displayName: 'Hidden' })).body.id;
  for (const path of [`/Users/${id}`, `/Groups/${group}`]) {
    for (const [method, body] of [
      ['GET'],
      ['DELETE'],
      ['PUT', { userName: 'x@example.com', displayName: 'x' }],
    ] as const)
      expect((await ask(method, path, body, theirs)).status).toBe(404);
  }
  expect((await ask('GET', '/Users', undefined, theirs)).body.totalResults).toBe(0);
  const foreign = await ask('POST', '/Groups', { displayName: 'Theirs', members: [{ value: id }] }, theirs);
  expect([foreign.status, foreign.body.scimType]).toEqual([400, 'invalidValue']);
  // The same address may be in two directories.
  expect((await ask('POST', '/Users', { userName: 'dora@example.com' }, theirs)).status).toBe(201);

  for (const path of ['/v1/me', '/v1/projects', '/v1/events']) {
    expect((await world.request('GET', path, { token: scim })).status).toBe(401);
  }
  expect((await world.graphql('{ me { userId } }', { token: scim })).status).toBe(401);
  expect((await ask('GET', '/Users', undefined, alice.token)).status).toBe(401);
  const nobody = await world.request('GET', '/scim/v2/Users');
  expect([nobody.status, nobody.headers.get('www-authenticate'), nobody.body.status]).toEqual([
    401,
    'Bearer realm="scim"',
    '401',
  ]);

  const admin = await createMember(world, alice.organization, 'Eve', 'admin');
  const mutation = 'mutation { createDirectoryToken(name: "x") { token } }';
  expect(await world.field(mutation, { token: alice.token })).toMatchObject({ code: 'forbidden' });
  const ofAdmin = { session: await world.session(admin.person, alice.organization.id) };
  expect(await world.field(mutation, ofAdmin)).toMatchObject({ code: 'forbidden' });
  expect(await world.field('{ directoryTokens { data { id } } }', ofAdmin)).toMatchObject({ code: 'forbidden' });
});

it('a directory token is shown once, ends when it is revoked or expires, and at most five exist at a time', async () => {
  const owner = await createOwner(world, 'Olga', 'Umbrella');
  const of = { session: await world.session(owner.person, owner.organization.id) };
  const tokens: Json[] = [];
  for (let i = 0; i < directoryTokens.perOrganization; i++) {
    const mutation = `mutation { createDirectoryToken(name: "IdP ${i}", expiresInDays: ${i + 1}) { id token expiresAt } }`;
    tokens.push(await world.field(mutation, of));
  }
  expect(tokens[0]).toEqual({
    id: expect.stringMatching(/^sct_/),
    token: expect.stringMatching(/^scm_[\w-]{43}$/),
    expiresAt: present() + days(1),
  });
  const limit = 'An organization can have at most 5 active directory tokens; revoke one first.';
  expect(await world.field('mutation { createDirectoryToken(name: "x") { id } }', of)).toMatchObject({
    description: limit,
  });
  const works = async (index: number) => (await ask('GET', '/Users', undefined, tokens[index].token)).status;
  expect(await works(0)).toBe(200);
  await expect
    .poll(async () => (await world.field('{ directoryTokens { data { id lastUsedAt } } }', of)).data)
    .toContainEqual({ id: tokens[0].id, lastUsedAt: present() });
  await world.field(`mutation { revokeDirectoryToken(directoryTokenId: "${tokens[4].id}") { revokedAt } }`, of);
  expect(await works(4)).toBe(401);
  world.clock.turn(days(1));
  expect([await works(0), await works(1)]).toEqual([401, 200]);
});

it('only one of several concurrent changes to a SCIM user succeeds; stale versions, invalid filters and large bodies are refused', async () => {
  const both = await Promise.all([1, 2].map(() => ask('POST', '/Users', { userName: 'twin@example.com' })));
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  const { body: user, headers } = both.find(({ status }) => status === 201)!;
  expect([headers.get('etag'), headers.get('location')]).toEqual(['W/"1"', user.meta.location]);
  const rename = (displayName: string) =>
    ask('PUT', `/Users/${user.id}`, { userName: 'twin@example.com', displayName }, scim, { 'if-match': 'W/"1"' });
  const renamed = await Promise.all([rename('A'), rename('B')]);
  expect(renamed.map(({ status }) => status).sort()).toEqual([200, 412]);
  expect((await ask('GET', `/Users/${user.id}`, undefined, scim, { 'if-none-match': 'W/"2"' })).status).toBe(304);

  for (let i = 0; i < 3; i++) await provision(`page-${i}@example.com`, { externalId: `page-${i}` });
  const page = await ask(
    'GET',
    '/Users?filter=externalId sw "page-"&sortBy=userName&sortOrder=descending&startIndex=2&count=1',
  );
  expect(page.body).toMatchObject({
    totalResults: 3,
    startIndex: 2,
    itemsPerPage: 1,
    Resources: [{ externalId: 'page-1' }],
  });
  const counted = await ask('POST', '/Users/.search', { filter: 'externalId sw "page-"', count: 0 });
  expect(counted.body).toMatchObject({ totalResults: 3, itemsPerPage: 0, Resources: [] });

  for (const [path, type] of [
    ['/Users?filter=userName eq "\\u0000"', 'invalidFilter'],
    ...['emails.primary', 'emails.type', 'meta.resourceType'].map((name) => [`/Users?sortBy=${name}`, 'invalidValue']),
  ]) {
    const { status, body } = await ask('GET', path!);
    expect([path, status, body.scimType]).toEqual([path, 400, type]);
  }
  const nul = await ask('POST', '/Groups', { displayName: 'Nul', members: [{ value: 'a\0' }] });
  expect([nul.status, nul.body.scimType]).toEqual([400, 'invalidValue']);
  const large = await ask('POST', '/Users', { userName: 'x@example.com', displayName: 'x'.repeat(1024 * 1024) });
  expect([large.status, large.body.status]).toEqual([413, '413']);
  const many = `/Users?filter=${Array(21).fill('userName pr').join(' or ')}`;
  expect((await ask('GET', many)).body.scimType).toBe('invalidFilter');
  // An expression that backtracks would not end.
  expect((await ask('GET', `/Users?filter=userName eq "${'\\a'.repeat(300)}`)).body.scimType).toBe('invalidFilter');
});

it('the SCIM discovery documents say what is supported', async () => {
  const config = await ask('GET', '/ServiceProviderConfig');
  expect(config.body).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
    filter: { supported: true, maxResults: 200 },
    etag: { supported: true },
    sort: { supported: true },
  });
  const types = (await ask('GET', '/ResourceTypes')).body;
  expect(types.Resources.map(({ endpoint }: Json) => endpoint)).toEqual(['/Users', '/Groups']);
  for (const { id, schema, meta } of types.Resources) {
    expect((await ask('GET', `/ResourceTypes/${id}`)).body.meta).toEqual(meta);
    expect((await ask('GET', `/Schemas/${schema}`)).body).toMatchObject({ id: schema, name: id });
  }
  const all = (await ask('GET', '/Schemas')).body;
  const names = all.Resources[0].attributes.map(({ name }: Json) => name);
  expect(names).toEqual(['userName', 'name', 'displayName', 'active', 'emails', 'groups', 'externalId']);
  expect((await ask('GET', '/Schemas?filter=id pr')).status).toBe(403);
  expect((await ask('GET', '/Nothing')).status).toBe(404);
  expect((await world.request('GET', '/scim/v2/Schemas/%zz', { token: scim })).status).toBe(404);
});
