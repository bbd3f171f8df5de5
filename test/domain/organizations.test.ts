// Organizations: the list of organizations and the read of a single organization return the same data. A session can read an organization
// in which it does not work, and still works in the same organization afterwards. The preview of a slug shows the slug that a new
// organization with this name would get.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { organizationsPerPerson } from '#domain/organization/organizations/bounds.ts';
import { createProject } from '../support/callers.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let count = 0;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const newcomer = () => world.person(`Newcomer${++count}`);

describe('organizations in the console', () => {
  it('200 · each listed organization is readable by its id, whichever organization the session works in', async () => {
    const person = await newcomer();
    const [first, second] = [await world.found(person, 'First'), await world.found(await newcomer(), 'Second')];
    await world.join(second, person, 'viewer');
    const session = await world.session(person, first.id);
    const { body } = await world.rest('GET', '/organizations', { session });
    expect(body.orgs.map(({ id }: { id: string }) => id).sort()).toEqual([first.id, second.id].sort());
    for (const listed of body.orgs) {
      const answer = await world.rest('GET', `/organizations/${listed.id}`, { session });
      expect([answer.status, answer.body]).toEqual([200, listed]);
    }
  });

  it('200 · an organization is readable by its id as soon as it is created', async () => {
    const person = await newcomer();
    await world.found(person, 'Earlier');
    const session = await world.session(person);
    const created = await world.rest('POST', '/organizations', { session, body: { name: 'Later' } });
    expect(created.status).toBe(201);
    expect((await world.rest('GET', `/organizations/${created.body.id}`, { session })).body).toEqual(created.body);
  });

  it('404, 403 · an organization is changed only from a session that works in it, and only with a sufficient role', async () => {
    const person = await newcomer();
    const own = await world.found(person, 'Own');
    const other = await world.found(await newcomer(), 'Not theirs');
    await world.join(other, person, 'viewer');
    const session = await world.session(person, own.id);
    const change = (headers: Record<string, string>) =>
      world.rest('PATCH', `/organizations/${other.id}`, { session, headers, body: { name: 'Taken over' } });
    expect((await change({})).status).toBe(404);
    expect((await change({ 'x-org-id': other.id })).status).toBe(403);
  });

  it('404 · an organization is hidden from people who do not belong to it, and from tokens of other organizations', async () => {
    const person = await newcomer();
    const [own, second] = [await world.found(person, 'Mine'), await world.found(person, 'Mine, too')];
    const foreign = await world.found(await newcomer(), 'Foreign');
    const [session, token] = [await world.session(person), await world.token(person, own)];
    expect((await world.rest('GET', `/organizations/${foreign.id}`, { session })).status).toBe(404);
    expect((await world.rest('GET', `/organizations/${second.id}`, { token })).status).toBe(404);
  });
});

it('200 · X-Org-Id applies to one request: the next request of the session uses its previous organization', async () => {
  const person = await newcomer();
  const [first, second] = [await world.found(person, 'Stays'), await world.found(person, 'Visited')];
  const session = await world.session(person, first.id);
  const orgOf = async (headers = {}) => (await world.rest('GET', '/me', { session, headers })).body.orgId;
  expect(await orgOf({ 'x-org-id': second.id })).toBe(second.id);
  world.clock.turn(120_000);
  await createProject(world, { session, headers: { 'x-org-id': second.id } }, 'Shop');
  await world.graphql('{ me { orgId } }', { session, headers: { 'x-org-id': second.id } });
  expect(await orgOf()).toBe(first.id);
});

describe('creating organizations', () => {
  it.each(['viewer', 'member', 'admin'] as const)(
    '201 · a person who is %s elsewhere creates an organization with a session or a token, and owns it',
    async (role) => {
      const person = await newcomer();
      const host = await world.found(await newcomer(), 'Host');
      await world.join(host, person, role);
      const [session, token] = [await world.session(person), await world.token(person, host)];
      for (const by of [{ session }, { token }]) {
        const created = await world.rest('POST', '/organizations', { ...by, body: { name: 'Of my own' } });
        expect(created.status).toBe(201);
        expect(await world.knex('memberships').where({ orgId: created.body.id })).toMatchObject([
          { userId: person.id, role: 'owner' },
        ]);
      }
    },
  );

  it('201 · a member of a closed organization can create another one', async () => {
    const person = await newcomer();
    const closed = await world.found(person, 'Closed');
    await world.knex('memberships').where({ orgId: closed.id }).update({ closedAt: 1 });
    const session = await world.session(person, closed.id);
    const rename = { session, body: { name: 'Renamed' } };
    expect((await world.rest('PATCH', `/organizations/${closed.id}`, rename)).status).toBe(409);
    expect((await world.rest('POST', '/organizations', { session, body: { name: 'Next' } })).status).toBe(201);
  });

  it('403 · a member cannot rename an organization, and a service cannot create one', async () => {
    const person = await newcomer();
    const host = await world.found(await newcomer(), 'Host');
    await world.join(host, person, 'member');
    const token = await world.token(person, host);
    const renamed = await world.rest('PATCH', `/organizations/${host.id}`, { token, body: { name: 'Mine' } });
    expect([renamed.status, renamed.body.description]).toEqual([
      403,
      'Only an admin or an owner of the organization can do this.',
    ]);
    const service = await world.rest('POST', '/organizations', { token: await world.service(), body: { name: 'No' } });
    expect(service.status).toBe(403);
  });

  it('201 · the response says where to create a token for the new organization, even when the call is repeated', async () => {
    const person = await newcomer();
    const token = await world.token(person, await world.found(person, 'Automated'));
    const create = () =>
      world.rest('POST', '/organizations', {
        token,
        headers: { 'idempotency-key': 'found-1' },
        body: { name: 'Reached', slug: 'reached' },
      });
    for (const answer of [await create(), await create()]) {
      expect([answer.status, answer.headers.get('link')]).toEqual([
        201,
        `<${world.url}/console/o/reached/tokens>; rel="related"; title="Create a token for this organization"`,
      ]);
    }
    const query = 'mutation { createOrganization(input: { name: "Seen", slug: "seen" }) { consoleUrl } }';
    const { body } = await world.graphql(query, { token });
    expect(body.data).toEqual({ createOrganization: { consoleUrl: `${world.url}/console/o/seen` } });
  });

  it('409 · a person can create a limited number of organizations, even with concurrent requests; closed ones do not count', async () => {
    const person = await newcomer();
    const own = await world.found(person, 'Bounded');
    const token = await world.token(person, own);
    const earlier = Array.from({ length: organizationsPerPerson - 3 }, (_, n) => ({
      ...own,
      id: `org_earlier_${n}`,
      slug: `earlier-${n}`,
    }));
    await world.knex('organizations').insert(earlier);
    const create = () => world.rest('POST', '/organizations', { token, body: { name: 'Bounded' } });
    const statuses = (await Promise.all([create(), create(), create(), create()])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 201, 409, 409]);
    await world.knex('organizations').where({ id: earlier[0]!.id }).update({ closedAt: 1 });
    expect((await create()).status).toBe(201);
  });
});

describe('people without an organization', () => {
  it('201 · a person without an organization creates one over the API, and is its owner', async () => {
    const session = await world.session(await newcomer());
    expect((await world.rest('GET', '/organizations', { session })).body).toEqual({ orgs: [] });
    const created = await world.rest('POST', '/organizations', { session, body: { name: 'Begun' } });
    expect(created.status).toBe(201);
    const me = await world.rest('GET', '/me', { session });
    expect([me.body.orgId, me.body.role]).toEqual([created.body.id, 'owner']);
  });

  it('403 · a person without an organization cannot read projects, invites or tokens, and can grant no scope', async () => {
    const session = await world.session(await newcomer());
    for (const path of ['/projects', '/invites', '/tokens']) {
      expect((await world.rest('GET', path, { session })).status).toBe(403);
    }
    const body = { name: 'CI', scopes: ['organizations:write'] };
    expect((await world.rest('POST', '/tokens', { session, body })).status).toBe(403);
    const { body: catalog } = await world.rest('GET', '/scopes', { session });
    const grantable = catalog.groups.flatMap(({ scopes }: { scopes: { grantable: boolean }[] }) =>
      scopes.filter((scope) => scope.grantable),
    );
    expect(grantable).toEqual([]);
  });
});

describe('previews of slugs', () => {
  it('200 · the previewed slug is the one that the organization then gets, even when the first choice is taken', async () => {
    const person = await newcomer();
    await world.found(person, 'Preview');
    const session = await world.session(person);
    for (const slug of ['preview-2', 'preview-3']) {
      expect((await world.rest('GET', '/organizations/slug-preview?name=Preview', { session })).body).toEqual({ slug });
      const created = await world.rest('POST', '/organizations', { session, body: { name: 'Preview' } });
      expect(created.body.slug).toBe(slug);
    }
  });
});
