// Tests of two cells of a platform (docs/cells.md), each with its own process and database. A request reaches its organization through either
// cell. No two organizations have the same slug, even if they are in different cells. An organization that is being moved from one cell to the
// other can be read but not changed.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { issueRefreshToken } from '#domain/identity/oauth/sign-ins.ts';
import { withMoveLock } from '#domain/lifecycle/moves/lock.ts';
import { guardTables, unguardTables } from '#domain/organization/cells/guard.ts';
import { cellOfSlug, changeState, dropState, isAnyMoving, putState } from '#domain/organization/cells/state.ts';
import { newId } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { asService } from '#foundation/postgres/origin.ts';
import { type Account, createOwner, createProject } from '../../support/callers.ts';
import { openCells } from '../../support/cell-world.ts';
import { admin } from '../../support/command-line.ts';

let cells: Awaited<ReturnType<typeof openCells>>;
let alice: Account;
let bob: Account;
let projectId: string;
let refreshToken: string;
let eventsToken: string;

beforeAll(async () => {
  cells = await openCells(async (name, world) => {
    if (name === 'eu') alice = await createOwner(world, 'Alice', 'Acme');
    else {
      bob = await createOwner(world, 'Bob', 'Globex');
      await world.lift(bob.organization);
      projectId = await createProject(world, bob, 'Shop');
      refreshToken = await signIn(bob);
      eventsToken = await world.token(bob.person, bob.organization, { scopes: ['audit:read'] });
    }
  });
});
afterAll(() => cells?.close());

/** A sign-in of a program, with its refresh token. */
const signIn = ({ person, organization }: Account): Promise<string> =>
  transaction(async (trx) => {
    const id = newId('signIn');
    const at = Date.UTC(2026, 10, 23);
    const scopes = ['projects:read'];
    const client = { id: 'mcp_1', name: 'Editor', redirectUris: ['http://127.0.0.1/callback'], createdAt: at };
    await trx('oauth_clients').insert({ ...client, grantTypes: ['authorization_code', 'refresh_token'] });
    await trx('sign_ins').insert({
      ...{ id, clientId: 'mcp_1', clientName: 'Editor', userId: person.id, orgId: organization.id, resource: 'api' },
      ...{ scopes, orgOnly: false, createdAt: at, expiresAt: at + 90 * 86_400_000 },
    });
    return issueRefreshToken(trx, id);
  });

it('a request with a credential of another cell reaches its organization over REST, GraphQL and MCP', async () => {
  const { eu, us } = cells;
  const token = bob.token;
  expect((await eu.ask('GET', `/v1/projects/${projectId}`, { token })).body).toMatchObject({ id: projectId });
  const created = await eu.ask('POST', '/v1/projects', { token, body: { name: 'Till', repoFullName: 'globex/till' } });
  expect([created.status, (await us.ask('GET', `/v1/projects/${created.body.id}`, { token })).body.name]).toEqual([
    201,
    'Till',
  ]);
  const query = '{ me { orgId } organizations { orgs { slug cell } } }';
  expect((await eu.ask('POST', '/graphql', { token, body: { query } })).body.data).toEqual({
    me: { orgId: bob.organization.id },
    organizations: { orgs: [{ slug: 'globex', cell: 'us' }] },
  });
  const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const accept = 'application/json, text/event-stream';
  const tools = await eu.ask('POST', '/mcp', { token, body: listTools, headers: { accept } });
  expect([tools.status, JSON.stringify(tools.body)]).toEqual([200, expect.stringContaining('list_projects')]);
  expect((await eu.ask('GET', '/v1/me', { token: alice.token })).body).toMatchObject({ orgId: alice.organization.id });
  expect((await eu.ask('GET', '/v1/me', { token: `pat_${'x'.repeat(43)}` })).status).toBe(401);
});

it('a stream is forwarded event by event, and ends in both cells when its client disconnects', async () => {
  const token = eventsToken;
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
  const sent = request(`${cells.eu.url}/v1/events?after=0&types=project.created`, { headers });
  const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
  let [text, known] = ['', 0];
  for await (const part of response.setEncoding('utf8')) {
    text += part;
    const events = text.match(/^data:/gm)?.length ?? 0;
    // The later event is sent to a client that already has the earlier ones.
    if (known > 0 && events > known) break;
    if (known > 0 || events === 0) continue;
    known = events;
    const body = { name: 'Stream', repoFullName: 'globex/stream' };
    expect((await cells.eu.ask('POST', '/v1/projects', { token: bob.token, body })).status).toBe(201);
    // Events are sent after they have a number. Usually the scheduler numbers new events. No scheduler runs here, and this read of the feed numbers
    // them instead.
    await cells.us.ask('GET', '/v1/events?after=0', { token });
  }
  // Leaving the loop has closed the connection of the client.
  await vi.waitFor(async () => {
    const metrics = (await cells.eu.ask('GET', '/metrics')).body;
    expect(metrics).toContain('capacity{name="forwarded requests",state="used"} 0');
  });
});

it('the token endpoint forwards a refresh request to the cell that issued the refresh token; the new access token works in both cells', async () => {
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: 'mcp_1' });
  form.set('resource', cells.eu.url);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await cells.eu.ask('POST', '/v1/oauth2/token', { headers, body: form.toString() });
  expect(answer).toMatchObject({ status: 200, body: { access_token: expect.stringMatching(/^oat_/) } });
  for (const cell of [cells.eu, cells.us])
    expect((await cell.ask('GET', '/v1/me', { token: answer.body.access_token })).status).toBe(200);
  form.set('refresh_token', answer.body.refresh_token);
  const chunked = await inChunks('/v1/oauth2/token', headers, form.toString());
  expect([chunked.status, chunked.body.access_token]).toEqual([200, expect.stringMatching(/^oat_/)]);
  const tooLarge = await inChunks('/v1/oauth2/token', headers, `${form}&more=${'x'.repeat(1_000_000)}`);
  expect(tooLarge.status).toBe(413);
});

/** Sends a body of unknown length to `eu`, in two parts. */
async function inChunks(path: string, headers: Record<string, string>, body: string) {
  const sent = request(cells.eu.url + path, { method: 'POST', headers });
  sent.write(body.slice(0, 10));
  await once(sent, 'socket');
  setImmediate(() => sent.end(body.slice(10)));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

it('the header for requests between cells has no effect with a missing or wrong signature', async () => {
  const { eu } = cells;
  for (const header of ['', 'e30.AAAA', `${Buffer.from('{"to":"eu"}').toString('base64url')}.${'A'.repeat(43)}`]) {
    const headers = { 'x-aep-cell': header };
    expect((await eu.ask('POST', '/cells/find', { headers, body: { kind: 'pat_', value: '00' } })).status).toBe(404);
    expect((await eu.ask('GET', '/v1/me', { headers, token: bob.token })).status).toBe(200);
  }
});

it('an organization is created in the chosen cell, and its slug is unique across both cells', async () => {
  const { eu, us } = cells;
  const create = (cell: typeof eu, token: string, body: object) =>
    cell.ask('POST', '/v1/organizations', { token, body });
  const query = 'mutation ($input: CreateOrganizationRequest!) { it: createOrganization(input: $input) { id slug } }';
  const createIn = async (input: object) =>
    (await eu.ask('POST', '/graphql', { token: alice.token, body: { query, variables: { input } } })).body;
  const { it: elsewhere } = (await createIn({ name: 'Initech', slug: 'initech', cell: 'us' })).data;
  expect(elsewhere.slug).toBe('initech');
  expect(await us.world.knex('organizations').where({ id: elsewhere.id }).select('slug')).toEqual([
    { slug: 'initech' },
  ]);
  expect(await us.world.knex('people').where({ email: 'alice@example.com' })).toHaveLength(1);
  expect((await create(eu, alice.token, { name: 'Other', slug: 'initech' })).status).toBe(409);
  expect((await create(us, bob.token, { name: 'Other', slug: 'acme' })).status).toBe(409);
  expect((await create(us, bob.token, { name: 'Initech' })).body.slug).toBe('initech-2');
  expect((await create(eu, alice.token, { name: 'Initech' })).body.slug).toBe('initech-3');
  expect((await createIn({ name: 'Moon', cell: 'moon' })).errors[0].message).toBe('cell: must be one of eu, us.');
});

it('a person with a session in one cell can sign in to another cell; the sign-in works once, and only in the browser in which it began', async () => {
  const { eu, us } = cells;
  const session = await eu.world.session(alice.person);
  const location = ({ headers }: { headers: Headers }): string => headers.get('location')!;
  const cookieOf = ({ headers }: { headers: Headers }, name: string): string =>
    new RegExp(`${name}=[^;]+`).exec(headers.get('set-cookie') ?? '')![0];
  expect((await us.ask('GET', '/sign-in')).body).toContain('/sign-in/cell?cell=eu');
  const begun = await us.ask('GET', '/sign-in/cell?cell=eu&return_to=/console/account');
  const cookie = cookieOf(begun, 'cell-sign-in');
  const vouch = location(begun).slice(eu.url.length);
  expect(location(await eu.ask('GET', vouch))).toContain('/sign-in?return_to=');
  const voucher = location(await eu.ask('GET', vouch, { session }));
  expect(voucher).toContain(`${us.url}/sign-in/cell/return?voucher=`);
  const back = voucher.slice(us.url.length);
  expect((await us.ask('GET', back)).status).toBe(400);
  const other = cookieOf(await us.ask('GET', '/sign-in/cell?cell=eu'), 'cell-sign-in');
  expect((await us.ask('GET', back, { headers: { cookie: other } })).status).toBe(400);
  const altered = back.replace(/voucher=./, 'voucher=A');
  expect((await us.ask('GET', altered, { headers: { cookie } })).status).toBe(400);
  const finished = await us.ask('GET', back, { headers: { cookie } });
  expect([finished.status, location(finished)]).toEqual([303, '/console/account']);
  const account = await us.ask('GET', '/console/account', { headers: { cookie: cookieOf(finished, 'session') } });
  expect(account.body).toContain('alice@example.com');
  const here = cookieOf(finished, 'session');
  const signInAgain = async (from: typeof session) => {
    const again = await us.ask('GET', '/sign-in/cell?cell=eu&return_to=/console/sessions', {
      headers: { cookie: here },
    });
    const vouched = location(await eu.ask('GET', location(again).slice(eu.url.length), { session: from }));
    const headers = { cookie: `${here}; ${cookieOf(again, 'cell-sign-in')}` };
    return us.ask('GET', vouched.slice(us.url.length), { headers });
  };
  const same = await signInAgain(session);
  expect([same.status, location(same), same.headers.get('set-cookie')]).toEqual([
    ...[303, '/console/sessions'],
    expect.not.stringContaining('session='),
  ]);
  // A session of another person is not replaced without asking.
  const asked = await signInAgain(await eu.world.session(await eu.world.person('Carol')));
  expect([asked.status, asked.headers.get('set-cookie')]).toEqual([200, expect.not.stringContaining('session=')]);
  const shown = (await us.ask('GET', '/console/account', { headers: { cookie: here } })).body;
  expect(shown).toContain('alice@example.com');
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(asked.body)![1]!;
  const form = (token: string) => ({
    headers: { cookie: here, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ csrf_token: token, offer: field('offer') }).toString(),
  });
  expect((await us.ask('POST', '/sign-in/cell', form('other'))).status).toBe(403);
  const switched = await us.ask('POST', '/sign-in/cell', form(field('csrf_token')));
  expect([switched.status, location(switched)]).toEqual([303, '/console/sessions']);
  const carols = await us.ask('GET', '/console/account', { headers: { cookie: cookieOf(switched, 'session') } });
  expect(carols.body).toContain('carol@example.com');
  const link = `${us.url}/sign-in/cell?cell=eu&amp;return_to=%2Fconsole%2Fo%2Finitech`;
  // The page does not wait long for another cell.
  const accountPage = async () => (await eu.ask('GET', '/console/account', { session })).body;
  await expect.poll(accountPage).toContain(`href="${link}"`);
  expect((await us.ask('GET', '/sign-in/cell?cell=moon')).status).toBe(404);
});

it('while an organization is moving, it can be read; requests to change it get a 503, and the service changes none of its rows', async () => {
  const { ask, world } = cells.eu;
  const { organization, token } = alice;
  const body = { name: 'Frozen', repoFullName: 'acme/frozen' };
  const row = { orgId: organization.id, slug: 'acme', otherCell: 'us', moveId: 'mov_1', file: null, jobs: [] };
  await guardTables();
  await changeState(organization.id, (trx) => putState(trx, { ...row, state: 'frozen' }));
  const refused = await ask('POST', '/v1/projects', { token, body });
  expect(refused).toMatchObject({ status: 503, body: { code: 'organization_moving', retryable: true } });
  expect(refused.headers.get('retry-after')).toBe('5');
  const mutation = `mutation { createProject(input: { name: "Frozen", repoFullName: "acme/frozen" }) { id } }`;
  expect((await ask('POST', '/graphql', { token, body: { query: mutation } })).body.errors[0].extensions.code).toBe(
    'organization_moving',
  );
  expect((await ask('GET', '/v1/me', { token })).status).toBe(200);
  expect((await ask('POST', '/v1/projects', { token: bob.token, body })).status).toBe(201);
  const rename = () => world.knex('organizations').where({ id: organization.id }).update({ name: 'Renamed' });
  expect(
    await asService('system', 'scheduler', 'test', () =>
      transaction((trx) => trx('organizations').where({ id: organization.id }).update({ name: 'Renamed' })),
    ),
  ).toBe(0);
  await expect(rename()).rejects.toThrow('the organization is moving');
  await expect(
    asService('system', 'background', 'test', () =>
      transaction((trx) => trx('organizations').where({ id: organization.id }).update({ name: 'Renamed' })),
    ),
  ).rejects.toThrow('the organization is moving');
  await changeState(organization.id, (trx) => dropState(trx, organization.id, 'mov_1'));
  await unguardTables(isAnyMoving);
  expect((await world.knex('pg_trigger').where('tgname', 'like', 'aa\\_moving%')).length).toBe(0);
  expect((await ask('POST', '/v1/projects', { token, body })).status).toBe(201);
});

it('if a move begins while the triggers that protect moving organizations are being dropped, the remaining triggers stay', async () => {
  const triggers = () =>
    cells.eu.world.knex('pg_trigger').where('tgname', 'like', 'aa\\_moving%').where({ tgparentid: 0 });
  await guardTables();
  const all = (await triggers()).length;
  let dropped = 0;
  await unguardTables(async () => ++dropped > 1);
  expect((await triggers()).length).toBe(all - 1);
  await unguardTables(isAnyMoving);
  expect(await triggers()).toEqual([]);
});

it('a move succeeds while a backup reads the tables; one process moves an organization at a time', async () => {
  const { knex } = cells.eu.world;
  await knex.transaction(async (trx) => {
    await trx.raw('lock table projects in access share mode');
    await guardTables();
    await unguardTables(isAnyMoving);
  });
  expect(await knex('pg_trigger').where('tgname', 'like', 'aa\\_moving%')).not.toEqual([]);
  await unguardTables(isAnyMoving);
  expect(await knex('pg_trigger').where('tgname', 'like', 'aa\\_moving%')).toEqual([]);
  const { id } = alice.organization;
  await withMoveLock(id, () => expect(withMoveLock(id, async () => {})).rejects.toThrow('another process is moving'));
  await withMoveLock(id, async () => {});
});

it('the slug of an organization that moved to another cell leads to that cell, unless an organization of this cell now has the slug', async () => {
  const moved = { orgId: newId('organization'), otherCell: 'us', moveId: 'mov_2', file: null, jobs: [] };
  const record = (slug: string) =>
    changeState(moved.orgId, (trx) => putState(trx, { ...moved, slug, state: 'moved', erasedAt: 1 }));
  await record('gone');
  expect(await cellOfSlug('gone')).toBe('us');
  await record('acme');
  expect(await cellOfSlug('acme')).toBe(null);
});

it('a slug that another cell uses is unavailable even if that cell has not registered it; after the registration, no request to that cell is needed', async () => {
  const { eu, us } = cells;
  const create = async (slug: string, token = alice.token) =>
    (await eu.ask('POST', '/v1/organizations', { token, body: { name: 'Other', slug } })).status;
  await eu.world.knex('cell_slugs').where({ slug: 'globex' }).delete();
  expect(await create('globex')).toBe(409);
  await us.kill();
  expect(await create('fresh')).toBe(503);
  await us.start();
  const outcome = await admin(['cell:register'], us.env);
  expect(JSON.parse(outcome.stdout)).toEqual({ reserved: expect.any(Number), taken: [] });
  await us.kill();
  expect([await create('globex'), await create('fresh')]).toEqual([409, 201]);
  await us.start();
});

it('an organization’s file cannot be imported into a cell while another cell has the organization', async () => {
  const { eu, us } = cells;
  const file = `${eu.env.DATA_DIR}.aep`;
  const key = Buffer.alloc(32, 5).toString('base64');
  expect(await admin(['org:pack', '--org', 'acme', '--to', file], eu.env, key)).toMatchObject({ code: 0 });
  expect(await admin(['org:join', '--from', file], us.env, key)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The cell eu already has the organization.'),
  });
});

it('an unavailable cell affects only its own organizations', async () => {
  const { eu, us } = cells;
  await us.kill();
  expect(await eu.ask('GET', '/v1/me', { token: bob.token })).toMatchObject({
    status: 503,
    body: { code: 'upstream_unavailable' },
  });
  expect((await eu.ask('GET', '/v1/me', { token: alice.token })).status).toBe(200);
});
