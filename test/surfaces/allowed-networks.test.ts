// Tests of an organization that accepts requests only from allowed networks. The tests send each credential of the organization to each surface,
// from an allowed network and from another network.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { approve } from '#domain/identity/oauth/codes.ts';
import { openSession } from '#domain/identity/sessions/operations.ts';
import { createDirectoryToken } from '#domain/identity/tokens/directory-tokens.ts';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { seconds } from '#foundation/clock.ts';
import { announce } from '#foundation/postgres/changes.ts';
import { transaction, watchStatements } from '#foundation/postgres/database.ts';
import { commands } from '../../src/surfaces/operator/commands.ts';
import { type AgentWorld, claimGrant, type Human, jwtBearer, openAgentWorld } from '../support/agent-world.ts';
import { createMember } from '../support/callers.ts';
import { type Event, eventsOf } from '../support/server-sent-events.ts';
import type { Answer, Ask, Session } from '../support/world.ts';

const office = '198.51.100.7';
const elsewhere = '203.0.113.9';
// The tests send the forms of a claim from this machine, so the list contains loopback.
const list = ['198.51.100.0/24', '2001:db8:1::/48', '127.0.0.0/8'];

let world: AgentWorld;
let ada: Human;
let globex: Human;
let session: Session;
let pat: string;

beforeAll(async () => {
  world = await openAgentWorld({ trustProxy: true });
  ada = await world.human('Ada');
  globex = await world.human('Grace');
  await world.join(globex.organization, ada.person, 'member');
  ({ session } = ada);
  const scopes = ['projects:read', 'missions:read', 'audit:read'];
  pat = await world.token(ada.person, ada.organization, { scopes });
});
afterAll(() => world.close());

const from = (address: string, ask: Ask = {}): Ask => ({
  ...ask,
  headers: { ...ask.headers, 'x-forwarded-for': address },
});
const named = (orgId: string = ada.organization.id): Ask => ({ session, headers: { 'x-org-id': orgId } });
const change = (networks: string[], address = office, ask: Ask = named()): Promise<Answer['body']> =>
  world.field(
    'mutation ($networks: [String!]!) { setAllowedNetworks(input: { networks: $networks }) { networks address } }',
    { ...from(address, ask), variables: { networks } },
  );
const json = (body: unknown, headers: Record<string, string> = {}): Ask => ({
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  body,
});
const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });

const rest = ['GET', '/v1/me', {}] as const;
const graphql = ['POST', '/graphql', json({ query: '{ me { orgId } }' })] as const;
const mcp = ['POST', '/mcp', json(rpc('tools/list'))] as const;
const a2a = ['POST', '/a2a', json(rpc('ListTasks'), { 'a2a-version': '1.0' })] as const;
const scim = ['GET', '/scim/v2/Users', {}] as const;
const feed = ['GET', '/v1/events?limit=1', {}] as const;
const gateway = ['POST', '/mcp/runs/run_1/server', json(rpc('tools/list'))] as const;
type Surface = readonly [method: string, path: string, ask: Ask];

/** Sends a request from an address, with a credential. Returns the status of the response, and its body if the status is 403. */
async function outcome([method, path, ask]: Surface, credential: Ask, address: string): Promise<[number, string]> {
  const headers = { ...ask.headers, ...credential.headers };
  const { status, body } = await world.request(method, path, from(address, { ...ask, ...credential, headers }));
  return [status, status === 403 ? JSON.stringify(body) : ''];
}

const verifier = 'v'.repeat(43);
const request = async (resource: 'api' | 'mcp' | 'a2a') => {
  const redirectUri = 'http://127.0.0.1/callback';
  const { body } = await world.request('POST', '/v1/oauth2/register', {
    body: { redirect_uris: [redirectUri], client_name: 'Client' },
  });
  const codeChallenge = createHash('sha256').update(verifier).digest('base64url');
  const client = { id: body.client_id, name: 'Client', redirectUris: [redirectUri] };
  const scopes = ['projects:read', 'missions:read', 'audit:read'] as const;
  return { client, redirectUri, state: undefined, codeChallenge, resource, scopes: [...scopes], isOffline: true };
};
/** Approves an authorization request as Ada. Returns the parameters with which a client exchanges the resulting code. */
async function approved(resource: 'api' | 'mcp' | 'a2a' = 'api'): Promise<Record<string, string>> {
  const asked = await request(resource);
  const lender = { userId: ada.person.id, orgId: ada.organization.id, projectId: null, isOrgOnly: false };
  const code = await approve(asked as never, { ...lender, scopes: asked.scopes, expiresInDays: 9 });
  return { grant_type: 'authorization_code', code, code_verifier: verifier, client_id: asked.client.id };
}
const exchange = (fields: Record<string, string>, address: string): Promise<Answer> =>
  world.form('/v1/oauth2/token', fields, from(address));
const accessTo = async (resource: 'api' | 'mcp' | 'a2a'): Promise<Ask> => ({
  token: (await exchange(await approved(resource), office)).body.access_token,
});

const owner = () => ({
  ...{ principalType: 'cookie' as const, credentialId: 'test', userId: ada.person.id, orgId: ada.organization.id },
  ...{ role: 'owner' as const, scopes: new Set<never>(), projectId: null },
});

/** An agent that Ada has claimed, with its tokens. */
async function agent(): Promise<{ claimToken: string }> {
  const { agent: registered, ceremony } = await world.begun(ada);
  await world.decide(ada, ceremony, { scopes: ['projects:read'] });
  return { claimToken: registered.claim_token };
}

it('an owner sets the list of allowed networks, which is normalized; an invalid list names the field and changes nothing', async () => {
  expect(await change(['198.51.100.7', '198.51.100.7/32', '2001:DB8:1:0::/48', '::ffff:192.0.2.0/120'])).toEqual({
    networks: ['198.51.100.7/32', '2001:db8:1::/48', '192.0.2.0/24'],
    address: office,
  });
  const refused = async (networks: string[], address?: string) => (await change(networks, address)).fields;
  const invalid = (text: string) =>
    `${JSON.stringify(text)} is not an IPv4 or IPv6 network in CIDR notation, such as 203.0.113.0/24 or 2001:db8::/32`;
  for (const text of ['acme', '10.0.0.0/33', '::/129', '10.0.0.0/-1', '::ffff:10.0.0.0/95', 'fe80::1%1', '1.2.3.4/'])
    expect(await refused([office, text])).toEqual([{ path: 'networks.1', message: invalid(text) }]);
  expect(await refused(['198.51.100.7/24'])).toEqual([
    {
      path: 'networks.0',
      message: '198.51.100.7/24 has address bits after its prefix; the network is 198.51.100.0/24',
    },
  ]);
  expect(await refused(Array.from({ length: 51 }, (_, i) => `198.51.100.${i}`))).toEqual([
    { path: 'networks', message: 'must be at most 50 entries' },
  ]);
  // The owner is at an address that the new list does not contain.
  expect(await refused(['203.0.113.0/24'])).toEqual([
    {
      path: 'networks',
      message: `must contain ${office}, the address of this request: the list would lock you out`,
    },
  ]);
  expect(await world.field('{ allowedNetworks { networks } }', from(office, named()))).toEqual({
    networks: ['198.51.100.7/32', '2001:db8:1::/48', '192.0.2.0/24'],
  });
  const { person: admin } = await createMember(world, ada.organization, 'Admin', 'admin');
  const asAdmin = { session: await world.session(admin, ada.organization.id) };
  expect(await change(['0.0.0.0/0'], office, asAdmin)).toMatchObject({ code: 'missing_scope' });
  expect(await change([])).toEqual({ networks: [], address: office });
  expect(await change(list)).toMatchObject({ networks: list });
});

describe('An organization with a list of allowed networks', () => {
  beforeAll(() => change(list));

  it('403 · each credential of the organization is refused from other networks by every API; those of other organizations are not', async () => {
    const { claimToken } = await agent();
    const claimed = await exchange({ grant_type: claimGrant, claim_token: claimToken }, office);
    const { token: directory } = await createDirectoryToken(owner(), { name: 'Okta', expiresInDays: 9 });
    const { token: runtime } = await createServiceToken({ name: 'Runtime', orgId: ada.organization.id });
    const credentials: [name: string, credential: Ask, ...surfaces: Surface[]][] = [
      ['cookie that names the organization', named(), rest, graphql, feed],
      ['cookie whose organization it is', { session }, rest, graphql, feed],
      ['personal access token', { token: pat }, rest, graphql, mcp, a2a, feed],
      ['OAuth token of the API', await accessTo('api'), rest, graphql, feed],
      ['OAuth token of MCP', await accessTo('mcp'), mcp],
      ['OAuth token of A2A', await accessTo('a2a'), a2a],
      ['agent', { token: claimed.body.access_token }, rest, graphql],
      ['directory token', { token: directory }, scim],
      ['runtime token', { token: runtime, headers: { 'x-lease-id': 'lease' } }, rest, graphql, gateway],
    ];
    for (const [name, credential, ...surfaces] of credentials) {
      for (const surface of surfaces) {
        const at = (address: string) => outcome(surface, credential, address);
        // The gateway finds no such run.
        const served = surface === gateway ? 404 : 200;
        for (const inside of [office, `::ffff:${office}`, '::ffff:c633:6407', '2001:db8:1::5'])
          expect([name, surface[1], inside, (await at(inside))[0]]).toEqual([name, surface[1], inside, served]);
        for (const [outside, seen] of [
          [elsewhere, elsewhere],
          ['::ffff:203.0.113.9', elsewhere],
          ['2001:DB8:2:0::5', '2001:db8:2::5'],
          ['unknown', 'an unknown address'],
        ] as const) {
          const [status, body] = await at(outside);
          const expected = `The organization does not allow requests from ${seen}.`;
          expect([name, surface[1], status, body.includes(expected)]).toEqual([name, surface[1], 403, true]);
        }
      }
    }
    const foreign = { token: await world.token(globex.person, globex.organization) };
    expect(await outcome(rest, foreign, elsewhere)).toEqual([200, '']);
    expect(await outcome(rest, { token: await world.service() }, elsewhere)).toEqual([200, '']);
  });

  it('403 · the problem address_not_allowed names the refused address', async () => {
    const { status, body } = await world.rest('GET', '/projects', from(elsewhere, { token: pat }));
    expect([status, body]).toEqual([
      403,
      {
        category: 'auth',
        title: 'Address not allowed',
        description: `The organization does not allow requests from ${elsewhere}.`,
        retryable: false,
        code: 'address_not_allowed',
      },
    ]);
  });

  it('403 · an authorization code, a refresh token and grants of agents are refused from other networks, and accepted from an allowed one', async () => {
    const denied = {
      error: 'access_denied',
      error_description: `The organization does not allow requests from ${elsewhere}.`,
    };
    const inTurn = async (fields: Record<string, string>): Promise<Answer['body']> => {
      const refused = await exchange(fields, elsewhere);
      expect([refused.status, refused.body]).toEqual([403, denied]);
      const granted = await exchange(fields, office);
      expect(granted.status).toBe(200);
      return granted.body;
    };
    const { refresh_token } = await inTurn(await approved());
    await inTurn({ grant_type: 'refresh_token', refresh_token });
    // A used refresh token that is presented again was copied. The service therefore ends the sign-in of the token, whatever address
    // presents the token.
    const { body } = await exchange({ grant_type: 'refresh_token', refresh_token }, elsewhere);
    expect(body.error).toBe('invalid_grant');
    const { claimToken } = await agent();
    const { identity_assertion } = await inTurn({ grant_type: claimGrant, claim_token: claimToken });
    await inTurn({ grant_type: jwtBearer, assertion: identity_assertion });
  });

  it('403, 404 · from other networks a restricted organization is missing from the person’s list, and its pages are refused', async () => {
    const slugs = async (address: string): Promise<string[]> => {
      const { body } = await world.rest('GET', '/organizations', from(address, named(globex.organization.id)));
      return body.orgs.map(({ slug }: { slug: string }) => slug).sort();
    };
    const { slug, id } = ada.organization;
    expect(await slugs(office)).toEqual([slug, globex.organization.slug]);
    expect(await slugs(elsewhere)).toEqual([globex.organization.slug]);
    const read = (address: string) =>
      world.rest('GET', `/organizations/${id}`, from(address, named(globex.organization.id)));
    expect([(await read(office)).status, (await read(elsewhere)).status]).toEqual([200, 404]);

    const page = (path: string, address: string) =>
      world.request('GET', path, from(address, { session, headers: { accept: 'text/html' } }));
    const inbox = `/console/o/${slug}/inbox`;
    expect((await page(inbox, office)).status).toBe(200);
    const refused = await page(inbox, elsewhere);
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining(`requests from ${elsewhere}.`)]);
    const account = await page('/console/account', elsewhere);
    expect([account.status, account.body]).toEqual([200, expect.stringContaining(`requests from ${elsewhere}.`)]);
    expect(account.body).not.toContain(ada.organization.name);
    expect((await page(`/console/o/${globex.organization.slug}/inbox`, elsewhere)).status).toBe(200);
    // A person without a reachable organization starts on the account page.
    await world.knex('sessions').where({ personId: ada.person.id }).update({ orgId: id });
    expect((await page('/console', elsewhere)).headers.get('location')).toBe('/console/account');
    expect((await page('/console', office)).headers.get('location')).toBe(inbox);
  });

  it('403 · a session that the organization’s identity provider opened has no access from other networks', async () => {
    const proof = { orgId: ada.organization.id, until: Date.UTC(2027, 0), isOnly: true };
    const { secret } = await openSession(ada.person.id, { userAgent: null, address: null }, proof);
    const only = { session: { secret, csrf: '' } };
    expect((await outcome(rest, only, office))[0]).toBe(200);
    expect(await outcome(rest, only, elsewhere)).toEqual([403, expect.stringContaining(elsewhere)]);
    const create = { session: only.session, headers: { accept: 'text/html' } };
    const { status, body } = await world.request('GET', '/console/account', from(elsewhere, create));
    expect([status, body]).toEqual([200, expect.not.stringContaining('Create organization')]);
  });

  it('a change of allowed networks ends open connections that it excludes', async () => {
    const open = async (method: string, path: string, body?: object): Promise<AsyncGenerator<Event>> => {
      const headers = {
        ...{ accept: 'text/event-stream', authorization: `Bearer ${pat}`, 'x-forwarded-for': '198.51.100.200' },
        ...(body && { 'content-type': 'application/json' }),
      };
      return eventsOf(await fetch(world.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) }));
    };
    const inbox = await open('POST', '/graphql', { query: 'subscription { inboxUpdated { count } }' });
    const events = await open('GET', '/v1/events?after=0');
    await numberAllChanges();
    expect((await inbox.next()).value).toMatchObject({ data: { data: { inboxUpdated: { count: 0 } } } });
    expect((await events.next()).value).toMatchObject({ data: { number: 1 } });
    expect(await change(['198.51.100.7'])).toMatchObject({ networks: ['198.51.100.7/32'] });
    world.clock.turn(seconds(2));
    await transaction((trx) => announce(trx, `inbox:${ada.organization.id}`));
    await numberAllChanges();
    const told = (await inbox.next()).value;
    expect(told?.data.errors[0].extensions.problem).toMatchObject({
      code: 'address_not_allowed',
      description: 'The organization does not allow requests from 198.51.100.200.',
    });
    for await (const { name } of inbox) expect(name).toBe('complete');
    // The service closes the connection before it sends the event that reports the change of the allowed networks.
    const sent: unknown[] = [];
    const reading = async () => {
      for await (const { data } of events) sent.push(data?.changes?.[0]?.after);
    };
    await expect(reading()).rejects.toThrow('terminated');
    expect(sent).not.toContainEqual(['198.51.100.7/32']);
    await change(list);
  });

  it('changes of allowed networks are in the audit log, which also records at most ten refusals of each credential per hour', async () => {
    for (let i = 0; i < 12; i++) await world.rest('GET', '/projects', from('192.0.2.50', { token: pat }));
    const { body: tokens } = await world.rest('GET', '/tokens', from(office, named()));
    const read = async (action: string) => {
      const { body } = await world.rest('GET', `/audit-events?action=${action}&limit=200`, from(office, named()));
      return body.data as Answer['body'][];
    };
    const [change] = await read('organization.updated');
    expect(change).toMatchObject({
      actor: { type: 'person', id: ada.person.id },
      sourceAddress: office,
      changes: [{ path: 'allowedNetworks', before: ['198.51.100.7/32'], after: list }],
    });
    await vi.waitFor(async () => {
      const refusals = await read('credential.refused');
      const ofToken = refusals.filter(({ targets }) => targets[0].id === tokens.data[0].id);
      expect(ofToken).toHaveLength(10);
      expect(ofToken[0]).toMatchObject({
        changes: [{ path: 'reason', before: null, after: 'address not allowed' }],
      });
      const kinds = new Set(refusals.map(({ targets }) => targets[0].id.slice(0, 4)));
      expect([...kinds].sort()).toEqual(expect.arrayContaining(['reg_', 'ses_', 'sgn_', 'tok_']));
    });
  });

  it('a request needs no more SQL statements with a list of allowed networks than without', async () => {
    const count = async (credential: Ask): Promise<number> => {
      const ask = () => world.rest('GET', '/me', from(office, credential));
      await ask();
      let statements = 0;
      const stop = watchStatements((_, times) => (statements += times));
      expect((await ask()).status).toBe(200);
      stop();
      return statements;
    };
    const counts = async () => [await count({ token: pat }), await count(named())];
    const before = await counts();
    await change([]);
    expect(await counts()).toEqual(before);
    expect(before).toEqual([1, 1]);
    await change(list);
  });

  it('an operator lifts the network restriction of an organization whose owners have locked themselves out', async () => {
    expect((await outcome(rest, { token: pat }, elsewhere))[0]).toBe(403);
    const opened = await commands['networks:open']!.run({ org: ada.organization.slug } as never, {} as never);
    expect(opened).toEqual({ networks: list });
    expect((await outcome(rest, { token: pat }, elsewhere))[0]).toBe(200);
    expect(await commands['networks:open']!.run({ org: ada.organization.slug } as never, {} as never)).toEqual({
      networks: [],
    });
  });
});
